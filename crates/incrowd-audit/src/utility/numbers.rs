//! The numbers of a column in the original and in the release, with counts. A user of the release
//! distributes a cell evenly over the original values that it covers. A cell with a single number,
//! which may be a mean, counts as this number.

use super::comparison::Line;
use super::cover::Cover;

/// Numbers in ascending order with their numbers of records, which may be fractions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WeightedNumbers {
    values: Vec<(f64, f64)>,
    pub(super) records: f64,
}

impl WeightedNumbers {
    fn new(mut values: Vec<(f64, f64)>) -> WeightedNumbers {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let records = values.iter().map(|value| value.1).sum();
        WeightedNumbers { values, records }
    }

    /// Returns the numbers of the original. `None` if the column is not numeric.
    pub(super) fn original(line: &Line) -> Option<WeightedNumbers> {
        let numbers = line.numbers.as_ref()?.iter().zip(&line.counts);
        Some(WeightedNumbers::new(numbers.map(|(&x, &n)| (x, n as f64)).collect()))
    }

    /// Returns the numbers reconstructed from the release. `None` if the column is not numeric.
    pub(super) fn released(line: &Line) -> Option<WeightedNumbers> {
        let numbers = line.numbers.as_ref()?;
        let mut values = Vec::new();
        for (cover, &records) in line.covers.iter().zip(&line.published) {
            let shown = shown(cover, numbers);
            let each = records as f64 / shown.len().max(1) as f64;
            values.extend(shown.into_iter().map(|x| (x, each)));
        }
        Some(WeightedNumbers::new(values))
    }

    pub(super) fn mean(&self) -> f64 {
        self.values.iter().map(|(x, n)| x * n).sum::<f64>() / self.records
    }

    /// Returns the population variance.
    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean();
        self.values.iter().map(|(x, n)| (x - mean) * (x - mean) * n).sum::<f64>() / self.records
    }

    /// Returns the least number with at least this share of the records at or below it.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        // Shares are sums of fractions. The tolerance compensates rounding errors.
        let need = self.records * share * (1.0 - 1e-12);
        let mut below = 0.0;
        let reached = self.values.iter().find(|(_, n)| {
            below += n;
            below >= need
        });
        reached.or(self.values.last()).map_or(f64::NAN, |value| value.0)
    }
}

/// Returns the possible numbers of a cell. The list is empty for a missing value.
fn shown(cover: &Cover, numbers: &[f64]) -> Vec<f64> {
    if let (Some((x, _)), Some(0.0)) = (cover.extent, cover.width) {
        return vec![x];
    }
    let within = |&(lo, hi): &(u32, u32)| {
        let last = (hi as usize + 1).min(numbers.len());
        numbers[(lo as usize).min(last)..last].iter().copied()
    };
    cover.spans().iter().flat_map(within).collect()
}

/// Returns the mean of a release if every range counts as its midpoint. It can be computed from the
/// release alone.
pub(super) fn mean_of_middles(line: &Line) -> Option<f64> {
    let numbers = line.numbers.as_ref()?;
    let (mut sum, mut all) = (0.0, 0.0);
    for (cover, &records) in line.covers.iter().zip(&line.published) {
        let shown = shown(cover, numbers);
        let middle = match cover.extent {
            Some((lo, hi)) => lo / 2.0 + hi / 2.0,
            None if shown.is_empty() => continue,
            None => shown.iter().sum::<f64>() / shown.len() as f64,
        };
        sum += middle * records as f64;
        all += records as f64;
    }
    (all > 0.0).then(|| sum / all)
}

/// Returns the mean of the possible numbers of each cell. `None` for a missing value.
pub(super) fn middles(line: &Line) -> Option<Vec<Option<f64>>> {
    let numbers = line.numbers.as_ref()?;
    let middle = |cover: &Cover| {
        let shown = shown(cover, numbers);
        (!shown.is_empty()).then(|| shown.iter().sum::<f64>() / shown.len() as f64)
    };
    Some(line.covers.iter().map(middle).collect())
}
