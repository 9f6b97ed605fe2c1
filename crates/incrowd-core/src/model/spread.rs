//! The distribution of a sensitive column where a person may have several records: each person has the weight 1, spread evenly
//! over her records in the group.
//!
//! Weights are whole numbers, multiples of 1/scale. The scale is a common denominator of all that can occur if there is room
//! for one; if not, a person's weight is parted as evenly as whole numbers can, and `slack` says how far that may have moved a
//! distance, so that whoever compares can round against the publisher.

use std::borrow::Cow;

use super::watched::Watched;
use crate::dataset::Dataset;
use crate::group::{GroupSummary, Histogram};

/// All weights of a table together stay below this.
const ROOM: u64 = 1 << 62;

/// How weights are spread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// The weight of a person.
    scale: u64,
    exact: bool,
}

impl Spread {
    pub(super) fn new(watched: &Watched, data: &Dataset) -> Spread {
        if watched.unit.persons().is_none() {
            return Spread { scale: 1, exact: true };
        }
        let whole = data.summary(0..data.rows());
        let mut most = 1;
        watched.each_person(&whole, |values| most = most.max(values.iter().map(|value| value.1).sum()));
        let room = ROOM / data.people().max(1);
        let common =
            (1..=most).try_fold(1u64, |common, n| Some(least_common(common, n)?).filter(|c| *c <= room));
        Spread { scale: common.unwrap_or(room), exact: common.is_some() }
    }

    /// The weights of a group's values, and all of them together.
    pub(super) fn of<'g>(self, watched: &Watched, group: &'g GroupSummary) -> (Cow<'g, Histogram>, u64) {
        if watched.unit.persons().is_none() {
            return (watched.holders(group), group.records);
        }
        let mut weights: Vec<(u32, u64)> = Vec::new();
        watched.each_person(group, |values| {
            let records: u64 = values.iter().map(|value| value.1).sum();
            let (each, mut rest) = (self.scale / records, self.scale % records);
            for &(code, own) in values {
                let more = rest.min(own);
                rest -= more;
                weights.push((code, own * each + more));
            }
        });
        let total = watched.size(group) * self.scale;
        (Cow::Owned(watched.weighted(weights)), total)
    }

    /// By how much a distance between two such distributions may be greater than it seems, in multiples of one over both
    /// totals: those of a group and of the table, with their records.
    pub(super) fn slack(self, (group, records): (u64, u64), (table, all): (u64, u64)) -> u128 {
        if self.exact {
            return 0;
        }
        // A record's weight is off by less than 1, so a distribution by less than its records over its total.
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
