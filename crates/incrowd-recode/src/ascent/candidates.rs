//! Candidate groups: the rows that would be published with the same cells at a combination of levels.

use super::blocks::{ALONE, Part};
use crate::improve::ModelCheck;

/// Records are first counted in at most so many buckets.
const MOST_BUCKETS: usize = 1 << 20;

/// Counts rows with the same cells. Most combinations bring few together, so rows are first counted in buckets, which are small and
/// quick, and only those in a full bucket are told apart.
#[derive(Debug, Default)]
pub(super) struct ClassCounter {
    buckets: Vec<u32>,
    /// Rows with their keys.
    keyed: Vec<(u64, u32)>,
}

/// The rows that are in a class that is large enough, in order, with the class.
#[derive(Debug, Default)]
pub(super) struct CandidateGroups {
    classes: Vec<(u32, u32)>,
    /// The records of each class.
    records: Vec<u64>,
}

/// Rows that would be published alike.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) rows: Vec<u32>,
    pub(super) records: u64,
}

impl ClassCounter {
    /// The rows that have company among `rows`, which are those that are `there`.
    pub(super) fn candidates(
        &mut self,
        check: &ModelCheck<'_>,
        parts: &[&Part],
        rows: &[u32],
        there: &[bool],
    ) -> CandidateGroups {
        // Whoever is alone in one part need not be looked at; the part that leaves fewest over says whom to look at.
        let fewest = parts.iter().map(|part| part.crowded.as_slice()).min_by_key(|crowded| crowded.len());
        let rows = fewest.filter(|crowded| crowded.len() < rows.len()).unwrap_or(rows);
        let least = u32::try_from(check.least).unwrap_or(u32::MAX);
        let bits = (2 * rows.len()).next_power_of_two().clamp(1 << 6, MOST_BUCKETS).trailing_zeros();
        let bucket = |key: u64| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
        self.buckets.clear();
        self.buckets.resize(1 << bits, 0);
        self.keyed.clear();
        'rows: for &row in rows.iter().filter(|row| there[**row as usize]) {
            let mut key = 0u64;
            for part in parts {
                let class = part.classes[row as usize];
                if class == ALONE {
                    continue 'rows;
                }
                key = key.wrapping_mul(part.count).wrapping_add(u64::from(class));
            }
            let count = &mut self.buckets[bucket(key)];
            *count = count.saturating_add(u32::try_from(check.data.weight(row as usize)).unwrap_or(u32::MAX));
            self.keyed.push((key, row));
        }
        self.keyed.retain(|&(key, _)| self.buckets[bucket(key)] >= least);
        if self.keyed.is_empty() {
            return CandidateGroups::default();
        }
        self.told_apart(check)
    }

    /// The classes among the keyed rows.
    fn told_apart(&self, check: &ModelCheck<'_>) -> CandidateGroups {
        const FREE: u32 = u32::MAX;
        let slots = (2 * self.keyed.len()).next_power_of_two().max(16);
        let bits = slots.trailing_zeros();
        let mut known: Vec<(u64, u32)> = vec![(0, FREE); slots];
        let mut candidates = CandidateGroups::default();
        for &(key, row) in &self.keyed {
            let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
            let class = loop {
                let (there, class) = known[at];
                if class == FREE {
                    let class = candidates.records.len() as u32;
                    known[at] = (key, class);
                    candidates.records.push(0);
                    break class;
                }
                if there == key {
                    break class;
                }
                at = (at + 1) & (slots - 1);
            };
            candidates.records[class as usize] += check.data.weight(row as usize);
            candidates.classes.push((row, class));
        }
        candidates.drop_small(check);
        candidates
    }
}

impl CandidateGroups {
    /// The rows, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        self.classes.iter().map(|&(row, _)| row)
    }

    /// Keeps these rows, and of them those that still have company.
    pub(super) fn keep(&mut self, check: &ModelCheck<'_>, keep: impl Fn(u32) -> bool) {
        let records = &mut self.records;
        self.classes.retain(|&(row, class)| {
            let keep = keep(row);
            if !keep {
                records[class as usize] -= check.data.weight(row as usize);
            }
            keep
        });
        self.drop_small(check);
    }

    fn drop_small(&mut self, check: &ModelCheck<'_>) {
        self.classes.retain(|&(_, class)| self.records[class as usize] >= check.least);
    }

    /// The classes, in the order of their first rows.
    pub(super) fn into_classes(self) -> Vec<Class> {
        const NONE: u32 = u32::MAX;
        let mut at = vec![NONE; self.records.len()];
        let mut classes: Vec<Class> = Vec::new();
        for (row, class) in self.classes {
            let at = &mut at[class as usize];
            if *at == NONE {
                *at = classes.len() as u32;
                classes.push(Class { rows: Vec::new(), records: self.records[class as usize] });
            }
            classes[*at as usize].rows.push(row);
        }
        classes
    }
}
