//! Correlations of numeric columns, and the eigenvalues of their matrix, before and after.
//!
//! Paper: `templ2015`, the difference of eigenvalues as a measure of utility. Both are correlation
//! matrices, so that all columns count equally. The score is the mean difference of correlations.
//!
//! Where we differ: records are not linked. The matrix after is that of the reconstruction: each
//! cell contributes its mean, and the deviations around the means are independent.

use incrowd_core::Better;
use incrowd_core::text::{Block, number};
use serde_json::{Value as Json, json};

use super::comparison::Comparison;
use super::eigen::eigenvalues;
use super::numbers::{WeightedNumbers, middles};
use super::{Card, Layout, Measured};

pub(super) const CARD: Card = Card {
    name: "correlations",
    paper: "templ2015",
    about: "The mean and the greatest difference between the correlations of numeric columns \
            before and after, and the mean difference between the eigenvalues of their matrices. 0 \
            is the original.",
    limits: "Only linear relations between numbers; `association` covers all columns. Wide cells \
             weaken correlations, means of groups strengthen them.",
    better: Better::Lower,
    by_default: true,
    fits: &[Layout::OneTable],
    reads_means: true,
    of_column: None,
    measure: Some(|comparison, _, _| {
        Ok(correlations(comparison).map(|found| Box::new(found) as Box<dyn Measured>))
    }),
};

/// Correlation matrices before and after, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlations {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Matrix of the original.
    pub before: Vec<f64>,
    /// Matrix of the reconstruction.
    pub after: Vec<f64>,
    /// Mean difference of the correlations of two columns.
    pub mean_difference: f64,
    /// Greatest difference.
    pub greatest_difference: f64,
    /// Mean difference of eigenvalues, whose mean is 1.
    pub eigenvalues: f64,
}

impl Measured for Correlations {
    fn score(&self) -> Option<f64> {
        Some(self.mean_difference)
    }

    fn public_json(&self) -> Json {
        json!({
            "columns": self.columns,
            "mean_difference": self.mean_difference,
            "greatest_difference": self.greatest_difference,
            "eigenvalue_difference": self.eigenvalues,
        })
    }

    fn private_json(&self) -> Option<(&'static str, Json)> {
        Some(("correlations", json!({ "before": self.before, "after": self.after })))
    }

    fn public_text(&self) -> Vec<Block> {
        vec![Block::line(format!(
            "correlations of {} numeric columns differ by {} on average, by {} at most; \
             eigenvalues by {}",
            self.columns.len(),
            number(self.mean_difference),
            number(self.greatest_difference),
            number(self.eigenvalues)
        ))]
    }
}

/// Computes the correlations of all numeric columns that are not constant. Returns `None` if there
/// are fewer than two.
pub fn correlations(comparison: &Comparison) -> Option<Correlations> {
    let varies = |line: usize| {
        WeightedNumbers::original(&comparison.lines[line]).is_some_and(|s| s.variance() > 0.0)
    };
    let lines: Vec<usize> = (0..comparison.lines.len()).filter(|&line| varies(line)).collect();
    if lines.len() < 2 || comparison.groups.is_empty() {
        return None;
    }
    let before = before(comparison, &lines);
    let after = after(comparison, &lines);
    let width = lines.len();
    let pairs = || (0..width).flat_map(|a| (a + 1..width).map(move |b| a * width + b));
    let differences: Vec<f64> = pairs().map(|at| (before[at] - after[at]).abs()).collect();
    let (own, theirs) = (eigenvalues(before.clone(), width), eigenvalues(after.clone(), width));
    Some(Correlations {
        columns: lines.iter().map(|&line| comparison.lines[line].name.clone()).collect(),
        mean_difference: differences.iter().sum::<f64>() / differences.len() as f64,
        greatest_difference: differences.iter().copied().fold(0.0, f64::max),
        eigenvalues: own.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).sum::<f64>()
            / width as f64,
        before,
        after,
    })
}

/// Computes a correlation matrix. A record has one number per column, `None` if it is missing, and
/// a count.
fn matrix(records: &[(Vec<Option<f64>>, f64)], means: &[f64], deviations: &[f64]) -> Vec<f64> {
    let width = means.len();
    let mut sums = vec![(0.0, 0.0); width * width];
    for (values, n) in records {
        for a in 0..width {
            for b in a..width {
                if let (Some(x), Some(y)) = (values[a], values[b]) {
                    let sum = &mut sums[a * width + b];
                    sum.0 += (x - means[a]) * (y - means[b]) * n;
                    sum.1 += n;
                }
            }
        }
    }
    let entry = |i: usize| {
        let (a, b) = ((i / width).min(i % width), (i / width).max(i % width));
        let (sum, n) = sums[a * width + b];
        let scale = deviations[a] * deviations[b] * n;
        match a == b {
            true => 1.0,
            false if scale > 0.0 => (sum / scale).clamp(-1.0, 1.0),
            false => 0.0,
        }
    };
    (0..width * width).map(entry).collect()
}

fn before(comparison: &Comparison, lines: &[usize]) -> Vec<f64> {
    let number = |line: usize, row: usize| {
        let leaf = comparison.leaves[line][row] as usize;
        comparison.lines[line].numbers.as_ref().and_then(|numbers| numbers.get(leaf).copied())
    };
    let record = |row: usize| {
        (lines.iter().map(|&line| number(line, row)).collect(), comparison.counts[row] as f64)
    };
    let records: Vec<(Vec<Option<f64>>, f64)> = (0..comparison.counts.len()).map(record).collect();
    let original = |&line: &usize| WeightedNumbers::original(&comparison.lines[line]);
    let samples: Vec<WeightedNumbers> = lines.iter().filter_map(original).collect();
    standardized(&records, &samples)
}

fn after(comparison: &Comparison, lines: &[usize]) -> Vec<f64> {
    let middles: Vec<Vec<Option<f64>>> =
        lines.iter().filter_map(|&line| middles(&comparison.lines[line])).collect();
    let mut records: Vec<(Vec<Option<f64>>, f64)> = Vec::new();
    for group in &comparison.groups {
        for (rest, n) in &group.rest {
            let cell = |line: usize| match line.checked_sub(comparison.quasi) {
                None => group.cells[line],
                Some(at) => rest[at],
            };
            let values = lines.iter().zip(&middles).map(|(&line, own)| own[cell(line) as usize]);
            records.push((values.collect(), *n as f64));
        }
    }
    let released = |&line: &usize| WeightedNumbers::released(&comparison.lines[line]);
    let samples: Vec<WeightedNumbers> = lines.iter().filter_map(released).collect();
    standardized(&records, &samples)
}

fn standardized(records: &[(Vec<Option<f64>>, f64)], samples: &[WeightedNumbers]) -> Vec<f64> {
    let means: Vec<f64> = samples.iter().map(WeightedNumbers::mean).collect();
    let deviations: Vec<f64> = samples.iter().map(|sample| sample.variance().sqrt()).collect();
    matrix(records, &means, &deviations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::{ColumnSpec, Dataset, Folded};

    fn table(records: &[[&str; 2]]) -> Folded {
        let cells = records.iter().map(|record| record.iter().map(|cell| Some(*cell)).collect());
        Folded::from_records(&["x", "y"], cells, true)
    }

    fn compared(original: &[[&str; 2]], release: &[[&str; 2]]) -> Correlations {
        let spec = ColumnSpec::default();
        let data = Dataset::encode(table(original), &[&spec, &spec], &[], "?")
            .map_err(|e| e.misfit.error)
            .unwrap();
        correlations(&Comparison::new(&data, &table(release), "?", None).unwrap()).unwrap()
    }

    const ORIGINAL: [[&str; 2]; 4] = [["1", "2"], ["2", "1"], ["3", "4"], ["4", "3"]];

    #[test]
    fn the_original_has_no_difference_and_the_expected_correlation() {
        let same = compared(&ORIGINAL, &ORIGINAL);
        assert!(
            (same.before[1] - 0.6).abs() < 1e-12
                && same.mean_difference < 1e-12
                && same.eigenvalues < 1e-12
        );
    }

    #[test]
    fn means_strengthen_and_stars_remove_a_correlation() {
        let means =
            compared(&ORIGINAL, &[["1.5", "1.5"], ["1.5", "1.5"], ["3.5", "3.5"], ["3.5", "3.5"]]);
        assert!((means.after[1] - 1.0).abs() < 1e-12);
        assert!(
            (means.mean_difference - 0.4).abs() < 1e-12 && (means.eigenvalues - 0.4).abs() < 1e-12
        );
        let stars = compared(&ORIGINAL, &[["*", "*"]; 4]);
        assert!(stars.after[1].abs() < 1e-12);
    }
}
