//! `--json` prints only the result, before or after the command.

use crate::test_dir::TestDir;

#[test]
fn every_command_with_results_has_json() {
    let test = TestDir::with_people();
    test.write("age.csv", "19;15-19;*\n20;15-19;*\n");
    let asked = "anonymize people.csv --quasi age,zip -k 2 -o r.csv --algorithm mondrian";
    assert_eq!(test.succeeds(&format!("{asked} --json")).json(), test.json("r.release.json"));
    assert_eq!(test.succeeds(&format!("--json {asked}")).json(), test.json("r.release.json"));
    for (args, key) in [
        ("verify r.csv", "/models/0/margin"),
        ("measure people.csv r.csv", "/metrics/ncp_by_column/age"),
        ("hierarchy lint age.csv", "/findings/0/line"),
        ("hierarchy show age.csv", "/children/0/children/1"),
        ("explain k-anonymity", "/parameters/0/name"),
        ("explain", "/0/name"),
        ("demo --rows 300 --dir d", "/records/published"),
    ] {
        let answer = test.succeeds(&format!("{args} --json")).json();
        assert!(
            answer.pointer(key).is_some_and(|v| !v.is_null()),
            "{args}: no {key} in {answer:#}"
        );
    }
}

#[test]
fn errors_have_no_json() {
    let test = TestDir::with_old_release();
    test.refuses("anonymize people.csv --quasi agee -k 2 -o out.csv --json").exits(2);
    test.refuses("anonymize people.csv --quasi age -k 99 -o out.csv --json").exits(1);
    test.refuses("explain k-anonimity --json").exits(2);
}

#[test]
fn verify_gives_the_same_answer_as_text_and_json() {
    let test = TestDir::with_people();
    test.succeeds("anonymize people.csv --quasi age,zip -k 2 -o r.csv");
    let answer = test.succeeds("verify r.csv --json").json();
    let (records, groups) = (&answer["records"], &answer["groups"]);
    test.succeeds("verify r.csv").prints(&[&format!("{records} records in {groups} group")]);
    assert_eq!(answer["digest"], test.json("r.release.json")["digest"]);
}

#[test]
fn written_files_are_reported_as_json() {
    let test = TestDir::with_people();
    let built = test.succeeds("hierarchy build people.csv zip --kind mask --json").json();
    assert_eq!(built["label"], "*");
    let written =
        test.succeeds("hierarchy build people.csv zip --kind mask -o zip.csv --json").json();
    assert_eq!(written, built);
    assert_eq!(test.succeeds("hierarchy show zip.csv --json").json(), built);
    let made = test.succeeds("demo --rows 50 --data-only --dir d --json").json();
    assert_eq!((&made["rows"], &made["table"]), (&50.into(), &"d/people.csv".into()));
    test.succeeds(&format!("anonymize {}", made["job"].as_str().unwrap()));
}
