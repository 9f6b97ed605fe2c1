//! Candidate groups: the rows that would have equal cells at a combination of levels.

use std::ops::Range;

use super::blocks::{BlockClasses, NO_CLASS};
use crate::improve::{GroupState, ModelCheck};

/// The greatest number of buckets in which records are counted first.
const MAX_BUCKETS: usize = 1 << 20;

/// The greatest size of the table of values per class.
const MAX_COUNTS: usize = 1 << 22;

/// No class, or one that cannot be a group.
const NONE: u32 = u32::MAX;

/// Finds rows with equal cells. Most combinations have few of them, so records are first counted in
/// small hash buckets, and only the rows of large buckets are compared by key. If there are no more
/// keys than buckets, every key has its own bucket.
#[derive(Debug, Default)]
pub(super) struct ClassCounter {
    /// Records by bucket. Later, if every key has its own bucket, the class.
    buckets: Vec<u32>,
    /// Pairs of a key and a row.
    keyed: Vec<(u64, u32)>,
    /// The class of each of these pairs.
    class_of: Vec<u32>,
    /// An open-addressing hash table of keys and classes.
    slots: Vec<(u64, u32)>,
    /// By class and value, the number of records, if these counts decide.
    counts: Vec<u64>,
}

/// The rows of classes that may be groups.
#[derive(Debug, Default)]
pub(super) struct CandidateGroups {
    /// The rows, class by class.
    rows: Vec<u32>,
    classes: Vec<Class>,
    /// The number of rows that were scanned.
    pub(super) scanned: u64,
}

/// Rows with equal cells.
#[derive(Debug)]
struct Class {
    rows: Range<usize>,
    records: u64,
    /// The models' verdict on all rows of the class, if it was computed.
    admitted: Option<bool>,
}

/// The size of a class while its rows are counted.
#[derive(Clone, Copy, Debug, Default)]
struct ClassSize {
    rows: usize,
    records: u64,
}

impl ClassCounter {
    /// Returns the candidate groups among `rows`, which must be the `remaining` ones. `blocks`
    /// contains the classes of each block. If `state` is given and value counts decide, the classes
    /// are also checked by the models.
    pub(super) fn candidates<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        state: Option<&mut GroupState<'a>>,
        blocks: &[&BlockClasses],
        rows: &[u32],
        remaining: &[bool],
    ) -> CandidateGroups {
        // A row without a class in one block has none in all columns. So only the rows with a class
        // in the block that has the fewest such rows are scanned.
        let fewest =
            blocks.iter().map(|block| block.large_class_rows.as_slice()).min_by_key(|r| r.len());
        let rows = fewest.filter(|fewest| fewest.len() < rows.len()).unwrap_or(rows);
        let scanned = rows.len() as u64;
        let least = u32::try_from(check.min_records.max(1)).unwrap_or(u32::MAX);
        let bits = (2 * rows.len()).next_power_of_two().clamp(1 << 6, MAX_BUCKETS).trailing_zeros();
        let keys = blocks.iter().try_fold(1u64, |keys, block| keys.checked_mul(block.count));
        let keys =
            keys.and_then(|keys| usize::try_from(keys).ok()).filter(|keys| *keys <= 2 << bits);
        let bucket = |key: u64| if keys.is_some() { key as usize } else { hash(key, bits) };
        self.buckets.clear();
        self.buckets.resize(keys.unwrap_or(1 << bits), 0);
        self.keyed.resize(rows.len(), (0, 0));
        // Every pair is written, and the position advances only if the row counts. This avoids
        // branches that are hard to predict.
        let mut kept = 0;
        let mut keep = |row: u32, key: u64, counts: bool| {
            self.keyed[kept] = (key, row);
            kept += usize::from(counts);
        };
        if let [one, other] = blocks {
            let (ones, others) = (one.classes.as_slice(), other.classes.as_slice());
            for &row in rows {
                let (a, b) = (ones[row as usize], others[row as usize]);
                let key = u64::from(a).wrapping_mul(other.count).wrapping_add(u64::from(b));
                keep(row, key, remaining[row as usize] & (a != NO_CLASS) & (b != NO_CLASS));
            }
        } else {
            for &row in rows {
                let (mut key, mut counts) = (0u64, remaining[row as usize]);
                for block in blocks {
                    let class = block.classes[row as usize];
                    counts &= class != NO_CLASS;
                    key = key.wrapping_mul(block.count).wrapping_add(u64::from(class));
                }
                keep(row, key, counts);
            }
        }
        self.keyed.truncate(kept);
        for &(key, row) in &self.keyed {
            let count = &mut self.buckets[bucket(key)];
            *count = count
                .saturating_add(u32::try_from(check.data.weight(row as usize)).unwrap_or(u32::MAX));
        }
        let classes = match keys {
            Some(_) => self.classes_by_key(least),
            None => self.classes_by_hash(least, bits),
        };
        if self.keyed.is_empty() {
            return CandidateGroups { scanned, ..CandidateGroups::default() };
        }
        CandidateGroups { scanned, ..self.counted(check, state, classes) }
    }

    /// Numbers the keys with enough records and keeps only their rows. Returns the number of
    /// classes.
    fn classes_by_key(&mut self, least: u32) -> usize {
        let mut classes = 0;
        for records in &mut self.buckets {
            let large = *records >= least;
            *records = if large { classes } else { NONE };
            classes += u32::from(large);
        }
        self.class_of.resize(self.keyed.len(), NONE);
        let mut kept = 0;
        for at in 0..self.keyed.len() {
            let keyed = self.keyed[at];
            let class = self.buckets[keyed.0 as usize];
            (self.keyed[kept], self.class_of[kept]) = (keyed, class);
            kept += usize::from(class != NONE);
        }
        self.keyed.truncate(kept);
        self.class_of.truncate(kept);
        classes as usize
    }

    /// Keeps the rows of buckets with enough records and numbers their keys. Returns the number of
    /// classes.
    fn classes_by_hash(&mut self, least: u32, bits: u32) -> usize {
        let mut kept = 0;
        for at in 0..self.keyed.len() {
            let keyed = self.keyed[at];
            self.keyed[kept] = keyed;
            kept += usize::from(self.buckets[hash(keyed.0, bits)] >= least);
        }
        self.keyed.truncate(kept);
        let slots = (2 * kept).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(slots, (0, NONE));
        self.class_of.clear();
        let mut classes = 0;
        for &(key, _) in &self.keyed {
            let mut at = hash(key, slots.trailing_zeros());
            while self.slots[at].1 != NONE && self.slots[at].0 != key {
                at = (at + 1) & (slots - 1);
            }
            if self.slots[at].1 == NONE {
                self.slots[at] = (key, classes);
                classes += 1;
            }
            self.class_of.push(self.slots[at].1);
        }
        classes as usize
    }

    /// Returns the classes that may be groups, with their rows.
    fn counted<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        mut state: Option<&mut GroupState<'a>>,
        classes: usize,
    ) -> CandidateGroups {
        let fits = |values: usize| values.saturating_mul(self.keyed.len()) <= MAX_COUNTS;
        let counting = check.deciding().filter(|deciding| state.is_some() && fits(deciding.values));
        let codes = counting.map_or(0, |deciding| deciding.values);
        let words = if counting.is_some() { 0 } else { check.presence_words() };
        let (mut counted, mut values) =
            (vec![ClassSize::default(); classes], vec![0; classes * words]);
        self.counts.clear();
        self.counts.resize(classes * codes, 0);
        for (&(_, row), &class) in self.keyed.iter().zip(&self.class_of) {
            let class = class as usize;
            let count = check.data.weight(row as usize);
            counted[class].rows += 1;
            counted[class].records += count;
            match counting {
                Some(deciding) => {
                    self.counts[class * codes + usize::from(deciding.codes[row as usize])] += count;
                }
                None => check.add_values(&mut values[class * words..(class + 1) * words], row),
            }
        }
        let mut candidates = CandidateGroups::default();
        let mut end = 0;
        let counts = &self.counts;
        // Rows are only removed, so a class that is too small or lacks values now cannot be a group
        // later.
        let place = |(class, counted): (usize, &ClassSize)| {
            if counted.records < check.min_records {
                return NONE;
            }
            let counts = counting.map(|_| &counts[class * codes..(class + 1) * codes]);
            let may_be = match counts {
                Some(counts) => check.has_required_counts(counts),
                None => check.has_required_values(&values[class * words..(class + 1) * words]),
            };
            if !may_be {
                return NONE;
            }
            let checked = state.as_deref_mut().zip(counts);
            let admitted =
                checked.map(|(state, counts)| check.admits_counted(state, counts, counted.records));
            let begin = end;
            end += counted.rows;
            candidates.classes.push(Class { rows: begin..end, records: counted.records, admitted });
            begin as u32
        };
        let mut places: Vec<u32> = counted.iter().enumerate().map(place).collect();
        candidates.rows.resize(end, 0);
        for (&(_, row), &class) in self.keyed.iter().zip(&self.class_of) {
            let place = &mut places[class as usize];
            if *place != NONE {
                candidates.rows[*place as usize] = row;
                *place += 1;
            }
        }
        candidates
    }
}

/// Returns the top bits of a multiplicative hash.
fn hash(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

impl CandidateGroups {
    /// Iterates over the rows, class by class.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().copied()
    }

    /// Checks the classes that were not checked yet.
    pub(super) fn checked<'a>(
        mut self,
        check: &ModelCheck<'a>,
        state: &mut GroupState<'a>,
    ) -> CandidateGroups {
        for class in self.classes.iter_mut().filter(|class| class.admitted.is_none()) {
            class.admitted =
                Some(check.admits(state, &self.rows[class.rows.clone()], class.records));
        }
        self
    }

    /// Returns the number of classes.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns the remaining rows of the classes that may be groups, in the order of their first
    /// rows. Classes that have lost rows are checked again.
    pub(super) fn admitted<'a>(
        &self,
        check: &ModelCheck<'a>,
        state: &mut GroupState<'a>,
        remaining: &[bool],
    ) -> Vec<Vec<u32>> {
        let mut admitted: Vec<Vec<u32>> = Vec::new();
        let mut left: Vec<u32> = Vec::new();
        for class in &self.classes {
            let rows = &self.rows[class.rows.clone()];
            if rows.iter().all(|&row| remaining[row as usize]) {
                admitted.extend((class.admitted == Some(true)).then(|| rows.to_vec()));
                continue;
            }
            left.clear();
            left.extend(rows.iter().filter(|row| remaining[**row as usize]));
            let records = left.iter().map(|&row| check.data.weight(row as usize)).sum();
            if !left.is_empty() && check.admits(state, &left, records) {
                admitted.push(left.clone());
            }
        }
        admitted.sort_unstable_by_key(|rows| rows[0]);
        admitted
    }
}
