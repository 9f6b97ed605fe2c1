//! Applying a plan: every record is published once as the plan says, or suppressed, in every format.

use std::path::Path;

use crate::common::{Cell, Style, arrow, parquet, text, write};
use crate::people::{Ask, NAMES, expected, people, release};
use crate::read_back::{read, sorted};
use incrowd_engine::Order;
use proptest::prelude::*;

const TARGETS: [&str; 7] = ["r.csv", "r.csv.gz", "r.csv.zst", "r.tsv", "r.tsv.gz", "r.parquet", "r.arrow"];

fn is_typed(name: &str) -> bool {
    name.ends_with("parquet") || name.ends_with("arrow")
}

fn check(input: &Path, people: &[Vec<Cell>], target: &Path, ask: Ask) {
    let name = target.file_name().unwrap().to_str().unwrap();
    let receipt = release(input, target, ask);
    let (rows, suppressed) = expected(people, ask, is_typed(name));
    assert_eq!((receipt.published, receipt.suppressed), (rows.len() as u64, suppressed), "{name} {ask:?}");
    let (header, records) = read(target);
    let columns: &[&str] = if ask.carry { &NAMES } else { &NAMES[1..4] };
    assert_eq!(header, columns);
    // No cell is shown if this fails.
    assert!(sorted(records) == sorted(rows), "{name} {ask:?}: other records than expected");
}

fn asks() -> impl Iterator<Item = Ask> {
    let orders = [Order::Sorted, Order::Shuffled];
    orders.into_iter().flat_map(|order| {
        [(false, true), (true, true), (true, false), (false, false)].map(|(carry, drop)| Ask {
            carry,
            order,
            drop,
        })
    })
}

/// Text has no nulls, so what a text table says of a note is at least empty.
fn without_nulls(people: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    people.iter().map(|p| p.iter().map(|c| Some(c.clone().unwrap_or_default())).collect()).collect()
}

#[test]
fn every_format_holds_the_expected_records_with_and_without_carried_columns() {
    let dir = tempfile::tempdir().unwrap();
    let people = people(300, 5);
    let from_text = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
    let (from_parquet, from_arrow) = (dir.path().join("in.parquet"), dir.path().join("in.arrow"));
    parquet(&from_parquet, &NAMES, &people);
    arrow(&from_arrow, &NAMES, &people);
    for target in TARGETS {
        for ask in asks() {
            check(&from_text, &without_nulls(&people), &dir.path().join(target), ask);
            check(&from_parquet, &people, &dir.path().join(target), ask);
        }
        check(&from_arrow, &people, &dir.path().join(target), asks().nth(1).unwrap());
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), TARGETS.len() + 3, "nothing else is left behind");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn records_in_are_records_out_plus_suppressed(
        count in 1u64..80, seed in any::<u64>(), which in 0usize..8, target in prop::sample::select(TARGETS.to_vec()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut people = without_nulls(&people(count, seed));
        // Somebody must be left when those with missing values are dropped, or there is nothing to encode.
        people[0][1..4].clone_from_slice(&["7", "Rome", "flu"].map(|c| Some(c.to_owned())));
        let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
        check(&input, &people, &dir.path().join(target), asks().nth(which).unwrap());
    }
}

#[test]
fn a_table_of_many_blocks_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let people = without_nulls(&people(90_000, 3));
    let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
    for ask in asks().filter(|ask| ask.drop) {
        check(&input, &people, &dir.path().join("r.csv"), ask);
    }
    check(&input, &people, &dir.path().join("r.parquet"), asks().nth(1).unwrap());
}
