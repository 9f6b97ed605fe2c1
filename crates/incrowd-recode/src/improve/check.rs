//! Checks whether the models admit a set of rows as a group.

use incrowd_core::model::{BoundModel, Presence, Running};
use incrowd_core::{Dataset, GroupSummary, Persons, Span};

use super::group_state::GroupState;
use super::shape::Shapes;
use crate::{exceeds_counting, fewest_persons, fewest_records};

/// The models of a job, arranged for fast checks of groups.
#[derive(Debug)]
pub(crate) struct ModelCheck<'a> {
    pub(crate) data: &'a Dataset,
    /// Models that are evaluated on a complete summary.
    pub(super) stateless: Vec<&'a dyn BoundModel>,
    /// Models that are updated row by row, with their sensitive column.
    incremental: Vec<(usize, &'a dyn BoundModel)>,
    /// Values that a model requires in every group, with their sensitive column.
    presences: Vec<(usize, Presence)>,
    /// The least number of records of a group.
    pub(crate) min_records: u64,
    /// The least number of distinct persons of a group, if persons are counted.
    persons: Option<(&'a Persons, u64)>,
    shapes: &'a Shapes<'a>,
    /// The sensitive column whose counts decide, if a single column does.
    deciding: Option<DecidingColumn>,
}

/// A sensitive column whose value counts decide whether rows may be a group.
#[derive(Debug)]
pub(crate) struct DecidingColumn {
    /// The number of values of the column.
    pub(crate) values: usize,
    /// The code of each row, in two bytes to save cache.
    pub(crate) codes: Vec<u16>,
}

impl<'a> ModelCheck<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        shapes: &'a Shapes<'a>,
    ) -> ModelCheck<'a> {
        let (min_records, persons) = (fewest_records(models), fewest_persons(data, models));
        let (mut stateless, mut incremental, mut presences) = (Vec::new(), Vec::new(), Vec::new());
        for model in models.iter().map(|model| &**model).filter(|model| exceeds_counting(*model)) {
            presences.extend(model.sensitive_column().zip(model.presence()));
            // A person with several rows must be counted once, so such models need all rows.
            let is_incremental = data.persons().is_none() && model.running().is_some();
            match model.sensitive_column().filter(|_| is_incremental) {
                Some(column) => incremental.push((column, model)),
                None => stateless.push(model),
            }
        }
        let deciding = match (incremental.first(), persons) {
            (Some(&(column, _)), None)
                if stateless.is_empty() && incremental.iter().all(|other| other.0 == column) =>
            {
                let code = |row: usize| u16::try_from(data.sensitive_codes(row)[column]).ok();
                let codes = (0..data.rows()).map(code).collect::<Option<Vec<u16>>>();
                codes.map(|codes| DecidingColumn {
                    values: data.sensitive()[column].values.len(),
                    codes,
                })
            }
            _ => None,
        };
        ModelCheck {
            data,
            stateless,
            incremental,
            presences,
            min_records,
            persons,
            shapes,
            deciding,
        }
    }

    /// Returns whether the models depend only on the number of records.
    pub(crate) fn needs_only_records(&self) -> bool {
        self.needs_only_counts() && self.persons.is_none()
    }

    /// Returns whether the models depend only on the numbers of records and persons. These do not
    /// decrease when rows join a group.
    pub(crate) fn needs_only_counts(&self) -> bool {
        self.stateless.is_empty() && self.incremental.is_empty()
    }

    /// Returns the number of words in a bit set of required values.
    pub(crate) fn presence_words(&self) -> usize {
        self.presences.len()
    }

    /// Adds the values of a row to a bit set of required values.
    pub(crate) fn add_values(&self, present: &mut [u64], row: u32) {
        for (present, (column, presence)) in present.iter_mut().zip(&self.presences) {
            *present |= presence.bit(self.data.sensitive_codes(row as usize)[*column]);
        }
    }

    /// Returns whether rows with these values may be a group. If not, no subset of them may be.
    pub(crate) fn has_required_values(&self, present: &[u64]) -> bool {
        present.iter().zip(&self.presences).all(|(bits, (_, presence))| presence.suffices(*bits))
    }

    /// Returns the sensitive column whose value counts decide whether rows may be a group, if a
    /// single column does.
    pub(crate) fn deciding(&self) -> Option<&DecidingColumn> {
        self.deciding.as_ref()
    }

    /// Like [`ModelCheck::has_required_values`], for the value counts of the deciding column.
    pub(crate) fn has_required_counts(&self, counts: &[u64]) -> bool {
        self.presences.iter().all(|(_, presence)| {
            let occurring = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            presence.suffices(occurring.fold(0, |bits, (code, _)| bits | presence.bit(code as u32)))
        })
    }

    /// Returns whether rows with these value counts in the deciding column may be a group. `state`
    /// is overwritten.
    pub(crate) fn admits_counted(
        &self,
        state: &mut GroupState<'a>,
        counts: &[u64],
        records: u64,
    ) -> bool {
        records >= self.min_records && state.admits_counted(counts, records)
    }

    /// Returns whether the rows belong to enough distinct persons.
    pub(super) fn has_enough_persons(&self, rows: impl Iterator<Item = u32>) -> bool {
        self.persons
            .is_none_or(|(persons, least)| persons.reach(rows.map(|row| row as usize), least))
    }

    /// Adds a row to a summary.
    pub(super) fn count(&self, summary: &mut GroupSummary, row: u32) {
        if self.stateless.is_empty() {
            summary.records += self.data.weight(row as usize);
        } else {
            summary.add_row(self.data, row as usize);
        }
    }

    /// Returns an empty counter for every incremental model.
    pub(super) fn running(&self) -> Vec<(usize, Box<dyn Running + 'a>)> {
        self.incremental
            .iter()
            .filter_map(|&(column, model)| Some((column, model.running()?)))
            .collect()
    }

    /// Returns whether these rows may be a group. `records` is their number of records. `state` is
    /// overwritten.
    pub(crate) fn admits(&self, state: &mut GroupState<'a>, rows: &[u32], records: u64) -> bool {
        if records < self.min_records || self.needs_only_records() {
            return records >= self.min_records;
        }
        state.recount(self, rows, records);
        state.admits(self, rows)
    }

    /// Returns whether the stateless models admit a group with this summary and these rows.
    pub(super) fn admits_summary(
        &self,
        mut summary: GroupSummary,
        rows: impl Fn() -> Vec<u32>,
    ) -> bool {
        if self.data.population().is_some() {
            summary.population = self.people(&rows());
        }
        self.stateless.iter().all(|model| model.admits(&summary).holds)
    }

    /// Returns the number of people in the population that the group's cells cover.
    fn people(&self, rows: &[u32]) -> u64 {
        let Some(population) = self.data.population() else { return 0 };
        let spans: Vec<Span> = self.shapes.spans(&self.shapes.of(rows.iter().copied()));
        let everybody = 0..population.rows() as u32;
        let rows = rows.iter().copied();
        population.people(&population.covered_by(self.data, &spans, rows, everybody))
    }
}
