//! Re-identification risks of a table before anonymization.
//!
//! The functions work on the codes of a [`Columnar`](incrowd_core::Columnar) table. [`search`]
//! finds the minimal sets of columns that single people out. [`group_sizes`] counts groups and
//! [`unique_without`] finds the columns that make records unique. [`population`] estimates how many
//! records are unique in the population of which the table is a sample.

mod by_column;
mod combinations;
mod dense;
mod partition;
mod persons;
pub mod population;
mod uniqueness;
mod weighted;

pub use by_column::{Grouped, without_each};
pub use combinations::{
    Combination, Dependency, Search, SearchResult, needed, search, search_persons, sets, unique_on,
};
pub use partition::Grouping;
pub use uniqueness::{ColumnCounts, GroupSizes, group_sizes, unique_without};
pub use weighted::{WeightedRisk, benedetti_franconi, weighted_groups, weighted_risk};
pub(crate) use weighted::{grouped, in_order};

#[cfg(test)]
pub(crate) mod tests {
    use super::Grouping;
    use incrowd_core::Columnar;
    use std::collections::BTreeMap;

    /// Creates a table of small numbers.
    pub(crate) fn table<const N: usize>(rows: &[[u8; N]]) -> Columnar {
        let names: Vec<String> = (0..N).map(|i| format!("c{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let digits = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        Columnar::from_records(
            &names,
            rows.iter().map(|r| r.iter().map(|&x| Some(digits[x as usize])).collect()),
        )
    }

    /// Groups rows by brute force.
    pub(crate) fn brute_force<const N: usize>(rows: &[[u8; N]], columns: &[usize]) -> Grouping {
        let mut groups: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for row in rows {
            *groups.entry(columns.iter().map(|&c| row[c]).collect()).or_default() += 1;
        }
        let unique = groups.values().filter(|&&n| n == 1).count() as u64;
        Grouping { unique, groups: groups.len() as u64 }
    }
}
