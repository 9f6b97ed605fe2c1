//! A distance of distributions that is at most t.
//!
//! With W = n·d(P, Q) for the n records of a group, n'·d(P', Q) of the group with one record more or fewer differs from W by at
//! most d of that record alone, since d is a norm of the difference of its arguments. That decides nearly always; where it does
//! not, the distance is computed.

use std::cell::Cell;
use std::fmt::Debug;

use super::super::watched::Watched;
use super::Running;
use crate::exact::Decimal;
use crate::group::Histogram;

/// The work of moving a group's distribution onto that of the release, for so many records.
pub(in super::super) trait Work: Debug + Sync {
    /// The work, as a multiple of 1/([`Work::unit`] · n).
    fn work(&self, group: &Histogram, n: u64) -> u128;

    /// The same for a group in which every code occurs so often, if that is quicker to tell than to count.
    fn work_of(&self, _counts: &[u64], _n: u64) -> Option<u128> {
        None
    }

    /// The same if one value of the group occurred so often.
    fn work_if(&self, group: &Histogram, n: u64, code: u32, count: u64) -> u128;

    /// The work for one record of a value alone.
    fn alone(&self, code: u32) -> u128;

    /// What the work of one record is divided by.
    fn unit(&self) -> u128;
}

/// A group that is within t of the release.
#[derive(Debug)]
pub(in super::super) struct Moved<'a> {
    watched: &'a Watched,
    work: &'a dyn Work,
    t: Decimal,
    values: Histogram,
    records: u64,
    /// The work for the records that are there, once it was asked for.
    known: Cell<Option<u128>>,
}

impl<'a> Moved<'a> {
    pub(in super::super) fn new(watched: &'a Watched, work: &'a dyn Work, t: Decimal) -> Moved<'a> {
        Moved { watched, work, t, values: Histogram::default(), records: 0, known: Cell::new(None) }
    }

    fn now(&self) -> u128 {
        let work = self.known.get().unwrap_or_else(|| self.work.work(&self.values, self.records));
        self.known.set(Some(work));
        work
    }

    fn within(&self, work: u128, records: u64) -> bool {
        self.t.at_most(work, (self.work.unit() * u128::from(records)).max(1))
    }

    /// The answer if so many records of a value come or go.
    fn judge(&self, code: u32, changed: u64, records: u64, count: impl FnOnce(u64) -> u64) -> bool {
        let most = self.work.alone(code) * u128::from(changed);
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

impl Running for Moved<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.records = 0;
        self.known.set(None);
    }

    fn add(&mut self, code: u32, records: u64) {
        self.values.add(self.watched.counted_as(code), records);
        self.records += records;
        self.known.set(None);
    }

    fn remove(&mut self, code: u32, records: u64) {
        self.values.subtract(self.watched.counted_as(code), records);
        self.records -= records;
        self.known.set(None);
    }

    fn admits(&self) -> bool {
        self.within(self.now(), self.records)
    }

    fn refuses(&self, counts: &[u64], records: u64) -> bool {
        let work = self.watched.counts_all_codes().then(|| self.work.work_of(counts, records)).flatten();
        work.is_some_and(|work| !self.within(work, records))
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        self.judge(code, records, self.records + records, |there| there + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        self.judge(code, records, self.records - records, |there| there - records)
    }
}
