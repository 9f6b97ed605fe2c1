//! Generalizing and leaving out, whichever costs less: columns rise to a level of their hierarchies as long as that saves more in
//! missing cells than it loses in all others.

use incrowd_core::{Code, Dataset, Domain, Progress, Result};

use super::points::Points;
use super::{LocalSuppression, cost, search};

/// The level of each quasi-identifier at which it is published, or not at all.
pub fn cheapest_levels(
    data: &Dataset,
    asked: &LocalSuppression,
    progress: &dyn Progress,
) -> Result<Vec<usize>> {
    progress.step("looking for levels", None);
    let mut levels = vec![0; data.quasi().len()];
    let mut best = loss(data, asked, &levels)?;
    loop {
        let mut found: Option<(f64, usize)> = None;
        for (q, quasi) in data.quasi().iter().enumerate() {
            // The highest level says as little as a missing cell.
            if levels[q] + 2 >= quasi.domain.levels() {
                continue;
            }
            let mut higher = levels.clone();
            higher[q] += 1;
            let loss = loss(data, asked, &higher)?;
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

/// What is lost at these levels, weighed by column: by generalizing, and by cells that are missing before any come back.
fn loss(data: &Dataset, asked: &LocalSuppression, levels: &[usize]) -> Result<f64> {
    let lines: Result<Vec<Domain>> =
        data.quasi().iter().zip(levels).map(|(quasi, &level)| quasi.domain.or_missing(level)).collect();
    let made = data.clone().with_domains(lines?);
    let points = Points::new(&made);
    let prices = asked.prices(&made);
    let Ok(missing) = search::begin(&points, asked.least, &prices) else { return Ok(f64::INFINITY) };
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
