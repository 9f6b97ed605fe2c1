//! The exhaustive search: every node of the lattice is checked.
//!
//! Nodes are visited as a tree: the parent of a node is one level lower in the last column, in a fixed order of the columns,
//! that is not at its lowest level. So each node's groups follow from those of a node with hardly more groups, and no
//! more frequency sets are kept than the tree is deep. Columns with many values come first: they shrink the sets early, and
//! most steps are left to columns that change little.

use incrowd_core::Progress;
use rayon::prelude::*;

use super::check::{Checker, Outcome};
use super::frequency::FrequencySet;
use super::key::Key;
use super::lattice::{Lattice, Node};

/// More nodes than this are not checked one by one.
pub(super) const MOST_NODES: usize = 1 << 20;

/// The nodes that keep the promises, in no order.
pub(super) fn search<K: Key>(
    checker: &Checker<'_, K>,
    lattice: &Lattice,
    progress: &dyn Progress,
) -> Vec<(Node, Outcome)> {
    let mut order: Vec<usize> = (0..lattice.columns()).collect();
    order.sort_by_key(|&column| std::cmp::Reverse(checker.column_levels[column].classes(0)));
    let walk = Walk { checker, lattice, order, progress };
    let bottom = vec![0; lattice.columns()];
    walk.visit(&checker.base, &bottom, &bottom, 0)
}

struct Walk<'a, K> {
    checker: &'a Checker<'a, K>,
    lattice: &'a Lattice,
    order: Vec<usize>,
    progress: &'a dyn Progress,
}

impl<K: Key> Walk<'_, K> {
    /// Checks a node and those that have it as an ancestor in the tree.
    fn visit(&self, source: &FrequencySet<K>, from: &[u8], to: &[u8], first: usize) -> Vec<(Node, Outcome)> {
        let (set, outcome) = self.checker.check(source, from, to);
        self.progress.advance(1);
        let mut found: Vec<(Node, Outcome)> =
            outcome.map(|outcome| (self.lattice.node(to), outcome)).into_iter().collect();
        let children = (first..self.order.len()).filter(|&position| {
            let column = self.order[position];
            usize::from(to[column]) + 1 < self.checker.column_levels[column].levels()
        });
        let child = |position: usize| {
            let mut above = to.to_vec();
            above[self.order[position]] += 1;
            self.visit(&set, to, &above, position)
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
