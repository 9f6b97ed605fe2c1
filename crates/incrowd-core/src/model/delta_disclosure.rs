//! δ-disclosure privacy.
//!
//! Paper: `brickell2008`, Definition 2 as printed there. With p the share of a value in the whole
//! release and q its share in a group: |ln(q/p)| < δ for every value of the column and every group.
//!
//! Where we differ: not at all. A value absent from a group has q = 0 and violates the model for
//! any δ. The logarithm is rounded to the strict side.

use super::presence::Presence;
use super::running::{IncrementalShares, Range, Ranges, Running, Shares, first_true};
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::exact::upper;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "delta-disclosure",
    paper: "brickell2008",
    guarantee: "\
        In every group the share of each sensitive value differs from its share in the whole \
        release by less than a factor of e to the delta, in both directions, so an adversary \
        learns little about a person: neither that a value is likely nor that it is unlikely.",
    limits: "\
        Every value must occur in every group, so a rare value requires very large groups. The \
        reference is the release itself, which is the adversary's prior only if nothing better is \
        known.",
    params: &[
        Param::number("delta", 0.0, f64::MAX)
            .about("the strict upper bound of the absolute natural logarithm of the factor"),
        ON,
    ],
    variants: &[],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: false },
    make: |params| {
        Ok(Box::new(DeltaDisclosure {
            delta: params.number("delta"),
            on: params.word("on").to_owned(),
        }))
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
        let (target, _) = TargetColumn::find(data, &self.on)?;
        let overall = target.overall(data);
        let values = overall.iter().filter(|&&records| records > 0).count();
        let ranges = Ranges::new(overall.len());
        Ok(Box::new(BoundDeltaDisclosure {
            delta: self.delta,
            values,
            overall,
            records: data.people(),
            target,
            ranges,
        }))
    }
}

#[derive(Debug)]
struct BoundDeltaDisclosure {
    delta: f64,
    values: usize,
    overall: Vec<u64>,
    records: u64,
    target: TargetColumn,
    ranges: Ranges,
}

impl BoundDeltaDisclosure {
    /// The logarithm of the ratio of a value's share in a group to its overall share.
    fn change(&self, code: u32, in_group: u64, group: u64) -> f64 {
        let expected = i128::from(self.overall[code as usize]) * i128::from(group);
        let have = i128::from(in_group) * i128::from(self.records);
        // The difference is exact, so the logarithm is precise even if the shares are nearly equal.
        ((have - expected) as f64 / expected as f64).ln_1p()
    }
}

impl BoundModel for BoundDeltaDisclosure {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (histogram, size) = (self.target.holders(group), self.target.size(group));
        let factor = |&(code, in_group): &(u32, u64)| self.change(code, in_group, size).abs();
        let present = histogram.entries().iter().map(factor).fold(0.0, f64::max);
        let all = histogram.entries().len() == self.values;
        let worst = if all { present } else { f64::INFINITY };
        Verdict::at_most(
            "greatest change of a value's share, as a logarithm,",
            worst,
            self.delta,
            upper(worst) < self.delta,
        )
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }

    /// Every value occurs in every group, and a rare value only in a group that is large enough.
    fn fewest_records(&self) -> u64 {
        let present =
            (0..self.overall.len() as u32).filter(|&code| self.overall[code as usize] > 0);
        present.map(|code| self.range(code, 1).0).fold(self.values.max(1) as u64, u64::max)
    }

    /// All values must occur.
    fn presence(&self) -> Option<Presence> {
        Presence::new(&self.target, self.values as u64, |code| {
            u64::from(self.overall[code as usize] > 0)
        })
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(IncrementalShares::new(&self.target, self.values, self)))
    }
}

/// The share of a value falls with the size of the group, so a count is admitted from some number
/// of records on, up to another number.
impl Shares for BoundDeltaDisclosure {
    fn allows(&self, code: u32, count: u64, records: u64) -> bool {
        upper(self.change(code, count, records).abs()) < self.delta
    }

    fn range(&self, code: u32, count: u64) -> Range {
        self.ranges.get(code, count, || {
            let end = self.records + 1;
            let least = first_true(count, end, |n| upper(self.change(code, count, n)) < self.delta);
            let beyond =
                first_true(least, end, |n| upper(-self.change(code, count, n)) >= self.delta);
            if least == beyond { (1, 0) } else { (least, beyond - 1) }
        })
    }
}
