//! The distribution of a sensitive column if a person may have several records: each person has the
//! weight 1, divided evenly among her records in the group.
//!
//! Weights are integers, multiples of 1/scale. The scale is a common denominator of all possible
//! record numbers if it is small enough. Otherwise a person's weight is divided as evenly as
//! integers allow, and `slack` bounds the resulting error of a distance, so that comparisons can be
//! rounded to the strict side.

use std::borrow::Cow;

use super::target::TargetColumn;
use crate::dataset::Dataset;
use crate::group::{GroupSummary, Histogram};

/// The sum of all weights of a table is less than this.
const MAX_TOTAL: u64 = 1 << 62;

/// The division of persons' weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// The weight of a person.
    scale: u64,
    exact: bool,
}

impl Spread {
    pub(super) fn new(target: &TargetColumn, data: &Dataset) -> Spread {
        if target.unit.persons().is_none() {
            return Spread { scale: 1, exact: true };
        }
        let whole = data.summary(0..data.rows());
        let mut most = 1;
        target.each_person(&whole, |values| {
            most = most.max(values.iter().map(|value| value.1).sum())
        });
        let room = MAX_TOTAL / data.people().max(1);
        let common = (1..=most)
            .try_fold(1u64, |common, n| Some(least_common(common, n)?).filter(|c| *c <= room));
        Spread { scale: common.unwrap_or(room), exact: common.is_some() }
    }

    /// The weights of a group's values, and their sum.
    pub(super) fn of<'g>(
        self,
        target: &TargetColumn,
        group: &'g GroupSummary,
    ) -> (Cow<'g, Histogram>, u64) {
        if target.unit.persons().is_none() {
            return (target.holders(group), group.records);
        }
        let mut weights: Vec<(u32, u64)> = Vec::new();
        target.each_person(group, |values| {
            let records: u64 = values.iter().map(|value| value.1).sum();
            let (each, mut rest) = (self.scale / records, self.scale % records);
            for &(code, own) in values {
                let more = rest.min(own);
                rest -= more;
                weights.push((code, own * each + more));
            }
        });
        let total = target.size(group) * self.scale;
        (Cow::Owned(target.weighted(weights)), total)
    }

    /// An upper bound on the error of a distance between two such distributions, as a multiple of
    /// one over the product of both totals. The arguments are total and records of the group and of
    /// the table.
    pub(super) fn slack(self, (group, records): (u64, u64), (table, all): (u64, u64)) -> u128 {
        if self.exact {
            return 0;
        }
        // The weight of a record has an error of less than 1, so a distribution has an error of
        // less than its records divided by its total.
        u128::from(records) * u128::from(table) + u128::from(all) * u128::from(group)
    }
}

fn least_common(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}
