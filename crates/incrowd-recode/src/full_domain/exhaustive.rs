//! The exhaustive search: checks every node of the lattice.
//!
//! The nodes are traversed as a tree. The parent of a node is one level lower in the last column,
//! in a fixed order of the columns, that is not at its lowest level. So each node's groups follow
//! from those of a node with only slightly more groups, and the number of frequency sets in memory
//! is at most the depth of the tree. Columns with many values come first: they shrink the sets
//! early, and most steps concern columns that change little.

use incrowd_core::Progress;
use rayon::prelude::*;

use super::check::{Checker, NodeOutcome};
use super::frequency::FrequencySet;
use super::key::Key;
use super::lattice::{Lattice, Node};

/// The greatest number of nodes for this search.
pub(super) const MAX_NODES: usize = 1 << 20;

/// Returns the nodes that satisfy the models, in no particular order.
pub(super) fn search<K: Key>(
    checker: &Checker<'_, K>,
    lattice: &Lattice,
    progress: &dyn Progress,
) -> Vec<(Node, NodeOutcome)> {
    let mut order: Vec<usize> = (0..lattice.columns()).collect();
    order.sort_by_key(|&column| std::cmp::Reverse(checker.column_levels[column].classes(0)));
    let walk = Walk { checker, lattice, order, progress };
    let bottom = vec![0; lattice.columns()];
    walk.search(&checker.base, &bottom, &bottom, 0)
}

struct Walk<'a, K> {
    checker: &'a Checker<'a, K>,
    lattice: &'a Lattice,
    order: Vec<usize>,
    progress: &'a dyn Progress,
}

impl<K: Key> Walk<'_, K> {
    /// Checks a node and its descendants in the tree.
    fn search(
        &self,
        source: &FrequencySet<K>,
        from: &[u8],
        to: &[u8],
        first: usize,
    ) -> Vec<(Node, NodeOutcome)> {
        let (set, outcome) = self.checker.check(source, from, to);
        self.progress.advance(1);
        let mut found: Vec<(Node, NodeOutcome)> =
            outcome.map(|outcome| (self.lattice.node(to), outcome)).into_iter().collect();
        let children = (first..self.order.len()).filter(|&position| {
            let column = self.order[position];
            usize::from(to[column]) + 1 < self.checker.column_levels[column].levels()
        });
        let child = |position: usize| {
            let mut above = to.to_vec();
            above[self.order[position]] += 1;
            self.search(&set, to, &above, position)
        };
        let children: Vec<usize> = children.collect();
        if children.len() > 1 {
            found.par_extend(children.into_par_iter().flat_map_iter(child));
        } else {
            found.extend(children.into_iter().flat_map(child));
        }
        found
    }
}
