//! The input is read once. Changes of the file after the fold do not change the release.

use std::path::Path;

use crate::common::{Cell, Style, parquet, text, write};
use crate::people::{Ask, NAMES, expected, people, release_after};
use crate::read_back::{read, sorted};
use incrowd_engine::Order;

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
