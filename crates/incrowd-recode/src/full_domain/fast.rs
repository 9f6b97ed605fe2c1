//! The same answer as Incognito with far fewer checks, each of which costs less.
//!
//! Paper: `kohlmayer2012` (Flash), the idea: walk up the lattice along paths of nodes whose verdict is not known yet, search
//! each path by halves for the first node that keeps the promises, and let every verdict speak for all nodes above or below.
//!
//! Where we differ: paths stay within a [sheet](super::sheet). Sheets are searched in order of the sum of their levels, those
//! of one sum side by side; what a sheet knows to hold is known of the sheets above it. So what is checked does not depend
//! on the number of threads, a sheet is rolled up from one just below it, and two sums of levels are in memory at a time.
//! The best node is found among *all* that keep the promises: where suppression makes a metric fall on the way up, nodes are
//! priced too that are known to hold, unless the least they can cost is more than the best known so far.

use std::collections::BTreeMap;

use incrowd_core::{Error, Progress, Result};
use rayon::prelude::*;

use super::Known;
use super::check::{Checker, Outcome};
use super::key::Key;
use super::lattice::{Lattice, Node};
use super::price::Metric;
use super::sheet::{Division, Sheet};

/// Sheets are kept for those above them up to this many bytes.
const KEPT_BYTES: usize = 1 << 30;

/// What is known of a node's promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Unknown,
    Holds,
    Fails,
}

/// What is known of a sheet's nodes.
struct Verdicts {
    tags: Vec<Tag>,
    outcomes: BTreeMap<Node, Outcome>,
    /// For metrics of sizes, what the nodes cost at least.
    floors: Vec<f64>,
    checked: u64,
}

/// Finds out of every node whether it keeps the promises, which must be monotone, and what those cost that may be the best.
pub(super) fn search<K: Key>(
    checker: &Checker<'_, K>,
    lattice: &Lattice,
    metric: Metric,
    progress: &dyn Progress,
) -> Result<Known> {
    let division = Division::new(checker).ok_or_else(|| Error::bug("a part is larger than the whole"))?;
    let mut known = Known { satisfies: vec![false; lattice.len()], outcomes: BTreeMap::new(), checked: 0 };
    let mut best = f64::INFINITY;
    let mut below: BTreeMap<Node, (Option<Sheet<K>>, Verdicts)> = BTreeMap::new();
    let bottom = Sheet::bottom(checker, &division);
    for outers in division.outers.by_height() {
        let visit = |&outer: &Node| {
            let under: Vec<(Node, &(Option<Sheet<K>>, Verdicts))> =
                division.outers.below(outer).filter_map(|node| Some((node, below.get(&node)?))).collect();
            let sheets = under.iter().filter_map(|(node, (sheet, _))| Some((*node, sheet.as_ref()?)));
            let (from, source) = sheets.min_by_key(|(_, sheet)| sheet.rows()).unwrap_or((Node(0), &bottom));
            let sheet = source.rolled_up(checker, &division, from, outer);
            let mut visit = Visit { checker, division: &division, sheet: &sheet, outer, best };
            let verdicts = visit.run(metric, under.iter().map(|(_, (_, verdicts))| verdicts));
            progress.advance(division.inners.len() as u64);
            (sheet, verdicts)
        };
        let visited: Vec<(Sheet<K>, Verdicts)> = outers.par_iter().map(visit).collect();
        below.clear();
        let mut bytes = 0;
        for (&outer, (sheet, verdicts)) in outers.iter().zip(visited) {
            for inner in division.inners.nodes() {
                let node = lattice.node(&division.vector(outer, inner));
                known.satisfies[node.index()] = verdicts.tags[inner.index()] == Tag::Holds;
                if let Some(&outcome) = verdicts.outcomes.get(&inner) {
                    best = best.min(outcome.value);
                    known.outcomes.insert(node, outcome);
                }
            }
            known.checked += verdicts.checked;
            bytes += sheet.bytes();
            below.insert(outer, ((bytes <= KEPT_BYTES).then_some(sheet), verdicts));
        }
    }
    Ok(known)
}

/// The search of one sheet.
struct Visit<'a, K> {
    checker: &'a Checker<'a, K>,
    division: &'a Division,
    sheet: &'a Sheet<K>,
    outer: Node,
    /// The best cost that is known elsewhere.
    best: f64,
}

impl<K: Key> Visit<'_, K> {
    fn run<'v>(&mut self, metric: Metric, below: impl Iterator<Item = &'v Verdicts>) -> Verdicts {
        let inners = &self.division.inners;
        let mut verdicts = Verdicts {
            tags: vec![Tag::Unknown; inners.len()],
            outcomes: BTreeMap::new(),
            floors: vec![0.0; if metric.of_sizes() { inners.len() } else { 0 }],
            checked: 0,
        };
        for under in below {
            for (tag, under) in verdicts.tags.iter_mut().zip(&under.tags) {
                if *under == Tag::Holds {
                    *tag = Tag::Holds;
                }
            }
            verdicts.floors.iter_mut().zip(&under.floors).for_each(|(floor, under)| *floor = floor.max(*under));
        }
        let heights = inners.by_height();
        for &start in heights.iter().flatten() {
            while verdicts.tags[start.index()] == Tag::Unknown {
                self.halve(&path(inners, &verdicts, start), &mut verdicts);
            }
        }
        if !self.checker.cost_grows() {
            if metric.of_sizes() {
                self.price_sizes(&heights, &mut verdicts);
            } else {
                self.price_cells(&mut verdicts);
            }
        }
        verdicts
    }

    /// Searches a path by halves.
    fn halve(&mut self, path: &[Node], verdicts: &mut Verdicts) {
        let (mut lo, mut hi) = (0, path.len());
        while lo < hi {
            let middle = (lo + hi) / 2;
            let holds = self.check(path[middle], verdicts);
            tag(&self.division.inners, path[middle], if holds { Tag::Holds } else { Tag::Fails }, &mut verdicts.tags);
            if holds { hi = middle } else { lo = middle + 1 }
        }
    }

    fn check(&mut self, node: Node, verdicts: &mut Verdicts) -> bool {
        let outcome = self.sheet.check(self.checker, self.division, self.outer, node);
        verdicts.checked += 1;
        if let Some(outcome) = outcome {
            self.best = self.best.min(outcome.value);
            verdicts.outcomes.insert(node, outcome);
        }
        outcome.is_some()
    }

    /// Prices nodes in the order of what they would cost without suppression.
    fn price_cells(&mut self, verdicts: &mut Verdicts) {
        let open = |node: &Node| verdicts.tags[node.index()] == Tag::Holds && !verdicts.outcomes.contains_key(node);
        let bound = |node: Node| self.checker.prices.at_least(&self.division.vector(self.outer, node));
        let mut open: Vec<(f64, Node)> =
            self.division.inners.nodes().filter(open).map(|node| (bound(node), node)).collect();
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
            let below = self.division.inners.below(node).map(|below| verdicts.floors[below.index()]);
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
