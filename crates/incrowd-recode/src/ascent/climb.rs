//! The way up: at every combination of levels, from cheapest to dearest, the groups the models admit are taken and their rows
//! leave.

use incrowd_core::Progress;
use rayon::prelude::*;

use super::blocks::Blocks;
use super::candidates::{CandidateGroups, ClassCounter};
use super::halves::{Found, Halves};
use super::kinds::Table;
use super::levels::PricedLevels;
use crate::improve::{Judge, ModelCheck};

/// At most so many combinations are looked at side by side; few at first, because the first ones take most rows away. Always
/// the same, so that threads do not show.
const SIDE_BY_SIDE: usize = 32;

/// Groups of rows, and the rows that found no company.
pub(super) struct Climbed {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) rest: Vec<u32>,
    pub(super) work: Work,
}

/// What a climb took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How many rows, or kinds of rows, were looked at, over all combinations of levels.
    pub rows: u64,
    /// How many groups were judged.
    pub judged: u64,
}

impl Work {
    const MAX: Work = Work { rows: u64::MAX, judged: u64::MAX };

    fn reaches(self, other: Work) -> bool {
        self.rows >= other.rows && self.judged >= other.judged
    }
}

/// Rows are counted until so many were looked at for each row of the table, and a group was judged for every so many rows. Kinds are
/// dearer to make; they pay where many groups are judged in vain.
const LOOKS_PER_ROW: u64 = 100;
const ROWS_PER_JUDGED: u64 = 4;

/// Climbs through the nodes in the order given.
pub(super) fn climb(
    check: &ModelCheck<'_>,
    column_levels: &[PricedLevels],
    nodes: &[Vec<u8>],
    progress: &dyn Progress,
) -> Climbed {
    let rows = check.data.rows() as u64;
    let by_rows = Work { rows: LOOKS_PER_ROW * rows, judged: rows / ROWS_PER_JUDGED };
    climb_by_rows_until(by_rows, check, column_levels, nodes, progress)
}

/// Counts rows until that took so much, then kinds of rows where that can be.
fn climb_by_rows_until(
    by_rows: Work,
    check: &ModelCheck<'_>,
    column_levels: &[PricedLevels],
    nodes: &[Vec<u8>],
    progress: &dyn Progress,
) -> Climbed {
    let rows = check.data.rows();
    let climbed = Climbed { groups: Vec::new(), rest: (0..rows as u32).collect(), work: Work::default() };
    let mut ahead = Ahead { climbed, nodes, side_by_side: 1 };
    let serves = Halves::may_serve(check, column_levels);
    ahead.by_rows(check, column_levels, if serves { by_rows } else { Work::MAX }, progress);
    if !ahead.is_done()
        && let Some(halves) = Halves::new(check, column_levels, &ahead.climbed.rest)
    {
        ahead.by_kinds(check, halves, progress);
    }
    ahead.by_rows(check, column_levels, Work::MAX, progress);
    ahead.climbed
}

/// What was climbed, and the nodes that are ahead.
struct Ahead<'n> {
    climbed: Climbed,
    nodes: &'n [Vec<u8>],
    side_by_side: usize,
}

impl<'n> Ahead<'n> {
    fn is_done(&self) -> bool {
        self.climbed.rest.is_empty() || self.nodes.is_empty()
    }

    /// The nodes that are looked at next, side by side.
    fn next(&mut self) -> &'n [Vec<u8>] {
        let (chunk, later) = self.nodes.split_at(self.side_by_side.min(self.nodes.len()));
        (self.nodes, self.side_by_side) = (later, (2 * self.side_by_side).min(SIDE_BY_SIDE));
        chunk
    }

    /// Counts rows until that took so much.
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
        let mut there = vec![false; check.data.rows()];
        self.climbed.rest.iter().for_each(|&row| there[row as usize] = true);
        let mut blocks = Blocks::new(column_levels, check.data.rows());
        let mut judge = Judge::new(check);
        while !self.is_done() && !self.climbed.work.reaches(until) {
            let chunk = self.next();
            let Climbed { groups, rest, work } = &mut self.climbed;
            blocks.prepare(check, chunk, rest);
            // Rows only leave while the nodes of a chunk are gone through, so who has no company now has none later either.
            let start = || (ClassCounter::default(), Judge::new(check));
            let candidates = |(counter, judge): &mut (ClassCounter, Judge<'a>), node: &Vec<u8>| {
                // Of a large table a single node takes a while: whoever is told to stop does so here.
                progress.advance(0);
                let candidates =
                    counter.candidates(check, Some(&mut *judge), &blocks.parts(node), rest, &there);
                candidates.judged(check, judge)
            };
            let candidates: Vec<CandidateGroups> = chunk.par_iter().map_init(start, candidates).collect();
            for candidates in candidates {
                work.rows += candidates.looked_at;
                work.judged += candidates.len() as u64;
                for rows in candidates.admitted(check, &mut judge, &there) {
                    rows.iter().for_each(|&row| there[row as usize] = false);
                    groups.push(rows);
                }
            }
            rest.retain(|&row| there[row as usize]);
            progress.advance(chunk.len() as u64);
        }
    }

    /// Counts kinds of rows.
    fn by_kinds<'a>(&mut self, check: &ModelCheck<'a>, mut halves: Halves<'_>, progress: &dyn Progress) {
        let (mut table, mut judge) = (Table::default(), Judge::new(check));
        while !self.is_done() {
            let chunk = self.next();
            let Climbed { groups, rest, work } = &mut self.climbed;
            halves.prepare(check, chunk, rest);
            let start = || (Table::default(), Judge::new(check));
            let judged = |(table, judge): &mut (Table, Judge<'a>), node: &Vec<u8>| {
                progress.advance(0);
                halves.judged(check, node, (table, judge))
            };
            let found: Vec<Found> = chunk.par_iter().map_init(start, judged).collect();
            let judged_at = halves.gone();
            for (node, found) in chunk.iter().zip(found) {
                work.rows += found.looked_at;
                work.judged += found.judged;
                groups.extend(halves.leave(check, (node, found), (&mut table, &mut judge), judged_at));
            }
            rest.retain(|&row| halves.is_there(row));
            progress.advance(chunk.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels;
    use super::*;
    use crate::improve::{Metric, Shapes};
    use incrowd_core::model::Promise;
    use incrowd_core::{ColumnSpec, Dataset, Folded, Silent, Value};
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
                if check.admits(&mut Judge::new(check), &rows, records) {
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
            records in prop::collection::vec((0u32..40, 0u32..5, 0u32..3, 0u32..3), 1..120), k in 1i64..8, model in 0usize..9, looks in 1u64..400, judged in 0u64..4,
        ) {
            let text = |(a, b, c, d): (u32, u32, u32, u32)| [a.to_string(), format!("b{b}"), c.to_string(), format!("d{d}")];
            let records: Vec<[String; 4]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c", "d"], cells, true);
            let spec = ColumnSpec::default();
            let data = Dataset::encode(folded, &[&spec; 3], &[], "?").map_err(|e| e.misfit.error).unwrap();
            let counted = |name: &str| (name.to_owned(), Value::Integer(2));
            let kind = |kind: &str| vec![counted("l"), ("kind".to_owned(), Value::Word(kind.to_owned()))];
            let beside = [
                ("p-sensitive", vec![counted("p"), counted("k")]),
                ("l-diversity", kind("frequency")),
                ("l-diversity", kind("entropy")),
                ("t-closeness", vec![("t".to_owned(), Value::Real(0.4))]),
                ("delta-disclosure", vec![("delta".to_owned(), Value::Real(1.0))]),
                ("alpha-k-anonymity", vec![counted("k"), ("alpha".to_owned(), Value::Real(0.6))]),
                ("beta-likeness", vec![("beta".to_owned(), Value::Real(0.8))]),
                ("l-diversity", kind("distinct")),
            ];
            let promises = [Promise::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])];
            let promises = promises.into_iter().chain(beside.get(model).map(|(name, given)| Promise::new(name, given.clone())));
            let models: Vec<_> = promises.map(|promise| promise.unwrap().model.bind(&data).unwrap()).collect();
            let shapes = Shapes::new(&data, Metric::Ncp);
            let check = ModelCheck::new(&data, &models, &shapes);
            let all = levels::column_levels(&data, Metric::Ncp);
            let nodes = levels::nodes(&all);
            let mut expected = slowly(&check, &all, &nodes);
            expected.sort();
            let by_rows = climb_by_rows_until(Work::MAX, &check, &all, &nodes, &Silent);
            let all_rows: Vec<u32> = (0..data.rows() as u32).collect();
            prop_assert_eq!(Halves::new(&check, &all, &all_rows).is_some(), !check.only_counts());
            let by_kinds = climb_by_rows_until(Work::default(), &check, &all, &nodes, &Silent);
            let by_both = climb_by_rows_until(Work { rows: looks, judged }, &check, &all, &nodes, &Silent);
            // The order of groups decides about moves later.
            prop_assert_eq!(&by_kinds.groups, &by_rows.groups);
            prop_assert_eq!(&by_both.groups, &by_rows.groups);
            for Climbed { mut groups, rest, .. } in [by_rows, by_kinds, by_both] {
                groups.sort();
                prop_assert_eq!(&groups, &expected);
                let taken: usize = groups.iter().map(Vec::len).sum();
                prop_assert_eq!(taken + rest.len(), data.rows());
            }
        }
    }
}
