//! What a promise cost: measures of a release against the domains of its original.
//!
//! Each metric is one file with a [`Card`]; [`METRICS`] lists them. All read a [`Tally`], which is made from the released
//! cells alone, never from what an algorithm believes it did.

mod average_class_size;
mod discernibility;
mod distortion;
mod entropy_loss;
mod groups;
mod information_loss;
mod ncp;
mod weighted_ncp;

use crate::card::Better;

/// Every metric incrowd knows. A new metric is one file and one line here.
pub const METRICS: &[&Card] = &[
    &ncp::CARD,
    &entropy_loss::CARD,
    &information_loss::CARD,
    &discernibility::CARD,
    &average_class_size::CARD,
    &groups::CARD,
    &distortion::CARD,
    &weighted_ncp::CARD,
];

/// A metric's entry in the list.
pub struct Card {
    /// The name in reports.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What it measures and how to read it.
    pub about: &'static str,
    /// Which end of its scale is the good one.
    pub better: Better,
    /// Computes it.
    pub measure: fn(&Tally) -> f64,
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What one quasi-identifier lost, summed over the published records.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnTally {
    /// The column's name.
    pub name: String,
    /// Sum of the cells' normalized certainty penalties.
    pub ncp: f64,
    /// Sum of the cells' information losses as `wang2009` defines them.
    pub loss: f64,
    /// How many steps the cells lie below the roots, added up.
    pub depth: u64,
    /// How many steps the values of the original lie below the roots, added up over all its records.
    pub leaf_depth: u64,
    /// How many bits are missing to tell the values from the cells, added up; no number if that is not known.
    pub open_bits: f64,
    /// How many would be missing if nothing were published.
    pub all_bits: f64,
    /// How much the column's loss weighs against that of the others.
    pub weight: f64,
}

impl Default for ColumnTally {
    fn default() -> Self {
        ColumnTally {
            name: String::new(),
            ncp: 0.0,
            loss: 0.0,
            depth: 0,
            leaf_depth: 0,
            open_bits: f64::NAN,
            all_bits: 0.0,
            weight: 1.0,
        }
    }
}

/// What all metrics are computed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The quasi-identifiers.
    pub columns: Vec<ColumnTally>,
    /// The sizes of the groups a reader sees, in no order that means anything.
    pub group_sizes: Vec<u64>,
    /// How many records are published.
    pub published: u64,
    /// How many were left out to keep the promise.
    pub suppressed: u64,
}

impl Tally {
    /// Average penalty of the cells of one column, suppressed records counting as fully lost.
    pub fn column_ncp(&self, column: &ColumnTally) -> f64 {
        let records = self.published + self.suppressed;
        if records == 0 { 0.0 } else { (column.ncp + self.suppressed as f64) / records as f64 }
    }
}
