//! What a release is still good for: measures that put it beside its original.
//!
//! Each measure is one file with a [`Card`]; [`UTILITIES`] lists them. All read a [`Comparison`], and each says itself what of
//! its answer may be published. What a reader makes of
//! a release is taken to be this: the people of a cell are spread evenly over the leaves the cell covers, independently
//! in each column. The leaves are those of the domain, because a reader has the hierarchies but not the original; of a
//! column of numbers they are the values that occur in the original.

mod beside;
mod bins;
mod card;
mod classification;
mod columns;
mod comparison;
mod correlations;
mod cover;
mod dice;
mod distribution;
mod eigen;
mod kl_divergence;
mod linked_tables;
mod marginals;
mod moments;
mod non_uniform_entropy;
mod numbers;
mod pairs;
mod pmse;
mod query;
#[cfg(test)]
mod small;
mod total_variation;
#[cfg(test)]
mod twins;

pub use beside::{Beside, beside};
pub use card::{Ask, Card, ColumnFigure, Layout, Measure, Measured};
pub use classification::{Classification, MOST_CLASSES, Scores, Task, classify};
pub use columns::{ColumnUtility, columns};
pub use comparison::{Comparison, Part};
pub use correlations::{Correlations, correlations};
pub(crate) use cover::Cover;
pub use marginals::{Marginal, Value, marginals};
pub use moments::{ColumnMoments, Described, Moments, moments};
pub use non_uniform_entropy::{EntropyLoss, non_uniform_entropy};
pub use pairs::{PairUtility, Pairs, pairs};
pub use pmse::{Pmse, pmse};
pub use query::{Errors, QueryError, Workload, query_error};

/// Every measure of utility incrowd knows. A new measure is one file and one line here.
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
