//! The search Incognito: a level vector that fails for some columns fails for any more of them, so it is pruned there.
//!
//! Paper: `lefevre2005`. For ever larger subsets of the columns, the level vectors all of whose
//! projections on one column less kept the promises are candidates. They are checked in order of the sum of their levels: a
//! candidate above one that keeps the promises keeps them too, and the groups of another are rolled up from a failing
//! candidate one step below.
//!
//! Where we differ: "keeps the promises" is whatever the models say, within a limit of suppressed records. It is sound
//! wherever [`Checker::is_monotone`], because leaving out a column merges groups just as generalizing it does.

use std::collections::BTreeMap;

use incrowd_core::Progress;
use rayon::prelude::*;

use super::check::{Checker, Outcome};
use super::frequency::FrequencySet;
use super::key::Key;
use super::lattice::{Lattice, Node};

/// Frequency sets of failing nodes are kept for their successors up to this many bytes.
const KEPT_BYTES: usize = 256 << 20;

/// How many nodes are checked side by side.
const SIDE_BY_SIDE: usize = 64;

/// Which nodes keep the promises, what is known of those that were checked, and how many checks there were, those of
/// subsets of the columns included.
pub(super) struct Found {
    pub(super) satisfies: Vec<bool>,
    pub(super) outcomes: BTreeMap<Node, Outcome>,
    pub(super) checked: u64,
}

/// How many nodes the lattices of all subsets have together.
pub(super) fn nodes<K: Key>(checker: &Checker<'_, K>) -> u64 {
    let each = checker.column_levels.iter().map(|of_column| of_column.levels() as u64 + 1);
    each.fold(1u64, |nodes, n| nodes.saturating_mul(n)) - 1
}

pub(super) fn search<K: Key>(checker: &Checker<'_, K>, lattice: &Lattice, progress: &dyn Progress) -> Found {
    let columns = lattice.columns();
    let mut found = Found { satisfies: Vec::new(), outcomes: BTreeMap::new(), checked: 0 };
    // The verdicts for the subsets of the size before, by the columns they have.
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
        let columns: Vec<usize> = (0..checker.column_levels.len()).filter(|c| bits >> c & 1 == 1).collect();
        let levels = columns.iter().map(|&c| checker.column_levels[c].levels() as u32).collect();
        // A part of a lattice that is small enough is.
        let lattice = Lattice::new(levels).unwrap_or_else(|| unreachable!("a part is larger than the whole"));
        Subset { checker, columns, bits, lattice }
    }

    /// The node as a vector over all columns, those not in the subset left out.
    fn vector(&self, node: Node) -> Vec<u8> {
        let mut vector: Vec<u8> =
            self.checker.column_levels.iter().map(|of_column| of_column.levels() as u8).collect();
        self.columns.iter().enumerate().for_each(|(i, &column)| vector[column] = self.lattice.level(node, i));
        vector
    }

    /// Whether all projections on one column less kept the promises.
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
        found: &mut Found,
        progress: &dyn Progress,
    ) -> Vec<bool> {
        let whole = self.columns.len() == self.checker.column_levels.len();
        let bottom = vec![0; self.checker.column_levels.len()];
        let start = self.vector(Node(0));
        let projected = (!whole).then(|| self.checker.rolled_up(&self.checker.base, &bottom, &start));
        let base = projected.as_ref().unwrap_or(&self.checker.base);
        let mut satisfies = vec![false; self.lattice.len()];
        let mut failing: BTreeMap<Node, FrequencySet<K>> = BTreeMap::new();
        for nodes in self.lattice.by_height() {
            let candidates = nodes.iter().copied().filter(|&node| self.is_candidate(node, smaller));
            let (above, open): (Vec<Node>, Vec<Node>) =
                candidates.partition(|&node| self.lattice.below(node).any(|below| satisfies[below.index()]));
            above.iter().for_each(|node| satisfies[node.index()] = true);
            let check = |&node: &Node| {
                let kept = self.lattice.below(node).filter_map(|below| Some((below, failing.get(&below)?)));
                let to = self.vector(node);
                match kept.min_by_key(|(_, set)| set.groups.len()) {
                    Some((below, set)) => self.checker.check(set, &self.vector(below), &to),
                    None => self.checker.check(base, &start, &to),
                }
            };
            let mut kept = BTreeMap::new();
            let mut bytes = 0;
            for open in open.chunks(SIDE_BY_SIDE) {
                let checks: Vec<(FrequencySet<K>, Option<Outcome>)> = open.par_iter().map(check).collect();
                for (&node, (set, outcome)) in open.iter().zip(checks) {
                    satisfies[node.index()] = outcome.is_some();
                    match outcome {
                        Some(outcome) if whole => drop(found.outcomes.insert(node, outcome)),
                        Some(_) => {}
                        None if bytes + set.bytes() <= KEPT_BYTES => {
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
