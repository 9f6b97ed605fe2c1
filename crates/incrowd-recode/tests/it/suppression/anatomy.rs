//! Anatomy on random eligible tables: every record is in one group, and each group has l or l + 1
//! records with different values.

use incrowd_recode::anatomy::group;
use incrowd_recode::suppression::Secret;
use proptest::prelude::*;

/// Records are numbered. The bucket of a record is its value.
fn buckets(counts: &[usize]) -> Vec<Vec<u32>> {
    let mut next = 0..;
    counts.iter().map(|&n| next.by_ref().take(n).collect()).collect()
}

proptest! {
    #[test]
    fn groups_are_diverse_and_contain_all_records(
        counts in prop::collection::vec(0usize..30, 2..9),
        l in 2u64..6,
        seed in 0u64..50,
    ) {
        let all: usize = counts.iter().sum();
        let most = counts.iter().copied().max().unwrap();
        let made = group(buckets(&counts), l, &mut Secret::of_seed(seed).dice());
        if all == 0 || most as u64 * l > all as u64 {
            prop_assert!(made.is_err());
            return Ok(());
        }
        let made = made.unwrap();
        let value: Vec<usize> = counts.iter().enumerate().flat_map(|(v, &n)| vec![v; n]).collect();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); made.groups as usize];
        let mut grouped = vec![false; all];
        for &(record, group) in &made.records {
            prop_assert!(!std::mem::replace(&mut grouped[record as usize], true), "twice");
            members[group as usize].push(value[record as usize]);
        }
        prop_assert!(grouped.iter().all(|is_grouped| *is_grouped));
        prop_assert_eq!(made.groups as u64, all as u64 / l);
        for mut own in members {
            let size = own.len();
            own.sort_unstable();
            own.dedup();
            prop_assert!(own.len() == size && size as u64 >= l, "{own:?}");
        }
    }
}

/// With three records of one value, three of another and l = 2, each of the 6 pairings is equally
/// likely. In 6,000 draws each is expected 1,000 times. Chi-square with 5 degrees of freedom
/// exceeds 25.74 with probability 0.0001.
#[test]
fn pairings_are_equally_likely() {
    let mut counts: std::collections::BTreeMap<Vec<(u32, u32)>, u64> = Default::default();
    for seed in 0..6_000 {
        let made = group(buckets(&[3, 3]), 2, &mut Secret::of_seed(seed).dice()).unwrap();
        let of = |record: u32| made.records.iter().find(|r| r.0 == record).unwrap().1;
        let mut pairs: Vec<(u32, u32)> =
            (0..3).map(|a| (a, (3..6).find(|&b| of(b) == of(a)).unwrap())).collect();
        pairs.sort_unstable();
        *counts.entry(pairs).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    let x: f64 = counts.values().map(|&n| (n as f64 - 1_000.0).powi(2) / 1_000.0).sum();
    assert!(x < 25.74, "{counts:?}");
}
