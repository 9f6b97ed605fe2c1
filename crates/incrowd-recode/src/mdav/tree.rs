//! A kd-tree over rows, with removal: finds the farthest row from a point and the nearest rows.
//!
//! Both searches visit the more promising child first and skip nodes whose box cannot contain a
//! better row. Ties are broken by the lower row. Every node counts its remaining rows. When less
//! than half of all rows remain, the tree is rebuilt, so that boxes stay tight.

use std::collections::BinaryHeap;

use super::space::Space;

/// The greatest number of rows of a leaf.
const LEAF: usize = 8;

#[derive(Debug)]
struct KdNode {
    /// The range of the node's rows in `order`.
    from: u32,
    to: u32,
    /// The second child. The first child follows the node. 0 for a leaf.
    second: u32,
    /// The parent. The root is its own parent.
    above: u32,
    left: u32,
}

/// A kd-tree.
#[derive(Debug)]
pub(super) struct KdTree<'s, 'a> {
    space: &'s Space<'a>,
    order: Vec<u32>,
    nodes: Vec<KdNode>,
    boxes: Vec<(f64, f64)>,
    /// The leaf of every row, or [`REMOVED`].
    leaf: Vec<u32>,
    left: usize,
}

const REMOVED: u32 = u32::MAX;

/// A row with its squared distance and its records. Ordered by distance, then by row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Neighbour(f64, u32, u64);

impl Eq for Neighbour {}

impl PartialOrd for Neighbour {
    fn partial_cmp(&self, other: &Neighbour) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Neighbour {
    fn cmp(&self, other: &Neighbour) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl<'s, 'a> KdTree<'s, 'a> {
    /// Builds a tree over some rows.
    pub(super) fn new(space: &'s Space<'a>, rows: Vec<u32>) -> KdTree<'s, 'a> {
        let greatest = rows.iter().max().map_or(0, |&row| row as usize + 1);
        let (leaf, left) = (vec![REMOVED; greatest], rows.len());
        let mut tree =
            KdTree { space, order: Vec::new(), nodes: Vec::new(), boxes: Vec::new(), leaf, left };
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

    /// Divides rows at the median of the widest side.
    fn divide(&mut self, rows: &mut [u32], from: u32, above: u32) {
        let width = self.space.width();
        let mut sides = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
        for &row in rows.iter() {
            for (side, &x) in sides.iter_mut().zip(self.space.point(row)) {
                *side = (side.0.min(x), side.1.max(x));
            }
        }
        let (node, to) = (self.nodes.len() as u32, from + rows.len() as u32);
        self.nodes.push(KdNode { from, to, second: 0, above, left: rows.len() as u32 });
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
            space.point(a)[axis].total_cmp(&space.point(b)[axis]).then(a.cmp(&b))
        });
        let (first, second) = rows.split_at_mut(middle);
        self.divide(first, from, node);
        self.nodes[node as usize].second = self.nodes.len() as u32;
        self.divide(second, from + middle as u32, node);
    }

    /// Returns the number of remaining rows.
    pub(super) fn len(&self) -> usize {
        self.left
    }

    /// Returns the remaining rows in ascending order.
    pub(super) fn rows(&self) -> Vec<u32> {
        (0..self.leaf.len() as u32).filter(|&row| self.has(row)).collect()
    }

    fn has(&self, row: u32) -> bool {
        self.leaf[row as usize] != REMOVED
    }

    /// Removes a row. Returns whether the tree was rebuilt.
    pub(super) fn remove(&mut self, row: u32) -> bool {
        let mut node = std::mem::replace(&mut self.leaf[row as usize], REMOVED);
        loop {
            self.nodes[node as usize].left -= 1;
            if node == 0 {
                break;
            }
            node = self.nodes[node as usize].above;
        }
        self.left -= 1;
        let rebuilt = self.left * 2 < self.order.len() && self.order.len() > 4 * LEAF;
        if rebuilt {
            let mut rows = std::mem::take(&mut self.order);
            rows.retain(|&row| self.has(row));
            self.build(rows);
        }
        rebuilt
    }

    fn sides(&self, node: u32) -> &[(f64, f64)] {
        let width = self.space.width();
        &self.boxes[node as usize * width..(node as usize + 1) * width]
    }

    /// Returns the row that is farthest from a point.
    pub(super) fn farthest(&self, point: &[f64]) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        if self.left > 0 {
            self.search_farthest(0, point, &mut best);
        }
        best.map(|best| best.1)
    }

    fn search_farthest(&self, at: u32, point: &[f64], best: &mut Option<(f64, u32)>) {
        let node = &self.nodes[at as usize];
        if node.second == 0 {
            for &row in &self.order[node.from as usize..node.to as usize] {
                if self.has(row) {
                    let distance = self.space.distance(point, self.space.point(row));
                    if best
                        .is_none_or(|(far, known)| distance > far || distance == far && row < known)
                    {
                        *best = Some((distance, row));
                    }
                }
            }
            return;
        }
        let bound = |child: u32| match self.nodes[child as usize].left {
            0 => f64::NEG_INFINITY,
            _ => self.space.max_distance(point, self.sides(child)),
        };
        let mut children = [(bound(at + 1), at + 1), (bound(node.second), node.second)];
        if children[1].0 > children[0].0 {
            children.swap(0, 1);
        }
        for (most, child) in children {
            if most > f64::NEG_INFINITY && best.is_none_or(|(far, _)| most >= far) {
                self.search_farthest(child, point, best);
            }
        }
    }

    /// Returns the nearest rows to a point that together have `need` records, the nearest first.
    /// Returns all rows if they have fewer.
    pub(super) fn nearest(
        &self,
        point: &[f64],
        need: u64,
        records: impl Fn(u32) -> u64,
    ) -> Vec<u32> {
        let mut found = Nearest { heap: BinaryHeap::new(), sum: 0, need };
        if self.left > 0 && need > 0 {
            self.search_nearest(0, point, &records, &mut found);
        }
        let mut found = found.heap.into_vec();
        found.sort_unstable();
        found.into_iter().map(|Neighbour(_, row, _)| row).collect()
    }

    fn search_nearest(
        &self,
        at: u32,
        point: &[f64],
        records: &dyn Fn(u32) -> u64,
        found: &mut Nearest,
    ) {
        let node = &self.nodes[at as usize];
        if node.second == 0 {
            for &row in &self.order[node.from as usize..node.to as usize] {
                if self.has(row) {
                    found.add(self.space.distance(point, self.space.point(row)), row, records(row));
                }
            }
            return;
        }
        let bound = |child: u32| match self.nodes[child as usize].left {
            0 => f64::INFINITY,
            _ => self.space.min_distance(point, self.sides(child)),
        };
        let mut children = [(bound(at + 1), at + 1), (bound(node.second), node.second)];
        if children[1].0 < children[0].0 {
            children.swap(0, 1);
        }
        for (least, child) in children {
            if self.nodes[child as usize].left > 0 && found.accepts(least) {
                self.search_nearest(child, point, records, found);
            }
        }
    }
}

/// The nearest rows so far, as a heap with the farthest row on top.
struct Nearest {
    heap: BinaryHeap<Neighbour>,
    sum: u64,
    need: u64,
}

impl Nearest {
    fn accepts(&self, distance: f64) -> bool {
        self.sum < self.need || self.heap.peek().is_some_and(|found| distance <= found.0)
    }

    fn add(&mut self, distance: f64, row: u32, records: u64) {
        if !self.accepts(distance) {
            return;
        }
        self.heap.push(Neighbour(distance, row, records));
        self.sum += records;
        while let Some(&Neighbour(_, _, farthest)) = self.heap.peek() {
            if self.sum - farthest < self.need {
                break;
            }
            self.sum -= farthest;
            self.heap.pop();
        }
    }
}
