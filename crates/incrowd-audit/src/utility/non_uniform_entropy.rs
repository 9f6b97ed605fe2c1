//! Non-uniform entropy.
//!
//! Paper: `gionis2009`, the non-uniform entropy measure. A cell costs `−log₂ Pr(v | S)`, with v the record's original
//! value, S the values the cell admits, and probabilities those of the original column: what is still unknown of v, in
//! bits, to somebody who knows the cell and the column's distribution.
//!
//! The measure needs the value behind each cell, and a release does not say whose record is whose. But
//! `−log₂ (p(v) / p(S)) = −log₂ p(v) + log₂ p(S)`, and in the sum over all records the first term follows from the
//! original alone, the second from the release alone. So the sum is exact without any link.
//!
//! Where we differ: the paper's sum is divided by what publishing nothing would cost, the column's entropy times the
//! records, so that 0 is the original and 1 is `*` everywhere. A suppressed record costs `−log₂ p(v)`, as if it were
//! published as `*`.

use incrowd_core::Better;
use serde_json::{Value as Json, json};

use super::comparison::{Comparison, Line, within};
use super::{Card, ColumnFigure, Layout, Measured};

pub(super) const CARD: Card = Card {
    name: "non_uniform_entropy",
    paper: "gionis2009",
    about: "Non-uniform entropy: the bits that are missing to tell a record's value from its published cell, knowing how \
            common each value is, as a share of the bits in the column. 0 is the original, 1 says nothing any more. \
            Merging a rare value into a common one costs little, halving a column costs much.",
    limits: "It knows how common values are, not how near they are to each other: [20, 29] costs as much as ten ages drawn \
             at random that are as common. Each column is looked at by itself.",
    better: Better::Lower,
    usual: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: Some(ColumnFigure { heading: "entropy", of: |column| of_line(column.line).share() }),
    measure: Some(|comparison, _, _| Ok(Some(Box::new(non_uniform_entropy(comparison))))),
};

/// What is unknown about values, in bits summed over records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntropyLoss {
    /// The bits that the release leaves open.
    pub bits: f64,
    /// The bits that would be open if nothing were published.
    pub all: f64,
}

impl EntropyLoss {
    /// The share of all bits that is lost; 0 for columns that have none.
    pub fn share(&self) -> f64 {
        // Less than a millionth of a bit per million records is rounding.
        if self.all <= 0.0 || self.bits.abs() <= self.all * 1e-12 { 0.0 } else { self.bits / self.all }
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

/// The loss over all quasi-identifiers together: bits over bits, so a column counts by what it had to tell.
pub fn non_uniform_entropy(comparison: &Comparison) -> EntropyLoss {
    let mut sum = EntropyLoss::default();
    for line in &comparison.lines[..comparison.quasi] {
        let loss = of_line(line);
        sum.bits += loss.bits;
        sum.all += loss.all;
    }
    sum
}

/// The loss of one column.
pub(super) fn of_line(line: &Line) -> EntropyLoss {
    let records: u64 = line.counts.iter().sum();
    let bits = |n: u64| -(n as f64 / records as f64).log2();
    let all = line.counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 * bits(n)).sum();
    let told: f64 = line
        .covers
        .iter()
        .zip(&line.published)
        .map(|(cover, &published)| published as f64 * bits(within(&line.counts, cover)))
        .sum();
    EntropyLoss { bits: all - told, all }
}
