//! Flags, job files and both together; one input file or several.

use crate::test_dir::{PEOPLE, TestDir};

const JOB: &str = r#"[input]
path = "people.csv"
[output]
path = "people.release.csv"
order = "sorted"
[columns]
name = "identifier"
age = { role = "quasi", kind = "numeric" }
zip = { role = "quasi", hierarchy = { mask = {} } }
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 2
"#;

const FLAGS: &str = "--identifier name --quasi age,zip --sensitive disease --kind age=numeric --hierarchy zip=mask -k 2";

#[test]
fn flags_without_a_job_file_make_a_release() {
    let test = TestDir::with_people();
    let done = test.succeeds(&format!("anonymize people.csv {FLAGS} -o people.release.csv"));
    // One person is unique on the disease; there is no other note.
    assert!(done.stderr.lines().count() == 2 && done.stderr.contains("disease 1"), "{done}");
    done.prints(&[
        "release  people.release.csv   8 of 8 records in",
        "k-anonymity(k=2)   holds",
        "cost     NCP",
    ])
    .prints(&["manifest people.release.json"]);
    assert_eq!(test.names(), ["people.csv", "people.release.csv", "people.release.json"]);
    let mut lines = csv::Reader::from_path(test.path().join("people.release.csv")).unwrap();
    assert_eq!(lines.headers().unwrap(), &["age", "zip", "disease"][..]);
    let diseases = |record: csv::StringRecord| record[2].to_owned();
    let mut published: Vec<String> = lines.records().map(|r| diseases(r.unwrap())).collect();
    published.sort();
    assert_eq!(published, ["cold", "cold", "flu", "flu", "flu", "gout", "none", "none"]);
    test.succeeds("verify people.release.csv");
}

#[test]
fn a_job_file_is_equivalent_to_flags() {
    let test = TestDir::with_people();
    test.write("job.toml", JOB);
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o flags.csv --order sorted"));
    let flags = test.text("flags.csv");
    for args in
        ["anonymize job.toml", "anonymize --job job.toml", "anonymize people.csv -j job.toml"]
    {
        test.succeeds(args);
        assert_eq!(test.text("people.release.csv"), flags, "{args}");
        std::fs::remove_file(test.path().join("people.release.csv")).unwrap();
    }
}

#[test]
fn paths_in_a_job_file_are_relative_to_it() {
    let test = TestDir::new();
    test.write("jobs/people.csv", PEOPLE);
    test.write("jobs/job.toml", JOB);
    test.succeeds("anonymize jobs/job.toml").prints(&["release  jobs/people.release.csv"]);
    let names = [
        "jobs",
        "jobs/job.toml",
        "jobs/people.csv",
        "jobs/people.release.csv",
        "jobs/people.release.json",
    ];
    assert_eq!(test.names(), names);
}

#[test]
fn flags_override_the_job_file() {
    let test = TestDir::with_people();
    test.write("job.toml", JOB);
    test.succeeds("anonymize job.toml -k 4 -o other.csv --sensitive age --order shuffled");
    let manifest = test.json("other.release.json");
    assert_eq!(manifest["models"][0]["k"], 4);
    assert_eq!(manifest["models"].as_array().unwrap().len(), 1);
    assert_eq!(manifest["job"]["columns"]["age"]["role"], "sensitive");
    assert_eq!(manifest["job"]["order"], "shuffled");
    assert!(!test.names().contains(&"people.release.csv".to_owned()));
}

#[test]
fn several_files_and_a_pattern_are_one_table() {
    let test = TestDir::with_people();
    let lines: Vec<&str> = PEOPLE.lines().collect();
    test.write("part-1.csv", format!("{}\n", lines[..4].join("\n")));
    // The second file has its columns in another order and another delimiter.
    let turned = lines[4..].iter().map(|l| l.split(',').rev().collect::<Vec<_>>().join(";"));
    test.write(
        "part-2.csv",
        format!("disease;zip;age;name\n{}\n", turned.collect::<Vec<_>>().join("\n")),
    );
    let asked = format!("{FLAGS} --order sorted");
    test.succeeds(&format!("anonymize people.csv {asked} -o whole.csv"));
    test.succeeds(&format!("anonymize part-1.csv part-2.csv {asked} -o both.csv"));
    test.succeeds(&format!("anonymize part-*.csv {asked} -o pattern.csv"));
    assert_eq!(test.text("both.csv"), test.text("whole.csv"));
    assert_eq!(test.text("pattern.csv"), test.text("whole.csv"));
    test.write("job.toml", JOB.replace("\"people.csv\"", "[\"part-1.csv\", \"part-[2-9].csv\"]"));
    test.succeeds("anonymize job.toml");
    assert_eq!(test.text("people.release.csv"), test.text("whole.csv"));
}

#[test]
fn the_manifest_is_next_to_the_release_or_at_the_given_path() {
    let test = TestDir::with_people();
    std::fs::create_dir(test.path().join("sub")).unwrap();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o sub/r.csv.gz"))
        .prints(&["manifest sub/r.release.json"]);
    assert!(test.names().contains(&"sub/r.release.json".to_owned()));
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o r.csv --manifest sub/of-r.json"));
    assert!(test.names().contains(&"sub/of-r.json".to_owned()));
    assert!(!test.names().contains(&"r.release.json".to_owned()));
    test.succeeds("verify r.csv --manifest sub/of-r.json").prints(&["digest   matches"]);
}

#[test]
fn the_manifest_has_the_models_and_no_cell() {
    let test = TestDir::with_people();
    test.write("people.csv", format!("{PEOPLE}ian,?,02139,flu\n"));
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o r.csv"));
    let text = test.text("r.release.json");
    for cell in ["ann", "02139", "gout", "people.csv"] {
        assert!(!text.contains(cell), "{cell} is in the manifest");
    }
    let manifest = test.json("r.release.json");
    let records = &manifest["records"];
    assert_eq!(records["read"], 9);
    assert_eq!(records["dropped_missing"], 1);
    assert_eq!(records["suppressed"], 0);
    assert_eq!(records["published"], 8);
    assert_eq!(manifest["incrowd"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["models"][0]["name"], "k-anonymity");
    assert_eq!(manifest["models"][0]["holds"], true);
    assert_eq!(manifest["algorithm"]["name"], "auto");
    assert!(manifest["algorithm"]["taken"].is_string());
    assert!(manifest["groups"].as_u64().unwrap() >= 2);
    assert!(manifest["models"][0]["margin"].as_f64().unwrap() >= 0.0);
    assert!(manifest["digest"].as_str().unwrap().starts_with("blake3:"));
    for metric in ["ncp", "information_loss", "discernibility", "average_class_size"] {
        assert!(manifest["metrics"][metric].is_f64(), "{metric}");
    }
    assert!(manifest["metrics"]["ncp_by_column"]["age"].is_f64());
}

#[test]
fn identifiers_and_columns_without_a_role_are_not_published() {
    let test = TestDir::with_people();
    let asked = "anonymize people.csv --quasi age,zip -k 2 -o r.csv";
    let note = "not published, because they have no role: name, disease";
    test.succeeds(asked).reports(&[note]);
    assert!(test.text("r.csv").starts_with("age,zip\n"));
    let done = test.succeeds(&format!("{asked} --identifier name --default-role passthrough"));
    assert!(!done.stderr.contains("not published"), "{done}");
    assert!(test.text("r.csv").starts_with("age,zip,disease\n"));
    assert!(!test.text("r.csv").contains("ann"));
}

#[test]
fn quiet_runs_print_the_result_and_nothing_else() {
    let test = TestDir::with_people();
    let asked = "anonymize people.csv --quasi age,zip -k 2 -o r.csv";
    assert!(test.succeeds(asked).stderr.contains("note:"));
    for quiet in ["--quiet", "-q"] {
        let done = test.succeeds(&format!("{quiet} {asked}"));
        assert_eq!(done.stderr, "", "{done}");
        done.prints(&["release  r.csv"]);
    }
}

#[test]
fn times_are_printed_on_standard_error() {
    let test = TestDir::with_people();
    let asked = format!(
        "anonymize people.csv {FLAGS} --unlinkable disease -o r.csv --json --algorithm mondrian"
    );
    let done = test.succeeds(&format!("{asked} --times"));
    assert_eq!(done.json(), test.json("r.release.json"));
    for step in ["reading", "writing", "verifying"] {
        assert!(
            done.stderr.lines().any(|l| l.contains(step) && l.ends_with(" s")),
            "{step}\n{done}"
        );
    }
    assert_eq!(test.succeeds(&asked).stderr, "");
}

#[test]
fn a_new_release_replaces_the_old_one_and_leaves_no_other_file() {
    let test = TestDir::with_old_release();
    test.write(
        ".out.csv.0123456789abcdef.incrowd-partial",
        "left by a crash, and longer than what comes now\n".repeat(99),
    );
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o out.csv"));
    assert_eq!(test.names(), ["out.csv", "out.release.json", "people.csv"]);
    test.succeeds("verify out.csv");
}
