//! Optimized Mondrian: which quasi-identifier should be divided first is found out by trying.
//!
//! Paper: `liu-itri`; the exact form is in `docs/papers.md`. For each quasi-identifier a trial divides the table with that one
//! weighted by the number of records, so that it comes first wherever it can be divided. The quasi-identifiers in ascending
//! order of the trials' certainty penalty are the priority of the final run. Numbers are cut at the median, or along an MDR
//! tree of regular intervals.
//!
//! Where we differ: the best of the final run and the trials is kept (they are there anyway), children too small to stand alone
//! are pooled unless `undersized = "block"`, and numbers are cut at the median unless `numbers = "mdr"`: on the same order the
//! tree costs more at every k. The trials group numbers by the tree either way: so the order is the one the paper's method finds,
//! and the trials are quick; one that is kept is published with tight ranges. (With a model about a population they cut at the
//! median as well.) Trials are compared by the plain penalty, or by that with the weights the job gives. Sets of text without a
//! hierarchy are priced by the span of their values.

mod field;
mod priority;
mod report;
mod single_width;

pub use report::{KeptRun, SingleWidth, Trial, TrialReport};

use incrowd_core::hierarchy::mdr::{Mdr, Outliers, Quantile};
use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Domain, Param, ParamKind, Params, Partition, Progress, Result};

use crate::mondrian::{Mondrian, Undersized};
use crate::{Algorithm, Card, Recoding};

/// The list entry.
pub const CARD: Card = Card {
    name: "optimized-mondrian",
    paper: "liu-itri",
    about: "Mondrian that first tries each quasi-identifier as the one to divide first, ranks them by what the trials cost, and \
            keeps the cheapest of the trials and the final run. Numbers are cut at the median, or along a tree of regular \
            intervals (numbers = \"mdr\"): cells of one width, two and four of them, and *. The paper's own reading is \
            numbers = \"mdr\", undersized = \"block\", keep_best = false.",
    limits: "It takes one run for each quasi-identifier more than `mondrian`, and is greedy all the same. The paper says that its \
             tree follows the data; it does not: the mean difference of the 5 % cut points telescopes to a twentieth of the \
             range, so the tree is a grid of equal widths, and on the same order of priority it costs more than cuts at the \
             median. What it saves over `mondrian` comes from the order. Use the tree all the same where analysts want regular \
             intervals. Its ends and its width are made from the data (least and greatest value, mean and deviation) and \
             anybody who reads the release can see them; bounds of your own avoid that: hierarchy = { mdr = { outliers = \
             [20, 60] } } and a `domain`. It protects what its models promise, and nothing else: k-anonymity alone says nothing \
             about sensitive values. With pooling, who knows the algorithm learns that a pooled value was rare or the smallest.",
    params: &[
        Param {
            name: "numbers",
            kind: ParamKind::Choice(&["median", "mdr"]),
            default: Some("median"),
            about: "numbers and dates without a hierarchy are cut at the median, or published in regular intervals",
        },
        Param {
            name: "outliers",
            kind: ParamKind::Choice(&["2sigma", "none"]),
            default: Some("2sigma"),
            about: "of the tree that numbers are published or tried with: values beyond two standard deviations share one cell \
                    below and one above, or none do",
        },
        Param {
            name: "undersized",
            kind: ParamKind::Choice(&["pool", "block"]),
            default: Some("pool"),
            about: "a category or interval too small to stand alone joins others under the parent's label, or blocks the division",
        },
        Param {
            name: "priority",
            kind: ParamKind::Choice(&["lex", "lex-both", "rank", "all-orders", "none"]),
            default: Some("lex"),
            about: "the first of the order that can be divided; the better of two orders, the second from trials at the median; \
                    the order as weights d, …, 1; every order there is (at most 5 quasi-identifiers); or the widest, without \
                    trials",
        },
        Param {
            name: "keep_best",
            kind: ParamKind::Flag,
            default: Some("true"),
            about: "a trial that turns out cheaper than the final run is kept instead",
        },
        Param {
            name: "single_width",
            kind: ParamKind::Flag,
            default: Some("false"),
            about: "afterwards every column in regular intervals gets one width, the one that costs least; what is wider becomes *",
        },
    ],
    repeatable: &[],
    local: false,
    make: |params| Ok(Box::new(Optimized::new(params)?)),
};

/// How the trials become an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The first quasi-identifier of the order that can be divided.
    Lexicographic,
    /// The same with two orders, one of trials on trees and one of trials at the median; the better one is kept.
    LexicographicBoth,
    /// The order as weights d, d-1, …, 1.
    Rank,
    /// Every order is tried.
    AllOrders,
    /// No order: the widest.
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

/// The algorithm with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimized {
    /// The tree of numbers without a hierarchy, if they are to have one.
    pub mdr: Option<Mdr>,
    /// The tree by which the trials group numbers that are cut at the median.
    pub trial_tree: Mdr,
    /// What happens to undersized children.
    pub undersized: Undersized,
    /// How the trials become an order.
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
        let outliers = if params.word("outliers") == "none" { Outliers::None } else { Outliers::TwoSigma };
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
    /// Strict cuts and children never make two parts with the same cells; a single width may.
    fn needs_merging(&self) -> bool {
        self.single_width
    }

    /// Numbers without a hierarchy get a tree of regular intervals, if asked for.
    fn prepare(&self, data: Dataset) -> Result<Dataset> {
        match &self.mdr {
            Some(mdr) => Ok(data.clone().with_domains(regular(mdr, &data)?)),
            None => Ok(data),
        }
    }

    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        self.recode_and_report(data, models, suppressible, progress).map(|recoding| recoding.partition)
    }

    fn recode_and_report(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        if self.single_width {
            single_width::check(data)?;
        }
        let (partition, mut report) = self.divide(data, models, suppressible, progress)?;
        let domains = match self.single_width {
            true => Some(single_width::merge(data, &partition, &mut report)?),
            false => None,
        };
        Ok(Recoding { domains, ..Recoding::new(partition).reporting(report) })
    }
}

/// The lines of the table, with trees of regular intervals in place of numbers.
fn regular(mdr: &Mdr, data: &Dataset) -> Result<Vec<Domain>> {
    let tree = |q: usize| {
        let quasi = &data.quasi()[q];
        match &quasi.domain {
            Domain::Numbers(line) if !line.is_empty() => {
                line.with_mdr(&quasi.name, mdr, &data.leaf_counts(q)).map(Domain::Taxonomy)
            }
            domain => Ok(domain.clone()),
        }
    };
    (0..data.quasi().len()).map(tree).collect()
}
