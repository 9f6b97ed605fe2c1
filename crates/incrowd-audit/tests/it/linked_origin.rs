//! Compares two linked tables with the original, by brute force over all assignments of values.

use incrowd_audit::linked_origin::{Unmatched, unmatched};
use incrowd_core::Folded;
use proptest::prelude::*;

fn folded(names: &[&str], rows: &[Vec<String>]) -> Folded {
    let rows: Vec<Vec<Option<&str>>> =
        rows.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect()).collect();
    Folded::from_records(names, rows, false)
}

/// A group with its quasi-identifiers and its values.
type Group = (Vec<u8>, Vec<u8>);

/// Returns whether some assignment of values to records is possible. Tries all orders.
fn some_order_fits(records: &[u8], values: &mut Vec<u8>, at: usize, people: &[(u8, u8)]) -> bool {
    if at == records.len() {
        return true;
    }
    (at..values.len()).any(|i| {
        values.swap(at, i);
        let fits = people.contains(&(records[at], values[at]))
            && some_order_fits(records, values, at + 1, people);
        values.swap(at, i);
        fits
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn unmatched_records_and_groups_equal_brute_force(
        people in prop::collection::vec((0u8..4, 0u8..3), 1..12),
        groups in prop::collection::vec(prop::collection::vec((0u8..5, 0u8..4), 1..5), 1..4),
    ) {
        let text = |n: u8| n.to_string();
        let original: Vec<Vec<String>> =
            people.iter().map(|&(q, v)| vec![text(q), text(v)]).collect();
        let groups: Vec<Group> =
            groups.into_iter().map(|group| group.into_iter().unzip()).collect();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (number, (records, values)) in groups.iter().enumerate() {
            first.extend(records.iter().map(|&q| vec![text(q), number.to_string()]));
            second.extend(values.iter().map(|&v| vec![number.to_string(), text(v)]));
        }
        let found = unmatched(
            &folded(&["q", "v"], &original),
            &folded(&["q", "group"], &first),
            &folded(&["group", "v"], &second),
            "?",
        );
        let originals = |q: u8| people.iter().filter(|person| person.0 == q).count() as u64;
        let published = |q: u8| {
            groups.iter().flat_map(|group| &group.0).filter(|own| **own == q).count() as u64
        };
        let records = (0..5).map(|q| published(q).saturating_sub(originals(q))).sum();
        let fits = |group: &&Group| some_order_fits(&group.0, &mut group.1.clone(), 0, &people);
        let misfits = groups.len() as u64 - groups.iter().filter(fits).count() as u64;
        prop_assert_eq!(found, Unmatched { records, groups: misfits });
    }
}

#[test]
fn a_missing_value_is_matched_by_its_text() {
    let original =
        Folded::from_records(&["q", "v"], [vec![Some("a"), None], vec![None, Some("x")]], false);
    let published = |label: &str| {
        let first = folded(
            &["q", "group"],
            &[vec!["a".into(), "1".into()], vec![label.into(), "1".into()]],
        );
        let second = folded(
            &["group", "v"],
            &[vec!["1".into(), label.into()], vec!["1".into(), "x".into()]],
        );
        unmatched(&original, &first, &second, "?")
    };
    assert_eq!(published("?"), Unmatched::default());
    assert_eq!(published("none"), Unmatched { records: 1, groups: 1 });
}
