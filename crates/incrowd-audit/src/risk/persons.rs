//! Groups of records that agree on a set of columns, without those of a single person.
//!
//! The same as [`partition`](super::partition) where a person may have several records: a person is alone if some combination
//! of values is hers and nobody else's. A group whose records are all hers stays so whatever columns are added, so it is thrown
//! away and she is remembered; whoever was alone stays alone.

use incrowd_core::Columnar;

use super::combinations::Parting;
use super::partition::Grouping;

/// Whose records they are: the person of each record, by number, and how many numbers there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of<'p> {
    pub(crate) record: &'p [u32],
    pub(crate) persons: usize,
}

/// The groups of two and more persons, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct ByPerson<'p> {
    of: Of<'p>,
    records: Vec<u32>,
    ends: Vec<u32>,
    /// Who stands alone, and how many.
    alone: Vec<bool>,
    count: u64,
}

/// No person has this number.
const NOBODY: u32 = u32::MAX;

/// Marks by code and by person, kept between passes so that they are not cleared each time.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Twice the number of the group in which a code was met last, plus one if several persons had it there.
    marks: Vec<u64>,
    /// Who had the code first in that group.
    first: Vec<u32>,
    next: u64,
    /// The pass in which a person was last found alone.
    found: Vec<u64>,
    pass: u64,
    /// Where the records of a code go.
    places: Vec<u32>,
}

impl Scratch {
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

    /// Marks the codes of a group.
    fn mark(&mut self, group: &[u32], codes: &[u32], of: Of<'_>, number: u64) -> u64 {
        let (once, often) = (2 * number, 2 * number + 1);
        let mut met = 0;
        for &record in group {
            let (code, person) = (codes[record as usize] as usize, of.record[record as usize]);
            if self.marks[code] < once {
                (self.marks[code], self.first[code]) = (once, person);
                met += 1;
            } else if self.marks[code] == once && self.first[code] != person {
                self.marks[code] = often;
            }
        }
        met
    }
}

impl ByPerson<'_> {
    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.records[start as usize..end as usize])
    }
}

impl<'p> Parting for ByPerson<'p> {
    type Scratch = Scratch;
    type Unit = Of<'p>;

    fn whole(records: usize, of: Of<'p>) -> ByPerson<'p> {
        let several = of.record.windows(2).any(|pair| pair[0] != pair[1]);
        let mut alone = vec![false; of.persons];
        if let (false, Some(&only)) = (several, of.record.first()) {
            alone[only as usize] = true;
        }
        let count = u64::from(!several && records > 0);
        let (records, ends) =
            if several { ((0..records as u32).collect(), vec![records as u32]) } else { (vec![], vec![]) };
        ByPerson { of, records, ends, alone, count }
    }

    fn grouping_with(&self, table: &Columnar, column: usize, scratch: &mut Scratch) -> Grouping {
        let column = &table.columns[column];
        let first = scratch.prepare(column.texts.codes(), self.ends.len(), self.of.persons);
        let (mut unique, mut several) = (self.count, 0);
        for (group, number) in self.groups().zip(first..) {
            several += scratch.mark(group, &column.codes, self.of, number);
            let mut single = 0;
            for &record in group {
                let code = column.codes[record as usize] as usize;
                let person = self.of.record[record as usize] as usize;
                if scratch.marks[code] != 2 * number {
                    continue;
                }
                // A code that she has in several records is taken off once.
                if scratch.first[code] != NOBODY {
                    (single, scratch.first[code]) = (single + 1, NOBODY);
                }
                if !self.alone[person] && scratch.found[person] != scratch.pass {
                    scratch.found[person] = scratch.pass;
                    unique += 1;
                }
            }
            several -= single;
        }
        Grouping { unique, groups: unique + several }
    }

    fn divide(&self, table: &Columnar, column: usize, scratch: &mut Scratch) -> ByPerson<'p> {
        let column = &table.columns[column];
        let first = scratch.prepare(column.texts.codes(), self.ends.len(), self.of.persons);
        let mut finer = ByPerson {
            of: self.of,
            records: Vec::new(),
            ends: Vec::new(),
            alone: self.alone.clone(),
            count: self.count,
        };
        let mut met: Vec<u32> = Vec::new();
        for (group, number) in self.groups().zip(first..) {
            scratch.mark(group, &column.codes, self.of, number);
            // How many records each code of several persons has.
            met.clear();
            for &record in group {
                let code = column.codes[record as usize];
                if scratch.marks[code as usize] == 2 * number {
                    let person = self.of.record[record as usize] as usize;
                    finer.count += u64::from(!finer.alone[person]);
                    finer.alone[person] = true;
                } else {
                    if scratch.places[code as usize] == 0 {
                        met.push(code);
                    }
                    scratch.places[code as usize] += 1;
                }
            }
            let mut place = finer.records.len() as u32;
            for &code in &met {
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
            met.iter().for_each(|&code| scratch.places[code as usize] = 0);
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

    /// Who is alone on some columns, the slow and obvious way, and how many combinations several persons have.
    pub(crate) fn slow<const N: usize>(rows: &[[u8; N]], persons: &[u32], columns: &[usize]) -> Grouping {
        let mut holders: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
        for (row, &person) in rows.iter().zip(persons) {
            holders.entry(columns.iter().map(|&c| row[c]).collect()).or_default().insert(person);
        }
        let single = holders.values().filter(|who| who.len() == 1).flatten();
        let unique = single.collect::<BTreeSet<_>>().len() as u64;
        let several = holders.values().filter(|who| who.len() > 1).count() as u64;
        Grouping { unique, groups: unique + several }
    }

    proptest! {
        #[test]
        fn persons_are_counted_as_brute_force_does(
            rows in prop::collection::vec((prop::array::uniform4(0u8..4), 0u32..12), 0..50)
        ) {
            let persons: Vec<u32> = rows.iter().map(|(_, person)| *person).collect();
            let rows: Vec<[u8; 4]> = rows.iter().map(|(row, _)| *row).collect();
            let (table, of) = (table(&rows), Of { record: &persons, persons: 12 });
            let mut scratch = Scratch::default();
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
