//! The rows that are still to be had, found in the order of what they would cost a group.
//!
//! Rows with the same quasi-identifiers are a point. Points lie in a kd-tree over their codes; a node's corner nearest to a
//! group's cells bounds from below what any of its points would cost, so the cheapest come first and most are never looked
//! at.

use super::growing::{GrowingGroup, GrowthContext};
use super::line::PricedCell;

const LEAF: usize = 8;
const NOBODY: u32 = u32::MAX;

struct Node {
    points: (u32, u32),
    second: u32,
    parent: u32,
    rows: u32,
}

/// The pool.
pub(super) struct Pool<'a> {
    context: &'a GrowthContext<'a>,
    width: usize,
    /// The codes of the points, point by point.
    codes: Vec<u32>,
    /// The rows still at each point, in the order in which seeds are taken.
    at: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    boxes: Vec<(u32, u32)>,
    leaf_of: Vec<u32>,
    point_of_row: Vec<u32>,
    /// When each row is taken as a seed.
    pub(super) turn: Vec<u32>,
    /// For each quasi-identifier how many rows have each code.
    counts: Vec<Vec<u32>>,
}

impl<'a> Pool<'a> {
    /// A pool of these rows, which come in the order in which they would be seeds.
    pub(super) fn new(context: &'a GrowthContext<'a>, rows: &[u32]) -> Pool<'a> {
        let data = context.data;
        let width = data.quasi().len();
        let mut turn = vec![u32::MAX; data.rows()];
        rows.iter().enumerate().for_each(|(i, &row)| turn[row as usize] = i as u32);
        let mut sorted = rows.to_vec();
        sorted.sort_unstable_by(|&a, &b| {
            let codes = |row: u32| data.quasi_codes(row as usize);
            codes(a).cmp(codes(b)).then(turn[a as usize].cmp(&turn[b as usize]))
        });
        let alike = |a: &u32, b: &u32| data.quasi_codes(*a as usize) == data.quasi_codes(*b as usize);
        let points: Vec<&[u32]> = sorted.chunk_by(alike).collect();
        let codes = |point: u32| data.quasi_codes(points[point as usize][0] as usize);
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let (mut nodes, mut boxes) = (Vec::new(), Vec::new());
        if !order.is_empty() {
            divide(&mut order, 0, NOBODY, width, &codes, &mut nodes, &mut boxes);
        }
        let mut pool = Pool {
            context,
            width,
            codes: order.iter().flat_map(|&point| codes(point).to_vec()).collect(),
            at: order.iter().map(|&point| points[point as usize].to_vec()).collect(),
            nodes,
            boxes,
            leaf_of: vec![0; order.len()],
            point_of_row: vec![NOBODY; data.rows()],
            turn,
            counts: context.lines.iter().map(|line| vec![0; line.leaves() as usize]).collect(),
        };
        for (i, node) in pool.nodes.iter().enumerate().filter(|(_, node)| node.second == 0) {
            (node.points.0..node.points.1).for_each(|point| pool.leaf_of[point as usize] = i as u32);
        }
        for point in 0..pool.at.len() as u32 {
            let rows = std::mem::take(&mut pool.at[point as usize]);
            for row in rows {
                pool.point_of_row[row as usize] = point;
                pool.put_back(row);
            }
        }
        pool
    }

    pub(super) fn has(&self, row: u32) -> bool {
        match self.point_of_row[row as usize] {
            NOBODY => false,
            point => self.at[point as usize].contains(&row),
        }
    }

    fn count(&mut self, point: u32, more: bool) {
        let step = |n: &mut u32| *n = if more { *n + 1 } else { *n - 1 };
        let mut node = self.leaf_of[point as usize];
        while node != NOBODY {
            step(&mut self.nodes[node as usize].rows);
            node = self.nodes[node as usize].parent;
        }
        let codes = &self.codes[point as usize * self.width..(point as usize + 1) * self.width];
        codes.iter().zip(&mut self.counts).for_each(|(&code, counts)| step(&mut counts[code as usize]));
    }

    /// Takes a row that is in the pool.
    pub(super) fn take(&mut self, row: u32) {
        let point = self.point_of_row[row as usize];
        if let Some(position) = self.at[point as usize].iter().position(|&r| r == row) {
            self.at[point as usize].remove(position);
            self.count(point, false);
        }
    }

    /// Puts back a row that belongs to the pool.
    pub(super) fn put_back(&mut self, row: u32) {
        let point = self.point_of_row[row as usize];
        let turn = self.turn[row as usize];
        let place = self.at[point as usize].partition_point(|&r| self.turn[r as usize] < turn);
        self.at[point as usize].insert(place, row);
        self.count(point, true);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.first().is_none_or(|root| root.rows == 0)
    }

    pub(super) fn rows_at(&self, point: u32) -> &[u32] {
        &self.at[point as usize]
    }

    fn codes_of(&self, point: u32) -> &[u32] {
        &self.codes[point as usize * self.width..(point as usize + 1) * self.width]
    }

    /// For each quasi-identifier the value that is next: the nearest to the seed's within the group's cell, else the nearest
    /// outside it, the lower on a tie.
    pub(super) fn next_values(&self, cells: &[PricedCell], seed: &[u32]) -> Vec<Option<u32>> {
        let next = |q: usize| {
            let (cell, counts, line) = (cells[q], &self.counts[q], &self.context.lines[q]);
            let there = |code: &u32| counts[*code as usize] > 0;
            let nearer = |below: Option<u32>, above: Option<u32>, from: (f64, f64)| match (below, above) {
                (Some(b), Some(a)) if line.place(a) - from.1 < from.0 - line.place(b) => Some(a),
                (Some(b), _) => Some(b),
                (None, above) => above,
            };
            let own = seed[q];
            let below = (cell.lo..=own).rev().find(there);
            let above = (own..=cell.hi).find(there);
            let at = line.place(own);
            nearer(below, above, (at, at)).or_else(|| {
                let below = (0..cell.lo).rev().find(there);
                let above = (cell.hi + 1..line.leaves()).find(there);
                nearer(below, above, (line.place(cell.lo), line.place(cell.hi)))
            })
        };
        (0..self.width).map(next).collect()
    }

    /// Whether a point, or a node, still has rows.
    pub(super) fn has_rows(&self, point: bool, id: u32) -> bool {
        if point { !self.at[id as usize].is_empty() } else { self.nodes[id as usize].rows > 0 }
    }

    /// Whether a point has one of these values, or a node may have such a point.
    pub(super) fn fits(&self, point: bool, id: u32, next: &[Option<u32>]) -> bool {
        if point {
            return self.codes_of(id).iter().zip(next).any(|(code, next)| Some(*code) == *next);
        }
        let within = |(&(lo, hi), next): (&(u32, u32), &Option<u32>)| {
            next.is_some_and(|code| (lo..=hi).contains(&code))
        };
        self.sides(id).iter().zip(next).any(within)
    }

    /// What cells would lose with a point; with a node, the least that they lose with any of its points.
    pub(super) fn price(&self, point: bool, id: u32, cells: &[PricedCell]) -> f64 {
        let lines = self.context.lines.iter().zip(cells);
        if point {
            return lines
                .zip(self.codes_of(id))
                .map(|((line, &cell), &code)| line.loss_with(cell, code))
                .sum();
        }
        lines.zip(self.sides(id)).map(|((line, &cell), &(lo, hi))| line.least(cell, lo, hi)).sum()
    }

    /// The points of a leaf, or the two halves of another node.
    pub(super) fn parts(&self, node: u32) -> impl Iterator<Item = (bool, u32)> {
        let Node { points, second, .. } = self.nodes[node as usize];
        let (points, halves) = if second == 0 { (points, None) } else { ((0, 0), Some([node + 1, second])) };
        let halves = halves.into_iter().flatten().map(|half| (false, half));
        (points.0..points.1).map(|point| (true, point)).chain(halves)
    }

    /// The cells of a group that also has a point.
    pub(super) fn cells_at(&self, point: u32, cells: &[PricedCell]) -> Vec<PricedCell> {
        self.context.cells_with(cells, self.codes_of(point))
    }

    fn sides(&self, node: u32) -> &[(u32, u32)] {
        &self.boxes[node as usize * self.width..(node as usize + 1) * self.width]
    }

    /// The cheapest row that satisfies a predicate and lies outside the group's cell on every quasi-identifier.
    pub(super) fn outside(&self, group: &GrowingGroup, wanted: &dyn Fn(u32) -> bool) -> Option<u32> {
        let mut best: Option<(f64, u32, u32)> = None;
        for point in 0..self.at.len() as u32 {
            let codes = self.codes_of(point);
            let apart =
                codes.iter().zip(&group.cells).all(|(code, cell)| !(cell.lo..=cell.hi).contains(code));
            let Some(&row) = self.at[point as usize].iter().find(|&&row| apart && wanted(row)) else {
                continue;
            };
            let loss: f64 = self.context.cells_with(&group.cells, codes).iter().map(|cell| cell.loss).sum();
            let turn = self.turn[row as usize];
            if best.is_none_or(|(least, first, _)| loss.total_cmp(&least).then(turn.cmp(&first)).is_lt()) {
                best = Some((loss, turn, row));
            }
        }
        best.map(|(_, _, row)| row)
    }
}

/// Divides points at the middle of the side with most codes.
fn divide<'c>(
    order: &mut [u32],
    start: u32,
    parent: u32,
    width: usize,
    codes: &dyn Fn(u32) -> &'c [u32],
    nodes: &mut Vec<Node>,
    boxes: &mut Vec<(u32, u32)>,
) {
    let mut sides = vec![(u32::MAX, 0u32); width];
    for &point in order.iter() {
        for (side, &code) in sides.iter_mut().zip(codes(point)) {
            *side = (side.0.min(code), side.1.max(code));
        }
    }
    let widest = (0..width).max_by_key(|&q| sides[q].1 - sides[q].0);
    let node = nodes.len();
    nodes.push(Node { points: (start, start + order.len() as u32), second: 0, parent, rows: 0 });
    boxes.extend(sides);
    if let Some(q) = widest.filter(|_| order.len() > LEAF) {
        order.sort_unstable_by_key(|&point| (codes(point)[q], point));
        let middle = order.len() / 2;
        let (left, right) = order.split_at_mut(middle);
        divide(left, start, node as u32, width, codes, nodes, boxes);
        nodes[node].second = nodes.len() as u32;
        divide(right, start + middle as u32, node as u32, width, codes, nodes, boxes);
    }
}
