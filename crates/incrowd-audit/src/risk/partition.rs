//! Partitions of the records by a set of columns, without unique records.
//!
//! Paper: `huhtala1999`, stripped partitions. The partition of the records by a set X of columns
//! has one group for each combination of values. A group of one record stays a group of one if
//! columns are added, so it is only counted. The rest gets smaller with every column. Refining by a
//! column divides each group by the column's codes in one pass. For each code, a mark stores the
//! group in which the code occurred last. There is no hashing and no sorting.
//!
//! Where we differ: the paper finds functional dependencies and keeps the partitions of a whole
//! level. We count unique records and keep one path of partitions per thread. A missing value is a
//! value.

use incrowd_core::Columnar;

use super::combinations::Partition;

/// Numbers of groups and unique records by a set of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Number of unique records.
    pub unique: u64,
    /// Number of distinct combinations of values, including those of unique records.
    pub groups: u64,
}

/// The groups of two and more records, concatenated.
#[derive(Clone, Debug)]
pub(crate) struct Stripped {
    records: Vec<u32>,
    /// End of each group in `records`.
    ends: Vec<u32>,
    /// Number of unique records.
    unique: u64,
}

/// Buffers by code. Group numbers increase over all passes, so the marks are never cleared.
#[derive(Debug, Default)]
pub(crate) struct CodeMarks {
    /// Twice the number of the group in which a code occurred last, plus one if it occurred there
    /// more than once.
    marks: Vec<u64>,
    next: u64,
    /// Number of records of the current group per code. All are zero between groups.
    counts: Vec<u32>,
    /// Codes of the current group, in order of occurrence.
    met: Vec<u32>,
}

impl CodeMarks {
    /// Reserves numbers for groups and space for codes. Returns the first reserved group number.
    fn prepare(&mut self, codes: usize, groups: usize) -> u64 {
        if self.marks.len() < codes {
            self.marks.resize(codes, 0);
        }
        let first = self.next + 1;
        self.next += groups as u64;
        first
    }
}

impl Stripped {
    /// Returns the partition by no column: all records in one group.
    pub(crate) fn whole(records: usize) -> Stripped {
        match records {
            0 => Stripped { records: Vec::new(), ends: Vec::new(), unique: 0 },
            1 => Stripped { records: Vec::new(), ends: Vec::new(), unique: 1 },
            n => Stripped { records: (0..n as u32).collect(), ends: vec![n as u32], unique: 0 },
        }
    }

    /// Returns the partition by some columns of a table.
    pub(crate) fn by(table: &Columnar, columns: &[usize], scratch: &mut CodeMarks) -> Stripped {
        let mut partition = Stripped::whole(table.records);
        for &column in columns {
            partition = partition.divide(table, column, scratch);
        }
        partition
    }

    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.records[start as usize..end as usize])
    }

    /// Returns the sizes of the groups of two and more records.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        self.groups().map(|group| group.len() as u64)
    }
}

impl Partition for Stripped {
    type Scratch = CodeMarks;
    type Unit = ();

    fn whole(records: usize, (): ()) -> Stripped {
        Stripped::whole(records)
    }

    fn grouping(&self) -> Grouping {
        Grouping { unique: self.unique, groups: self.unique + self.ends.len() as u64 }
    }

    fn grouping_with(&self, table: &Columnar, column: usize, scratch: &mut CodeMarks) -> Grouping {
        let column = &table.columns[column];
        let first = scratch.prepare(column.texts.codes(), self.ends.len());
        let (mut unique, mut groups) = (self.unique, self.unique);
        for (group, number) in self.groups().zip(first..) {
            let (once, often) = (2 * number, 2 * number + 1);
            for &record in group {
                let mark = &mut scratch.marks[column.codes[record as usize] as usize];
                if *mark < once {
                    *mark = once;
                    unique += 1;
                    groups += 1;
                } else if *mark == once {
                    *mark = often;
                    unique -= 1;
                }
            }
        }
        Grouping { unique, groups }
    }

    fn divide(&self, table: &Columnar, column: usize, scratch: &mut CodeMarks) -> Stripped {
        let column = &table.columns[column];
        if scratch.counts.len() < column.texts.codes() {
            scratch.counts.resize(column.texts.codes(), 0);
        }
        let mut finer = Stripped {
            records: Vec::with_capacity(self.records.len()),
            ends: Vec::new(),
            unique: self.unique,
        };
        for group in self.groups() {
            for &record in group {
                let code = column.codes[record as usize];
                let count = &mut scratch.counts[code as usize];
                if *count == 0 {
                    scratch.met.push(code);
                }
                *count += 1;
            }
            // Replace the count of each code by the position of its first record. Unique records
            // are dropped: their position is `u32::MAX`.
            let mut place = finer.records.len() as u32;
            for &code in &scratch.met {
                let count = &mut scratch.counts[code as usize];
                if *count == 1 {
                    finer.unique += 1;
                    *count = u32::MAX;
                } else {
                    let size = *count;
                    *count = place;
                    place += size;
                    finer.ends.push(place);
                }
            }
            finer.records.resize(place as usize, 0);
            for &record in group {
                let at = &mut scratch.counts[column.codes[record as usize] as usize];
                if *at != u32::MAX {
                    finer.records[*at as usize] = record;
                    *at += 1;
                }
            }
            for code in scratch.met.drain(..) {
                scratch.counts[code as usize] = 0;
            }
        }
        finer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::tests::{brute_force, table};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn partitions_equal_brute_force(
            rows in prop::collection::vec(prop::array::uniform4(0u8..4), 0..40),
        ) {
            let table = table(&rows);
            let mut scratch = CodeMarks::default();
            for columns in [vec![], vec![0], vec![2, 1], vec![3, 0, 1], vec![0, 1, 2, 3]] {
                let expected = brute_force(&rows, &columns);
                let partition = Stripped::by(&table, &columns, &mut scratch);
                prop_assert_eq!(partition.grouping(), expected);
                if let Some((&last, before)) = columns.split_last() {
                    let parent = Stripped::by(&table, before, &mut scratch);
                    prop_assert_eq!(parent.grouping_with(&table, last, &mut scratch), expected);
                }
                let mut members = partition.records.clone();
                members.sort_unstable();
                members.dedup();
                prop_assert_eq!(members.len() as u64 + expected.unique, rows.len() as u64);
            }
        }
    }
}
