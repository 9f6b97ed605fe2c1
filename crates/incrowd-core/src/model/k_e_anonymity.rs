//! (k,e)-anonymity, for numeric sensitive values.
//!
//! Paper: `zhang2007`, the definition of (k,e)-anonymity. Every group has at least k different
//! values of the sensitive column, and its greatest value is at least e above its least.
//!
//! Where we differ: the difference is rounded down, so that e is never reached by rounding alone.
//! If a person may have several records, the model must hold for every choice of one record per
//! person: at least k different values, and e is compared with the smallest range that contains
//! some number of every person.

use super::l_diversity::fewest_values;
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "k-e-anonymity",
    paper: "zhang2007",
    guarantee: "\
        Every group has at least k different numbers in the sensitive column, the greatest at \
        least e above the least, so a person's number is not known more precisely than within e.",
    limits: "\
        It depends on the extremes only: ninety-nine salaries between 3000 and 3100 and one of \
        90000 span 87000 and disclose the ninety-nine. `epsilon-m-anonymity` protects against \
        that.",
    params: &[
        Param::count("k", 1).about("the least number of different numbers"),
        Param::number("e", 0.0, f64::MAX).about(
            "the least difference of the greatest and the least number, in the unit of the column \
            (days for dates)",
        ),
        ON,
    ],
    variants: &[],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| {
        Ok(Box::new(KE {
            k: params.count("k"),
            e: params.number("e"),
            on: params.word("on").to_owned(),
        }))
    },
};

#[derive(Debug)]
struct KE {
    k: u64,
    e: f64,
    on: String,
}

impl Model for KE {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, column) = TargetColumn::find(data, &self.on)?;
        let numbers = column.numbers().map_err(|e| e.at("on"))?.to_vec();
        Ok(Box::new(BoundKE { k: self.k, e: self.e, numbers, target }))
    }
}

#[derive(Debug)]
struct BoundKE {
    k: u64,
    e: f64,
    numbers: Vec<f64>,
    target: TargetColumn,
}

impl BoundKE {
    fn range(&self, lo: f64, hi: f64) -> Verdict {
        let range = if lo <= hi { hi - lo } else { 0.0 };
        // The rounding error of the difference, computed exactly (two-sum).
        let back = hi - range;
        let missed = (hi - (range + back)) + (back - lo);
        let holds = range > self.e || (range == self.e && (lo > hi || missed >= 0.0));
        Verdict::at_least("smallest range", range, self.e, holds)
    }

    /// The minimal ranges that contain some number of every person. A sliding window: for each
    /// right end, the left end is moved as far as possible.
    fn ranges_of_persons(&self, group: &GroupSummary) -> Vec<(f64, f64)> {
        let (mut numbers, mut persons): (Vec<(f64, usize)>, usize) = (Vec::new(), 0);
        self.target.each_person(group, |values| {
            numbers.extend(values.iter().map(|&(code, _)| (self.numbers[code as usize], persons)));
            persons += 1;
        });
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut inside, mut within, mut first) = (vec![0u32; persons], 0, 0);
        let mut ranges = Vec::new();
        for &(hi, person) in &numbers {
            within += usize::from(inside[person] == 0);
            inside[person] += 1;
            if within < persons {
                continue;
            }
            while inside[numbers[first].1] > 1 {
                inside[numbers[first].1] -= 1;
                first += 1;
            }
            ranges.push((numbers[first].0, hi));
        }
        ranges
    }
}

impl BoundModel for BoundKE {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let ranges = if self.target.unit.persons().is_some() {
            self.ranges_of_persons(group)
        } else {
            let histogram = self.target.holders(group);
            let numbers = histogram.entries().iter().map(|entry| self.numbers[entry.0 as usize]);
            let outermost = numbers
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
            vec![outermost]
        };
        let spread = ranges.into_iter().map(|(lo, hi)| self.range(lo, hi)).reduce(Verdict::and);
        let spread = spread.unwrap_or_else(|| self.range(f64::INFINITY, f64::NEG_INFINITY));
        fewest_values(self.target.extremal(group).len() as u64, self.k).and(spread)
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }
}
