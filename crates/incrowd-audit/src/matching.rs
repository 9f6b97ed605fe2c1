//! How many records match each group of a release if a missing cell matches any value.
//!
//! Two records match if their cells are spelled alike in every column in which neither is missing. Groups with the same missing
//! columns are looked up by the columns that count beside a group with others, so that a group asks one question for each set of
//! missing columns in the release. Matching is not transitive: what a record matches is no group of its own, and models that look
//! at more than the number of records have no meaning here.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::{Error, Folded, MISSING, Result};

type Map<K, V> = HashMap<K, V, FixedState>;

/// How many records match each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// For each group, in the order of their first row. Of a group that itself has enough records it may be those alone, if others
    /// have fewer.
    pub(crate) by_group: Vec<u64>,
}

/// Groups of records with the same cells.
struct Alike {
    cells: Vec<u32>,
    missing: u64,
    records: u64,
}

impl Matching {
    /// Counts the records that match in the first `quasi` columns of a release. `is_missing` knows the texts of missing cells; a
    /// null is one too. Groups of at least `enough` records are not asked further, unless nobody matches fewer than they have.
    pub fn count(
        release: &Folded,
        quasi: usize,
        is_missing: impl Fn(&str) -> bool,
        enough: u64,
    ) -> Result<Matching> {
        if quasi > u64::BITS as usize {
            return Err(Error::job(format!(
                "missing cells can match any value in at most {} quasi-identifiers, and there are {quasi}",
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

    /// For each group, in the order of their first row, the records that match it; of a group that has enough itself perhaps only
    /// those it has.
    pub fn by_group(&self) -> &[u64] {
        &self.by_group
    }
}

/// The cells of the columns that count.
fn shown(cells: &[u32], without: u64) -> Vec<u32> {
    cells.iter().enumerate().filter(|(column, _)| without >> column & 1 == 0).map(|(_, &cell)| cell).collect()
}

/// The groups in the order of their first row. Missing cells of a column are alike, however they are written, only to what they
/// match: a group is what is spelled alike.
fn groups(release: &Folded, quasi: usize, is_missing: impl Fn(&str) -> bool) -> Vec<Alike> {
    let missing: Vec<Vec<bool>> = release.columns[..quasi]
        .iter()
        .map(|column| {
            let gone = |(code, text): (usize, &String)| code as u32 == MISSING || is_missing(text);
            column.texts.iter().enumerate().map(gone).collect()
        })
        .collect();
    let mut known: Map<Vec<u32>, usize> = Map::default();
    let mut groups: Vec<Alike> = Vec::new();
    for row in 0..release.rows() {
        let cells = &release.row(row)[..quasi];
        let group = *known.entry_ref(cells).or_insert_with(|| {
            let gone = cells.iter().zip(&missing).enumerate();
            let missing = gone.filter(|(_, (cell, missing))| missing[**cell as usize]);
            let missing = missing.fold(0, |bits, (column, _)| bits | 1 << column);
            groups.push(Alike { cells: cells.to_vec(), missing, records: 0 });
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

    fn gone(text: &str) -> bool {
        text == "*" || text == "NA"
    }

    fn release(records: &[Vec<&str>]) -> Folded {
        let cells = records.iter().map(|record| record.iter().map(|cell| Some(*cell)).collect());
        Folded::from_records(&["a", "b", "c"], cells, true)
    }

    /// Looks at all pairs of records.
    fn twin(records: &[Vec<&str>], of: &[&str]) -> u64 {
        let matches =
            |other: &&Vec<&str>| of.iter().zip(other.iter()).all(|(a, b)| a == b || gone(a) || gone(b));
        records.iter().filter(matches).count() as u64
    }

    proptest! {
        #[test]
        fn records_are_counted_as_by_looking_at_all_pairs(
            drawn in prop::collection::vec(prop::collection::vec(0usize..5, 3), 1..40), enough in 0u64..6,
        ) {
            let texts = ["x", "y", "z", "*", "NA"];
            let records: Vec<Vec<&str>> =
                drawn.iter().map(|record| record.iter().map(|&i| texts[i]).collect()).collect();
            let folded = release(&records);
            let found = Matching::count(&folded, 3, gone, enough).unwrap();
            let mut seen: Vec<Vec<&str>> = Vec::new();
            for row in 0..folded.rows() {
                let cells: Vec<&str> =
                    folded.row(row).iter().zip(&folded.columns).map(|(&c, column)| column.texts[c as usize].as_str()).collect();
                if !seen.contains(&cells) {
                    seen.push(cells);
                }
            }
            let exact: Vec<u64> = seen.iter().map(|cells| twin(&records, cells)).collect();
            prop_assert_eq!(found.by_group.len(), exact.len());
            prop_assert_eq!(found.by_group.iter().min(), exact.iter().min());
            for (found, exact) in found.by_group.iter().zip(&exact) {
                prop_assert!(found == exact || *found >= enough && found < exact);
            }
        }
    }

    #[test]
    fn a_record_of_nothing_but_missing_cells_matches_everybody() {
        let records = [vec!["x", "y", "z"], vec!["y", "x", "x"], vec!["*", "*", "*"]];
        let found = Matching::count(&release(&records), 3, gone, 2).unwrap();
        assert_eq!(found.by_group(), [2, 2, 3]);
    }
}
