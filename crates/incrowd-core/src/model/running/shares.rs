//! Incremental form of models that bound the share of every value separately.
//!
//! A count of a value is admitted if the number of records of the group is in a range. A change
//! affects the range of one value only. The group is admitted if its number of records is in the
//! ranges of all its values. Ranges are computed on first use.

use std::cell::Cell;
use std::fmt::Debug;
use std::sync::OnceLock;

use super::super::target::TargetColumn;
use super::Running;

/// The least and the greatest number of records of a group in which a value has a given count.
pub(in super::super) type Range = (u64, u64);

/// A model that bounds the share of every value.
pub(in super::super) trait Shares: Sync {
    /// Whether a value may occur `count` times in a group of `records` records.
    fn allows(&self, code: u32, count: u64, records: u64) -> bool;

    /// The numbers of records of a group in which a value may occur `count` times.
    fn range(&self, code: u32, count: u64) -> Range;
}

/// Ranges are cached for counts below this, if the column has at most `KEPT_VALUES` values.
const KEPT_COUNTS: usize = 64;
const KEPT_VALUES: usize = 1024;

/// Cached ranges, shared by all groups: computing one takes about thirty logarithms.
#[derive(Debug)]
pub(in super::super) struct Ranges(Vec<OnceLock<Range>>);

impl Ranges {
    /// An empty cache for a column with this number of codes.
    pub(in super::super) fn new(codes: usize) -> Ranges {
        let kept = if codes <= KEPT_VALUES { codes * KEPT_COUNTS } else { 0 };
        Ranges((0..kept).map(|_| OnceLock::new()).collect())
    }

    /// The range of a value with this count; computed by `find` if it is not cached.
    pub(in super::super) fn get(
        &self,
        code: u32,
        count: u64,
        find: impl FnOnce() -> Range,
    ) -> Range {
        let small = usize::try_from(count).ok().filter(|count| *count < KEPT_COUNTS);
        let kept = small.and_then(|count| self.0.get(code as usize * KEPT_COUNTS + count));
        match kept {
            Some(kept) => *kept.get_or_init(find),
            None => find(),
        }
    }
}

/// A value of a group.
#[derive(Debug)]
struct Value {
    code: u32,
    count: u64,
    range: Cell<Option<Range>>,
}

/// The values of a group with their ranges.
pub(in super::super) struct IncrementalShares<'a> {
    target: &'a TargetColumn,
    shares: &'a dyn Shares,
    /// The least number of different values of a group.
    least: usize,
    /// Ascending by code.
    values: Vec<Value>,
    records: u64,
}

crate::opaque_debug!(IncrementalShares<'_> { records });

impl<'a> IncrementalShares<'a> {
    pub(in super::super) fn new(
        target: &'a TargetColumn,
        least: usize,
        shares: &'a dyn Shares,
    ) -> IncrementalShares<'a> {
        IncrementalShares { target, shares, least, values: Vec::new(), records: 0 }
    }

    fn place(&self, code: u32) -> Result<usize, usize> {
        self.values.binary_search_by_key(&code, |value| value.code)
    }

    fn count(&self, code: u32) -> u64 {
        self.place(code).map_or(0, |at| self.values[at].count)
    }

    fn set(&mut self, code: u32, count: u64) {
        let value = Value { code, count, range: Cell::new(None) };
        match self.place(code) {
            Ok(at) if count == 0 => {
                self.values.remove(at);
            }
            Ok(at) => self.values[at] = value,
            Err(_) if count == 0 => {}
            Err(at) => self.values.insert(at, value),
        }
    }

    fn fits(&self, value: &Value, records: u64) -> bool {
        let range = value.range.get().unwrap_or_else(|| self.shares.range(value.code, value.count));
        value.range.set(Some(range));
        (range.0..=range.1).contains(&records)
    }

    fn judge(&self, code: u32, count: u64, records: u64) -> bool {
        let known = self.count(code) > 0;
        let values = self.values.len() + usize::from(count > 0) - usize::from(known);
        values >= self.least
            && (count == 0 || self.shares.allows(code, count, records))
            && self.values.iter().all(|value| value.code == code || self.fits(value, records))
    }
}

impl Running for IncrementalShares<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.records = 0;
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.target.counted_as(code);
        self.records += records;
        self.set(code, self.count(code) + records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.target.counted_as(code);
        self.records -= records;
        self.set(code, self.count(code) - records);
    }

    fn admits(&self) -> bool {
        let allowed = |value: &Value| self.shares.allows(value.code, value.count, self.records);
        self.values.len() >= self.least && self.values.iter().all(allowed)
    }

    fn refuses(&self, counts: &[u64], records: u64) -> bool {
        let refused = |(code, &count): (usize, &u64)| {
            count > 0 && !self.shares.allows(code as u32, count, records)
        };
        self.target.counts_all_codes() && counts.iter().enumerate().any(refused)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let code = self.target.counted_as(code);
        self.judge(code, self.count(code) + records, self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.target.counted_as(code);
        self.judge(code, self.count(code) - records, self.records - records)
    }
}

/// The first number of a range for which a predicate holds; `end` if there is none. The predicate
/// must hold for all numbers after the first one.
pub(in super::super) fn first_true(from: u64, end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (from, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
