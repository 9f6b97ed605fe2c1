//! The four kinds of l-diversity, each with what it has to know of a group.

use super::super::l_diversity;
use super::super::watched::Watched;
use super::Running;
use crate::eligibility::eligible;
use crate::exact::Decimal;
use crate::group::Histogram;

/// So many changes are made to a sum of logarithms before it is added up anew.
const MOST_CHANGES: u32 = 256;

/// At least l different values.
#[derive(Debug)]
pub(in super::super) struct Distinct<'a> {
    pub(in super::super) watched: &'a Watched,
    pub(in super::super) l: u64,
    pub(in super::super) values: Histogram,
}

impl Running for Distinct<'_> {
    fn clear(&mut self) {
        self.values = Histogram::default();
    }

    fn add(&mut self, code: u32, records: u64) {
        self.values.add(self.watched.counted_as(code), records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        self.values.subtract(self.watched.counted_as(code), records);
    }

    fn admits(&self) -> bool {
        self.values.entries().len() as u64 >= self.l
    }

    fn admits_with(&self, code: u32, _: u64) -> bool {
        let new = self.values.get(self.watched.counted_as(code)) == 0;
        self.values.entries().len() as u64 + u64::from(new) >= self.l
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let last = self.values.get(self.watched.counted_as(code)) == records;
        self.values.entries().len() as u64 - u64::from(last) >= self.l
    }
}

/// No value more often than one in l.
#[derive(Debug)]
pub(in super::super) struct Frequency<'a> {
    pub(in super::super) watched: &'a Watched,
    pub(in super::super) l: u64,
    pub(in super::super) values: Histogram,
    pub(in super::super) records: u64,
    pub(in super::super) most: u64,
}

impl Frequency<'_> {
    /// The most frequent value if this one occurs so often.
    fn most_if(&self, code: u32, count: u64) -> u64 {
        let others = self.values.entries().iter().filter(|entry| entry.0 != code);
        others.map(|entry| entry.1).max().unwrap_or(0).max(count)
    }
}

impl Running for Frequency<'_> {
    fn clear(&mut self) {
        (self.values, self.records, self.most) = (Histogram::default(), 0, 0);
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        self.values.add(code, records);
        self.records += records;
        self.most = self.most.max(self.values.get(code));
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        self.values.subtract(code, records);
        self.records -= records;
        self.most = self.values.entries().iter().map(|entry| entry.1).max().unwrap_or(0);
    }

    fn admits(&self) -> bool {
        eligible(self.most, self.records, self.l)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let count = self.values.get(self.watched.counted_as(code)) + records;
        eligible(self.most.max(count), self.records + records, self.l)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        let count = self.values.get(code);
        let most = if count == self.most { self.most_if(code, count - records) } else { self.most };
        eligible(most, self.records - records, self.l)
    }
}

/// The most frequent value less than c times the l-th and rarer ones together.
#[derive(Debug)]
pub(in super::super) struct Recursive<'a> {
    pub(in super::super) watched: &'a Watched,
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

    /// The answer if a count is another one.
    fn judge(&self, old: u64, new: u64, records: u64) -> bool {
        let gone = self.counts.partition_point(|&count| count > old);
        let counts =
            self.counts.iter().enumerate().filter(|(at, _)| old == 0 || *at != gone).map(|(_, &n)| n);
        let frequent = self.l as usize - 1;
        // Of the greatest counts one more than needed, since the new one may stand among them.
        let mut top: Vec<u64> = counts.take(frequent.max(1)).collect();
        let at = top.partition_point(|&count| count > new);
        top.insert(at, new);
        let rarer = records - top.iter().take(frequent).sum::<u64>();
        rarer > 0 && self.c.less(top[0].into(), rarer.into())
    }
}

impl Running for Recursive<'_> {
    fn clear(&mut self) {
        (self.values, self.records) = (Histogram::default(), 0);
        self.counts.clear();
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        let old = self.values.get(code);
        self.values.add(code, records);
        self.records += records;
        self.replace(old, old + records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        let old = self.values.get(code);
        self.values.subtract(code, records);
        self.records -= records;
        self.replace(old, old - records);
    }

    fn admits(&self) -> bool {
        self.judge(0, 0, self.records)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let old = self.values.get(self.watched.counted_as(code));
        self.judge(old, old + records, self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let old = self.values.get(self.watched.counted_as(code));
        self.judge(old, old - records, self.records - records)
    }
}

/// An entropy of at least ln l. The sum of r ln r is kept, with a bound of its error; where that does not decide, all counts do.
#[derive(Debug)]
pub(in super::super) struct Entropy<'a> {
    pub(in super::super) watched: &'a Watched,
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
        // Every change adds three roundings of numbers that the group, which was never larger than this by far, bounds.
        let terms = self.values.entries().len() as f64 + 8.0 + 4.0 * f64::from(self.changes + 1);
        let bound = total.max(term(self.records + old + new)) + n * ln + 1.0;
        let error = 4.0 * terms * f64::EPSILON * bound;
        let excess = total - sum - n * ln;
        if excess.abs() > error && self.changes <= MOST_CHANGES {
            return excess > 0.0;
        }
        let mut counts: Vec<u64> =
            self.values.entries().iter().filter(|entry| entry.0 != code).map(|entry| entry.1).collect();
        counts.extend(Some(new).filter(|&count| count > 0));
        l_diversity::entropy(&counts, records, self.l).1
    }
}

impl Running for Entropy<'_> {
    fn clear(&mut self) {
        (self.values, self.records, self.sum, self.changes) = (Histogram::default(), 0, 0.0, 0);
    }

    fn add(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        let old = self.values.get(code);
        self.values.add(code, records);
        self.records += records;
        self.change(old, old + records);
    }

    fn remove(&mut self, code: u32, records: u64) {
        let code = self.watched.counted_as(code);
        let old = self.values.get(code);
        self.values.subtract(code, records);
        self.records -= records;
        // The sum was larger: it is added up anew, so that what was lost then does not count now.
        self.changes = MOST_CHANGES;
        self.change(old, old - records);
    }

    fn admits(&self) -> bool {
        let code = self.values.entries().first().map_or(0, |entry| entry.0);
        let count = self.values.get(code);
        self.judge(code, count, count, self.records)
    }

    fn admits_with(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        let old = self.values.get(code);
        self.judge(code, old, old + records, self.records + records)
    }

    fn admits_without(&self, code: u32, records: u64) -> bool {
        let code = self.watched.counted_as(code);
        let old = self.values.get(code);
        self.judge(code, old, old - records, self.records - records)
    }
}
