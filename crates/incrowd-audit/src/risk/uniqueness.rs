//! Uniqueness of records on a set of columns, and the contribution of each column to it.

use incrowd_core::{CodedColumn, Columnar, MISSING};

use super::combinations::Partition;
use super::partition::{CodeMarks, Stripped};

/// Counts of the values of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnCounts {
    /// Number of distinct values without the missing one.
    pub distinct: u64,
    /// Number of records with a missing value.
    pub missing: u64,
    /// Number of records with a unique value.
    pub unique: u64,
    /// Number of records with the most frequent value.
    pub largest: u64,
}

impl ColumnCounts {
    /// Counts the values of a column.
    pub fn of(column: &CodedColumn) -> ColumnCounts {
        let counts = column.counts();
        let present = &counts[1..];
        ColumnCounts {
            distinct: present.iter().filter(|&&n| n > 0).count() as u64,
            missing: counts[MISSING as usize],
            unique: present.iter().filter(|&&n| n == 1).count() as u64,
            largest: present.iter().copied().max().unwrap_or(0),
        }
    }
}

/// Number of groups per size: the frequencies of the frequencies. Population uniqueness is
/// estimated from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSizes {
    /// Group sizes, ascending, each with the number of groups of that size.
    pub sizes: Vec<(u64, u64)>,
}

impl GroupSizes {
    /// Counts groups by size.
    pub fn new(mut sizes: Vec<u64>) -> GroupSizes {
        sizes.sort_unstable();
        let chunks = sizes.chunk_by(|a, b| a == b);
        GroupSizes { sizes: chunks.map(|same| (same[0], same.len() as u64)).collect() }
    }

    /// Returns the number of groups of a size.
    pub fn of_size(&self, size: u64) -> u64 {
        self.sizes.iter().find(|(s, _)| *s == size).map_or(0, |(_, groups)| *groups)
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> u64 {
        self.sizes.iter().map(|(_, groups)| groups).sum()
    }

    /// Returns the number of records.
    pub fn records(&self) -> u64 {
        self.sizes.iter().map(|(size, groups)| size * groups).sum()
    }

    /// Returns the number of groups with a size from `low` to `high`, and of their records.
    pub fn between(&self, low: u64, high: u64) -> (u64, u64) {
        let within = self.sizes.iter().filter(|(size, _)| (low..=high).contains(size));
        within.fold((0, 0), |(groups, records), (size, n)| (groups + n, records + size * n))
    }
}

/// Returns the sizes of the groups with equal values in these columns.
pub fn group_sizes(table: &Columnar, columns: &[usize]) -> GroupSizes {
    let partition = Stripped::by(table, &by_values(table, columns), &mut CodeMarks::default());
    let mut sizes: Vec<u64> = partition.sizes().collect();
    sizes.extend(std::iter::repeat_n(1, partition.grouping().unique as usize));
    GroupSizes::new(sizes)
}

/// Returns, for each of these columns, the number of records that are unique on the others.
///
/// The columns are halved recursively. To leave out a column of one half, the records are first
/// divided by the other half. All columns of the half share this work.
pub fn unique_without(table: &Columnar, columns: &[usize]) -> Vec<u64> {
    let sorted = by_values(table, columns);
    let unique = halves(table, &Stripped::whole(table.records), &sorted);
    let of = |column: &usize| sorted.iter().position(|c| c == column).map_or(0, |at| unique[at]);
    columns.iter().map(of).collect()
}

fn halves(table: &Columnar, outside: &Stripped, columns: &[usize]) -> Vec<u64> {
    if columns.len() <= 1 {
        return columns.iter().map(|_| outside.grouping().unique).collect();
    }
    let (first, second) = columns.split_at(columns.len() / 2);
    let without = |kept: &[usize], left_out: &[usize]| {
        let mut scratch = CodeMarks::default();
        let (next, later) =
            kept.split_first().expect("both halves of two or more columns are non-empty");
        let mut partition = outside.divide(table, *next, &mut scratch);
        for &column in later {
            partition = partition.divide(table, column, &mut scratch);
        }
        halves(table, &partition, left_out)
    };
    let (mut unique, more) = rayon::join(|| without(second, first), || without(first, second));
    unique.extend(more);
    unique
}

/// Sorts columns by their number of values, descending. Then few records remain in groups for the
/// later columns.
pub(super) fn by_values(table: &Columnar, columns: &[usize]) -> Vec<usize> {
    let mut sorted = columns.to_vec();
    sorted.sort_by_key(|&c| (std::cmp::Reverse(table.columns[c].texts.codes()), c));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::tests::{brute_force, table};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn missing_values_of_a_column_are_counted_separately() {
        let cells = [Some("a"), None, Some("b"), Some("a"), None, None];
        let table = Columnar::from_records(&["x"], cells.map(|cell| vec![cell]));
        let expected = ColumnCounts { distinct: 2, missing: 3, unique: 1, largest: 2 };
        assert_eq!(ColumnCounts::of(&table.columns[0]), expected);
    }

    proptest! {
        #[test]
        fn frequencies_of_frequencies_equal_brute_force(
            rows in prop::collection::vec(prop::array::uniform4(0u8..4), 0..60)
        ) {
            let mut groups: BTreeMap<[u8; 3], u64> = BTreeMap::new();
            rows.iter().for_each(|r| *groups.entry([r[0], r[2], r[3]]).or_default() += 1);
            let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
            groups.values().for_each(|&size| *expected.entry(size).or_default() += 1);
            let sizes = group_sizes(&table(&rows), &[0, 2, 3]);
            prop_assert_eq!(&sizes.sizes, &expected.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(sizes.records(), rows.len() as u64);
            prop_assert_eq!(sizes.between(1, u64::MAX), (sizes.groups(), sizes.records()));
            let without = unique_without(&table(&rows), &[0, 2, 3]);
            let expected = [[2, 3], [0, 3], [0, 2]].map(|c| brute_force(&rows, &c).unique);
            prop_assert_eq!(without, expected);
        }
    }
}
