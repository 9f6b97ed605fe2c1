//! The unit in which a model counts: records, or persons if a person may have several records.
//!
//! With persons, a model must hold for every choice of one record per person of a group. The
//! *holders* of a sensitive value in a group are the persons with at least one record there that
//! has it. If every person has one record, this agrees with the papers' definitions.

use std::sync::Arc;

use super::Verdict;
use crate::dataset::Dataset;
use crate::group::{GroupSummary, Histogram};
use crate::person::Persons;

/// The unit of counting: records, or persons.
#[derive(Clone, Debug)]
pub(super) struct Unit(Option<Arc<Persons>>);

impl Unit {
    /// Counts records.
    #[cfg(test)]
    pub(super) fn of_records() -> Unit {
        Unit(None)
    }

    /// The unit of a table: persons if a person has several records.
    pub(super) fn of(data: &Dataset) -> Unit {
        Unit(data.persons().cloned())
    }

    /// The persons of the table, if they are the unit.
    pub(super) fn persons(&self) -> Option<&Persons> {
        self.0.as_deref()
    }

    /// The persons of a group, if they are the unit.
    pub(super) fn of_group<'g>(
        &'g self,
        group: &'g GroupSummary,
    ) -> Option<(&'g Persons, &'g Histogram)> {
        static EMPTY: Histogram = Histogram::new();
        let persons = self.persons()?;
        // Counting records instead of persons could admit a group that violates the model.
        assert!(
            group.persons.is_some() || group.records == 0,
            "a group of a table with persons lists them"
        );
        Some((persons, group.persons.as_ref().unwrap_or(&EMPTY)))
    }

    /// The size of a group, in records or persons.
    pub(super) fn size(&self, group: &GroupSummary) -> u64 {
        self.of_group(group).map_or(group.records, |(persons, own)| persons.in_group(own))
    }

    /// The verdict on a least number of records or persons.
    pub(super) fn smallest_group(&self, group: &GroupSummary, k: u64) -> Verdict {
        let size = self.size(group);
        Verdict::at_least("smallest group", size as f64, k as f64, size >= k)
    }
}
