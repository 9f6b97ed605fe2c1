//! Incremental form of models that limit the share of each value: l-diversity by frequency,
//! (α,k)-anonymity.

use super::super::target::TargetColumn;
use super::Running;
use crate::exact::Decimal;
use crate::group::Histogram;

/// The greatest admitted share of a value, `part / whole`.
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

/// The number of records per protected value, and the greatest of them.
#[derive(Debug)]
pub(in super::super) struct Frequency<'a> {
    target: &'a TargetColumn,
    share: Share,
    /// Whether a code is protected; empty if all are.
    protected: &'a [bool],
    /// The least number of records of a group.
    least: u64,
    values: Histogram,
    records: u64,
    most: u64,
}

impl<'a> Frequency<'a> {
    pub(in super::super) fn new(target: &'a TargetColumn, share: Share) -> Frequency<'a> {
        Frequency {
            target,
            share,
            protected: &[],
            least: 0,
            values: Histogram::default(),
            records: 0,
            most: 0,
        }
    }

    /// Protects only these values, in groups of at least `least` records.
    pub(in super::super) fn of(self, protected: &'a [bool], least: u64) -> Frequency<'a> {
        Frequency { protected, least, ..self }
    }

    /// The code under which a value is counted, if it is protected.
    fn counted(&self, code: u32) -> Option<u32> {
        let code = self.target.counted_as(code);
        Some(code).filter(|&code| self.protected.get(code as usize).copied().unwrap_or(true))
    }

    fn holds(&self, most: u64, records: u64) -> bool {
        records >= self.least && self.share.allows(most, records)
    }

    /// The greatest count of a value other than `code`.
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

    /// Several codes may be counted as one value, whose count is at least that of each code. So
    /// this is only a sufficient condition for refusal.
    fn refuses(&self, counts: &[u64], records: u64) -> bool {
        let most = match self.protected {
            [] => counts.iter().copied().max(),
            _ => {
                let is_protected = |code: &usize| self.counted(*code as u32).is_some();
                (0..counts.len()).filter(is_protected).map(|code| counts[code]).max()
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
        // If the greatest count is admitted for the remaining records, all smaller ones are.
        if self.holds(self.most, left) {
            return true;
        }
        let Some(code) = self.counted(code) else { return false };
        let count = self.values.get(code);
        count == self.most && self.holds(self.most_but(code).max(count - records), left)
    }
}
