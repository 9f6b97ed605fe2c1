//! Number of records that match each group of a release if a missing cell matches any value.
//!
//! Two records match if their cells are equal in every column in which neither is missing. For each
//! pair of sets of missing columns, the groups are indexed by the columns that are missing in
//! neither set, so each group needs one lookup per set of missing columns. Matching is not
//! transitive: the records that match a record do not form a group. Models that use more than the
//! number of records are therefore not defined here.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::{Error, Folded, MISSING, Result};

type Map<K, V> = HashMap<K, V, FixedState>;

/// Number of records that match each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// Number per group, in the order of their first rows. For a group with enough records of its
    /// own it may be only its size, if other groups match fewer records.
    pub(crate) by_group: Vec<u64>,
}

/// A group of records with equal cells.
struct CellGroup {
    cells: Vec<u32>,
    /// Bit `i` is set if the cell of column `i` is missing.
    missing: u64,
    records: u64,
}

impl Matching {
    /// Counts the records that match in the first `quasi` columns of a release. `is_missing` tests
    /// the texts of missing cells. A null is missing too. Groups are visited by ascending size. The
    /// count stops at the first group that has at least `enough` records and at least as many as
    /// the smallest result: later groups cannot be the minimum.
    pub fn count(
        release: &Folded,
        quasi: usize,
        is_missing: impl Fn(&str) -> bool,
        enough: u64,
    ) -> Result<Matching> {
        if quasi > u64::BITS as usize {
            return Err(Error::job(format!(
                "missing cells can match any value in at most {} quasi-identifiers, but there are \
                 {quasi}",
                u64::BITS
            )));
        }
        let groups = groups(release, quasi, is_missing);
        let mut patterns: Vec<u64> = groups.iter().map(|group| group.missing).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let mut by_group: Vec<u64> = groups.iter().map(|group| group.records).collect();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&group| groups[group].records);
        // For a union of missing columns and a pattern: the groups with this pattern, indexed by
        // their cells in the columns outside the union.
        let mut tables: Map<(u64, u64), Map<Vec<u32>, u64>> = Map::default();
        let mut fewest = u64::MAX;
        for group in order {
            let own = &groups[group];
            if own.records >= enough && own.records >= fewest {
                break;
            }
            let mut records = 0;
            for &pattern in &patterns {
                let union = own.missing | pattern;
                let table = tables.entry((union, pattern)).or_insert_with(|| {
                    let mut table: Map<Vec<u32>, u64> = Map::default();
                    for other in groups.iter().filter(|other| other.missing == pattern) {
                        *table.entry(shown(&other.cells, union)).or_default() += other.records;
                    }
                    table
                });
                records += table.get(&shown(&own.cells, union)).copied().unwrap_or(0);
            }
            by_group[group] = records;
            fewest = fewest.min(records);
        }
        Ok(Matching { by_group })
    }

    /// Returns the number of matching records per group, in the order of their first rows. For a
    /// group with enough records of its own it may be only its size.
    pub fn by_group(&self) -> &[u64] {
        &self.by_group
    }
}

/// Returns the cells of the columns that are not in the bit set `without`.
fn shown(cells: &[u32], without: u64) -> Vec<u32> {
    cells
        .iter()
        .enumerate()
        .filter(|(column, _)| without >> column & 1 == 0)
        .map(|(_, &cell)| cell)
        .collect()
}

/// Returns the groups of records with equal texts, in the order of their first rows. Different
/// texts of missing cells make different groups.
fn groups(release: &Folded, quasi: usize, is_missing: impl Fn(&str) -> bool) -> Vec<CellGroup> {
    let missing: Vec<Vec<bool>> = release.columns[..quasi]
        .iter()
        .map(|column| {
            let missing =
                |(code, text): (usize, &String)| code as u32 == MISSING || is_missing(text);
            column.texts.iter().enumerate().map(missing).collect()
        })
        .collect();
    let mut known: Map<Vec<u32>, usize> = Map::default();
    let mut groups: Vec<CellGroup> = Vec::new();
    for row in 0..release.rows() {
        let cells = &release.row(row)[..quasi];
        let group = *known.entry_ref(cells).or_insert_with(|| {
            let cells_missing = cells.iter().zip(&missing).enumerate();
            let missing = cells_missing.filter(|(_, (cell, missing))| missing[**cell as usize]);
            let missing = missing.fold(0, |bits, (column, _)| bits | 1 << column);
            groups.push(CellGroup { cells: cells.to_vec(), missing, records: 0 });
            groups.len() - 1
        });
        groups[group].records += release.weights[row];
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_missing(text: &str) -> bool {
        text == "*" || text == "NA"
    }

    fn release(records: &[Vec<&str>]) -> Folded {
        let cells = records.iter().map(|record| record.iter().map(|cell| Some(*cell)).collect());
        Folded::from_records(&["a", "b", "c"], cells, true)
    }

    /// Counts matching records by comparing all pairs.
    fn twin(records: &[Vec<&str>], of: &[&str]) -> u64 {
        let matches = |other: &&Vec<&str>| {
            of.iter().zip(other.iter()).all(|(a, b)| a == b || is_missing(a) || is_missing(b))
        };
        records.iter().filter(matches).count() as u64
    }

    proptest! {
        #[test]
        fn counts_equal_those_of_all_pairs(
            drawn in prop::collection::vec(prop::collection::vec(0usize..5, 3), 1..40),
            enough in 0u64..6,
        ) {
            let texts = ["x", "y", "z", "*", "NA"];
            let records: Vec<Vec<&str>> =
                drawn.iter().map(|record| record.iter().map(|&i| texts[i]).collect()).collect();
            let folded = release(&records);
            let found = Matching::count(&folded, 3, is_missing, enough).unwrap();
            let mut distinct: Vec<Vec<&str>> = Vec::new();
            for row in 0..folded.rows() {
                let codes = folded.row(row).iter().zip(&folded.columns);
                let cells: Vec<&str> =
                    codes.map(|(&c, column)| column.texts[c as usize].as_str()).collect();
                if !distinct.contains(&cells) {
                    distinct.push(cells);
                }
            }
            let exact: Vec<u64> = distinct.iter().map(|cells| twin(&records, cells)).collect();
            prop_assert_eq!(found.by_group.len(), exact.len());
            prop_assert_eq!(found.by_group.iter().min(), exact.iter().min());
            for (found, exact) in found.by_group.iter().zip(&exact) {
                prop_assert!(found == exact || *found >= enough && found < exact);
            }
        }
    }

    #[test]
    fn a_record_with_only_missing_cells_matches_all_records() {
        let records = [vec!["x", "y", "z"], vec!["y", "x", "x"], vec!["*", "*", "*"]];
        let found = Matching::count(&release(&records), 3, is_missing, 2).unwrap();
        assert_eq!(found.by_group(), [2, 2, 3]);
    }
}
