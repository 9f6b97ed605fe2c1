//! (ε,m)-anonymity, for numeric sensitive values.
//!
//! Paper: `li2008`, Definitions 2 and 3 as printed there. For every record of a group, at most 1/m
//! of the group's records have a number in the neighbourhood of the record's own: within ε of it
//! (absolute), or within the share ε of it (relative).
//!
//! Where we differ: neighbourhoods are rounded outwards. The model does not survive merging: for ε
//! = 1 and m = 2, {0, 100} and {−1, 1} are admitted, but three of their four numbers are within 1
//! of 0. The necessary condition on the whole table uses only the most frequent number.

use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Variant, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "epsilon-m-anonymity",
    paper: "li2008",
    guarantee: "\
        In every group, at most one record in m has a number within epsilon of any record's own, \
        so a person's number is not known within epsilon with more confidence than 1/m.",
    limits: "\
        Merging two admitted groups may violate it, so algorithms that rely on merging refuse it. \
        It bounds the confidence after the release, not how much it rose. Numbers must be spread: \
        a value that more than one record in m shares (a salary of 0) makes it unsatisfiable.",
    params: &[
        Param::number("epsilon", 0.0, f64::MAX).about(
            "the size of the neighbourhood, in the unit of the column or, if relative, as a share",
        ),
        Param::count("m", 1).about("at most one record in m may be in a neighbourhood"),
        Param::choice("neighbourhood", &["absolute", "relative"])
            .or("absolute")
            .about("whether epsilon is a difference or a share of the number"),
        ON,
    ],
    variants: &[
        Variant {
            param: "neighbourhood",
            value: "absolute",
            guarantee: "\
                In every group at most one record in {m} has a number of {on} within {epsilon} of \
                any record's own, so a person's number is not known that precisely with more \
                confidence than 1/{m}.",
            limits: "\
                It bounds the confidence after the release, not how much it rose. Numbers must be \
                spread: a value that more than one record in {m} shares (a salary of 0) makes it \
                unsatisfiable.",
        },
        Variant {
            param: "neighbourhood",
            value: "relative",
            guarantee: "\
                In every group at most one record in {m} has a number of {on} that differs from \
                any record's own by at most {epsilon} times that number, so a person's number is \
                not known that precisely with more confidence than 1/{m}.",
            limits: "\
                It bounds the confidence after the release, not how much it rose. Numbers must be \
                spread: a value that more than one record in {m} shares (a salary of 0) makes it \
                unsatisfiable.",
        },
    ],
    needs: &[Need::Sensitive],
    survives: Survives { merging: false, overlapping: false, suppressing: true },
    make: |params| {
        Ok(Box::new(EpsilonM {
            epsilon: params.number("epsilon"),
            m: params.count("m"),
            relative: params.word("neighbourhood") == "relative",
            on: params.word("on").to_owned(),
        }))
    },
};

#[derive(Clone, Debug)]
struct EpsilonM {
    epsilon: f64,
    m: u64,
    relative: bool,
    on: String,
}

impl Model for EpsilonM {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, column) = TargetColumn::find(data, &self.on)?;
        let numbers = column.numbers().map_err(|e| e.at("on"))?.to_vec();
        Ok(Box::new(BoundEpsilonM { model: self.clone(), numbers, target }))
    }
}

#[derive(Debug)]
struct BoundEpsilonM {
    model: EpsilonM,
    numbers: Vec<f64>,
    target: TargetColumn,
}

impl BoundEpsilonM {
    fn verdict(&self, most: u64, records: u64) -> Verdict {
        let share = if records == 0 { 0.0 } else { most as f64 / records as f64 };
        let holds = u128::from(most) * u128::from(self.model.m) <= u128::from(records);
        Verdict::at_most("greatest share of near numbers", share, 1.0 / self.model.m as f64, holds)
    }

    /// The neighbourhood of a number, rounded outwards by the greatest error from representing the
    /// number, epsilon and a neighbour as binary fractions.
    fn around(&self, x: f64) -> (f64, f64) {
        let width =
            if self.model.relative { x.abs() * self.model.epsilon } else { self.model.epsilon };
        if width == 0.0 {
            return (x, x);
        }
        let slack = (x.abs() + width) * (4.0 * f64::EPSILON);
        (x - width - slack, x + width + slack)
    }

    /// The greatest number of persons with a number in the neighbourhood of one number.
    fn most_persons(&self, group: &GroupSummary) -> u64 {
        let (mut numbers, mut persons): (Vec<(f64, usize)>, usize) = (Vec::new(), 0);
        self.target.each_person(group, |values| {
            numbers.extend(values.iter().map(|&(code, _)| (self.numbers[code as usize], persons)));
            persons += 1;
        });
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let windows = numbers.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let (lo, hi) = self.around(same[0].0);
            let first = numbers.partition_point(|entry| entry.0 < lo);
            (first, numbers.partition_point(|entry| entry.0 <= hi))
        });
        // A sliding window: both ends move to the right. If a relative epsilon exceeds 1, the start
        // may move to the left, and the window is counted again.
        let (mut inside, mut within, mut most) = (vec![0u32; persons], 0u64, 0);
        let (mut from, mut to) = (0, 0);
        for (first, last) in windows {
            if first < from {
                inside.fill(0);
                (within, from, to) = (0, first, first);
            }
            for &(_, person) in &numbers[to..last.max(to)] {
                within += u64::from(inside[person] == 0);
                inside[person] += 1;
            }
            to = to.max(last);
            for &(_, person) in &numbers[from..first] {
                inside[person] -= 1;
                within -= u64::from(inside[person] == 0);
            }
            from = first;
            if to > last {
                for &(_, person) in &numbers[last..to] {
                    inside[person] -= 1;
                    within -= u64::from(inside[person] == 0);
                }
                to = last;
            }
            most = most.max(within);
        }
        most
    }
}

impl BoundModel for BoundEpsilonM {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        if self.target.unit.persons().is_some() {
            return self.verdict(self.most_persons(group), self.target.size(group));
        }
        let histogram = self.target.holders(group);
        let entries = histogram.entries().iter();
        let mut numbers: Vec<(f64, u64)> =
            entries.map(|&(code, records)| (self.numbers[code as usize], records)).collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let before: Vec<u64> = std::iter::once(0)
            .chain(numbers.iter().scan(0, |sum, entry| {
                *sum += entry.1;
                Some(*sum)
            }))
            .collect();
        let near = |x: f64| {
            let (lo, hi) = self.around(x);
            let first = numbers.partition_point(|entry| entry.0 < lo);
            let last = numbers.partition_point(|entry| entry.0 <= hi);
            before[last] - before[first]
        };
        let most = numbers.iter().map(|entry| near(entry.0)).max().unwrap_or(0);
        self.verdict(most, group.records)
    }

    fn attainable(&self, whole: &GroupSummary) -> Verdict {
        let histogram = self.target.holders(whole);
        let most = histogram.entries().iter().map(|entry| entry.1).max().unwrap_or(0);
        Verdict {
            what: "share of the most frequent number",
            ..self.verdict(most, self.target.size(whole))
        }
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }
}
