//! A file that changes between fold and apply gives no release.

use std::path::Path;

use crate::common::{Cell, Style, parquet, text, write};
use crate::people::{Ask, NAMES, people, release_after};
use incrowd_core::{Error, Fault};
use incrowd_engine::Order;

const CARRIED: Ask = Ask { carry: true, order: Order::Shuffled, drop: true };

fn refused(before: &[Vec<Cell>], after: &[Vec<Cell>]) -> Error {
    let dir = tempfile::tempdir().unwrap();
    let input = write(dir.path(), "in.csv", &text(&NAMES, before, &Style::PLAIN));
    let target = write(dir.path(), "r.csv", b"old");
    let change = || std::fs::write(&input, text(&NAMES, after, &Style::PLAIN)).unwrap();
    let error = release_after(&input, &target, CARRIED, change).unwrap_err();
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");
    error
}

fn changed(mut people: Vec<Vec<Cell>>, column: usize, to: &str) -> Vec<Vec<Cell>> {
    people[17][column] = Some(to.to_owned());
    people
}

#[test]
fn a_value_that_was_not_there_is_told_with_its_record() {
    let before = changed(people(60, 1), 1, "5");
    for (column, to) in [(1, "222"), (2, "Atlantis"), (3, "plague")] {
        let error = refused(&before, &changed(before.clone(), column, to));
        assert_eq!(error.fault(), Fault::Input, "{error}");
        assert!(error.message().starts_with("record 18 "), "{error}");
        assert!(error.message().contains("changed"), "{error}");
        assert!(!error.message().contains(to), "{error}");
    }
}

/// Whoever changes the file is not incrowd.
#[test]
fn records_that_came_or_went_are_the_fault_of_the_input() {
    let whole: Vec<_> = (0..30).flat_map(|_| changed(people(60, 1), 1, "5")).collect();
    let mut fewer = whole.clone();
    fewer.truncate(whole.len() - 60);
    for (before, after) in [(&whole, &fewer), (&fewer, &whole)] {
        let error = refused(before, after);
        assert_eq!(error.fault(), Fault::Input, "{error}");
    }
}

#[test]
fn a_file_that_is_gone_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let input = write(dir.path(), "in.csv", &text(&NAMES, &people(60, 1), &Style::PLAIN));
    let gone = |input: &Path| std::fs::remove_file(input).unwrap();
    let error = release_after(&input, &dir.path().join("r.csv"), CARRIED, || gone(&input)).unwrap_err();
    assert!(error.message().contains("there is no file"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_parquet_file_replaced_by_another_gives_no_release() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in.parquet");
    parquet(&input, &NAMES, &people(60, 1));
    let change = || parquet(&input, &NAMES, &changed(people(400, 2), 2, "Atlantis"));
    let error = release_after(&input, &dir.path().join("r.csv"), CARRIED, change).unwrap_err();
    assert_ne!(error.fault(), Fault::Bug, "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
