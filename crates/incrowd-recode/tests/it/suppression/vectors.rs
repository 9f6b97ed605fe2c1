//! The paper's examples and the vectors of an independent prototype.

use incrowd_core::Fault;
use incrowd_core::eligibility::eligible;
use incrowd_recode::suppression::levels::{cut, safe_stop, stop};
use incrowd_recode::suppression::method::interval;
use incrowd_recode::suppression::{Rule, Secret, Way};
use serde_json::Value as Json;

use super::twin::{holds, slow};

fn fixture(name: &str) -> Json {
    serde_json::from_str(incrowd_testing::fixture(&format!("rsupp_{name}.json"))).unwrap()
}

fn counts(json: &Json) -> Vec<u64> {
    json.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

/// `71/9` or `33`.
fn fraction(text: &str) -> f64 {
    let (over, under) = text.split_once('/').unwrap_or((text, "1"));
    over.parse::<f64>().unwrap() / under.parse::<f64>().unwrap()
}

fn rule(way: Way, l: u64, complete_level: bool) -> Rule {
    Rule { way, l, complete_level }
}

/// The counts after R-suppression with a given first cut, equal counts in the order of the table;
/// and the same sorted.
fn r_suppression(table: &[u64], l: u64, first: u64) -> (Vec<u64>, Vec<u64>) {
    let mut order: Vec<usize> = (0..table.len()).collect();
    let reduced: Vec<u64> = std::iter::once(first).chain(table[1..].iter().copied()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(reduced[i]));
    let by_rank: Vec<u64> = order.iter().map(|&i| reduced[i]).collect();
    let left = cut(&by_rank, stop(&by_rank, table.iter().sum(), l));
    let mut by_table = vec![0; table.len()];
    order.iter().zip(&left).for_each(|(&i, &count)| by_table[i] = count);
    let mut sorted = left;
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    (by_table, sorted)
}

#[test]
fn examples_1_to_3_unsafe_stops_after_six_and_safe_after_ten() {
    let v = fixture("examples");
    let (table, l, n) = (counts(&v["T"]), v["l"].as_u64().unwrap(), v["n"].as_u64().unwrap());
    let unsafe_stop = stop(&table, n, l);
    assert_eq!((unsafe_stop.cuts, unsafe_stop.level), (6, 4));
    assert_eq!(cut(&table, unsafe_stop), counts(&v["unsafe"]["tp"]));
    let safe = safe_stop(&table, l);
    assert_eq!((safe.cuts, safe.level), (10, 2));
    assert_eq!(cut(&table, safe), counts(&v["safe"]["tp"]));
    // The order in which values lose records.
    let mut left = table.clone();
    for rank in counts(&v["d_suppression_order_of_cuts"]) {
        let next = slow(&left, n, l, |now| now.iter().sum::<u64>() < left.iter().sum());
        assert_eq!((0..left.len()).find(|&i| next[i] < left[i]), Some(rank as usize - 1));
        left = next;
    }
}

#[test]
fn example_4_and_the_exact_distribution_of_its_releases() {
    let v = fixture("examples");
    let (table, l) = (counts(&v["T"]), 3);
    assert_eq!(interval(&table, 2), (2, 4));
    assert_eq!(r_suppression(&table, l, 3).0, [3, 3, 2, 1, 1]);
    let mut found: std::collections::BTreeMap<Vec<u64>, f64> = Default::default();
    for h in 1..=l {
        let (low, high) = interval(&table, h as usize);
        for first in low..=high {
            *found.entry(r_suppression(&table, l, first).0).or_default() +=
                1.0 / (l as f64 * (high - low + 1) as f64);
        }
    }
    let expected = v["rsup_exact_distribution"].as_array().unwrap();
    assert_eq!(found.len(), expected.len());
    for entry in expected {
        let p = fraction(entry["p"].as_str().unwrap());
        assert!((found[&counts(&entry["by_rank_in_T"])] - p).abs() < 1e-12);
    }
    let mean = rule(Way::Random, l, false).expected(&table);
    assert!((mean - fraction(v["rsup_expected_suppressed"].as_str().unwrap())).abs() < 1e-12);
}

#[test]
fn random_tables() {
    let (mut tables, mut runs) = (0, 0);
    for case in fixture("random")["cases"].as_array().unwrap() {
        tables += 1;
        let (table, l) = (counts(&case["T"]), case["l"].as_u64().unwrap());
        let n = table.iter().sum();
        let lower = stop(&table, n, l);
        assert_eq!(cut(&table, lower), counts(&case["unsafe"]["tp"]));
        assert_eq!(Some(lower.cuts), case["unsafe"]["suppressed"].as_u64());
        if let Some(least) = case["minimum_by_brute_force"].as_u64() {
            assert_eq!(lower.cuts, least);
        }
        assert_eq!(cut(&table, safe_stop(&table, l)), counts(&case["safe"]["tp"]));
        for run in case["rsup_runs"].as_array().unwrap() {
            runs += 1;
            let first = run["F"].as_u64().unwrap();
            assert_eq!(
                r_suppression(&table, l, first).1,
                counts(&run["tp_sorted"]),
                "{table:?} l={l} F={first}"
            );
            assert_eq!(
                Some(rule(Way::Random, l, false).suppressed(&table, first)),
                run["suppressed"].as_u64()
            );
        }
        let mean = rule(Way::Random, l, false).expected(&table);
        let expected = fraction(case["rsup_expected_suppressed"].as_str().unwrap());
        assert!((mean - expected).abs() < 1e-9 * expected, "{table:?} l={l}: {mean} {expected}");
    }
    assert_eq!((tables, runs), (40, 361));
}

#[test]
fn stops_inside_a_level_and_all_of_them() {
    let v = fixture("midlevel_stops");
    let sample = v["sample"].as_array().unwrap();
    assert_eq!(sample.len(), 20);
    for case in sample {
        let (table, l) = (counts(&case["T"]), case["l"].as_u64().unwrap());
        let first = case["F"].as_u64().unwrap();
        assert_eq!(
            r_suppression(&table, l, first).0,
            counts(&case["tp_by_rank_in_T"]),
            "{table:?} l={l} F={first}"
        );
        let mut reduced = table.clone();
        reduced[0] = first;
        reduced.sort_by(|a, b| b.cmp(a));
        let inside = stop(&reduced, table.iter().sum(), l);
        assert!(inside.inside > 0);
        let complete = cut(&reduced, inside.completed(&reduced));
        assert!(holds(&complete, table.iter().sum(), l));
        assert!(complete.iter().filter(|&&c| c == complete[0]).count() as u64 >= 2);
    }
    // The prototype counted all such runs with 6 to 25 records and 3 to 5 values.
    let mut found = 0;
    for n in 6..=25u64 {
        for m in 3..=5 {
            partitions(n, m, n, &mut Vec::new(), &mut |table| {
                for l in 2..=m as u64 {
                    if eligible(table[0], n, l) {
                        continue;
                    }
                    for h in 1..=l {
                        let (low, high) = interval(table, h as usize);
                        for first in low..=high {
                            let mut reduced = table.to_vec();
                            reduced[0] = first;
                            reduced.sort_by(|a, b| b.cmp(a));
                            found += u64::from(stop(&reduced, n, l).inside > 0);
                        }
                    }
                }
            });
        }
    }
    assert_eq!(Some(found), v["count"].as_u64());
}

fn partitions(
    n: u64,
    parts: usize,
    most: u64,
    taken: &mut Vec<u64>,
    visit: &mut dyn FnMut(&[u64]),
) {
    if parts == 0 {
        if n == 0 {
            visit(taken);
        }
        return;
    }
    for part in (1..=most.min(n)).rev() {
        taken.push(part);
        partitions(n - part, parts - 1, part, taken, visit);
        taken.pop();
    }
}

#[test]
fn zipf_tables() {
    let v = fixture("zipf");
    let zipf = |alpha: f64| -> Vec<u64> {
        (1..=20)
            .map(|i| ((1000.0 / f64::from(i).powf(alpha) + 1e-9).floor() as u64).max(1))
            .collect()
    };
    let near =
        |a: f64, json: &Json| assert!((a - json.as_f64().unwrap()).abs() < 1e-9, "{a} {json}");
    let mut tables = 0;
    for key in ["vs_alpha", "vs_l"] {
        for case in v[key].as_array().unwrap() {
            let (table, l) = (zipf(case["alpha"].as_f64().unwrap()), case["l"].as_u64().unwrap());
            if case["freq"].is_array() {
                assert_eq!(table, counts(&case["freq"]));
            }
            let n: u64 = table.iter().sum();
            assert_eq!(case["rates"].is_null(), eligible(table[0], n, l), "{case}");
            if !case["rates"].is_null() {
                tables += 1;
                near(stop(&table, n, l).cuts as f64 / n as f64, &case["rates"]["unsafe"]);
                near(
                    rule(Way::Random, l, false).expected(&table) / n as f64,
                    &case["rates"]["rsup"],
                );
                near(safe_stop(&table, l).cuts as f64 / n as f64, &case["rates"]["safe"]);
            }
        }
    }
    assert_eq!(tables, 16);
}

/// Every named case. Each key of the expectation is checked, and an unknown key fails the test.
#[test]
fn edge_cases() {
    let mut checked = 0;
    for case in fixture("edge_cases")["cases"].as_array().unwrap() {
        let (table, l) = (counts(&case["T"]), case["l"].as_u64().unwrap());
        let name = case["name"].as_str().unwrap();
        let n: u64 = table.iter().sum();
        let mut drawn = 0;
        let made = rule(Way::Random, l, false).cut(&table, &mut || {
            drawn += 1;
            Secret::of_seed(1).dice()
        });
        for (key, want) in case["expect"].as_object().unwrap() {
            checked += 1;
            match key.as_str() {
                "error" => {
                    let error = made.as_ref().unwrap_err();
                    assert!(error.message().starts_with(want.as_str().unwrap()), "{name}: {error}");
                    assert_eq!((error.fault(), drawn), (Fault::Unsatisfiable, 0), "{name}");
                }
                "tp" => assert_eq!(made.as_ref().unwrap().kept, counts(want), "{name}"),
                "draws" => assert_eq!(Some(drawn), want.as_u64(), "{name}"),
                "suppressed" if case["expect"]["unsafe"].is_null() => {
                    let kept: u64 = made.as_ref().unwrap().kept.iter().sum();
                    assert_eq!(Some(n - kept), want.as_u64(), "{name}");
                }
                "suppressed" => assert_eq!(Some(stop(&table, n, l).cuts), want.as_u64(), "{name}"),
                "tp_sorted" | "for_every_h_F" => {
                    let firsts = interval(&table, l as usize).0..=table[0];
                    assert!(!firsts.is_empty(), "{name}");
                    for first in firsts {
                        assert_eq!(
                            r_suppression(&table, l, first).1,
                            counts(&case["expect"]["tp_sorted"]),
                            "{name}"
                        );
                    }
                }
                "unsafe" => assert_eq!(cut(&table, stop(&table, n, l)), counts(want), "{name}"),
                "safe" => assert_eq!(cut(&table, safe_stop(&table, l)), counts(want), "{name}"),
                "rsup_expected_suppressed" => {
                    let mean = rule(Way::Random, l, false).expected(&table);
                    assert!((mean - fraction(want.as_str().unwrap())).abs() < 1e-9, "{name}");
                }
                "S_1" => assert_eq!(made.as_ref().unwrap().tied, 2, "{name}"),
                unknown => panic!("unknown key `{unknown}` of `{name}`"),
            }
        }
    }
    assert_eq!(checked, 18);
}

/// The example that contradicts the paper's order of costs.
#[test]
fn safe_is_used_if_it_is_not_more_expensive() {
    let table = [6, 4, 4, 4, 3];
    assert_eq!(rule(Way::Random, 4, false).expected(&table), 2.125);
    let dice = &mut || Secret::of_seed(1).dice();
    assert_eq!(rule(Way::Cheaper, 4, false).cut(&table, dice).unwrap().used, Some(Way::Safe));
    assert_eq!(
        rule(Way::Cheaper, 3, true).cut(&[10, 4, 2, 1, 1], dice).unwrap().used,
        Some(Way::Random)
    );
}
