//! `--json`: the result and nothing else, before or after the command.

use crate::room::Room;

#[test]
fn every_command_that_measures_or_lists_speaks_json() {
    let room = Room::with_people();
    room.write("age.csv", "19;15-19;*\n20;15-19;*\n");
    let asked = "anonymize people.csv --quasi age,zip -k 2 -o r.csv --algorithm mondrian";
    assert_eq!(room.does(&format!("{asked} --json")).json(), room.json("r.release.json"));
    assert_eq!(room.does(&format!("--json {asked}")).json(), room.json("r.release.json"));
    for (typed, key) in [
        ("verify r.csv", "/models/0/margin"),
        ("measure people.csv r.csv", "/metrics/ncp_by_column/age"),
        ("hierarchy lint age.csv", "/findings/0/line"),
        ("hierarchy show age.csv", "/children/0/children/1"),
        ("explain k-anonymity", "/parameters/0/name"),
        ("explain", "/0/name"),
        ("demo --rows 300 --dir d", "/records/published"),
    ] {
        let answer = room.does(&format!("{typed} --json")).json();
        assert!(answer.pointer(key).is_some_and(|v| !v.is_null()), "{typed}: no {key} in {answer:#}");
    }
}

#[test]
fn what_is_refused_has_no_json() {
    let room = Room::with_old_release();
    room.refuses("anonymize people.csv --quasi agee -k 2 -o out.csv --json").exits(2);
    room.refuses("anonymize people.csv --quasi age -k 99 -o out.csv --json").exits(1);
    room.refuses("explain k-anonimity --json").exits(2);
}

#[test]
fn the_answer_of_verify_is_the_same_in_both_forms() {
    let room = Room::with_people();
    room.does("anonymize people.csv --quasi age,zip -k 2 -o r.csv");
    let answer = room.does("verify r.csv --json").json();
    let (records, groups) = (&answer["records"], &answer["groups"]);
    room.does("verify r.csv").prints(&[&format!("{records} records in {groups} group")]);
    assert_eq!(answer["digest"], room.json("r.release.json")["digest"]);
}

#[test]
fn what_is_made_is_told_as_json_too() {
    let room = Room::with_people();
    let built = room.does("hierarchy build people.csv zip --kind mask --json").json();
    assert_eq!(built["label"], "*");
    let written = room.does("hierarchy build people.csv zip --kind mask -o zip.csv --json").json();
    assert_eq!(written, built);
    assert_eq!(room.does("hierarchy show zip.csv --json").json(), built);
    let made = room.does("demo --rows 50 --data-only --dir d --json").json();
    assert_eq!((&made["rows"], &made["table"]), (&50.into(), &"d/people.csv".into()));
    room.does(&format!("anonymize {}", made["job"].as_str().unwrap()));
}
