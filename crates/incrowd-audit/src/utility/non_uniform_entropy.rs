//! Non-uniform entropy.
//!
//! Paper: `gionis2009`, the non-uniform entropy measure. A cell costs `−log₂ Pr(v | S)`, where v is
//! the original value, S the set of values of the cell, and the probabilities are those of the
//! original column. This is the remaining uncertainty about v in bits, if the cell and the
//! distribution of the column are known.
//!
//! The measure needs the original value of each cell, but a release does not contain which record
//! belongs to whom. However, `−log₂ (p(v) / p(S)) = −log₂ p(v) + log₂ p(S)`. In the sum over all
//! records, the first term depends only on the original and the second only on the release. The sum
//! is therefore exact without linking records.
//!
//! Where we differ: the paper's sum is divided by its maximum, the column's entropy times the
//! number of records, so that 0 is the original and 1 is `*` in every cell. A suppressed record
//! costs `−log₂ p(v)`, like a record published as `*`.

use incrowd_core::Better;
use serde_json::{Value as Json, json};

use super::comparison::{Comparison, Line, within};
use super::{Card, ColumnFigure, Layout, Measured};

pub(super) const CARD: Card = Card {
    name: "non_uniform_entropy",
    paper: "gionis2009",
    about: "Non-uniform entropy: the bits that are missing to derive a record's value from its \
            published cell, given the frequencies of the values, as a share of all bits of the \
            column. 0 is the original, 1 means no information. Merging a rare value into a \
            frequent one costs little; dividing a column into two halves costs much.",
    limits: "It uses the frequencies of values, not their distances: [20, 29] costs as much as ten \
             random ages with equal frequencies. Columns are considered separately.",
    better: Better::Lower,
    by_default: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: Some(ColumnFigure { heading: "entropy", of: |column| of_line(column.line).share() }),
    measure: Some(|comparison, _, _| Ok(Some(Box::new(non_uniform_entropy(comparison))))),
};

/// Uncertainty about values, in bits, summed over records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntropyLoss {
    /// Uncertainty that remains with the release.
    pub bits: f64,
    /// Uncertainty without a release.
    pub all: f64,
}

impl EntropyLoss {
    /// Returns the share of bits that is lost. It is 0 for columns without entropy.
    pub fn share(&self) -> f64 {
        // Relative differences below 1e-12 are rounding errors.
        if self.all <= 0.0 || self.bits.abs() <= self.all * 1e-12 {
            0.0
        } else {
            self.bits / self.all
        }
    }
}

impl Measured for EntropyLoss {
    fn score(&self) -> Option<f64> {
        Some(self.share())
    }

    fn public_json(&self) -> Json {
        json!(self.share())
    }
}

/// Returns the loss over all quasi-identifiers. Bits are summed, so a column counts by its entropy.
pub fn non_uniform_entropy(comparison: &Comparison) -> EntropyLoss {
    let mut sum = EntropyLoss::default();
    for line in &comparison.lines[..comparison.quasi] {
        let loss = of_line(line);
        sum.bits += loss.bits;
        sum.all += loss.all;
    }
    sum
}

/// Returns the loss of one column.
pub(super) fn of_line(line: &Line) -> EntropyLoss {
    let records: u64 = line.counts.iter().sum();
    let bits = |n: u64| -(n as f64 / records as f64).log2();
    let all = line.counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 * bits(n)).sum();
    let published: f64 = line
        .covers
        .iter()
        .zip(&line.published)
        .map(|(cover, &published)| published as f64 * bits(within(&line.counts, cover)))
        .sum();
    EntropyLoss { bits: all - published, all }
}
