//! A column of numbers before and after, as weighted numbers in order: what a reader takes a cell for is every number it covers with an
//! equal share, or the one number it shows, be it a value or a mean.

use super::comparison::Line;
use super::cover::Cover;

/// Numbers in order with the records, or shares of records, that have each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    values: Vec<(f64, f64)>,
    pub(super) records: f64,
}

impl Sample {
    fn new(mut values: Vec<(f64, f64)>) -> Sample {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let records = values.iter().map(|value| value.1).sum();
        Sample { values, records }
    }

    /// The numbers of the original; `None` if the column has none.
    pub(super) fn original(line: &Line) -> Option<Sample> {
        let numbers = line.numbers.as_ref()?;
        Some(Sample::new(numbers.iter().zip(&line.counts).map(|(&x, &n)| (x, n as f64)).collect()))
    }

    /// The numbers a reader takes the release for.
    pub(super) fn released(line: &Line) -> Option<Sample> {
        let numbers = line.numbers.as_ref()?;
        let mut values = Vec::new();
        for (cover, &records) in line.covers.iter().zip(&line.published) {
            let shown = shown(cover, numbers);
            let each = records as f64 / shown.len().max(1) as f64;
            values.extend(shown.into_iter().map(|x| (x, each)));
        }
        Some(Sample::new(values))
    }

    pub(super) fn mean(&self) -> f64 {
        self.values.iter().map(|(x, n)| x * n).sum::<f64>() / self.records
    }

    /// The mean squared distance to the mean.
    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean();
        self.values.iter().map(|(x, n)| (x - mean) * (x - mean) * n).sum::<f64>() / self.records
    }

    /// The least number that has at least this share of the records at or below it.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        // Shares are sums of fractions: what is missing by rounding alone is not missing.
        let need = self.records * share * (1.0 - 1e-12);
        let mut seen = 0.0;
        let reached = self.values.iter().find(|(_, n)| {
            seen += n;
            seen >= need
        });
        reached.or(self.values.last()).map_or(f64::NAN, |value| value.0)
    }
}

/// The numbers a cell may stand for; none for a missing value.
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

/// What a reader takes each cell for: the mean of what it may stand for; none for a missing value.
pub(super) fn middles(line: &Line) -> Option<Vec<Option<f64>>> {
    let numbers = line.numbers.as_ref()?;
    let middle = |cover: &Cover| {
        let shown = shown(cover, numbers);
        (!shown.is_empty()).then(|| shown.iter().sum::<f64>() / shown.len() as f64)
    };
    Some(line.covers.iter().map(middle).collect())
}
