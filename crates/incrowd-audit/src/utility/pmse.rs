//! Propensity score mean squared error: how well original and release can be distinguished.
//!
//! Paper: `snoke2018`. The records of both tables are combined, and a logistic regression learns to
//! which table each belongs. With c the share of the release's records and p the predicted
//! probability of each record, pMSE is the mean of (p − c)². It is 0 if the tables cannot be
//! distinguished, and c (1 − c) if they can be separated completely. The ratio to the expected
//! value under pure chance, (parameters − 1) (1 − c)² c / records, is reported too.
//!
//! Where we differ: a cell that covers several values has the mean of their features, because the
//! original value is not known. Numeric columns also contribute their squares. Other columns
//! contribute one feature per value if they have at most 24 values. A small ridge penalty prevents
//! the regression from diverging.

use incrowd_core::text::{Block, number};
use incrowd_core::{Better, Progress};
use serde_json::{Value as Json, json};

use super::comparison::{Comparison, Line};
use super::cover::Cover;
use super::numbers::{WeightedNumbers, middles};
use super::{Card, Layout, Measured};

/// Maximum number of values of a text column. Columns with more values are excluded.
const MOST_VALUES: u32 = 24;

/// Maximum number of steps of Newton's method, and the ridge penalty.
const STEPS: usize = 80;
const RIDGE: f64 = 1e-5;

pub(super) const CARD: Card = Card {
    name: "pmse",
    paper: "snoke2018",
    about: "Propensity score mean squared error: how well a logistic regression distinguishes \
            records of the release from records of the original. 0 if it cannot, at most 0.25. The \
            ratio to the expected value under pure chance is reported too; a ratio below about 10 \
            is good.",
    limits: "Only main effects and squares: differences in the relations between columns are not \
             detected. Cells that cover several values count as their mean, so narrow ranges look \
             like the original. Text columns with more than 24 values are excluded.",
    better: Better::Lower,
    by_default: false,
    fits: &[Layout::OneTable],
    reads_means: true,
    of_column: None,
    measure: Some(|comparison, _, progress| {
        Ok(pmse(comparison, progress).map(|found| Box::new(found) as Box<dyn Measured>))
    }),
};

/// How well original and release can be distinguished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pmse {
    /// The mean squared error.
    pub pmse: f64,
    /// The error divided by its expected value under pure chance.
    pub ratio: f64,
    /// Number of parameters of the regression.
    pub parameters: u64,
}

impl Measured for Pmse {
    fn score(&self) -> Option<f64> {
        Some(self.pmse)
    }

    fn public_json(&self) -> Json {
        json!({ "pmse": self.pmse, "ratio_to_chance": self.ratio, "parameters": self.parameters })
    }

    fn public_text(&self) -> Vec<Block> {
        vec![Block::line(format!(
            "pMSE {}, {} times the value expected by chance",
            number(self.pmse),
            number(self.ratio)
        ))]
    }
}

/// Contribution of a column to the features of a record.
enum Features {
    /// The standard score and its square, for each leaf and each cell.
    Numbers { leaves: Vec<[f64; 2]>, cells: Vec<[f64; 2]> },
    /// An indicator of each leaf except the first. For each cell, the shares of the leaves.
    Values { leaves: usize, cells: Vec<Vec<f64>> },
}

impl Features {
    fn of(line: &Line) -> Option<Features> {
        if let Some(numbers) = &line.numbers {
            let sample = WeightedNumbers::original(line)?;
            let (mean, deviation) = (sample.mean(), sample.variance().sqrt());
            if deviation.is_nan() || deviation <= 0.0 {
                return None;
            }
            let score = |x: f64| (x - mean) / deviation;
            let own = |x: Option<f64>| x.map_or([0.0, 1.0], |x| [score(x), score(x) * score(x)]);
            let leaves =
                (0..line.leaves as usize).map(|leaf| own(numbers.get(leaf).copied())).collect();
            let squares = |cover: &Cover| {
                let spans = cover.spans().iter().flat_map(|&(lo, hi)| lo as usize..=hi as usize);
                let within: Vec<f64> =
                    spans.filter_map(|leaf| numbers.get(leaf)).map(|&x| score(x).powi(2)).collect();
                within.iter().sum::<f64>() / within.len().max(1) as f64
            };
            let cell = |(cover, middle): (&Cover, Option<f64>)| match (middle, cover.width) {
                (Some(x), Some(0.0)) => own(Some(x)),
                (Some(x), _) => [score(x), squares(cover)],
                (None, _) => own(None),
            };
            let cells = line.covers.iter().zip(middles(line)?).map(cell).collect();
            return Some(Features::Numbers { leaves, cells });
        }
        if line.leaves < 2 || line.leaves > MOST_VALUES {
            return None;
        }
        let leaves = line.leaves as usize;
        let shares = |cover: &Cover| {
            let mut shares = vec![0.0; leaves - 1];
            for &(lo, hi) in cover.spans() {
                (lo.max(1)..=hi)
                    .for_each(|leaf| shares[leaf as usize - 1] = 1.0 / f64::from(cover.leaves()));
            }
            shares
        };
        Some(Features::Values { leaves, cells: line.covers.iter().map(shares).collect() })
    }

    fn leaf(&self, leaf: u32, out: &mut Vec<f64>) {
        match self {
            Features::Numbers { leaves, .. } => out.extend(leaves[leaf as usize]),
            Features::Values { leaves, .. } => {
                out.extend((1..*leaves).map(|own| f64::from(u8::from(own == leaf as usize))))
            }
        }
    }

    fn cell(&self, cell: u32, out: &mut Vec<f64>) {
        match self {
            Features::Numbers { cells, .. } => out.extend(cells[cell as usize]),
            Features::Values { cells, .. } => out.extend(&cells[cell as usize]),
        }
    }
}

/// Records with equal features. The first feature is constant.
struct Example {
    features: Vec<f64>,
    released: bool,
    records: f64,
}

fn examples(comparison: &Comparison) -> Vec<Example> {
    let features: Vec<Option<Features>> = comparison.lines.iter().map(Features::of).collect();
    let known =
        || features.iter().enumerate().filter_map(|(line, own)| Some((line, own.as_ref()?)));
    let mut all = Vec::new();
    for row in 0..comparison.counts.len() {
        let mut own = vec![1.0];
        known().for_each(|(line, features)| features.leaf(comparison.leaves[line][row], &mut own));
        all.push(Example {
            features: own,
            released: false,
            records: comparison.counts[row] as f64,
        });
    }
    for group in &comparison.groups {
        for (rest, records) in &group.rest {
            let mut own = vec![1.0];
            for (line, features) in known() {
                let cell = line
                    .checked_sub(comparison.quasi)
                    .map_or_else(|| group.cells[line], |at| rest[at]);
                features.cell(cell, &mut own);
            }
            all.push(Example { features: own, released: true, records: *records as f64 });
        }
    }
    all
}

/// Computes the propensity score mean squared error. Returns `None` if there are no features or one
/// table is empty.
pub fn pmse(comparison: &Comparison, progress: &dyn Progress) -> Option<Pmse> {
    progress.step("propensity", None);
    let all = examples(comparison);
    let parameters = all.first()?.features.len();
    let records: f64 = all.iter().map(|example| example.records).sum();
    let share = all.iter().filter(|e| e.released).map(|e| e.records).sum::<f64>() / records;
    if parameters < 2 || !(share > 0.0 && share < 1.0) {
        return None;
    }
    let weights = regression(&all, parameters);
    let squared =
        |example: &Example| (chance(&weights, &example.features) - share).powi(2) * example.records;
    let pmse = all.iter().map(squared).sum::<f64>() / records;
    let expected = (parameters - 1) as f64 * (1.0 - share).powi(2) * share / records;
    Some(Pmse { pmse, ratio: pmse / expected, parameters: parameters as u64 })
}

fn chance(weights: &[f64], features: &[f64]) -> f64 {
    let score: f64 = weights.iter().zip(features).map(|(w, x)| w * x).sum();
    1.0 / (1.0 + (-score.clamp(-35.0, 35.0)).exp())
}

/// Fits a logistic regression by Newton's method. The length of a step is limited to 4.
fn regression(all: &[Example], parameters: usize) -> Vec<f64> {
    let mut weights = vec![0.0; parameters];
    let records: f64 = all.iter().map(|example| example.records).sum();
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|w| -RIDGE * records * w).collect();
        let mut curvature = vec![0.0; parameters * parameters];
        for example in all {
            let p = chance(&weights, &example.features);
            let (residual, weight) =
                (f64::from(u8::from(example.released)) - p, p * (1.0 - p) * example.records);
            for (a, &x) in example.features.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                gradient[a] += residual * x * example.records;
                let row = &mut curvature[a * parameters..(a + 1) * parameters];
                row.iter_mut()
                    .zip(&example.features)
                    .for_each(|(entry, y)| *entry += weight * x * y);
            }
        }
        (0..parameters).for_each(|a| curvature[a * parameters + a] += RIDGE * records);
        let step = solve(curvature, gradient);
        let length: f64 = step.iter().map(|x| x.abs()).fold(0.0, f64::max);
        weights.iter_mut().zip(&step).for_each(|(w, s)| *w += s * (4.0 / length.max(4.0)));
        if length < 1e-8 {
            break;
        }
    }
    weights
}

/// Solves a linear system with a symmetric positive definite matrix by Gaussian elimination.
fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let width = right.len();
    for pivot in 0..width {
        let own = matrix[pivot * width + pivot];
        for row in pivot + 1..width {
            let factor = matrix[row * width + pivot] / own;
            if factor != 0.0 {
                for column in pivot..width {
                    matrix[row * width + column] -= factor * matrix[pivot * width + column];
                }
                right[row] -= factor * right[pivot];
            }
        }
    }
    for row in (0..width).rev() {
        let known: f64 =
            (row + 1..width).map(|column| matrix[row * width + column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row * width + row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utility::test_tables::{compare, people};
    use incrowd_core::{ColumnSpec, Dataset, Folded, Silent};
    use proptest::prelude::*;

    fn compared(original: &[&str], release: &[&str]) -> Pmse {
        let table = |cells: &[&str]| {
            Folded::from_records(&["x"], cells.iter().map(|cell| vec![Some(*cell)]), true)
        };
        let data = Dataset::encode(table(original), &[&ColumnSpec::default()], &[], "?");
        let data = data.map_err(|e| e.misfit.error).unwrap();
        pmse(&Comparison::new(&data, &table(release), "?", None).unwrap(), &Silent).unwrap()
    }

    #[test]
    fn the_original_cannot_be_distinguished_from_itself() {
        let same = compared(&["a", "b", "b", "c"], &["a", "b", "b", "c"]);
        assert!(same.pmse < 1e-12, "{same:?}");
    }

    #[test]
    fn with_one_text_column_the_scores_are_the_shares_of_its_values() {
        // 1 of 4 records with `a` is released, and 3 of 4 with `b`. The regression fits this
        // exactly.
        let found = compared(&["a", "a", "a", "b"], &["a", "b", "b", "b"]);
        assert!((found.pmse - 0.0625).abs() < 1e-4, "{found:?}");
        assert_eq!(found.parameters, 2);
        assert!((found.ratio - 0.0625 / (0.125 / 8.0)).abs() < 0.01);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn residuals_of_the_fitted_regression_sum_to_zero(people in people()) {
            let comparison = compare(&people);
            let all = examples(&comparison);
            let weights = regression(&all, all[0].features.len());
            let records: f64 = all.iter().map(|e| e.records).sum();
            let residual = |e: &Example| {
                (f64::from(u8::from(e.released)) - chance(&weights, &e.features)) * e.records
            };
            let sum: f64 = all.iter().map(residual).sum();
            prop_assert!((sum - RIDGE * records * weights[0]).abs() < 1e-3 * records, "{sum}");
            let found = pmse(&comparison, &Silent);
            prop_assert_eq!(found.is_some(), all[0].features.len() >= 2);
            prop_assert!(found.is_none_or(|found| (0.0..=0.25).contains(&found.pmse)));
        }
    }
}
