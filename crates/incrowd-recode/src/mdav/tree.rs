//! A kd-tree over rows from which rows are taken away: who is farthest from a place, who is nearest?
//!
//! Both questions walk down the more promising child first and leave out nodes whose box cannot beat what was found. Ties go to
//! the lower row. Every node knows how many of its rows are left; once half of all are gone, the tree is built anew from the rest,
//! so that boxes stay tight.

use std::collections::BinaryHeap;

use super::space::Space;

/// Fewer rows than this are not divided.
const LEAF: usize = 8;

#[derive(Debug)]
struct Node {
    /// The rows of the node, as places in the order of the tree.
    from: u32,
    to: u32,
    /// The second child; the first follows the node. 0 for a leaf.
    second: u32,
    /// The node above; the root's own.
    above: u32,
    left: u32,
}

/// The tree.
#[derive(Debug)]
pub(super) struct Tree<'s, 'a> {
    space: &'s Space<'a>,
    order: Vec<u32>,
    nodes: Vec<Node>,
    boxes: Vec<(f64, f64)>,
    /// For every row the leaf that holds it; `u32::MAX` once it is gone.
    leaf: Vec<u32>,
    left: usize,
}

const GONE: u32 = u32::MAX;

/// A row with its distance: the greatest first, of equal ones the higher row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found(f64, u32, u64);

impl Eq for Found {}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Found {
    fn cmp(&self, other: &Found) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl<'s, 'a> Tree<'s, 'a> {
    /// A tree over some rows.
    pub(super) fn new(space: &'s Space<'a>, rows: Vec<u32>) -> Tree<'s, 'a> {
        let greatest = rows.iter().max().map_or(0, |&row| row as usize + 1);
        let (leaf, left) = (vec![GONE; greatest], rows.len());
        let mut tree = Tree { space, order: Vec::new(), nodes: Vec::new(), boxes: Vec::new(), leaf, left };
        tree.build(rows);
        tree
    }

    fn build(&mut self, mut rows: Vec<u32>) {
        self.nodes.clear();
        self.boxes.clear();
        if !rows.is_empty() {
            self.divide(&mut rows, 0, 0);
        }
        self.order = rows;
    }

    /// Divides rows at the middle of the widest side.
    fn divide(&mut self, rows: &mut [u32], from: u32, above: u32) {
        let width = self.space.width();
        let mut sides = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
        for &row in rows.iter() {
            for (side, &x) in sides.iter_mut().zip(self.space.place(row)) {
                *side = (side.0.min(x), side.1.max(x));
            }
        }
        let (node, to) = (self.nodes.len() as u32, from + rows.len() as u32);
        self.nodes.push(Node { from, to, second: 0, above, left: rows.len() as u32 });
        let length = |axis: &usize| {
            let (lo, hi) = sides[*axis];
            self.space.length(*axis, lo, hi)
        };
        let widest = (0..width).max_by(|a, b| length(a).total_cmp(&length(b)).then(b.cmp(a)));
        let divided = widest.filter(|axis| rows.len() > LEAF && sides[*axis].0 < sides[*axis].1);
        self.boxes.extend(sides);
        let Some(axis) = divided else {
            rows.iter().for_each(|&row| self.leaf[row as usize] = node);
            return;
        };
        let (space, middle) = (self.space, rows.len() / 2);
        rows.select_nth_unstable_by(middle, |&a, &b| {
            space.place(a)[axis].total_cmp(&space.place(b)[axis]).then(a.cmp(&b))
        });
        let (first, second) = rows.split_at_mut(middle);
        self.divide(first, from, node);
        self.nodes[node as usize].second = self.nodes.len() as u32;
        self.divide(second, from + middle as u32, node);
    }

    /// How many rows are left.
    pub(super) fn len(&self) -> usize {
        self.left
    }

    /// The rows that are left, ascending.
    pub(super) fn rows(&self) -> Vec<u32> {
        (0..self.leaf.len() as u32).filter(|&row| self.has(row)).collect()
    }

    fn has(&self, row: u32) -> bool {
        self.leaf[row as usize] != GONE
    }

    /// Takes a row away; whether the tree was built anew.
    pub(super) fn remove(&mut self, row: u32) -> bool {
        let mut node = std::mem::replace(&mut self.leaf[row as usize], GONE);
        loop {
            self.nodes[node as usize].left -= 1;
            if node == 0 {
                break;
            }
            node = self.nodes[node as usize].above;
        }
        self.left -= 1;
        let anew = self.left * 2 < self.order.len() && self.order.len() > 4 * LEAF;
        if anew {
            let mut rows = std::mem::take(&mut self.order);
            rows.retain(|&row| self.has(row));
            self.build(rows);
        }
        anew
    }

    fn sides(&self, node: u32) -> &[(f64, f64)] {
        let width = self.space.width();
        &self.boxes[node as usize * width..(node as usize + 1) * width]
    }

    /// The row that is farthest from a place.
    pub(super) fn farthest(&self, place: &[f64]) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        if self.left > 0 {
            self.farther(0, place, &mut best);
        }
        best.map(|best| best.1)
    }

    fn farther(&self, at: u32, place: &[f64], best: &mut Option<(f64, u32)>) {
        let node = &self.nodes[at as usize];
        if node.second == 0 {
            for &row in &self.order[node.from as usize..node.to as usize] {
                if self.has(row) {
                    let distance = self.space.distance(place, self.space.place(row));
                    if best.is_none_or(|(far, known)| distance > far || distance == far && row < known) {
                        *best = Some((distance, row));
                    }
                }
            }
            return;
        }
        let bound = |child: u32| match self.nodes[child as usize].left {
            0 => f64::NEG_INFINITY,
            _ => self.space.at_most(place, self.sides(child)),
        };
        let mut children = [(bound(at + 1), at + 1), (bound(node.second), node.second)];
        if children[1].0 > children[0].0 {
            children.swap(0, 1);
        }
        for (most, child) in children {
            if most > f64::NEG_INFINITY && best.is_none_or(|(far, _)| most >= far) {
                self.farther(child, place, best);
            }
        }
    }

    /// The nearest rows to a place that have `need` records together, the nearest first; all rows if they have fewer.
    pub(super) fn nearest(&self, place: &[f64], need: u64, records: impl Fn(u32) -> u64) -> Vec<u32> {
        let mut found = Nearest { heap: BinaryHeap::new(), sum: 0, need };
        if self.left > 0 && need > 0 {
            self.nearer(0, place, &records, &mut found);
        }
        let mut found = found.heap.into_vec();
        found.sort_unstable();
        found.into_iter().map(|Found(_, row, _)| row).collect()
    }

    fn nearer(&self, at: u32, place: &[f64], records: &dyn Fn(u32) -> u64, found: &mut Nearest) {
        let node = &self.nodes[at as usize];
        if node.second == 0 {
            for &row in &self.order[node.from as usize..node.to as usize] {
                if self.has(row) {
                    found.offer(self.space.distance(place, self.space.place(row)), row, records(row));
                }
            }
            return;
        }
        let bound = |child: u32| match self.nodes[child as usize].left {
            0 => f64::INFINITY,
            _ => self.space.at_least(place, self.sides(child)),
        };
        let mut children = [(bound(at + 1), at + 1), (bound(node.second), node.second)];
        if children[1].0 < children[0].0 {
            children.swap(0, 1);
        }
        for (least, child) in children {
            if self.nodes[child as usize].left > 0 && found.wants(least) {
                self.nearer(child, place, records, found);
            }
        }
    }
}

/// The nearest rows so far.
struct Nearest {
    heap: BinaryHeap<Found>,
    sum: u64,
    need: u64,
}

impl Nearest {
    fn wants(&self, distance: f64) -> bool {
        self.sum < self.need || self.heap.peek().is_some_and(|found| distance <= found.0)
    }

    fn offer(&mut self, distance: f64, row: u32, records: u64) {
        if !self.wants(distance) {
            return;
        }
        self.heap.push(Found(distance, row, records));
        self.sum += records;
        while let Some(&Found(_, _, farthest)) = self.heap.peek() {
            if self.sum - farthest < self.need {
                break;
            }
            self.sum -= farthest;
            self.heap.pop();
        }
    }
}
