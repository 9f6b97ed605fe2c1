//! Distributions of the draws. Sample sizes and significance levels are stated, and seeds are
//! fixed.

use std::collections::BTreeMap;

use incrowd_core::Folded;
use incrowd_recode::suppression::{Rule, Secret, Way, records};

/// The number of draws of each test.
const DRAWS: u64 = 20_000;

/// Pearson's statistic for the expected probabilities.
fn chi_square(counts: &[u64], expected: &[f64]) -> f64 {
    let draws = counts.iter().sum::<u64>() as f64;
    counts.iter().zip(expected).map(|(&n, p)| (n as f64 - draws * p).powi(2) / (draws * p)).sum()
}

/// Values that chi-square exceeds with probability 0.0001, by degrees of freedom.
fn critical(degrees: usize) -> f64 {
    [15.14, 18.42, 21.11, 23.51, 25.74, 27.86, 29.88, 31.83, 33.72][degrees - 1]
}

fn kept(way: Way, l: u64, complete_level: bool, table: &[u64], seed: u64) -> Vec<u64> {
    let rule = Rule { way, l, complete_level };
    rule.cut(table, &mut || Secret::of_seed(seed).dice()).unwrap().kept
}

/// The table of example 4 with the probabilities of `rsupp_examples.json`.
#[test]
fn releases_have_the_defined_probabilities() {
    let likely: [(&[u64], f64); 4] = [
        (&[1, 2, 2, 1, 1], 1.0 / 6.0),
        (&[2, 3, 2, 1, 1], 5.0 / 18.0),
        (&[3, 3, 2, 1, 1], 1.0 / 9.0),
        (&[4, 4, 2, 1, 1], 4.0 / 9.0),
    ];
    let mut counts = vec![0; 4];
    for seed in 0..DRAWS {
        let left = kept(Way::Random, 3, false, &[10, 4, 2, 1, 1], seed);
        counts[likely
            .iter()
            .position(|(release, _)| *release == left)
            .expect("a possible release")] += 1;
    }
    let x = chi_square(&counts, &likely.map(|(_, p)| p));
    assert!(x < critical(3), "{counts:?} {x}");
}

/// {3, 2, 1, 1, 1} with l = 3 leaves one of the first two values with two records. If the first cut
/// of the dominant value is to 3 (probability 1/6), it is the dominant one; to 2 (1/3), either of
/// them; to 1 (1/2), the other.
#[test]
fn equal_counts_are_ranked_at_random() {
    let mut counts = vec![0; 2];
    for seed in 0..DRAWS {
        let left = kept(Way::Random, 3, false, &[3, 2, 1, 1, 1], seed);
        assert_eq!(left.iter().sum::<u64>(), 6);
        counts[usize::from(left[1] == 2)] += 1;
    }
    let x = chi_square(&counts, &[1.0 / 3.0, 2.0 / 3.0]);
    assert!(x < critical(1), "{counts:?} {x}");
}

#[test]
fn each_of_the_most_frequent_values_can_be_the_dominant_one() {
    let mut lower = [0; 2];
    for seed in 0..DRAWS {
        let left = kept(Way::Random, 3, true, &[6, 6, 2, 2], seed);
        if left[0] != left[1] {
            lower[usize::from(left[1] < left[0])] += 1;
        }
    }
    assert!(lower.iter().sum::<u64>() > DRAWS / 10, "{lower:?}");
    assert!(chi_square(&lower, &[0.5, 0.5]) < critical(1), "{lower:?}");
}

/// Numbers below 6, and below a number of which 2^64 is far from a multiple.
#[test]
fn whole_numbers_are_unbiased() {
    let mut dice = Secret::of_seed(5).dice();
    let mut counts = vec![0; 6];
    (0..DRAWS).for_each(|_| counts[dice.below(6) as usize] += 1);
    assert!(chi_square(&counts, &[1.0 / 6.0; 6]) < critical(5));
    // Without rejection the lower half would be twice as frequent as the upper.
    let end = (1 << 63) + (1 << 62);
    let mut halves = vec![0; 2];
    (0..DRAWS).for_each(|_| halves[usize::from(dice.below(end) >= end / 2)] += 1);
    assert!(chi_square(&halves, &[0.5, 0.5]) < critical(1), "{halves:?}");
}

fn table(rows: &[(&'static str, &'static str, usize)]) -> Folded {
    let records = rows.iter().flat_map(|(q, s, n)| vec![vec![Some(*q), Some(*s)]; *n]);
    Folded::from_records(&["q", "s"], records, false)
}

/// Two of the five records x, x, y, z, z are chosen. Each of the ten pairs is equally likely, and
/// the numbers of records per row have the multivariate hypergeometric distribution.
#[test]
fn all_records_of_a_value_are_equally_likely_to_be_suppressed() {
    let folded = table(&[("x", "flu", 2), ("y", "flu", 1), ("z", "flu", 2), ("w", "cold", 4)]);
    let (flu, cold) = (folded.row(0)[1] as usize, folded.row(3)[1] as usize);
    let mut value_of = vec![0; 3];
    (value_of[flu], value_of[cold]) = (0, 1);
    let likely: BTreeMap<[u64; 4], f64> = BTreeMap::from([
        ([2, 0, 0, 0], 0.1),
        ([0, 0, 2, 0], 0.1),
        ([1, 1, 0, 0], 0.2),
        ([0, 1, 1, 0], 0.2),
        ([1, 0, 1, 0], 0.4),
    ]);
    let mut counts: BTreeMap<[u64; 4], u64> = likely.keys().map(|&key| (key, 0)).collect();
    for seed in 0..DRAWS {
        let out = records::choose(&folded, 1, &value_of, &[2, 0], &Secret::of_seed(seed));
        *counts.get_mut(&out[..]).expect("two records with flu") += 1;
    }
    let x = chi_square(
        &counts.into_values().collect::<Vec<_>>(),
        &likely.into_values().collect::<Vec<_>>(),
    );
    assert!(x < critical(4), "{x}");
}

#[test]
fn the_choice_does_not_depend_on_the_order_of_the_records() {
    let rows =
        [("x", "flu", 7), ("y", "flu", 5), ("z", "flu", 9), ("w", "cold", 4), ("v", "flu", 3)];
    let mut reversed = rows;
    reversed.reverse();
    let choice = |rows: &[(&'static str, &'static str, usize)], seed: u64| {
        let folded = table(rows);
        let flu = folded.columns[1].texts.iter().position(|t| t == "flu").unwrap();
        let value_of: Vec<u32> = (0..3).map(|code| u32::from(code != flu)).collect();
        let out = records::choose(&folded, 1, &value_of, &[11, 0], &Secret::of_seed(seed));
        let texts = |row: usize| folded.columns[0].texts[folded.row(row)[0] as usize].clone();
        (0..folded.rows()).map(|row| (texts(row), out[row])).collect::<BTreeMap<_, _>>()
    };
    for seed in 0..50 {
        assert_eq!(choice(&rows, seed), choice(&reversed, seed));
        assert_eq!(choice(&rows, seed).values().sum::<u64>(), 11);
    }
    assert_ne!(choice(&rows, 1), choice(&rows, 2));
}
