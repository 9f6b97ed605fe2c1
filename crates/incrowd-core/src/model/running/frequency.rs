//! No value holds more than a share of a group: l-diversity by frequency, (α,k)-anonymity.

use super::super::watched::Watched;
use super::Running;
use crate::exact::Decimal;
use crate::group::Histogram;

/// The greatest share of a group that a value may hold, `part / whole`.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    /// One record in l.
    pub(in super::super) fn one_in(l: u64) -> Share {
        Share { part: 1, whole: l }
    }

    /// A decimal.
    pub(in super::super) fn of(decimal: Decimal) -> Share {
        let (part, whole) = decimal.as_fraction();
        Share { part, whole }
    }

    fn allows(self, count: u64, records: u64) -> bool {
        u128::from(count) * u128::from(self.whole) <= u128::from(records) * u128::from(self.part)
    }
}

/// How often the values occur that are meant, and how often the most frequent one does.
#[derive(Debug)]
pub(in super::super) struct Frequency<'a> {
    watched: &'a Watched,
    share: Share,
    /// Whether a code is meant; all are if there is nothing.
    meant: &'a [bool],
    /// A group has at least so many records.
    least: u64,
    values: Histogram,
    records: u64,
    most: u64,
}

impl<'a> Frequency<'a> {
    pub(in super::super) fn new(watched: &'a Watched, share: Share) -> Frequency<'a> {
        Frequency { watched, share, meant: &[], least: 0, values: Histogram::default(), records: 0, most: 0 }
    }

    /// Of these values alone, in groups of at least so many records.
    pub(in super::super) fn of(self, meant: &'a [bool], least: u64) -> Frequency<'a> {
        Frequency { meant, least, ..self }
    }

    /// The code a value is counted under, if it is meant.
    fn counted(&self, code: u32) -> Option<u32> {
        let code = self.watched.counted_as(code);
        Some(code).filter(|&code| self.meant.get(code as usize).copied().unwrap_or(true))
    }

    fn holds(&self, most: u64, records: u64) -> bool {
        records >= self.least && self.share.allows(most, records)
    }

    /// How often the most frequent value occurs, but for one of them.
    fn most_but(&self, code: u32) -> u64 {
        let others = self.values.entries().iter().filter(|entry| entry.0 != code);
        others.map(|entry| entry.1).max().unwrap_or(0)
    }
}

impl Running for Frequency<'_> {
    fn clear(&mut self) {
        self.values.clear();
        (self.records, self.most) = (0, 0);
    }

    fn add(&mut self, code: u32, records: u64) {
        self.records += records;
        if let Some(code) = self.counted(code) {
            self.values.add(code, records);
            self.most = self.most.max(self.values.get(code));
        }
    }

    fn remove(&mut self, code: u32, records: u64) {
        self.records -= records;
        if let Some(code) = self.counted(code) {
            let before = self.values.get(code);
            self.values.subtract(code, records);
            if before == self.most {
                self.most = self.most_but(code).max(before - records);
            }
        }
    }

    fn admits(&self) -> bool {
        self.holds(self.most, self.records)
    }

    /// Codes that are counted as one occur at least as often as each of them.
    fn refuses(&self, counts: &[u64], records: u64) -> bool {
        let most = match self.meant {
            [] => counts.iter().copied().max(),
            _ => {
                let meant = |code: &usize| self.counted(*code as u32).is_some();
                (0..counts.len()).filter(meant).map(|code| counts[code]).max()
            }
        };
        !self.holds(most.unwrap_or(0), records)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let count = self.counted(code).map_or(0, |code| self.values.get(code) + records);
        self.holds(self.most.max(count), self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let left = self.records - records;
        // If the most frequent one is not too much of what is left, nothing is.
        if self.holds(self.most, left) {
            return true;
        }
        let Some(code) = self.counted(code) else { return false };
        let count = self.values.get(code);
        count == self.most && self.holds(self.most_but(code).max(count - records), left)
    }
}
