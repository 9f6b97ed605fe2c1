//! Models that bound the share of every value by itself.
//!
//! That a value occurs so often in a group is allowed if the group has at least and at most so many records. Those two numbers
//! change for one value at a time; the group is admitted if its records lie within those of all its values.

use std::fmt::Debug;

use super::super::watched::Watched;
use super::Running;

/// How many records a group may have in which a value occurs so often: at least and at most.
pub(in super::super) type Range = (u64, u64);

/// The values of a group with what each allows.
pub(in super::super) struct Within<'a> {
    watched: &'a Watched,
    range: Box<dyn Fn(u32, u64) -> Range + Send + 'a>,
    /// A group must have at least so many different values.
    values: usize,
    /// Code, count and range, ascending by code.
    entries: Vec<(u32, u64, Range)>,
    records: u64,
}

impl Debug for Within<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Within").field("records", &self.records).finish_non_exhaustive()
    }
}

impl<'a> Within<'a> {
    pub(in super::super) fn new(
        watched: &'a Watched,
        values: usize,
        range: impl Fn(u32, u64) -> Range + Send + 'a,
    ) -> Within<'a> {
        Within { watched, range: Box::new(range), values, entries: Vec::new(), records: 0 }
    }

    fn place(&self, code: u32) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&code, |entry| entry.0)
    }

    fn count(&self, code: u32) -> u64 {
        self.place(code).map_or(0, |at| self.entries[at].1)
    }

    fn set(&mut self, code: u32, count: u64) {
        match self.place(code) {
            Ok(at) if count == 0 => {
                self.entries.remove(at);
            }
            Ok(at) => self.entries[at] = (code, count, (self.range)(code, count)),
            Err(_) if count == 0 => {}
            Err(at) => self.entries.insert(at, (code, count, (self.range)(code, count))),
        }
    }

    fn judge(&self, code: u32, count: u64, records: u64) -> bool {
        let fits = |(least, most): Range| (least..=most).contains(&records);
        let known = self.count(code) > 0;
        let values = self.entries.len() + usize::from(count > 0) - usize::from(known);
        values >= self.values
            && self.entries.iter().all(|entry| entry.0 == code || fits(entry.2))
            && (count == 0 || fits((self.range)(code, count)))
    }
}

impl Running for Within<'_> {
    fn clear(&mut self) {
        self.entries.clear();
        self.records = 0;
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        self.records += records;
        self.set(code, self.count(code) + records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        self.records -= records;
        self.set(code, self.count(code) - records);
    }

    fn admits(&self) -> bool {
        let fits = |entry: &(u32, u64, Range)| (entry.2.0..=entry.2.1).contains(&self.records);
        self.entries.len() >= self.values && self.entries.iter().all(fits)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        self.judge(code, self.count(code) + records, self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        self.judge(code, self.count(code) - records, self.records - records)
    }
}

/// The first number in a range of which something is true that is true of all that follow; the end if there is none.
pub(in super::super) fn first_true(from: u64, end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (from, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
