//! Joins two tables that are linked only by groups into one table: every record with every value of
//! its group.
//!
//! Paper: `xiao2006`, Section 3: without further knowledge, each record of a group has each value
//! of the group with its share. To make all shares integers, every record is counted as often as
//! the least common multiple of the group sizes.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use incrowd_core::{Error, Folded, FoldedColumn, Result};

/// Joins the quasi-identifiers of `first` with the values of their groups in `second`. Also returns
/// how often each record is counted.
pub(super) fn joined(first: &Folded, second: &Folded) -> Result<(Folded, u64)> {
    let quasi = first.columns.len() - 1;
    let mut groups: HashMap<&str, Vec<(u32, u64)>> = HashMap::new();
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    for row in 0..second.rows() {
        let group = second.text(row, 0);
        groups.entry(group).or_default().push((second.row(row)[1], second.weights[row]));
        *sizes.entry(group).or_default() += second.weights[row];
    }
    let copies = sizes.values().try_fold(1u64, |copies, &size| {
        let (mut a, mut b) = (copies, size);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        (copies / a)
            .checked_mul(size)
            .filter(|copies| copies.checked_mul(first.records()).is_some())
    });
    let copies = copies.ok_or_else(|| {
        Error::resources("the groups have too many different sizes for exact shares")
            .help("measure the table of quasi-identifiers alone, without its manifest")
    })?;
    let columns = first.columns[..quasi].iter().chain([&second.columns[1]]);
    let columns: Vec<FoldedColumn> = columns.cloned().collect();
    let (missing, decimal) = (vec![0; columns.len()], second.decimal);
    let mut joined = Folded { missing, columns, decimal, ..Folded::default() };
    for row in 0..first.rows() {
        let group = first.text(row, quasi);
        let size = sizes.get(group).copied().unwrap_or(1);
        for &(value, count) in groups.get(group).into_iter().flatten() {
            joined.codes.extend_from_slice(&first.row(row)[..quasi]);
            joined.codes.push(value);
            joined.weights.push(first.weights[row] * count * (copies / size));
        }
    }
    joined.read = joined.records();
    Ok((joined, copies))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables 3a and 3b of the paper, shortened: a group with two pneumonias and two dyspepsias,
    /// and a group with three records.
    #[test]
    fn a_record_has_every_value_of_its_group_with_its_share() {
        let record =
            |cells: &[&'static str]| cells.iter().map(|cell| Some(*cell)).collect::<Vec<_>>();
        let first = ["23 1", "27 1", "35 1", "59 1", "61 2", "65 2", "65 2"]
            .map(|r| r.split(' ').collect());
        let second = [
            "1 dyspepsia",
            "1 dyspepsia",
            "1 pneumonia",
            "1 pneumonia",
            "2 flu",
            "2 gastritis",
            "2 flu",
        ]
        .map(|r| r.split(' ').collect());
        let folded = |names: &[&str], rows: &[Vec<&'static str>]| {
            Folded::from_records(names, rows.iter().map(|row| record(row)), false)
        };
        let (joined, copies) =
            joined(&folded(&["age", "group"], &first), &folded(&["group", "disease"], &second))
                .unwrap();
        assert_eq!((copies, joined.records()), (12, 84));
        let of = |age: &str, disease: &str| -> u64 {
            let own = |(cells, _): &(Vec<Option<&str>>, u64)| cells == &[Some(age), Some(disease)];
            joined.canonical().iter().filter(|row| own(row)).map(|row| row.1).sum()
        };
        assert_eq!((of("23", "pneumonia"), of("65", "flu"), of("65", "gastritis")), (6, 16, 8));
        assert_eq!(of("23", "flu"), 0);
    }
}
