//! δ-disclosure privacy.
//!
//! Paper: `brickell2008`, Definition 2 as printed there. With p the share of a value in the whole release and q its share
//! in a group: |ln(q/p)| < δ for every value of the column and every group.
//!
//! Where we differ: nothing, but it is worth saying that a value absent from a group has q = 0 and breaks the promise
//! whatever δ is. The logarithm is rounded against the publisher.

use super::presence::Presence;
use super::running::{Range, Ranges, Running, Shares, Within, first_true};
use super::watched::Watched;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, ParamKind};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::exact::upper;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "delta-disclosure",
    paper: "brickell2008",
    promise: "In every group the share of each sensitive value is within a factor of e to the delta of its share in the \
              whole release, upwards and downwards, so an adversary learns little about anybody, be it that a value is \
              likely or that it is not.",
    limits: "Every value must occur in every group, so a rare value forces groups so large that little else is left. The \
             reference is the release itself, which is the adversary's prior only if nothing better is known.",
    params: &[
        Param {
            name: "delta",
            kind: ParamKind::Number(0.0, f64::MAX),
            default: None,
            about: "the bound on the natural logarithm of the factor; it stays below",
        },
        ON,
    ],
    kinds: &[],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: false },
    make: |params| {
        Ok(Box::new(DeltaDisclosure { delta: params.number("delta"), on: params.word("on").to_owned() }))
    },
};

#[derive(Debug)]
struct DeltaDisclosure {
    delta: f64,
    on: String,
}

impl Model for DeltaDisclosure {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (watched, _) = Watched::find(data, &self.on)?;
        let overall = watched.overall(data);
        let values = overall.iter().filter(|&&records| records > 0).count();
        let ranges = Ranges::new(overall.len());
        Ok(Box::new(Bound { delta: self.delta, values, overall, records: data.people(), watched, ranges }))
    }
}

#[derive(Debug)]
struct Bound {
    delta: f64,
    values: usize,
    overall: Vec<u64>,
    records: u64,
    watched: Watched,
    ranges: Ranges,
}

impl Bound {
    /// The logarithm of what the share of a value changes by.
    fn change(&self, code: u32, in_group: u64, group: u64) -> f64 {
        let expected = i128::from(self.overall[code as usize]) * i128::from(group);
        let have = i128::from(in_group) * i128::from(self.records);
        // The difference is exact, so the logarithm is good even where the shares are nearly equal.
        ((have - expected) as f64 / expected as f64).ln_1p()
    }
}

impl BoundModel for Bound {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (histogram, size) = (self.watched.holders(group), self.watched.size(group));
        let factor = |&(code, in_group): &(u32, u64)| self.change(code, in_group, size).abs();
        let present = histogram.entries().iter().map(factor).fold(0.0, f64::max);
        let all = histogram.entries().len() == self.values;
        let worst = if all { present } else { f64::INFINITY };
        Verdict::at_most("greatest change of a value's share, as a logarithm,", worst, self.delta, {
            upper(worst) < self.delta
        })
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.watched.column)
    }

    /// Every value occurs in every group, and a rare one only in a group that is large enough for it.
    fn fewest_records(&self) -> u64 {
        let there = (0..self.overall.len() as u32).filter(|&code| self.overall[code as usize] > 0);
        there.map(|code| self.range(code, 1).0).fold(self.values.max(1) as u64, u64::max)
    }

    /// Every value.
    fn presence(&self) -> Option<Presence> {
        Presence::new(&self.watched, self.values as u64, |code| u64::from(self.overall[code as usize] > 0))
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(Within::new(&self.watched, self.values, self)))
    }
}

/// A larger group has a smaller share of the value: it is admitted from some number of records on, up to another.
impl Shares for Bound {
    fn allows(&self, code: u32, count: u64, records: u64) -> bool {
        upper(self.change(code, count, records).abs()) < self.delta
    }

    fn range(&self, code: u32, count: u64) -> Range {
        self.ranges.get(code, count, || {
            let end = self.records + 1;
            let least = first_true(count, end, |n| upper(self.change(code, count, n)) < self.delta);
            let beyond = first_true(least, end, |n| upper(-self.change(code, count, n)) >= self.delta);
            if least == beyond { (1, 0) } else { (least, beyond - 1) }
        })
    }
}
