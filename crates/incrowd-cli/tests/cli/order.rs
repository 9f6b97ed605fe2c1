//! The order of the records carries nothing from the input to the release.

use crate::room::Room;

/// A table of made-up people, and the same with its records the other way round.
fn room(rows: u32) -> Room {
    let room = Room::new();
    room.does(&format!("demo --data-only --rows {rows} --dir d"));
    let text = room.text("d/people.csv");
    let (header, records) = text.split_once('\n').unwrap();
    let reversed: Vec<&str> = records.lines().rev().collect();
    room.write("d/reversed.csv", format!("{header}\n{}\n", reversed.join("\n")));
    room
}

#[test]
fn sorted_releases_do_not_depend_on_the_order_of_the_input() {
    let room = room(3000);
    for flags in ["", "--passthrough income,hours", "--set cut=relaxed"] {
        for input in ["people", "reversed"] {
            room.does(&format!("anonymize d/job.toml d/{input}.csv --order sorted -o {input}.csv {flags}"));
        }
        assert!(room.bytes("people.csv") == room.bytes("reversed.csv"), "differ with {flags}");
        assert!(room.records("people.csv").len() > 2500);
        let (mut one, mut other) = (room.json("people.release.json"), room.json("reversed.release.json"));
        assert_eq!(
            (one["release"].take(), other["release"].take()),
            ("people.csv".into(), "reversed.csv".into())
        );
        // It is of the name too.
        assert_ne!(one["manifest_digest"].take(), other["manifest_digest"].take());
        assert_eq!(one, other, "{flags}");
    }
}

#[test]
fn sorted_releases_do_not_depend_on_what_was_generalized_away() {
    let room = Room::new();
    let marks = ["ape", "bee", "cow", "dog", "elk", "fox", "gnu", "hen"];
    let table = |age: fn(usize) -> usize| {
        let records = marks.iter().enumerate().map(|(i, mark)| format!("{},{mark}\n", age(i)));
        format!("age,mark\n{}", records.collect::<String>())
    };
    room.write("up.csv", table(|i| 1 + i));
    room.write("down.csv", table(|i| 8 - i));
    room.write("mixed.csv", table(|i| 1 + i * 5 % 8));
    for role in ["passthrough", "sensitive"] {
        for input in ["up", "down", "mixed"] {
            let typed = format!("anonymize {input}.csv --quasi age --{role} mark -k 8 --order sorted");
            room.does(&format!("{typed} -o r-{input}.csv"));
        }
        assert_eq!(room.text("r-up.csv"), room.text("r-down.csv"), "{role}");
        assert_eq!(room.text("r-up.csv"), room.text("r-mixed.csv"), "{role}");
        assert!(room.text("r-up.csv").contains("[1, 8]"));
    }
}

#[test]
fn sorted_releases_are_sorted_by_their_groups() {
    let room = room(1000);
    room.does("anonymize d/job.toml --order sorted -o r.csv");
    let mut groups: Vec<String> = Vec::new();
    for record in csv::Reader::from_path(room.path().join("r.csv")).unwrap().records() {
        let record = record.unwrap();
        // All but occupation and disease are quasi-identifiers.
        let group: Vec<&str> = (0..9).filter(|&i| i != 6).map(|i| &record[i]).collect();
        let group = group.join("|");
        if groups.last() != Some(&group) {
            groups.push(group);
        }
    }
    let runs = groups.len();
    groups.sort();
    groups.dedup();
    assert_eq!(groups.len(), runs, "a group is published in one piece");
    assert_eq!(room.json("r.release.json")["groups"], runs);
}

#[test]
fn shuffled_releases_differ_in_nothing_but_the_order() {
    let room = room(1000);
    for (input, flags) in [("people", ""), ("reversed", "--passthrough income")] {
        room.does(&format!("anonymize d/job.toml d/{input}.csv -o one.csv {flags}"));
        room.does(&format!("anonymize d/job.toml d/{input}.csv -o other.csv {flags}"));
        assert_ne!(room.text("one.csv"), room.text("other.csv"), "two shuffles of 1000 records are alike");
        assert_eq!(room.records("one.csv"), room.records("other.csv"));
    }
}
