//! The pool of rows without a group, searched in ascending order of the loss they would cause.
//!
//! Rows with equal quasi-identifiers are a point. The points are in a kd-tree over their codes. The
//! corner of a node that is nearest to a group's cells gives a lower bound of the loss for all its
//! points. So the cheapest points come first, and most points are never visited.

use super::growing::{GrowingGroup, GrowthContext};
use super::priced_column::PricedCell;

const LEAF: usize = 8;
const NONE: u32 = u32::MAX;

struct PoolNode {
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
    /// The remaining rows at each point, in seed order.
    at: Vec<Vec<u32>>,
    nodes: Vec<PoolNode>,
    boxes: Vec<(u32, u32)>,
    leaf_of: Vec<u32>,
    point_of_row: Vec<u32>,
    /// The position of each row in the order of the seeds.
    pub(super) seed_order: Vec<u32>,
    /// By quasi-identifier: the number of rows with each code.
    counts: Vec<Vec<u32>>,
}

impl<'a> Pool<'a> {
    /// Creates a pool of these rows, which must be in seed order.
    pub(super) fn new(context: &'a GrowthContext<'a>, rows: &[u32]) -> Pool<'a> {
        let data = context.data;
        let width = data.quasi().len();
        let mut seed_order = vec![u32::MAX; data.rows()];
        rows.iter().enumerate().for_each(|(i, &row)| seed_order[row as usize] = i as u32);
        let mut sorted = rows.to_vec();
        sorted.sort_unstable_by(|&a, &b| {
            let codes = |row: u32| data.quasi_codes(row as usize);
            codes(a).cmp(codes(b)).then(seed_order[a as usize].cmp(&seed_order[b as usize]))
        });
        let alike =
            |a: &u32, b: &u32| data.quasi_codes(*a as usize) == data.quasi_codes(*b as usize);
        let points: Vec<&[u32]> = sorted.chunk_by(alike).collect();
        let codes = |point: u32| data.quasi_codes(points[point as usize][0] as usize);
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let (mut nodes, mut boxes) = (Vec::new(), Vec::new());
        if !order.is_empty() {
            divide(&mut order, 0, NONE, width, &codes, &mut nodes, &mut boxes);
        }
        let mut pool = Pool {
            context,
            width,
            codes: order.iter().flat_map(|&point| codes(point).to_vec()).collect(),
            at: order.iter().map(|&point| points[point as usize].to_vec()).collect(),
            nodes,
            boxes,
            leaf_of: vec![0; order.len()],
            point_of_row: vec![NONE; data.rows()],
            seed_order,
            counts: context
                .columns
                .iter()
                .map(|column| vec![0; column.leaves() as usize])
                .collect(),
        };
        for (i, node) in pool.nodes.iter().enumerate().filter(|(_, node)| node.second == 0) {
            (node.points.0..node.points.1)
                .for_each(|point| pool.leaf_of[point as usize] = i as u32);
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
            NONE => false,
            point => self.at[point as usize].contains(&row),
        }
    }

    fn count(&mut self, point: u32, more: bool) {
        let step = |n: &mut u32| *n = if more { *n + 1 } else { *n - 1 };
        let mut node = self.leaf_of[point as usize];
        while node != NONE {
            step(&mut self.nodes[node as usize].rows);
            node = self.nodes[node as usize].parent;
        }
        let codes = &self.codes[point as usize * self.width..(point as usize + 1) * self.width];
        codes
            .iter()
            .zip(&mut self.counts)
            .for_each(|(&code, counts)| step(&mut counts[code as usize]));
    }

    /// Removes a row that is in the pool.
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
        let seed_order = self.seed_order[row as usize];
        let place =
            self.at[point as usize].partition_point(|&r| self.seed_order[r as usize] < seed_order);
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

    /// Returns the next value of each quasi-identifier: the nearest to the seed's within the
    /// group's cell, else the nearest outside it, the lower on a tie.
    pub(super) fn next_values(&self, cells: &[PricedCell], seed: &[u32]) -> Vec<Option<u32>> {
        let next = |q: usize| {
            let (cell, counts, column) = (cells[q], &self.counts[q], &self.context.columns[q]);
            let occurs = |code: &u32| counts[*code as usize] > 0;
            let nearer =
                |below: Option<u32>, above: Option<u32>, from: (f64, f64)| match (below, above) {
                    (Some(b), Some(a)) if column.place(a) - from.1 < from.0 - column.place(b) => {
                        Some(a)
                    }
                    (Some(b), _) => Some(b),
                    (None, above) => above,
                };
            let own = seed[q];
            let below = (cell.lo..=own).rev().find(occurs);
            let above = (own..=cell.hi).find(occurs);
            let at = column.place(own);
            nearer(below, above, (at, at)).or_else(|| {
                let below = (0..cell.lo).rev().find(occurs);
                let above = (cell.hi + 1..column.leaves()).find(occurs);
                nearer(below, above, (column.place(cell.lo), column.place(cell.hi)))
            })
        };
        (0..self.width).map(next).collect()
    }

    /// Returns whether a point or a node still has rows.
    pub(super) fn has_rows(&self, point: bool, id: u32) -> bool {
        if point { !self.at[id as usize].is_empty() } else { self.nodes[id as usize].rows > 0 }
    }

    /// Returns whether a point has one of these values, or a node may contain such a point.
    pub(super) fn fits(&self, point: bool, id: u32, next: &[Option<u32>]) -> bool {
        if point {
            return self.codes_of(id).iter().zip(next).any(|(code, next)| Some(*code) == *next);
        }
        let within = |(&(lo, hi), next): (&(u32, u32), &Option<u32>)| {
            next.is_some_and(|code| (lo..=hi).contains(&code))
        };
        self.sides(id).iter().zip(next).any(within)
    }

    /// Returns the loss of cells that also cover a point. For a node, returns a lower bound for its
    /// points.
    pub(super) fn price(&self, point: bool, id: u32, cells: &[PricedCell]) -> f64 {
        let columns = self.context.columns.iter().zip(cells);
        if point {
            return columns
                .zip(self.codes_of(id))
                .map(|((column, &cell), &code)| column.loss_with(cell, code))
                .sum();
        }
        columns
            .zip(self.sides(id))
            .map(|((column, &cell), &(lo, hi))| column.min_loss(cell, lo, hi))
            .sum()
    }

    /// Returns the points of a leaf, or the two children of another node.
    pub(super) fn parts(&self, node: u32) -> impl Iterator<Item = (bool, u32)> {
        let PoolNode { points, second, .. } = self.nodes[node as usize];
        let (points, halves) =
            if second == 0 { (points, None) } else { ((0, 0), Some([node + 1, second])) };
        let halves = halves.into_iter().flatten().map(|half| (false, half));
        (points.0..points.1).map(|point| (true, point)).chain(halves)
    }

    /// Returns the cells of a group that also contains a point.
    pub(super) fn cells_at(&self, point: u32, cells: &[PricedCell]) -> Vec<PricedCell> {
        self.context.cells_with(cells, self.codes_of(point))
    }

    fn sides(&self, node: u32) -> &[(u32, u32)] {
        &self.boxes[node as usize * self.width..(node as usize + 1) * self.width]
    }

    /// Returns the cheapest row that satisfies a predicate and is outside the group's cell in every
    /// quasi-identifier.
    pub(super) fn outside(
        &self,
        group: &GrowingGroup,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut best: Option<(f64, u32, u32)> = None;
        for point in 0..self.at.len() as u32 {
            let codes = self.codes_of(point);
            let is_outside = codes
                .iter()
                .zip(&group.cells)
                .all(|(code, cell)| !(cell.lo..=cell.hi).contains(code));
            let Some(&row) = self.at[point as usize].iter().find(|&&row| is_outside && wanted(row))
            else {
                continue;
            };
            let loss: f64 =
                self.context.cells_with(&group.cells, codes).iter().map(|cell| cell.loss).sum();
            let seed_order = self.seed_order[row as usize];
            if best.is_none_or(|(least, first, _)| {
                loss.total_cmp(&least).then(seed_order.cmp(&first)).is_lt()
            }) {
                best = Some((loss, seed_order, row));
            }
        }
        best.map(|(_, _, row)| row)
    }
}

/// Divides points at the median of the side with most codes.
fn divide<'c>(
    order: &mut [u32],
    start: u32,
    parent: u32,
    width: usize,
    codes: &dyn Fn(u32) -> &'c [u32],
    nodes: &mut Vec<PoolNode>,
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
    nodes.push(PoolNode {
        points: (start, start + order.len() as u32),
        second: 0,
        parent,
        rows: 0,
    });
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
