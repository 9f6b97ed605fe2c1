//! Utility of a release: measures that compare it with its original.
//!
//! Each measure is one file with a [`Card`]. [`UTILITIES`] lists them. All of them read a
//! [`Comparison`]. A measure decides which parts of its result may be published. A user of the
//! release is assumed to distribute the records of a cell evenly over the leaves that the cell
//! covers, independently in each column. The leaves are those of the domain, because users have the
//! hierarchies but not the original. The leaves of a numeric column are the values of the original.

mod bins;
mod card;
mod classification;
mod columns;
mod comparison;
mod correlations;
mod cover;
mod distribution;
mod eigen;
mod kl_divergence;
mod linked_tables;
mod marginals;
mod matched;
mod moments;
mod non_uniform_entropy;
mod numbers;
mod pairs;
mod pmse;
mod query;
mod rng;
#[cfg(test)]
mod test_tables;
mod total_variation;
#[cfg(test)]
mod twins;

pub use card::{Card, ColumnFigure, Layout, Measure, Measured, UtilityRequest};
pub use classification::{Classification, MOST_CLASSES, Scores, Task, classify};
pub use columns::{ColumnUtility, columns};
pub use comparison::{ColumnRole, Comparison};
pub use correlations::{Correlations, correlations};
pub(crate) use cover::Cover;
pub use marginals::{Marginal, Value, marginals};
pub use matched::{MatchedRecord, matched_records};
pub use moments::{ColumnMoments, Moments, SummaryStatistics, moments};
pub use non_uniform_entropy::{EntropyLoss, non_uniform_entropy};
pub use pairs::{PairUtility, Pairs, pairs};
pub use pmse::{Pmse, pmse};
pub use query::{Errors, QueryError, Workload, query_error};

/// All utility measures. To add a measure, add a file and one line here.
pub const UTILITIES: &[&Card] = &[
    &non_uniform_entropy::CARD,
    &kl_divergence::CARD,
    &total_variation::CARD,
    &pairs::CARD,
    &moments::CARD,
    &correlations::CARD,
    &pmse::CARD,
    &query::CARD,
    &classification::CARD,
];
