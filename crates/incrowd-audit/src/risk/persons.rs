//! Partitions of the records by a set of columns, without groups of a single person.
//!
//! Like [`partition`](super::partition), for tables in which a person may have several records. A
//! person is unique if a combination of values belongs only to her. A group with records of a
//! single person stays so if columns are added, so it is dropped, and the person is marked as
//! unique. A unique person stays unique.

use incrowd_core::Columnar;

use super::combinations::Partition;
use super::partition::Grouping;

/// The person of each record, and the number of persons.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owners<'p> {
    pub(crate) of_record: &'p [u32],
    pub(crate) persons: usize,
}

/// The groups of two and more persons, concatenated.
#[derive(Clone, Debug)]
pub(crate) struct ByPerson<'p> {
    of: Owners<'p>,
    records: Vec<u32>,
    ends: Vec<u32>,
    /// Whether each person is unique, and the number of unique persons.
    unique: Vec<bool>,
    count: u64,
}

/// A number that no person has.
const NOBODY: u32 = u32::MAX;

/// Buffers by code and by person. Group numbers increase over all passes, so the marks are never
/// cleared.
#[derive(Debug, Default)]
pub(crate) struct PersonMarks {
    /// Twice the number of the group in which a code occurred last, plus one if several persons had
    /// it there.
    marks: Vec<u64>,
    /// The first person with the code in that group.
    first: Vec<u32>,
    next: u64,
    /// The pass in which a person was last found to be unique.
    found: Vec<u64>,
    pass: u64,
    /// Positions of the records of a code. All are zero between groups.
    places: Vec<u32>,
}

impl PersonMarks {
    fn prepare(&mut self, codes: usize, groups: usize, persons: usize) -> u64 {
        if self.marks.len() < codes {
            self.marks.resize(codes, 0);
            self.first.resize(codes, 0);
            self.places.resize(codes, 0);
        }
        if self.found.len() < persons {
            self.found.resize(persons, 0);
        }
        self.pass += 1;
        let first = self.next + 1;
        self.next += groups as u64;
        first
    }

    /// Marks the codes of a group. Returns the number of distinct codes.
    fn mark(&mut self, group: &[u32], codes: &[u32], of: Owners<'_>, number: u64) -> u64 {
        let (once, often) = (2 * number, 2 * number + 1);
        let mut distinct = 0;
        for &record in group {
            let (code, person) = (codes[record as usize] as usize, of.of_record[record as usize]);
            if self.marks[code] < once {
                (self.marks[code], self.first[code]) = (once, person);
                distinct += 1;
            } else if self.marks[code] == once && self.first[code] != person {
                self.marks[code] = often;
            }
        }
        distinct
    }
}

impl ByPerson<'_> {
    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.records[start as usize..end as usize])
    }
}

impl<'p> Partition for ByPerson<'p> {
    type Scratch = PersonMarks;
    type Unit = Owners<'p>;

    fn whole(records: usize, of: Owners<'p>) -> ByPerson<'p> {
        let several = of.of_record.windows(2).any(|pair| pair[0] != pair[1]);
        let mut unique = vec![false; of.persons];
        if let (false, Some(&only)) = (several, of.of_record.first()) {
            unique[only as usize] = true;
        }
        let count = u64::from(!several && records > 0);
        let (records, ends) = if several {
            ((0..records as u32).collect(), vec![records as u32])
        } else {
            (vec![], vec![])
        };
        ByPerson { of, records, ends, unique, count }
    }

    fn grouping_with(
        &self,
        table: &Columnar,
        column: usize,
        scratch: &mut PersonMarks,
    ) -> Grouping {
        let column = &table.columns[column];
        let first = scratch.prepare(column.texts.codes(), self.ends.len(), self.of.persons);
        let (mut unique, mut several) = (self.count, 0);
        for (group, number) in self.groups().zip(first..) {
            several += scratch.mark(group, &column.codes, self.of, number);
            let mut single = 0;
            for &record in group {
                let code = column.codes[record as usize] as usize;
                let person = self.of.of_record[record as usize] as usize;
                if scratch.marks[code] != 2 * number {
                    continue;
                }
                // A code with several records of one person is subtracted once.
                if scratch.first[code] != NOBODY {
                    (single, scratch.first[code]) = (single + 1, NOBODY);
                }
                if !self.unique[person] && scratch.found[person] != scratch.pass {
                    scratch.found[person] = scratch.pass;
                    unique += 1;
                }
            }
            several -= single;
        }
        Grouping { unique, groups: unique + several }
    }

    fn divide(&self, table: &Columnar, column: usize, scratch: &mut PersonMarks) -> ByPerson<'p> {
        let column = &table.columns[column];
        let first = scratch.prepare(column.texts.codes(), self.ends.len(), self.of.persons);
        let mut finer = ByPerson {
            of: self.of,
            records: Vec::new(),
            ends: Vec::new(),
            unique: self.unique.clone(),
            count: self.count,
        };
        // The codes of the current group that several persons have.
        let mut shared: Vec<u32> = Vec::new();
        for (group, number) in self.groups().zip(first..) {
            scratch.mark(group, &column.codes, self.of, number);
            shared.clear();
            for &record in group {
                let code = column.codes[record as usize];
                if scratch.marks[code as usize] == 2 * number {
                    let person = self.of.of_record[record as usize] as usize;
                    finer.count += u64::from(!finer.unique[person]);
                    finer.unique[person] = true;
                } else {
                    if scratch.places[code as usize] == 0 {
                        shared.push(code);
                    }
                    scratch.places[code as usize] += 1;
                }
            }
            // Replace the count of each code by the position of its first record.
            let mut place = finer.records.len() as u32;
            for &code in &shared {
                let size = std::mem::replace(&mut scratch.places[code as usize], place);
                place += size;
                finer.ends.push(place);
            }
            finer.records.resize(place as usize, 0);
            for &record in group {
                let code = column.codes[record as usize] as usize;
                if scratch.marks[code] != 2 * number {
                    finer.records[scratch.places[code] as usize] = record;
                    scratch.places[code] += 1;
                }
            }
            shared.iter().for_each(|&code| scratch.places[code as usize] = 0);
        }
        finer
    }

    fn grouping(&self) -> Grouping {
        Grouping { unique: self.count, groups: self.count + self.ends.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::tests::table;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Counts unique persons and combinations of several persons by brute force.
    pub(crate) fn slow<const N: usize>(
        rows: &[[u8; N]],
        persons: &[u32],
        columns: &[usize],
    ) -> Grouping {
        let mut holders: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
        for (row, &person) in rows.iter().zip(persons) {
            holders.entry(columns.iter().map(|&c| row[c]).collect()).or_default().insert(person);
        }
        let single = holders.values().filter(|persons| persons.len() == 1).flatten();
        let unique = single.collect::<BTreeSet<_>>().len() as u64;
        let several = holders.values().filter(|persons| persons.len() > 1).count() as u64;
        Grouping { unique, groups: unique + several }
    }

    proptest! {
        #[test]
        fn unique_persons_equal_brute_force(
            rows in prop::collection::vec((prop::array::uniform4(0u8..4), 0u32..12), 0..50)
        ) {
            let persons: Vec<u32> = rows.iter().map(|(_, person)| *person).collect();
            let rows: Vec<[u8; 4]> = rows.iter().map(|(row, _)| *row).collect();
            let (table, of) = (table(&rows), Owners { of_record: &persons, persons: 12 });
            let mut scratch = PersonMarks::default();
            for columns in [vec![0], vec![2, 1], vec![3, 0, 1], vec![0, 1, 2, 3]] {
                let expected = slow(&rows, &persons, &columns);
                let mut partition = ByPerson::whole(rows.len(), of);
                for (i, &column) in columns.iter().enumerate() {
                    let counted = partition.grouping_with(&table, column, &mut scratch);
                    partition = partition.divide(&table, column, &mut scratch);
                    prop_assert_eq!(counted, partition.grouping());
                    prop_assert_eq!(counted, slow(&rows, &persons, &columns[..=i]));
                }
                prop_assert_eq!(partition.grouping(), expected);
            }
        }
    }
}
