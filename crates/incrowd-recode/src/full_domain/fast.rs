//! The same answer as Incognito with far fewer checks.
//!
//! Paper: `kohlmayer2012` (Flash), the idea: walk up the lattice along paths of nodes whose verdict is not known yet, search
//! each path by halves for the first node that keeps the promises, and let every verdict speak for all nodes above or below.
//!
//! Where we differ: several paths are searched side by side, always the same number, so that what is checked does not
//! depend on the number of threads. Groups are rolled up from the smallest frequency set at hand. The best node is found
//! among *all* that keep the promises: where suppression makes a metric fall on the way up, nodes are looked at in the
//! order of the least they can cost, until that is more than the best so far.

use std::collections::BTreeMap;

use incrowd_core::Progress;
use rayon::prelude::*;

use super::cache::Cache;
use super::check::{Checker, Outcome};
use super::frequency::FrequencySet;
use super::key::Key;
use super::lattice::{Lattice, Node};
use super::price::Metric;

/// How many paths are searched side by side.
const PATHS: usize = 4;

/// How many nodes are priced side by side.
const PRICED: usize = 8;

/// A frequency set is worth keeping if it has at most this share of the groups it was rolled up from.
const WORTH_KEEPING: f64 = 0.75;

/// What is known of a node's promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Unknown,
    Holds,
    Fails,
}

/// The search under way.
pub(super) struct Search<'a, K> {
    checker: &'a Checker<'a, K>,
    lattice: &'a Lattice,
    progress: &'a dyn Progress,
    tags: Vec<Tag>,
    cache: Cache<K>,
    pub(super) outcomes: BTreeMap<Node, Outcome>,
    pub(super) checked: u64,
}

impl<'a, K: Key> Search<'a, K> {
    /// Finds out of every node whether it keeps the promises, which must be monotone.
    pub(super) fn run(checker: &'a Checker<'a, K>, lattice: &'a Lattice, progress: &'a dyn Progress) -> Self {
        let tags = vec![Tag::Unknown; lattice.len()];
        let (cache, outcomes) = (Cache::default(), BTreeMap::new());
        let mut search = Search { checker, lattice, progress, tags, cache, outcomes, checked: 0 };
        for nodes in lattice.by_height() {
            loop {
                let paths = search.paths(&nodes);
                if paths.is_empty() {
                    break;
                }
                search.halve(paths);
            }
        }
        search
    }

    pub(super) fn satisfies(&self, node: Node) -> bool {
        self.tags[node.index()] == Tag::Holds
    }

    /// Paths upwards from unknown nodes, through unknown nodes, that do not touch.
    fn paths(&self, starts: &[Node]) -> Vec<Vec<Node>> {
        let mut taken: Vec<Node> = Vec::new();
        let unknown = |node: &Node, taken: &[Node]| self.tags[node.index()] == Tag::Unknown && !taken.contains(node);
        let mut paths = Vec::new();
        for &start in starts {
            if paths.len() == PATHS {
                break;
            }
            if !unknown(&start, &taken) {
                continue;
            }
            let mut path = vec![start];
            let mut node = start;
            while let Some(next) = self.next(node, |node| unknown(node, &taken)) {
                path.push(next);
                node = next;
            }
            taken.extend(&path);
            paths.push(path);
        }
        paths
    }

    /// Where a path goes on.
    fn next(&self, node: Node, open: impl Fn(&Node) -> bool) -> Option<Node> {
        self.lattice.above(node).filter(open).last()
    }

    /// Searches the paths by halves, all at the same pace.
    fn halve(&mut self, paths: Vec<Vec<Node>>) {
        let mut open: Vec<(Vec<Node>, usize, usize)> =
            paths.into_iter().map(|path| (0, path.len(), path)).map(|(lo, hi, path)| (path, lo, hi)).collect();
        while !open.is_empty() {
            let middle = |&(ref path, lo, hi): &(Vec<Node>, usize, usize)| path[(lo + hi) / 2];
            let asked: Vec<Node> =
                open.iter().map(middle).filter(|node| self.tags[node.index()] == Tag::Unknown).collect();
            self.check(&asked, true);
            for (path, lo, hi) in &mut open {
                let at = (*lo + *hi) / 2;
                match self.tags[path[at].index()] {
                    Tag::Holds => *hi = at,
                    Tag::Fails => *lo = at + 1,
                    Tag::Unknown => {}
                }
            }
            open.retain(|(_, lo, hi)| lo < hi);
        }
    }

    /// Checks nodes and, if asked to, lets the verdicts speak for others.
    fn check(&mut self, nodes: &[Node], tag: bool) {
        let (checker, lattice, cache) = (self.checker, self.lattice, &self.cache);
        let bottom = vec![0; lattice.columns()];
        let check = |&node: &Node| {
            let to = lattice.vector(node);
            let (from, source) = cache.below(&to).unwrap_or((&bottom, &checker.base));
            let (set, outcome) = checker.check(source, from, &to);
            let worth = set.groups.len() as f64 <= WORTH_KEEPING * source.groups.len() as f64;
            (to, worth.then_some(set), outcome)
        };
        let checks: Vec<(Vec<u8>, Option<FrequencySet<K>>, Option<Outcome>)> = nodes.par_iter().map(check).collect();
        for (&node, (levels, set, outcome)) in nodes.iter().zip(checks) {
            self.checked += 1;
            if tag {
                self.tag(node, if outcome.is_some() { Tag::Holds } else { Tag::Fails });
            }
            if let Some(outcome) = outcome {
                self.outcomes.insert(node, outcome);
            }
            if let Some(set) = set {
                self.cache.keep(levels, set);
            }
        }
    }

    /// Tags a node, and the unknown ones above if it holds, below if it fails.
    fn tag(&mut self, node: Node, tag: Tag) {
        let mut stack = vec![node];
        let mut tagged = 0;
        while let Some(node) = stack.pop() {
            if self.tags[node.index()] != Tag::Unknown {
                continue;
            }
            self.tags[node.index()] = tag;
            tagged += 1;
            match tag {
                Tag::Holds => stack.extend(self.lattice.above(node)),
                _ => stack.extend(self.lattice.below(node)),
            }
        }
        self.progress.advance(tagged);
    }

    /// Prices nodes that keep the promises until no other can be the best. Where cost grows on the way up nothing is to be
    /// done: minimal nodes have been checked.
    pub(super) fn price(&mut self, metric: Metric) {
        if self.checker.cost_grows() {
            return;
        }
        self.progress.step("pricing", None);
        if metric.of_sizes() { self.price_sizes() } else { self.price_cells() }
    }

    fn best(&self) -> f64 {
        self.outcomes.values().map(|outcome| outcome.value).fold(f64::INFINITY, f64::min)
    }

    /// In the order of what a node would cost without suppression.
    fn price_cells(&mut self) {
        let open = self.lattice.nodes().filter(|&node| self.satisfies(node) && !self.outcomes.contains_key(&node));
        let bound = |node: Node| self.checker.prices.at_least(&self.lattice.vector(node));
        let best = beyond(self.best());
        let mut open: Vec<(f64, Node)> =
            open.map(|node| (bound(node), node)).filter(|(bound, _)| *bound <= best).collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for nodes in open.chunks(PRICED) {
            let best = beyond(self.best());
            let nodes: Vec<Node> = nodes.iter().filter(|(bound, _)| *bound <= best).map(|(_, node)| *node).collect();
            if nodes.is_empty() {
                return;
            }
            self.check(&nodes, false);
        }
    }

    /// From below, leaving out what lies above a node that rules it out.
    fn price_sizes(&mut self) {
        let mut floors = vec![0.0f64; self.lattice.len()];
        for nodes in self.lattice.by_height() {
            let holding: Vec<Node> = nodes.into_iter().filter(|&node| self.satisfies(node)).collect();
            for nodes in holding.chunks(PRICED) {
                let best = beyond(self.best());
                for &node in nodes {
                    let below = self.lattice.below(node).map(|below| floors[below.index()]);
                    floors[node.index()] = below.fold(0.0, f64::max);
                }
                let open = nodes.iter().copied().filter(|node| {
                    floors[node.index()] <= best && !self.outcomes.contains_key(node)
                });
                let open: Vec<Node> = open.collect();
                self.check(&open, false);
                for &node in nodes {
                    if let Some(outcome) = self.outcomes.get(&node) {
                        floors[node.index()] = floors[node.index()].max(outcome.floor);
                    }
                }
            }
        }
    }
}

/// What rounding cannot have made of a cost that is no more than this.
fn beyond(cost: f64) -> f64 {
    cost + cost.abs() * 1e-9
}
