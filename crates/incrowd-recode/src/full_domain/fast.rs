//! The search `fast`: finds the same nodes as Incognito with far fewer and cheaper checks.
//!
//! Paper: `kohlmayer2012` (Flash). The idea is to follow paths upwards through nodes without a
//! verdict, to find the first valid node of each path by bisection, and to apply every verdict to
//! all nodes above or below.
//!
//! Differences from the paper: paths stay within a [grouping](super::outer_grouping). Groupings
//! whose outer columns alone violate the models are skipped; the same search over the outer columns
//! finds them. The others are searched in order of the sum of their levels, those of one sum in
//! parallel. A valid node of a grouping is also valid in the groupings above it. So the set of
//! checked nodes does not depend on the number of threads. A grouping is rolled up from one just
//! below it or, if there is none, from a shared one in which only the columns with most values are
//! raised. The best node is the best of *all* valid nodes. If suppression makes the metric decrease
//! upwards, nodes that are known to be valid are priced too, unless their lower bound exceeds the
//! best cost so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use incrowd_core::{Error, Progress, Result, Silent};
use rayon::prelude::*;

use super::SearchResult;
use super::check::{Checker, NodeOutcome};
use super::key::Key;
use super::lattice::{Lattice, Node};
use super::outer_grouping::{ColumnSplit, OuterGrouping};
use super::price::Metric;

/// The greatest size of the groupings kept for those above them, in bytes, and of the starting
/// groupings.
const MAX_KEPT_BYTES: usize = 512 << 20;

/// The number of groupings that are searched in parallel. It is constant, so that the set of
/// checked nodes does not depend on the number of threads.
const BATCH: usize = 16;

/// The verdict on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Unknown,
    Holds,
    Fails,
}

/// The verdicts on the nodes of a grouping.
struct Verdicts {
    tags: Vec<Tag>,
    outcomes: BTreeMap<Node, NodeOutcome>,
    /// For metrics of sizes: lower bounds of the costs of the nodes.
    floors: Vec<f64>,
    checked: u64,
}

/// A grouping after its search.
struct SearchedGrouping<K> {
    /// `None` if it takes too much memory.
    grouping: Option<Arc<OuterGrouping<K>>>,
    verdicts: Verdicts,
}

/// Determines for every node whether it satisfies the models, and the cost of the nodes that may be
/// the best. The verdicts must be monotone.
pub(super) fn search<K: Key>(
    checker: &Checker<'_, K>,
    metric: Metric,
    progress: &dyn Progress,
) -> Result<SearchResult> {
    let columns: Vec<usize> = (0..checker.column_levels.len()).collect();
    explore(checker, &columns, Some(metric), progress)
}

/// Searches a subset of the columns. Without a metric, no costs are computed.
fn explore<K: Key>(
    checker: &Checker<'_, K>,
    columns: &[usize],
    metric: Option<Metric>,
    progress: &dyn Progress,
) -> Result<SearchResult> {
    let levels =
        columns.iter().map(|&column| checker.column_levels[column].levels() as u32).collect();
    let divided = Lattice::new(levels).zip(ColumnSplit::new(checker, columns));
    let (lattice, split) =
        divided.ok_or_else(|| Error::bug("a subset of columns has too many levels"))?;
    let mut known = SearchResult {
        satisfies: vec![false; lattice.len()],
        outcomes: BTreeMap::new(),
        checked: 0,
    };
    let mut open = vec![true];
    if !split.outer.is_empty() {
        let outer = explore(checker, &split.outer, None, &Silent)?;
        (open, known.checked) = (outer.satisfies, outer.checked);
    }
    let mut best = f64::INFINITY;
    let mut below: BTreeMap<Node, SearchedGrouping<K>> = BTreeMap::new();
    let mut starting = StartingGroupings::new(checker, &split);
    for outers in split.outers.by_height() {
        let (outers, closed): (Vec<Node>, Vec<Node>) =
            outers.into_iter().partition(|node| open[node.index()]);
        progress.advance((closed.len() * split.inners.len()) as u64);
        let mut next = BTreeMap::new();
        let mut bytes = 0;
        for outers in outers.chunks(BATCH) {
            let mut sources = Vec::with_capacity(outers.len());
            for &outer in outers {
                let under = split.outers.below(outer);
                let under =
                    under.filter_map(|node| Some((node, below.get(&node)?.grouping.clone()?)));
                let source = under.min_by_key(|(_, grouping)| grouping.rows());
                sources.push(source.unwrap_or_else(|| starting.below(outer)));
            }
            let search = |(&outer, (from, source)): (&Node, &(Node, Arc<OuterGrouping<K>>))| {
                let grouping = source.rolled_up(checker, &split, *from, outer);
                let under = split.outers.below(outer);
                let under = under.filter_map(|node| Some(&below.get(&node)?.verdicts));
                let mut search =
                    GroupingSearch { checker, split: &split, grouping: &grouping, outer, best };
                let verdicts = search.run(metric, under);
                progress.advance(split.inners.len() as u64);
                (grouping, verdicts)
            };
            let searched: Vec<(OuterGrouping<K>, Verdicts)> =
                outers.par_iter().zip(&sources).map(search).collect();
            for (&outer, (grouping, verdicts)) in outers.iter().zip(searched) {
                for inner in split.inners.nodes() {
                    let vector = split.vector(outer, inner);
                    let levels: Vec<u8> = columns.iter().map(|&column| vector[column]).collect();
                    let node = lattice.node(&levels);
                    known.satisfies[node.index()] = verdicts.tags[inner.index()] == Tag::Holds;
                    if let Some(&outcome) =
                        verdicts.outcomes.get(&inner).filter(|_| metric.is_some())
                    {
                        best = best.min(outcome.value);
                        known.outcomes.insert(node, outcome);
                    }
                }
                known.checked += verdicts.checked;
                bytes += grouping.bytes();
                let grouping = (bytes <= MAX_KEPT_BYTES).then(|| Arc::new(grouping));
                next.insert(outer, SearchedGrouping { grouping, verdicts });
            }
        }
        below = next;
    }
    Ok(known)
}

/// Groupings in which only the first outer columns, those with most values, are raised.
struct StartingGroupings<'a, K> {
    checker: &'a Checker<'a, K>,
    split: &'a ColumnSplit,
    /// The outer columns in descending order of their numbers of values.
    order: Vec<usize>,
    kept: BTreeMap<Node, Arc<OuterGrouping<K>>>,
    bytes: usize,
}

impl<'a, K: Key> StartingGroupings<'a, K> {
    fn new(checker: &'a Checker<'a, K>, split: &'a ColumnSplit) -> Self {
        let mut order: Vec<usize> = (0..split.outer.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(checker.column_levels[split.outer[i]].classes(0)));
        let bottom = Arc::new(OuterGrouping::bottom(checker, split));
        StartingGroupings {
            checker,
            split,
            order,
            kept: BTreeMap::from([(Node(0), bottom)]),
            bytes: 0,
        }
    }

    /// Returns a grouping that is not far below this node.
    fn below(&mut self, outer: Node) -> (Node, Arc<OuterGrouping<K>>) {
        let levels = self.split.outers.vector(outer);
        let mut raised = vec![0; levels.len()];
        let mut nearest = (Node(0), Arc::clone(&self.kept[&Node(0)]));
        let most = self.order.len().saturating_sub(1);
        for &column in &self.order[..most] {
            raised[column] = levels[column];
            let node = self.split.outers.node(&raised);
            if node == nearest.0 {
                continue;
            }
            let grouping = self.kept.get(&node).cloned().unwrap_or_else(|| {
                let grouping =
                    Arc::new(nearest.1.rolled_up(self.checker, self.split, nearest.0, node));
                if self.bytes + grouping.bytes() <= MAX_KEPT_BYTES {
                    self.bytes += grouping.bytes();
                    self.kept.insert(node, Arc::clone(&grouping));
                }
                grouping
            });
            nearest = (node, grouping);
        }
        nearest
    }
}

/// The search of one grouping.
struct GroupingSearch<'a, K> {
    checker: &'a Checker<'a, K>,
    split: &'a ColumnSplit,
    grouping: &'a OuterGrouping<K>,
    outer: Node,
    /// The best cost found so far in other groupings.
    best: f64,
}

impl<K: Key> GroupingSearch<'_, K> {
    fn run<'v>(
        &mut self,
        metric: Option<Metric>,
        below: impl Iterator<Item = &'v Verdicts>,
    ) -> Verdicts {
        let inners = &self.split.inners;
        let mut verdicts = Verdicts {
            tags: vec![Tag::Unknown; inners.len()],
            outcomes: BTreeMap::new(),
            floors: vec![0.0; if metric.is_some_and(Metric::of_sizes) { inners.len() } else { 0 }],
            checked: 0,
        };
        for under in below {
            for (tag, under) in verdicts.tags.iter_mut().zip(&under.tags) {
                if *under == Tag::Holds {
                    *tag = Tag::Holds;
                }
            }
            verdicts
                .floors
                .iter_mut()
                .zip(&under.floors)
                .for_each(|(floor, under)| *floor = floor.max(*under));
        }
        let heights = inners.by_height();
        for &start in heights.iter().flatten() {
            while verdicts.tags[start.index()] == Tag::Unknown {
                self.bisect(&path(inners, &verdicts, start), &mut verdicts);
            }
        }
        match metric {
            Some(metric) if !self.checker.is_cost_monotone() && metric.of_sizes() => {
                self.price_sizes(&heights, &mut verdicts)
            }
            Some(_) if !self.checker.is_cost_monotone() => self.price_cells(&mut verdicts),
            _ => {}
        }
        verdicts
    }

    /// Finds the first valid node of a path by bisection.
    fn bisect(&mut self, path: &[Node], verdicts: &mut Verdicts) {
        let (mut lo, mut hi) = (0, path.len());
        while lo < hi {
            let middle = (lo + hi) / 2;
            let holds = self.check(path[middle], verdicts);
            tag(
                &self.split.inners,
                path[middle],
                if holds { Tag::Holds } else { Tag::Fails },
                &mut verdicts.tags,
            );
            if holds { hi = middle } else { lo = middle + 1 }
        }
    }

    fn check(&mut self, node: Node, verdicts: &mut Verdicts) -> bool {
        let outcome = self.grouping.check(self.checker, self.split, self.outer, node);
        verdicts.checked += 1;
        if let Some(outcome) = outcome {
            self.best = self.best.min(outcome.value);
            verdicts.outcomes.insert(node, outcome);
        }
        outcome.is_some()
    }

    /// Prices nodes in the order of their costs without suppression, which are lower bounds.
    fn price_cells(&mut self, verdicts: &mut Verdicts) {
        let open = |node: &Node| {
            verdicts.tags[node.index()] == Tag::Holds && !verdicts.outcomes.contains_key(node)
        };
        let bound =
            |node: Node| self.checker.prices.lower_bound(&self.split.vector(self.outer, node));
        let mut open: Vec<(f64, Node)> =
            self.split.inners.nodes().filter(open).map(|node| (bound(node), node)).collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (bound, node) in open {
            if bound > with_tolerance(self.best) {
                return;
            }
            self.check(node, verdicts);
        }
    }

    /// Prices nodes from below and skips nodes above one whose lower bound exceeds the best cost.
    fn price_sizes(&mut self, heights: &[Vec<Node>], verdicts: &mut Verdicts) {
        for &node in heights.iter().flatten() {
            let below = self.split.inners.below(node).map(|below| verdicts.floors[below.index()]);
            let mut floor = below.fold(verdicts.floors[node.index()], f64::max);
            if verdicts.tags[node.index()] == Tag::Holds
                && floor <= with_tolerance(self.best)
                && !verdicts.outcomes.contains_key(&node)
            {
                self.check(node, verdicts);
            }
            if let Some(outcome) = verdicts.outcomes.get(&node) {
                floor = floor.max(outcome.floor);
            }
            verdicts.floors[node.index()] = floor;
        }
    }
}

/// Returns a path upwards through nodes without a verdict.
fn path(inners: &Lattice, verdicts: &Verdicts, start: Node) -> Vec<Node> {
    let next = |&node: &Node| {
        inners.above(node).find(|above| verdicts.tags[above.index()] == Tag::Unknown)
    };
    std::iter::successors(Some(start), next).collect()
}

/// Applies a verdict to a node and to the unknown nodes above it if it is valid, or below it if
/// not.
fn tag(inners: &Lattice, node: Node, tag: Tag, tags: &mut [Tag]) {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if tags[node.index()] != Tag::Unknown {
            continue;
        }
        tags[node.index()] = tag;
        match tag {
            Tag::Holds => stack.extend(inners.above(node)),
            _ => stack.extend(inners.below(node)),
        }
    }
}

/// Returns a cost plus a tolerance for rounding errors.
fn with_tolerance(cost: f64) -> f64 {
    cost + cost.abs() * 1e-9
}
