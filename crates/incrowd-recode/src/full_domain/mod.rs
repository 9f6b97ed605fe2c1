//! Full-domain generalization: every column is published at one level of its hierarchy.
//!
//! Papers: `samarati2001` for the lattice of level vectors, `lefevre2005` for Incognito,
//! `kohlmayer2012` for the faster search, `sun2008` for the choice among minimal tables. A node of
//! the lattice is a vector of levels, one per quasi-identifier. Its groups are the records with
//! equal labels at these levels. A node is valid if its groups satisfy the models. The search finds
//! all valid nodes, the minimal ones among them, and the one with the least cost.
//!
//! Differences from the paper: validity is defined by all models of the job. The best node is the
//! best of *all* valid nodes, not only of the minimal ones, because with suppression a higher node
//! may cost less. Records in groups that a model refuses are suppressed if all of them together are
//! within the limit. With a limit and models that depend on more than the number of records, a node
//! above a valid one may be invalid (an admitted group merges with a suppressed one), so every node
//! is checked.

mod check;
mod exhaustive;
mod fast;
mod frequency;
mod incognito;
mod key;
mod lattice;
mod levels;
mod outer_grouping;
mod price;
mod report;

pub use price::Metric;
pub use report::{FoundNode, SearchReport};

use std::collections::BTreeMap;

use incrowd_core::{Dataset, Error, Param, Params, Partition, Progress, Result, RowId, Span};

use crate::{Algorithm, Card, Recoding, Task};
use check::{Checker, NodeOutcome};
use key::{Field, Key};
use lattice::{Lattice, Node};
use levels::ClassLevels;

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "full-domain",
    paper: "lefevre2005",
    about: "Publishes every quasi-identifier at one level of its hierarchy for all records, and \
            finds the levels with the least cost among all that satisfy the models. A column \
            without a hierarchy is published unchanged or as `*`. The result is optimal among all \
            such releases, and equal values stay equal, so columns remain easy to analyse.",
    limits: "One level for all records: a few outliers raise it for all, which a suppression limit \
             mitigates. The number of level combinations grows with every column; many columns \
             with deep hierarchies are refused. With a suppression limit and models that depend on \
             more than the number of records, every combination is checked. The published levels \
             reveal that the levels below them do not satisfy the models.",
    params: &[
        Param::choice("search", &["fast", "incognito", "exhaustive"]).or("fast").about(
            "how the best levels are found; all searches give the same result, and only \
            exhaustive supports models that merging groups may violate",
        ),
        Param::choice(
            "metric",
            &[
                "distortion",
                "ncp",
                "information-loss",
                "discernibility",
                "average-class-size",
                "non-uniform-entropy",
                "non-uniform-entropy-suppressed",
            ],
        )
        .or("distortion")
        .about(
            "the cost to minimize; non-uniform-entropy charges nothing for suppression, all \
            others do",
        ),
    ],
    repeatable: &[],
    local: false,
    make: |params| Ok(Box::new(FullDomain::new(params)?)),
};

/// The search strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Paths through the lattice, each by bisection.
    Fast,
    /// Subsets of the columns by increasing size.
    Incognito,
    /// All nodes.
    Exhaustive,
}

impl Search {
    /// The names in a job file.
    pub const ALL: [(&'static str, Search); 3] = [
        ("fast", Search::Fast),
        ("incognito", Search::Incognito),
        ("exhaustive", Search::Exhaustive),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, search)| *search == self).map_or("", |(name, _)| *name)
    }
}

/// The algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullDomain {
    /// The search strategy.
    pub search: Search,
    /// The cost to minimize.
    pub metric: Metric,
}

impl FullDomain {
    fn new(params: &Params) -> Result<FullDomain> {
        fn chosen<T: Copy>(all: &[(&str, T)], word: &str) -> Result<T> {
            let found = all.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice);
            found.ok_or_else(|| Error::bug(format!("`{word}` is listed but not implemented")))
        }
        let search = chosen(&Search::ALL, params.word("search"))?;
        Ok(FullDomain { search, metric: chosen(&Metric::ALL, params.word("metric"))? })
    }
}

impl Algorithm for FullDomain {
    /// No two groups have the same cells. All searches except the exhaustive one prune.
    fn needs_merging(&self) -> bool {
        self.search != Search::Exhaustive
    }

    fn solve(&self, Task { data, models, suppressible, progress }: Task<'_>) -> Result<Recoding> {
        let column_levels = (0..data.quasi().len()).map(|column| ClassLevels::new(data, column));
        let column_levels = column_levels.collect::<Result<Vec<_>>>()?;
        if let Some(column) =
            column_levels.iter().position(|of_column| of_column.levels() >= usize::from(u8::MAX))
        {
            let name = &data.quasi()[column].name;
            return Err(Error::input(format!(
                "the hierarchy of column `{name}` has more than 254 levels"
            )));
        }
        let Some(lattice) =
            Lattice::new(column_levels.iter().map(|of_column| of_column.levels() as u32).collect())
        else {
            return Err(too_large(&column_levels, Lattice::MAX_NODES));
        };
        let widest = |of_column: &ClassLevels| {
            (0..of_column.levels()).map(|level| of_column.classes(level)).max()
        };
        let (fields, bits) =
            Field::layout(column_levels.iter().map(|of_column| widest(of_column).unwrap_or(1)));
        if bits <= u64::BITS {
            let checker = Checker::<u64>::new(
                data,
                column_levels,
                fields,
                models,
                self.metric,
                suppressible,
            )?;
            self.run(data, &checker, &lattice, progress)
        } else if bits <= u128::BITS {
            let checker = Checker::<u128>::new(
                data,
                column_levels,
                fields,
                models,
                self.metric,
                suppressible,
            )?;
            self.run(data, &checker, &lattice, progress)
        } else {
            Err(Error::resources(
                "the quasi-identifiers together have too many different values for `full-domain`",
            )
            .help("round numbers, or leave out a column; `mondrian` has no such limit"))
        }
    }
}

/// The result of a search.
struct SearchResult {
    /// By node: whether it satisfies the models.
    satisfies: Vec<bool>,
    /// The results of the nodes that were checked and priced.
    outcomes: BTreeMap<Node, NodeOutcome>,
    /// The number of checks, including those of subsets of the columns.
    checked: u64,
}

impl FullDomain {
    fn run<K: Key>(
        &self,
        data: &Dataset,
        checker: &Checker<'_, K>,
        lattice: &Lattice,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        let pruned = checker.is_monotone() && self.search != Search::Exhaustive;
        let known = match self.search {
            Search::Incognito if pruned => incognito(checker, lattice, progress)?,
            Search::Fast if pruned => {
                progress.step_through("searching", lattice.len() as u64, UNIT);
                fast::search(checker, self.metric, progress)?
            }
            _ => exhaustive(checker, lattice, progress)?,
        };
        let rank = |(node, outcome): (&Node, &NodeOutcome)| {
            (rounded(outcome.value), std::cmp::Reverse(outcome.groups), *node)
        };
        let best = known.outcomes.iter().min_by(|a, b| {
            let ((x, more, node), (y, others, other)) = (rank(*a), rank(*b));
            x.total_cmp(&y).then(more.cmp(&others)).then(node.cmp(&other))
        });
        let Some((&best, _)) = best else {
            return Err(Error::unsatisfiable("no combination of levels satisfies the models")
                .help("weaken the models, or raise suppression_limit"));
        };
        let minimal = lattice.minimal(|node| known.satisfies[node.index()]);
        let found = |node: Node| {
            let levels = lattice.vector(node).iter().map(|&level| u32::from(level)).collect();
            let outcome = known.outcomes.get(&node);
            let NodeOutcome { value, groups, suppressed, .. } =
                *outcome.ok_or_else(|| Error::bug("a minimal node was not checked"))?;
            Ok(FoundNode { levels, value, groups, suppressed })
        };
        let report = SearchReport {
            search: self.search.name(),
            metric: self.metric.name(),
            columns: data.quasi().iter().map(|quasi| quasi.name.clone()).collect(),
            nodes: lattice.len() as u64,
            checked: known.checked,
            satisfying: known.satisfies.iter().filter(|&&holds| holds).count() as u64,
            pruned,
            minimal: minimal.into_iter().map(found).collect::<Result<_>>()?,
            best: found(best)?,
        };
        let partition = partition(data, checker, &lattice.vector(best))?;
        Ok(Recoding::new(partition).reporting(report))
    }
}

/// The unit of progress of a search.
const UNIT: &str = "combinations";

/// Rounds a cost to forty binary digits, so that costs that differ only by rounding are a tie.
fn rounded(cost: f64) -> f64 {
    const DROPPED: u64 = (1 << 12) - 1;
    f64::from_bits((cost.max(0.0).to_bits() + DROPPED / 2) & !DROPPED)
}

fn too_large(column_levels: &[ClassLevels], most: u64) -> Error {
    let nodes =
        column_levels.iter().fold(1u128, |nodes, l| nodes.saturating_mul(l.levels() as u128));
    Error::job(format!(
        "the levels of the quasi-identifiers have {nodes} combinations, more than the {most} that \
         this search can process"
    ))
    .help(
        "leave out columns or levels, set suppression_limit to 0 if it is not needed, or use \
         `mondrian`",
    )
}

fn incognito<K: Key>(
    checker: &Checker<'_, K>,
    lattice: &Lattice,
    progress: &dyn Progress,
) -> Result<SearchResult> {
    let nodes = incognito::nodes(checker);
    if nodes > Lattice::MAX_NODES {
        return Err(Error::job(format!(
            "`incognito` would check {nodes} combinations of levels of all subsets of the \
             quasi-identifiers, which is too many"
        ))
        .help("search = \"fast\" gives the same answer")
        .at("search"));
    }
    progress.step_through("searching", nodes, UNIT);
    let SearchResult { satisfies, mut outcomes, mut checked } =
        incognito::search(checker, lattice, progress);
    if !checker.is_cost_monotone() {
        let open: Vec<Node> = lattice
            .nodes()
            .filter(|node| satisfies[node.index()] && !outcomes.contains_key(node))
            .collect();
        progress.step("pricing", Some(open.len() as u64));
        let bottom = vec![0; lattice.columns()];
        let price = |&node: &Node| {
            progress.advance(1);
            Some((node, checker.check(&checker.base, &bottom, &lattice.vector(node)).1?))
        };
        use rayon::prelude::*;
        let priced: Vec<(Node, NodeOutcome)> = open.par_iter().filter_map(price).collect();
        checked += open.len() as u64;
        outcomes.extend(priced);
    }
    Ok(SearchResult { satisfies, outcomes, checked })
}

fn exhaustive<K: Key>(
    checker: &Checker<'_, K>,
    lattice: &Lattice,
    progress: &dyn Progress,
) -> Result<SearchResult> {
    if lattice.len() > exhaustive::MAX_NODES {
        return Err(too_large(&checker.column_levels, exhaustive::MAX_NODES as u64));
    }
    progress.step_through("searching", lattice.len() as u64, UNIT);
    let outcomes: BTreeMap<Node, NodeOutcome> =
        exhaustive::search(checker, lattice, progress).into_iter().collect();
    let satisfies = lattice.nodes().map(|node| outcomes.contains_key(&node)).collect();
    Ok(SearchResult { satisfies, outcomes, checked: lattice.len() as u64 })
}

/// Returns the groups of a node, in the order of their cells.
fn partition<K: Key>(data: &Dataset, checker: &Checker<'_, K>, levels: &[u8]) -> Result<Partition> {
    let groups = checker.published(levels);
    let mut rows: Vec<(K, u32)> = Vec::with_capacity(data.rows());
    rows.extend(
        (0..data.rows()).map(|row| (checker.key(data.quasi_codes(row), levels), row as u32)),
    );
    rows.sort_unstable();
    let mut partition = Partition::new(levels.len(), data.rows());
    let mut rows = rows.chunk_by(|a, b| a.0 == b.0).peekable();
    for (key, published) in groups {
        let Some(rows) = rows.next_if(|rows| rows[0].0 == key) else { continue };
        if published {
            let span = |(column, level): (usize, &u8)| -> Span {
                let of_column = &checker.column_levels[column];
                let first = of_column.first(usize::from(*level), checker.class(key, column));
                data.quasi()[column].domain.level_span(first, usize::from(*level))
            };
            let spans: Vec<Span> = levels.iter().enumerate().map(span).collect();
            partition.add(&spans, rows.iter().map(|&(_, row)| RowId(row)))?;
        }
    }
    Ok(partition.at_levels(levels.iter().map(|&level| u32::from(level)).collect()))
}
