//! How often each value of a column occurs in each group.

use incrowd_core::Folded;

/// For each group the distinct values of one column with their numbers of records, in the order of codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupValues {
    starts: Vec<usize>,
    entries: Vec<(u32, u64)>,
}

impl GroupValues {
    /// Counts the codes of a column within the groups that `of_row` tells.
    pub fn new(table: &Folded, of_row: &[u32], groups: usize, column: usize) -> GroupValues {
        let mut cells: Vec<(u32, u32, u64)> =
            (0..table.rows()).map(|row| (of_row[row], table.row(row)[column], table.weights[row])).collect();
        cells.sort_unstable();
        let mut values = GroupValues { starts: vec![0], entries: Vec::new() };
        for alike in cells.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            // Groups without rows have no entries.
            values.starts.resize(alike[0].0 as usize + 1, values.entries.len());
            values.entries.push((alike[0].1, alike.iter().map(|cell| cell.2).sum()));
        }
        values.starts.resize(groups + 1, values.entries.len());
        values
    }

    /// The values of a group, each with its number of records.
    pub fn of(&self, group: usize) -> &[(u32, u64)] {
        &self.entries[self.starts[group]..self.starts[group + 1]]
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many records of all groups have each code.
    pub(super) fn totals(&self, codes: usize) -> Vec<u64> {
        let mut totals = vec![0; codes];
        self.entries.iter().for_each(|&(code, records)| totals[code as usize] += records);
        totals
    }

    /// The records of the most frequent value of a group.
    pub(super) fn most(&self, group: usize) -> u64 {
        self.of(group).iter().map(|&(_, records)| records).max().unwrap_or(0)
    }
}

/// Adds up the values of several groups, in the order of codes.
pub(super) fn union(values: &GroupValues, groups: &[u32]) -> Vec<(u32, u64)> {
    if let [group] = groups {
        return values.of(*group as usize).to_vec();
    }
    let mut all: Vec<(u32, u64)> =
        groups.iter().flat_map(|&group| values.of(group as usize)).copied().collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|alike| (alike[0].0, alike.iter().map(|(_, records)| records).sum()))
        .collect()
}
