//! Merges groups that are too small with the neighbour for which the loss grows least.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incrowd_core::GroupSummary;

use super::MergeSearch;
use super::column_costs::{ColumnCosts, less};
use super::points::Points;
use super::tree::PartTree;

/// The least number of other groups that an undersized group chooses from.
const MIN_CANDIDATES: u64 = 16;

/// A group that may still merge with others.
#[derive(Clone, Debug)]
pub(super) struct OpenGroup {
    /// The leaf of the tree at which it started. A merged group keeps that of the group others
    /// joined.
    pub(super) anchor: u32,
    /// All its points.
    pub(super) points: Vec<u32>,
    pub(super) spans: Vec<(u32, u32)>,
    perimeter: f64,
    pub(super) records: u64,
    /// The number of records that count as loss.
    pub(super) own: u64,
    pub(super) summary: GroupSummary,
}

impl OpenGroup {
    pub(super) fn new(
        points: &Points,
        costs: &ColumnCosts<'_>,
        own: &[u32],
        summary: &dyn Fn(u32) -> GroupSummary,
    ) -> OpenGroup {
        let mut spans = vec![(u32::MAX, 0); costs.len()];
        let mut open = OpenGroup {
            anchor: 0,
            points: own.to_vec(),
            spans: Vec::new(),
            perimeter: 0.0,
            records: 0,
            own: 0,
            summary: GroupSummary::default(),
        };
        for (i, &point) in own.iter().enumerate() {
            for (span, &code) in spans.iter_mut().zip(points.codes(point)) {
                *span = (span.0.min(code), span.1.max(code));
            }
            open.records += points.records[point as usize];
            open.own += points.own[point as usize];
            let summary = summary(point);
            if i == 0 { open.summary = summary } else { open.summary.merge(&summary) }
        }
        open.perimeter = costs.perimeter(&spans);
        open.spans = spans;
        open
    }

    fn cost(&self) -> f64 {
        self.own as f64 * self.perimeter
    }
}

/// The groups during merging.
pub(super) struct Merging<'a> {
    groups: Vec<Option<OpenGroup>>,
    costs: &'a ColumnCosts<'a>,
    tree: &'a PartTree,
    merge_search: MergeSearch,
    /// The number of remaining groups, as a Fenwick tree over the leaves.
    left: Vec<u32>,
    /// A union-find structure: each leaf, or a later one on the path to the next remaining leaf.
    next: Vec<u32>,
}

impl<'a> Merging<'a> {
    /// Creates one group for each leaf of the tree.
    pub(super) fn new(
        groups: Vec<OpenGroup>,
        costs: &'a ColumnCosts<'a>,
        tree: &'a PartTree,
        merge_search: MergeSearch,
    ) -> Self {
        let mut left = vec![0; groups.len() + 1];
        for i in 1..=groups.len() {
            left[i] += 1;
            // The lowest set bit of `i` is the length of its range in the Fenwick tree.
            let above = i + (i & i.wrapping_neg());
            if above < left.len() {
                left[above] += left[i];
            }
        }
        let next = (0..=groups.len() as u32).collect();
        let at_leaf =
            |(leaf, group): (usize, OpenGroup)| Some(OpenGroup { anchor: leaf as u32, ..group });
        let groups = groups.into_iter().enumerate().map(at_leaf).collect();
        Merging { groups, costs, tree, merge_search, left, next }
    }

    /// Merges until every group is `enough`. Returns the pairs of a group and the one it joined.
    pub(super) fn run(&mut self, enough: &dyn Fn(&OpenGroup) -> bool) -> Vec<(u32, u32)> {
        let mut steps = Vec::new();
        let mut heap: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        for (i, group) in self.groups.iter().enumerate() {
            let Some(group) = group else { continue };
            if !enough(group) {
                heap.push(Reverse((group.records, i as u32)));
            }
        }
        while let Some(Reverse((records, at))) = heap.pop() {
            // A group that has changed since was pushed again with its new size.
            let current =
                self.groups[at as usize].as_ref().is_some_and(|group| group.records == records);
            if !current {
                continue;
            }
            let Some(target) = self.best(at) else { break };
            self.merge(at, target);
            steps.push((at, target));
            let merged = self.groups[target as usize].as_ref();
            if let Some(group) = merged.filter(|group| !enough(group)) {
                heap.push(Reverse((group.records, target)));
            }
        }
        steps
    }

    /// Returns the remaining groups in the order of their leaves.
    pub(super) fn into_groups(self) -> Vec<OpenGroup> {
        self.groups.into_iter().flatten().collect()
    }

    /// Returns the number of remaining groups before a leaf.
    fn before(&self, leaf: u32) -> u64 {
        let (mut sum, mut i) = (0, leaf as usize);
        while i > 0 {
            sum += u64::from(self.left[i]);
            i &= i - 1;
        }
        sum
    }

    /// Returns the first remaining leaf from here on. Halves the path on the way.
    fn first(&mut self, leaf: u32) -> u32 {
        let mut at = leaf;
        while self.next[at as usize] != at {
            self.next[at as usize] = self.next[self.next[at as usize] as usize];
            at = self.next[at as usize];
        }
        at
    }

    /// Returns the group for which the loss grows least if the one at `at` joins it; on a tie the
    /// smaller one, then the first.
    fn best(&mut self, at: u32) -> Option<u32> {
        let (from, to) = match self.merge_search {
            MergeSearch::All => (0, self.groups.len() as u32),
            MergeSearch::Near => self
                .tree
                .enclosing(at, |(from, to)| self.before(to) - self.before(from) > MIN_CANDIDATES),
        };
        let mut best: Option<(f64, u64, u32)> = None;
        let mut other = self.first(from);
        while other < to {
            if other != at
                && let (Some(g), Some(h)) =
                    (&self.groups[at as usize], &self.groups[other as usize])
            {
                let spans = g.spans.iter().zip(&h.spans);
                let sides = spans
                    .enumerate()
                    .map(|(q, (a, b))| self.costs.cost(q, a.0.min(b.0), a.1.max(b.1)));
                let perimeter: f64 = sides.sum();
                let growth = (g.own + h.own) as f64 * perimeter - g.cost() - h.cost();
                let better = best.is_none_or(|(min_records, records, _)| {
                    less(growth, min_records) || !less(min_records, growth) && h.records < records
                });
                if better {
                    best = Some((growth, h.records, other));
                }
            }
            other = self.first(other + 1);
        }
        best.map(|(_, _, target)| target)
    }

    fn merge(&mut self, at: u32, target: u32) {
        let Some(merged) = self.groups[at as usize].take() else { return };
        let Some(group) = self.groups[target as usize].as_mut() else { return };
        for (span, own) in group.spans.iter_mut().zip(&merged.spans) {
            *span = (span.0.min(own.0), span.1.max(own.1));
        }
        group.perimeter = self.costs.perimeter(&group.spans);
        group.records += merged.records;
        group.own += merged.own;
        group.points.extend(merged.points);
        group.summary.merge(&merged.summary);
        self.next[at as usize] = at + 1;
        let mut i = at as usize + 1;
        while i < self.left.len() {
            self.left[i] -= 1;
            i += i & i.wrapping_neg();
        }
    }
}
