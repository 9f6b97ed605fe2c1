//! The error of range-count queries.
//!
//! Papers: `xiao2006` for the workload, `sacharidis2010` for the estimate. A query counts the
//! records in a box: a range on each of λ quasi-identifiers, and a set of values of a sensitive
//! column if there is one. A user of the release estimates the count by distributing each group
//! evenly over its cells. The estimate is a sum over groups: the records with those sensitive
//! values times, for each range, the share of the cell in the range.
//!
//! Where we differ: the predicates of the first paper are sets of values on any column. Ours are
//! ranges on quasi-identifiers, as in the second paper. The ends of a numeric range may be anywhere
//! in the domain, not only at values.

mod count;
mod estimate;
mod report;
#[cfg(test)]
mod twin;
mod workload;

pub use workload::Workload;

use incrowd_core::{Better, Progress, Result};

use super::comparison::Comparison;
use super::{Card, Layout};

pub(super) const CARD: Card = Card {
    name: "query_error",
    paper: "xiao2006",
    about: "Error of random counting queries: the difference between the count estimated from the \
            release and the true count, relative to the true count. Each query has a range on some \
            quasi-identifiers and a set of values of a sensitive column. 0 is the original. The \
            bounded error divides by at least a thousandth of the records, so that tiny counts do \
            not dominate.",
    limits: "The queries are artificial; real workloads may have lower or higher errors. Queries \
             with a true count of 0 have no relative error and are excluded from the unbounded \
             error. Errors of few queries reveal true counts, so only averages over many queries \
             may be published.",
    better: Better::Lower,
    by_default: true,
    fits: &[Layout::OneTable, Layout::Joined, Layout::Linked],
    reads_means: false,
    of_column: None,
    measure: Some(|comparison, request, progress| {
        Ok(Some(Box::new(query_error(comparison, &request.workload, progress)?)))
    }),
};

/// Relative errors over some queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Number of queries.
    pub queries: u64,
    /// Number of queries with a true count above 0.
    pub answered: u64,
    /// Mean of |estimate − count| / count over the queries with a count above 0.
    pub mean: Option<f64>,
    /// Median of |estimate − count| / count over the queries with a count above 0.
    pub median: Option<f64>,
    /// Mean of |estimate − count| / max(count, bound) over all queries.
    pub bounded_mean: Option<f64>,
    /// Median of |estimate − count| / max(count, bound) over all queries.
    pub bounded_median: Option<f64>,
}

/// Accuracy of the answers to counting queries.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryError {
    /// Parameters of the queries.
    pub workload: Workload,
    /// Number of ranges per query: as requested, at most the number of quasi-identifiers.
    pub dimensions: usize,
    /// Whether the queries also select sensitive values.
    pub sensitive: bool,
    /// The sanity bound: a thousandth of the original's records.
    pub bound: f64,
    /// All queries.
    pub all: Errors,
    /// Queries by the share of the records that they select: up to this share, and above the
    /// previous one.
    pub by_selectivity: Vec<(f64, Errors)>,
}

/// Upper ends of the classes of selectivity.
const CLASSES: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// Draws the queries of a workload and computes the errors of their estimates.
pub fn query_error(
    comparison: &Comparison,
    workload: &Workload,
    progress: &dyn Progress,
) -> Result<QueryError> {
    let queries = workload.draw(comparison)?;
    progress.step("running queries", Some(2 * queries.len() as u64));
    let counts = count::counts(comparison, &queries);
    progress.advance(queries.len() as u64);
    let estimates = estimate::estimates(comparison, &queries, progress);
    let bound = comparison.records as f64 / 1000.0;
    let answers: Vec<(u64, f64)> = counts.into_iter().zip(estimates).collect();
    let mut from = 0.0;
    let mut by_selectivity = Vec::new();
    for to in CLASSES {
        let share = |count: u64| count as f64 / comparison.records.max(1) as f64;
        let class: Vec<(u64, f64)> = answers
            .iter()
            .copied()
            .filter(|(count, _)| share(*count) <= to && (share(*count) > from || from == 0.0))
            .collect();
        by_selectivity.push((to, errors(&class, bound)));
        from = to;
    }
    let sensitive = queries.iter().any(|query| query.values.is_some());
    Ok(QueryError {
        workload: workload.clone(),
        dimensions: workload.dimensions.min(comparison.quasi),
        sensitive,
        bound,
        all: errors(&answers, bound),
        by_selectivity,
    })
}

fn errors(answers: &[(u64, f64)], bound: f64) -> Errors {
    let error = |&(count, estimate): &(u64, f64)| {
        let difference = (estimate - count as f64).abs();
        // Small differences are rounding errors of the sums of shares.
        if difference < 1e-9 * (count as f64).max(1.0) { 0.0 } else { difference }
    };
    let mut relative: Vec<f64> =
        answers.iter().filter(|(count, _)| *count > 0).map(|a| error(a) / a.0 as f64).collect();
    let mut bounded: Vec<f64> =
        answers.iter().map(|a| error(a) / (a.0 as f64).max(bound)).collect();
    let mean = |errors: &[f64]| {
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    };
    let (mean_relative, mean_bounded) = (mean(&relative), mean(&bounded));
    Errors {
        queries: answers.len() as u64,
        answered: relative.len() as u64,
        mean: mean_relative,
        median: median(&mut relative),
        bounded_mean: mean_bounded,
        bounded_median: median(&mut bounded),
    }
}

fn median(errors: &mut [f64]) -> Option<f64> {
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    match errors.len() {
        0 => None,
        n if n % 2 == 1 => Some(errors[middle]),
        _ => Some((errors[middle - 1] + errors[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_counts_do_not_dominate_the_bounded_error() {
        let errors = errors(&[(0, 3.0), (1, 3.0), (100, 90.0)], 10.0);
        assert_eq!((errors.queries, errors.answered), (3, 2));
        assert_eq!((errors.mean, errors.median), (Some(1.05), Some(1.05)));
        assert_eq!(errors.bounded_median, Some(0.2));
        assert!((errors.bounded_mean.unwrap() - (0.3 + 0.2 + 0.1) / 3.0).abs() < 1e-12);
        assert_eq!(super::errors(&[], 1.0).mean, None);
    }
}
