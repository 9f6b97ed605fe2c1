//! Kullback–Leibler divergence of the original from what a reader reconstructs.
//!
//! Paper: `kifer2006`, section on utility, for measuring releases by it; `kullback1951` for the quantity. With p the
//! original's distribution and q the reconstructed one, `Σ p ln (p / q)`, in nats.
//!
//! A leaf without records in the original adds nothing. A leaf with records to which the release gives no probability,
//! because all who had it were suppressed, makes the divergence infinite; [`super::total_variation`] stays finite.
//!
//! Where we differ: the paper reconstructs by maximum entropy from several marginals, here one table is spread evenly.

use incrowd_core::Better;

use super::{Card, ColumnFigure, Layout};

pub(super) const CARD: Card = Card {
    name: "kl_divergence",
    paper: "kifer2006",
    about: "Kullback-Leibler divergence in nats: how surprised somebody who reconstructed a column, or a pair of columns, \
            from the release would be by the original. The records of a cell are spread evenly over the values it \
            covers. 0 is the original; there is no upper end.",
    limits: "It is infinite as soon as one value has been lost altogether, and it does not know which values are near each \
             other. For numbers the records are spread over the values that occur, which a reader does not know, so gaps \
             in a column cost nothing here.",
    better: Better::Lower,
    usual: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: Some(ColumnFigure {
        heading: "kl",
        of: |column| kl_divergence(&column.original, &column.reconstructed),
    }),
    measure: None,
};

/// `Σ p ln (p / q)`; infinite if q is 0 where p is not.
pub(super) fn kl_divergence(original: &[f64], reconstructed: &[f64]) -> f64 {
    let terms = original.iter().zip(reconstructed).filter(|(p, _)| **p > 0.0);
    let sum: f64 = terms.map(|(p, q)| if *q > 0.0 { p * (p / q).ln() } else { f64::INFINITY }).sum();
    // It cannot be negative; what is left of rounding could be.
    sum.max(0.0)
}

/// How many leaves have records in the original and no probability in the reconstruction.
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
