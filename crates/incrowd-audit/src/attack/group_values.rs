//! Frequencies of the values of a column per group.

use incrowd_core::{Folded, MISSING, SameKeys, means_missing};

/// The distinct values of one column in each group, with their numbers of records. The entries of
/// group `g` are `entries[starts[g]..starts[g + 1]]`, in ascending order of codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupValues {
    starts: Vec<usize>,
    entries: Vec<(u32, u64)>,
}

impl GroupValues {
    /// Counts the values of a column within groups. `of_row` is the group of each row. `counted`
    /// maps each code of the column to its representative.
    pub fn new(
        table: &Folded,
        of_row: &[u32],
        groups: usize,
        column: usize,
        counted: &[u32],
    ) -> GroupValues {
        let code = |row: usize| counted[table.row(row)[column] as usize];
        let mut cells: Vec<(u32, u32, u64)> =
            (0..table.rows()).map(|row| (of_row[row], code(row), table.weights[row])).collect();
        cells.sort_unstable();
        let mut values = GroupValues { starts: vec![0], entries: Vec::new() };
        for equal in cells.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            // Groups without rows have no entries.
            values.starts.resize(equal[0].0 as usize + 1, values.entries.len());
            values.entries.push((equal[0].1, equal.iter().map(|cell| cell.2).sum()));
        }
        values.starts.resize(groups + 1, values.entries.len());
        values
    }

    /// Returns the values of a group with their numbers of records.
    pub fn of(&self, group: usize) -> &[(u32, u64)] {
        &self.entries[self.starts[group]..self.starts[group + 1]]
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of records per code over all groups.
    pub(super) fn totals(&self, codes: usize) -> Vec<u64> {
        let mut totals = vec![0; codes];
        self.entries.iter().for_each(|&(code, records)| totals[code as usize] += records);
        totals
    }

    /// Returns the number of records of the most frequent value of a group.
    pub(super) fn most(&self, group: usize) -> u64 {
        self.of(group).iter().map(|&(_, records)| records).max().unwrap_or(0)
    }
}

/// Maps each code of a column to a representative. All texts that
/// [mean a missing value](means_missing) map to the missing code, and all
/// [spellings](incrowd_core::value_key) of a value map to one code.
pub(super) fn counted_codes(texts: &[String], missing: &[String]) -> Vec<u32> {
    let present = texts.get(1..).unwrap_or_default();
    let first = SameKeys::of_texts(present).first;
    let code = |(at, text): (usize, &String)| match &first {
        _ if means_missing(text, missing) => MISSING,
        Some(first) => first[at] + 1,
        None => at as u32 + 1,
    };
    std::iter::once(MISSING).chain(present.iter().enumerate().map(code)).collect()
}

/// Returns the summed values of several groups, in ascending order of codes.
pub(super) fn union(values: &GroupValues, groups: &[u32]) -> Vec<(u32, u64)> {
    if let [group] = groups {
        return values.of(*group as usize).to_vec();
    }
    let mut all: Vec<(u32, u64)> =
        groups.iter().flat_map(|&group| values.of(group as usize)).copied().collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|equal| (equal[0].0, equal.iter().map(|(_, records)| records).sum()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_texts_with_blanks_are_counted_as_missing() {
        let texts = ["", " ?", "1", "NA ", "1.0", "\u{a0}"].map(str::to_owned);
        let missing = ["", "?", "NA"].map(str::to_owned);
        assert_eq!(counted_codes(&texts, &missing), [0, 0, 2, 0, 2, 0]);
        assert_eq!(counted_codes(&texts, &missing[1..]), [0, 0, 2, 0, 2, 5]);
        assert_eq!(counted_codes(&texts, &[]), [0, 1, 2, 3, 2, 5]);
    }
}
