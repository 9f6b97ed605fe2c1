//! Compares verification with all pairs of records.

use std::sync::Arc;

use crate::common::{Cells, cases, folded, judge};
use incrowd_audit::tally;
use incrowd_core::dataset::Quasi;
use incrowd_core::{ColumnSpec, Domain, FoldedColumn, Kind};
use proptest::prelude::*;

const NAMES: [&str; 4] = ["age", "zip", "sex", "disease"];

/// Returns, for every record, the number of records with equal cells in the first `quasi` columns.
fn equal_records(records: &[Cells], quasi: usize) -> Vec<u64> {
    let count = |a: &Cells| records.iter().filter(|b| a[..quasi] == b[..quasi]).count() as u64;
    records.iter().map(count).collect()
}

fn is_first_of_its_group(records: &[Cells], quasi: usize, at: usize) -> bool {
    records[..at].iter().all(|earlier| earlier[..quasi] != records[at][..quasi])
}

fn releases() -> impl Strategy<Value = Vec<Cells>> {
    let texts = prop::sample::select(vec!["*", "[20, 40]", "20", "{a, b}", "816**"]);
    let cell = prop_oneof![4 => texts.prop_map(|c| Some(c.to_owned())), 1 => Just(None)];
    let record = prop::collection::vec(cell, 4);
    // Records are repeated to create larger groups.
    prop::collection::vec((record, 1usize..5), 0..14)
        .prop_map(|rows| {
            rows.into_iter().flat_map(|(r, n)| std::iter::repeat_n(r, n)).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn verdict_smallest_group_and_groups_equal_those_of_all_pairs(
        records in releases(), sensitive in 1usize..4, k in 1u64..7,
    ) {
        let quasi = NAMES.len() - sensitive;
        let verification = judge(&NAMES, &records, sensitive, k);
        let sizes = equal_records(&records, quasi);
        let groups: Vec<u64> = (0..records.len())
            .filter(|&i| is_first_of_its_group(&records, quasi, i))
            .map(|i| sizes[i])
            .collect();
        let judgement = &verification.judgements[0];
        prop_assert_eq!(verification.holds(), sizes.iter().all(|&n| n >= k));
        prop_assert_eq!(judgement.holds, verification.holds());
        prop_assert_eq!(verification.groups, groups.len() as u64);
        prop_assert_eq!(verification.records, records.len() as u64);
        prop_assert_eq!(judgement.failing, groups.iter().filter(|&&n| n < k).count() as u64);
        if let Some(&least) = groups.iter().min() {
            prop_assert_eq!(judgement.have, least as f64);
            prop_assert_eq!(judgement.margin, least as f64 - k as f64);
        }
    }

    #[test]
    fn the_tally_has_the_groups_of_all_pairs(records in releases(), sensitive in 1usize..4) {
        let quasi = NAMES.len() - sensitive;
        let folded = folded(&NAMES, &records);
        let texts = ["", "20", "[20, 40]", "a", "b", "816**"].map(str::to_owned).to_vec();
        let spec = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        let domains: Vec<Quasi> = NAMES[..quasi]
            .iter()
            .map(|name| {
                let column = FoldedColumn { name: (*name).to_owned(), texts: texts.clone() };
                Quasi {
                    name: (*name).to_owned(),
                    domain: Domain::build(&column, &spec, Some("")).unwrap().0,
                    leaf_depth: 0,
                    counts: Arc::default(),
                    weight: 1.0,
                    original: None,
                }
            })
            .collect();
        let sizes = equal_records(&records, quasi);
        let mut expected: Vec<u64> = (0..records.len())
            .filter(|&i| is_first_of_its_group(&records, quasi, i))
            .map(|i| sizes[i])
            .collect();
        expected.sort_unstable();
        let mut sizes = tally(&folded, &domains, 0).unwrap().group_sizes;
        sizes.sort_unstable();
        prop_assert_eq!(sizes, expected);
    }
}

/// In a typed file a null and an empty text are different, and readers of the release see this.
#[test]
fn a_null_and_an_empty_text_are_two_groups() {
    let records = vec![vec![None, None], vec![Some(String::new()), None]];
    let verification = judge(&["zip", "disease"], &records, 1, 2);
    assert_eq!(verification.groups, 2);
    assert!(!verification.holds());
}

/// The order of rows depends on the threads that read them. A manifest must not depend on it.
#[test]
fn the_tally_does_not_depend_on_the_order_of_rows() {
    let texts: Vec<String> =
        std::iter::once(String::new()).chain((0..50).map(|i| format!("{}", i * i))).collect();
    let column = FoldedColumn { name: "x".into(), texts };
    let domain = Domain::build(&column, &ColumnSpec::default(), None).unwrap().0;
    let counts = Arc::new([vec![1; 49], vec![0]].concat());
    let domains =
        [Quasi { name: "x".into(), domain, leaf_depth: 0, counts, weight: 1.0, original: None }];
    let records: Vec<Cells> =
        (0..49).map(|i| vec![Some(format!("[{}, {}]", i, i * i + 7))]).collect();
    let reversed: Vec<Cells> = records.iter().rev().cloned().collect();
    let sums = |records: &[Cells]| tally(&folded(&["x"], records), &domains, 0).unwrap().columns;
    assert_eq!(sums(&records), sums(&reversed));
}
