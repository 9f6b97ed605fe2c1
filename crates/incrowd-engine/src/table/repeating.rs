//! Detects columns whose values repeat like those of a person column with several records per
//! person. The result is used for a hint and need not be exact. So only the first records of each
//! thread are examined.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::value_key;

use crate::source::Records;

/// The number of records that each thread examines.
const MOST: usize = 1 << 16;
/// The maximum number of records per value. A column with more is a category or a name and does not
/// identify persons.
const MANY: u64 = 5;

/// The examined values of a column.
#[derive(Debug, Default)]
pub(crate) struct RepeatCheck {
    seen: HashMap<u64, u64, FixedState>,
    records: u64,
}

impl RepeatCheck {
    pub(crate) fn add<R: Records>(&mut self, slot: usize, records: &R, missing: &[String]) {
        for record in 0..records.len() {
            if self.is_done() {
                return;
            }
            let Some(text) = records.get(record, slot) else { continue };
            if missing.iter().any(|marker| marker.as_bytes() == text) {
                continue;
            }
            let mut hasher = FixedState::default().build_hasher();
            hasher.write(value_key(&String::from_utf8_lossy(text)).as_bytes());
            *self.seen.entry(hasher.finish()).or_insert(0) += 1;
            self.records += 1;
        }
    }

    /// Whether enough records were examined.
    pub(crate) fn is_done(&self) -> bool {
        self.seen.len() >= MOST || self.records >= 4 * MOST as u64
    }

    /// Whether values repeat in the records of all threads together.
    pub(crate) fn repeats(parts: Vec<RepeatCheck>) -> bool {
        let mut all = RepeatCheck::default();
        for part in parts {
            all.records += part.records;
            part.seen.into_iter().for_each(|(value, n)| *all.seen.entry(value).or_insert(0) += n);
        }
        RepeatCheck::is_person_like(all.records, all.seen.len() as u64)
    }

    /// Whether these numbers of records and distinct values are typical of a person column in which
    /// some persons have several records.
    pub(crate) fn is_person_like(records: u64, different: u64) -> bool {
        different > 1 && different < records && records <= MANY * different
    }
}
