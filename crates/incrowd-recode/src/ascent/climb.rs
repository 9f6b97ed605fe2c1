//! The way up: at every combination of levels, from cheapest to dearest, the groups the models admit are taken and their rows
//! leave. Also the check that tells whether rows may be a group.

use incrowd_core::model::BoundModel;
use incrowd_core::population::PublishedCell;
use incrowd_core::{Code, Dataset, GroupSummary, Persons, Progress, Span};
use rayon::prelude::*;

use super::blocks::Blocks;
use super::candidates::{CandidateGroups, Class, ClassCounter};
use super::levels::PricedLevels;
use super::shape::Shapes;
use crate::{asks_more, fewest_persons, fewest_records};

/// At most so many combinations are looked at side by side; few at first, because the first ones take most rows away. Always
/// the same, so that threads do not show.
const SIDE_BY_SIDE: usize = 128;

/// Says whether rows may be a group.
#[derive(Debug)]
pub(super) struct ModelCheck<'a> {
    pub(super) data: &'a Dataset,
    models: Vec<&'a dyn BoundModel>,
    /// No group has fewer records.
    pub(super) least: u64,
    /// No group has fewer different persons, if persons are counted.
    persons: Option<(&'a Persons, u64)>,
    shapes: &'a Shapes<'a>,
}

impl<'a> ModelCheck<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        shapes: &'a Shapes<'a>,
    ) -> ModelCheck<'a> {
        let others = models.iter().filter(|model| asks_more(&***model)).map(|model| &**model).collect();
        let (least, persons) = (fewest_records(models), fewest_persons(data, models));
        ModelCheck { data, models: others, least, persons, shapes }
    }

    /// Whether the number of records is all that matters.
    pub(super) fn only_counts(&self) -> bool {
        self.models.is_empty() && self.persons.is_none()
    }

    /// Whether nothing but numbers of records and persons matters, which only grow when rows join.
    pub(super) fn only_grows(&self) -> bool {
        self.models.is_empty()
    }

    /// Whether rows have records of as many different persons as every group needs.
    fn reach(&self, rows: &[u32]) -> bool {
        let rows = rows.iter().map(|&row| row as usize);
        self.persons.is_none_or(|(persons, least)| persons.reach(rows, least))
    }

    /// Whether these rows, which have so many records, may be a group.
    pub(super) fn admits(&self, rows: &[u32], records: u64) -> bool {
        if records < self.least {
            return false;
        }
        if !self.reach(rows) {
            return false;
        }
        self.models.is_empty() || self.admits_summary(self.summary(rows), || rows.to_vec())
    }

    /// The rows as models see them; nothing but the number of records if that is all that matters.
    pub(super) fn summary(&self, rows: &[u32]) -> GroupSummary {
        if !self.models.is_empty() {
            return self.data.summary(rows.iter().map(|&row| row as usize));
        }
        let mut summary = GroupSummary::empty(self.data.sensitive().len());
        for &row in rows {
            self.count(&mut summary, row);
        }
        summary
    }

    /// Counts a row in a summary.
    pub(super) fn count(&self, summary: &mut GroupSummary, row: u32) {
        if self.models.is_empty() {
            summary.records += self.data.weight(row as usize);
        } else {
            summary.add_row(self.data, row as usize);
        }
    }

    /// Whether a group with this summary, and these rows, is admitted.
    pub(super) fn admits_summary(&self, mut summary: GroupSummary, rows: impl Fn() -> Vec<u32>) -> bool {
        if summary.records < self.least {
            return false;
        }
        if self.persons.is_some() && !self.reach(&rows()) {
            return false;
        }
        if self.models.is_empty() {
            return true;
        }
        if self.data.population().is_some() {
            summary.population = self.people(&rows());
        }
        self.models.iter().all(|model| model.admits(&summary).holds)
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

/// Groups of rows, and the rows that found no company.
pub(super) struct Climbed {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) rest: Vec<u32>,
}

/// Climbs through the nodes in the order given.
pub(super) fn climb(
    check: &ModelCheck<'_>,
    column_levels: &[PricedLevels],
    nodes: &[Vec<u8>],
    progress: &dyn Progress,
) -> Climbed {
    let mut rest: Vec<u32> = (0..check.data.rows() as u32).collect();
    let mut there = vec![true; rest.len()];
    let mut groups = Vec::new();
    let mut blocks = Blocks::new(column_levels, rest.len());
    let mut nodes = nodes;
    let mut side_by_side = 1;
    while !rest.is_empty() && !nodes.is_empty() {
        let (chunk, later) = nodes.split_at(side_by_side.min(nodes.len()));
        (nodes, side_by_side) = (later, (2 * side_by_side).min(SIDE_BY_SIDE));
        blocks.prepare(check, chunk, &rest);
        // Rows only leave while the nodes of a chunk are gone through, so who has no company now has none later either.
        let candidates = |counter: &mut ClassCounter, node: &Vec<u8>| {
            counter.candidates(check, &blocks.parts(node), &rest, &there)
        };
        let candidates: Vec<CandidateGroups> =
            chunk.par_iter().map_init(ClassCounter::default, candidates).collect();
        for mut candidates in candidates {
            candidates.keep(check, |row| there[row as usize]);
            take(check, candidates, &mut there, &mut groups);
        }
        rest.retain(|&row| there[row as usize]);
        progress.advance(chunk.len() as u64);
    }
    Climbed { groups, rest }
}

/// Moves the rows of every class that may be a group to the groups.
fn take(check: &ModelCheck<'_>, candidates: CandidateGroups, there: &mut [bool], groups: &mut Vec<Vec<u32>>) {
    let classes = candidates.into_classes();
    let admitted = |class: &Class| check.admits(&class.rows, class.records);
    let admitted: Vec<bool> = if check.only_counts() {
        classes.iter().map(admitted).collect()
    } else {
        classes.par_iter().map(admitted).collect()
    };
    for (class, _) in classes.into_iter().zip(admitted).filter(|(_, admitted)| *admitted) {
        class.rows.iter().for_each(|&row| there[row as usize] = false);
        groups.push(class.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, levels};
    use super::*;
    use incrowd_core::model::Promise;
    use incrowd_core::{ColumnSpec, Folded, Silent, Value};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// At every combination of levels, all rows that are left are put together by the spans of their cells.
    fn slowly(check: &ModelCheck<'_>, column_levels: &[PricedLevels], nodes: &[Vec<u8>]) -> Vec<Vec<u32>> {
        let mut rest: Vec<u32> = (0..check.data.rows() as u32).collect();
        let mut groups = Vec::new();
        for node in nodes {
            let mut classes: BTreeMap<Vec<Option<(u32, u32)>>, Vec<u32>> = BTreeMap::new();
            for &row in &rest {
                let codes = check.data.quasi_codes(row as usize).iter().zip(column_levels).zip(node);
                let cells = codes
                    .map(|((&code, of_column), &level)| of_column.spans[usize::from(level)][code as usize]);
                classes.entry(cells.collect()).or_default().push(row);
            }
            for rows in classes.into_values() {
                let records = rows.iter().map(|&row| check.data.weight(row as usize)).sum();
                if check.admits(&rows, records) {
                    rest.retain(|row| !rows.contains(row));
                    groups.push(rows);
                }
            }
        }
        groups
    }

    proptest! {
        #[test]
        fn side_by_side_is_one_by_one(
            records in prop::collection::vec((0u32..40, 0u32..5, 0u32..3, 0u32..3), 1..120), k in 1i64..8, diverse in any::<bool>(),
        ) {
            let text = |(a, b, c, d): (u32, u32, u32, u32)| [a.to_string(), format!("b{b}"), c.to_string(), format!("d{d}")];
            let records: Vec<[String; 4]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c", "d"], cells, true);
            let spec = ColumnSpec::default();
            let data = Dataset::encode(folded, &[&spec; 3], &[], "?").map_err(|e| e.misfit.error).unwrap();
            let promise = if diverse {
                Promise::new("p-sensitive", [("p".to_owned(), Value::Integer(2)), ("k".to_owned(), Value::Integer(k))])
            } else {
                Promise::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])
            };
            let models = [promise.unwrap().model.bind(&data).unwrap()];
            let shapes = Shapes::new(&data, Metric::Ncp);
            let check = ModelCheck::new(&data, &models, &shapes);
            let all = levels::column_levels(&data, Metric::Ncp);
            let nodes = levels::nodes(&all);
            let Climbed { mut groups, rest } = climb(&check, &all, &nodes, &Silent);
            let mut expected = slowly(&check, &all, &nodes);
            groups.sort();
            expected.sort();
            prop_assert_eq!(&groups, &expected);
            let taken: usize = groups.iter().map(Vec::len).sum();
            prop_assert_eq!(taken + rest.len(), data.rows());
        }
    }
}
