//! Profiles: rows that are equal in everything that matters at some levels of one half of the
//! columns, counted together.

use super::split_columns::Classes;

/// Removed rows are dropped when less than this share of the rows remains.
const STALE: f64 = 0.6;

/// No profile.
const NONE: u32 = u32::MAX;

/// The patterns, the count and the sensitive value of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternRow {
    /// The pattern in the first half of the columns.
    pub(super) first: u32,
    /// The pattern in the second half.
    pub(super) second: u32,
    /// The number of records.
    pub(super) count: u32,
    /// The sensitive value.
    pub(super) code: u16,
}

/// Rows of one class of the first half with the same pattern in the second half and the same
/// sensitive value.
#[derive(Clone, Copy, Debug)]
struct Profile {
    second: u32,
    /// The number of remaining records.
    count: u32,
    code: u16,
}

/// The profiles at one combination of levels of the first half.
#[derive(Debug)]
pub(super) struct Profiles {
    /// The profiles, class by class.
    profiles: Vec<Profile>,
    /// The index of the first profile of each class, and the number of profiles.
    profiles_from: Vec<usize>,
    /// The rows, class by class, sorted within a class.
    rows: Vec<u32>,
    rows_from: Vec<usize>,
    /// By row: the profile, or [`NONE`] if its class is too small or lacks required values.
    of_row: Vec<u32>,
    /// By class: the number of remaining records.
    records: Vec<u64>,
    /// The number of remaining rows.
    left: usize,
    /// The number of removed rows that have been subtracted from the counts.
    applied: usize,
}

impl Profiles {
    /// Creates the profiles of the rows `rest` that remain after `removed` rows were removed.
    /// `patterns` is the number of patterns of the second half and `values` the number of sensitive
    /// values.
    pub(super) fn new(
        pattern_rows: &[PatternRow],
        classes: &Classes,
        (rest, removed): (&[u32], usize),
        (patterns, values): (usize, usize),
    ) -> Profiles {
        let class_of =
            |row: u32| classes.of_pattern[pattern_rows[row as usize].first as usize] as usize;
        let class_count = classes.count as usize;
        // The last slot is for rows without a class.
        let mut ends = vec![0; class_count + 2];
        rest.iter().for_each(|&row| ends[class_of(row) + 1] += 1);
        (0..=class_count).for_each(|class| ends[class + 1] += ends[class]);
        let rows_from: Vec<usize> = ends[..=class_count].to_vec();
        let mut rows = vec![0; rows_from[class_count]];
        for &row in rest {
            let class = class_of(row);
            if class < class_count {
                rows[ends[class]] = row;
                ends[class] += 1;
            }
        }
        let (mut of_row, mut records) = (vec![NONE; pattern_rows.len()], vec![0; class_count]);
        let (mut profiles, mut profiles_from): (Vec<Profile>, Vec<usize>) = (Vec::new(), vec![0]);
        // By pattern and value: one more than the profile's index. Indices up to `begin` belong to
        // earlier classes, so the table need not be cleared between classes.
        let mut known = vec![0u32; patterns * values];
        for class in 0..class_count {
            let begin = profiles.len() as u32;
            for &row in &rows[rows_from[class]..rows_from[class + 1]] {
                let PatternRow { second, count, code, .. } = pattern_rows[row as usize];
                let profile = &mut known[second as usize * values + usize::from(code)];
                if *profile <= begin {
                    profiles.push(Profile { second, count: 0, code });
                    *profile = profiles.len() as u32;
                }
                profiles[*profile as usize - 1].count += count;
                records[class] += u64::from(count);
                of_row[row as usize] = *profile - 1;
            }
            profiles_from.push(profiles.len());
        }
        let left = rows.len();
        Profiles {
            profiles,
            profiles_from,
            rows,
            rows_from,
            of_row,
            records,
            left,
            applied: removed,
        }
    }

    /// Returns the number of removed rows, of `removed` in total, that are still included in the
    /// counts.
    pub(super) fn pending(&self, removed: usize) -> usize {
        removed - self.applied
    }

    /// Subtracts the removed rows from the counts. `removed` contains all rows removed so far.
    pub(super) fn apply_removals(
        &mut self,
        pattern_rows: &[PatternRow],
        classes: &Classes,
        removed: &[u32],
        remaining: &[bool],
    ) {
        for &row in &removed[self.applied..] {
            let profile = self.of_row[row as usize];
            if profile != NONE {
                let PatternRow { first, count, .. } = pattern_rows[row as usize];
                self.profiles[profile as usize].count -= count;
                self.records[classes.of_pattern[first as usize] as usize] -= u64::from(count);
                self.left -= 1;
            }
        }
        self.applied = removed.len();
        if (self.left as f64) < STALE * self.rows.len() as f64 {
            self.compact(remaining);
        }
    }

    /// Drops empty profiles and removed rows.
    fn compact(&mut self, remaining: &[bool]) {
        let (mut to, mut kept) = (0, 0);
        let mut renamed = vec![NONE; self.profiles.len()];
        for class in 0..self.records.len() {
            let profiles = self.profiles_from[class]..self.profiles_from[class + 1];
            self.profiles_from[class] = kept;
            for at in profiles.filter(|_| self.records[class] > 0) {
                if self.profiles[at].count > 0 {
                    (self.profiles[kept], renamed[at]) = (self.profiles[at], kept as u32);
                    kept += 1;
                }
            }
            // Only the boundaries of this class change here. Those of the next class are still the
            // old ones.
            let rows = self.rows_from[class]..self.rows_from[class + 1];
            self.rows_from[class] = to;
            for at in rows.filter(|_| self.records[class] > 0) {
                let row = self.rows[at];
                if remaining[row as usize] {
                    let profile = &mut self.of_row[row as usize];
                    (self.rows[to], *profile) = (row, renamed[*profile as usize]);
                    to += 1;
                }
            }
        }
        self.profiles.truncate(kept);
        self.rows.truncate(to);
        let last = self.records.len();
        (self.profiles_from[last], self.rows_from[last]) = (kept, to);
    }

    /// Returns the number of remaining records of each class.
    pub(super) fn records(&self) -> &[u64] {
        &self.records
    }

    /// Returns the rows of a class, sorted. Some of them may have been removed.
    pub(super) fn rows(&self, class: u32) -> &[u32] {
        &self.rows[self.rows_from[class as usize]..self.rows_from[class as usize + 1]]
    }
}

/// Value counts of the classes that combine one class of the first half with each class of the
/// second.
#[derive(Debug, Default)]
pub(super) struct ClassTable {
    /// By class and sensitive value. Zero for classes that do not occur.
    counts: Vec<u64>,
    /// By class. Zero for classes that do not occur.
    records: Vec<u64>,
    /// The classes that occur.
    classes: Vec<u32>,
    /// The number of sensitive values.
    values: usize,
}

impl ClassTable {
    /// Counts the profiles of a class of the first half. Returns their number.
    pub(super) fn count(
        &mut self,
        profiles: &Profiles,
        class: u32,
        second: &Classes,
        values: usize,
    ) -> u64 {
        self.clear();
        let classes = second.count as usize + 1;
        self.counts.resize(self.counts.len().max(classes * values), 0);
        self.records.resize(self.records.len().max(classes), 0);
        self.values = values;
        let of_class = &profiles.profiles
            [profiles.profiles_from[class as usize]..profiles.profiles_from[class as usize + 1]];
        for profile in of_class.iter().filter(|profile| profile.count > 0) {
            let class = second.of_pattern[profile.second as usize];
            let (at, count) = (class as usize, u64::from(profile.count));
            if self.records[at] == 0 {
                self.classes.push(class);
            }
            self.records[at] += count;
            self.counts[at * values + usize::from(profile.code)] += count;
        }
        of_class.len() as u64
    }

    fn clear(&mut self) {
        for class in self.classes.drain(..) {
            let at = class as usize;
            self.records[at] = 0;
            self.counts[at * self.values..(at + 1) * self.values].fill(0);
        }
    }

    /// Iterates over the classes of the second half that occur.
    pub(super) fn classes(&self) -> impl Iterator<Item = u32> {
        self.classes.iter().copied()
    }

    /// Returns the number of records of a class.
    pub(super) fn records(&self, class: u32) -> u64 {
        self.records[class as usize]
    }

    /// Returns the count of each sensitive value in a class.
    pub(super) fn counts(&self, class: u32) -> &[u64] {
        &self.counts[class as usize * self.values..][..self.values]
    }
}
