//! Grouping released records by their cells.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use incrowd_core::{Dataset, GroupSummary, Histogram};
use rayon::prelude::*;

/// Returns the groups of the release in the order of their first rows. With `sensitive`, the
/// summaries contain the histograms of all sensitive columns. If persons have several records, the
/// summaries list the persons.
pub(crate) fn groups(release: &Dataset, sensitive: bool) -> Vec<GroupSummary> {
    let state = FixedState::default();
    let hash = |row: usize| {
        let mut hasher = state.build_hasher();
        release.quasi_codes(row).iter().for_each(|&code| hasher.write_u32(code));
        hasher.finish()
    };
    if !sensitive && release.persons().is_none() && all_different(release.rows(), &hash) {
        let group = |row: usize| GroupSummary {
            records: release.weight(row),
            represented: release.represented(row),
            ..GroupSummary::empty(0)
        };
        return (0..release.rows()).into_par_iter().map(group).collect();
    }
    // Each entry is a group and its first row. Without sensitive columns usually every row is a
    // group, with them a group has several rows.
    let expected = if release.sensitive().is_empty() { release.rows() } else { release.rows() / 2 };
    let mut table: HashTable<(u32, u32)> = HashTable::with_capacity(expected);
    let mut groups: Vec<GroupSummary> = Vec::new();
    let needs_rows = sensitive || release.persons().is_some();
    let mut of_row: Vec<(u32, u32)> =
        Vec::with_capacity(if needs_rows { release.rows() } else { 0 });
    for row in 0..release.rows() {
        let same = |&(_, first): &(u32, u32)| {
            release.quasi_codes(first as usize) == release.quasi_codes(row)
        };
        let own = hash(row);
        let group = match table.find(own, same) {
            Some(&(group, _)) => group,
            None => {
                let group = groups.len() as u32;
                groups.push(GroupSummary::empty(0));
                table.insert_unique(own, (group, row as u32), |&(_, first)| hash(first as usize));
                group
            }
        };
        groups[group as usize].records += release.weight(row);
        let represented = &mut groups[group as usize].represented;
        *represented = represented.saturating_add(release.represented(row));
        if needs_rows {
            of_row.push((group, row as u32));
        }
    }
    // Sort by group, so that the histograms of a group are counted in one pass.
    of_row.par_sort_unstable();
    for rows in of_row.chunk_by(|a, b| a.0 == b.0) {
        let histogram = |(s, column): (usize, &incrowd_core::dataset::Sensitive)| {
            let code = |&(_, row): &(u32, u32)| {
                (release.sensitive_codes(row as usize)[s], release.weight(row as usize))
            };
            Histogram::count(column.values.len(), rows.iter().map(code))
        };
        let group = &mut groups[rows[0].0 as usize];
        if sensitive {
            group.sensitive = release.sensitive().iter().enumerate().map(histogram).collect();
        }
        group.persons = release
            .persons()
            .map(|persons| persons.histogram(rows.iter().map(|&(_, row)| row as usize)));
    }
    groups
}

/// Returns whether all rows have different hashes. Then every row is a group. Equal hashes of
/// different rows only lead to the slower path.
fn all_different(rows: usize, hash: &(impl Fn(usize) -> u64 + Sync)) -> bool {
    let mut hashes: Vec<u64> = (0..rows).into_par_iter().map(hash).collect();
    hashes.par_sort_unstable();
    hashes.windows(2).all(|two| two[0] != two[1])
}
