//! The error of range-count queries.
//!
//! Papers: `xiao2006` for the workload, `sacharidis2010` for the estimate. A query asks how many records lie in a box:
//! a range on each of λ quasi-identifiers, and a set of values of a sensitive column if there is one. A reader answers
//! from the release by spreading each group evenly over its cells: the sum over groups of its records with those
//! sensitive values times, for each range, the share of the cell that lies in it.
//!
//! Where we differ: the first paper's predicates are sets of values on any column; ours are ranges on quasi-identifiers,
//! as in the second. The side of a number's range is placed anywhere in the domain, not only at values.

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
    about: "Error of random count queries: how far the answer somebody computes from the release is from the true count, \
            relative to the true count. Each query has a range on some quasi-identifiers and a set of values of a \
            sensitive column. 0 is the original. The bounded error divides by at least a thousandth of the records, so \
            that tiny counts do not decide.",
    limits: "The queries are made up: a workload of one's own may fare better or worse. Queries whose true count is 0 have \
             no relative error and are left out of the unbounded one. Errors of few queries tell true counts, so only \
             averages over many may be published.",
    better: Better::Lower,
    usual: true,
    fits: &[Layout::OneTable, Layout::Joined, Layout::Linked],
    reads_means: false,
    of_column: None,
    measure: Some(|comparison, ask, progress| {
        Ok(Some(Box::new(query_error(comparison, &ask.workload, progress)?)))
    }),
};

/// Relative errors over some queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// How many queries.
    pub queries: u64,
    /// How many of them have a true count above 0.
    pub answered: u64,
    /// The mean of |estimate − count| / count where the count is above 0.
    pub mean: Option<f64>,
    /// The median of the same.
    pub median: Option<f64>,
    /// The mean of |estimate − count| / max(count, bound) over all queries.
    pub bounded_mean: Option<f64>,
    /// The median of the same.
    pub bounded_median: Option<f64>,
}

/// How well a release answers queries.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryError {
    /// What was asked.
    pub workload: Workload,
    /// How many ranges each query has: those asked for, or as many as there are quasi-identifiers.
    pub dimensions: usize,
    /// Whether the queries also choose sensitive values.
    pub sensitive: bool,
    /// The sanity bound: a thousandth of the original's records.
    pub bound: f64,
    /// All queries.
    pub all: Errors,
    /// Queries by the share of the records they really select: up to this share, and above the one before.
    pub by_selectivity: Vec<(f64, Errors)>,
}

/// Upper ends of the classes of selectivity.
const CLASSES: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// Asks a release the queries of a workload.
pub fn query_error(
    comparison: &Comparison,
    workload: &Workload,
    progress: &dyn Progress,
) -> Result<QueryError> {
    let queries = workload.draw(comparison)?;
    progress.step("asking", Some(2 * queries.len() as u64));
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
    let off = |&(count, estimate): &(u64, f64)| {
        let difference = (estimate - count as f64).abs();
        // Shares of whole cells add up to whole numbers but for rounding.
        if difference < 1e-9 * (count as f64).max(1.0) { 0.0 } else { difference }
    };
    let mut relative: Vec<f64> =
        answers.iter().filter(|(count, _)| *count > 0).map(|a| off(a) / a.0 as f64).collect();
    let mut bounded: Vec<f64> = answers.iter().map(|a| off(a) / (a.0 as f64).max(bound)).collect();
    let mean =
        |errors: &[f64]| (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
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
    fn tiny_counts_do_not_decide_the_bounded_error() {
        let errors = errors(&[(0, 3.0), (1, 3.0), (100, 90.0)], 10.0);
        assert_eq!((errors.queries, errors.answered), (3, 2));
        assert_eq!((errors.mean, errors.median), (Some(1.05), Some(1.05)));
        assert_eq!(errors.bounded_median, Some(0.2));
        assert!((errors.bounded_mean.unwrap() - (0.3 + 0.2 + 0.1) / 3.0).abs() < 1e-12);
        assert_eq!(super::errors(&[], 1.0).mean, None);
    }
}
