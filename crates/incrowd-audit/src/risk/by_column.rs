//! Contribution of each column to distinguishing records: the groups without the column.
//!
//! Each row gets a number for its values in the first columns and a number for its values in the
//! last columns. The groups without a column in between are the distinct pairs of these numbers.
//! All columns together thus cost about as much as a few groupings.

use hashbrown::HashMap;
use incrowd_core::Folded;

/// Numbers of groups and records of a grouping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouped {
    /// Number of groups.
    pub groups: u64,
    /// Number of unique records.
    pub unique: u64,
    /// Number of records.
    pub records: u64,
}

impl Grouped {
    /// Returns the average probability of finding the record of a person whose values are known.
    pub fn chance(&self) -> f64 {
        if self.records == 0 { 0.0 } else { self.groups as f64 / self.records as f64 }
    }
}

/// Groups the records of a table by its first `columns` columns, and by all of them except one.
pub fn without_each(table: &Folded, columns: usize) -> (Grouped, Vec<Grouped>) {
    let rows = table.rows();
    let code = |row: usize, column: usize| table.row(row)[column];
    // Numbers of the values in the first `i` columns (`before[i]`) and the last (`after[i]`).
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
        let unique = records.values().filter(|&&n| n == 1).count() as u64;
        Grouped { groups: records.len() as u64, unique, records: records.values().sum() }
    };
    let all = grouped(&before[columns], &after[0]);
    (
        all,
        (0..columns).map(|column| grouped(&before[column], &after[columns - 1 - column])).collect(),
    )
}

/// Numbers pairs in the order of their first occurrence. Equal pairs have equal numbers.
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
        fn groups_without_a_column_equal_brute_force(
            rows in prop::collection::vec(prop::array::uniform4(0u8..4), 0..60)
        ) {
            let texts = |row: &[u8; 4]| row.iter().map(u8::to_string).collect();
            let texts: Vec<Vec<String>> = rows.iter().map(texts).collect();
            let cells = |row: &'_ Vec<String>| row.iter().map(|cell| Some(cell.clone())).collect();
            let cells: Vec<Vec<Option<String>>> = texts.iter().map(cells).collect();
            let records = cells.iter().map(|row| row.iter().map(Option::as_deref).collect());
            let table = Folded::from_records(&["a", "b", "c", "sensitive"], records, false);
            let (all, without) = without_each(&table, 3);
            let sets = [vec![0, 1, 2], vec![1, 2], vec![0, 2], vec![0, 1]];
            for (found, columns) in std::iter::once(&all).chain(&without).zip(sets) {
                let expected = brute_force(&rows, &columns);
                prop_assert_eq!((found.groups, found.unique), (expected.groups, expected.unique));
                prop_assert_eq!(found.records, rows.len() as u64);
            }
        }
    }
}
