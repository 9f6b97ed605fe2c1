//! k-join-anonymity: people of a public table who stand beside those of the microdata.
//!
//! Paper: `sacharidis2010`, definitions 5 and 6. The microdata is joined with an external table on an identifier (full outer
//! join). What is published are the generalized quasi-identifiers of a set S of people, microdata ⊆ S ⊆ join, in groups of
//! at least k that each hold somebody of the microdata; sensitive values stand in a second table, by sensitive group.
//!
//! [`direct`] groups the join as it is, [`refinement`] groups the microdata first and then divides each group among the
//! people of the external table who fall into its box. Both take any [`JoinAlgorithm`].
//!
//! Where we differ: a page of the paper was not to be had, so the pseudo-code of both methods follows from the rest of its
//! text; sensitive groups also for [`direct`], taken from the tree; models other than k-anonymity are judged on the sensitive
//! groups; surplus external people stay unless [`trim`] is asked for, because leaving them out tells who is in the microdata.

pub mod boxes;
mod direct;
mod outcome;
mod refinement;
pub mod trim;

pub use direct::direct;
pub use outcome::{JoinGroup, JoinOutcome};
pub use refinement::{conventional, refinement};

use std::fmt::Debug;

use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, GroupSummary, Progress, Result};

/// What a method or an option of k-join-anonymity is, for `explain`.
#[derive(Debug)]
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it does not promise.
    pub limits: &'static str,
}

/// The idea and its methods.
pub const CARDS: &[&Card] = &[&JOIN_CARD, &direct::CARD, &refinement::CARD, &trim::CARD];

const JOIN_CARD: Card = Card {
    name: "k-join-anonymity",
    paper: "sacharidis2010",
    about: "People of a public table stand beside those of the microdata, so that groups of k need less room: every \
            published group has at least k people and at least one of the microdata, and nobody can tell which. Sensitive \
            values are published in a second table, by sensitive groups of at least k records of the microdata. Asked for by \
            `[external] path` in a job, with k-anonymity and any further models, which are judged on the sensitive groups.",
    limits: "The paper's bound of 1/k is about finding a person's row, not about whether the person is in the microdata. \
             Smaller boxes tell more about presence than plain k-anonymity does (see `incrowd explain presence`), people \
             outside all boxes are known to be absent, and strangers whom an adversary can rule out do not count: the promise \
             is as good as the external table. People of the microdata who are not in it show (`outside`). Publishing \
             again with another external table lets the two releases be intersected.",
};

/// Which rows are microdata, and what a group of a join must have.
#[derive(Debug)]
pub struct JoinRules<'a> {
    microdata: u32,
    least: u64,
    models: &'a [Box<dyn BoundModel>],
    watched: Vec<usize>,
}

impl<'a> JoinRules<'a> {
    /// Rows below `microdata` are microdata, the others external. A group has at least `least` records. `models` say which
    /// microdata may stand as a sensitive group; without models sensitive groups are of no interest.
    pub fn new(microdata: usize, least: u64, models: &'a [Box<dyn BoundModel>]) -> JoinRules<'a> {
        let mut watched: Vec<usize> = models.iter().filter_map(|model| model.looks_at()).collect();
        watched.sort_unstable();
        watched.dedup();
        JoinRules { microdata: microdata as u32, least, models, watched }
    }

    /// Whether a row is microdata.
    #[inline]
    pub fn is_microdata(&self, row: u32) -> bool {
        row < self.microdata
    }

    /// The least number of records of a group.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// Whether these records of the microdata may stand as a sensitive group.
    pub fn admits(&self, microdata: &GroupSummary) -> bool {
        self.models.iter().all(|model| model.admits(microdata).holds)
    }

    /// The sensitive columns the models look at.
    pub(crate) fn watched(&self) -> &[usize] {
        &self.watched
    }

    /// The microdata among these rows as models see it.
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

/// Groups of rows, one after another, in the order of the tree they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The rows of all groups.
    pub rows: Vec<u32>,
    /// Where each group ends in `rows`.
    pub ends: Vec<usize>,
    /// Whether each group is the first of a sensitive group; the others are of the sensitive group before them.
    pub starts: Vec<bool>,
}

impl Grouping {
    /// The groups with whether they begin a sensitive group.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], bool)> {
        let start = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        (0..self.ends.len()).map(move |i| (&self.rows[start(i)..self.ends[i]], self.starts[i]))
    }
}

/// A way to group rows of which some are external.
pub trait JoinAlgorithm: Debug + Send + Sync {
    /// Groups these rows of the table: every group has at least the least number of records of the rules and a row of the
    /// microdata, every row of the microdata is in exactly one group, an external row in one or none. Every sensitive group is
    /// admitted if all the microdata of `rows` together is. The caller sees to it that the rows have enough records.
    fn group(
        &self,
        data: &Dataset,
        rows: &[u32],
        rules: &JoinRules<'_>,
        progress: &dyn Progress,
    ) -> Result<Grouping>;
}
