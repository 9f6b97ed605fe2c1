//! A combination of generalization and local suppression: columns are raised to a level of their
//! hierarchies while that saves more missing cells than it loses in the other cells.

use incrowd_core::{Code, Dataset, Domain, Progress, Result};

use super::points::Points;
use super::{LocalSuppression, cost, search};

/// Returns the level at which each quasi-identifier is published, if it is not missing.
pub fn cheapest_levels(
    data: &Dataset,
    rules: &LocalSuppression,
    progress: &dyn Progress,
) -> Result<Vec<usize>> {
    progress.step("choosing levels", None);
    let mut levels = vec![0; data.quasi().len()];
    let mut best = loss(data, rules, &levels)?;
    loop {
        let mut found: Option<(f64, usize)> = None;
        for (q, quasi) in data.quasi().iter().enumerate() {
            // The highest level contains no more information than a missing cell.
            if levels[q] + 2 >= quasi.domain.levels() {
                continue;
            }
            let mut higher = levels.clone();
            higher[q] += 1;
            let loss = loss(data, rules, &higher)?;
            progress.advance(1);
            if loss < found.map_or(best, |found| found.0) {
                found = Some((loss, q));
            }
        }
        let Some((loss, q)) = found else { return Ok(levels) };
        levels[q] += 1;
        best = loss;
    }
}

/// Returns the loss at these levels by generalization and by missing cells, multiplied by the
/// importance of the columns. Does not include the restoration of cells.
fn loss(data: &Dataset, rules: &LocalSuppression, levels: &[usize]) -> Result<f64> {
    let domains: Result<Vec<Domain>> = data
        .quasi()
        .iter()
        .zip(levels)
        .map(|(quasi, &level)| quasi.domain.or_missing(level))
        .collect();
    let made = data.clone().with_domains(domains?);
    let points = Points::new(&made);
    let prices = rules.prices(&made);
    let Ok(missing) = search::initial_missing(&points, rules.least, &prices) else {
        return Ok(f64::INFINITY);
    };
    let mut lost = cost(&points, &missing, &prices);
    for (q, quasi) in data.quasi().iter().enumerate().filter(|(q, _)| levels[*q] > 0) {
        let of_leaf = |code: u32| {
            let span = quasi.domain.level_span(Code(code), levels[q]);
            quasi.weight * quasi.domain.loss(span.lo, span.hi)
        };
        let losses: Vec<f64> = (0..quasi.domain.leaves()).map(of_leaf).collect();
        let shown = (0..points.len()).filter(|&point| missing[point] >> q & 1 == 0);
        for point in shown {
            for &row in &points.rows[point] {
                let code = data.quasi_codes(row as usize)[q];
                lost += losses[code as usize] * data.weight(row as usize) as f64;
            }
        }
    }
    Ok(lost)
}
