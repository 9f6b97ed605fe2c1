//! Mondrian: divides the table recursively into parts that satisfy the models.
//!
//! Paper: `lefevre2006`. The two treatments of undersized children are those of `liu-itri`, round
//! robin is that of `sacharidis2010`; the exact forms are in `docs/papers.md`.
//!
//! Numbers are cut at the median of the records. For taxonomies, a part is divided into the
//! children of the lowest node that covers it. Labels are tight: the part's own range, or its
//! lowest common ancestor.
//!
//! Differences from the paper: parts are checked by all models, not by k alone. Rows are distinct
//! rows with counts. A child that is too small for a group may be suppressed within the job's limit
//! if that costs less than pooling it or giving up the division. Descending a taxonomy through a
//! single populated child happens at once and does not take a turn, which gives the same parts. A
//! relaxed cut may separate rows of equal value, but never the records of one distinct row.

mod children;
mod cut;
mod cuts;
mod distribute;
mod joined;
mod part;
mod runs;
mod space;
mod summary;

use incrowd_core::model::{BoundModel, Verdict};
use incrowd_core::partition::Groups;
use incrowd_core::{Dataset, Error, GroupSummary, Param, Params, Partition, Result};

use crate::{Algorithm, Card, Recoding, Task};
use part::Leaves;
pub(crate) use runs::{Choice, RunOutcome, Runs};

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "mondrian",
    paper: "lefevre2006",
    about: "Divides the table along one quasi-identifier after another, numbers at the median, \
            categories along their hierarchy, until no part can be divided without violating a \
            model. Fast, deterministic, and works with any number of quasi-identifiers.",
    limits: "Greedy: it never undoes a division. With `cut = \"relaxed\"` or `undersized = \
             \"pool\"` published ranges may overlap. That weakens no guarantee, but an adversary \
             who knows the algorithm can partly infer why a row was pooled.",
    params: &[
        Param::choice("cut", &["strict", "relaxed"]).or("strict").about(
            "strict keeps equal values together; relaxed may divide them between both halves, so \
            that ranges share an end",
        ),
        Param::choice("undersized", &["pool", "block"]).or("pool").about(
            "a category too small for a group is pooled with others under the parent's label, or \
            blocks the division; within suppression_limit it may be suppressed instead",
        ),
        Param::choice("dimension", &["widest", "round-robin", "priority"]).or("widest").about(
            "which quasi-identifier is divided next: the one with the greatest loss times its \
            importance, each in turn, or the first of `priority`",
        ),
        Param::words("priority").optional().about(
            "the quasi-identifiers in order of importance, for dimension = \"priority\"; the \
            others come last",
        ),
    ],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(Mondrian::new(params)?)),
};

/// The treatment of equal values at the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All of them are in the same half.
    Strict,
    /// They may be divided between both halves.
    Relaxed,
}

/// The treatment of children of a taxonomy node that are too small for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undersized {
    /// They are pooled under the parent's label.
    Pool,
    /// They block the division.
    Block,
}

/// The order in which quasi-identifiers are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Descending by the loss of the part's cell.
    Widest,
    /// Cyclic, starting after the last one used.
    RoundRobin,
    /// In this order; names not listed follow in table order.
    Priority(Vec<String>),
}

/// The algorithm with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mondrian {
    /// The treatment of equal values.
    pub cut: Cut,
    /// The treatment of undersized children.
    pub undersized: Undersized,
    /// The order in which quasi-identifiers are tried.
    pub dimension: Dimension,
}

impl Default for Mondrian {
    fn default() -> Self {
        Mondrian { cut: Cut::Strict, undersized: Undersized::Pool, dimension: Dimension::Widest }
    }
}

impl Mondrian {
    fn new(params: &Params) -> Result<Mondrian> {
        let priority = params.words("priority");
        let dimension = match params.word("dimension") {
            "priority" => Dimension::Priority(priority.clone()),
            "round-robin" => Dimension::RoundRobin,
            _ => Dimension::Widest,
        };
        if !priority.is_empty() && !matches!(dimension, Dimension::Priority(_)) {
            return Err(Error::job("`priority` is given but not used")
                .help("add dimension = \"priority\"")
                .at("priority"));
        }
        if matches!(&dimension, Dimension::Priority(names) if names.is_empty()) {
            return Err(Error::job(
                "dimension = \"priority\" needs `priority`, the quasi-identifiers in order",
            )
            .at("dimension"));
        }
        Ok(Mondrian {
            cut: if params.word("cut") == "relaxed" { Cut::Relaxed } else { Cut::Strict },
            undersized: if params.word("undersized") == "block" {
                Undersized::Block
            } else {
                Undersized::Pool
            },
            dimension,
        })
    }

    /// Returns the rule by which the next quasi-identifier is chosen.
    fn choice(&self, data: &Dataset) -> Result<Choice> {
        let names = match &self.dimension {
            Dimension::Priority(names) => names,
            Dimension::RoundRobin => return Ok(Choice::RoundRobin),
            Dimension::Widest => return Ok(Choice::Widest(vec![1.0; data.quasi().len()])),
        };
        let known = || data.quasi().iter().map(|q| q.name.as_str());
        let mut order = Vec::new();
        for name in names {
            let Some(position) = known().position(|q| q == name) else {
                return Err(Error::job(format!(
                    "`priority` names `{name}`, which is not a quasi-identifier"
                ))
                .help_near(name, known())
                .at("priority"));
            };
            if order.contains(&position) {
                return Err(Error::job(format!("`priority` names `{name}` twice")).at("priority"));
            }
            order.push(position);
        }
        order.extend((0..data.quasi().len()).filter(|q| !order.contains(q)).collect::<Vec<_>>());
        Ok(Choice::Order(order))
    }
}

impl Algorithm for Mondrian {
    fn join(&self) -> Option<&dyn crate::join::JoinAlgorithm> {
        Some(self)
    }

    fn weighs(&self) -> bool {
        true
    }

    /// Strict cuts and children separate values, so no two parts have the same cells. A relaxed cut
    /// may separate rows of equal value.
    fn needs_merging(&self) -> bool {
        self.cut == Cut::Relaxed
    }

    fn solve(&self, Task { data, models, suppressible, progress }: Task<'_>) -> Result<Recoding> {
        let choice = self.choice(data)?;
        require_valid_whole("mondrian", data, models)?;
        let runs = Runs::new(data, models, self, suppressible);
        runs.only(&choice, progress).partition(data).map(Recoding::new)
    }
}

/// Returns an error if the undivided table does not satisfy the models.
pub(crate) fn require_valid_whole(
    name: &str,
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
) -> Result<()> {
    // A summary with all values takes longer than some divisions.
    let whole = match models.iter().all(|model| model.least_records().is_some()) {
        true => {
            GroupSummary { records: data.records(), ..GroupSummary::empty(data.sensitive().len()) }
        }
        false => data.whole(),
    };
    let Some(verdict) = models.iter().map(|m| m.admits(&whole)).find(|verdict| !verdict.holds)
    else {
        return Ok(());
    };
    let Verdict { what, have, need, .. } = verdict;
    Err(Error::unsatisfiable(format!(
        "`{name}` requires a table that satisfies the models as a whole; here the {what} is \
         {have:.6}, and {need:.6} is needed"
    ))
    .help("weaken the models"))
}

/// Converts the undivided parts into groups.
fn collect(data: &Dataset, leaves: &[Leaves]) -> Result<Partition> {
    let parts =
        leaves.iter().map(|own| Groups { spans: &own.spans, rows: &own.rows, ends: &own.ends });
    let parts: Vec<Groups<'_>> = parts.collect();
    Partition::of_parts(data.quasi().len(), data.rows(), &parts)
}
