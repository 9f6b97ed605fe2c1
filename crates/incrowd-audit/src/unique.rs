//! Unique records on columns that are published unchanged.
//!
//! A release generalizes quasi-identifiers. Sensitive and passthrough columns are published
//! unchanged. An adversary who knows a value of a person in such a column finds her record if the
//! value is unique. This module counts unique records on each of these columns, on the smallest
//! sets of them (`huhtala1999`, as in a profile), and on all of them together. If a person may have
//! several records and the persons are known, it counts persons: a person is unique if a value or
//! combination belongs only to her.
//!
//! All numbers are exact. The maximum size of a set depends only on the size of the table.

use incrowd_core::{Columnar, Progress, Result, Silent};
use rayon::prelude::*;

use crate::risk::{Search, search, search_persons, sets, unique_on};

/// Columns or sets of columns on which at least this share is unique single people out.
pub const SHARE: f64 = 0.05;

/// Maximum number of columns in a set.
const MOST: usize = 3;

/// Number of sets that are always searched. In small tables more sets are searched.
const SETS: u128 = 200;

/// Number of cells that are read at most, if the sets exceed [`SETS`].
const CELLS: u128 = 200_000_000;

/// A set of columns with its number of unique records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueOn {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Number of unique records or persons.
    pub unique: u64,
}

/// Unique records on columns that are published unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniqueRecords {
    /// Number of all records or persons.
    pub of: u64,
    /// Whether persons are counted.
    pub persons: bool,
    /// Every column, in the order of the release.
    pub columns: Vec<UniqueOn>,
    /// The smallest sets of two and more columns that single people out. Smaller sets come first.
    /// Among sets of equal size, those with more unique records come first.
    pub sets: Vec<UniqueOn>,
    /// Unique records on all columns together. `None` if there are fewer than two columns or if the
    /// combination was not counted.
    pub together: Option<u64>,
    /// Maximum number of columns in the searched sets.
    pub most: usize,
}

/// Counts unique records on the columns of a table. `of` is the person of each record, if a person
/// may have several records.
pub fn unique_records(table: &Columnar, of: Option<&[u32]>) -> Result<UniqueRecords> {
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let name =
        |set: &[usize]| set.iter().map(|&c| table.columns[c].name.clone()).collect::<Vec<_>>();
    let singles: Vec<u64> = all.par_iter().map(|&column| unique_on(table, of, &[column])).collect();
    let people = match of {
        None => table.records as u64,
        Some(of) => distinct(of),
    };
    let searched: Vec<usize> =
        all.iter().copied().filter(|&c| table.columns[c].texts.codes() > 1).collect();
    let limit = SETS.max(CELLS / (table.records as u128).max(1));
    let most = (1..=MOST).rev().find(|&most| sets(searched.len(), most) <= limit).unwrap_or(1);
    let mut found = UniqueRecords {
        of: people,
        persons: of.is_some(),
        columns: all
            .iter()
            .zip(singles)
            .map(|(&c, unique)| UniqueOn { columns: name(&[c]), unique })
            .collect(),
        most,
        ..UniqueRecords::default()
    };
    if all.len() > 1 && people > 0 {
        found.together = Some(unique_on(table, of, &all));
    }
    // A record that is unique on some columns is unique on all of them. If all columns together do
    // not single people out, no set does.
    if found.together.is_some_and(|together| found.is_many(together)) {
        let request = Search { columns: searched, share: SHARE, most, dependencies: false };
        let progress: &dyn Progress = &Silent;
        let small = match of {
            None => search(table, &request, progress)?,
            Some(of) => search_persons(table, of, &request, progress)?,
        };
        let small = small.combinations.into_iter().filter(|set| set.columns.len() > 1);
        found.sets =
            small.map(|set| UniqueOn { columns: name(&set.columns), unique: set.unique }).collect();
    }
    Ok(found)
}

/// Returns the number of distinct persons.
fn distinct(of: &[u32]) -> u64 {
    let mut known = vec![false; of.iter().max().map_or(0, |&most| most as usize + 1)];
    of.iter().for_each(|&person| known[person as usize] = true);
    known.into_iter().filter(|known| *known).count() as u64
}

impl UniqueRecords {
    /// Creates the result from the number of values that occur once, per column. It has no sets.
    pub fn of_counts(names: &[String], once: &[u64], records: u64) -> UniqueRecords {
        let column =
            |(name, &unique): (&String, &u64)| UniqueOn { columns: vec![name.clone()], unique };
        UniqueRecords {
            of: records,
            columns: names.iter().zip(once).map(column).collect(),
            most: 1,
            ..UniqueRecords::default()
        }
    }

    /// Returns whether this number of unique records singles people out.
    pub fn is_many(&self, unique: u64) -> bool {
        unique > 0 && unique as f64 >= SHARE * self.of as f64 * (1.0 - 1e-12)
    }

    /// Returns whether this number is more than half of all records or persons.
    pub fn is_majority(&self, unique: u64) -> bool {
        2 * u128::from(unique) > u128::from(self.of)
    }

    /// Returns whether a column or a set of columns singles people out.
    pub fn singles_out(&self) -> bool {
        let all = self.columns.iter().chain(&self.sets).map(|on| on.unique).chain(self.together);
        all.into_iter().any(|unique| self.is_many(unique))
    }

    /// Returns the name of the counted unit.
    pub fn unit(&self) -> &'static str {
        if self.persons { "persons" } else { "records" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Counts unique persons by brute force.
    fn slow(rows: &[[u8; 4]], persons: &[u32], columns: &[usize]) -> u64 {
        let mut holders: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
        for (row, &person) in rows.iter().zip(persons) {
            holders.entry(columns.iter().map(|&c| row[c]).collect()).or_default().insert(person);
        }
        holders.values().filter(|who| who.len() == 1).flatten().collect::<BTreeSet<_>>().len()
            as u64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn all_numbers_equal_brute_force(
            rows in prop::collection::vec(
                (
                    (0u8..3, 0u8..4, 0u8..9, 0u8..9).prop_map(|(a, b, c, d)| [a, b, c, d]),
                    0u32..15,
                ),
                1..50,
            ),
            by_person in any::<bool>(),
        ) {
            let mut persons: Vec<u32> = rows.iter().map(|(_, person)| *person).collect();
            if !by_person {
                persons = (0..rows.len() as u32).collect();
            }
            let rows: Vec<[u8; 4]> = rows.iter().map(|(row, _)| *row).collect();
            let table = crate::risk::tests::table(&rows);
            let found = unique_records(&table, by_person.then_some(&persons[..])).unwrap();
            let people = persons.iter().collect::<BTreeSet<_>>().len() as u64;
            prop_assert_eq!((found.of, found.most, found.persons), (people, 3, by_person));
            for (c, column) in found.columns.iter().enumerate() {
                prop_assert_eq!(column.unique, slow(&rows, &persons, &[c]));
            }
            prop_assert_eq!(found.together, Some(slow(&rows, &persons, &[0, 1, 2, 3])));
            let set = |bits: u32| (0..4).filter(|c| bits & (1 << c) != 0).collect();
            let sets: Vec<Vec<usize>> = (1u32..16).map(set).collect();
            let many = |set: &Vec<usize>| {
                let unique = slow(&rows, &persons, set);
                unique > 0 && 20 * unique >= people
            };
            let minimal = |set: &&Vec<usize>| {
                let subset = |other: &&Vec<usize>| {
                    other.len() < set.len() && other.iter().all(|c| set.contains(c))
                };
                let subsets = sets.iter().filter(subset);
                (2..=3).contains(&set.len()) && many(set) && !subsets.into_iter().any(many)
            };
            let named = |set: &Vec<usize>| {
                let names = set.iter().map(|c| format!("c{c}")).collect();
                (names, slow(&rows, &persons, set))
            };
            let mut expected: Vec<(Vec<String>, u64)> =
                sets.iter().filter(minimal).map(named).collect();
            let mut got: Vec<(Vec<String>, u64)> =
                found.sets.iter().map(|on| (on.columns.clone(), on.unique)).collect();
            expected.sort();
            got.sort();
            prop_assert_eq!(got, expected);
            let worst = found.together.unwrap_or(0);
            prop_assert_eq!(found.singles_out(), 20 * worst >= people && worst > 0);
        }
    }

    #[test]
    fn empty_tables_and_single_columns_have_no_sets() {
        let nothing = unique_records(&Columnar::default(), None).unwrap();
        assert_eq!((nothing.of, nothing.together, nothing.singles_out()), (0, None, false));
        let one = Columnar::from_records(&["a"], [vec![Some("x")], vec![Some("x")], vec![None]]);
        let found = unique_records(&one, None).unwrap();
        // A missing value counts as a value.
        assert_eq!((found.columns[0].unique, found.together, found.sets.len()), (1, None, 0));
        assert!(found.singles_out() && !found.is_majority(1) && found.is_majority(2));
        let counted = UniqueRecords::of_counts(&["a".to_owned()], &[1], 3);
        assert_eq!(counted.columns, found.columns);
    }
}
