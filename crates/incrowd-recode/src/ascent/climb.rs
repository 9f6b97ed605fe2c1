//! The search over combinations of levels, from the cheapest to the most expensive. At each
//! combination, the classes that the models admit become groups, and their rows are removed.

use incrowd_core::Progress;
use rayon::prelude::*;

use super::blocks::Blocks;
use super::candidates::{CandidateGroups, ClassCounter};
use super::levels::PricedLevels;
use super::profiles::ClassTable;
use super::split_columns::{AdmittedClasses, SplitColumns};
use crate::improve::{GroupState, ModelCheck};

/// The greatest number of combinations that are evaluated in parallel. It does not depend on the
/// number of threads, so that the result does not either. The first batches are smaller, because
/// the first combinations remove most rows.
const BATCH: usize = 32;

/// Groups of rows, and the rows that are in none.
pub(super) struct ClimbResult {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) rest: Vec<u32>,
    pub(super) work: Work,
}

/// The amount of work of a climb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The number of rows or profiles that were scanned, over all combinations of levels.
    pub rows: u64,
    /// The number of classes that the models checked.
    pub checked: u64,
}

impl Work {
    const MAX: Work = Work { rows: u64::MAX, checked: u64::MAX };

    fn reaches(self, other: Work) -> bool {
        self.rows >= other.rows && self.checked >= other.checked
    }
}

/// The climb switches from rows to profiles after scanning this many rows per row of the table and
/// checking one class per [`ROWS_PER_CHECK`] rows. Profiles take longer to build. They pay if many
/// classes are rejected.
const SCANS_PER_ROW: u64 = 100;
const ROWS_PER_CHECK: u64 = 4;

/// Processes the nodes in the given order.
pub(super) fn climb(
    check: &ModelCheck<'_>,
    column_levels: &[PricedLevels],
    nodes: &[Vec<u8>],
    progress: &dyn Progress,
) -> ClimbResult {
    let rows = check.data.rows() as u64;
    let by_rows = Work { rows: SCANS_PER_ROW * rows, checked: rows / ROWS_PER_CHECK };
    climb_by_rows_until(by_rows, check, column_levels, nodes, progress)
}

/// Counts rows until the given amount of work is reached, then profiles if possible.
fn climb_by_rows_until(
    by_rows: Work,
    check: &ModelCheck<'_>,
    column_levels: &[PricedLevels],
    nodes: &[Vec<u8>],
    progress: &dyn Progress,
) -> ClimbResult {
    let rows = check.data.rows();
    let result =
        ClimbResult { groups: Vec::new(), rest: (0..rows as u32).collect(), work: Work::default() };
    let mut climb = Climb { result, nodes, batch: 1 };
    let applicable = SplitColumns::is_applicable(check, column_levels);
    climb.by_rows(check, column_levels, if applicable { by_rows } else { Work::MAX }, progress);
    if !climb.is_done()
        && let Some(split) = SplitColumns::new(check, column_levels, &climb.result.rest)
    {
        climb.by_profiles(check, split, progress);
    }
    climb.by_rows(check, column_levels, Work::MAX, progress);
    climb.result
}

/// The groups so far, and the nodes that were not processed yet.
struct Climb<'n> {
    result: ClimbResult,
    nodes: &'n [Vec<u8>],
    batch: usize,
}

impl<'n> Climb<'n> {
    fn is_done(&self) -> bool {
        self.result.rest.is_empty() || self.nodes.is_empty()
    }

    /// Returns the next batch of nodes.
    fn next(&mut self) -> &'n [Vec<u8>] {
        let (chunk, later) = self.nodes.split_at(self.batch.min(self.nodes.len()));
        (self.nodes, self.batch) = (later, (2 * self.batch).min(BATCH));
        chunk
    }

    /// Counts rows until the given amount of work is reached.
    fn by_rows<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        column_levels: &[PricedLevels],
        until: Work,
        progress: &dyn Progress,
    ) {
        if self.is_done() {
            return;
        }
        let mut remaining = vec![false; check.data.rows()];
        self.result.rest.iter().for_each(|&row| remaining[row as usize] = true);
        let mut blocks = Blocks::new(column_levels, check.data.rows());
        let mut state = GroupState::new(check);
        while !self.is_done() && !self.result.work.reaches(until) {
            let chunk = self.next();
            let ClimbResult { groups, rest, work } = &mut self.result;
            blocks.prepare(check, chunk, rest);
            // Rows are only removed while a batch is processed, so a class that is too small now is
            // too small later too.
            let start = || (ClassCounter::default(), GroupState::new(check));
            let candidates = |(counter, state): &mut (ClassCounter, GroupState<'a>),
                              node: &Vec<u8>| {
                // A single node of a large table takes long. This call lets a user cancel.
                progress.advance(0);
                let candidates = counter.candidates(
                    check,
                    Some(&mut *state),
                    &blocks.at(node),
                    rest,
                    &remaining,
                );
                candidates.checked(check, state)
            };
            let candidates: Vec<CandidateGroups> =
                chunk.par_iter().map_init(start, candidates).collect();
            for candidates in candidates {
                work.rows += candidates.scanned;
                work.checked += candidates.len() as u64;
                for rows in candidates.admitted(check, &mut state, &remaining) {
                    rows.iter().for_each(|&row| remaining[row as usize] = false);
                    groups.push(rows);
                }
            }
            rest.retain(|&row| remaining[row as usize]);
            progress.advance(chunk.len() as u64);
        }
    }

    /// Counts profiles instead of rows.
    fn by_profiles<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        mut split: SplitColumns<'_>,
        progress: &dyn Progress,
    ) {
        let (mut table, mut state) = (ClassTable::default(), GroupState::new(check));
        while !self.is_done() {
            let chunk = self.next();
            let ClimbResult { groups, rest, work } = &mut self.result;
            split.prepare(check, chunk, rest);
            let start = || (ClassTable::default(), GroupState::new(check));
            let checked = |(table, state): &mut (ClassTable, GroupState<'a>), node: &Vec<u8>| {
                progress.advance(0);
                split.checked(check, node, (table, state))
            };
            let found: Vec<AdmittedClasses> = chunk.par_iter().map_init(start, checked).collect();
            let checked_at = split.removed();
            for (node, found) in chunk.iter().zip(found) {
                work.rows += found.scanned;
                work.checked += found.checked;
                groups.extend(split.remove(
                    check,
                    (node, found),
                    (&mut table, &mut state),
                    checked_at,
                ));
            }
            rest.retain(|&row| split.is_remaining(row));
            progress.advance(chunk.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels;
    use super::*;
    use crate::improve::{Metric, Shapes};
    use incrowd_core::model::PrivacyModel;
    use incrowd_core::{ColumnSpec, Dataset, Folded, Silent, Value};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A slow implementation: at every combination of levels, all remaining rows are grouped by the
    /// spans of their cells.
    fn slowly(
        check: &ModelCheck<'_>,
        column_levels: &[PricedLevels],
        nodes: &[Vec<u8>],
    ) -> Vec<Vec<u32>> {
        let mut rest: Vec<u32> = (0..check.data.rows() as u32).collect();
        let mut groups = Vec::new();
        for node in nodes {
            let mut classes: BTreeMap<Vec<Option<(u32, u32)>>, Vec<u32>> = BTreeMap::new();
            for &row in &rest {
                let codes =
                    check.data.quasi_codes(row as usize).iter().zip(column_levels).zip(node);
                let cells = codes.map(|((&code, of_column), &level)| {
                    of_column.spans[usize::from(level)][code as usize]
                });
                classes.entry(cells.collect()).or_default().push(row);
            }
            for rows in classes.into_values() {
                let records = rows.iter().map(|&row| check.data.weight(row as usize)).sum();
                if check.admits(&mut GroupState::new(check), &rows, records) {
                    rest.retain(|row| !rows.contains(row));
                    groups.push(rows);
                }
            }
        }
        groups
    }

    proptest! {
        #[test]
        fn batches_give_the_same_groups_as_single_nodes(
            records in prop::collection::vec((0u32..40, 0u32..5, 0u32..3, 0u32..3), 1..120),
            k in 1i64..8,
            model in 0usize..9,
            scanned in 1u64..400,
            checked in 0u64..4,
        ) {
            let text = |(a, b, c, d): (u32, u32, u32, u32)| {
                [a.to_string(), format!("b{b}"), c.to_string(), format!("d{d}")]
            };
            let records: Vec<[String; 4]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|r| r.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c", "d"], cells, true);
            let spec = ColumnSpec::default();
            let specs = [&spec; 3];
            let data = Dataset::encode(folded, &specs, &[], "?");
            let data = data.map_err(|e| e.misfit.error).unwrap();
            let two = |name: &str| (name.to_owned(), Value::Integer(2));
            let kind =
                |kind: &str| vec![two("l"), ("kind".to_owned(), Value::Word(kind.to_owned()))];
            let second_models = [
                ("p-sensitive", vec![two("p"), two("k")]),
                ("l-diversity", kind("frequency")),
                ("l-diversity", kind("entropy")),
                ("t-closeness", vec![("t".to_owned(), Value::Real(0.4))]),
                ("delta-disclosure", vec![("delta".to_owned(), Value::Real(1.0))]),
                ("alpha-k-anonymity", vec![two("k"), ("alpha".to_owned(), Value::Real(0.6))]),
                ("beta-likeness", vec![("beta".to_owned(), Value::Real(0.8))]),
                ("l-diversity", kind("distinct")),
            ];
            let first = PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))]);
            let second = second_models.get(model).map(|(name, p)| PrivacyModel::new(name, p.clone()));
            let models: Vec<_> = std::iter::once(first)
                .chain(second)
                .map(|privacy_model| privacy_model.unwrap().model.bind(&data).unwrap())
                .collect();
            let shapes = Shapes::new(&data, Metric::Ncp);
            let check = ModelCheck::new(&data, &models, &shapes);
            let all = levels::column_levels(&data, Metric::Ncp);
            let nodes = levels::nodes(&all);
            let mut expected = slowly(&check, &all, &nodes);
            expected.sort();
            let by_rows = climb_by_rows_until(Work::MAX, &check, &all, &nodes, &Silent);
            let all_rows: Vec<u32> = (0..data.rows() as u32).collect();
            let split = SplitColumns::new(&check, &all, &all_rows);
            prop_assert_eq!(split.is_some(), !check.needs_only_records());
            let by_profiles = climb_by_rows_until(Work::default(), &check, &all, &nodes, &Silent);
            let limit = Work { rows: scanned, checked };
            let by_both = climb_by_rows_until(limit, &check, &all, &nodes, &Silent);
            // The order of the groups affects later moves, so it is compared too.
            prop_assert_eq!(&by_profiles.groups, &by_rows.groups);
            prop_assert_eq!(&by_both.groups, &by_rows.groups);
            for ClimbResult { mut groups, rest, .. } in [by_rows, by_profiles, by_both] {
                groups.sort();
                prop_assert_eq!(&groups, &expected);
                let taken: usize = groups.iter().map(Vec::len).sum();
                prop_assert_eq!(taken + rest.len(), data.rows());
            }
        }
    }
}
