//! The climb for models that depend only on the value counts of one sensitive column.
//!
//! The columns are divided into two halves. At a combination of levels of the first half, many rows
//! are equal in everything that still matters: their class in the first half, their values in the
//! second half, and their sensitive value. Such rows form a profile. For every combination of
//! levels of the second half, profiles are counted instead of rows.

use std::ops::Range;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::blocks::column_blocks;
use super::levels::PricedLevels;
use super::profiles::{ClassTable, PatternRow, Profiles};
use crate::improve::{GroupState, ModelCheck};

/// The greatest size of all profiles in bytes.
const MAX_BYTES: usize = 256 << 20;

/// The memory per row for every combination of levels of the first half.
const ROW_BYTES: usize = 20;

/// The greatest product of the numbers of classes of the second half and sensitive values.
const MAX_COUNTS: usize = 1 << 20;

/// One half of the columns. The values of a row in these columns are its pattern.
#[derive(Debug)]
struct ColumnHalf {
    columns: Range<usize>,
    /// By pattern: one row that has it.
    examples: Vec<u32>,
    /// By pattern: the number of records.
    records: Vec<u64>,
    /// By pattern: a bit set of the required values that occur.
    present: Vec<u64>,
    /// By combination of levels: the classes, once they are needed.
    classes: Vec<Option<Classes>>,
}

/// The classes at one combination of levels of a half.
#[derive(Debug)]
pub(super) struct Classes {
    /// By pattern: the class, or `count` if the class is too small or lacks required values.
    pub(super) of_pattern: Vec<u32>,
    pub(super) count: u32,
}

impl ColumnHalf {
    /// Creates a half and returns the pattern of each of these rows.
    fn new(
        check: &ModelCheck<'_>,
        column_levels: &[PricedLevels],
        columns: Range<usize>,
        rest: &[u32],
    ) -> (ColumnHalf, Vec<u32>) {
        let combinations =
            column_levels[columns.clone()].iter().map(|levels| levels.terms.len()).product();
        let (examples, records, present) = Default::default();
        let classes = (0..combinations).map(|_| None).collect();
        let mut half = ColumnHalf { columns, examples, records, present, classes };
        let (lowest, words) = (vec![0; column_levels.len()], check.presence_words());
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut patterns = Vec::with_capacity(rest.len());
        for &row in rest {
            let (key, next) = (half.key(check, column_levels, &lowest, row), known.len() as u32);
            let pattern = *known.entry(key).or_insert(next);
            let at = pattern as usize;
            if at == half.examples.len() {
                half.examples.push(row);
                half.records.push(0);
                half.present.resize(half.present.len() + words, 0);
            }
            half.records[at] += check.data.weight(row as usize);
            check.add_values(&mut half.present[at * words..(at + 1) * words], row);
            patterns.push(pattern);
        }
        (half, patterns)
    }

    /// Returns a hash of a row's cells in these columns at a combination of levels.
    fn key(
        &self,
        check: &ModelCheck<'_>,
        column_levels: &[PricedLevels],
        node: &[u8],
        row: u32,
    ) -> u64 {
        let codes = check.data.quasi_codes(row as usize);
        let term = |c: usize| column_levels[c].terms[usize::from(node[c])][codes[c] as usize];
        self.columns.clone().fold(0, |key, c| key.wrapping_add(term(c)))
    }

    /// Returns the index of a combination of levels among those of this half.
    fn index(&self, column_levels: &[PricedLevels], node: &[u8]) -> usize {
        let levels = |c: usize| column_levels[c].terms.len();
        self.columns.clone().fold(0, |index, c| index * levels(c) + usize::from(node[c]))
    }

    /// Computes the classes at a combination of levels.
    fn count(
        &self,
        check: &ModelCheck<'_>,
        column_levels: &[PricedLevels],
        node: &[u8],
    ) -> Classes {
        let words = check.presence_words();
        let mut known: HashMap<u64, u32> = HashMap::new();
        let (mut records, mut values): (Vec<u64>, Vec<u64>) = Default::default();
        let mut of_pattern = Vec::with_capacity(self.examples.len());
        for (pattern, &row) in self.examples.iter().enumerate() {
            let (key, next) = (self.key(check, column_levels, node, row), known.len() as u32);
            let class = *known.entry(key).or_insert(next);
            let at = class as usize;
            if at == records.len() {
                records.push(0);
                values.resize(values.len() + words, 0);
            }
            records[at] += self.records[pattern];
            let own = &self.present[pattern * words..(pattern + 1) * words];
            values[at * words..(at + 1) * words]
                .iter_mut()
                .zip(own)
                .for_each(|(all, own)| *all |= own);
            of_pattern.push(class);
        }
        let mut count = 0;
        let mut renamed = Vec::with_capacity(records.len());
        for (at, &records) in records.iter().enumerate() {
            let large = records >= check.min_records
                && check.has_required_values(&values[at * words..(at + 1) * words]);
            renamed.push(if large { count } else { u32::MAX });
            count += u32::from(large);
        }
        of_pattern.iter_mut().for_each(|class| *class = renamed[*class as usize].min(count));
        Classes { of_pattern, count }
    }
}

/// Returns the first column of the second half.
fn middle(column_levels: &[PricedLevels]) -> usize {
    column_blocks(column_levels, 2).first().map_or(0, |columns| columns.end)
}

/// The result of checking one combination of levels.
#[derive(Debug, Default)]
pub(super) struct AdmittedClasses {
    /// The classes that the models admit, as pairs of a class of the first and one of the second
    /// half.
    admitted: Vec<(u32, u32)>,
    /// The number of profiles that were scanned.
    pub(super) scanned: u64,
    /// The number of classes that the models checked.
    pub(super) checked: u64,
}

/// The remaining rows, as profiles for every combination of levels of the first half that was
/// needed.
#[derive(Debug)]
pub(super) struct SplitColumns<'l> {
    column_levels: &'l [PricedLevels],
    first: ColumnHalf,
    second: ColumnHalf,
    /// By row.
    pattern_rows: Vec<PatternRow>,
    /// By combination of levels of the first half.
    profiles: Vec<Option<Profiles>>,
    /// The number of values of the sensitive column.
    values: usize,
    /// The rows that were removed, in the order of their removal.
    removed: Vec<u32>,
    /// By row: whether it remains.
    remaining: Vec<bool>,
}

impl<'l> SplitColumns<'l> {
    /// Returns whether profiles can be used: the counts of one column decide, and memory suffices.
    pub(super) fn is_applicable(check: &ModelCheck<'_>, column_levels: &[PricedLevels]) -> bool {
        let combinations =
            |of_half: &[PricedLevels]| of_half.iter().map(|s| s.terms.len()).product::<usize>();
        let (one, other) = column_levels.split_at(middle(column_levels));
        let fewest = combinations(one).min(combinations(other));
        check.deciding().is_some()
            && u32::try_from(check.data.records()).is_ok()
            && fewest.saturating_mul(check.data.rows() * ROW_BYTES) <= MAX_BYTES
    }

    /// Creates the profiles of the remaining rows. `None` if more than the counts of one column
    /// decides, or if memory does not suffice.
    pub(super) fn new(
        check: &ModelCheck<'_>,
        column_levels: &'l [PricedLevels],
        rest: &[u32],
    ) -> Option<SplitColumns<'l>> {
        let deciding =
            check.deciding().filter(|_| SplitColumns::is_applicable(check, column_levels))?;
        let (rows, values) = (check.data.rows(), deciding.values);
        let middle = middle(column_levels);
        let half = |columns| ColumnHalf::new(check, column_levels, columns, rest);
        let (mut one, mut other) = (half(0..middle), half(middle..column_levels.len()));
        // The half with more patterns becomes the first, because its levels merge more of them.
        if one.0.examples.len() < other.0.examples.len() {
            std::mem::swap(&mut one, &mut other);
        }
        let ((first, firsts), (second, seconds)) = (one, other);
        let bytes = first.classes.len().saturating_mul(rows * ROW_BYTES);
        let counts = second.examples.len().saturating_mul(values);
        if bytes > MAX_BYTES || counts > MAX_COUNTS {
            return None;
        }
        let empty = PatternRow { first: 0, second: 0, count: 0, code: 0 };
        let (mut pattern_rows, mut remaining) = (vec![empty; rows], vec![false; rows]);
        for ((&row, first), second) in rest.iter().zip(firsts).zip(seconds) {
            let (at, count) = (row as usize, check.data.weight(row as usize) as u32);
            pattern_rows[at] = PatternRow { first, second, count, code: deciding.codes[at] };
            remaining[at] = true;
        }
        Some(SplitColumns {
            column_levels,
            profiles: (0..first.classes.len()).map(|_| None).collect(),
            first,
            second,
            pattern_rows,
            values,
            removed: Vec::new(),
            remaining,
        })
    }

    /// Returns the number of removed rows.
    pub(super) fn removed(&self) -> usize {
        self.removed.len()
    }

    /// Returns whether a row remains.
    pub(super) fn is_remaining(&self, row: u32) -> bool {
        self.remaining[row as usize]
    }

    /// Computes or updates the classes and profiles of these combinations of levels. `rest` are the
    /// remaining rows.
    pub(super) fn prepare(&mut self, check: &ModelCheck<'_>, nodes: &[Vec<u8>], rest: &[u32]) {
        let levels = self.column_levels;
        for half in [&mut self.first, &mut self.second] {
            for node in nodes {
                let index = half.index(levels, node);
                if half.classes[index].is_none() {
                    half.classes[index] = Some(half.count(check, levels, node));
                }
            }
        }
        let mut wanted: Vec<usize> =
            nodes.iter().map(|node| self.first.index(levels, node)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let old: Vec<Option<Profiles>> = wanted.iter().map(|&i| self.profiles[i].take()).collect();
        let refresh = |(&index, old): (&usize, Option<Profiles>)| -> Option<Profiles> {
            let classes = self.first.classes[index].as_ref()?;
            match old {
                Some(mut profiles) if profiles.pending(self.removed.len()) <= rest.len() / 2 => {
                    profiles.apply_removals(
                        &self.pattern_rows,
                        classes,
                        &self.removed,
                        &self.remaining,
                    );
                    Some(profiles)
                }
                _ => {
                    let size = (self.second.examples.len(), self.values);
                    Some(Profiles::new(
                        &self.pattern_rows,
                        classes,
                        (rest, self.removed.len()),
                        size,
                    ))
                }
            }
        };
        let made: Vec<Option<Profiles>> = wanted.par_iter().zip(old).map(refresh).collect();
        wanted.into_iter().zip(made).for_each(|(index, made)| self.profiles[index] = made);
    }

    /// Returns the profiles and the classes of both halves at a combination of levels that was
    /// prepared.
    fn at(&self, node: &[u8]) -> Option<(&Profiles, &Classes, &Classes)> {
        let one = self.first.index(self.column_levels, node);
        let other = self.second.index(self.column_levels, node);
        let (first, second) =
            (self.first.classes[one].as_ref()?, self.second.classes[other].as_ref()?);
        Some((self.profiles[one].as_ref()?, first, second))
    }

    /// Checks the classes of a combination of levels.
    pub(super) fn checked<'a>(
        &self,
        check: &ModelCheck<'a>,
        node: &[u8],
        (table, state): (&mut ClassTable, &mut GroupState<'a>),
    ) -> AdmittedClasses {
        let mut found = AdmittedClasses::default();
        let Some((profiles, _, second)) = self.at(node) else { return found };
        for (one, _) in profiles
            .records()
            .iter()
            .enumerate()
            .filter(|(_, records)| **records >= check.min_records)
        {
            found.scanned += table.count(profiles, one as u32, second, self.values);
            for other in table.classes().filter(|other| *other < second.count) {
                let (records, counts) = (table.records(other), table.counts(other));
                // Rows are only removed, so a class that is too small or lacks values now cannot be
                // a group later.
                if records < check.min_records || !check.has_required_counts(counts) {
                    continue;
                }
                found.checked += 1;
                if check.admits_counted(state, counts, records) {
                    found.admitted.push((one as u32, other));
                }
            }
        }
        found
    }

    /// Removes the classes that may be groups and returns their rows, in the order of their first
    /// rows. `checked_at` is the number of rows that had been removed when the classes were
    /// checked. Classes that have lost rows since then are checked again.
    pub(super) fn remove<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        (node, found): (&[u8], AdmittedClasses),
        (table, state): (&mut ClassTable, &mut GroupState<'a>),
        checked_at: usize,
    ) -> Vec<Vec<u32>> {
        let admitted = self.still_admitted(check, (node, found), (table, state), checked_at);
        let Some((profiles, _, second)) = self.at(node) else { return Vec::new() };
        let mut groups: Vec<Vec<u32>> = Vec::with_capacity(admitted.len());
        let mut place =
            vec![usize::MAX; if admitted.is_empty() { 0 } else { second.count as usize + 1 }];
        for admitted in admitted.chunk_by(|a, b| a.0 == b.0) {
            for &(_, other) in admitted {
                place[other as usize] = groups.len();
                groups.push(Vec::new());
            }
            for &row in
                profiles.rows(admitted[0].0).iter().filter(|row| self.remaining[**row as usize])
            {
                let other = second.of_pattern[self.pattern_rows[row as usize].second as usize];
                if let Some(group) = groups.get_mut(place[other as usize]) {
                    group.push(row);
                }
            }
            admitted.iter().for_each(|class| place[class.1 as usize] = usize::MAX);
        }
        groups.sort_unstable_by_key(|rows| rows[0]);
        for &row in groups.iter().flatten() {
            self.remaining[row as usize] = false;
            self.removed.push(row);
        }
        groups
    }

    /// Returns the classes that the models admit now, sorted.
    fn still_admitted<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        (node, found): (&[u8], AdmittedClasses),
        (table, state): (&mut ClassTable, &mut GroupState<'a>),
        checked_at: usize,
    ) -> Vec<(u32, u32)> {
        let mut admitted = found.admitted;
        if checked_at < self.removed.len() {
            let one = self.first.index(self.column_levels, node);
            if let (Some(profiles), Some(classes)) =
                (&mut self.profiles[one], &self.first.classes[one])
            {
                profiles.apply_removals(
                    &self.pattern_rows,
                    classes,
                    &self.removed,
                    &self.remaining,
                );
            }
            let Some((profiles, first, second)) = self.at(node) else { return admitted };
            let class = |&row: &u32| {
                let row = self.pattern_rows[row as usize];
                (first.of_pattern[row.first as usize], second.of_pattern[row.second as usize])
            };
            let mut changed: Vec<(u32, u32)> =
                self.removed[checked_at..].iter().map(class).collect();
            // Rows that were removed together are often of one class, so this shortens the sort
            // below.
            changed.dedup();
            changed.retain(|class| {
                let may_be = class.0 < first.count && class.1 < second.count;
                may_be && profiles.records()[class.0 as usize] >= check.min_records
            });
            changed.sort_unstable();
            changed.dedup();
            let is_large =
                |class: &(u32, u32)| profiles.records()[class.0 as usize] >= check.min_records;
            admitted.retain(|class| is_large(class) && changed.binary_search(class).is_err());
            for changed in changed.chunk_by(|a, b| a.0 == b.0) {
                let one = changed[0].0;
                table.count(profiles, one, second, self.values);
                for &(_, other) in changed {
                    if check.admits_counted(state, table.counts(other), table.records(other)) {
                        admitted.push((one, other));
                    }
                }
            }
        }
        admitted.sort_unstable();
        admitted
    }
}
