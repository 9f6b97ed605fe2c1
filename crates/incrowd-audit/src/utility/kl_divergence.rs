//! Kullback–Leibler divergence of the original from the reconstruction.
//!
//! Paper: `kifer2006`, section on utility, for its use with releases; `kullback1951` for the
//! quantity. With p the original's distribution and q the reconstructed one, it is `Σ p ln (p /
//! q)`, in nats.
//!
//! A leaf without records in the original adds nothing. If a leaf with records has probability 0 in
//! the release, because all its records were suppressed, the divergence is infinite.
//! [`super::total_variation`] stays finite.
//!
//! Where we differ: the paper reconstructs by maximum entropy from several marginals. Here the
//! records of one table are distributed evenly.

use incrowd_core::Better;

use super::{Card, ColumnFigure, Layout};

pub(super) const CARD: Card = Card {
    name: "kl_divergence",
    paper: "kifer2006",
    about: "Kullback-Leibler divergence in nats of the original from the column, or pair of \
            columns, that is reconstructed from the release. The records of a cell are distributed \
            evenly over its values. 0 is the original; there is no upper limit.",
    limits: "It is infinite if a value is lost completely, and it ignores distances between \
             values. The records of a numeric range are distributed over the values that occur in \
             the original, which users of the release do not know, so gaps between values cost \
             nothing.",
    better: Better::Lower,
    by_default: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: Some(ColumnFigure {
        heading: "kl",
        of: |column| kl_divergence(&column.original, &column.reconstructed),
    }),
    measure: None,
};

/// Returns `Σ p ln (p / q)`. It is infinite if q is 0 where p is not.
pub(super) fn kl_divergence(original: &[f64], reconstructed: &[f64]) -> f64 {
    let terms = original.iter().zip(reconstructed).filter(|(p, _)| **p > 0.0);
    let sum: f64 =
        terms.map(|(p, q)| if *q > 0.0 { p * (p / q).ln() } else { f64::INFINITY }).sum();
    // The sum is never negative, except for rounding errors.
    sum.max(0.0)
}

/// Returns the number of leaves with records in the original and probability 0 in the
/// reconstruction.
pub(super) fn lost(original: &[f64], reconstructed: &[f64]) -> u64 {
    original.iter().zip(reconstructed).filter(|(p, q)| **p > 0.0 && **q <= 0.0).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(kl_divergence(&[0.5, 0.5], &[0.5, 0.5]), 0.0);
        assert_eq!(kl_divergence(&[1.0, 0.0], &[0.5, 0.5]), 2.0_f64.ln());
        assert_eq!(kl_divergence(&[0.5, 0.5], &[1.0, 0.0]), f64::INFINITY);
        assert_eq!(lost(&[0.5, 0.5, 0.0], &[1.0, 0.0, 0.0]), 1);
    }
}
