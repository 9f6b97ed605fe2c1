//! Measures of information loss: a release compared with the domains of its original.
//!
//! Each metric is one file with a [`Card`]; [`METRICS`] lists them. All use a [`Tally`], which is
//! computed from the released cells only, never from the internal state of an algorithm.

mod average_class_size;
mod discernibility;
mod distortion;
mod entropy_loss;
mod groups;
mod information_loss;
mod ncp;
mod weighted_ncp;

use crate::card::Better;

/// All metrics. A new metric is one file and one line here.
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
    /// The definition and interpretation.
    pub about: &'static str,
    /// The preferred direction.
    pub better: Better,
    /// Computes the metric.
    pub measure: fn(&Tally) -> f64,
}

crate::opaque_debug!(Card { name });

/// The loss of one quasi-identifier, summed over the published records.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnTally {
    /// The column's name.
    pub name: String,
    /// Sum of the cells' normalized certainty penalties.
    pub ncp: f64,
    /// Sum of the cells' information losses as `wang2009` defines them.
    pub loss: f64,
    /// Sum of the cells' depths below the roots.
    pub depth: u64,
    /// Sum over all records of the original of the depths of their values below the roots.
    pub leaf_depth: u64,
    /// Sum of the bits needed to determine the values from the cells; NaN if unknown.
    pub open_bits: f64,
    /// Sum of these bits if nothing were published.
    pub all_bits: f64,
    /// The importance of the column in the loss.
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

/// The input of all metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The quasi-identifiers.
    pub columns: Vec<ColumnTally>,
    /// The sizes of the groups in the release, in any order.
    pub group_sizes: Vec<u64>,
    /// The number of published records.
    pub published: u64,
    /// The number of suppressed records.
    pub suppressed: u64,
}

impl Tally {
    /// Average penalty of the cells of one column; suppressed records count as fully lost.
    pub fn column_ncp(&self, column: &ColumnTally) -> f64 {
        let records = self.published + self.suppressed;
        if records == 0 { 0.0 } else { (column.ncp + self.suppressed as f64) / records as f64 }
    }
}
