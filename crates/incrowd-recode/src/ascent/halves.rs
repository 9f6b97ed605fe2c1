//! The way up for models that look at how often the values of one sensitive column occur.
//!
//! The columns are divided into two halves. Above some levels of the first half many rows are alike in all that still matters: the
//! class they have there, their values in the second half and the sensitive value. These are a kind, and kinds are counted instead
//! of rows for every combination of levels of the second half.

use std::ops::Range;

use rayon::prelude::*;

use super::blocks::{Numbered, divided};
use super::kinds::{Facts, Kinds, Table};
use super::levels::PricedLevels;
use crate::improve::{Judge, ModelCheck};

/// Kinds may take this many bytes.
const MOST_BYTES: usize = 256 << 20;

/// What a row takes for every combination of levels of the first half.
const ROW_BYTES: usize = 20;

/// Classes of the second half times sensitive values are at most so many.
const MOST_COUNTS: usize = 1 << 20;

/// Half of the columns. What a row has there is its pattern.
#[derive(Debug)]
struct Half {
    columns: Range<usize>,
    /// By pattern, a row that has it.
    examples: Vec<u32>,
    /// By pattern, how many records have it.
    records: Vec<u64>,
    /// By pattern, the values that models ask for.
    seen: Vec<u64>,
    /// By combination of levels, once it was asked for.
    classes: Vec<Option<Classes>>,
}

/// The classes at a combination of levels of a half.
#[derive(Debug)]
pub(super) struct Classes {
    /// By pattern; the number of classes if the class is too small or lacks values.
    pub(super) of_pattern: Vec<u32>,
    pub(super) count: u32,
}

impl Half {
    /// A half with the patterns of these rows.
    fn new(
        check: &ModelCheck<'_>,
        column_levels: &[PricedLevels],
        columns: Range<usize>,
        rest: &[u32],
    ) -> (Half, Vec<u32>) {
        let combinations = column_levels[columns.clone()].iter().map(|levels| levels.terms.len()).product();
        let (examples, records, seen) = Default::default();
        let classes = (0..combinations).map(|_| None).collect();
        let mut half = Half { columns, examples, records, seen, classes };
        let (lowest, seen) = (vec![0; column_levels.len()], check.presences());
        let mut known = Numbered::new();
        let mut patterns = Vec::with_capacity(rest.len());
        for &row in rest {
            let pattern = known.number(half.key(check, column_levels, &lowest, row));
            let at = pattern as usize;
            if at == half.examples.len() {
                half.examples.push(row);
                half.records.push(0);
                half.seen.resize(half.seen.len() + seen, 0);
            }
            half.records[at] += check.data.weight(row as usize);
            check.see_values(&mut half.seen[at * seen..(at + 1) * seen], row);
            patterns.push(pattern);
        }
        (half, patterns)
    }

    /// A number for the cells of a row in these columns at a combination of levels.
    fn key(&self, check: &ModelCheck<'_>, column_levels: &[PricedLevels], node: &[u8], row: u32) -> u64 {
        let codes = check.data.quasi_codes(row as usize);
        let term = |c: usize| column_levels[c].terms[usize::from(node[c])][codes[c] as usize];
        self.columns.clone().fold(0, |key, c| key.wrapping_add(term(c)))
    }

    /// The place of a combination of levels among those of this half.
    fn part(&self, column_levels: &[PricedLevels], node: &[u8]) -> usize {
        let levels = |c: usize| column_levels[c].terms.len();
        self.columns.clone().fold(0, |part, c| part * levels(c) + usize::from(node[c]))
    }

    /// The classes at a combination of levels.
    fn count(&self, check: &ModelCheck<'_>, column_levels: &[PricedLevels], node: &[u8]) -> Classes {
        let seen = check.presences();
        let mut known = Numbered::new();
        let (mut records, mut values): (Vec<u64>, Vec<u64>) = Default::default();
        let mut of_pattern = Vec::with_capacity(self.examples.len());
        for (pattern, &row) in self.examples.iter().enumerate() {
            let class = known.number(self.key(check, column_levels, node, row));
            let at = class as usize;
            if at == records.len() {
                records.push(0);
                values.resize(values.len() + seen, 0);
            }
            records[at] += self.records[pattern];
            let own = &self.seen[pattern * seen..(pattern + 1) * seen];
            values[at * seen..(at + 1) * seen].iter_mut().zip(own).for_each(|(all, own)| *all |= own);
            of_pattern.push(class);
        }
        let mut count = 0;
        let mut renamed = Vec::with_capacity(records.len());
        for (at, &records) in records.iter().enumerate() {
            let large = records >= check.least && check.has_values(&values[at * seen..(at + 1) * seen]);
            renamed.push(if large { count } else { u32::MAX });
            count += u32::from(large);
        }
        of_pattern.iter_mut().for_each(|class| *class = renamed[*class as usize].min(count));
        Classes { of_pattern, count }
    }
}

/// Where the second half begins.
fn middle(column_levels: &[PricedLevels]) -> usize {
    divided(column_levels, 2).first().map_or(0, |columns| columns.end)
}

/// What was found at a combination of levels.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The classes that the models admit, by those of the halves.
    admitted: Vec<(u32, u32)>,
    /// How many kinds were looked at.
    pub(super) looked_at: u64,
    /// How many classes were judged.
    pub(super) judged: u64,
}

/// Rows that leave, in kinds at every combination of levels of the first half that was asked for.
#[derive(Debug)]
pub(super) struct Halves<'l> {
    column_levels: &'l [PricedLevels],
    first: Half,
    second: Half,
    /// By row.
    facts: Vec<Facts>,
    /// By combination of levels of the first half.
    kinds: Vec<Option<Kinds>>,
    /// How many values the sensitive column has.
    values: usize,
    /// The rows that left, one after the other.
    gone: Vec<u32>,
    /// By row, whether it is left.
    there: Vec<bool>,
}

impl<'l> Halves<'l> {
    /// Whether it may be of use: where the counts of one column decide, and there is room.
    pub(super) fn may_serve(check: &ModelCheck<'_>, column_levels: &[PricedLevels]) -> bool {
        let combinations =
            |of_half: &[PricedLevels]| of_half.iter().map(|s| s.terms.len()).product::<usize>();
        let (one, other) = column_levels.split_at(middle(column_levels));
        let fewest = combinations(one).min(combinations(other));
        check.deciding().is_some()
            && u32::try_from(check.data.records()).is_ok()
            && fewest.saturating_mul(check.data.rows() * ROW_BYTES) <= MOST_BYTES
    }

    /// Of the rows that are left. Nothing where something else than the counts of one column decides, or where it would take too
    /// much room.
    pub(super) fn new(
        check: &ModelCheck<'_>,
        column_levels: &'l [PricedLevels],
        rest: &[u32],
    ) -> Option<Halves<'l>> {
        let deciding = check.deciding().filter(|_| Halves::may_serve(check, column_levels))?;
        let (rows, values) = (check.data.rows(), deciding.values);
        let middle = middle(column_levels);
        let half = |columns| Half::new(check, column_levels, columns, rest);
        let (mut one, mut other) = (half(0..middle), half(middle..column_levels.len()));
        // Levels bring more together where there is more to bring together.
        if one.0.examples.len() < other.0.examples.len() {
            std::mem::swap(&mut one, &mut other);
        }
        let ((first, firsts), (second, seconds)) = (one, other);
        let bytes = first.classes.len().saturating_mul(rows * ROW_BYTES);
        let counts = second.examples.len().saturating_mul(values);
        if bytes > MOST_BYTES || counts > MOST_COUNTS {
            return None;
        }
        let nothing = Facts { first: 0, second: 0, weight: 0, code: 0 };
        let (mut facts, mut there) = (vec![nothing; rows], vec![false; rows]);
        for ((&row, first), second) in rest.iter().zip(firsts).zip(seconds) {
            let (at, weight) = (row as usize, check.data.weight(row as usize) as u32);
            facts[at] = Facts { first, second, weight, code: deciding.codes[at] };
            there[at] = true;
        }
        Some(Halves {
            column_levels,
            kinds: (0..first.classes.len()).map(|_| None).collect(),
            first,
            second,
            facts,
            values,
            gone: Vec::new(),
            there,
        })
    }

    /// How many rows have left.
    pub(super) fn gone(&self) -> usize {
        self.gone.len()
    }

    /// Whether a row is left.
    pub(super) fn is_there(&self, row: u32) -> bool {
        self.there[row as usize]
    }

    /// Makes sure that what these combinations of levels consist of is there and up to date. `rest` are the rows that are left.
    pub(super) fn prepare(&mut self, check: &ModelCheck<'_>, nodes: &[Vec<u8>], rest: &[u32]) {
        let levels = self.column_levels;
        for half in [&mut self.first, &mut self.second] {
            for node in nodes {
                let part = half.part(levels, node);
                if half.classes[part].is_none() {
                    half.classes[part] = Some(half.count(check, levels, node));
                }
            }
        }
        let mut wanted: Vec<usize> = nodes.iter().map(|node| self.first.part(levels, node)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let old: Vec<Option<Kinds>> = wanted.iter().map(|&part| self.kinds[part].take()).collect();
        let mend = |(&part, old): (&usize, Option<Kinds>)| -> Option<Kinds> {
            let classes = self.first.classes[part].as_ref()?;
            match old {
                Some(mut kinds) if kinds.unnoticed(self.gone.len()) <= rest.len() / 2 => {
                    kinds.notice(&self.facts, classes, &self.gone, &self.there);
                    Some(kinds)
                }
                _ => {
                    let size = (self.second.examples.len(), self.values);
                    Some(Kinds::new(&self.facts, classes, (rest, self.gone.len()), size))
                }
            }
        };
        let made: Vec<Option<Kinds>> = wanted.par_iter().zip(old).map(mend).collect();
        wanted.into_iter().zip(made).for_each(|(part, made)| self.kinds[part] = made);
    }

    /// The kinds and the classes of a combination of levels that was prepared.
    fn at(&self, node: &[u8]) -> Option<(&Kinds, &Classes, &Classes)> {
        let one = self.first.part(self.column_levels, node);
        let other = self.second.part(self.column_levels, node);
        let (first, second) = (self.first.classes[one].as_ref()?, self.second.classes[other].as_ref()?);
        Some((self.kinds[one].as_ref()?, first, second))
    }

    /// Judges the classes of a combination of levels.
    pub(super) fn judged<'a>(
        &self,
        check: &ModelCheck<'a>,
        node: &[u8],
        (table, judge): (&mut Table, &mut Judge<'a>),
    ) -> Found {
        let mut found = Found::default();
        let Some((kinds, _, second)) = self.at(node) else { return found };
        for (one, _) in kinds.records().iter().enumerate().filter(|(_, records)| **records >= check.least) {
            found.looked_at += table.count(kinds, one as u32, second, self.values);
            for other in table.classes().filter(|other| *other < second.count) {
                let (records, counts) = (table.records(other), table.counts(other));
                // Rows only leave, so what is too small or lacks values now is no group later either.
                if records < check.least || !check.has_counted(counts) {
                    continue;
                }
                found.judged += 1;
                if check.admits_counted(judge, counts, records) {
                    found.admitted.push((one as u32, other));
                }
            }
        }
        found
    }

    /// Lets the classes of a combination of levels go that may be groups, in the order of their first rows. Those that lost rows
    /// after so many were gone, when they were judged, are judged anew.
    pub(super) fn leave<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        (node, found): (&[u8], Found),
        (table, judge): (&mut Table, &mut Judge<'a>),
        judged_at: usize,
    ) -> Vec<Vec<u32>> {
        let admitted = self.still_admitted(check, (node, found), (table, judge), judged_at);
        let Some((kinds, _, second)) = self.at(node) else { return Vec::new() };
        let mut groups: Vec<Vec<u32>> = Vec::with_capacity(admitted.len());
        let mut place = vec![usize::MAX; if admitted.is_empty() { 0 } else { second.count as usize + 1 }];
        for admitted in admitted.chunk_by(|a, b| a.0 == b.0) {
            for &(_, other) in admitted {
                place[other as usize] = groups.len();
                groups.push(Vec::new());
            }
            for &row in kinds.rows(admitted[0].0).iter().filter(|row| self.there[**row as usize]) {
                let other = second.of_pattern[self.facts[row as usize].second as usize];
                if let Some(group) = groups.get_mut(place[other as usize]) {
                    group.push(row);
                }
            }
            admitted.iter().for_each(|class| place[class.1 as usize] = usize::MAX);
        }
        groups.sort_unstable_by_key(|rows| rows[0]);
        for &row in groups.iter().flatten() {
            self.there[row as usize] = false;
            self.gone.push(row);
        }
        groups
    }

    /// The classes that the models admit now, in order.
    fn still_admitted<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        (node, found): (&[u8], Found),
        (table, judge): (&mut Table, &mut Judge<'a>),
        judged_at: usize,
    ) -> Vec<(u32, u32)> {
        let mut admitted = found.admitted;
        if judged_at < self.gone.len() {
            let one = self.first.part(self.column_levels, node);
            if let (Some(kinds), Some(classes)) = (&mut self.kinds[one], &self.first.classes[one]) {
                kinds.notice(&self.facts, classes, &self.gone, &self.there);
            }
            let Some((kinds, first, second)) = self.at(node) else { return admitted };
            let class = |&row: &u32| {
                let facts = self.facts[row as usize];
                (first.of_pattern[facts.first as usize], second.of_pattern[facts.second as usize])
            };
            let mut changed: Vec<(u32, u32)> = self.gone[judged_at..].iter().map(class).collect();
            // Rows that left together are often of one class.
            changed.dedup();
            changed.retain(|class| {
                let may_be = class.0 < first.count && class.1 < second.count;
                may_be && kinds.records()[class.0 as usize] >= check.least
            });
            changed.sort_unstable();
            changed.dedup();
            let is_large = |class: &(u32, u32)| kinds.records()[class.0 as usize] >= check.least;
            admitted.retain(|class| is_large(class) && changed.binary_search(class).is_err());
            for changed in changed.chunk_by(|a, b| a.0 == b.0) {
                let one = changed[0].0;
                table.count(kinds, one, second, self.values);
                for &(_, other) in changed {
                    if check.admits_counted(judge, table.counts(other), table.records(other)) {
                        admitted.push((one, other));
                    }
                }
            }
        }
        admitted.sort_unstable();
        admitted
    }
}
