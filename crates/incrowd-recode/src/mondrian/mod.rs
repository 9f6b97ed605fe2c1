//! Mondrian: divide the table again and again, always into parts that still satisfy the models.
//!
//! Paper: `lefevre2006`. The two ways of treating undersized children are those of `liu-itri`, round robin is that of
//! `sacharidis2010`; the exact forms are in `docs/papers.md`.
//!
//! Numbers are cut at the weighted median, taxonomies fall apart into the children of the lowest node that covers the
//! part. Labels are tight: the part's own range, or its lowest common ancestor.
//!
//! Where we differ: parts are judged by the models, whatever they are, not by k alone; rows are distinct rows with
//! weights; a child too small to stand alone may be suppressed, within the job's limit, where that costs less than pooling
//! it or giving up the division; moving down a taxonomy with a single populated child happens at once instead of costing a turn, which
//! leads to the same parts. A relaxed cut may part rows of equal value, but never the records of one distinct row.

mod by_records;
mod children;
mod cut;
mod cuts;
mod joined;
mod part;
mod runs;
mod space;
mod spread;
mod summary;
mod tables;
mod words;

use incrowd_core::model::{BoundModel, Verdict};
use incrowd_core::partition::Groups;
use incrowd_core::{Dataset, Error, GroupSummary, Param, ParamKind, Params, Partition, Progress, Result};

use crate::{Algorithm, Card};
use part::Leaves;
pub(crate) use runs::{Choice, Outcome, Runs};

/// The list entry.
pub const CARD: Card = Card {
    name: "mondrian",
    paper: "lefevre2006",
    about: "Divides the table along one quasi-identifier after another, numbers at the median, categories along their \
            hierarchy, until no part can be divided without breaking a promise. Fast, deterministic, and works with \
            any number of quasi-identifiers.",
    limits: "Greedy: it never takes a division back. With `cut = \"relaxed\"` or `undersized = \"pool\"` published \
             ranges may overlap, which weakens no promise but tells someone who knows the algorithm a little about \
             why a row was pooled.",
    params: &[
        Param {
            name: "cut",
            kind: ParamKind::Choice(&["strict", "relaxed"]),
            default: Some("strict"),
            about: "strict keeps equal values together; relaxed may divide them between both halves, so ranges touch",
        },
        Param {
            name: "undersized",
            kind: ParamKind::Choice(&["pool", "block"]),
            default: Some("pool"),
            about: "a category too small to stand alone joins others under the parent's label, or blocks the division; \
                    within suppression_limit it may be suppressed instead",
        },
        Param {
            name: "dimension",
            kind: ParamKind::Choice(&["widest", "round-robin", "priority"]),
            default: Some("widest"),
            about: "which quasi-identifier is divided next: the one that costs most, columns weighted, each in turn, or the first of `priority`",
        },
        Param {
            name: "priority",
            kind: ParamKind::Words,
            default: Some(""),
            about: "the quasi-identifiers in order of importance, for dimension = \"priority\"; those not named come last",
        },
    ],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(Mondrian::new(params)?)),
};

/// Where equal values go when a median falls among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// They stay together.
    Strict,
    /// They may be divided between both halves.
    Relaxed,
}

/// What happens to children of a taxonomy node that cannot stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undersized {
    /// They are pooled under the parent's label.
    Pool,
    /// They block the division.
    Block,
}

/// Which quasi-identifier is tried first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The one whose label costs most.
    Widest,
    /// The one after the last used.
    RoundRobin,
    /// The first of these that can be divided; names not listed follow in table order.
    Priority(Vec<String>),
}

/// The algorithm with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mondrian {
    /// Where equal values go.
    pub cut: Cut,
    /// What happens to undersized children.
    pub undersized: Undersized,
    /// Which quasi-identifier is tried first.
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

    /// How the next quasi-identifier is chosen.
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

    /// Every part is judged when it is made. Strict cuts and children part values, so no two parts have the same cells; rows
    /// of equal value that a relaxed cut parts may.
    fn weighs(&self) -> bool {
        true
    }

    fn needs_merging(&self) -> bool {
        self.cut == Cut::Relaxed
    }

    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        let choice = self.choice(data)?;
        keeps_as_a_whole("mondrian", data, models)?;
        Runs::new(data, models, self, suppressible).only(&choice, progress).partition(data)
    }
}

/// Refuses a table that breaks a promise before it is divided.
pub(crate) fn keeps_as_a_whole(name: &str, data: &Dataset, models: &[Box<dyn BoundModel>]) -> Result<()> {
    // Going through all values takes longer than some divisions.
    let whole = match models.iter().all(|model| model.least_records().is_some()) {
        true => GroupSummary { records: data.records(), ..GroupSummary::empty(data.sensitive().len()) },
        false => data.whole(),
    };
    let Some(verdict) = models.iter().map(|m| m.admits(&whole)).find(|verdict| !verdict.holds) else {
        return Ok(());
    };
    let Verdict { what, have, need, .. } = verdict;
    Err(Error::unsatisfiable(format!(
        "`{name}` divides a table that keeps its promises as a whole, and of this one the {what} is {have:.6}, \
         where {need:.6} is needed"
    ))
    .help("ask for less"))
}

/// Turns the undivided parts into groups.
fn collect(data: &Dataset, leaves: &[Leaves]) -> Result<Partition> {
    let parts = leaves.iter().map(|own| Groups { spans: &own.spans, rows: &own.rows, ends: &own.ends });
    let parts: Vec<Groups<'_>> = parts.collect();
    Partition::of_parts(data.quasi().len(), data.rows(), &parts)
}
