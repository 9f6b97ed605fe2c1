//! `incrowd profile` and `incrowd init`.

use crate::test_dir::TestDir;

/// Sixty people with a unique address; many are unique on age and zip.
fn people() -> String {
    let mut table = String::from("email,age,zip,disease\n");
    for i in 0..60 {
        table += &format!(
            "p{i}@example.org,{},021{:02},{}\n",
            20 + i * 7 % 40,
            i % 12,
            ["flu", "cold"][i % 2]
        );
    }
    table
}

#[test]
fn a_profile_has_counts_and_no_cells() {
    let test = TestDir::new();
    test.write("people.csv", people());
    let done = test.succeeds("profile people.csv --sampling-fraction 0.1").prints(&[
        "may be published",
        "60 records, 4 columns",
        "for the data owner only",
        "holds e-mail addresses",
        "email",
        "pitman",
        "zayatz",
        "snb",
    ]);
    assert!(!done.stdout.contains("example.org") && !done.stdout.contains("02105"), "{done}");
    assert_eq!(done.stderr, "", "{done}");
    assert_eq!(test.names(), ["people.csv"]);
}

#[test]
fn only_the_size_of_the_table_is_public() {
    let test = TestDir::new();
    test.write("people.csv", people());
    let answer = test.succeeds("profile people.csv --quasi age,zip --share 0 --json").json();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["records", "columns", "private"]);
    assert_eq!(answer["private"]["uniqueness"]["columns"], serde_json::json!(["age", "zip"]));
    assert_eq!(answer["private"]["singling_out"]["records_needed"], 1);
}

#[test]
fn the_draft_runs_unchanged_and_is_not_overwritten() {
    let test = TestDir::new();
    test.write("people.csv", people());
    test.succeeds("init people.csv").prints(&[
        "job.toml",
        "identifier",
        "email",
        "sensitive",
        "disease",
    ]);
    assert!(test.text("job.toml").contains("# holds e-mail addresses\nemail = \"identifier\""));
    test.succeeds("anonymize job.toml").prints(&["k-anonymity(k=5)", "holds"]);
    test.succeeds("verify people.release.csv").prints(&["holds"]);
    test.write("job.toml", "mine");
    test.refuses("init people.csv").exits(2).reports(&["`job.toml` already exists", "--force"]);
    assert_eq!(test.text("job.toml"), "mine");
    test.succeeds("init people.csv --force -k 3 --quasi disease --drop zip");
    let job = test.text("job.toml");
    assert!(job.contains("k = 3") && job.contains("zip = \"drop\""), "{job}");
    assert!(job.contains("disease = { role = \"quasi\" }"), "{job}");
    test.succeeds("anonymize job.toml").prints(&["k-anonymity(k=3)"]);
}

#[test]
fn a_draft_in_another_directory_finds_its_table() {
    let test = TestDir::new();
    test.write("data/people.csv", people());
    test.write("jobs/keep", "");
    let answer = test.succeeds("init data/people.csv -o jobs/job.toml --json").json();
    assert_eq!(answer["job"], "jobs/job.toml");
    assert_eq!(answer["private"]["columns"]["identifier"], serde_json::json!(["email"]));
    test.succeeds("anonymize jobs/job.toml").prints(&["jobs/people.release.csv"]);
}

#[test]
fn invalid_requests_are_refused() {
    let test = TestDir::new();
    test.write("people.csv", people());
    for (args, expected) in [
        ("profile nobody.csv", "there is no file"),
        ("profile people.csv --quasi agee", "age"),
        ("profile people.csv --share 1.5", "between 0 and 1"),
        ("profile people.csv --max-columns 0", "at least one column"),
        ("profile people.csv --population-size 3", "smaller than its sample"),
        ("profile people.csv --sampling-fraction 0", "sampling fraction"),
        ("profile people.csv --sampling-fraction 0.5 --population-size 900", "cannot be used with"),
        ("profile", "TABLE"),
        ("init people.csv -k 61", "groups of 61"),
        ("init people.csv -k 0", "0"),
        ("init people.csv -o people.csv --force", "overwrite a file that is read"),
        ("init people.csv --quasi age --drop age", "two roles"),
    ] {
        test.refuses(args).exits(2).reports(&[expected]);
    }
    assert_eq!(test.names(), ["people.csv"]);
}
