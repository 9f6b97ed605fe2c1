//! Incremental forms of distinct, recursive and entropy l-diversity.

use super::super::l_diversity;
use super::super::target::TargetColumn;
use super::Running;
use crate::exact::Decimal;
use crate::group::Histogram;

/// Number of updates after which a sum of logarithms is recomputed, to bound its error.
const MOST_CHANGES: u32 = 256;

/// At least l different values, and at least `least` records.
#[derive(Debug)]
pub(in super::super) struct Distinct<'a> {
    target: &'a TargetColumn,
    l: u64,
    least: u64,
    values: Histogram,
    records: u64,
}

impl<'a> Distinct<'a> {
    pub(in super::super) fn new(target: &'a TargetColumn, l: u64, least: u64) -> Distinct<'a> {
        Distinct { target, l, least, values: Histogram::default(), records: 0 }
    }

    fn holds(&self, values: usize, records: u64) -> bool {
        values as u64 >= self.l && records >= self.least
    }
}

impl Running for Distinct<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.records = 0;
    }

    fn add(&mut self, code: u32, records: u64) {
        self.values.add(self.target.counted_as(code), records);
        self.records += records;
    }

    fn remove(&mut self, code: u32, records: u64) {
        self.values.subtract(self.target.counted_as(code), records);
        self.records -= records;
    }

    fn admits(&self) -> bool {
        self.holds(self.values.entries().len(), self.records)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let new = self.values.get(self.target.counted_as(code)) == 0;
        self.holds(self.values.entries().len() + usize::from(new), self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let last = self.values.get(self.target.counted_as(code)) == records;
        self.holds(self.values.entries().len() - usize::from(last), self.records - records)
    }
}

/// The most frequent value occurs less than c times as often as the l-th and rarer ones together.
#[derive(Debug)]
pub(in super::super) struct Recursive<'a> {
    pub(in super::super) target: &'a TargetColumn,
    pub(in super::super) l: u64,
    pub(in super::super) c: Decimal,
    pub(in super::super) values: Histogram,
    pub(in super::super) records: u64,
    /// The counts of the values, descending.
    pub(in super::super) counts: Vec<u64>,
}

impl Recursive<'_> {
    fn replace(&mut self, old: u64, new: u64) {
        if old > 0 {
            let at = self.counts.partition_point(|&count| count > old);
            self.counts.remove(at);
        }
        if new > 0 {
            let at = self.counts.partition_point(|&count| count > new);
            self.counts.insert(at, new);
        }
    }

    /// The verdict if one count `old` becomes `new`.
    fn judge(&self, old: u64, new: u64, records: u64) -> bool {
        let frequent = self.l as usize - 1;
        let (mut most, mut taken, mut sum) = (0, 0, 0);
        let (mut removed, mut inserted) = (old == 0, false);
        // Iterates over the counts in descending order, with `old` removed and `new` inserted.
        let mut next = self.counts.iter().copied().peekable();
        while taken < frequent.max(1) {
            if !removed && next.peek() == Some(&old) {
                (removed, _) = (true, next.next());
                continue;
            }
            let count = match next.peek() {
                Some(&count) if inserted || count > new => {
                    next.next();
                    count
                }
                None if inserted => break,
                _ => {
                    inserted = true;
                    new
                }
            };
            most = count.max(most);
            sum += if taken < frequent { count } else { 0 };
            taken += 1;
        }
        let rarer = records - sum;
        rarer > 0 && self.c.less(most.into(), rarer.into())
    }
}

impl Running for Recursive<'_> {
    fn clear(&mut self) {
        self.values.clear();
        self.counts.clear();
        self.records = 0;
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.target.counted_as(code);
        let old = self.values.get(code);
        self.values.add(code, records);
        self.records += records;
        self.replace(old, old + records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.target.counted_as(code);
        let old = self.values.get(code);
        self.values.subtract(code, records);
        self.records -= records;
        self.replace(old, old - records);
    }

    fn admits(&self) -> bool {
        self.judge(0, 0, self.records)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let old = self.values.get(self.target.counted_as(code));
        self.judge(old, old + records, self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let old = self.values.get(self.target.counted_as(code));
        self.judge(old, old - records, self.records - records)
    }
}

/// An entropy of at least ln l. The sum of r ln r is maintained with a bound of its error. If the
/// bound does not decide, the verdict is computed from all counts.
#[derive(Debug)]
pub(in super::super) struct Entropy<'a> {
    pub(in super::super) target: &'a TargetColumn,
    pub(in super::super) l: u64,
    pub(in super::super) values: Histogram,
    pub(in super::super) records: u64,
    pub(in super::super) sum: f64,
    pub(in super::super) changes: u32,
}

fn term(count: u64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 * (count as f64).ln() }
}

impl Entropy<'_> {
    fn change(&mut self, old: u64, new: u64) {
        self.sum += term(new) - term(old);
        self.changes += 1;
        if self.changes > MOST_CHANGES {
            self.sum = self.values.entries().iter().map(|entry| term(entry.1)).sum();
            self.changes = 0;
        }
    }

    fn judge(&self, code: u32, old: u64, new: u64, records: u64) -> bool {
        let (n, ln) = (records as f64, (self.l as f64).ln());
        let (total, sum) = (term(records), self.sum + term(new) - term(old));
        // Every update adds three rounding errors, each bounded by the size of the group, which was
        // never much larger than now.
        let terms = self.values.entries().len() as f64 + 8.0 + 4.0 * f64::from(self.changes + 1);
        let bound = total.max(term(self.records + old + new)) + n * ln + 1.0;
        let error = 4.0 * terms * f64::EPSILON * bound;
        let excess = total - sum - n * ln;
        if excess.abs() > error && self.changes <= MOST_CHANGES {
            return excess > 0.0;
        }
        let mut counts: Vec<u64> = self
            .values
            .entries()
            .iter()
            .filter(|entry| entry.0 != code)
            .map(|entry| entry.1)
            .collect();
        counts.extend(Some(new).filter(|&count| count > 0));
        l_diversity::entropy(&counts, records, self.l).1
    }
}

impl Running for Entropy<'_> {
    fn clear(&mut self) {
        self.values.clear();
        (self.records, self.sum, self.changes) = (0, 0.0, 0);
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.target.counted_as(code);
        let old = self.values.get(code);
        self.values.add(code, records);
        self.records += records;
        self.change(old, old + records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.target.counted_as(code);
        let old = self.values.get(code);
        self.values.subtract(code, records);
        self.records -= records;
        // The sum was larger before, so its error was too: recompute it.
        self.changes = MOST_CHANGES;
        self.change(old, old - records);
    }

    fn admits(&self) -> bool {
        let code = self.values.entries().first().map_or(0, |entry| entry.0);
        let count = self.values.get(code);
        self.judge(code, count, count, self.records)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let code = self.target.counted_as(code);
        let old = self.values.get(code);
        self.judge(code, old, old + records, self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.target.counted_as(code);
        let old = self.values.get(code);
        self.judge(code, old, old - records, self.records - records)
    }
}
