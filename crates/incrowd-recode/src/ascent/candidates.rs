//! Candidate groups: the rows that would be published with the same cells at a combination of levels.

use std::ops::Range;

use super::blocks::{ALONE, Part};
use crate::improve::{Judge, ModelCheck};

/// Records are first counted in at most so many buckets.
const MOST_BUCKETS: usize = 1 << 20;

/// How often the values of classes occur is counted where that takes at most so many numbers.
const MOST_COUNTS: usize = 1 << 22;

/// No class yet, or none that matters.
const NONE: u32 = u32::MAX;

/// Counts rows with the same cells. Most combinations bring few together, so rows are first counted in buckets, which are small and
/// quick, and only those in a full bucket are told apart. Where there are no more keys than buckets, every key has its own.
#[derive(Debug, Default)]
pub(super) struct ClassCounter {
    /// Records by bucket; then, where every key has its own, the class.
    buckets: Vec<u32>,
    /// Rows with their keys.
    keyed: Vec<(u64, u32)>,
    /// The class of each of them.
    class_of: Vec<u32>,
    /// Which class a key is, by the place it was put to.
    by_place: Vec<(u64, u32)>,
    /// By class, how often each value occurs, if that decides.
    counts: Vec<u64>,
}

/// The rows of classes that may be groups.
#[derive(Debug, Default)]
pub(super) struct CandidateGroups {
    /// Class by class, in order.
    rows: Vec<u32>,
    classes: Vec<Class>,
    /// How many rows were looked at to find them.
    pub(super) looked_at: u64,
}

/// Rows that would be published alike.
#[derive(Debug)]
struct Class {
    rows: Range<usize>,
    records: u64,
    /// Whether the models admit all of them, if they were asked.
    admitted: Option<bool>,
}

/// What is known of a class while its rows are counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    rows: usize,
    records: u64,
}

impl ClassCounter {
    /// The rows that have company among `rows`, which are those that are `there`. Classes are judged with the `judge`, if there is
    /// one and how often values occur decides.
    pub(super) fn candidates<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        judge: Option<&mut Judge<'a>>,
        parts: &[&Part],
        rows: &[u32],
        there: &[bool],
    ) -> CandidateGroups {
        // Whoever is alone in one part need not be looked at; the part that leaves fewest over says whom to look at.
        let fewest = parts.iter().map(|part| part.crowded.as_slice()).min_by_key(|crowded| crowded.len());
        let rows = fewest.filter(|crowded| crowded.len() < rows.len()).unwrap_or(rows);
        let looked_at = rows.len() as u64;
        let least = u32::try_from(check.least.max(1)).unwrap_or(u32::MAX);
        let bits = (2 * rows.len()).next_power_of_two().clamp(1 << 6, MOST_BUCKETS).trailing_zeros();
        let keys = parts.iter().try_fold(1u64, |keys, part| keys.checked_mul(part.count));
        let keys = keys.and_then(|keys| usize::try_from(keys).ok()).filter(|keys| *keys <= 2 << bits);
        let bucket = |key: u64| if keys.is_some() { key as usize } else { mixed(key, bits) };
        self.buckets.clear();
        self.buckets.resize(keys.unwrap_or(1 << bits), 0);
        self.keyed.resize(rows.len(), (0, 0));
        // Written without asking first, and kept only if it counts: which rows do is hard to foretell.
        let mut kept = 0;
        let mut keep = |row: u32, key: u64, counts: bool| {
            self.keyed[kept] = (key, row);
            kept += usize::from(counts);
        };
        if let [one, other] = parts {
            let (ones, others) = (one.classes.as_slice(), other.classes.as_slice());
            for &row in rows {
                let (a, b) = (ones[row as usize], others[row as usize]);
                let key = u64::from(a).wrapping_mul(other.count).wrapping_add(u64::from(b));
                keep(row, key, there[row as usize] & (a != ALONE) & (b != ALONE));
            }
        } else {
            for &row in rows {
                let (mut key, mut counts) = (0u64, there[row as usize]);
                for part in parts {
                    let class = part.classes[row as usize];
                    counts &= class != ALONE;
                    key = key.wrapping_mul(part.count).wrapping_add(u64::from(class));
                }
                keep(row, key, counts);
            }
        }
        self.keyed.truncate(kept);
        for &(key, row) in &self.keyed {
            let count = &mut self.buckets[bucket(key)];
            *count = count.saturating_add(u32::try_from(check.data.weight(row as usize)).unwrap_or(u32::MAX));
        }
        let classes = match keys {
            Some(_) => self.classes_by_key(least),
            None => self.classes_by_place(least, bits),
        };
        if self.keyed.is_empty() {
            return CandidateGroups { looked_at, ..CandidateGroups::default() };
        }
        CandidateGroups { looked_at, ..self.counted(check, judge, classes) }
    }

    /// Numbers the keys that have enough records, and keeps the rows of those alone; how many there are.
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

    /// Keeps the rows of buckets that have enough records, and numbers their keys; how many there are.
    fn classes_by_place(&mut self, least: u32, bits: u32) -> usize {
        let mut kept = 0;
        for at in 0..self.keyed.len() {
            let keyed = self.keyed[at];
            self.keyed[kept] = keyed;
            kept += usize::from(self.buckets[mixed(keyed.0, bits)] >= least);
        }
        self.keyed.truncate(kept);
        let slots = (2 * kept).next_power_of_two().max(16);
        self.by_place.clear();
        self.by_place.resize(slots, (0, NONE));
        self.class_of.clear();
        let mut classes = 0;
        for &(key, _) in &self.keyed {
            let mut at = mixed(key, slots.trailing_zeros());
            while self.by_place[at].1 != NONE && self.by_place[at].0 != key {
                at = (at + 1) & (slots - 1);
            }
            if self.by_place[at].1 == NONE {
                self.by_place[at] = (key, classes);
                classes += 1;
            }
            self.class_of.push(self.by_place[at].1);
        }
        classes as usize
    }

    /// The classes of the keyed rows that may be groups.
    fn counted<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        mut judge: Option<&mut Judge<'a>>,
        classes: usize,
    ) -> CandidateGroups {
        let fits = |values: usize| values.saturating_mul(self.keyed.len()) <= MOST_COUNTS;
        let counting = check.deciding().filter(|deciding| judge.is_some() && fits(deciding.values));
        let codes = counting.map_or(0, |deciding| deciding.values);
        let seen = if counting.is_some() { 0 } else { check.presences() };
        let (mut counted, mut values) = (vec![Counted::default(); classes], vec![0; classes * seen]);
        self.counts.clear();
        self.counts.resize(classes * codes, 0);
        for (&(_, row), &class) in self.keyed.iter().zip(&self.class_of) {
            let class = class as usize;
            let weight = check.data.weight(row as usize);
            counted[class].rows += 1;
            counted[class].records += weight;
            match counting {
                Some(deciding) => {
                    self.counts[class * codes + usize::from(deciding.codes[row as usize])] += weight;
                }
                None => check.see_values(&mut values[class * seen..(class + 1) * seen], row),
            }
        }
        let mut candidates = CandidateGroups::default();
        let mut end = 0;
        let counts = &self.counts;
        // Rows only leave, so what is too small or lacks values now is no group later either.
        let place = |(class, counted): (usize, &Counted)| {
            if counted.records < check.least {
                return NONE;
            }
            let counts = counting.map(|_| &counts[class * codes..(class + 1) * codes]);
            let may_be = match counts {
                Some(counts) => check.has_counted(counts),
                None => check.has_values(&values[class * seen..(class + 1) * seen]),
            };
            if !may_be {
                return NONE;
            }
            let judged = judge.as_deref_mut().zip(counts);
            let admitted = judged.map(|(judge, counts)| check.admits_counted(judge, counts, counted.records));
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

/// A place for a key.
fn mixed(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

impl CandidateGroups {
    /// The rows, class by class.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().copied()
    }

    /// Judges the classes as they are that were not judged yet.
    pub(super) fn judged<'a>(mut self, check: &ModelCheck<'a>, judge: &mut Judge<'a>) -> CandidateGroups {
        for class in self.classes.iter_mut().filter(|class| class.admitted.is_none()) {
            class.admitted = Some(check.admits(judge, &self.rows[class.rows.clone()], class.records));
        }
        self
    }

    /// How many classes there are.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The classes that may be groups of the rows that are still there, in the order of their first rows. Who lost a row is judged
    /// anew.
    pub(super) fn admitted<'a>(
        &self,
        check: &ModelCheck<'a>,
        judge: &mut Judge<'a>,
        there: &[bool],
    ) -> Vec<Vec<u32>> {
        let mut admitted: Vec<Vec<u32>> = Vec::new();
        let mut left: Vec<u32> = Vec::new();
        for class in &self.classes {
            let rows = &self.rows[class.rows.clone()];
            if rows.iter().all(|&row| there[row as usize]) {
                admitted.extend((class.admitted == Some(true)).then(|| rows.to_vec()));
                continue;
            }
            left.clear();
            left.extend(rows.iter().filter(|row| there[**row as usize]));
            let records = left.iter().map(|&row| check.data.weight(row as usize)).sum();
            if !left.is_empty() && check.admits(judge, &left, records) {
                admitted.push(left.clone());
            }
        }
        admitted.sort_unstable_by_key(|rows| rows[0]);
        admitted
    }
}
