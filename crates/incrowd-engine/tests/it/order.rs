//! The order of a release is independent of the order of the input.

use std::path::Path;

use crate::common::{Cell, Style, dice, text, write};
use crate::people::{Ask, NAMES, people, release};
use crate::read_back::{read, sorted};
use incrowd_engine::Order;

const SORTED: Ask = Ask { carry: true, order: Order::Sorted, drop: false };
const SHUFFLED: Ask = Ask { carry: true, order: Order::Shuffled, drop: false };

fn bytes(dir: &Path, people: &[Vec<Cell>], target: &str, ask: Ask) -> Vec<u8> {
    let input = write(dir, "in.csv", &text(&NAMES, people, &Style::PLAIN));
    let target = dir.join(target);
    release(&input, &target, ask);
    std::fs::read(target).unwrap()
}

/// Each permutation is another test that the order of the input, the dictionaries and the threads
/// has no effect.
fn permuted(people: &[Vec<Cell>], seed: u64) -> Vec<Vec<Cell>> {
    let (mut people, mut roll) = (people.to_vec(), dice(seed));
    for i in (1..people.len()).rev() {
        people.swap(i, roll(i as u64 + 1) as usize);
    }
    people
}

#[test]
fn sorted_releases_are_the_same_bytes_whatever_the_input_order() {
    let dir = tempfile::tempdir().unwrap();
    let people = people(400, 1);
    for carry in [true, false] {
        for target in ["r.csv", "r.csv.gz", "r.tsv.zst", "r.parquet", "r.arrow"] {
            let ask = Ask { carry, ..SORTED };
            let first = bytes(dir.path(), &people, target, ask);
            assert!(
                first == bytes(dir.path(), &people, target, ask),
                "{target}: a second run differs"
            );
            for seed in 0..4 {
                let other = bytes(dir.path(), &permuted(&people, seed), target, ask);
                assert!(first == other, "{target}, carried: {carry}");
            }
        }
    }
}

#[test]
fn sorted_releases_of_many_chunks_are_the_same_bytes_whatever_the_input_order() {
    let dir = tempfile::tempdir().unwrap();
    let people = people(120_000, 2);
    let first = bytes(dir.path(), &people, "r.csv", SORTED);
    assert!(first == bytes(dir.path(), &permuted(&people, 9), "r.csv", SORTED));
}

#[test]
fn sorted_releases_are_sorted_by_their_cells_as_printed() {
    let dir = tempfile::tempdir().unwrap();
    for carry in [true, false] {
        bytes(dir.path(), &people(400, 8), "r.csv", Ask { carry, ..SORTED });
        let (header, records) = read(&dir.path().join("r.csv"));
        let at: Vec<usize> =
            ["age", "city"].iter().map(|n| header.iter().position(|h| h == n).unwrap()).collect();
        let keys: Vec<Vec<&Cell>> =
            records.iter().map(|r| at.iter().map(|&c| &r[c]).collect()).collect();
        assert!(keys.is_sorted());
    }
}

/// 400 records have 400! orders. The probability of the input order or the sorted order is
/// negligible.
#[test]
fn shuffled_releases_hold_the_same_records_in_another_order_every_time() {
    let dir = tempfile::tempdir().unwrap();
    let people = people(400, 4);
    let ids = |records: &[Vec<Cell>]| records.iter().map(|r| r[0].clone()).collect::<Vec<_>>();
    bytes(dir.path(), &people, "r.csv", SORTED);
    let (_, in_order) = read(&dir.path().join("r.csv"));
    let published = ids(&in_order);
    let input: Vec<Cell> = ids(&people).into_iter().filter(|id| published.contains(id)).collect();
    let mut seen = vec![published.clone(), input];
    for _ in 0..3 {
        bytes(dir.path(), &people, "r.csv", SHUFFLED);
        let (_, records) = read(&dir.path().join("r.csv"));
        assert!(sorted(records.clone()) == sorted(in_order.clone()));
        assert!(!seen.contains(&ids(&records)));
        seen.push(ids(&records));
    }
}

/// The position of the first input record is uniform over the release, with and without passthrough
/// columns. With 300 runs and two halves of equal size, the count in one half has mean 150 and
/// standard deviation 8.7. Six standard deviations are allowed.
#[test]
fn the_first_record_of_the_input_lands_anywhere() {
    const RUNS: usize = 300;
    const ALLOWED: std::ops::RangeInclusive<usize> = 98..=202;
    let dir = tempfile::tempdir().unwrap();
    let cell = |c: &str| Some(c.to_owned());
    let person = |i: usize| {
        vec![
            cell(&format!("p{i}")),
            cell("1"),
            cell("Rome"),
            cell(if i == 0 { "flu" } else { "cold" }),
            None,
        ]
    };
    let people: Vec<Vec<Cell>> = (0..20).map(person).collect();
    let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
    let target = dir.path().join("r.csv");
    for carry in [true, false] {
        let early = (0..RUNS).filter(|_| {
            release(&input, &target, Ask { carry, ..SHUFFLED });
            let (header, records) = read(&target);
            let disease = header.iter().position(|h| h == "disease").unwrap();
            records.iter().position(|r| r[disease].as_deref() == Some("flu")).unwrap() < 10
        });
        let early = early.count();
        assert!(ALLOWED.contains(&early), "{early} of {RUNS}, carried: {carry}");
    }
}
