//! `incrowd demo`: the whole way on people who do not exist.

use crate::room::Room;

const FILES: [&str; 5] =
    ["hierarchies", "job.toml", "people.csv", "people.release.csv", "people.release.json"];

#[test]
fn the_tour_ends_with_a_release_that_verifies() {
    for (table, quasi) in [("census", "zip"), ("skewed", "income")] {
        let room = Room::new();
        let done = room.does(&format!("demo --rows 400 -k 4 --table {table}"));
        assert_eq!(done.stderr, "", "{done}");
        done.prints(&[
            "400 people who do not exist",
            "risk",
            "k-anonymity(k=4)   holds",
            "before",
            "after",
            quasi,
        ]);
        let top: Vec<String> = std::fs::read_dir(room.path().join("incrowd-demo"))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(FILES.iter().all(|f| top.iter().any(|t| t == f)) && top.len() == FILES.len(), "{top:?}");
        room.does("verify incrowd-demo/people.release.csv")
            .prints(&["k-anonymity(k=4)   holds", "digest   matches"]);
    }
}

#[test]
fn what_the_tour_suggests_works() {
    let room = Room::new();
    let done = room.does("demo --rows 300 -k 3");
    let mut suggested = 0;
    for line in done.stdout.lines().filter_map(|l| l.strip_prefix("  incrowd ")) {
        room.does(line);
        suggested += 1;
    }
    assert_eq!(suggested, 3);
}

#[test]
fn the_files_can_be_made_without_the_tour() {
    let room = Room::new();
    let done = room.does("demo --rows 250 --data-only --dir d");
    done.prints(&["wrote    d/people.csv   250 people", "next     incrowd anonymize d/job.toml"]);
    assert_eq!(room.records("d/people.csv").len(), 250);
    assert!(!room.names().contains(&"d/people.release.csv".to_owned()));
    room.does("anonymize d/job.toml");
    room.does("verify d/people.release.csv");
    for name in room.names().iter().filter(|n| n.starts_with("d/hierarchies/")) {
        room.does(&format!("hierarchy lint {name}")).prints(&["0 errors, 0 warnings"]);
    }
}

#[test]
fn the_same_seed_makes_the_same_people() {
    let room = Room::new();
    for (dir, seed) in [("one", 7), ("same", 7), ("other", 8)] {
        room.does(&format!("demo --rows 500 --data-only --dir {dir} --seed {seed}"));
    }
    assert!(room.bytes("one/people.csv") == room.bytes("same/people.csv"));
    assert!(room.bytes("one/people.csv") != room.bytes("other/people.csv"));
}

#[test]
fn the_tour_can_be_taken_again() {
    let room = Room::new();
    room.does("demo --rows 200 -k 3 --dir d");
    room.does("demo --rows 300 -k 5 --dir d --seed 2");
    assert_eq!(room.records("d/people.csv").len(), 300);
    room.does("verify d/people.release.csv").prints(&["k-anonymity(k=5)   holds"]);
}

#[test]
fn a_directory_with_other_files_is_left_alone() {
    let room = Room::new();
    room.write("mine/thesis.txt", "years of work\n");
    let says = &["`mine` holds files that are not the demo's", "--dir"];
    room.refuses("demo --rows 50 --dir mine").exits(2).says(says);
    room.refuses("demo --rows 50 --dir .").exits(2).says(&["not the demo's"]);
}

#[test]
fn a_file_is_no_directory() {
    let room = Room::with_people();
    room.refuses("demo --rows 50 --dir people.csv").exits(2).says(&["cannot write `people.csv/hierarchies`"]);
}

#[test]
fn a_table_it_cannot_make_comes_with_the_near_miss() {
    let room = Room::new();
    room.refuses("demo --table skewd")
        .exits(2)
        .says(&["there is no table `skewd`", "did you mean `skewed`?"]);
    room.refuses("demo --rows 0").exits(2).says(&["--rows"]);
}

#[test]
fn a_crowd_too_large_for_the_people_cannot_be_kept() {
    let room = Room::new();
    let done = room.run("demo --rows 100 -k 101 --dir d").exits(1);
    assert!(done.stderr.contains("k-anonymity(k=101) cannot be kept"), "{done}");
    assert!(!room.names().contains(&"d/people.release.csv".to_owned()));
}

#[test]
fn people_of_somebody_else_are_left_alone() {
    let room = Room::new();
    room.write("mine/people.csv", crate::room::PEOPLE);
    let says = &["`mine` holds files that are not the demo's", "--dir"];
    room.refuses("demo --rows 50 --dir mine").exits(2).says(says);
    // A job file alone does not make a directory the demo's.
    room.write("mine/job.toml", "[input]\npath = \"people.csv\"\n");
    room.refuses("demo --rows 50 --data-only --dir mine").exits(2).says(says);
    room.write("one/people.release.csv", "years of work\n");
    room.refuses("demo --rows 50 --dir one").exits(2).says(&["`one` holds files that are not the demo's"]);
}

#[test]
fn a_crowd_of_nobody_is_refused_before_anything_is_made() {
    let room = Room::new();
    for k in ["0", "-1"] {
        room.refuses(&format!("demo --rows 50 -k={k} --dir d")).exits(2).says(&["-k"]);
        room.refuses(&format!("demo --rows 50 -k={k} --dir d --data-only")).exits(2).says(&["-k"]);
    }
    assert_eq!(room.names(), [""; 0]);
}
