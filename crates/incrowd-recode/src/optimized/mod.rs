//! Optimized Mondrian: finds by trials which quasi-identifier should be divided first.
//!
//! Paper: `liu-itri`; the exact form is in `docs/papers.md`. For each quasi-identifier a trial
//! divides the table with the penalty of that one multiplied by the number of records, so that it
//! comes first whenever it can be divided. The quasi-identifiers in ascending order of the trials'
//! certainty penalty are the priority of the final run. Numbers are cut at the median, or along an
//! MDR tree of regular intervals.
//!
//! Differences from the paper: the best of the final run and the trials is kept. Children that are
//! too small for a group are pooled unless `undersized = "block"`. Numbers are cut at the median
//! unless `numbers = "mdr"`: with the same order the tree costs more at every k. The trials use the
//! tree in both cases, so that the order is that of the paper's method and the trials are fast. A
//! trial that is kept is published with tight ranges. With a model about a population the trials
//! cut at the median as well. Trials are compared by the penalty, multiplied by the importance of
//! the columns if the job sets it. Sets of text without a hierarchy are priced by the span of their
//! values.

mod divided_table;
mod priority;
mod report;
mod single_width;

pub use report::{KeptRun, SingleWidth, Trial, TrialReport};

use incrowd_core::hierarchy::mdr::{Mdr, Outliers, Quantile};
use incrowd_core::{Dataset, Domain, Param, Params, Result};

use crate::mondrian::{Mondrian, Undersized};
use crate::{Algorithm, Card, Recoding, Task};

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "optimized-mondrian",
    paper: "liu-itri",
    about: "Mondrian that first tries each quasi-identifier as the one to divide first, ranks them \
            by the cost of the trials, and keeps the cheapest of the trials and the final run. \
            Numbers are cut at the median, or along a tree of regular intervals (numbers = \
            \"mdr\"): cells of one width, two and four of them, and *. The paper's own form is \
            numbers = \"mdr\", undersized = \"block\", keep_best = false.",
    limits: "It takes one more run than `mondrian` for each quasi-identifier, and is greedy too. \
             According to the paper its tree follows the data; it does not: the mean difference of \
             the 5 % cut points telescopes to a twentieth of the range, so the tree is a grid of \
             equal widths, and with the same order of priority it costs more than cuts at the \
             median. What it saves over `mondrian` comes from the order. Use the tree if analysts \
             want regular intervals. Its ends and its width are computed from the data (least and \
             greatest value, mean and deviation) and are visible in the release; bounds of your \
             own avoid that: hierarchy = { mdr = { outliers = [20, 60] } } and a `domain`. It \
             guarantees its models and nothing else: k-anonymity alone does not protect sensitive \
             values. With pooling, an adversary who knows the algorithm learns that a pooled value \
             was rare or the smallest.",
    params: &[
        Param::choice("numbers", &["median", "mdr"]).or("median").about(
            "numbers and dates without a hierarchy are cut at the median, or published in regular \
            intervals",
        ),
        Param::choice("outliers", &["2sigma", "none"]).or("2sigma").about(
            "for the tree by which numbers are published or tried: values beyond two standard \
            deviations share one cell below and one above, or there are no such cells",
        ),
        Param::choice("undersized", &["pool", "block"]).or("pool").about(
            "a category or interval too small for a group is pooled with others under the \
            parent's label, or blocks the division",
        ),
        Param::choice("priority", &["lex", "lex-both", "rank", "all-orders", "none"])
            .or("lex")
            .about(
                "the first of the order that can be divided; the better of two orders, the second \
                from trials at the median; the order as factors d, …, 1; every possible order (at \
                most 5 quasi-identifiers); or the widest, without trials",
            ),
        Param::flag("keep_best")
            .or("true")
            .about("a trial that is cheaper than the final run is kept instead"),
        Param::flag("single_width").or("false").about(
            "afterwards every column in regular intervals gets one width, the one with the least \
            cost; wider cells become *",
        ),
    ],
    repeatable: &[],
    local: false,
    make: |params| Ok(Box::new(Optimized::new(params)?)),
};

/// How the trials determine the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The first quasi-identifier of the order that can be divided.
    Lexicographic,
    /// Like `Lexicographic` with two orders, one from trials with trees and one from trials at the
    /// median. The better one is kept.
    LexicographicBoth,
    /// The order as factors d, d-1, …, 1.
    Rank,
    /// All orders are tried.
    AllOrders,
    /// No order: the widest first.
    None,
}

impl Priority {
    /// The names in a job file.
    const ALL: [(&'static str, Priority); 5] = [
        ("lex", Priority::Lexicographic),
        ("lex-both", Priority::LexicographicBoth),
        ("rank", Priority::Rank),
        ("all-orders", Priority::AllOrders),
        ("none", Priority::None),
    ];

    fn name(self) -> &'static str {
        Priority::ALL.iter().find(|(_, priority)| *priority == self).map_or("", |(name, _)| name)
    }
}

/// The algorithm with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimized {
    /// The tree of numbers without a hierarchy, if they get one.
    pub mdr: Option<Mdr>,
    /// The tree by which the trials group numbers that are cut at the median.
    pub trial_tree: Mdr,
    /// The treatment of undersized children.
    pub undersized: Undersized,
    /// How the trials determine the order.
    pub priority: Priority,
    /// Whether a cheaper trial is kept.
    pub keep_best: bool,
    /// Whether columns in regular intervals get a single width afterwards.
    pub single_width: bool,
}

impl Default for Optimized {
    fn default() -> Self {
        Optimized {
            mdr: None,
            trial_tree: Mdr::default(),
            undersized: Undersized::Pool,
            priority: Priority::Lexicographic,
            keep_best: true,
            single_width: false,
        }
    }
}

impl Optimized {
    fn new(params: &Params) -> Result<Optimized> {
        let outliers =
            if params.word("outliers") == "none" { Outliers::None } else { Outliers::TwoSigma };
        let tree = Mdr::new(outliers, vec![1, 2, 4], Quantile::Cuts, None)?;
        let priority = params.word("priority");
        let known = Priority::ALL.iter().find(|(name, _)| *name == priority);
        Ok(Optimized {
            mdr: (params.word("numbers") == "mdr").then(|| tree.clone()),
            trial_tree: tree,
            undersized: if params.word("undersized") == "block" {
                Undersized::Block
            } else {
                Undersized::Pool
            },
            priority: known.map_or(Priority::Lexicographic, |(_, priority)| *priority),
            keep_best: params.flag("keep_best"),
            single_width: params.flag("single_width"),
        })
    }

    fn mondrian(&self) -> Mondrian {
        Mondrian { undersized: self.undersized, ..Mondrian::default() }
    }
}

impl Algorithm for Optimized {
    /// Strict cuts and children never give two parts with equal cells. A single width may.
    fn needs_merging(&self) -> bool {
        self.single_width
    }

    /// Gives numbers without a hierarchy a tree of regular intervals, if requested.
    fn prepare(&self, data: Dataset) -> Result<Dataset> {
        match &self.mdr {
            Some(mdr) => Ok(data.clone().with_domains(regular(mdr, &data)?)),
            None => Ok(data),
        }
    }

    fn makes_intervals(&self) -> bool {
        self.mdr.is_some()
    }

    fn solve(&self, task: Task<'_>) -> Result<Recoding> {
        if self.single_width {
            single_width::check(task.data)?;
        }
        let (partition, mut report) = self.divide(task)?;
        let domains = match self.single_width {
            true => Some(single_width::merge(task.data, &partition, &mut report)?),
            false => None,
        };
        Ok(Recoding { domains, ..Recoding::new(partition).reporting(report) })
    }
}

/// Returns the domains of the table, with trees of regular intervals in place of numbers.
fn regular(mdr: &Mdr, data: &Dataset) -> Result<Vec<Domain>> {
    let tree = |q: usize| {
        let quasi = &data.quasi()[q];
        match &quasi.domain {
            Domain::Numbers(numbers) if !numbers.is_empty() => {
                numbers.with_mdr(&quasi.name, mdr, &data.leaf_counts(q)).map(Domain::Taxonomy)
            }
            domain => Ok(domain.clone()),
        }
    };
    (0..data.quasi().len()).map(tree).collect()
}
