//! k-join-anonymity: groups contain people of a public external table in addition to those of the
//! microdata.
//!
//! Paper: `sacharidis2010`, definitions 5 and 6. The microdata is joined with an external table on
//! an identifier (full outer join). The release contains the generalized quasi-identifiers of a set
//! S of people, microdata ⊆ S ⊆ join, in groups of at least k that each contain a person of the
//! microdata. Sensitive values are published in a second table, by sensitive group.
//!
//! [`direct`] groups the join. [`refinement`] groups the microdata first and then divides each
//! group together with the external people in its box. Both accept any [`JoinAlgorithm`].
//!
//! Differences from the paper: one page of the paper was not available, so the pseudo-code of both
//! methods is derived from the rest of its text. [`direct`] has sensitive groups too, derived from
//! the tree. Models other than k-anonymity are checked on the sensitive groups. Surplus external
//! people are kept unless [`trim`] is requested, because leaving them out reveals who is in the
//! microdata.

pub mod boxes;
mod direct;
mod outcome;
mod refinement;
pub mod trim;

pub use direct::direct;
pub use outcome::{JoinGroup, JoinOutcome};
pub use refinement::refinement;

use std::fmt::Debug;

use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, GroupSummary, Progress, Result};

/// The description of a method or an option of k-join-anonymity, for `explain`.
#[derive(Debug)]
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// A description of what it does.
    pub about: &'static str,
    /// Known limitations.
    pub limits: &'static str,
}

/// All descriptions.
pub const CARDS: &[&Card] = &[&JOIN_CARD, &direct::CARD, &refinement::CARD, &trim::CARD];

const JOIN_CARD: Card = Card {
    name: "k-join-anonymity",
    paper: "sacharidis2010",
    about: "People of a public table are published together with those of the microdata, so that \
            groups of k need less generalization: every published group has at least k people and \
            at least one of the microdata, and the release does not show which. Sensitive values \
            are published in a second table, by sensitive groups of at least k records of the \
            microdata. Enabled by `[external] path` in a job, with k-anonymity and any further \
            models, which are checked on the sensitive groups.",
    limits: "The paper's bound of 1/k concerns finding a person's row, not whether the person is \
             in the microdata. Smaller boxes reveal more about presence than plain k-anonymity \
             does (see `incrowd explain presence`), people outside all boxes are known to be \
             absent, and external people whom an adversary can rule out do not count: the \
             guarantee is as good as the external table. People of the microdata who are not in it \
             can be recognized (`outside`). If the table is published again with another external \
             table, the two releases can be intersected.",
};

/// The division of the rows into microdata and external rows, and the requirements for groups.
#[derive(Debug)]
pub struct JoinRules<'a> {
    microdata: u32,
    least: u64,
    models: &'a [Box<dyn BoundModel>],
    watched: Vec<usize>,
}

impl<'a> JoinRules<'a> {
    /// Rows below `microdata` are microdata, the others are external. A group must have at least
    /// `least` records. `models` decide which microdata may form a sensitive group. Without models
    /// there are no sensitive groups.
    pub fn new(microdata: usize, least: u64, models: &'a [Box<dyn BoundModel>]) -> JoinRules<'a> {
        let mut watched: Vec<usize> =
            models.iter().filter_map(|model| model.sensitive_column()).collect();
        watched.sort_unstable();
        watched.dedup();
        JoinRules { microdata: microdata as u32, least, models, watched }
    }

    /// Returns whether a row is microdata.
    #[inline]
    pub fn is_microdata(&self, row: u32) -> bool {
        row < self.microdata
    }

    /// Returns the least number of records of a group.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// Returns whether these records of the microdata may form a sensitive group.
    pub fn admits(&self, microdata: &GroupSummary) -> bool {
        self.models.iter().all(|model| model.admits(microdata).holds)
    }

    /// Returns the sensitive columns that the models depend on.
    pub(crate) fn watched(&self) -> &[usize] {
        &self.watched
    }

    /// Returns a summary of the microdata among these rows.
    pub(crate) fn summary<'r>(
        &self,
        data: &Dataset,
        rows: impl IntoIterator<Item = &'r u32>,
    ) -> GroupSummary {
        let sensitive = if self.watched.is_empty() { 0 } else { data.sensitive().len() };
        let mut summary = GroupSummary::empty(sensitive);
        for &row in rows.into_iter().filter(|row| self.is_microdata(**row)) {
            summary.add(data.weight(row as usize), data.sensitive_codes(row as usize));
        }
        summary
    }
}

/// Groups of rows in the order of the tree that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The rows of all groups.
    pub rows: Vec<u32>,
    /// The end of each group in `rows`.
    pub ends: Vec<usize>,
    /// Whether each group is the first of a sensitive group. Other groups belong to the sensitive
    /// group before them.
    pub starts: Vec<bool>,
}

impl Grouping {
    /// Iterates over the groups, with whether each starts a sensitive group.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], bool)> {
        let start = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        (0..self.ends.len()).map(move |i| (&self.rows[start(i)..self.ends[i]], self.starts[i]))
    }
}

/// An algorithm that groups rows of which some are external.
pub trait JoinAlgorithm: Debug + Send + Sync {
    /// Groups these rows of the table. Every group has at least `rules.least()` records and a row
    /// of the microdata. Every row of the microdata is in exactly one group, an external row in at
    /// most one. Every sensitive group is admitted if all the microdata of `rows` together is. The
    /// rows must have enough records for one group.
    fn group(
        &self,
        data: &Dataset,
        rows: &[u32],
        rules: &JoinRules<'_>,
        progress: &dyn Progress,
    ) -> Result<Grouping>;
}
