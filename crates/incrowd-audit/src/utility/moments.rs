//! Means, deviations and quantiles of columns of numbers, before and after.
//!
//! Paper: `karr2006`, the overlap of confidence intervals: with the 95 % intervals of the mean before and after, the mean of the shares
//! of each that lies in both. 1 if they are the same, 0 if they have nothing in common.
//!
//! Where we differ: intervals that do not meet have an overlap of 0, not a negative one.

use incrowd_core::Better;
use incrowd_core::text::{Block, number};
use serde_json::{Value as Json, json};

use super::comparison::Comparison;
use super::numbers::Sample;
use super::{Card, Layout, Measured};

pub(super) const CARD: Card = Card {
    name: "moments",
    paper: "karr2006",
    about: "For every column of numbers how far the mean moved in standard deviations, the deviation after over that before, and how \
            much the 95 % confidence intervals of the mean overlap: 1 is the original, 0 nothing in common. The data owner sees means, \
            deviations and quartiles themselves.",
    limits: "Each column by itself. A cell is taken for all numbers it covers alike, or for the number it shows; means of groups have the \
             right mean and too little deviation.",
    better: Better::Higher,
    usual: true,
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
pub struct Described {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The quartiles, the median in the middle.
    pub quartiles: [f64; 3],
}

impl Described {
    fn of(sample: &Sample) -> Described {
        Described {
            mean: sample.mean(),
            deviation: sample.variance().sqrt(),
            quartiles: [0.25, 0.5, 0.75].map(|share| sample.quantile(share)),
        }
    }

    fn to_json(self) -> Json {
        json!({ "mean": self.mean, "deviation": self.deviation, "quartiles": self.quartiles })
    }
}

/// A column of numbers before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMoments {
    /// Its name.
    pub name: String,
    /// In the original.
    pub before: Described,
    /// In what a reader takes the release for.
    pub after: Described,
    /// How far the confidence intervals of the mean overlap.
    pub overlap: f64,
}

impl ColumnMoments {
    /// How far the mean moved, in deviations of the original.
    pub fn shift(&self) -> f64 {
        let moved = (self.after.mean - self.before.mean).abs();
        if self.before.deviation > 0.0 { moved / self.before.deviation } else { moved }
    }

    /// The deviation after over that before.
    pub fn deviation_ratio(&self) -> f64 {
        if self.before.deviation > 0.0 { self.after.deviation / self.before.deviation } else { 1.0 }
    }
}

/// All columns of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments(pub Vec<ColumnMoments>);

impl Measured for Moments {
    /// The mean overlap.
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
        let column = |c: &ColumnMoments| json!({ "column": c.name, "before": c.before.to_json(), "after": c.after.to_json() });
        Some(("moments", self.0.iter().map(column).collect()))
    }

    fn public_text(&self) -> Vec<Block> {
        let head = ["numbers", "mean moved", "deviation kept", "overlap"].map(str::to_owned).to_vec();
        let row = |c: &ColumnMoments| {
            vec![c.name.clone(), number(c.shift()), number(c.deviation_ratio()), number(c.overlap)]
        };
        vec![Block::line(""), Block::Table(std::iter::once(head).chain(self.0.iter().map(row)).collect())]
    }

    fn private_text(&self) -> Vec<Block> {
        let head =
            ["numbers", "mean before", "after", "deviation before", "after", "quartiles before", "after"];
        let quartiles = |d: &Described| d.quartiles.map(number).join(" ");
        let row = |c: &ColumnMoments| {
            let (a, b) = (&c.before, &c.after);
            vec![
                c.name.clone(),
                number(a.mean),
                number(b.mean),
                number(a.deviation),
                number(b.deviation),
                quartiles(a),
                quartiles(b),
            ]
        };
        let head = head.map(str::to_owned).to_vec();
        vec![Block::line(""), Block::Table(std::iter::once(head).chain(self.0.iter().map(row)).collect())]
    }
}

/// Every column of numbers.
pub fn moments(comparison: &Comparison) -> Vec<ColumnMoments> {
    let of_line = |line| {
        let (before, after) = (Sample::original(line)?, Sample::released(line)?);
        if before.records == 0.0 || after.records == 0.0 {
            return None;
        }
        let overlap = overlap(&before, &after);
        let name = line.name.clone();
        Some(ColumnMoments { name, before: Described::of(&before), after: Described::of(&after), overlap })
    };
    comparison.lines.iter().filter_map(of_line).collect()
}

/// The mean of the shares of two confidence intervals that lie in both.
fn overlap(before: &Sample, after: &Sample) -> f64 {
    let interval = |sample: &Sample| {
        let half = 1.96 * (sample.variance() / sample.records).sqrt();
        (sample.mean() - half, sample.mean() + half)
    };
    let (a, b) = (interval(before), interval(after));
    let common = a.1.min(b.1) - a.0.max(b.0);
    let share =
        |(lo, hi): (f64, f64)| if hi > lo { common / (hi - lo) } else { f64::from(u8::from(common >= 0.0)) };
    if common < 0.0 { 0.0 } else { (share(a) + share(b)).min(2.0) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utility::small::{QUASI, admits, compare, people};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moments_are_those_of_the_records(people in people()) {
            let found = moments(&compare(&people));
            prop_assert_eq!(found.len(), 1, "ages are the only numbers among {} columns", QUASI + 1);
            let mean = |of: &[(f64, f64)]| {
                let n: f64 = of.iter().map(|x| x.1).sum();
                let mean = of.iter().map(|x| x.0 * x.1).sum::<f64>() / n;
                (mean, (of.iter().map(|x| (x.0 - mean).powi(2) * x.1).sum::<f64>() / n).sqrt())
            };
            let before: Vec<(f64, f64)> = people.iter().map(|p| (p.values[0].parse().unwrap(), 1.0)).collect();
            let after: Vec<(f64, f64)> = people.iter().filter_map(|p| p.cells.as_ref()).flat_map(|cells| {
                let all = admits(&people, 0, &cells[0]);
                let each = 1.0 / all.len() as f64;
                all.into_iter().map(move |x| (x.parse().unwrap(), each))
            }).collect();
            for (described, records) in [(found[0].before, before), (found[0].after, after)] {
                let (middle, deviation) = mean(&records);
                prop_assert!((described.mean - middle).abs() < 1e-9 && (described.deviation - deviation).abs() < 1e-6);
                let mut sorted = records.clone();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                let below = |x: f64| records.iter().filter(|r| r.0 <= x).map(|r| r.1).sum::<f64>() / records.iter().map(|r| r.1).sum::<f64>();
                let median = sorted.iter().map(|r| r.0).find(|&x| below(x) >= 0.5 - 1e-9).unwrap();
                prop_assert_eq!(described.quartiles[1], median);
            }
            prop_assert!((0.0..=1.0).contains(&found[0].overlap));
        }
    }
}
