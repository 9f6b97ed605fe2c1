//! What a promise counts: records, or the persons behind them where a person may have several.
//!
//! By persons, a promise must hold for every choice of one record per person of a group: whichever of a person's records is
//! the one that matters, the chosen records keep it. A sensitive value has *holders* in a group: the persons with at least
//! one record there that has it. Where everybody has one record, all of this is what the papers say.

use std::sync::Arc;

use super::Verdict;
use crate::dataset::Dataset;
use crate::group::{GroupSummary, Histogram};
use crate::person::Persons;

/// Records, or persons.
#[derive(Clone, Debug)]
pub(super) struct Unit(Option<Arc<Persons>>);

impl Unit {
    /// Records.
    #[cfg(test)]
    pub(super) fn of_records() -> Unit {
        Unit(None)
    }

    /// The unit of a table: persons if somebody has several records.
    pub(super) fn of(data: &Dataset) -> Unit {
        Unit(data.persons().cloned())
    }

    /// The persons behind the table's records, if they are the unit.
    pub(super) fn persons(&self) -> Option<&Persons> {
        self.0.as_deref()
    }

    /// Whose records a group has, if persons are the unit.
    pub(super) fn of_group<'g>(&'g self, group: &'g GroupSummary) -> Option<(&'g Persons, &'g Histogram)> {
        static NOBODY: Histogram = Histogram::new();
        let persons = self.persons()?;
        // Counting records where persons are promised would let a broken promise pass.
        assert!(group.persons.is_some() || group.records == 0, "a group of a table with persons lists them");
        Some((persons, group.persons.as_ref().unwrap_or(&NOBODY)))
    }

    /// How large a group is.
    pub(super) fn size(&self, group: &GroupSummary) -> u64 {
        self.of_group(group).map_or(group.records, |(persons, own)| persons.in_group(own))
    }

    /// At least k records, or persons, as many models ask for.
    pub(super) fn smallest_group(&self, group: &GroupSummary, k: u64) -> Verdict {
        let size = self.size(group);
        Verdict::at_least("smallest group", size as f64, k as f64, size >= k)
    }
}
