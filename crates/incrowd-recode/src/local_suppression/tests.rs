//! Comparisons of counts and searches with slow, simple implementations.

use std::cell::Cell;

use proptest::prelude::*;

use super::matches::Matches;
use super::points::{Columns, Points};
use super::search::{Prices, improve, initial_missing};

type Table = Vec<(Vec<u32>, u64)>;

fn distinct(records: Vec<Vec<u32>>) -> Table {
    let mut counts: std::collections::BTreeMap<Vec<u32>, u64> = Default::default();
    records.into_iter().for_each(|record| *counts.entry(record).or_default() += 1);
    counts.into_iter().collect()
}

fn records(most: usize, width: usize) -> impl Strategy<Value = Table> {
    prop::collection::vec(prop::collection::vec(0u32..3, width), 1..most).prop_map(distinct)
}

fn unlimited(width: usize) -> Prices {
    Prices { of_column: vec![1.0; width], most: vec![u64::MAX; width] }
}

/// Counts the records that match a point with these missing columns by comparing all.
fn twin(table: &Table, missing: &[Columns], point: usize, own: Columns) -> u64 {
    let agrees = |other: usize| {
        let of_other = if other == point { own } else { missing[other] };
        let skipped = own | of_other;
        let (a, b) = (&table[point].0, &table[other].0);
        (0..a.len()).all(|column| skipped >> column & 1 == 1 || a[column] == b[column])
    };
    (0..table.len()).filter(|&other| agrees(other)).map(|other| table[other].1).sum()
}

fn cells(table: &Table, missing: &[Columns]) -> u64 {
    table
        .iter()
        .zip(missing)
        .map(|((_, records), columns)| records * u64::from(columns.count_ones()))
        .sum()
}

/// Returns the least number of missing cells with which every record matches `k` and every rare one
/// has a missing cell, by trying all choices.
fn fewest(table: &Table, k: u64) -> u64 {
    let width = table[0].0.len();
    let rare: Vec<usize> = (0..table.len()).filter(|&point| table[point].1 < k).collect();
    let sets = (1u64 << width) - 1;
    let mut best = u64::MAX;
    let mut choice = vec![1u64; rare.len()];
    loop {
        let mut missing = vec![0; table.len()];
        rare.iter().zip(&choice).for_each(|(&point, &columns)| missing[point] = columns);
        if cells(table, &missing) < best
            && (0..table.len()).all(|point| twin(table, &missing, point, missing[point]) >= k)
        {
            best = cells(table, &missing);
        }
        let Some(next) = choice.iter().position(|&columns| columns < sets) else { return best };
        choice[..next].fill(1);
        choice[next] += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn matches_are_counted_as_by_comparing_all(
        table in records(40, 4),
        k in 2u64..6,
        changes in prop::collection::vec((0usize..40, 1u64..16), 0..30),
    ) {
        if table.iter().map(|point| point.1).sum::<u64>() >= k {
            let points = Points::of(4, &table);
            let prices = unlimited(4);
            let mut missing = initial_missing(&points, k, &prices).unwrap();
            let mut matches = Matches::new(&points, k, missing.clone());
            for (at, columns) in changes {
                if matches.rare.is_empty() {
                    break;
                }
                let point = matches.rare[at % matches.rare.len()];
                let expected = twin(&table, &missing, point as usize, columns);
                prop_assert_eq!(matches.count(point, columns), expected);
                let mut changed = missing.clone();
                changed[point as usize] = columns;
                let sound = (0..table.len()).all(|p| twin(&table, &changed, p, changed[p]) >= k);
                prop_assert_eq!(matches.change(point, columns), sound);
                if sound {
                    missing = changed;
                }
            }
        }
    }

    #[test]
    fn all_records_match_enough_and_rare_ones_have_a_missing_cell(
        table in records(60, 4),
        k in 2u64..8,
    ) {
        if table.iter().map(|point| point.1).sum::<u64>() >= k {
            let points = Points::of(4, &table);
            let prices = unlimited(4);
            let initial = initial_missing(&points, k, &prices).unwrap();
            let mut matches = Matches::new(&points, k, initial.clone());
            improve(&mut matches, &prices);
            let missing: Vec<Columns> =
                (0..table.len() as u32).map(|point| matches.missing(point)).collect();
            for point in 0..table.len() {
                prop_assert!(twin(&table, &missing, point, missing[point]) >= k);
                prop_assert_eq!(missing[point] == 0, table[point].1 >= k);
            }
            prop_assert!(cells(&table, &missing) <= cells(&table, &initial));
        }
    }
}

#[test]
fn limits_are_respected() {
    // The tables with missing cells, and those for which the limits are too low.
    let (changed, refused) = (Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    proptest!(ProptestConfig::with_cases(150), |(
        table in records(50, 3),
        k in 2u64..5,
        most in prop::collection::vec(0u64..20, 3),
    )| {
        let points = Points::of(3, &table);
        let prices = Prices { of_column: vec![1.0, 2.0, 1.5], most: most.clone() };
        let sizes = || table.iter().map(|point| point.1);
        let rare: u64 = sizes().filter(|&records| records < k).sum();
        let initial = match initial_missing(&points, k, &prices) {
            Ok(initial) => initial,
            Err(without) => {
                // Only records of rare points can remain, and only if a limit is too low for them
                // or the table has fewer than k records.
                prop_assert!(0 < without && without <= rare, "{} of {}", without, rare);
                let is_limited = most.iter().any(|&most| most < rare);
                prop_assert!(is_limited || sizes().sum::<u64>() < k);
                count(&refused);
                return Ok(());
            }
        };
        let mut matches = Matches::new(&points, k, initial);
        improve(&mut matches, &prices);
        let missing: Vec<Columns> =
            (0..table.len() as u32).map(|point| matches.missing(point)).collect();
        for (column, most) in most.into_iter().enumerate() {
            let is_missing = |p: &usize| missing[*p] >> column & 1 == 1;
            let of_column = (0..table.len()).filter(is_missing);
            prop_assert!(of_column.map(|p| table[p].1).sum::<u64>() <= most);
        }
        for point in 0..table.len() {
            prop_assert!(twin(&table, &missing, point, missing[point]) >= k);
        }
        if rare > 0 {
            count(&changed);
        }
    });
    // About half of the tables each.
    assert!(changed.get() >= 20 && refused.get() >= 10, "{changed:?} {refused:?}");
}

/// Compares the search with the optimum of small tables, in total.
#[test]
fn the_search_is_near_the_fewest_cells() {
    let (mut found, mut least) = (0, 0);
    let mut state = 7u64;
    let mut draw = |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..60 {
        let records = (0..6).map(|_| (0..3).map(|_| draw(3) as u32).collect()).collect();
        let table = distinct(records);
        let k = 2 + draw(2);
        let points = Points::of(3, &table);
        let prices = unlimited(3);
        let mut matches = Matches::new(&points, k, initial_missing(&points, k, &prices).unwrap());
        improve(&mut matches, &prices);
        let missing: Vec<Columns> =
            (0..table.len() as u32).map(|point| matches.missing(point)).collect();
        let best = fewest(&table, k);
        assert!(cells(&table, &missing) >= best, "the optimum is the least");
        found += cells(&table, &missing);
        least += best;
    }
    assert!(found * 100 <= least * 115, "{found} cells, the optimum is {least}");
}
