//! The persons of a table in which a person may have several records.
//!
//! A *holding* is a person together with one combination of sensitive values. Everything a model
//! needs to know about the persons of a group follows from the number of records per holding. The
//! persons of a group are therefore a [`Histogram`] of holdings, which supports merging and
//! removal.

use hashbrown::HashMap;

use crate::folded::{Folded, FoldedPersons};
use crate::group::Histogram;

/// The holdings of a table's rows.
#[derive(Clone)]
pub struct Persons {
    /// The index in `holdings` where each row begins; the last entry is the end of the last row.
    starts: Vec<usize>,
    /// One holding per record, row by row, ascending within a row.
    holdings: Vec<u32>,
    /// The person of each holding, ascending.
    person: Vec<u32>,
    /// The class of each holding: its combination of sensitive values.
    class: Vec<u32>,
    /// One row per class that has its sensitive values.
    example: Vec<u32>,
    /// Whether all records of a person have the same quasi-identifiers.
    nested: bool,
}

crate::opaque_debug!(Persons { records: |persons| persons.holdings.len() });

impl Persons {
    /// Builds the holdings of rows. `persons` holds one code per record, row by row. `codes` holds
    /// the rows' codes, `stride` per row, of which the first `width` are quasi-identifiers.
    pub(crate) fn new(
        counts: &[u64],
        persons: &[u32],
        codes: &[u32],
        width: usize,
        stride: usize,
    ) -> Persons {
        let rows = counts.len();
        let (mut class_of, mut example) = (Vec::with_capacity(rows), Vec::new());
        let mut known: HashMap<&[u32], u32, foldhash::fast::FixedState> = HashMap::default();
        for row in 0..rows {
            let sensitive = &codes[row * stride + width..(row + 1) * stride];
            class_of.push(*known.entry(sensitive).or_insert_with(|| {
                example.push(row as u32);
                example.len() as u32 - 1
            }));
        }
        drop(known);
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        counts.iter().for_each(|&n| starts.push(starts[starts.len() - 1] + n as usize));
        // Records sorted by person, then by class.
        let mut by_person: Vec<(u32, u32, u32)> = Vec::with_capacity(persons.len());
        for row in 0..rows {
            let own = &persons[starts[row]..starts[row + 1]];
            by_person.extend(own.iter().map(|&person| (person, class_of[row], row as u32)));
        }
        by_person.sort_unstable();
        let quasi = |row: u32| &codes[row as usize * stride..][..width];
        let nested = by_person.windows(2).all(|pair| {
            pair[0].0 != pair[1].0 || pair[0].2 == pair[1].2 || quasi(pair[0].2) == quasi(pair[1].2)
        });
        let mut holdings = vec![0; persons.len()];
        let mut next = starts.clone();
        let (mut person, mut class) = (Vec::new(), Vec::new());
        for (at, &(who, what, row)) in by_person.iter().enumerate() {
            if at == 0 || (by_person[at - 1].0, by_person[at - 1].1) != (who, what) {
                person.push(who);
                class.push(what);
            }
            holdings[next[row as usize]] = person.len() as u32 - 1;
            next[row as usize] += 1;
        }
        Persons { starts, holdings, person, class, example, nested }
    }

    /// Whether all records of a person have the same quasi-identifiers. If so, a group of rows with
    /// equal quasi-identifiers contains all of a person's records or none.
    pub fn nested(&self) -> bool {
        self.nested
    }

    /// The holdings of a row's records, ascending.
    pub fn of_row(&self, row: usize) -> &[u32] {
        &self.holdings[self.starts[row]..self.starts[row + 1]]
    }

    /// The person of a holding. Persons ascend with their holdings.
    pub fn person(&self, holding: u32) -> u32 {
        self.person[holding as usize]
    }

    /// The class of a holding: its combination of sensitive values.
    pub(crate) fn class(&self, holding: u32) -> u32 {
        self.class[holding as usize]
    }

    /// One row per class that has its sensitive values.
    pub(crate) fn examples(&self) -> &[u32] {
        &self.example
    }

    /// The number of holdings.
    pub fn count(&self) -> usize {
        self.person.len()
    }

    /// The number of different persons.
    pub fn different(&self) -> u64 {
        (0..self.person.len())
            .filter(|&at| at == 0 || self.person[at - 1] != self.person[at])
            .count() as u64
    }

    /// The number of different persons with records in a group.
    pub fn in_group(&self, group: &Histogram) -> u64 {
        // Entries ascend by holding, so the holdings of one person are adjacent.
        let mut last = None;
        let mut different = 0;
        for &(holding, _) in group.entries() {
            let person = Some(self.person(holding));
            different += u64::from(person != last);
            last = person;
        }
        different
    }

    /// The greatest number of records of one person in a group.
    pub fn most_records(&self, group: &Histogram) -> u64 {
        let same = |a: &(u32, u64), b: &(u32, u64)| self.person(a.0) == self.person(b.0);
        let records = |run: &[(u32, u64)]| run.iter().map(|entry| entry.1).sum();
        group.entries().chunk_by(same).map(records).max().unwrap_or(0)
    }

    /// Counts the holdings of some rows.
    pub fn histogram(&self, rows: impl Iterator<Item = usize>) -> Histogram {
        let holdings: Vec<u32> = rows.flat_map(|row| self.of_row(row).iter().copied()).collect();
        Histogram::count(self.count(), holdings.into_iter().map(|holding| (holding, 1)))
    }

    /// Whether some rows have records of at least `least` different persons. Stops at the first row
    /// that reaches this number.
    pub fn reach(&self, rows: impl Iterator<Item = usize>, least: u64) -> bool {
        least == 0 || self.reached_at(rows, least).is_some()
    }

    /// The position of the first of some rows at which the number of different persons reaches
    /// `least`, which must be positive.
    pub fn reached_at(&self, rows: impl Iterator<Item = usize>, least: u64) -> Option<usize> {
        let mut seen = SmallSet::default();
        for (at, row) in rows.enumerate() {
            for &holding in self.of_row(row) {
                if seen.add(self.person(holding)) && seen.len() as u64 >= least {
                    return Some(at);
                }
            }
        }
        None
    }

    /// The persons after merging rows: `of_row` maps each row to a new one. Merged rows must have
    /// the same sensitive values, unless classes are not used afterwards.
    pub(crate) fn condensed(&self, of_row: &[u32], rows: usize) -> Persons {
        let mut starts = vec![0usize; rows + 1];
        for (row, &became) in of_row.iter().enumerate() {
            starts[became as usize + 1] += self.of_row(row).len();
        }
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let (mut holdings, mut next) = (vec![0; self.holdings.len()], starts.clone());
        for (row, &became) in of_row.iter().enumerate() {
            let own = self.of_row(row);
            let at = next[became as usize];
            holdings[at..at + own.len()].copy_from_slice(own);
            next[became as usize] += own.len();
        }
        (0..rows).for_each(|row| holdings[starts[row]..starts[row + 1]].sort_unstable());
        Persons { starts, holdings, ..self.clone() }
    }
}

/// A set of integers: a list while it is small, a hash set afterwards.
#[derive(Default)]
struct SmallSet {
    few: Vec<u32>,
    many: hashbrown::HashSet<u32, foldhash::fast::FixedState>,
}

impl SmallSet {
    const FEW: usize = 32;

    /// Adds a number. Returns whether it is new.
    fn add(&mut self, number: u32) -> bool {
        if self.few.len() < SmallSet::FEW {
            let new = !self.few.contains(&number);
            if new {
                self.few.push(number);
            }
            return new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().copied());
        }
        self.many.insert(number)
    }

    fn len(&self) -> usize {
        self.few.len().max(self.many.len())
    }
}

impl Folded {
    /// The persons of each row's records, if a person has several records.
    pub fn persons_by_row(&self) -> Option<Vec<&[u32]>> {
        let persons = self.persons.as_ref().filter(|persons| persons.repeated)?;
        let mut at = 0;
        let rows = self.weights.iter().map(|&n| {
            at += n as usize;
            &persons.codes[at - n as usize..at]
        });
        Some(rows.collect())
    }

    /// The table with a person for each record, row by row. Simple and slow; for tests and small
    /// tables.
    #[must_use]
    pub fn with_persons(mut self, codes: Vec<u32>) -> Folded {
        self.persons = Some(FoldedPersons::of_codes(codes, &self.weights));
        self
    }
}

impl FoldedPersons {
    /// The persons of the records of rows with these record counts. Sorts the codes of each row;
    /// drops all codes if no person has two records.
    pub fn of_codes(mut codes: Vec<u32>, counts: &[u64]) -> FoldedPersons {
        let records = codes.len() as u64;
        let highest = codes.iter().max().map_or(0, |&code| code as usize + 1);
        let mut seen = vec![false; highest];
        let mut different = 0;
        for &code in &codes {
            different += u64::from(!std::mem::replace(&mut seen[code as usize], true));
        }
        let repeated = different < records;
        if repeated {
            let mut at = 0;
            for &n in counts {
                codes[at..at + n as usize].sort_unstable();
                at += n as usize;
            }
        } else {
            codes = Vec::new();
        }
        FoldedPersons { codes, repeated, read: different, different, ..FoldedPersons::default() }
    }
}
