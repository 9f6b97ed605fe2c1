//! Frequencies of the values of a column per group.

use incrowd_core::group::merge_equal;
use incrowd_core::{Folded, MISSING, SensitiveSpec, SensitiveValues};

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

/// Returns the values of a column as models count them: all
/// [spellings](incrowd_core::value_key) of a value are one value, and so are dates of one day and
/// all texts that [mean a missing value](incrowd_core::means_missing). Also returns which codes
/// occur.
pub(super) fn named_values(
    table: &Folded,
    column: usize,
    spec: &SensitiveSpec,
    missing: &[String],
) -> (SensitiveValues, Vec<bool>) {
    let mut used = vec![false; table.columns[column].texts.len()];
    (0..table.rows()).for_each(|row| used[table.row(row)[column] as usize] = true);
    let values = SensitiveValues::of(&table.columns[column], &used, spec, missing, table.decimal);
    (values, used)
}

/// Maps each code of a column to a representative of its [value](named_values). All missing values
/// map to the missing code.
pub(super) fn counted_codes(
    table: &Folded,
    column: usize,
    spec: &SensitiveSpec,
    missing: &[String],
) -> Vec<u32> {
    let (values, used) = named_values(table, column, spec, missing);
    let mut first: Vec<Option<u32>> =
        values.names.iter().map(|name| name.is_none().then_some(MISSING)).collect();
    let code = |(code, used): (u32, bool)| match used {
        true => *first[values.of_code[code as usize] as usize].get_or_insert(code),
        false => code,
    };
    (0..).zip(used).map(code).collect()
}

/// Returns the summed values of several groups, in ascending order of codes.
pub(super) fn union(values: &GroupValues, groups: &[u32]) -> Vec<(u32, u64)> {
    if let [group] = groups {
        return values.of(*group as usize).to_vec();
    }
    let mut all: Vec<(u32, u64)> =
        groups.iter().flat_map(|&group| values.of(group as usize)).copied().collect();
    all.sort_unstable();
    merge_equal(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::Kind;
    use incrowd_core::numerals::DecimalMark;

    #[test]
    fn missing_texts_with_blanks_are_counted_as_missing() {
        let table = table(&[" ?", "1", "NA ", "1.0", "\u{a0}"]);
        let missing = ["", "?", "NA"].map(str::to_owned);
        let codes = |missing| counted_codes(&table, 0, &SensitiveSpec::default(), missing);
        assert_eq!(codes(&missing), [0, 0, 2, 0, 2, 0]);
        assert_eq!(codes(&missing[1..]), [0, 0, 2, 0, 2, 5]);
        assert_eq!(codes(&[]), [0, 1, 2, 3, 2, 5]);
    }

    fn table(texts: &[&str]) -> Folded {
        Folded::from_records(&["x"], texts.iter().map(|text| vec![Some(*text)]), false)
    }

    #[test]
    fn dates_of_one_day_and_numbers_with_a_decimal_comma_are_one_value() {
        let none = SensitiveSpec::default();
        let mut days = table(&["2021-03-05", "2021-03-05T10:00:00Z", "2021-03-06"]);
        assert_eq!(counted_codes(&days, 0, &none, &[]), [0, 1, 1, 3]);
        let text = SensitiveSpec { kind: Some(Kind::Text), ..SensitiveSpec::default() };
        assert_eq!(counted_codes(&days, 0, &text, &[]), [0, 1, 2, 3]);
        // Texts without records do not count.
        days.columns[0].texts.push("unknown".to_owned());
        assert_eq!(counted_codes(&days, 0, &none, &[]), [0, 1, 1, 3, 4]);
        let mut codes = table(&["1", "1,0", "X2"]);
        assert_eq!(counted_codes(&codes, 0, &none, &[]), [0, 1, 2, 3]);
        codes.decimal = DecimalMark::Comma;
        assert_eq!(counted_codes(&codes, 0, &none, &[]), [0, 1, 1, 3]);
    }
}
