//! The search Incognito: a level vector that violates the models for a subset of the columns does
//! so for every superset, so it is pruned.
//!
//! Paper: `lefevre2005`. Subsets of the columns are processed by increasing size. A level vector is
//! a candidate if all its projections with one column less are valid. Candidates are checked in
//! order of the sum of their levels. A candidate above a valid one is valid. The groups of other
//! candidates are rolled up from an invalid candidate one step below.
//!
//! Differences from the paper: validity is defined by all models, within a limit of suppressed
//! records. The search is sound if [`Checker::is_monotone`], because leaving out a column merges
//! groups just like generalizing it.

use std::collections::BTreeMap;

use incrowd_core::Progress;
use rayon::prelude::*;

use super::SearchResult;
use super::check::{Checker, NodeOutcome};
use super::frequency::FrequencySet;
use super::key::Key;
use super::lattice::{Lattice, Node};

/// The greatest size in bytes of the frequency sets that are kept for the nodes above.
const MAX_KEPT_BYTES: usize = 256 << 20;

/// The number of nodes that are checked in parallel.
const BATCH: usize = 64;

/// Returns the total number of nodes of the lattices of all subsets.
pub(super) fn nodes<K: Key>(checker: &Checker<'_, K>) -> u64 {
    let each = checker.column_levels.iter().map(|of_column| of_column.levels() as u64 + 1);
    each.fold(1u64, |nodes, n| nodes.saturating_mul(n)) - 1
}

pub(super) fn search<K: Key>(
    checker: &Checker<'_, K>,
    lattice: &Lattice,
    progress: &dyn Progress,
) -> SearchResult {
    let columns = lattice.columns();
    let mut found = SearchResult { satisfies: Vec::new(), outcomes: BTreeMap::new(), checked: 0 };
    // The verdicts for the subsets with one column less, by the bit set of their columns.
    let mut smaller: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
    for size in 1..=columns as u32 {
        let mut verdicts = BTreeMap::new();
        for subset in (0..1u32 << columns).filter(|subset| subset.count_ones() == size) {
            let search = Subset::new(checker, subset);
            let satisfies = search.run(&smaller, &mut found, progress);
            verdicts.insert(subset, satisfies);
        }
        smaller = verdicts;
    }
    found.satisfies = smaller.into_values().next().unwrap_or_default();
    found
}

/// The search over one subset of the columns.
struct Subset<'a, K> {
    checker: &'a Checker<'a, K>,
    columns: Vec<usize>,
    bits: u32,
    lattice: Lattice,
}

impl<'a, K: Key> Subset<'a, K> {
    fn new(checker: &'a Checker<'a, K>, bits: u32) -> Self {
        let columns: Vec<usize> =
            (0..checker.column_levels.len()).filter(|c| bits >> c & 1 == 1).collect();
        let levels = columns.iter().map(|&c| checker.column_levels[c].levels() as u32).collect();
        let lattice = Lattice::new(levels)
            .unwrap_or_else(|| unreachable!("the lattice of all columns is small enough"));
        Subset { checker, columns, bits, lattice }
    }

    /// Returns the node as a vector over all columns. Columns that are not in the subset have their
    /// highest index, which ignores them.
    fn vector(&self, node: Node) -> Vec<u8> {
        let mut vector: Vec<u8> =
            self.checker.column_levels.iter().map(|of_column| of_column.levels() as u8).collect();
        self.columns
            .iter()
            .enumerate()
            .for_each(|(i, &column)| vector[column] = self.lattice.level(node, i));
        vector
    }

    /// Returns whether all projections with one column less are valid.
    fn is_candidate(&self, node: Node, smaller: &BTreeMap<u32, Vec<bool>>) -> bool {
        (0..self.columns.len()).all(|left_out| {
            let Some(verdicts) = smaller.get(&(self.bits & !(1 << self.columns[left_out]))) else {
                return true;
            };
            let mut index = 0;
            for (i, &column) in self.columns.iter().enumerate().filter(|(i, _)| *i != left_out) {
                index = index * self.checker.column_levels[column].levels()
                    + usize::from(self.lattice.level(node, i));
            }
            verdicts[index]
        })
    }

    fn run(
        &self,
        smaller: &BTreeMap<u32, Vec<bool>>,
        found: &mut SearchResult,
        progress: &dyn Progress,
    ) -> Vec<bool> {
        let whole = self.columns.len() == self.checker.column_levels.len();
        let bottom = vec![0; self.checker.column_levels.len()];
        let start = self.vector(Node(0));
        let projected =
            (!whole).then(|| self.checker.rolled_up(&self.checker.base, &bottom, &start));
        let base = projected.as_ref().unwrap_or(&self.checker.base);
        let mut satisfies = vec![false; self.lattice.len()];
        let mut failing: BTreeMap<Node, FrequencySet<K>> = BTreeMap::new();
        for nodes in self.lattice.by_height() {
            let candidates = nodes.iter().copied().filter(|&node| self.is_candidate(node, smaller));
            let (above, open): (Vec<Node>, Vec<Node>) = candidates
                .partition(|&node| self.lattice.below(node).any(|below| satisfies[below.index()]));
            above.iter().for_each(|node| satisfies[node.index()] = true);
            let check = |&node: &Node| {
                let kept = self
                    .lattice
                    .below(node)
                    .filter_map(|below| Some((below, failing.get(&below)?)));
                let to = self.vector(node);
                match kept.min_by_key(|(_, set)| set.groups.len()) {
                    Some((below, set)) => self.checker.check(set, &self.vector(below), &to),
                    None => self.checker.check(base, &start, &to),
                }
            };
            let mut kept = BTreeMap::new();
            let mut bytes = 0;
            for open in open.chunks(BATCH) {
                let checks: Vec<(FrequencySet<K>, Option<NodeOutcome>)> =
                    open.par_iter().map(check).collect();
                for (&node, (set, outcome)) in open.iter().zip(checks) {
                    satisfies[node.index()] = outcome.is_some();
                    match outcome {
                        Some(outcome) if whole => drop(found.outcomes.insert(node, outcome)),
                        Some(_) => {}
                        None if bytes + set.bytes() <= MAX_KEPT_BYTES => {
                            bytes += set.bytes();
                            kept.insert(node, set);
                        }
                        None => {}
                    }
                }
            }
            found.checked += open.len() as u64;
            progress.advance(nodes.len() as u64);
            failing = kept;
        }
        satisfies
    }
}
