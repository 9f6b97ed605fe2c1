//! A kd-tree over the points of the distance attributes, with record counts per sensitive value.
//!
//! Every node stores the number of records per value below it, so that a node that is completely
//! near is counted at once for all values. Points store the distinct rows of all quasi-identifiers
//! at them.

use hashbrown::HashMap;

use super::scale::Axis;
use crate::dataset::Dataset;
use crate::index::Code;

/// Nodes with at most this many points are not split.
const LEAF: usize = 8;

/// Ranks of sensitive values with cumulative record counts.
#[derive(Clone, Copy)]
pub(super) struct ValueCounts<'a> {
    pub(super) ranks: &'a [u32],
    /// The number of records before each rank, followed by the total: one more entry than `ranks`.
    pub(super) before: &'a [u64],
}

/// A node: the range of its points, and its value counts.
pub(super) struct Node {
    pub(super) points: (u32, u32),
    /// The second child; the first child is the next node. 0 for a leaf.
    pub(super) second: u32,
    list: (u32, u32),
}

/// The kd-tree.
pub(super) struct KdTree {
    pub(super) width: usize,
    /// The scaled positions of the points, point by point.
    places: Vec<f64>,
    pub(super) nodes: Vec<Node>,
    /// Least and greatest position of each node, axis by axis.
    boxes: Vec<(f64, f64)>,
    ranks: Vec<u32>,
    before: Vec<u64>,
    /// The range of each point in `ranks` and `before`.
    lists: Vec<(u32, u32)>,
    /// The number of quasi-identifiers. `people` holds distinct rows of their codes, `row_counts`
    /// the record counts of these rows, `starts` the first row of each point.
    pub(super) quasi: usize,
    people: Vec<u32>,
    row_counts: Vec<u64>,
    starts: Vec<u32>,
}

impl KdTree {
    /// Builds the tree. Also returns the point of each row.
    pub(super) fn new(
        data: &Dataset,
        axes: &[(usize, Axis)],
        ranks: &[u32],
        values: usize,
    ) -> (KdTree, Vec<u32>) {
        let width = axes.len();
        let mut known: HashMap<Vec<u32>, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut of_row: Vec<u32> = Vec::with_capacity(data.rows());
        let mut places: Vec<f64> = Vec::new();
        for row in 0..data.rows() {
            let codes = data.quasi_codes(row);
            let key: Vec<u32> = axes.iter().map(|(q, _)| codes[*q]).collect();
            let next = known.len() as u32;
            let point = *known.entry(key).or_insert(next);
            if point == next {
                places.extend(
                    axes.iter().map(|(q, axis)| {
                        axis.scaled(data.quasi()[*q].domain.place(Code(codes[*q])))
                    }),
                );
            }
            of_row.push(point);
        }
        let count = known.len();
        drop(known);
        // Points are sorted in tree order, so that the points of a node are contiguous.
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut tree = KdTree {
            width,
            places,
            nodes: Vec::new(),
            boxes: Vec::new(),
            ranks: Vec::new(),
            before: Vec::new(),
            lists: Vec::new(),
            quasi: data.quasi().len(),
            people: Vec::new(),
            row_counts: Vec::new(),
            starts: Vec::new(),
        };
        if count > 0 {
            tree.split(&mut order, 0);
        }
        let mut position = vec![0u32; count];
        order.iter().enumerate().for_each(|(at, &point)| position[point as usize] = at as u32);
        tree.places = order
            .iter()
            .flat_map(|&point| {
                tree.places[point as usize * width..(point as usize + 1) * width].to_vec()
            })
            .collect();
        let point: Vec<u32> = of_row.iter().map(|&point| position[point as usize]).collect();
        tree.fill(data, &point, ranks, values);
        (tree, point)
    }

    /// Splits a range of points at the median of the widest side.
    fn split(&mut self, order: &mut [u32], start: u32) -> u32 {
        let width = self.width;
        let place = |point: u32, axis: usize| self.places[point as usize * width + axis];
        let mut sides = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
        for &point in order.iter() {
            for (axis, side) in sides.iter_mut().enumerate() {
                let x = place(point, axis);
                *side = (side.0.min(x), side.1.max(x));
            }
        }
        let widest = (0..width)
            .max_by(|&a, &b| (sides[a].1 - sides[a].0).total_cmp(&(sides[b].1 - sides[b].0)));
        let node = self.nodes.len();
        let end = start + order.len() as u32;
        self.nodes.push(Node { points: (start, end), second: 0, list: (0, 0) });
        if let Some(axis) = widest.filter(|_| order.len() > LEAF) {
            order.sort_unstable_by(|&a, &b| {
                place(a, axis).total_cmp(&place(b, axis)).then(a.cmp(&b))
            });
            let middle = order.len() / 2;
            self.boxes.extend(sides);
            let (left, right) = order.split_at_mut(middle);
            self.split(left, start);
            self.nodes[node].second = self.nodes.len() as u32;
            self.split(right, start + middle as u32);
        } else {
            self.boxes.extend(sides);
        }
        node as u32
    }

    /// Counts values and people.
    fn fill(&mut self, data: &Dataset, point: &[u32], ranks: &[u32], values: usize) {
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        rows.sort_unstable_by(|&a, &b| {
            let of = |row: u32| point[row as usize];
            let quasi = |row: u32| data.quasi_codes(row as usize);
            of(a).cmp(&of(b)).then_with(|| quasi(a).cmp(quasi(b))).then(a.cmp(&b))
        });
        let mut entries: Vec<Vec<(u32, u64)>> =
            vec![Vec::new(); self.places.len() / self.width.max(1)];
        if self.width == 0 && data.rows() > 0 {
            entries = vec![Vec::new()];
        }
        self.starts.push(0);
        for alike in rows.chunk_by(|a, b| point[*a as usize] == point[*b as usize]) {
            let own = &mut entries[point[alike[0] as usize] as usize];
            own.extend(alike.iter().map(|&row| (ranks[row as usize], data.weight(row as usize))));
            for same in alike
                .chunk_by(|a, b| data.quasi_codes(*a as usize) == data.quasi_codes(*b as usize))
            {
                self.people.extend_from_slice(data.quasi_codes(same[0] as usize));
                self.row_counts.push(same.iter().map(|&row| data.weight(row as usize)).sum());
            }
            self.starts.push(self.row_counts.len() as u32);
        }
        for own in &mut entries {
            let list = self.list(own, values);
            self.lists.push(list);
        }
        // Children have greater indices than their parent, so they are summed first.
        for node in (0..self.nodes.len()).rev() {
            let (start, end) = self.nodes[node].points;
            let mut below: Vec<(u32, u64)> = Vec::new();
            let parts: Vec<(u32, u32)> = match self.nodes[node].second {
                0 => self.lists[start as usize..end as usize].to_vec(),
                second => vec![self.nodes[node + 1].list, self.nodes[second as usize].list],
            };
            for part in parts {
                let counts = self.counts(part);
                below.extend(
                    counts
                        .ranks
                        .iter()
                        .enumerate()
                        .map(|(i, &r)| (r, counts.before[i + 1] - counts.before[i])),
                );
            }
            self.nodes[node].list = self.list(&mut below, values);
        }
    }

    /// Stores ranks with cumulative record counts. A sentinel rank keeps `ranks` and `before`
    /// equally long.
    fn list(&mut self, entries: &mut [(u32, u64)], values: usize) -> (u32, u32) {
        let start = self.before.len() as u32;
        let mut sum = 0;
        let mut push = |rank: u32, records: u64| {
            self.ranks.push(rank);
            self.before.push(sum);
            sum += records;
        };
        if entries.len() > values {
            let mut counts = vec![0u64; values];
            entries.iter().for_each(|&(rank, records)| counts[rank as usize] += records);
            counts
                .iter()
                .enumerate()
                .filter(|(_, n)| **n > 0)
                .for_each(|(rank, &n)| push(rank as u32, n));
        } else {
            entries.sort_unstable();
            for alike in entries.chunk_by(|a, b| a.0 == b.0) {
                push(alike[0].0, alike.iter().map(|entry| entry.1).sum());
            }
        }
        self.ranks.push(u32::MAX);
        self.before.push(sum);
        (start, self.before.len() as u32)
    }

    fn counts(&self, (start, end): (u32, u32)) -> ValueCounts<'_> {
        let (start, end) = (start as usize, end as usize);
        ValueCounts { ranks: &self.ranks[start..end - 1], before: &self.before[start..end] }
    }

    pub(super) fn of_node(&self, node: u32) -> ValueCounts<'_> {
        self.counts(self.nodes[node as usize].list)
    }

    pub(super) fn of_point(&self, point: u32) -> ValueCounts<'_> {
        self.counts(self.lists[point as usize])
    }

    /// The number of a point's first value among the values of all points.
    pub(super) fn first_place(&self, point: u32) -> u32 {
        self.lists[point as usize].0
    }

    pub(super) fn place(&self, point: u32) -> &[f64] {
        &self.places[point as usize * self.width..(point as usize + 1) * self.width]
    }

    pub(super) fn sides(&self, node: u32) -> &[(f64, f64)] {
        &self.boxes[node as usize * self.width..(node as usize + 1) * self.width]
    }

    /// The number of points.
    pub(super) fn points(&self) -> usize {
        self.lists.len()
    }

    /// The distinct rows at a point: their codes and record counts.
    pub(super) fn people(&self, point: u32) -> impl Iterator<Item = (&[u32], u64)> {
        let range = self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize;
        range.map(|at| (&self.people[at * self.quasi..(at + 1) * self.quasi], self.row_counts[at]))
    }
}
