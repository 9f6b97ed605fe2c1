//! Who stands behind the records of a table in which a person may have several.
//!
//! A *holding* is a person together with one combination of sensitive values: whatever a model asks about the persons of a
//! group follows from how many records of which holdings it has. So the persons of a group are a [`Histogram`] of holdings,
//! which merges and parts like any other.

use hashbrown::HashMap;

use crate::folded::{Folded, FoldedPersons};
use crate::group::Histogram;

/// The holdings of a table's rows.
#[derive(Clone)]
pub struct Persons {
    /// Where the holdings of each row begin; the last entry is where those of the last row end.
    starts: Vec<usize>,
    /// One holding per record, row by row, ascending within a row.
    holdings: Vec<u32>,
    /// The person of each holding, ascending.
    person: Vec<u32>,
    /// The class of each holding: which combination of sensitive values.
    class: Vec<u32>,
    /// A row of each class.
    example: Vec<u32>,
    /// Whether all records of a person have the same quasi-identifiers.
    nested: bool,
}

// Who has which values must not reach logs.
impl std::fmt::Debug for Persons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Persons").field("records", &self.holdings.len()).finish_non_exhaustive()
    }
}

impl Persons {
    /// The holdings of rows with these persons, one code per record, row by row. `codes` has the rows' own codes, of which
    /// `width` are quasi-identifiers.
    pub(crate) fn new(
        weights: &[u64],
        persons: &[u32],
        codes: &[u32],
        width: usize,
        stride: usize,
    ) -> Persons {
        let rows = weights.len();
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
        weights.iter().for_each(|&n| starts.push(starts[starts.len() - 1] + n as usize));
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

    /// Whether all records of a person have the same quasi-identifiers, so that every group of rows that are alike on them
    /// has all of a person's records or none.
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

    /// Which combination of sensitive values a holding is about.
    pub(crate) fn class(&self, holding: u32) -> u32 {
        self.class[holding as usize]
    }

    /// A row of each class.
    pub(crate) fn examples(&self) -> &[u32] {
        &self.example
    }

    /// How many holdings there are.
    pub fn count(&self) -> usize {
        self.person.len()
    }

    /// How many different persons there are.
    pub fn different(&self) -> u64 {
        (0..self.person.len()).filter(|&at| at == 0 || self.person[at - 1] != self.person[at]).count() as u64
    }

    /// How many different persons have records in a group.
    pub fn in_group(&self, group: &Histogram) -> u64 {
        let mut last = None;
        let mut different = 0;
        for &(holding, _) in group.entries() {
            let person = Some(self.person(holding));
            different += u64::from(person != last);
            last = person;
        }
        different
    }

    /// The most records that one person has in a group.
    pub fn most_records(&self, group: &Histogram) -> u64 {
        let same = |a: &(u32, u64), b: &(u32, u64)| self.person(a.0) == self.person(b.0);
        let records = |run: &[(u32, u64)]| run.iter().map(|entry| entry.1).sum();
        group.entries().chunk_by(same).map(records).max().unwrap_or(0)
    }

    /// The histogram of some rows' holdings.
    pub fn histogram(&self, rows: impl Iterator<Item = usize>) -> Histogram {
        let holdings: Vec<u32> = rows.flat_map(|row| self.of_row(row).iter().copied()).collect();
        Histogram::count(self.count(), holdings.into_iter().map(|holding| (holding, 1)))
    }

    /// Whether some rows have records of at least so many different persons; stops looking as soon as they have.
    pub fn reach(&self, rows: impl Iterator<Item = usize>, least: u64) -> bool {
        least == 0 || self.reached_at(rows, least).is_some()
    }

    /// The position of the row with which some rows have records of so many different persons, at least one.
    pub fn reached_at(&self, rows: impl Iterator<Item = usize>, least: u64) -> Option<usize> {
        let mut seen = Seen::default();
        for (at, row) in rows.enumerate() {
            for &holding in self.of_row(row) {
                if seen.add(self.person(holding)) && seen.len() as u64 >= least {
                    return Some(at);
                }
            }
        }
        None
    }

    /// The same for rows that became others: `of_row` says which. The rows that become one must have the same sensitive
    /// values, unless nobody looks at those.
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

/// Few numbers that were seen: a list while they are few, a set when they are not.
#[derive(Default)]
struct Seen {
    few: Vec<u32>,
    many: hashbrown::HashSet<u32, foldhash::fast::FixedState>,
}

impl Seen {
    const FEW: usize = 32;

    /// Adds a number; whether it is new.
    fn add(&mut self, number: u32) -> bool {
        if self.few.len() < Seen::FEW {
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
    /// The persons of each row's records, if some person has several.
    pub fn persons_by_row(&self) -> Option<Vec<&[u32]>> {
        let persons = self.persons.as_ref().filter(|persons| persons.repeated)?;
        let mut at = 0;
        let rows = self.weights.iter().map(|&n| {
            at += n as usize;
            &persons.codes[at - n as usize..at]
        });
        Some(rows.collect())
    }

    /// The same table with a person for each record, row by row; the slow and obvious way to say whose records they are.
    #[must_use]
    pub fn with_persons(mut self, codes: Vec<u32>) -> Folded {
        self.persons = Some(FoldedPersons::of_codes(codes, &self.weights));
        self
    }
}

impl FoldedPersons {
    /// The persons of the records of rows with these weights. Codes of a row are sorted; if nobody has a second record they
    /// are given up.
    pub fn of_codes(mut codes: Vec<u32>, weights: &[u64]) -> FoldedPersons {
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
            for &n in weights {
                codes[at..at + n as usize].sort_unstable();
                at += n as usize;
            }
        } else {
            codes = Vec::new();
        }
        FoldedPersons { codes, repeated, read: different, different, unnamed: 0 }
    }
}
