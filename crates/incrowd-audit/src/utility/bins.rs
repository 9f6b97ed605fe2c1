//! Bins of leaves: at most 32 bins of consecutive leaves with similar numbers of records of the
//! original.

use super::comparison::Line;
use super::cover::Cover;

/// Maximum number of bins of a column. A pair of columns has at most the square of it, so most bins
/// of a large table are not empty.
pub(crate) const MOST: u32 = 32;

/// The bin of each leaf.
pub(crate) struct Bins {
    of_leaf: Vec<u32>,
    count: usize,
}

impl Bins {
    /// Creates one bin per leaf if there are few leaves, else quantiles of the original's records.
    /// Leaves are not divided, so frequent values get their own bins and there may be fewer bins.
    pub(crate) fn new(line: &Line) -> Bins {
        if line.leaves <= MOST {
            return Bins { of_leaf: (0..line.leaves).collect(), count: line.leaves as usize };
        }
        let records: u64 = line.counts.iter().sum();
        let mut before = 0u64;
        let mut quantile = None;
        let mut count = 0;
        let bin = |&n: &u64| {
            let own = u128::from(before) * u128::from(MOST) / u128::from(records.max(1));
            before += n;
            if quantile != Some(own) {
                quantile = Some(own);
                count += 1;
            }
            count - 1
        };
        let of_leaf: Vec<u32> = line.counts.iter().map(bin).collect();
        Bins { of_leaf, count: count as usize }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn of(&self, leaf: u32) -> usize {
        self.of_leaf[leaf as usize] as usize
    }

    /// Returns the bins that overlap with a cell, with their shares of the cell's leaves.
    pub(crate) fn shares(&self, cover: &Cover) -> Vec<(usize, f64)> {
        let mut leaves: Vec<(usize, u32)> = Vec::new();
        for &(lo, hi) in cover.spans() {
            for leaf in lo..=hi {
                let bin = self.of(leaf);
                match leaves.last_mut() {
                    Some((last, count)) if *last == bin => *count += 1,
                    _ => leaves.push((bin, 1)),
                }
            }
        }
        leaves.into_iter().map(|(bin, n)| (bin, f64::from(n) / f64::from(cover.leaves()))).collect()
    }
}
