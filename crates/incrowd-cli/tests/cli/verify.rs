//! `incrowd verify`: 0 the promise holds, 1 it does not, 2 nobody knows.

use crate::room::Room;

/// Three records with one vector, two with another.
const RELEASE: &str = "age,zip,disease\n1,A,flu\n1,A,cold\n1,A,flu\n2,B,none\n2,B,flu\n";

fn released() -> Room {
    let room = Room::with_people();
    room.does("anonymize people.csv --identifier name --quasi age,zip --sensitive disease -k 2 -o r.csv");
    room
}

#[test]
fn a_release_as_published_holds() {
    let done = released().does("verify r.csv");
    assert_eq!(done.stderr, "", "{done}");
    done.prints(&[
        "table    r.csv   8 records in",
        "k-anonymity(k=2)   holds",
        "digest   matches the manifest",
    ]);
}

#[test]
fn a_release_without_one_of_its_records_is_not_the_release() {
    let room = released();
    let text = room.text("r.csv");
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    room.write("r.csv", format!("{kept}\n"));
    room.run("verify r.csv").exits(1).prints(&["digest   DIFFERS from the manifest", "FAILS"]);
    let answer = room.run("verify r.csv --json").exits(1).json();
    assert_eq!((&answer["holds"], &answer["digest_matches"]), (&false.into(), &false.into()));
}

#[test]
fn the_digest_alone_is_reason_enough() {
    let room = released();
    let text = room.text("r.csv");
    let (header, records) = text.split_once('\n').unwrap();
    room.write("r.csv", format!("{header}\n{records}{records}"));
    let done = room.run("verify r.csv").exits(1);
    done.prints(&["16 records in", "k-anonymity(k=2)   holds", "digest   DIFFERS"]);
}

#[test]
fn a_table_that_does_not_keep_the_promise_fails() {
    let room = Room::new();
    room.write("t.csv", RELEASE);
    let done = room.run("verify t.csv --quasi age,zip -k 3").exits(1);
    done.prints(&[
        "5 records in 2 groups",
        "k-anonymity(k=3)   FAILS   smallest group 2, needs 3",
        "1 of 2 groups",
    ]);
    let answer = room.run("verify t.csv --quasi age,zip -k 3 --json").exits(1).json();
    assert_eq!((&answer["holds"], &answer["models"][0]["holds"]), (&false.into(), &false.into()));
    assert_eq!(answer["models"][0]["margin"], -1.0);
}

#[test]
fn flags_say_what_no_manifest_says() {
    let room = Room::new();
    room.write("t.csv", RELEASE);
    let done = room.does("verify t.csv --quasi age,zip -k 2");
    assert!(!done.stdout.contains("digest"), "{done}");
    done.prints(&["5 records in 2 groups", "k-anonymity(k=2)   holds   smallest group 2"]);
    assert!(room.does("verify t.csv --quasi age -k 2 --json").json()["digest_matches"].is_null());
}

#[test]
fn every_promise_must_hold() {
    let room = Room::new();
    room.write("t.csv", RELEASE);
    let done = room.run("verify t.csv --quasi age,zip -k 2 --model k-anonymity:k=3").exits(1);
    done.prints(&["k-anonymity(k=2)   holds", "k-anonymity(k=3)   FAILS"]);
}

#[test]
fn a_promise_that_is_typed_replaces_that_of_the_manifest() {
    let room = released();
    room.run("verify r.csv -k 8").exits(1).prints(&["k-anonymity(k=8)   FAILS", "digest   matches"]);
    room.does("verify r.csv -k 1").prints(&["k-anonymity(k=1)   holds"]);
}

#[test]
fn a_job_file_can_be_asked_instead_of_the_manifest() {
    let room = Room::new();
    room.write("t.csv", RELEASE);
    let job = "[columns]\nname = \"identifier\"\nage = \"quasi\"\nzip = \"quasi\"\n[[models]]\nname = \"k-anonymity\"\n";
    for (k, code) in [(2, 0), (3, 1)] {
        room.write("job.toml", format!("{job}k = {k}\n"));
        room.run("verify t.csv --job job.toml").exits(code);
    }
}

#[test]
fn an_identifier_that_is_published_fails() {
    let room = Room::new();
    room.write("t.csv", RELEASE);
    let done = room.run("verify t.csv --quasi age,zip --identifier disease -k 2").exits(1);
    done.prints(&["identifier `disease`   FAILS   it is published"]);
}

#[test]
fn missing_values_are_cells_like_any_other() {
    let room = Room::new();
    room.write("t.csv", "age,zip\n1,A\n1,A\n1,?\n1,\n");
    room.run("verify t.csv --quasi age,zip -k 2")
        .exits(1)
        .prints(&["4 records in 3 groups", "2 of 3 groups"]);
}

#[test]
fn what_cannot_be_judged_is_neither_good_nor_bad() {
    let room = Room::new();
    room.write("t.csv", RELEASE);
    room.write("header.csv", "age,zip\n");
    room.write("ragged.csv", "age,zip\n1,2\n1,S3CR3T,2\n");
    room.write("broken.json", "{");
    for (typed, says) in [
        ("nobody.csv --quasi age -k 2", "there is no file `nobody.csv`"),
        ("nobody.csv -k 2", "there is no file `nobody.csv`"),
        ("t.csv --quasi agee -k 2", "did you mean `age`?"),
        ("t.csv -k 2", "which columns are quasi-identifiers?"),
        ("t.csv --quasi age", "promises nothing"),
        ("t.csv --quasi age -k 0", "cannot be `0`"),
        ("header.csv --quasi age -k 2", "the table has no records"),
        ("ragged.csv --quasi age -k 2", "record 2 has 3 fields"),
        ("t.csv --manifest none.json", "the manifest `none.json` cannot be read"),
        ("t.csv --manifest broken.json", "the manifest `broken.json`: it is not a manifest of incrowd"),
    ] {
        room.refuses(&format!("verify {typed}")).exits(2).says(&[says]);
    }
}

#[test]
fn a_manifest_with_an_unknown_model_is_not_taken_for_a_promise() {
    let room = released();
    room.write("r.release.json", room.text("r.release.json").replace("k-anonymity", "z-anonymity"));
    room.refuses("verify r.csv").exits(2).says(&["a model `z-anonymity` this version does not know"]);
}

const SEMICOLONS: &str = r#"[input]
path = "people.ssv"
delimiter = ";"
[output]
path = "r.csv"
manifest = "of-r.json"
[columns]
age = "quasi"
zip = "quasi"
[[models]]
name = "k-anonymity"
k = 2
"#;

#[test]
fn how_the_original_is_read_says_nothing_of_the_release() {
    let room = Room::with_people();
    room.write("people.ssv", crate::room::PEOPLE.replace(',', ";"));
    room.write("job.toml", SEMICOLONS.replace("manifest = \"of-r.json\"\n", ""));
    room.does("anonymize job.toml");
    room.does("verify r.csv --job job.toml").prints(&["8 records in", "k-anonymity(k=2)   holds"]);
    std::fs::remove_file(room.path().join("r.release.json")).unwrap();
    let done = room.does("verify r.csv --job job.toml").prints(&["8 records in"]);
    assert!(!done.stdout.contains("digest"), "{done}");
    // What is typed is about the release.
    room.does("verify people.ssv --job job.toml --delimiter ; -k 1").prints(&["8 records in"]);
    room.does("verify r.csv --job job.toml --delimiter ;").prints(&["8 records in"]);
    room.refuses("verify r.csv --job job.toml --delimiter ,").exits(2).says(&["no column `age`"]);

    room.does("anonymize people.csv --passthrough name,age --unlinkable name,age --quasi zip -k 1 -o people.parquet");
    let job = SEMICOLONS
        .replace("people.ssv", "people.parquet")
        .replace("delimiter = \";\"", "format = \"parquet\"");
    room.write("job.toml", job);
    room.does("anonymize job.toml");
    room.does("verify r.csv --job job.toml").prints(&["8 records in", "digest   matches"]);
}

#[test]
fn the_manifest_the_job_names_is_asked() {
    let room = Room::new();
    room.write("people.ssv", crate::room::PEOPLE.replace(',', ";"));
    room.write("job.toml", SEMICOLONS);
    room.does("anonymize job.toml");
    room.does("verify r.csv --job job.toml").prints(&["digest   matches the manifest"]);
    room.write("r.csv", room.text("r.csv") + &room.records("r.csv").join("\n"));
    room.run("verify r.csv --job job.toml").exits(1).prints(&["digest   DIFFERS from the manifest"]);
    room.write("of-r.json", "{");
    room.refuses("verify r.csv --job job.toml")
        .exits(2)
        .says(&["the manifest `of-r.json`: it is not a manifest of incrowd"]);
}

#[test]
fn a_column_named_with_a_delimiter_is_one_column() {
    let room = Room::new();
    room.write("t.csv", "\"age;zip\"\n1\n1\n2\n2\n");
    for release in ["r.csv", "r.tsv", "r.csv.gz"] {
        room.does(&format!("anonymize t.csv --quasi age;zip -k 2 -o {release}"));
        let done = room.does(&format!("verify {release}"));
        done.prints(&["4 records in 2 groups", "k-anonymity(k=2)   holds", "digest   matches"]);
    }
}
