//! The input is read once. Changes of the file after the fold do not change the release.

use std::path::Path;

use crate::common::{Cell, Style, parquet, text, write};
use crate::people::{Ask, NAMES, expected, people, release_after};
use crate::read_back::{read, sorted};
use incrowd_core::{Fault, Silent};
use incrowd_engine::{FoldSpec, Options, Order, Source};

const PASSING: Ask = Ask { carry: true, order: Order::Sorted, drop: true };

/// The release of these people if `change` modifies their file after the fold.
fn released(name: &str, people: &[Vec<Cell>], change: impl FnOnce(&Path)) -> Vec<Vec<Cell>> {
    let dir = tempfile::tempdir().unwrap();
    let (input, target) = (dir.path().join(name), dir.path().join("r.csv"));
    match name {
        "in.parquet" => parquet(&input, &NAMES, people),
        _ => drop(write(dir.path(), name, &text(&NAMES, people, &Style::PLAIN))),
    }
    release_after(&input, &target, PASSING, || change(&input)).unwrap();
    sorted(read(&target).1)
}

#[test]
fn a_file_may_change_after_it_was_read() {
    let people = people(60, 1);
    let mut other = people.clone();
    other[17][1] = Some("222".to_owned());
    other.truncate(40);
    let wanted = sorted(expected(&people, PASSING, false).0);
    for name in ["in.csv", "in.parquet"] {
        let changed = |input: &Path| match name {
            "in.parquet" => parquet(input, &NAMES, &other),
            _ => std::fs::write(input, text(&NAMES, &other, &Style::PLAIN)).unwrap(),
        };
        let gone = |input: &Path| std::fs::remove_file(input).unwrap();
        for release in [released(name, &people, changed), released(name, &people, gone)] {
            assert!(release == wanted, "{name}: other records than expected");
        }
    }
}

/// The positions of the columns are read before the records. In another file they belong to other
/// columns.
#[test]
fn a_file_that_changes_between_its_header_and_its_records_is_refused() {
    for name in ["in.csv", "in.parquet"] {
        for is_replaced in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let (input, other) = (dir.path().join(name), dir.path().join("other"));
            let write_table = |path: &Path, names: [&str; 2]| {
                let records = vec![vec![Some("1".to_owned()), Some("2".to_owned())]; 9];
                match name {
                    "in.parquet" => parquet(path, &names, &records),
                    _ => std::fs::write(path, text(&names, &records, &Style::PLAIN)).unwrap(),
                }
            };
            write_table(&input, ["id", "age"]);
            let source = Source::open(std::slice::from_ref(&input), &Options::default()).unwrap();
            // Some file systems have coarse modification times.
            std::thread::sleep(std::time::Duration::from_millis(20));
            match is_replaced {
                true => {
                    write_table(&other, ["age", "id"]);
                    std::fs::rename(&other, &input).unwrap();
                }
                false => write_table(&input, ["age", "id"]),
            }
            let spec = FoldSpec { columns: vec!["age".to_owned()], ..FoldSpec::default() };
            let located = source.locate("age", "1").unwrap_err();
            for error in [source.fold(&spec, &Silent).unwrap_err(), located] {
                assert!(error.fault() == Fault::Input);
                assert!(error.to_string().contains("changed while"));
            }
        }
    }
}
