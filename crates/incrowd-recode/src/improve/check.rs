//! The check that tells whether rows may be a group.

use incrowd_core::model::{BoundModel, Presence, Running};
use incrowd_core::population::PublishedCell;
use incrowd_core::{Code, Dataset, GroupSummary, Persons, Span};

use super::judge::Judge;
use super::shape::Shapes;
use crate::{asks_more, fewest_persons, fewest_records};

/// Says whether rows may be a group.
#[derive(Debug)]
pub(crate) struct ModelCheck<'a> {
    pub(crate) data: &'a Dataset,
    /// Models that judge a group from scratch.
    pub(super) scratch: Vec<&'a dyn BoundModel>,
    /// Models that keep count while rows come and go, with the column each is about.
    counting: Vec<(usize, &'a dyn BoundModel)>,
    /// Values without which models admit no group, with the column they are of.
    presences: Vec<(usize, Presence)>,
    /// No group has fewer records.
    pub(crate) least: u64,
    /// No group has fewer different persons, if persons are counted.
    persons: Option<(&'a Persons, u64)>,
    shapes: &'a Shapes<'a>,
    /// The codes of the one sensitive column that decides, if there is one.
    deciding: Option<Deciding>,
}

/// A sensitive column whose counts decide.
#[derive(Debug)]
pub(crate) struct Deciding {
    /// How many values it has.
    pub(crate) values: usize,
    /// The code of each row, close together.
    pub(crate) codes: Vec<u16>,
}

impl<'a> ModelCheck<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        shapes: &'a Shapes<'a>,
    ) -> ModelCheck<'a> {
        let (least, persons) = (fewest_records(models), fewest_persons(data, models));
        let (mut scratch, mut counting, mut presences) = (Vec::new(), Vec::new(), Vec::new());
        for model in models.iter().map(|model| &**model).filter(|model| asks_more(*model)) {
            presences.extend(model.looks_at().zip(model.presence()));
            // Whoever counts holders judges from scratch.
            let counts = data.persons().is_none() && model.running().is_some();
            match model.looks_at().filter(|_| counts) {
                Some(column) => counting.push((column, model)),
                None => scratch.push(model),
            }
        }
        let deciding = match (counting.first(), persons) {
            (Some(&(column, _)), None)
                if scratch.is_empty() && counting.iter().all(|other| other.0 == column) =>
            {
                let code = |row: usize| u16::try_from(data.sensitive_codes(row)[column]).ok();
                let codes = (0..data.rows()).map(code).collect::<Option<Vec<u16>>>();
                codes.map(|codes| Deciding { values: data.sensitive()[column].values.len(), codes })
            }
            _ => None,
        };
        ModelCheck { data, scratch, counting, presences, least, persons, shapes, deciding }
    }

    /// Whether the number of records is all that matters.
    pub(crate) fn only_counts(&self) -> bool {
        self.only_grows() && self.persons.is_none()
    }

    /// Whether nothing but numbers of records and persons matters, which only grow when rows join.
    pub(crate) fn only_grows(&self) -> bool {
        self.scratch.is_empty() && self.counting.is_empty()
    }

    /// How many numbers tell which values rows have that models ask for.
    pub(crate) fn presences(&self) -> usize {
        self.presences.len()
    }

    /// Notes the values of a row.
    pub(crate) fn see_values(&self, seen: &mut [u64], row: u32) {
        for (seen, (column, presence)) in seen.iter_mut().zip(&self.presences) {
            *seen |= presence.bit(self.data.sensitive_codes(row as usize)[*column]);
        }
    }

    /// Whether rows with these values may be a group; no part of rows is of which this is false.
    pub(crate) fn has_values(&self, seen: &[u64]) -> bool {
        seen.iter().zip(&self.presences).all(|(seen, (_, presence))| presence.suffices(*seen))
    }

    /// The sensitive column of which the counts of the values decide whether rows may be a group, if there is one.
    pub(crate) fn deciding(&self) -> Option<&Deciding> {
        self.deciding.as_ref()
    }

    /// The same as [`ModelCheck::has_values`] where the values of one column decide, which occur so often.
    pub(crate) fn has_counted(&self, counts: &[u64]) -> bool {
        self.presences.iter().all(|(_, presence)| {
            let occurring = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            presence.suffices(occurring.fold(0, |bits, (code, _)| bits | presence.bit(code as u32)))
        })
    }

    /// Whether rows of so many records may be a group where the values of one column decide, which occur so often; `judge` is
    /// overwritten.
    pub(crate) fn admits_counted(&self, judge: &mut Judge<'a>, counts: &[u64], records: u64) -> bool {
        records >= self.least && judge.admits_counted(counts, records)
    }

    /// Whether rows have records of as many different persons as every group needs.
    pub(super) fn reach(&self, rows: impl Iterator<Item = u32>) -> bool {
        self.persons.is_none_or(|(persons, least)| persons.reach(rows.map(|row| row as usize), least))
    }

    /// Counts a row in a summary.
    pub(super) fn count(&self, summary: &mut GroupSummary, row: u32) {
        if self.scratch.is_empty() {
            summary.records += self.data.weight(row as usize);
        } else {
            summary.add_row(self.data, row as usize);
        }
    }

    /// An empty group for every model that keeps count.
    pub(super) fn running(&self) -> Vec<(usize, Box<dyn Running + 'a>)> {
        self.counting.iter().filter_map(|&(column, model)| Some((column, model.running()?))).collect()
    }

    /// Whether these rows, which have so many records, may be a group; `judge` is overwritten.
    pub(crate) fn admits(&self, judge: &mut Judge<'a>, rows: &[u32], records: u64) -> bool {
        if records < self.least || self.only_counts() {
            return records >= self.least;
        }
        judge.recount(self, rows, records);
        judge.admits(self, rows)
    }

    /// Whether the models that judge from scratch admit a group with this summary and these rows.
    pub(super) fn admits_summary(&self, mut summary: GroupSummary, rows: impl Fn() -> Vec<u32>) -> bool {
        if self.data.population().is_some() {
            summary.population = self.people(&rows());
        }
        self.scratch.iter().all(|model| model.admits(&summary).holds)
    }

    /// How many people of the population the group's cells cover.
    fn people(&self, rows: &[u32]) -> u64 {
        let Some(population) = self.data.population() else { return 0 };
        let spans: Vec<Span> = self.shapes.spans(&self.shapes.of(rows.iter().copied()));
        let values = |q: usize| {
            let mut codes: Vec<Code> =
                rows.iter().map(|&row| Code(self.data.quasi_codes(row as usize)[q])).collect();
            codes.sort_unstable();
            codes.dedup();
            codes
        };
        let values: Vec<Vec<Code>> = (0..spans.len()).map(values).collect();
        let cell = |q: usize| PublishedCell::new(&self.data.quasi()[q].domain, spans[q], &values[q]);
        let cells: Vec<PublishedCell<'_>> = (0..spans.len()).map(cell).collect();
        population.people(&population.covered(&cells, 0..population.rows() as u32))
    }
}
