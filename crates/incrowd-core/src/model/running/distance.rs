//! Incremental form of t-closeness: the distance of two distributions is at most t.
//!
//! Let W = n·d(P, Q) for a group of n records. Adding or removing one record changes n·d(P, Q) by
//! at most the d of that record alone, because d is a norm of the difference of its arguments.
//! These bounds nearly always decide; otherwise the distance is computed.

use std::cell::Cell;
use std::fmt::Debug;

use super::super::target::TargetColumn;
use super::Running;
use crate::exact::Decimal;
use crate::group::Histogram;

/// The work of moving a group's distribution onto that of the release.
pub(in super::super) trait Work: Debug + Sync {
    /// The work for `n` records, as a multiple of 1/([`Work::unit`] · n).
    fn work(&self, group: &Histogram, n: u64) -> u128;

    /// The work for a group with these counts per code, if it can be computed directly from them.
    fn work_of(&self, _counts: &[u64], _n: u64) -> Option<u128> {
        None
    }

    /// The work if the count of one value were `count`.
    fn work_if(&self, group: &Histogram, n: u64, code: u32, count: u64) -> u128;

    /// The work for a group of one record.
    fn work_of_one(&self, code: u32) -> u128;

    /// The divisor of the work of one record.
    fn unit(&self) -> u128;
}

/// A group whose distribution is within t of the release.
#[derive(Debug)]
pub(in super::super) struct IncrementalDistance<'a> {
    target: &'a TargetColumn,
    work: &'a dyn Work,
    t: Decimal,
    values: Histogram,
    records: u64,
    /// The work for the current records; computed on first use.
    known: Cell<Option<u128>>,
}

impl<'a> IncrementalDistance<'a> {
    pub(in super::super) fn new(
        target: &'a TargetColumn,
        work: &'a dyn Work,
        t: Decimal,
    ) -> IncrementalDistance<'a> {
        IncrementalDistance {
            target,
            work,
            t,
            values: Histogram::default(),
            records: 0,
            known: Cell::new(None),
        }
    }

    fn now(&self) -> u128 {
        let work = self.known.get().unwrap_or_else(|| self.work.work(&self.values, self.records));
        self.known.set(Some(work));
        work
    }

    fn within(&self, work: u128, records: u64) -> bool {
        self.t.at_most(work, (self.work.unit() * u128::from(records)).max(1))
    }

    /// The verdict if `changed` records of a value are added or removed.
    fn judge(&self, code: u32, changed: u64, records: u64, count: impl FnOnce(u64) -> u64) -> bool {
        let most = self.work.work_of_one(code) * u128::from(changed);
        let now = self.now();
        if self.within(now + most, records) {
            return true;
        }
        if !self.within(now.saturating_sub(most), records) {
            return false;
        }
        let count = count(self.values.get(code));
        self.within(self.work.work_if(&self.values, records, code, count), records)
    }
}

impl Running for IncrementalDistance<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.records = 0;
        self.known.set(None);
    }

    fn add(&mut self, code: u32, records: u64) {
        self.values.add(self.target.counted_as(code), records);
        self.records += records;
        self.known.set(None);
    }

    fn remove(&mut self, code: u32, records: u64) {
        self.values.subtract(self.target.counted_as(code), records);
        self.records -= records;
        self.known.set(None);
    }

    fn admits(&self) -> bool {
        self.within(self.now(), self.records)
    }

    fn refuses(&self, counts: &[u64], records: u64) -> bool {
        let work =
            self.target.counts_all_codes().then(|| self.work.work_of(counts, records)).flatten();
        work.is_some_and(|work| !self.within(work, records))
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let code = self.target.counted_as(code);
        self.judge(code, records, self.records + records, |there| there + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.target.counted_as(code);
        self.judge(code, records, self.records - records, |there| there - records)
    }
}
