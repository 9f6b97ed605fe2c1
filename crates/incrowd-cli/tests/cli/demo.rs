//! `incrowd demo`.

use crate::test_dir::TestDir;

const FILES: [&str; 5] =
    ["hierarchies", "job.toml", "people.csv", "people.release.csv", "people.release.json"];

#[test]
fn the_demo_ends_with_a_release_that_verifies() {
    for (table, quasi) in [("census", "zip"), ("skewed", "income")] {
        let test = TestDir::new();
        let done = test.succeeds(&format!("demo --rows 400 -k 4 --table {table}"));
        assert_eq!(done.stderr, "", "{done}");
        done.prints(&[
            "400 synthetic people",
            "risk",
            "k-anonymity(k=4)   holds",
            "before",
            "after",
            quasi,
        ]);
        let top: Vec<String> = std::fs::read_dir(test.path().join("incrowd-demo"))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(
            FILES.iter().all(|f| top.iter().any(|t| t == f)) && top.len() == FILES.len(),
            "{top:?}"
        );
        test.succeeds("verify incrowd-demo/people.release.csv")
            .prints(&["k-anonymity(k=4)   holds", "digest   matches"]);
    }
}

#[test]
fn the_suggested_commands_work() {
    let test = TestDir::new();
    let done = test.succeeds("demo --rows 300 -k 3");
    let mut suggested = 0;
    for line in done.stdout.lines().filter_map(|l| l.strip_prefix("  incrowd ")) {
        test.succeeds(line);
        suggested += 1;
    }
    assert_eq!(suggested, 3);
}

#[test]
fn the_files_can_be_written_without_a_release() {
    let test = TestDir::new();
    let done = test.succeeds("demo --rows 250 --data-only --dir d");
    done.prints(&["wrote    d/people.csv   250 people", "next     incrowd anonymize d/job.toml"]);
    assert_eq!(test.records("d/people.csv").len(), 250);
    assert!(!test.names().contains(&"d/people.release.csv".to_owned()));
    test.succeeds("anonymize d/job.toml");
    test.succeeds("verify d/people.release.csv");
    let mut names = test.names();
    names.retain(|name| name.starts_with("d/hierarchies/"));
    assert!(!names.is_empty());
    for name in names {
        test.succeeds(&format!("hierarchy lint {name}")).prints(&["0 errors, 0 warnings"]);
    }
}

#[test]
fn equal_seeds_give_equal_tables() {
    let test = TestDir::new();
    for (dir, seed) in [("one", 7), ("same", 7), ("other", 8)] {
        test.succeeds(&format!("demo --rows 500 --data-only --dir {dir} --seed {seed}"));
    }
    assert!(test.bytes("one/people.csv") == test.bytes("same/people.csv"));
    assert!(test.bytes("one/people.csv") != test.bytes("other/people.csv"));
}

#[test]
fn the_demo_can_be_repeated() {
    let test = TestDir::new();
    test.succeeds("demo --rows 200 -k 3 --dir d");
    test.succeeds("demo --rows 300 -k 5 --dir d --seed 2");
    assert_eq!(test.records("d/people.csv").len(), 300);
    test.succeeds("verify d/people.release.csv").prints(&["k-anonymity(k=5)   holds"]);
}

#[test]
fn a_directory_with_other_files_is_unchanged() {
    let test = TestDir::new();
    test.write("mine/thesis.txt", "years of work\n");
    let expected = &["`mine` contains files that the demo did not write", "--dir"];
    test.refuses("demo --rows 50 --dir mine").exits(2).reports(expected);
    test.refuses("demo --rows 50 --dir .").exits(2).reports(&["the demo did not write"]);
}

#[test]
fn a_file_is_not_a_directory() {
    let test = TestDir::with_people();
    test.refuses("demo --rows 50 --dir people.csv")
        .exits(2)
        .reports(&["cannot write `people.csv`"]);
}

#[test]
fn an_unknown_table_gives_a_suggestion() {
    let test = TestDir::new();
    test.refuses("demo --table skewd")
        .exits(2)
        .reports(&["there is no table `skewd`", "did you mean `skewed`?"]);
    test.refuses("demo --rows 0").exits(2).reports(&["--rows"]);
}

#[test]
fn k_larger_than_the_table_cannot_be_reached() {
    let test = TestDir::new();
    let done = test.run("demo --rows 100 -k 101 --dir d").exits(1);
    assert!(done.stderr.contains("k-anonymity(k=101) cannot be satisfied"), "{done}");
    assert!(!test.names().contains(&"d/people.release.csv".to_owned()));
}

#[test]
fn foreign_files_with_the_demo_names_are_unchanged() {
    let test = TestDir::new();
    test.write("mine/people.csv", crate::test_dir::PEOPLE);
    let expected = &["`mine` contains files that the demo did not write", "--dir"];
    test.refuses("demo --rows 50 --dir mine").exits(2).reports(expected);
    // A job file alone does not identify a directory of the demo.
    test.write("mine/job.toml", "[input]\npath = \"people.csv\"\n");
    test.refuses("demo --rows 50 --data-only --dir mine").exits(2).reports(expected);
    test.write("one/people.release.csv", "years of work\n");
    test.refuses("demo --rows 50 --dir one")
        .exits(2)
        .reports(&["`one` contains files that the demo did not write"]);
}

#[test]
fn k_below_one_is_refused_before_anything_is_written() {
    let test = TestDir::new();
    for k in ["0", "-1"] {
        test.refuses(&format!("demo --rows 50 -k={k} --dir d")).exits(2).reports(&["-k"]);
        test.refuses(&format!("demo --rows 50 -k={k} --dir d --data-only"))
            .exits(2)
            .reports(&["-k"]);
    }
    assert_eq!(test.names(), [""; 0]);
}

#[test]
fn files_that_were_changed_after_the_demo_are_unchanged() {
    for data_only in ["", "--data-only"] {
        let test = TestDir::new();
        let made = format!("demo --rows 200 -k 3 --dir d {data_only}");
        let again = format!("demo --rows 300 -k 4 --seed 2 --dir d {data_only}");
        for name in ["people.csv", "job.toml", "hierarchies/sex.csv"] {
            let name = format!("d/{name}");
            test.succeeds(&made);
            let before = test.text(&name);
            for changed in [format!("{before}more\n"), before.replacen('a', "b", 1), "x".to_owned()]
            {
                test.write(&name, &changed);
                test.refuses(&again).exits(2).reports(&["--dir"]);
                assert_eq!(test.text(&name), changed);
            }
            test.write(&name, &before);
        }
        // A killed demo leaves a part of the table.
        let people = test.text("d/people.csv");
        test.write("d/people.csv", &people[..people.len() / 2]);
        test.succeeds(&again);
    }
}

#[cfg(unix)]
#[test]
fn a_killed_demo_can_be_repeated() {
    let first = "demo --rows 50 -k 3 --data-only --dir d";
    let other = "demo --rows 60 -k 4 --seed 2 --table skewed --data-only --dir d";
    for again in [false, true] {
        let mut killed = 0;
        loop {
            let test = TestDir::new();
            if again {
                test.succeeds(first);
            }
            let fault = format!("kill:{}", killed + 1);
            let done = test.run_with(other, &[("INCROWD_FAULT", &fault)]);
            if done.code == 0 {
                break;
            }
            let done = done.exits(137);
            killed += 1;
            test.succeeds(if killed % 2 == 0 { first } else { other });
            assert!(
                test.names().iter().all(|name| !name.ends_with("-partial")),
                "{done}{:?}",
                test.names()
            );
        }
        assert!(killed > 10, "{killed}");
    }
}
