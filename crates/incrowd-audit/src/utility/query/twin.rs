//! Compares counts and estimates with a slow implementation that tests single records.

use incrowd_core::Silent;
use proptest::prelude::*;

use super::super::comparison::Comparison;
use super::super::test_tables::{Person, QUASI, admits, compare, domain, ends, people};
use super::workload::{Query, Side};
use super::{Workload, count, estimate};

const TREE_ORDER: [&str; 5] = ["nurse", "midwife", "smith", "baker", "clerk"];

/// Returns the leaves of a column by name, in order.
fn names(people: &[Person], column: usize) -> Vec<String> {
    match column {
        2 => TREE_ORDER.map(str::to_owned).to_vec(),
        _ => domain(people, column).into_iter().collect(),
    }
}

fn true_count(people: &[Person], query: &Query) -> u64 {
    let inside = |p: &&Person| {
        let sides = query.sides.iter().all(|&(c, side)| match side {
            Side::Between(lo, hi) => (lo..=hi).contains(&p.values[c].parse::<f64>().unwrap()),
            Side::Leaves(first, last) => {
                let at = names(people, c).iter().position(|n| *n == p.values[c]).unwrap() as u32;
                (first..=last).contains(&at)
            }
        });
        let values = query.values.as_ref().is_none_or(|(c, selected)| {
            selected[names(people, *c).iter().position(|n| *n == p.values[*c]).unwrap()]
        });
        sides && values
    };
    people.iter().filter(inside).count() as u64
}

fn estimated(people: &[Person], query: &Query) -> f64 {
    let one = |cells: &[String; 4]| {
        let mut share = 1.0;
        for &(c, side) in &query.sides {
            share *= match side {
                Side::Between(from, to) => {
                    let (lo, hi) = if cells[c] == "*" {
                        let ages = || people.iter().map(|p| p.values[c].parse::<f64>().unwrap());
                        (ages().fold(f64::MAX, f64::min), ages().fold(f64::MIN, f64::max))
                    } else {
                        ends(&cells[c])
                    };
                    if lo == hi {
                        f64::from(u8::from(from <= lo && lo <= to))
                    } else {
                        (hi.min(to) - lo.max(from)).max(0.0) / (hi - lo)
                    }
                }
                Side::Leaves(first, last) => {
                    let set = admits(people, c, &cells[c]);
                    let chosen = &names(people, c)[first as usize..=last as usize];
                    chosen.iter().filter(|v| set.contains(*v)).count() as f64 / set.len() as f64
                }
            };
        }
        if let Some((c, selected)) = &query.values {
            share *= f64::from(u8::from(
                selected[names(people, *c).iter().position(|n| *n == cells[*c]).unwrap()],
            ));
        }
        share
    };
    people.iter().filter_map(|p| p.cells.as_ref()).map(one).sum()
}

fn draw(comparison: &Comparison, selectivity: f64, dimensions: usize, seed: u64) -> Vec<Query> {
    Workload { queries: 20, seed, selectivity, dimensions }.draw(comparison).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn counts_and_estimates_equal_those_of_single_records(
        people in people(),
        selectivity in 0.01f64..1.0,
        dimensions in 1usize..5,
        seed in any::<u64>(),
    ) {
        let comparison = compare(&people);
        let queries = draw(&comparison, selectivity, dimensions, seed);
        let counts = count::counts(&comparison, &queries);
        let estimates = estimate::estimates(&comparison, &queries, &Silent);
        prop_assert_eq!((queries.len(), counts.len(), estimates.len()), (20, 20, 20));
        for ((query, count), estimate) in queries.iter().zip(counts).zip(estimates) {
            prop_assert_eq!(query.sides.len(), dimensions.min(QUASI));
            prop_assert_eq!(count, true_count(&people, query));
            let slow = estimated(&people, query);
            prop_assert!((estimate - slow).abs() < 1e-9, "{estimate} {slow} {query:?}");
        }
    }

    #[test]
    fn equal_seeds_draw_equal_queries(people in people(), seed in any::<u64>()) {
        let comparison = compare(&people);
        prop_assert_eq!(draw(&comparison, 0.1, 2, seed), draw(&comparison, 0.1, 2, seed));
    }
}

#[test]
fn impossible_workloads_are_refused() {
    let person = Person {
        values: ["20", "Ayr", "nurse", "flu"].map(str::to_owned),
        cells: Some(["20", "Ayr", "nurse", "flu"].map(str::to_owned)),
    };
    let comparison = compare(&[person]);
    for (selectivity, dimensions, queries) in
        [(0.0, 1, 1), (1.5, 1, 1), (f64::NAN, 1, 1), (0.5, 0, 1), (0.5, 1, 0)]
    {
        let workload = Workload { queries, seed: 1, selectivity, dimensions };
        assert!(workload.draw(&comparison).is_err(), "{workload:?}");
    }
}
