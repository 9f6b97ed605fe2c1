//! Whether two tables that are linked by groups only can have been made from a given original.
//!
//! Paper: `xiao2006`, Definition 3. The first table has everybody's quasi-identifiers and a group, the second how often each
//! sensitive value occurs in each group. Who has which value of a group is not told, so the records of the original are sought
//! in two ways: the quasi-identifiers of the first table must be those of as many records of the original, and in every group
//! everybody must find a value of the group that somebody of the original has with the same quasi-identifiers.
//!
//! Where we differ: the paper does not ask. Each group is looked at by itself; whether all groups can be had together is as
//! hard as filling a table of three dimensions from its sums, and is not asked.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use incrowd_core::{Folded, MISSING};

/// What cannot have come from the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strangers {
    /// Records of the first table beyond those of the original that have the same quasi-identifiers.
    pub records: u64,
    /// Groups whose values cannot be given to their records.
    pub groups: u64,
}

/// A group: the quasi-identifiers of its records, `None` if the original has no such record, and its values.
#[derive(Default)]
struct LinkedGroup {
    records: Vec<Option<usize>>,
    values: Vec<Option<u32>>,
}

/// Seeks everybody of two linked tables in the original, whose sensitive column comes last. `first` has its other columns, in
/// the same order, then the group; `second` the group and the value. `missing` stands for a missing value.
pub fn strangers(original: &Folded, first: &Folded, second: &Folded, missing: &str) -> Strangers {
    let quasi = first.columns.len() - 1;
    let codes: Vec<HashMap<&str, u32>> = original
        .columns
        .iter()
        .map(|column| {
            let texts =
                column.texts.iter().enumerate().skip(1).map(|(code, text)| (text.as_str(), code as u32));
            // A text that is there is itself, whatever stands for a missing value.
            std::iter::once((missing, MISSING)).chain(texts).collect()
        })
        .collect();
    // Everybody's quasi-identifiers, with how many have them and which values.
    let mut people: BTreeMap<&[u32], usize> = BTreeMap::new();
    let mut left: Vec<u64> = Vec::new();
    let mut values: Vec<BTreeSet<u32>> = Vec::new();
    for row in 0..original.rows() {
        let cells = original.row(row);
        let person = *people.entry(&cells[..quasi]).or_insert(left.len());
        if person == left.len() {
            left.push(0);
            values.push(BTreeSet::new());
        }
        left[person] += original.weights[row];
        values[person].insert(cells[quasi]);
    }
    let mut strangers = Strangers::default();
    let mut groups: BTreeMap<&str, LinkedGroup> = BTreeMap::new();
    for row in 0..first.rows() {
        let cells = first.row(row);
        let text = |column: usize| first.columns[column].texts[cells[column] as usize].as_str();
        let own: Option<Vec<u32>> =
            (0..quasi).map(|column| codes[column].get(text(column)).copied()).collect();
        let person = own.and_then(|own| people.get(own.as_slice()).copied());
        let records = first.weights[row];
        let there = person.map_or(0, |person| left[person].min(records));
        if let Some(person) = person {
            left[person] -= there;
        }
        strangers.records += records - there;
        let group = groups.entry(text(quasi)).or_default();
        group.records.extend(std::iter::repeat_n(person, records as usize));
    }
    for row in 0..second.rows() {
        let text = |column: usize| second.columns[column].texts[second.row(row)[column] as usize].as_str();
        let value = codes[quasi].get(text(1)).copied();
        let group = groups.entry(text(0)).or_default();
        group.values.extend(std::iter::repeat_n(value, second.weights[row] as usize));
    }
    let fits = |person: Option<usize>, value: Option<u32>| {
        person.zip(value).is_some_and(|(person, value)| values[person].contains(&value))
    };
    strangers.groups = groups.values().filter(|group| !everybody_finds_one(group, &fits)).count() as u64;
    strangers
}

/// Whether the values of a group can be given to its records, one each: augmenting paths.
fn everybody_finds_one(group: &LinkedGroup, fits: &dyn Fn(Option<usize>, Option<u32>) -> bool) -> bool {
    fn give(
        record: usize,
        group: &LinkedGroup,
        fits: &dyn Fn(Option<usize>, Option<u32>) -> bool,
        asked: &mut [bool],
        owner: &mut [Option<usize>],
    ) -> bool {
        for value in 0..group.values.len() {
            if asked[value] || !fits(group.records[record], group.values[value]) {
                continue;
            }
            asked[value] = true;
            if owner[value].is_none_or(|other| give(other, group, fits, asked, owner)) {
                owner[value] = Some(record);
                return true;
            }
        }
        false
    }
    let mut owner = vec![None; group.values.len()];
    group.records.len() == group.values.len()
        && (0..group.records.len())
            .all(|record| give(record, group, fits, &mut vec![false; group.values.len()], &mut owner))
}
