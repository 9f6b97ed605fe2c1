//! Who is alone in what is published as it is?
//!
//! A release generalizes quasi-identifiers. Sensitive columns and those that are passed through are published as they are, and
//! whoever knows such a value of a person finds her if nobody else has it. So it is counted who is alone: in each of these
//! columns, in the smallest sets of them (`huhtala1999`, as in a profile), and in all of them together. Where a person may have
//! several records and it is known whose they are, a person is alone if some value, or combination, is hers only.
//!
//! All numbers are exact. How many columns a set has at most depends on the size of the table alone.

use incrowd_core::{Columnar, Progress, Result, Silent};
use rayon::prelude::*;

use crate::risk::{Search, alone_on, search, search_persons, sets};

/// From this share on, columns or sets of them are said to single people out.
pub const SHARE: f64 = 0.05;

/// How many columns a set has at most.
const MOST: usize = 3;

/// So many sets are looked at whatever the size of the table, and more if it is small.
const SETS: u128 = 200;

/// So many cells are looked at, if the table is small.
const CELLS: u128 = 200_000_000;

/// A column, or a set of them, and who is alone in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AloneIn {
    /// Their names.
    pub columns: Vec<String>,
    /// How many records, or persons, nobody is like in them.
    pub alone: u64,
}

/// Who is alone in what is published as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// How many records there are, or persons.
    pub of: u64,
    /// Whether persons are counted.
    pub persons: bool,
    /// Every column, in the order of the release.
    pub columns: Vec<AloneIn>,
    /// The smallest sets of two and more columns that single people out, those with most people first among sets of a size.
    pub sets: Vec<AloneIn>,
    /// All columns together, if there are several and they were looked at together.
    pub together: Option<u64>,
    /// How many columns the sets that were looked at have at most.
    pub most: usize,
}

/// Asks who is alone in the columns of a table. `of` says whose each record is, if a person may have several.
pub fn alone(table: &Columnar, of: Option<&[u32]>) -> Result<Alone> {
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let name = |set: &[usize]| set.iter().map(|&c| table.columns[c].name.clone()).collect::<Vec<_>>();
    let singles: Vec<u64> = all.par_iter().map(|&column| alone_on(table, of, &[column])).collect();
    let people = match of {
        None => table.records as u64,
        Some(of) => different(of),
    };
    let searched: Vec<usize> = all.iter().copied().filter(|&c| table.columns[c].texts.codes() > 1).collect();
    let room = SETS.max(CELLS / (table.records as u128).max(1));
    let most = (1..=MOST).rev().find(|&most| sets(searched.len(), most) <= room).unwrap_or(1);
    let mut found = Alone {
        of: people,
        persons: of.is_some(),
        columns: all.iter().zip(singles).map(|(&c, alone)| AloneIn { columns: name(&[c]), alone }).collect(),
        most,
        ..Alone::default()
    };
    if all.len() > 1 && people > 0 {
        found.together = Some(alone_on(table, of, &all));
    }
    // Whoever is alone in some columns is alone in all of them: where these single nobody out, no set does.
    if found.together.is_some_and(|together| found.many(together)) {
        let asked = Search { columns: searched, share: SHARE, most, dependencies: false };
        let progress: &dyn Progress = &Silent;
        let small = match of {
            None => search(table, &asked, progress)?,
            Some(of) => search_persons(table, of, &asked, progress)?,
        };
        let small = small.combinations.into_iter().filter(|set| set.columns.len() > 1);
        found.sets = small.map(|set| AloneIn { columns: name(&set.columns), alone: set.unique }).collect();
    }
    Ok(found)
}

/// How many different persons there are.
fn different(of: &[u32]) -> u64 {
    let mut known = vec![false; of.iter().max().map_or(0, |&most| most as usize + 1)];
    of.iter().for_each(|&person| known[person as usize] = true);
    known.into_iter().filter(|known| *known).count() as u64
}

impl Alone {
    /// Columns of which it is only known how many values occur once: no sets were looked at.
    pub fn of_counts(names: &[String], once: &[u64], records: u64) -> Alone {
        let column = |(name, &alone): (&String, &u64)| AloneIn { columns: vec![name.clone()], alone };
        Alone {
            of: records,
            columns: names.iter().zip(once).map(column).collect(),
            most: 1,
            ..Alone::default()
        }
    }

    /// Whether so many are alone that it singles people out.
    pub fn many(&self, alone: u64) -> bool {
        alone > 0 && alone as f64 >= SHARE * self.of as f64 * (1.0 - 1e-12)
    }

    /// Whether more than half are.
    pub fn most_are(&self, alone: u64) -> bool {
        2 * u128::from(alone) > u128::from(self.of)
    }

    /// Whether some column or set of columns singles people out.
    pub fn singles_out(&self) -> bool {
        let all = self.columns.iter().chain(&self.sets).map(|own| own.alone).chain(self.together);
        all.into_iter().any(|alone| self.many(alone))
    }

    /// What is counted.
    pub fn unit(&self) -> &'static str {
        if self.persons { "persons" } else { "records" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Who is alone, the slow and obvious way.
    fn slow(rows: &[[u8; 4]], persons: &[u32], columns: &[usize]) -> u64 {
        let mut holders: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
        for (row, &person) in rows.iter().zip(persons) {
            holders.entry(columns.iter().map(|&c| row[c]).collect()).or_default().insert(person);
        }
        holders.values().filter(|who| who.len() == 1).flatten().collect::<BTreeSet<_>>().len() as u64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn all_numbers_are_those_of_brute_force(
            rows in prop::collection::vec(
                ((0u8..3, 0u8..4, 0u8..9, 0u8..9).prop_map(|(a, b, c, d)| [a, b, c, d]), 0u32..15), 1..50),
            by_person in any::<bool>(),
        ) {
            let mut persons: Vec<u32> = rows.iter().map(|(_, person)| *person).collect();
            if !by_person {
                persons = (0..rows.len() as u32).collect();
            }
            let rows: Vec<[u8; 4]> = rows.iter().map(|(row, _)| *row).collect();
            let table = crate::risk::tests::table(&rows);
            let found = alone(&table, by_person.then_some(&persons[..])).unwrap();
            let people = persons.iter().collect::<BTreeSet<_>>().len() as u64;
            prop_assert_eq!((found.of, found.most, found.persons), (people, 3, by_person));
            for (c, column) in found.columns.iter().enumerate() {
                prop_assert_eq!(column.alone, slow(&rows, &persons, &[c]));
            }
            prop_assert_eq!(found.together, Some(slow(&rows, &persons, &[0, 1, 2, 3])));
            let sets: Vec<Vec<usize>> = (1u32..16).map(|bits| (0..4).filter(|c| bits & (1 << c) != 0).collect()).collect();
            let many = |set: &Vec<usize>| {
                let alone = slow(&rows, &persons, set);
                alone > 0 && 20 * alone >= people
            };
            let minimal = |set: &&Vec<usize>| {
                let smaller = sets.iter().filter(|other| other.len() < set.len() && other.iter().all(|c| set.contains(c)));
                (2..=3).contains(&set.len()) && many(set) && !smaller.into_iter().any(many)
            };
            let mut expected: Vec<(Vec<String>, u64)> = sets.iter().filter(minimal)
                .map(|set| (set.iter().map(|c| format!("c{c}")).collect(), slow(&rows, &persons, set))).collect();
            let mut got: Vec<(Vec<String>, u64)> =
                found.sets.iter().map(|own| (own.columns.clone(), own.alone)).collect();
            expected.sort();
            got.sort();
            prop_assert_eq!(got, expected);
            let worst = found.together.unwrap_or(0);
            prop_assert_eq!(found.singles_out(), 20 * worst >= people && worst > 0);
        }
    }

    #[test]
    fn nothing_and_single_columns_have_no_sets() {
        let nothing = alone(&Columnar::default(), None).unwrap();
        assert_eq!((nothing.of, nothing.together, nothing.singles_out()), (0, None, false));
        let one = Columnar::from_records(&["a"], [vec![Some("x")], vec![Some("x")], vec![None]]);
        let found = alone(&one, None).unwrap();
        // The missing value is one too.
        assert_eq!((found.columns[0].alone, found.together, found.sets.len()), (1, None, 0));
        assert!(found.singles_out() && !found.most_are(1) && found.most_are(2));
        let counted = Alone::of_counts(&["a".to_owned()], &[1], 3);
        assert_eq!(counted.columns, found.columns);
    }
}
