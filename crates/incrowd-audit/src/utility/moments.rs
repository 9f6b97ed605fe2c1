//! Means, deviations and quantiles of numeric columns, before and after.
//!
//! Paper: `karr2006`, the overlap of confidence intervals. For the 95 % confidence intervals of the
//! mean before and after, it is the average of the shares of each interval that are in both. It is
//! 1 for equal intervals and 0 for disjoint ones.
//!
//! Where we differ: the overlap of disjoint intervals is 0, not negative.

use incrowd_core::Better;
use incrowd_core::text::{Block, number};
use serde_json::{Value as Json, json};

use super::comparison::Comparison;
use super::numbers::{WeightedNumbers, mean_of_middles};
use super::{Card, Layout, Measured};

pub(super) const CARD: Card = Card {
    name: "moments",
    paper: "karr2006",
    about: "For every numeric column: the shift of the mean in standard deviations, the ratio of \
            the deviations after and before, and the overlap of the 95 % confidence intervals of \
            the mean. An overlap of 1 is the original, 0 means disjoint intervals. The data owner \
            also sees means, deviations and quartiles.",
    limits: "Columns are considered separately. A range counts as all original values in it with \
             equal shares. The true shares may differ, so the mean after differs from the mean \
             before, and from the mean of the midpoints of the ranges, which the data owner sees \
             too. Means of groups have the right mean and too little deviation.",
    better: Better::Higher,
    by_default: true,
    fits: &[Layout::OneTable],
    reads_means: true,
    of_column: None,
    measure: Some(|comparison, _, _| {
        let columns = moments(comparison);
        Ok((!columns.is_empty()).then(|| Box::new(Moments(columns)) as Box<dyn Measured>))
    }),
};

/// Mean, standard deviation and quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryStatistics {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The lower quartile, the median and the upper quartile.
    pub quartiles: [f64; 3],
}

impl SummaryStatistics {
    fn of(sample: &WeightedNumbers) -> SummaryStatistics {
        SummaryStatistics {
            mean: sample.mean(),
            deviation: sample.variance().sqrt(),
            quartiles: [0.25, 0.5, 0.75].map(|share| sample.quantile(share)),
        }
    }

    fn to_json(self) -> Json {
        json!({ "mean": self.mean, "deviation": self.deviation, "quartiles": self.quartiles })
    }
}

/// Statistics of a numeric column before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMoments {
    /// Name of the column.
    pub name: String,
    /// Statistics of the original.
    pub before: SummaryStatistics,
    /// Statistics of the reconstruction from the release.
    pub after: SummaryStatistics,
    /// Overlap of the confidence intervals of the mean.
    pub overlap: f64,
    /// Mean of the release if every range counts as its midpoint.
    pub mean_of_middles: f64,
}

impl ColumnMoments {
    /// Returns the shift of the mean, in standard deviations of the original.
    pub fn shift(&self) -> f64 {
        let moved = (self.after.mean - self.before.mean).abs();
        if self.before.deviation > 0.0 { moved / self.before.deviation } else { moved }
    }

    /// Returns the ratio of the deviations after and before.
    pub fn deviation_ratio(&self) -> f64 {
        if self.before.deviation > 0.0 { self.after.deviation / self.before.deviation } else { 1.0 }
    }
}

/// Statistics of all numeric columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments(pub Vec<ColumnMoments>);

impl Measured for Moments {
    /// Returns the mean overlap.
    fn score(&self) -> Option<f64> {
        Some(self.0.iter().map(|column| column.overlap).sum::<f64>() / self.0.len().max(1) as f64)
    }

    fn public_json(&self) -> Json {
        let column = |c: &ColumnMoments| {
            json!({
                "column": c.name,
                "mean_shift": c.shift(),
                "deviation_ratio": c.deviation_ratio(),
                "confidence_overlap": c.overlap,
            })
        };
        self.0.iter().map(column).collect()
    }

    fn private_json(&self) -> Option<(&'static str, Json)> {
        let column = |c: &ColumnMoments| {
            let (before, after) = (c.before.to_json(), c.after.to_json());
            json!({
                "column": c.name,
                "before": before,
                "after": after,
                "mean_of_middles": c.mean_of_middles,
            })
        };
        Some(("moments", self.0.iter().map(column).collect()))
    }

    fn public_text(&self) -> Vec<Block> {
        let head =
            ["numbers", "mean moved", "deviation kept", "overlap"].map(str::to_owned).to_vec();
        let row = |c: &ColumnMoments| {
            vec![c.name.clone(), number(c.shift()), number(c.deviation_ratio()), number(c.overlap)]
        };
        vec![
            Block::line(""),
            Block::Table(std::iter::once(head).chain(self.0.iter().map(row)).collect()),
        ]
    }

    fn private_text(&self) -> Vec<Block> {
        let head = [
            "numbers",
            "mean before",
            "after",
            "of middles",
            "deviation before",
            "after",
            "quartiles before",
            "after",
        ];
        let quartiles = |d: &SummaryStatistics| d.quartiles.map(number).join(" ");
        let row = |c: &ColumnMoments| {
            let (a, b) = (&c.before, &c.after);
            vec![
                c.name.clone(),
                number(a.mean),
                number(b.mean),
                number(c.mean_of_middles),
                number(a.deviation),
                number(b.deviation),
                quartiles(a),
                quartiles(b),
            ]
        };
        let head = head.map(str::to_owned).to_vec();
        let table = Block::Table(std::iter::once(head).chain(self.0.iter().map(row)).collect());
        let differ = |c: &ColumnMoments| {
            (c.after.mean - c.mean_of_middles).abs() > 1e-9 * c.after.mean.abs()
        };
        let mut blocks = vec![Block::line(""), table];
        if self.0.iter().any(differ) {
            blocks.push(Block::line(
                " after: a range counts as all original values in it with equal shares; of \
                 middles: as its midpoint",
            ));
        }
        blocks
    }
}

/// Returns the statistics of all numeric columns.
pub fn moments(comparison: &Comparison) -> Vec<ColumnMoments> {
    let of_line = |line| {
        let (before, after) = (WeightedNumbers::original(line)?, WeightedNumbers::released(line)?);
        if before.records == 0.0 || after.records == 0.0 {
            return None;
        }
        let overlap = overlap(&before, &after);
        let (name, mean_of_middles) = (line.name.clone(), mean_of_middles(line)?);
        let (before, after) = (SummaryStatistics::of(&before), SummaryStatistics::of(&after));
        Some(ColumnMoments { name, before, after, overlap, mean_of_middles })
    };
    comparison.lines.iter().filter_map(of_line).collect()
}

/// Returns the average of the shares of two confidence intervals that are in both.
fn overlap(before: &WeightedNumbers, after: &WeightedNumbers) -> f64 {
    let interval = |sample: &WeightedNumbers| {
        let half = 1.96 * (sample.variance() / sample.records).sqrt();
        (sample.mean() - half, sample.mean() + half)
    };
    let (a, b) = (interval(before), interval(after));
    let common = a.1.min(b.1) - a.0.max(b.0);
    let share = |(lo, hi): (f64, f64)| {
        if hi > lo { common / (hi - lo) } else { f64::from(u8::from(common >= 0.0)) }
    };
    if common < 0.0 { 0.0 } else { (share(a) + share(b)).min(2.0) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utility::test_tables::{QUASI, admits, compare, ends, people};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moments_equal_those_of_the_records(people in people()) {
            let found = moments(&compare(&people));
            prop_assert_eq!(found.len(), 1, "age is the only number of {} columns", QUASI + 1);
            let mean = |of: &[(f64, f64)]| {
                let n: f64 = of.iter().map(|x| x.1).sum();
                let mean = of.iter().map(|x| x.0 * x.1).sum::<f64>() / n;
                (mean, (of.iter().map(|x| (x.0 - mean).powi(2) * x.1).sum::<f64>() / n).sqrt())
            };
            let before: Vec<(f64, f64)> =
                people.iter().map(|p| (p.values[0].parse().unwrap(), 1.0)).collect();
            let released = || people.iter().filter_map(|p| p.cells.as_ref());
            let values = |cells: &[String; 4]| {
                let all = admits(&people, 0, &cells[0]);
                let each = 1.0 / all.len() as f64;
                all.into_iter().map(move |x| (x.parse().unwrap(), each))
            };
            let after: Vec<(f64, f64)> = released().flat_map(values).collect();
            for (described, records) in [(found[0].before, before), (found[0].after, after)] {
                let (middle, deviation) = mean(&records);
                prop_assert!((described.mean - middle).abs() < 1e-9);
                prop_assert!((described.deviation - deviation).abs() < 1e-6);
                let mut sorted = records.clone();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                let all: f64 = records.iter().map(|r| r.1).sum();
                let below = |x: f64| {
                    records.iter().filter(|r| r.0 <= x).map(|r| r.1).sum::<f64>() / all
                };
                let median = sorted.iter().map(|r| r.0).find(|&x| below(x) >= 0.5 - 1e-9).unwrap();
                prop_assert_eq!(described.quartiles[1], median);
            }
            prop_assert!((0.0..=1.0).contains(&found[0].overlap));
            let ages = || people.iter().map(|p| p.values[0].parse::<f64>().unwrap());
            let whole = (ages().fold(f64::MAX, f64::min), ages().fold(f64::MIN, f64::max));
            let middles: Vec<f64> = released().map(|cells| {
                let (lo, hi) = if cells[0] == "*" { whole } else { ends(&cells[0]) };
                (lo + hi) / 2.0
            }).collect();
            let middle = middles.iter().sum::<f64>() / middles.len() as f64;
            prop_assert!((found[0].mean_of_middles - middle).abs() < 1e-9);
        }
    }
}
