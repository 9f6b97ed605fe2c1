//! Whether the values of a column repeat, as those that tell persons apart do where a person has several records. It is a remark
//! and no count, so only the first records that each thread sees are looked at.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::source::Records;

/// So many records are looked at by each thread.
const MOST: usize = 1 << 16;
/// With more records per value than this a column is a category or a name, and tells nobody apart.
const MANY: u64 = 5;

/// What was seen of a column.
#[derive(Debug, Default)]
pub(crate) struct Glance {
    seen: HashMap<u64, u64, FixedState>,
    records: u64,
}

impl Glance {
    pub(crate) fn look<R: Records>(&mut self, slot: usize, records: &R, missing: &[String]) {
        for record in 0..records.len() {
            if self.is_done() {
                return;
            }
            let Some(text) = records.get(record, slot) else { continue };
            if missing.iter().any(|marker| marker.as_bytes() == text) {
                continue;
            }
            let mut hasher = FixedState::default().build_hasher();
            hasher.write(text);
            *self.seen.entry(hasher.finish()).or_insert(0) += 1;
            self.records += 1;
        }
    }

    /// Whether enough was seen.
    pub(crate) fn is_done(&self) -> bool {
        self.seen.len() >= MOST || self.records >= 4 * MOST as u64
    }

    /// Whether values repeat, all that was seen of the column taken together.
    pub(crate) fn repeats(parts: Vec<Glance>) -> bool {
        let mut all = Glance::default();
        for part in parts {
            all.records += part.records;
            part.seen.into_iter().for_each(|(value, n)| *all.seen.entry(value).or_insert(0) += n);
        }
        Glance::tells_apart(all.records, all.seen.len() as u64)
    }

    /// Whether so many values in so many records look like those of persons, of whom some have several records.
    pub(crate) fn tells_apart(records: u64, different: u64) -> bool {
        different > 1 && different < records && records <= MANY * different
    }
}
