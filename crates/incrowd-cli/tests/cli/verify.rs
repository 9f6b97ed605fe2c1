//! `incrowd verify`: exit code 0 if all guarantees hold, 1 if one fails, 2 on errors.

use crate::test_dir::TestDir;

/// Three records with one combination of values, two with another.
const RELEASE: &str = "age,zip,disease\n1,A,flu\n1,A,cold\n1,A,flu\n2,B,none\n2,B,flu\n";

fn released() -> TestDir {
    let test = TestDir::with_people();
    test.succeeds(
        "anonymize people.csv --identifier name --quasi age,zip --sensitive disease -k 2 -o r.csv",
    );
    test
}

#[test]
fn a_published_release_holds() {
    let done = released().succeeds("verify r.csv");
    assert_eq!(done.stderr, "", "{done}");
    done.prints(&[
        "table    r.csv   8 records in",
        "k-anonymity(k=2)   holds",
        "digest   matches the manifest",
    ]);
}

#[test]
fn a_release_with_a_removed_record_fails() {
    let test = released();
    let text = test.text("r.csv");
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    test.write("r.csv", format!("{kept}\n"));
    test.run("verify r.csv").exits(1).prints(&["digest   DIFFERS from the manifest", "FAILS"]);
    let answer = test.run("verify r.csv --json").exits(1).json();
    assert_eq!((&answer["holds"], &answer["digest_matches"]), (&false.into(), &false.into()));
}

#[test]
fn a_wrong_digest_fails() {
    let test = released();
    let text = test.text("r.csv");
    let (header, records) = text.split_once('\n').unwrap();
    test.write("r.csv", format!("{header}\n{records}{records}"));
    let done = test.run("verify r.csv").exits(1);
    done.prints(&["16 records in", "k-anonymity(k=2)   holds", "digest   DIFFERS"]);
}

#[test]
fn a_table_that_violates_the_model_fails() {
    let test = TestDir::new();
    test.write("t.csv", RELEASE);
    let done = test.run("verify t.csv --quasi age,zip -k 3").exits(1);
    done.prints(&[
        "5 records in 2 groups",
        "k-anonymity(k=3)   FAILS   smallest group 2, needs 3",
        "1 of 2 groups",
    ]);
    let answer = test.run("verify t.csv --quasi age,zip -k 3 --json").exits(1).json();
    assert_eq!((&answer["holds"], &answer["models"][0]["holds"]), (&false.into(), &false.into()));
    assert_eq!(answer["models"][0]["margin"], -1.0);
}

#[test]
fn flags_replace_the_manifest() {
    let test = TestDir::new();
    test.write("t.csv", RELEASE);
    let done = test.succeeds("verify t.csv --quasi age,zip -k 2");
    assert!(!done.stdout.contains("digest"), "{done}");
    done.prints(&["5 records in 2 groups", "k-anonymity(k=2)   holds   smallest group 2"]);
    assert!(
        test.succeeds("verify t.csv --quasi age -k 2 --json").json()["digest_matches"].is_null()
    );
}

#[test]
fn every_model_must_hold() {
    let test = TestDir::new();
    test.write("t.csv", RELEASE);
    let done = test.run("verify t.csv --quasi age,zip -k 2 --model k-anonymity:k=3").exits(1);
    done.prints(&["k-anonymity(k=2)   holds", "k-anonymity(k=3)   FAILS"]);
}

#[test]
fn a_model_given_by_flags_replaces_those_of_the_manifest() {
    let test = released();
    test.run("verify r.csv -k 8")
        .exits(1)
        .prints(&["k-anonymity(k=8)   FAILS", "digest   matches"]);
    test.succeeds("verify r.csv -k 1").prints(&["k-anonymity(k=1)   holds"]);
}

#[test]
fn a_job_file_replaces_the_manifest() {
    let test = TestDir::new();
    test.write("t.csv", RELEASE);
    let job = "[columns]\nname = \"identifier\"\nage = \"quasi\"\nzip = \"quasi\"\n[[models]]\nname = \"k-anonymity\"\n";
    for (k, code) in [(2, 0), (3, 1)] {
        test.write("job.toml", format!("{job}k = {k}\n"));
        test.run("verify t.csv --job job.toml").exits(code);
    }
}

#[test]
fn an_identifier_that_is_published_fails() {
    let test = TestDir::new();
    test.write("t.csv", RELEASE);
    let done = test.run("verify t.csv --quasi age,zip --identifier disease -k 2").exits(1);
    done.prints(&["identifier `disease`   FAILS   it is published"]);
}

#[test]
fn missing_values_are_cells_like_any_other() {
    let test = TestDir::new();
    test.write("t.csv", "age,zip\n1,A\n1,A\n1,?\n1,\n");
    test.run("verify t.csv --quasi age,zip -k 2")
        .exits(1)
        .prints(&["4 records in 3 groups", "2 of 3 groups"]);
}

#[test]
fn a_table_that_cannot_be_checked_is_an_error() {
    let test = TestDir::new();
    test.write("t.csv", RELEASE);
    test.write("header.csv", "age,zip\n");
    test.write("ragged.csv", "age,zip\n1,2\n1,S3CR3T,2\n");
    test.write("broken.json", "{");
    for (args, expected) in [
        ("nobody.csv --quasi age -k 2", "there is no file `nobody.csv`"),
        ("nobody.csv -k 2", "there is no file `nobody.csv`"),
        ("t.csv --quasi agee -k 2", "did you mean `age`?"),
        ("t.csv -k 2", "which columns are quasi-identifiers?"),
        ("t.csv --quasi age", "has no privacy model"),
        ("t.csv --quasi age -k 0", "cannot be `0`"),
        ("header.csv --quasi age -k 2", "the table has no records"),
        ("ragged.csv --quasi age -k 2", "record 2 has 3 fields"),
        ("t.csv --manifest none.json", "the manifest `none.json` cannot be read"),
        (
            "t.csv --manifest broken.json",
            "the manifest `broken.json`: it is not a manifest of incrowd",
        ),
    ] {
        test.refuses(&format!("verify {args}")).exits(2).reports(&[expected]);
    }
}

#[test]
fn an_unknown_model_in_a_manifest_is_an_error() {
    let test = released();
    test.write("r.release.json", test.text("r.release.json").replace("k-anonymity", "z-anonymity"));
    test.refuses("verify r.csv")
        .exits(2)
        .reports(&["a model `z-anonymity` this version does not know"]);
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
fn input_settings_of_the_job_do_not_apply_to_the_release() {
    let test = TestDir::with_people();
    test.write("people.ssv", crate::test_dir::PEOPLE.replace(',', ";"));
    test.write("job.toml", SEMICOLONS.replace("manifest = \"of-r.json\"\n", ""));
    test.succeeds("anonymize job.toml");
    test.succeeds("verify r.csv --job job.toml")
        .prints(&["8 records in", "k-anonymity(k=2)   holds"]);
    std::fs::remove_file(test.path().join("r.release.json")).unwrap();
    let done = test.succeeds("verify r.csv --job job.toml").prints(&["8 records in"]);
    assert!(!done.stdout.contains("digest"), "{done}");
    // Flags apply to the release.
    test.succeeds("verify people.ssv --job job.toml --delimiter ; -k 1").prints(&["8 records in"]);
    test.succeeds("verify r.csv --job job.toml --delimiter ;").prints(&["8 records in"]);
    test.refuses("verify r.csv --job job.toml --delimiter ,")
        .exits(2)
        .reports(&["no column `age`"]);

    test.succeeds("anonymize people.csv --passthrough name,age --unlinkable name,age --quasi zip -k 1 -o people.parquet");
    let job = SEMICOLONS
        .replace("people.ssv", "people.parquet")
        .replace("delimiter = \";\"", "format = \"parquet\"");
    test.write("job.toml", job);
    test.succeeds("anonymize job.toml --replace");
    test.succeeds("verify r.csv --job job.toml").prints(&["8 records in", "digest   matches"]);
}

#[test]
fn the_manifest_named_in_the_job_is_used() {
    let test = TestDir::new();
    test.write("people.ssv", crate::test_dir::PEOPLE.replace(',', ";"));
    test.write("job.toml", SEMICOLONS);
    test.succeeds("anonymize job.toml");
    test.succeeds("verify r.csv --job job.toml").prints(&["digest   matches the manifest"]);
    test.write("r.csv", test.text("r.csv") + &test.records("r.csv").join("\n"));
    test.run("verify r.csv --job job.toml")
        .exits(1)
        .prints(&["digest   DIFFERS from the manifest"]);
    test.write("of-r.json", "{");
    test.refuses("verify r.csv --job job.toml")
        .exits(2)
        .reports(&["the manifest `of-r.json`: it is not a manifest of incrowd"]);
}

#[test]
fn a_column_named_with_a_delimiter_is_one_column() {
    let test = TestDir::new();
    test.write("t.csv", "\"age;zip\"\n1\n1\n2\n2\n");
    for release in ["r.csv", "r.tsv", "r.csv.gz"] {
        test.succeeds(&format!("anonymize t.csv --quasi age;zip -k 2 -o {release} --replace"));
        let done = test.succeeds(&format!("verify {release}"));
        done.prints(&["4 records in 2 groups", "k-anonymity(k=2)   holds", "digest   matches"]);
    }
}

#[test]
fn a_stated_option_for_reading_keeps_the_others_of_the_manifest() {
    let test = TestDir::new();
    test.write(
        "t.csv",
        "age;disease\n20,5;flu\n21,5;cold\n30,5;flu\n31,5;none\n70,5;flu\n80,5;cold\n",
    );
    test.succeeds("anonymize t.csv --quasi age --sensitive disease --top age=60 -k 2 -o r.csv");
    assert!(test.text("r.csv").contains(">=60;"), "{}", test.text("r.csv"));
    for stated in ["", "--delimiter ;", "--decimal ,", "--encoding utf-8"] {
        test.succeeds(&format!("verify r.csv {stated}")).prints(&[
            "6 records in 3 groups",
            "holds",
            "digest   matches",
        ]);
        test.succeeds(&format!("measure t.csv r.csv {stated}")).prints(&["ncp"]);
    }
    // A stated option takes precedence over the manifest.
    test.refuses("verify r.csv --delimiter ,").exits(2).reports(&["no column `age`"]);
}
