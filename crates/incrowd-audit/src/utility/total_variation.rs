//! Total variation distance between the original and the reconstruction.
//!
//! Paper: `levin2009`, the definition of total variation distance: with p the original's
//! distribution and q the reconstructed one, `½ Σ |p − q|`.

use incrowd_core::Better;

use super::{Card, ColumnFigure, Layout};

pub(super) const CARD: Card = Card {
    name: "total_variation",
    paper: "levin2009",
    about: "Total variation distance: the share of people whose value must be changed to turn the \
            reconstructed column, or pair of columns, into the original. 0 is the original, 1 \
            means disjoint distributions.",
    limits: "All wrong values count equally, near or far. It measures how well a distribution is \
             preserved, not the values of single people.",
    better: Better::Lower,
    by_default: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: Some(ColumnFigure {
        heading: "tv",
        of: |column| total_variation(&column.original, &column.reconstructed),
    }),
    measure: None,
};

/// `½ Σ |p − q|`.
pub(super) fn total_variation(original: &[f64], reconstructed: &[f64]) -> f64 {
    let sum: f64 = original.iter().zip(reconstructed).map(|(p, q)| (p - q).abs()).sum();
    (sum / 2.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(total_variation(&[0.5, 0.5], &[0.5, 0.5]), 0.0);
        assert_eq!(total_variation(&[1.0, 0.0], &[0.0, 1.0]), 1.0);
        assert_eq!(total_variation(&[0.5, 0.5, 0.0], &[0.25, 0.5, 0.25]), 0.25);
    }
}
