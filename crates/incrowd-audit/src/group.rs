//! Grouping released records by their cells.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use incrowd_core::{Dataset, GroupSummary};

/// The groups a reader of the release sees. With `sensitive` the summaries hold the histograms of all sensitive columns.
pub(crate) fn groups(release: &Dataset, sensitive: bool) -> Vec<GroupSummary> {
    let columns = if sensitive { release.sensitive().len() } else { 0 };
    let state = FixedState::default();
    let hash = |row: usize| {
        let mut hasher = state.build_hasher();
        release.quasi_codes(row).iter().for_each(|&code| hasher.write_u32(code));
        hasher.finish()
    };
    // Each entry is a group with the first row that has its cells.
    let mut table: HashTable<(u32, u32)> = HashTable::new();
    let mut groups: Vec<GroupSummary> = Vec::new();
    for row in 0..release.rows() {
        let same = |&(_, first): &(u32, u32)| release.quasi_codes(first as usize) == release.quasi_codes(row);
        let group = match table.find(hash(row), same) {
            Some(&(group, _)) => group,
            None => {
                let group = groups.len() as u32;
                groups.push(GroupSummary::empty(columns));
                table.insert_unique(hash(row), (group, row as u32), |&(_, first)| hash(first as usize));
                group
            }
        };
        groups[group as usize].add(release.weight(row), release.sensitive_codes(row));
    }
    groups
}
