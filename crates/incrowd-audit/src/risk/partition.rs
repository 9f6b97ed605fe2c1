//! Groups of records that agree on a set of columns, without those who stand alone.
//!
//! Paper: `huhtala1999`, stripped partitions. The partition of the records by a set X of columns holds one group for each
//! combination of values. A group of one record stays a group of one whatever columns are added, so it is counted and
//! thrown away; what is left gets smaller with every column. Adding a column divides each group by that column's codes,
//! in one pass, with one mark per code that says in which group the code was met last. Nothing is hashed or sorted.
//!
//! Where we differ: the paper looks for functional dependencies and keeps the partitions of a whole level; we count unique
//! records and keep one partition per thread. A missing value is a value of its own.

use incrowd_core::Columnar;

use super::combinations::Parting;

/// What grouping by a set of columns gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Records whose combination of values nobody shares.
    pub unique: u64,
    /// Different combinations of values, those of unique records included.
    pub groups: u64,
}

/// The groups of two and more records, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Stripped {
    records: Vec<u32>,
    /// Where each group ends in `records`.
    ends: Vec<u32>,
    /// How many records stand alone.
    unique: u64,
}

/// Marks by code, kept between passes so that they are not cleared each time.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Twice the number of the group in which a code was met last, plus one if it was met there more than once.
    marks: Vec<u64>,
    next: u64,
    /// How many records of the current group have each code; all zero between groups.
    counts: Vec<u32>,
    /// The codes of the current group, in order of appearance.
    met: Vec<u32>,
}

impl Scratch {
    /// Makes room for a column and answers with the first number no mark has.
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
    /// All records in one group: the partition by no column.
    pub(crate) fn whole(records: usize) -> Stripped {
        match records {
            0 => Stripped { records: Vec::new(), ends: Vec::new(), unique: 0 },
            1 => Stripped { records: Vec::new(), ends: Vec::new(), unique: 1 },
            n => Stripped { records: (0..n as u32).collect(), ends: vec![n as u32], unique: 0 },
        }
    }

    /// The partition by some columns of a table.
    pub(crate) fn by(table: &Columnar, columns: &[usize], scratch: &mut Scratch) -> Stripped {
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

    /// The sizes of the groups of two and more.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        self.groups().map(|group| group.len() as u64)
    }
}

impl Parting for Stripped {
    type Scratch = Scratch;
    type Unit = ();

    fn whole(records: usize, (): ()) -> Stripped {
        Stripped::whole(records)
    }

    fn grouping(&self) -> Grouping {
        Grouping { unique: self.unique, groups: self.unique + self.ends.len() as u64 }
    }

    fn grouping_with(&self, table: &Columnar, column: usize, scratch: &mut Scratch) -> Grouping {
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

    fn divide(&self, table: &Columnar, column: usize, scratch: &mut Scratch) -> Stripped {
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
            // Each code gets its place: counts turn into positions, and those who stand alone get none.
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
        fn partitions_count_as_brute_force_does(rows in prop::collection::vec(prop::array::uniform4(0u8..4), 0..40)) {
            let table = table(&rows);
            let mut scratch = Scratch::default();
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
