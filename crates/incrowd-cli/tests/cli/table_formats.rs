//! Directories of Delta Lake, Iceberg and Hudi: their files contain deleted and replaced records,
//! so they are neither read nor written.

use crate::test_dir::{Outcome, TestDir};

const FLAGS: &str = "--quasi age,zip --sensitive disease -k 2";

/// A directory with `people.csv` and the same records in `people.parquet`.
fn setup() -> TestDir {
    let test = TestDir::with_people();
    test.write("ask.toml", "");
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o people.parquet"));
    test
}

/// Copies the file into the directory of a table twice, as an update leaves it.
fn table(test: &TestDir, folder: &str, log: &str, files: [&str; 2]) {
    let bytes = test.bytes("people.parquet");
    for file in files {
        test.write(&format!("{folder}/{file}"), &bytes);
    }
    test.write(&format!("{folder}/{log}"), "{}");
}

fn refused(done: Outcome, title: &str, folder: &str) {
    done.exits(2).reports(&[
        title,
        &format!("`{folder}`"),
        "deleted or replaced",
        "export a snapshot",
    ]);
}

#[test]
fn a_table_with_deleted_and_replaced_records_is_not_read_as_files() {
    let test = setup();
    table(
        &test,
        "delta",
        "_delta_log/00000000000000000000.json",
        ["part-0.parquet", "part-1.parquet"],
    );
    table(
        &test,
        "iceberg",
        "metadata/v1.metadata.json",
        ["data/a.parquet", "data/zip=1/b.parquet"],
    );
    table(
        &test,
        "packed",
        "metadata/00001-2f.metadata.json.gz",
        ["data/a.parquet", "data/b.parquet"],
    );
    table(&test, "hudi", ".hoodie/hoodie.properties", ["a.parquet", "zip=1/b.parquet"]);
    table(&test, "lake/delta", "_delta_log/0.json", ["a.parquet", "b.parquet"]);
    for (path, folder, title) in [
        ("delta", "delta", "a Delta Lake table"),
        ("delta/", "delta/", "a Delta Lake table"),
        ("delta/*.parquet", "delta", "a Delta Lake table"),
        ("delta/part-0.parquet", "delta", "a Delta Lake table"),
        ("delta/../delta/part-?.parquet", "delta/../delta", "a Delta Lake table"),
        ("iceberg", "iceberg", "an Apache Iceberg table"),
        ("iceberg/data", "iceberg", "an Apache Iceberg table"),
        ("iceberg/data/*.parquet", "iceberg", "an Apache Iceberg table"),
        ("iceberg/data/zip=1/b.parquet", "iceberg", "an Apache Iceberg table"),
        ("packed/data", "packed", "an Apache Iceberg table"),
        ("hudi", "hudi", "an Apache Hudi table"),
        ("hudi/zip=1", "hudi", "an Apache Hudi table"),
        // A directory that contains such a table at a deeper level.
        ("lake", "lake/delta", "a Delta Lake table"),
    ] {
        refused(test.refuses(&format!("anonymize {path} {FLAGS} -o out.csv")), title, folder);
        refused(test.refuses(&format!("profile {path}")), title, folder);
    }
    for args in [
        "init delta -o new.toml",
        "verify delta --quasi age,zip -k 2",
        "measure delta people.parquet --quasi age,zip",
        "anonymize people.csv --quasi age,zip -k 2 --population delta --model k-map:k=2 -o out.csv",
    ] {
        test.refuses(args).exits(2).reports(&["a Delta Lake table"]);
    }
    test.refuses("profile delta")
        .reports(&["COPY (SELECT * FROM delta_scan('delta')) TO 'snapshot.parquet'"]);
}

#[test]
fn content_and_location_decide_and_not_the_extension() {
    let test = setup();
    table(&test, "iceberg", "metadata/v1.metadata.json", ["data/a", "data/b.csv"]);
    table(&test, "hint", "metadata/version-hint.text", ["data/a.parquet", "data/b"]);
    table(&test, "list", "metadata/snap-1-1-2f.avro", ["data/a.parquet", "data/b"]);
    for (path, folder) in [
        ("iceberg", "iceberg"),
        ("iceberg/data", "iceberg"),
        ("iceberg/data/*", "iceberg"),
        ("iceberg/data/a", "iceberg"),
        ("iceberg/data/b.csv", "iceberg"),
        ("hint", "hint"),
        ("hint/data/a.parquet", "hint"),
        ("hint/data/b", "hint"),
        ("list", "list"),
        ("list/data/a.parquet", "list"),
        ("list/data/b", "list"),
    ] {
        refused(test.refuses(&format!("profile {path}")), "an Apache Iceberg table", folder);
    }
    let refusal = &["does not become part of it", "another folder"];
    for folder in ["hint", "list"] {
        let args = format!("anonymize people.csv {FLAGS} -o {folder}/data/out.parquet");
        test.refuses(&args).exits(2).reports(refusal);
    }
}

#[test]
#[cfg(unix)]
fn metadata_that_cannot_be_listed_are_taken_for_those_of_a_table() {
    use std::os::unix::fs::PermissionsExt;
    let test = setup();
    test.write("locked/data/a.parquet", test.bytes("people.parquet"));
    test.write("locked/data/people.csv", test.text("people.csv"));
    let metadata = test.path().join("locked/metadata");
    let check = || {
        let done = test.run("profile locked/data/a.parquet");
        refused(done, "an Apache Iceberg table", "locked");
        test.succeeds("profile locked/data/people.csv");
    };
    test.succeeds("profile locked/data/a.parquet");
    // Root can list every directory, but no link to itself.
    std::os::unix::fs::symlink("metadata", &metadata).unwrap();
    check();
    std::fs::remove_file(&metadata).unwrap();
    std::fs::create_dir(&metadata).unwrap();
    let mode = |mode: u32| {
        std::fs::set_permissions(&metadata, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o000);
    if std::fs::read_dir(&metadata).is_err() {
        check();
    }
    mode(0o700);
    test.succeeds("profile locked/data/a.parquet");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_of_such_a_table_is_not_read_through_standard_input() {
    use std::fs::File;
    let test = setup();
    table(&test, "delta", "_delta_log/0.json", ["a.parquet", "b.parquet"]);
    table(&test, "iceberg", "metadata/v1.metadata.json", ["data/a", "data/b"]);
    let open = |file: &str| File::open(test.path().join(file)).unwrap();
    let run = |input: File, args: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_incrowd"));
        command.current_dir(test.path()).args(args.split_whitespace()).stdin(input);
        command.env("XDG_CONFIG_HOME", test.config());
        Outcome::new(args, command.output().unwrap())
    };
    let folder = |name: &str| test.path().canonicalize().unwrap().join(name).display().to_string();
    for args in ["profile -", "profile /dev/stdin"] {
        let done = run(open("delta/a.parquet"), args);
        refused(done, "a Delta Lake table", &folder("delta"));
        let done = run(open("iceberg/data/a"), args);
        refused(done, "an Apache Iceberg table", &folder("iceberg"));
        run(open("people.parquet"), args).exits(0);
    }
    let removed = open("delta/b.parquet");
    std::fs::remove_file(test.path().join("delta/b.parquet")).unwrap();
    refused(run(removed, "profile -"), "a Delta Lake table", &folder("delta"));
}

#[test]
#[cfg(unix)]
fn a_link_into_such_a_table_is_followed() {
    let test = setup();
    table(&test, "delta", "_delta_log/0.json", ["a.parquet", "b.parquet"]);
    std::os::unix::fs::symlink("delta/a.parquet", test.path().join("link.parquet")).unwrap();
    refused(
        test.run("profile link.parquet"),
        "a Delta Lake table",
        &test.path().canonicalize().unwrap().join("delta").display().to_string(),
    );
}

#[test]
fn no_release_is_written_into_such_a_table() {
    let test = setup();
    table(&test, "delta", "_delta_log/0.json", ["a.parquet", "b.parquet"]);
    table(&test, "iceberg", "metadata/v1.metadata.json", ["data/a.parquet", "data/b.parquet"]);
    for args in [
        format!("anonymize people.csv {FLAGS} -o delta/out.parquet"),
        format!("anonymize people.csv {FLAGS} -o delta/out.csv"),
        format!("anonymize people.csv {FLAGS} -o out.csv --manifest delta/out.json"),
        format!("anonymize people.csv {FLAGS} -o iceberg/data/out.parquet"),
        "init people.csv -o delta/job.toml".to_owned(),
    ] {
        test.refuses(&args).exits(2).reports(&["does not become part of it", "another folder"]);
    }
}

#[test]
fn similar_directories_are_read() {
    let test = setup();
    // Other metadata next to text, and a log that is not one.
    test.write("study/people.csv", test.text("people.csv"));
    test.write("study/metadata/people.metadata.json", "{}");
    test.write("study/_delta_log.txt", "");
    test.succeeds("profile study/people.csv");
    test.succeeds("profile study");
    test.succeeds(&format!("anonymize study/people.csv {FLAGS} -o study/out.csv"));
    test.write("plain/metadata/notes.json", "{}");
    test.write("plain/data/a.parquet", test.bytes("people.parquet"));
    test.succeeds("profile plain/data");
}
