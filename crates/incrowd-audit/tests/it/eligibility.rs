//! The posteriors of `eligibility`, compared with reference values of an independent prototype,
//! with brute force, and sampling with enumeration.

use std::collections::BTreeMap;

use incrowd_audit::eligibility::{
    Mechanism, Method, Prior, SAMPLED, check, exact, mean_success, mean_success_shape_known,
    sampled, shape_known, survey, tables,
};
use proptest::prelude::*;
use serde_json::Value as Json;

fn fixture(name: &str) -> Json {
    serde_json::from_str(incrowd_testing::fixture(&format!("rsupp_{name}.json"))).unwrap()
}

fn mechanism(method: Method, l: u64, complete_level: bool) -> Mechanism {
    Mechanism { method, l, complete_level }
}

fn near(have: f64, want: &Json) {
    assert!((have - want.as_f64().unwrap()).abs() < 1e-9, "{have} {want}");
}

/// The paper states one third for each of the first three values.
#[test]
fn posteriors_of_example_5_equal_those_of_enumeration() {
    let v = &fixture("examples")["example_5"];
    let (base, release) = ([10, 4, 2, 1, 1], [3, 3, 2, 1, 1]);
    let r = mechanism(Method::Random, 3, false);
    let flat = exact(r, Prior::Flat, &release, 18).unwrap();
    let multinomial = exact(r, Prior::Multinomial, &release, 18).unwrap();
    let shape = shape_known(r, &base, &release).unwrap();
    for (i, &count) in release.iter().enumerate() {
        near(flat.of(count), &v["bayes_flat_prior"][i]);
        near(multinomial.of(count), &v["bayes_multinomial_prior"][i]);
        near(shape.of(count), &v["bayes_shape_known"][i]);
    }
}

#[test]
fn posteriors_of_all_tables_of_a_size_equal_the_reference() {
    let mut cases = 0;
    for case in fixture("posterior")["cases"].as_array().unwrap() {
        let number = |key: &str| case[key].as_u64().unwrap();
        let (method, complete) = match case["method"].as_str().unwrap() {
            "rsup" => (Method::Random, false),
            "rsuplevel" => (Method::Random, true),
            "safe" => (Method::Safe, false),
            "unsafe" => (Method::Unsafe, false),
            unknown => panic!("{unknown}"),
        };
        let prior = if case["prior"] == "flat" { Prior::Flat } else { Prior::Multinomial };
        let m = mechanism(method, number("l"), complete);
        let survey = survey(m, prior, number("n"), number("m") as usize);
        near(survey.success, &case["bayes_success"]);
        near(survey.worst, &case["worst_posterior"]);
        near(survey.over, &case["share_of_releases_over_bound"]);
        assert_eq!(Some(survey.releases as u64), case["distinct_tp"].as_u64());
        let release: Vec<u64> =
            case["worst_tp"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        let worst = exact(m, prior, &release, number("n")).unwrap();
        near(worst.max(), &case["worst_posterior"]);
        cases += 1;
    }
    assert_eq!(cases, 72);
}

/// Safe D-suppression is the only method for which the bound holds.
#[test]
fn posteriors_of_safe_suppression_are_one_over_the_values_at_the_level() {
    for prior in [Prior::Flat, Prior::Multinomial] {
        let survey = survey(mechanism(Method::Safe, 3, false), prior, 21, 5);
        assert!(survey.worst <= 1.0 / 3.0 + 1e-12 && survey.over == 0.0);
    }
    let posterior =
        exact(mechanism(Method::Safe, 3, false), Prior::Flat, &[2, 2, 2, 1, 1], 18).unwrap();
    assert!((posterior.of(2) - 1.0 / 3.0).abs() < 1e-12 && posterior.of(1) == 0.0);
}

/// Compares samples of the size of a report, with five fixed seeds each, with enumeration: 640
/// posteriors. Each result must be within five of its standard errors, which are estimated from
/// twenty batches. A correct sampler exceeds this for one in 12,000 results (Student's t with
/// nineteen degrees of freedom). No result may differ by more than the tolerance.
#[test]
fn sampling_agrees_with_enumeration() {
    const TOLERANCE: f64 = 0.02;
    const DEVIATIONS: f64 = 5.0;
    let cases: [(&[u64], u64, u64, bool); 11] = [
        (&[3, 3, 2, 1, 1], 18, 3, false),
        (&[3, 3, 2, 1, 1], 18, 3, true),
        (&[4, 4, 2, 1, 1], 18, 3, true),
        (&[2, 1, 1, 1, 1], 8, 3, false),
        (&[5, 4, 3, 2, 2], 24, 3, true),
        (&[4, 4, 3, 3, 2], 24, 3, false),
        (&[6, 5, 4, 4, 3, 2], 36, 3, true),
        (&[9, 9, 5, 4, 1], 40, 2, true),
        (&[4, 4, 4, 4, 3], 21, 4, true),
        (&[14, 14, 9, 5], 70, 3, true),
        (&[12, 12, 12, 7, 5], 60, 4, false),
    ];
    let (mut compared, mut worst, mut deviations) = (0, 0.0_f64, 0.0_f64);
    for (release, records, l, complete) in cases {
        for (method, prior) in [Method::Random, Method::Cheaper]
            .into_iter()
            .flat_map(|method| [(method, Prior::Flat), (method, Prior::Multinomial)])
        {
            // The enumeration for `cheaper` takes too long for larger tables.
            if method == Method::Cheaper && records > 40 {
                continue;
            }
            let m = mechanism(method, l, complete);
            let Some(exact) = exact(m, prior, release, records) else { continue };
            for seed in 1..=5 {
                let tables = if method == Method::Cheaper { SAMPLED / 4 } else { SAMPLED };
                let Some(sample) = sampled(m, prior, release, records, tables, seed) else {
                    panic!("{release:?} {method:?}: enumeration finds a table and sampling none");
                };
                assert_eq!(exact.by_count.len(), sample.by_count.len());
                for (&(count, _, want), &(_, _, have)) in
                    exact.by_count.iter().zip(&sample.by_count)
                {
                    let off = (want - have).abs();
                    worst = worst.max(off);
                    if off > 1e-9 {
                        deviations = deviations.max(off / sample.error);
                    }
                    assert!(
                        off < TOLERANCE && off <= DEVIATIONS * sample.error + 1e-9,
                        "{release:?} {method:?} {prior:?} {complete} {count}: {want} {have} ± {}",
                        sample.error
                    );
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} posteriors, greatest error {worst:.4}, {deviations:.2} standard errors");
    assert_eq!(compared, 640);
}

/// Applies one random draw, suppressing record by record.
fn slow(base: &[u64], l: u64, first: u64, dominant: usize, ties: &[usize]) -> Vec<u64> {
    let records: u64 = base.iter().sum();
    let mut left = base.to_vec();
    left[dominant] = first;
    let mut order = ties.to_vec();
    order.sort_by_key(|&i| std::cmp::Reverse(left[i]));
    loop {
        let published: u64 = left.iter().sum();
        let mut sorted = left.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        if sorted[0] * l <= published
            && (sorted[l as usize - 1] + records - published) * l > records
        {
            return left;
        }
        let lowest = order.iter().rev().find(|&&i| left[i] == sorted[0]).unwrap();
        left[*lowest] -= 1;
    }
}

fn named(counts: &[u64]) -> BTreeMap<&'static str, u64> {
    ["a", "b", "c", "d", "e", "f"].into_iter().zip(counts.iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The checker accepts every release of the loop and rejects forged ones.
    #[test]
    fn the_checker_accepts_the_releases_of_the_loop(
        mut base in prop::collection::vec(1u64..14, 3..6),
        extra in 0u64..20,
        l in 2u64..4,
        depth in 0.0f64..1.0,
        ties in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        base[0] += extra;
        let records: u64 = base.iter().sum();
        let most = *base.iter().max().unwrap();
        prop_assume!(most * l > records);
        let mut sorted = base.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let low = sorted.get(l as usize).copied().unwrap_or(sorted[sorted.len() - 1]);
        let first = low + (depth * (most - low + 1) as f64) as u64;
        let ties: Vec<usize> = ties.into_iter().filter(|&i| i < base.len()).collect();
        let dominant = *ties.iter().find(|&&i| base[i] == most).unwrap();
        let left = slow(&base, l, first.min(most), dominant, &ties);
        // If a level is not completed, complete it for the other mechanism.
        let most_left = *left.iter().max().unwrap();
        let reduced = |i: usize| if i == dominant { first.min(most) } else { base[i] };
        if (0..base.len()).any(|i| left[i] + 1 == most_left && reduced(i) >= most_left) {
            let completed: Vec<u64> = left.iter().map(|&count| count.min(most_left - 1)).collect();
            let m = mechanism(Method::Random, l, true);
            let checks = check(m, &named(&base), &named(&completed));
            prop_assert!(checks.holds(), "{base:?} {completed:?} l={l} F={first}: {checks:?}");
        } else {
            let m = mechanism(Method::Random, l, true);
            prop_assert!(check(m, &named(&base), &named(&left)).holds());
        }
        let m = mechanism(Method::Random, l, false);
        let checks = check(m, &named(&base), &named(&left));
        prop_assert!(checks.holds(), "{base:?} {left:?} l={l} F={first}: {checks:?}");
        // It is among the releases without labels, and has a posterior.
        let posterior = shape_known(m, &base, &left).unwrap();
        prop_assert!(posterior.of(left[dominant]) > 0.0);
        let sum: f64 = posterior.by_count.iter().map(|e| e.1 as f64 * e.2).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9);
        // A value with one record more than in the table is not part of the table.
        let mut forged = left.clone();
        let place = (0..base.len()).find(|&i| i != dominant).unwrap();
        forged[place] = base[place] + 1;
        prop_assert!(!check(m, &named(&base), &named(&forged)).part_of_table);
        // The table without suppression is not eligible.
        prop_assert!(!check(m, &named(&base), &named(&base)).eligible);
    }
}

#[test]
fn an_eligible_table_must_be_unchanged() {
    let m = mechanism(Method::Random, 3, true);
    let table = named(&[4, 3, 3, 2]);
    assert!(check(m, &table, &table).holds());
    let less = check(m, &table, &named(&[3, 3, 3, 2]));
    assert_eq!((less.unchanged, less.candidacy, less.holds()), (Some(false), None, false));
}

/// The probabilities of all guesses sum up, and an adversary who knows the counts has at least the
/// success of random guessing.
#[test]
fn success_over_the_draws_of_one_table_equals_that_by_hand() {
    let base = [10, 4, 2, 1, 1];
    for complete in [false, true] {
        let m = mechanism(Method::Random, 3, complete);
        let shape = mean_success_shape_known(m, &base);
        // {1,2,2,1,1} 1/6: one in three; {2,3,2,1,1} 5/18: one in two; {3,3,..} 1/9: one in two;
        // {4,4,..} 4/9: one in two.
        let by_hand = 1.0 / 6.0 / 3.0 + 5.0 / 18.0 / 2.0 + 1.0 / 9.0 / 2.0 + 4.0 / 9.0 / 2.0;
        assert!((shape - by_hand).abs() < 1e-12, "{shape} {by_hand}");
        let flat = mean_success(m, Prior::Flat, &base).unwrap();
        assert!((0.2..0.6).contains(&flat), "{flat}");
    }
    assert_eq!(tables(10, 3), 8.0);
}
