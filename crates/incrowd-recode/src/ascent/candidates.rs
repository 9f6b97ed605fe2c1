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
    buckets: Vec<u32>,
    /// Rows with their keys.
    keyed: Vec<(u64, u32)>,
    /// The class of each of them.
    class_of: Vec<u32>,
    /// Which class a key is, by key or, if there are too many, by the place it was put to.
    by_key: Vec<u32>,
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
        let least = u32::try_from(check.least).unwrap_or(u32::MAX);
        let bits = (2 * rows.len()).next_power_of_two().clamp(1 << 6, MOST_BUCKETS).trailing_zeros();
        let keys = parts.iter().try_fold(1u64, |keys, part| keys.checked_mul(part.count));
        let keys = keys.and_then(|keys| usize::try_from(keys).ok()).filter(|keys| *keys <= 2 << bits);
        let bucket = |key: u64| if keys.is_some() { key as usize } else { mixed(key, bits) };
        self.buckets.clear();
        self.buckets.resize(keys.unwrap_or(1 << bits), 0);
        self.keyed.clear();
        self.keyed.resize(rows.len(), (0, 0));
        // Written without asking first, and kept only if it counts: which rows do is hard to foretell.
        let mut kept = 0;
        for &row in rows {
            let mut key = 0u64;
            let mut counts = there[row as usize];
            for part in parts {
                let class = part.classes[row as usize];
                counts &= class != ALONE;
                key = key.wrapping_mul(part.count).wrapping_add(u64::from(class));
            }
            self.keyed[kept] = (key, row);
            kept += usize::from(counts);
        }
        self.keyed.truncate(kept);
        for &(key, row) in &self.keyed {
            let count = &mut self.buckets[bucket(key)];
            *count = count.saturating_add(u32::try_from(check.data.weight(row as usize)).unwrap_or(u32::MAX));
        }
        let mut kept = 0;
        for at in 0..self.keyed.len() {
            let keyed = self.keyed[at];
            self.keyed[kept] = keyed;
            kept += usize::from(self.buckets[bucket(keyed.0)] >= least);
        }
        self.keyed.truncate(kept);
        if self.keyed.is_empty() {
            return CandidateGroups { looked_at, ..CandidateGroups::default() };
        }
        CandidateGroups { looked_at, ..self.told_apart(check, judge, keys) }
    }

    /// The classes among the keyed rows; `keys` is how many keys there are, if they are few.
    fn told_apart<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        mut judge: Option<&mut Judge<'a>>,
        keys: Option<usize>,
    ) -> CandidateGroups {
        let slots = (2 * self.keyed.len()).next_power_of_two().max(16);
        self.by_key.clear();
        self.by_place.clear();
        match keys {
            Some(keys) => self.by_key.resize(keys, NONE),
            None => self.by_place.resize(slots, (0, NONE)),
        }
        let counting = check
            .decided_by()
            .filter(|(_, codes)| judge.is_some() && codes.saturating_mul(self.keyed.len()) <= MOST_COUNTS);
        self.counts.clear();
        let seen = if counting.is_some() { 0 } else { check.presences() };
        let (mut counted, mut values): (Vec<Counted>, Vec<u64>) = Default::default();
        self.class_of.clear();
        for &(key, row) in &self.keyed {
            let known = match keys {
                Some(_) => &mut self.by_key[key as usize],
                None => {
                    let mut at = mixed(key, slots.trailing_zeros());
                    while self.by_place[at].1 != NONE && self.by_place[at].0 != key {
                        at = (at + 1) & (slots - 1);
                    }
                    self.by_place[at].0 = key;
                    &mut self.by_place[at].1
                }
            };
            if *known == NONE {
                *known = counted.len() as u32;
                counted.push(Counted::default());
                values.resize(counted.len() * seen, 0);
                self.counts.resize(counted.len() * counting.map_or(0, |(_, codes)| codes), 0);
            }
            let class = *known as usize;
            counted[class].rows += 1;
            let weight = check.data.weight(row as usize);
            counted[class].records += weight;
            match counting {
                Some((column, codes)) => {
                    let code = check.data.sensitive_codes(row as usize)[column] as usize;
                    self.counts[class * codes + code] += weight;
                }
                None => check.see_values(&mut values[class * seen..(class + 1) * seen], row),
            }
            self.class_of.push(class as u32);
        }
        let mut candidates = CandidateGroups::default();
        let mut end = 0;
        let counts = &self.counts;
        // Rows only leave, so what is too small or lacks values now is no group later either.
        let place = |(class, counted): (usize, &Counted)| {
            if counted.records < check.least {
                return NONE;
            }
            let counts = counting.map(|(_, codes)| &counts[class * codes..(class + 1) * codes]);
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
