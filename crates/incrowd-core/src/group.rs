//! Group summaries: the statistics of a group that models judge.

use crate::dataset::Dataset;
use crate::region::Region;

/// Merges adjacent entries with equal keys and adds up their counts.
pub fn merge_equal<K: PartialEq>(entries: &mut Vec<(K, u64)>) {
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
}

/// The number of records per value of a sensitive column, as entries sorted by code. Values that do
/// not occur are not stored, so a small group needs little memory even for a column with many
/// values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    entries: Vec<(u32, u64)>,
}

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Histogram {
        Histogram { entries: Vec::new() }
    }

    /// Counts records by code; `values` is the number of codes.
    pub fn count(values: usize, codes: impl ExactSizeIterator<Item = (u32, u64)>) -> Histogram {
        Histogram::count_of(values, codes.len(), codes)
    }

    /// Counts records by code; `size` is the number of items of the iterator.
    pub(crate) fn count_of(
        values: usize,
        size: usize,
        codes: impl Iterator<Item = (u32, u64)>,
    ) -> Histogram {
        if values <= 4 * size {
            let mut counts = vec![0u64; values];
            codes.for_each(|(code, records)| counts[code as usize] += records);
            let used = counts.into_iter().enumerate().filter(|(_, records)| *records > 0);
            return Histogram {
                entries: used.map(|(code, records)| (code as u32, records)).collect(),
            };
        }
        let mut entries: Vec<(u32, u64)> = codes.filter(|(_, records)| *records > 0).collect();
        entries.sort_unstable();
        merge_equal(&mut entries);
        Histogram { entries }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Adds `records` records with a value.
    pub fn add(&mut self, code: u32, records: u64) {
        match self.entries.binary_search_by_key(&code, |entry| entry.0) {
            Ok(at) => self.entries[at].1 += records,
            Err(_) if records == 0 => {}
            Err(at) => self.entries.insert(at, (code, records)),
        }
    }

    /// Replaces all entries by these counts, which must be sorted by code; zeros are skipped.
    pub fn assign(&mut self, counts: impl Iterator<Item = (u32, u64)>) {
        self.entries.clear();
        self.entries.extend(counts.filter(|(_, records)| *records > 0));
        debug_assert!(self.entries.is_sorted_by(|a, b| a.0 < b.0));
    }

    /// The values that occur with their counts, sorted by code.
    pub fn entries(&self) -> &[(u32, u64)] {
        &self.entries
    }

    /// The number of records with a value.
    pub fn get(&self, code: u32) -> u64 {
        self.entries.binary_search_by_key(&code, |entry| entry.0).map_or(0, |at| self.entries[at].1)
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        let mut merged = Vec::with_capacity(self.entries.len() + other.entries.len());
        let (mut mine, mut theirs) =
            (self.entries.iter().peekable(), other.entries.iter().peekable());
        while let (Some(&&(a, m)), Some(&&(b, n))) = (mine.peek(), theirs.peek()) {
            merged.push((a.min(b), if a <= b { m } else { 0 } + if b <= a { n } else { 0 }));
            mine.next_if(|_| a <= b);
            theirs.next_if(|_| b <= a);
        }
        merged.extend(mine.chain(theirs));
        self.entries = merged;
    }

    /// Removes `records` records with a value. They must have been added before.
    pub fn subtract(&mut self, code: u32, records: u64) {
        if let Ok(at) = self.entries.binary_search_by_key(&code, |entry| entry.0) {
            self.entries[at].1 -= records;
            if self.entries[at].1 == 0 {
                self.entries.remove(at);
            }
        }
    }

    /// Subtracts a histogram that was added before.
    pub fn remove(&mut self, other: &Histogram) {
        let mut theirs = other.entries.iter().peekable();
        self.entries.retain_mut(|(code, records)| {
            if let Some((_, less)) = theirs.next_if(|(b, _)| b == code) {
                *records -= less;
            }
            *records > 0
        });
    }
}

/// The statistics of a group. Records, histograms and persons of a union follow from those of its
/// parts. Population and region do not: a union may be published with cells that cover more than
/// the cells of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSummary {
    /// The number of records.
    pub records: u64,
    /// One histogram per sensitive column; empty if no model needs it.
    pub sensitive: Vec<Histogram>,
    /// The number of people of the population that the published cells cover; 0 if no model needs
    /// it. A summary without records describes the people that no cell covers.
    pub population: u64,
    /// The region that the published cells cover; `None` if no model needs it.
    pub region: Option<Region>,
    /// The number of records per holding ([`Persons`](crate::Persons)), if a person may have
    /// several records.
    pub persons: Option<Histogram>,
    /// Sum of the records' sampling weights, in [millionths](crate::represented), if the table has
    /// them.
    pub represented: u64,
}

impl GroupSummary {
    /// A group without records and with `sensitive` empty histograms.
    pub fn empty(sensitive: usize) -> GroupSummary {
        GroupSummary { sensitive: vec![Histogram::default(); sensitive], ..GroupSummary::default() }
    }

    /// Adds `records` records with these sensitive codes.
    pub fn add(&mut self, records: u64, sensitive: &[u32]) {
        self.records += records;
        for (histogram, &code) in self.sensitive.iter_mut().zip(sensitive) {
            histogram.add(code, records);
        }
    }

    /// Adds the records of a row.
    pub fn add_row(&mut self, data: &Dataset, row: usize) {
        let records = data.weight(row);
        self.add(records, data.sensitive_codes(row));
        self.represented = self.represented.saturating_add(data.represented(row));
        if let Some(persons) = data.persons().filter(|_| records > 0) {
            let own = persons.of_row(row);
            let mut fresh = Histogram::default();
            fresh.assign(own.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)));
            self.persons.get_or_insert_default().merge(&fresh);
        }
    }

    /// Adds the records of another group. Clears the region: the union's cells are not known yet.
    pub fn merge(&mut self, other: &GroupSummary) {
        self.region = None;
        self.records += other.records;
        self.represented = self.represented.saturating_add(other.represented);
        for (mine, theirs) in self.sensitive.iter_mut().zip(&other.sensitive) {
            mine.merge(theirs);
        }
        if let Some(theirs) = &other.persons {
            self.persons.get_or_insert_default().merge(theirs);
        }
    }

    /// Removes records that were added before.
    pub fn remove(&mut self, part: &GroupSummary) {
        self.region = None;
        self.records -= part.records;
        self.represented = self.represented.saturating_sub(part.represented);
        for (mine, theirs) in self.sensitive.iter_mut().zip(&part.sensitive) {
            mine.remove(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.persons, &part.persons) {
            mine.remove(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(rows: &[(u64, u32, u32)]) -> GroupSummary {
        let mut s = GroupSummary::empty(2);
        for &(records, a, b) in rows {
            s.add(records, &[a, b]);
        }
        s
    }

    proptest! {
        #[test]
        fn the_summary_of_a_union_is_the_merged_summary(
            a in prop::collection::vec((1u64..5, 0u32..6, 0u32..6), 0..9),
            b in prop::collection::vec((1u64..5, 0u32..6, 0u32..6), 0..9),
        ) {
            let mut merged = summary(&a);
            merged.merge(&summary(&b));
            let union: Vec<_> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(&merged, &summary(&union));
            merged.remove(&summary(&b));
            prop_assert_eq!(merged, summary(&a));
        }

        #[test]
        fn bulk_counting_agrees_with_single_additions(
            rows in prop::collection::vec((0u32..40, 0u64..5), 0..30),
            spare in 0usize..200,
        ) {
            let mut slow = Histogram::default();
            rows.iter().for_each(|&(code, records)| slow.add(code, records));
            let fast = Histogram::count(40 + spare, rows.iter().copied());
            prop_assert_eq!(&fast, &slow);
            let count = |c: u32| rows.iter().filter(|r| r.0 == c).map(|r| r.1).sum::<u64>();
            prop_assert!((0..40).all(|c| fast.get(c) == count(c)));
        }
    }
}
