//! What was reached, and what cannot be gone below.

use super::{Effort, Metric};

/// How an ascent went. Losses are the mean over all published cells.
#[derive(Clone, Debug, PartialEq)]
pub struct AscentReport {
    /// What was to be least.
    pub metric: Metric,
    /// How much was done for it.
    pub effort: Effort,
    /// How many combinations of levels there are.
    pub combinations: u64,
    /// How many groups were found on the way.
    pub groups_at_first: u64,
    /// How many records found no company at any combination and joined others.
    pub without_company: u64,
    /// The loss before records were moved about.
    pub climbed: f64,
    /// The loss in the end.
    pub reached: f64,
    /// How many times all records were looked at to move them.
    pub rounds: u64,
    /// Whether that ended because the time was up.
    pub out_of_time: bool,
    /// No release that keeps the promises and suppresses nobody has less; nothing if it was not computed.
    pub bound: Option<f64>,
}
