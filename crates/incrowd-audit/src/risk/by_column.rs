//! What each column adds to telling records apart: how they group without it.
//!
//! Rows get a number for their values of the first columns and one for those of the last; a column in between is left out by putting the
//! two together. So all columns together cost as much as a few groupings.

use hashbrown::HashMap;
use incrowd_core::Folded;

/// How records group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouped {
    /// How many groups there are.
    pub groups: u64,
    /// How many records are in a group of their own.
    pub alone: u64,
    /// How many records there are.
    pub records: u64,
}

impl Grouped {
    /// The average chance of finding the record of a person whose values are known.
    pub fn chance(&self) -> f64 {
        if self.records == 0 { 0.0 } else { self.groups as f64 / self.records as f64 }
    }
}

/// How the records of a table group by its first `columns` columns, and without each of them.
pub fn without_each(table: &Folded, columns: usize) -> (Grouped, Vec<Grouped>) {
    let rows = table.rows();
    let code = |row: usize, column: usize| table.row(row)[column];
    // Numbers for the values of the columns before each, and after each.
    let mut before: Vec<Vec<u32>> = vec![vec![0; rows]];
    let mut after: Vec<Vec<u32>> = vec![vec![0; rows]];
    for column in 0..columns {
        let last = &before[column];
        before.push(numbered((0..rows).map(|row| (last[row], code(row, column)))));
        let last = &after[column];
        let from = columns - 1 - column;
        after.push(numbered((0..rows).map(|row| (last[row], code(row, from)))));
    }
    let grouped = |first: &[u32], second: &[u32]| {
        let mut records: HashMap<(u32, u32), u64> = HashMap::new();
        for row in 0..rows {
            *records.entry((first[row], second[row])).or_default() += table.weights[row];
        }
        let alone = records.values().filter(|&&n| n == 1).count() as u64;
        Grouped { groups: records.len() as u64, alone, records: records.values().sum() }
    };
    let all = grouped(&before[columns], &after[0]);
    (all, (0..columns).map(|column| grouped(&before[column], &after[columns - 1 - column])).collect())
}

/// The same number for the same pair, in the order they come.
fn numbered(pairs: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    pairs
        .map(|pair| {
            let next = known.len() as u32;
            *known.entry(pair).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::risk::tests::brute_force;

    proptest! {
        #[test]
        fn groups_without_a_column_are_those_of_brute_force(
            rows in prop::collection::vec(prop::array::uniform4(0u8..4), 0..60)
        ) {
            let texts: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(u8::to_string).collect()).collect();
            let records = texts.iter().map(|row| row.iter().map(|cell| Some(cell.as_str())).collect());
            let table = Folded::from_records(&["a", "b", "c", "sensitive"], records, false);
            let (all, without) = without_each(&table, 3);
            let sets = [vec![0, 1, 2], vec![1, 2], vec![0, 2], vec![0, 1]];
            for (found, columns) in std::iter::once(&all).chain(&without).zip(sets) {
                let expected = brute_force(&rows, &columns);
                prop_assert_eq!((found.groups, found.alone), (expected.groups, expected.unique));
                prop_assert_eq!(found.records, rows.len() as u64);
            }
        }
    }
}
