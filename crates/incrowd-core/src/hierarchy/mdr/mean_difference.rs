//! The width of the finest cells: the mean difference of the 5 % intervals. Also the bounds of
//! outliers.
//!
//! Paper: `liu-itri`, section III.A. Sort the values, cut them at every 5 %, and average the
//! differences of adjacent cut points. The sum telescopes: for any values it is a twentieth of
//! their range.

/// Distinct values ascending, each with its number of records.
pub type Sample = [(f64, u64)];

/// The number of pieces into which the records are cut.
const PIECES: u64 = 20;

/// The meaning of "the range of each interval".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantile {
    /// The difference of adjacent cut points, as in the paper's pseudo-code.
    #[default]
    Cuts,
    /// The greatest minus the least value within each twentieth of the records, without the gaps
    /// between them.
    Chunk,
}

impl Quantile {
    /// The names in a job file.
    pub const ALL: [(&'static str, Quantile); 2] =
        [("cuts", Quantile::Cuts), ("chunk", Quantile::Chunk)];

    /// The mean difference of a sample; 0 if it is empty.
    pub fn mean_difference(self, sample: &Sample) -> f64 {
        let (Some(first), Some(last)) = (sample.first(), sample.last()) else { return 0.0 };
        match self {
            Quantile::Cuts => (last.0 - first.0) / PIECES as f64,
            Quantile::Chunk => chunks(sample) / PIECES as f64,
        }
    }
}

/// The sum of the ranges within each twentieth of the records.
fn chunks(sample: &Sample) -> f64 {
    let mut upto = Vec::with_capacity(sample.len());
    let mut records = 0u64;
    for (_, count) in sample {
        records += count;
        upto.push(records);
    }
    let value = |rank: u128| sample[upto.partition_point(|&n| u128::from(n) < rank)].0;
    let end = |piece: u64| u128::from(piece) * u128::from(records) / u128::from(PIECES);
    let range = |piece: u64| match (end(piece - 1) + 1, end(piece)) {
        (first, last) if first < last => value(last) - value(first),
        _ => 0.0,
    };
    (1..=PIECES).map(range).sum()
}

/// The interval `(mu - 2 sigma, mu + 2 sigma)` of the mean and the population deviation over all
/// records.
pub fn two_sigma(sample: &Sample) -> (f64, f64) {
    // Squares of greater numbers overflow, so they are scaled.
    let largest = sample.iter().map(|(x, _)| x.abs()).fold(0.0, f64::max);
    if largest > 1e140 {
        let scaled: Vec<(f64, u64)> =
            sample.iter().map(|(x, count)| (x / largest, *count)).collect();
        let (lo, hi) = two_sigma(&scaled);
        return (lo * largest, hi * largest);
    }
    let records: u64 = sample.iter().map(|(_, count)| count).sum();
    let n = records.max(1) as f64;
    let mean = sample.iter().map(|(x, count)| x * *count as f64).sum::<f64>() / n;
    let spread = sample.iter().map(|(x, count)| (x - mean).powi(2) * *count as f64).sum::<f64>();
    let sigma = (spread / n).sqrt();
    (mean - 2.0 * sigma, mean + 2.0 * sigma)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(values: &[i32]) -> Vec<(f64, u64)> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted.chunk_by(|a, b| a == b).map(|same| (f64::from(same[0]), same.len() as u64)).collect()
    }

    /// The definition of the paper.
    fn cut_points(values: &[i32]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let n = sorted.len();
        let cut = |j: usize| sorted[if j == 0 { 0 } else { (j * n).div_ceil(20) - 1 }];
        (1..=20).map(|j| f64::from(cut(j) - cut(j - 1))).sum::<f64>() / 20.0
    }

    proptest! {
        #[test]
        fn the_mean_difference_is_a_twentieth_of_the_range(
            values in prop::collection::vec(-500i32..500, 1..200),
        ) {
            let fast = Quantile::Cuts.mean_difference(&sample(&values));
            prop_assert!((fast - cut_points(&values)).abs() < 1e-9);
        }

        #[test]
        fn chunks_are_ranges_within_twentieths(
            values in prop::collection::vec(-50i32..50, 1..120),
        ) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let n = sorted.len();
            let chunk = |j: usize| &sorted[(j - 1) * n / 20..j * n / 20];
            let ends = |c: &[i32]| c.last().copied().zip(c.first().copied());
            let range = |c: &[i32]| ends(c).map_or(0.0, |(hi, lo)| f64::from(hi - lo));
            let slow = (1..=20).map(|j| range(chunk(j))).sum::<f64>() / 20.0;
            let fast = Quantile::Chunk.mean_difference(&sample(&values));
            prop_assert!((fast - slow).abs() < 1e-9 && fast <= cut_points(&values) + 1e-9);
        }
    }

    #[test]
    fn an_empty_sample_has_no_difference() {
        assert_eq!(Quantile::Cuts.mean_difference(&[]), 0.0);
    }
}
