//! The order of the released records reveals nothing about the order of the input.

use crate::test_dir::TestDir;

/// A synthetic table, and the same table with its records in reverse order.
fn setup(rows: u32) -> TestDir {
    let test = TestDir::new();
    test.succeeds(&format!("demo --data-only --rows {rows} --dir d"));
    let text = test.text("d/people.csv");
    let (header, records) = text.split_once('\n').unwrap();
    let reversed: Vec<&str> = records.lines().rev().collect();
    test.write("d/reversed.csv", format!("{header}\n{}\n", reversed.join("\n")));
    test
}

#[test]
fn sorted_releases_do_not_depend_on_the_order_of_the_input() {
    let test = setup(3000);
    for flags in ["", "--passthrough income,hours", "--algorithm mondrian --set cut=relaxed"] {
        for input in ["people", "reversed"] {
            test.succeeds(&format!(
                "anonymize d/job.toml d/{input}.csv --order sorted -o {input}.csv {flags}"
            ));
        }
        assert!(test.bytes("people.csv") == test.bytes("reversed.csv"), "differ with {flags}");
        assert!(test.records("people.csv").len() > 2500);
        let (mut one, mut other) =
            (test.json("people.release.json"), test.json("reversed.release.json"));
        assert_eq!(
            (one["release"].take(), other["release"].take()),
            ("people.csv".into(), "reversed.csv".into())
        );
        // The release does not depend on the file name either.
        assert_ne!(one["manifest_digest"].take(), other["manifest_digest"].take());
        assert_eq!(one, other, "{flags}");
    }
}

#[test]
fn sorted_releases_do_not_depend_on_generalized_values() {
    let test = TestDir::new();
    let marks = ["ape", "bee", "cow", "dog", "elk", "fox", "gnu", "hen"];
    let table = |age: fn(usize) -> usize| {
        let records = marks.iter().enumerate().map(|(i, mark)| format!("{},{mark}\n", age(i)));
        format!("age,mark\n{}", records.collect::<String>())
    };
    test.write("up.csv", table(|i| 1 + i));
    test.write("down.csv", table(|i| 8 - i));
    test.write("mixed.csv", table(|i| 1 + i * 5 % 8));
    for role in ["passthrough", "sensitive"] {
        for input in ["up", "down", "mixed"] {
            let args = format!(
                "anonymize {input}.csv --quasi age --{role} mark --unlinkable mark -k 8 --order sorted"
            );
            test.succeeds(&format!("{args} -o r-{input}.csv"));
        }
        assert_eq!(test.text("r-up.csv"), test.text("r-down.csv"), "{role}");
        assert_eq!(test.text("r-up.csv"), test.text("r-mixed.csv"), "{role}");
        assert!(test.text("r-up.csv").contains("[1, 8]"));
    }
}

#[test]
fn sorted_releases_are_sorted_by_their_groups() {
    let test = setup(1000);
    test.succeeds("anonymize d/job.toml --order sorted -o r.csv");
    let mut groups: Vec<String> = Vec::new();
    for record in csv::Reader::from_path(test.path().join("r.csv")).unwrap().records() {
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
    assert_eq!(test.json("r.release.json")["groups"], runs);
}

#[test]
fn shuffled_releases_differ_only_in_the_order() {
    let test = setup(1000);
    for (input, flags) in [("people", ""), ("reversed", "--passthrough income")] {
        test.succeeds(&format!("anonymize d/job.toml d/{input}.csv -o one.csv {flags}"));
        test.succeeds(&format!("anonymize d/job.toml d/{input}.csv -o other.csv {flags}"));
        assert_ne!(
            test.text("one.csv"),
            test.text("other.csv"),
            "two shuffles of 1000 records are alike"
        );
        assert_eq!(test.records("one.csv"), test.records("other.csv"));
    }
}
