//! Features of cells for the learner.
//!
//! A cell of a numeric column is represented by its midpoint. Its width is omitted: original values
//! have no width, so a tree that used it could not be applied to them. A cell of another column is
//! represented by its shares in each bin. For an original value one share is 1.

use super::super::bins::Bins;
use super::super::comparison::{Comparison, Line};
use super::super::cover::Cover;

/// The features of every cell of the release and of every leaf of the original, by
/// quasi-identifier.
pub(super) struct Encoder {
    /// Number of features of a record.
    pub(super) width: usize,
    /// Features of each distinct cell, by quasi-identifier.
    pub(super) cells: Vec<Vec<Vec<f64>>>,
    /// Features of each leaf, by quasi-identifier.
    pub(super) leaves: Vec<Vec<Vec<f64>>>,
}

impl Encoder {
    pub(super) fn new(comparison: &Comparison) -> Encoder {
        let mut encoder = Encoder { width: 0, cells: Vec::new(), leaves: Vec::new() };
        for line in &comparison.lines[..comparison.quasi] {
            let bins = Bins::new(line);
            let of = |cover: &Cover| features(line, &bins, cover);
            let leaf = |leaf: u32| {
                let number = line.numbers.as_ref().and_then(|n| n.get(leaf as usize).copied());
                of(&Cover::leaf(leaf, number))
            };
            let leaves: Vec<Vec<f64>> = (0..line.leaves).map(leaf).collect();
            encoder.width += leaves.first().map_or(0, Vec::len);
            encoder.leaves.push(leaves);
            encoder.cells.push(line.covers.iter().map(of).collect());
        }
        encoder
    }
}

fn features(line: &Line, bins: &Bins, cover: &Cover) -> Vec<f64> {
    if line.numbers.is_none() {
        let mut shares = vec![0.0; bins.count()];
        bins.shares(cover).into_iter().for_each(|(bin, share)| shares[bin] += share);
        return shares;
    }
    let (lo, hi) = cover.extent.unwrap_or(line.range);
    let mut features = vec![(lo + hi) / 2.0];
    if let Some(leaf) = line.missing {
        features.push(f64::from(cover.overlap((leaf, leaf))) / f64::from(cover.leaves()));
    }
    features
}
