//! Checks whether two tables that are linked by groups can be a release of a given original.
//!
//! Paper: `xiao2006`, Definition 3. The first table has the quasi-identifiers of all records and
//! their groups. The second table has the number of occurrences of each sensitive value per group.
//! The tables do not contain which record of a group has which value. Two conditions are checked.
//! First, each combination of quasi-identifiers occurs in the first table at most as often as in
//! the original. Second, in every group the values can be assigned one to one to the records, such
//! that the original contains each combination of quasi-identifiers and value.
//!
//! Where we differ: the paper has no such check. Each group is checked by itself. Checking all
//! groups together is as hard as filling a three-dimensional table from its sums, and is omitted.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use incrowd_core::{Folded, MISSING};

/// Parts of a release that cannot come from the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Records of the first table in excess of the records of the original with equal
    /// quasi-identifiers.
    pub records: u64,
    /// Groups whose values cannot be assigned to their records.
    pub groups: u64,
}

/// A group: its records as indices of combinations of quasi-identifiers, `None` if the original has
/// no such combination, and its values.
#[derive(Default)]
struct LinkedGroup {
    records: Vec<Option<usize>>,
    values: Vec<Option<u32>>,
}

/// Compares two linked tables with the original, whose last column is the sensitive one. `first`
/// has the other columns of the original, in the same order, then the group. `second` has the group
/// and the value. `missing` is the text of a missing value.
pub fn unmatched(original: &Folded, first: &Folded, second: &Folded, missing: &str) -> Unmatched {
    let quasi = first.columns.len() - 1;
    let codes: Vec<HashMap<&str, u32>> = original
        .columns
        .iter()
        .map(|column| {
            let texts = column
                .texts
                .iter()
                .enumerate()
                .skip(1)
                .map(|(code, text)| (text.as_str(), code as u32));
            // A text of the table takes precedence over the text of a missing value.
            std::iter::once((missing, MISSING)).chain(texts).collect()
        })
        .collect();
    // The combinations of quasi-identifiers, with their remaining counts and their values.
    let mut combinations: BTreeMap<&[u32], usize> = BTreeMap::new();
    let mut left: Vec<u64> = Vec::new();
    let mut values: Vec<BTreeSet<u32>> = Vec::new();
    for row in 0..original.rows() {
        let cells = original.row(row);
        let combination = *combinations.entry(&cells[..quasi]).or_insert(left.len());
        if combination == left.len() {
            left.push(0);
            values.push(BTreeSet::new());
        }
        left[combination] += original.weights[row];
        values[combination].insert(cells[quasi]);
    }
    let mut unmatched = Unmatched::default();
    let mut groups: BTreeMap<&str, LinkedGroup> = BTreeMap::new();
    for row in 0..first.rows() {
        let text = |column: usize| first.text(row, column);
        let own: Option<Vec<u32>> =
            (0..quasi).map(|column| codes[column].get(text(column)).copied()).collect();
        let combination = own.and_then(|own| combinations.get(own.as_slice()).copied());
        let records = first.weights[row];
        let matched = combination.map_or(0, |combination| left[combination].min(records));
        if let Some(combination) = combination {
            left[combination] -= matched;
        }
        unmatched.records += records - matched;
        let group = groups.entry(text(quasi)).or_default();
        group.records.extend(std::iter::repeat_n(combination, records as usize));
    }
    for row in 0..second.rows() {
        let value = codes[quasi].get(second.text(row, 1)).copied();
        let group = groups.entry(second.text(row, 0)).or_default();
        group.values.extend(std::iter::repeat_n(value, second.weights[row] as usize));
    }
    let fits = |combination: Option<usize>, value: Option<u32>| {
        combination.zip(value).is_some_and(|(own, value)| values[own].contains(&value))
    };
    unmatched.groups = groups.values().filter(|group| !is_assignable(group, &fits)).count() as u64;
    unmatched
}

/// Returns whether the values of a group can be assigned one to one to its records. Computes a
/// bipartite matching with augmenting paths.
fn is_assignable(group: &LinkedGroup, fits: &dyn Fn(Option<usize>, Option<u32>) -> bool) -> bool {
    fn assign(
        record: usize,
        group: &LinkedGroup,
        fits: &dyn Fn(Option<usize>, Option<u32>) -> bool,
        tried: &mut [bool],
        owner: &mut [Option<usize>],
    ) -> bool {
        for value in 0..group.values.len() {
            if tried[value] || !fits(group.records[record], group.values[value]) {
                continue;
            }
            tried[value] = true;
            if owner[value].is_none_or(|other| assign(other, group, fits, tried, owner)) {
                owner[value] = Some(record);
                return true;
            }
        }
        false
    }
    let mut owner = vec![None; group.values.len()];
    group.records.len() == group.values.len()
        && (0..group.records.len()).all(|record| {
            assign(record, group, fits, &mut vec![false; group.values.len()], &mut owner)
        })
}
