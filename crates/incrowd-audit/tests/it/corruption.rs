//! Modified releases must fail verification.

use crate::common::{Cells, cases, judge};
use proptest::prelude::*;

const NAMES: [&str; 3] = ["age", "zip", "disease"];

/// Distinct groups of at least `k` records. The first has exactly `k`.
fn sound() -> impl Strategy<Value = (u64, Vec<Vec<Cells>>)> {
    (2u64..6, prop::collection::vec((0u64..4, prop::collection::vec(0u8..3, 10)), 2..6)).prop_map(
        |(k, groups)| {
            let group = |(i, (extra, diseases)): (usize, &(u64, Vec<u8>))| -> Vec<Cells> {
                let size = if i == 0 { k } else { k + extra };
                (0..size)
                    .map(|r| {
                        let disease = format!("d{}", diseases[r as usize]);
                        vec![Some(format!("[{i}0, {i}9]")), Some("816**".to_owned()), Some(disease)]
                    })
                    .collect()
            };
            (k, groups.iter().enumerate().map(group).collect())
        },
    )
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn dropping_a_record_of_the_smallest_group_violates_the_model(
        (k, mut groups) in sound(),
        at in 0usize..6,
    ) {
        let all = |groups: &[Vec<Cells>]| groups.concat();
        prop_assert!(judge(&NAMES, &all(&groups), 1, k).holds());
        prop_assert!(!judge(&NAMES, &all(&groups), 1, k + 1).holds());
        let at = at % groups[0].len();
        groups[0].remove(at);
        let broken = judge(&NAMES, &all(&groups), 1, k);
        prop_assert!(!broken.holds());
        prop_assert_eq!(broken.judgements[0].have, (k - 1) as f64);
        prop_assert_eq!(broken.judgements[0].failing, 1);
    }

    #[test]
    fn dropping_a_record_of_a_larger_group_is_allowed((k, mut groups) in sound()) {
        let large = groups.iter_mut().find(|group| group.len() as u64 > k);
        prop_assume!(large.is_some());
        large.unwrap().pop();
        prop_assert!(judge(&NAMES, &groups.concat(), 1, k).holds());
    }

    #[test]
    fn one_changed_quasi_identifier_cell_violates_the_model(
        (k, mut groups) in sound(),
        column in 0usize..2,
    ) {
        groups[0][0][column] = Some("something else".to_owned());
        let broken = judge(&NAMES, &groups.concat(), 1, k);
        prop_assert!(!broken.holds());
        // The record is unique, and its group is too small.
        prop_assert_eq!((broken.judgements[0].have, broken.judgements[0].failing), (1.0, 2));
    }

    #[test]
    fn sensitive_cells_are_not_quasi_identifiers((k, mut groups) in sound()) {
        groups[0][0][2] = Some("something else".to_owned());
        prop_assert!(judge(&NAMES, &groups.concat(), 1, k).holds());
    }
}
