//! The search `fast`: the same answer as Incognito's with far fewer checks, each of which costs less.
//!
//! Paper: `kohlmayer2012` (Flash), the idea: walk up the lattice along paths of nodes whose verdict is not known yet, search
//! each path by halves for the first node that keeps the promises, and let every verdict speak for all nodes above or below.
//!
//! Where we differ: paths stay within a [grouping](super::outer_grouping). Groupings whose outer columns fail by themselves are never made;
//! which those are is found by the same search over the outer columns alone. The others are searched in order of the sum of
//! their levels, those of one sum side by side; what a grouping knows to hold is known of the groupings above it. So what is
//! checked does not depend on the number of threads. A grouping is rolled up from one just below it, or if there is none from
//! one with only the columns of most values raised, which others share.
//! The best node is found among *all* that keep the promises: where suppression makes a metric fall on the way up, nodes are
//! priced too that are known to hold, unless the least they can cost is more than the best known so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use incrowd_core::{Error, Progress, Result, Silent};
use rayon::prelude::*;

use super::Known;
use super::check::{Checker, Outcome};
use super::key::Key;
use super::lattice::{Lattice, Node};
use super::outer_grouping::{ColumnSplit, OuterGrouping};
use super::price::Metric;

/// Sheets are kept for those above them up to this many bytes, twice.
const KEPT_BYTES: usize = 512 << 20;

/// How many groupings are searched side by side. Always the same, so that what is checked does not depend on the threads.
const SIDE_BY_SIDE: usize = 16;

/// What is known of a node's promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Unknown,
    Holds,
    Fails,
}

/// What is known of a grouping's nodes.
struct Verdicts {
    tags: Vec<Tag>,
    outcomes: BTreeMap<Node, Outcome>,
    /// For metrics of sizes, what the nodes cost at least.
    floors: Vec<f64>,
    checked: u64,
}

/// A grouping that was searched.
struct Visited<K> {
    /// Not there if it took too much room.
    grouping: Option<Arc<OuterGrouping<K>>>,
    verdicts: Verdicts,
}

/// Finds out of every node whether it keeps the promises, which must be monotone, and what those cost that may be the best.
pub(super) fn search<K: Key>(
    checker: &Checker<'_, K>,
    metric: Metric,
    progress: &dyn Progress,
) -> Result<Known> {
    let columns: Vec<usize> = (0..checker.column_levels.len()).collect();
    explore(checker, &columns, Some(metric), progress)
}

/// The same for some of the columns; without a metric nothing is priced.
fn explore<K: Key>(
    checker: &Checker<'_, K>,
    columns: &[usize],
    metric: Option<Metric>,
    progress: &dyn Progress,
) -> Result<Known> {
    let levels = columns.iter().map(|&column| checker.column_levels[column].levels() as u32).collect();
    let divided = Lattice::new(levels).zip(ColumnSplit::new(checker, columns));
    let (lattice, split) = divided.ok_or_else(|| Error::bug("a part is larger than the whole"))?;
    let mut known = Known { satisfies: vec![false; lattice.len()], outcomes: BTreeMap::new(), checked: 0 };
    let mut open = vec![true];
    if !split.outer.is_empty() {
        let outer = explore(checker, &split.outer, None, &Silent)?;
        (open, known.checked) = (outer.satisfies, outer.checked);
    }
    let mut best = f64::INFINITY;
    let mut below: BTreeMap<Node, Visited<K>> = BTreeMap::new();
    let mut stones = Stones::new(checker, &split);
    for outers in split.outers.by_height() {
        let (outers, closed): (Vec<Node>, Vec<Node>) =
            outers.into_iter().partition(|node| open[node.index()]);
        progress.advance((closed.len() * split.inners.len()) as u64);
        let mut next = BTreeMap::new();
        let mut bytes = 0;
        for outers in outers.chunks(SIDE_BY_SIDE) {
            let mut sources = Vec::with_capacity(outers.len());
            for &outer in outers {
                let under = split.outers.below(outer);
                let under = under.filter_map(|node| Some((node, below.get(&node)?.grouping.clone()?)));
                let source = under.min_by_key(|(_, grouping)| grouping.rows());
                sources.push(source.unwrap_or_else(|| stones.below(outer)));
            }
            let visit = |(&outer, (from, source)): (&Node, &(Node, Arc<OuterGrouping<K>>))| {
                let grouping = source.rolled_up(checker, &split, *from, outer);
                let under = split.outers.below(outer);
                let under = under.filter_map(|node| Some(&below.get(&node)?.verdicts));
                let mut visit = Visit { checker, split: &split, grouping: &grouping, outer, best };
                let verdicts = visit.run(metric, under);
                progress.advance(split.inners.len() as u64);
                (grouping, verdicts)
            };
            let visited: Vec<(OuterGrouping<K>, Verdicts)> =
                outers.par_iter().zip(&sources).map(visit).collect();
            for (&outer, (grouping, verdicts)) in outers.iter().zip(visited) {
                for inner in split.inners.nodes() {
                    let vector = split.vector(outer, inner);
                    let levels: Vec<u8> = columns.iter().map(|&column| vector[column]).collect();
                    let node = lattice.node(&levels);
                    known.satisfies[node.index()] = verdicts.tags[inner.index()] == Tag::Holds;
                    if let Some(&outcome) = verdicts.outcomes.get(&inner).filter(|_| metric.is_some()) {
                        best = best.min(outcome.value);
                        known.outcomes.insert(node, outcome);
                    }
                }
                known.checked += verdicts.checked;
                bytes += grouping.bytes();
                let grouping = (bytes <= KEPT_BYTES).then(|| Arc::new(grouping));
                next.insert(outer, Visited { grouping, verdicts });
            }
        }
        below = next;
    }
    Ok(known)
}

/// Sheets in which only the first outer columns, those of most values, have been raised.
struct Stones<'a, K> {
    checker: &'a Checker<'a, K>,
    split: &'a ColumnSplit,
    /// The outer columns by their number of values, the most first.
    order: Vec<usize>,
    kept: BTreeMap<Node, Arc<OuterGrouping<K>>>,
    bytes: usize,
}

impl<'a, K: Key> Stones<'a, K> {
    fn new(checker: &'a Checker<'a, K>, split: &'a ColumnSplit) -> Self {
        let mut order: Vec<usize> = (0..split.outer.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(checker.column_levels[split.outer[i]].classes(0)));
        let bottom = Arc::new(OuterGrouping::bottom(checker, split));
        Stones { checker, split, order, kept: BTreeMap::from([(Node(0), bottom)]), bytes: 0 }
    }

    /// A grouping below this node from which it is not far.
    fn below(&mut self, outer: Node) -> (Node, Arc<OuterGrouping<K>>) {
        let levels = self.split.outers.vector(outer);
        let mut raised = vec![0; levels.len()];
        let mut stone = (Node(0), Arc::clone(&self.kept[&Node(0)]));
        let most = self.order.len().saturating_sub(1);
        for &column in &self.order[..most] {
            raised[column] = levels[column];
            let node = self.split.outers.node(&raised);
            if node == stone.0 {
                continue;
            }
            let grouping = self.kept.get(&node).cloned().unwrap_or_else(|| {
                let grouping = Arc::new(stone.1.rolled_up(self.checker, self.split, stone.0, node));
                if self.bytes + grouping.bytes() <= KEPT_BYTES {
                    self.bytes += grouping.bytes();
                    self.kept.insert(node, Arc::clone(&grouping));
                }
                grouping
            });
            stone = (node, grouping);
        }
        stone
    }
}

/// The search of one grouping.
struct Visit<'a, K> {
    checker: &'a Checker<'a, K>,
    split: &'a ColumnSplit,
    grouping: &'a OuterGrouping<K>,
    outer: Node,
    /// The best cost that is known elsewhere.
    best: f64,
}

impl<K: Key> Visit<'_, K> {
    fn run<'v>(&mut self, metric: Option<Metric>, below: impl Iterator<Item = &'v Verdicts>) -> Verdicts {
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
                self.halve(&path(inners, &verdicts, start), &mut verdicts);
            }
        }
        match metric {
            Some(metric) if !self.checker.cost_grows() && metric.of_sizes() => {
                self.price_sizes(&heights, &mut verdicts)
            }
            Some(_) if !self.checker.cost_grows() => self.price_cells(&mut verdicts),
            _ => {}
        }
        verdicts
    }

    /// Searches a path by halves.
    fn halve(&mut self, path: &[Node], verdicts: &mut Verdicts) {
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

    /// Prices nodes in the order of what they would cost without suppression.
    fn price_cells(&mut self, verdicts: &mut Verdicts) {
        let open =
            |node: &Node| verdicts.tags[node.index()] == Tag::Holds && !verdicts.outcomes.contains_key(node);
        let bound = |node: Node| self.checker.prices.at_least(&self.split.vector(self.outer, node));
        let mut open: Vec<(f64, Node)> =
            self.split.inners.nodes().filter(open).map(|node| (bound(node), node)).collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (bound, node) in open {
            if bound > beyond(self.best) {
                return;
            }
            self.check(node, verdicts);
        }
    }

    /// Prices nodes from below, leaving out what lies above a node that rules it out.
    fn price_sizes(&mut self, heights: &[Vec<Node>], verdicts: &mut Verdicts) {
        for &node in heights.iter().flatten() {
            let below = self.split.inners.below(node).map(|below| verdicts.floors[below.index()]);
            let mut floor = below.fold(verdicts.floors[node.index()], f64::max);
            if verdicts.tags[node.index()] == Tag::Holds
                && floor <= beyond(self.best)
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

/// A path upwards through unknown nodes.
fn path(inners: &Lattice, verdicts: &Verdicts, start: Node) -> Vec<Node> {
    let next = |&node: &Node| inners.above(node).find(|above| verdicts.tags[above.index()] == Tag::Unknown);
    std::iter::successors(Some(start), next).collect()
}

/// Tags a node, and the unknown ones above if it holds, below if it fails.
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

/// What rounding cannot have made of a cost that is no more than this.
fn beyond(cost: f64) -> f64 {
    cost + cost.abs() * 1e-9
}
