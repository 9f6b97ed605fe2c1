//! Applying a plan: every record is published once according to the plan, or suppressed, in every
//! format.

use std::path::Path;

use crate::common::{Cell, Style, arrow, parquet, text, write};
use crate::people::{Ask, NAMES, expected, people, release, release_with};
use crate::read_back::{read, sorted};
use incrowd_engine::{Embedded, Options, Order};
use proptest::prelude::*;

const TARGETS: [&str; 7] =
    ["r.csv", "r.csv.gz", "r.csv.zst", "r.tsv", "r.tsv.gz", "r.parquet", "r.arrow"];

fn is_typed(name: &str) -> bool {
    name.ends_with("parquet") || name.ends_with("arrow")
}

fn check(input: &Path, people: &[Vec<Cell>], target: &Path, ask: Ask) {
    let name = target.file_name().unwrap().to_str().unwrap();
    let receipt = release(input, target, ask);
    let (rows, suppressed) = expected(people, ask, is_typed(name));
    assert_eq!(
        (receipt.published, receipt.suppressed),
        (rows.len() as u64, suppressed),
        "{name} {ask:?}"
    );
    let (header, records) = read(target);
    let columns: &[&str] = if ask.carry { &NAMES } else { &NAMES[1..4] };
    assert_eq!(header, columns);
    // `assert!` instead of `assert_eq!`, so that a failure shows no cell.
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

/// Text has no nulls, so missing notes become empty texts.
fn without_nulls(people: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    people.iter().map(|p| p.iter().map(|c| Some(c.clone().unwrap_or_default())).collect()).collect()
}

#[test]
fn every_format_has_the_expected_records_with_and_without_passthrough_columns() {
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
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    })]

    #[test]
    fn every_record_is_published_or_suppressed(
        count in 1u64..80,
        seed in any::<u64>(),
        which in 0usize..8,
        target in prop::sample::select(TARGETS.to_vec()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut people = without_nulls(&people(count, seed));
        // At least one record must remain after records with missing values are dropped.
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

/// Cells that do not fit into memory are spilled to a file. The release is the same.
#[test]
fn passthrough_cells_may_be_spilled() {
    let dir = tempfile::tempdir().unwrap();
    let people = without_nulls(&people(900, 5));
    let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
    for (target, order) in [
        ("r.csv", Order::Shuffled),
        ("s.csv", Order::Sorted),
        ("r.parquet", Order::Shuffled),
        ("s.arrow", Order::Sorted),
    ] {
        let ask = Ask { carry: true, order, drop: true };
        let target = dir.path().join(target);
        let engine = Embedded::open(std::slice::from_ref(&input), &Options::default()).unwrap();
        release_with(engine.with_memory(1000), &target, ask, || {}).unwrap();
        let name = target.file_name().unwrap().to_str().unwrap();
        let (rows, _) = expected(&people, ask, is_typed(name));
        let spilled = read(&target).1;
        if order == Order::Sorted {
            let other = dir.path().join(format!("other-{name}"));
            release(&input, &other, ask);
            assert!(spilled == read(&other).1, "{name}: another order");
        }
        assert!(sorted(spilled) == sorted(rows), "{name}: other records than expected");
    }
}

/// The dictionaries of a Parquet file contain no passthrough value of a suppressed record.
#[test]
fn dictionaries_contain_published_values_only() {
    use parquet::column::page::Page;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let dir = tempfile::tempdir().unwrap();
    let people = without_nulls(&people(900, 5));
    let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
    let target = dir.path().join("r.parquet");
    let ask = Ask { carry: true, order: Order::Shuffled, drop: true };
    release(&input, &target, ask);
    let (rows, suppressed) = expected(&people, ask, true);
    let published: std::collections::BTreeSet<Cell> =
        rows.iter().map(|row| row[0].clone()).collect();
    let hidden: Vec<&str> = people
        .iter()
        .filter(|person| !published.contains(&person[0]))
        .filter_map(|person| person[0].as_deref())
        .collect();
    assert!(suppressed > 0 && hidden.len() as u64 >= suppressed);
    let file = SerializedFileReader::new(std::fs::File::open(&target).unwrap()).unwrap();
    let mut dictionaries = 0;
    for group in 0..file.num_row_groups() {
        let mut pages = file.get_row_group(group).unwrap().get_column_page_reader(0).unwrap();
        while let Some(page) = pages.get_next_page().unwrap() {
            let Page::DictionaryPage { buf, .. } = page else { continue };
            dictionaries += 1;
            // Every text follows its length in four bytes.
            let mut rest: &[u8] = &buf;
            while let Some((length, after)) = rest.split_first_chunk::<4>() {
                let (text, after) = after.split_at(u32::from_le_bytes(*length) as usize);
                assert!(!hidden.iter().any(|id| id.as_bytes() == text), "a suppressed value");
                rest = after;
            }
        }
    }
    assert!(dictionaries > 0);
}
