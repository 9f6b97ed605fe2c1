//! A run that fails changes no file, and its error has a place but no cell.

use std::path::Path;

use incrowd::job::Job;
use incrowd::{Anonymizer, Error, Fault};

use crate::release::{listing, small};

/// Runs a job that must fail at the paths of an old release and its manifest.
fn fails(dir: &Path, job: &Job) -> Error {
    std::fs::write(dir.join("out.csv"), "old release").unwrap();
    std::fs::write(dir.join("out.release.json"), "old manifest").unwrap();
    let before = listing(dir);
    // The old file is not a release of incrowd, but may be overwritten.
    let mut job = job.clone();
    job.output.iter_mut().for_each(|output| output.replace = true);
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert_eq!(listing(dir), before, "something is left behind or gone");
    assert_eq!(std::fs::read_to_string(dir.join("out.csv")).unwrap(), "old release");
    assert_eq!(std::fs::read_to_string(dir.join("out.release.json")).unwrap(), "old manifest");
    error
}

fn with_table(dir: &Path, table: impl AsRef<[u8]>) -> Job {
    let job = small(dir, "out.csv");
    std::fs::write(dir.join("people-in.csv"), table).unwrap();
    job
}

#[test]
fn an_unsatisfiable_model() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv");
    job.models[0].params[0].1 = incrowd::Value::Integer(6);
    let error = fails(dir.path(), &job);
    assert_eq!(error.fault(), Fault::Unsatisfiable, "{error}");
}

#[test]
fn an_error_about_a_value_names_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (1..=40)
        .map(|i| format!("{i},{},Rome,flu\n", if i == 33 { "secret" } else { "7" }))
        .collect();
    let mut job = with_table(dir.path(), format!("id,age,city,disease\n{rows}"));
    job.column_mut("age").spec.kind = Some(incrowd::front_end::core::Kind::Numeric);
    let error = fails(dir.path(), &job);
    assert_eq!(error.fault(), Fault::Input);
    assert!(error.message().contains("`age`") && error.message().contains("record 33"), "{error}");
    assert!(!error.message().contains("secret"), "{error}");
    let tree = "a;*\n7;*\n".to_owned();
    let hierarchy =
        incrowd::front_end::core::HierarchySpec::Arx { name: "h.csv".into(), text: tree };
    job.column_mut("age").spec.hierarchy = Some(hierarchy);
    let error = fails(dir.path(), &job);
    assert!(
        error.message().contains("record 33") && !error.message().contains("secret"),
        "{error}"
    );
}

#[test]
fn files_that_are_no_tables() {
    let dir = tempfile::tempdir().unwrap();
    for (table, says) in [
        (&b"id,age,city,disease\n"[..], "no records"),
        (b"", "is empty"),
        (b"id,age,city,disease\n1,2,Rome,flu\n3,4\n", "record 2"),
        (b"id,age,city,disease\n1,2,Rome,\"flu\n", "quoted"),
        (b"id,age,city,disease\n1,2,R\xf6m \xc3\xa4,flu\n", "record 1 is not valid UTF-8"),
        (b"id,age,city,disease\n1,?,Rome,flu\n2,5,Rome,NA\n", "all 2 records"),
        (b"id,age,age,disease\n1,2,3,flu\n", "two columns"),
        (b"id,age,disease\n1,2,flu\n", "no column `city`"),
    ] {
        let error = fails(dir.path(), &with_table(dir.path(), table));
        assert!(error.message().contains(says), "`{says}` is not in: {error}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_reported_before_reading() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv");
    std::fs::create_dir(dir.path().join("there")).unwrap();
    for (path, says) in
        [("none/out.csv", "does not exist"), ("there", "is a directory"), ("out.xlsx", "format")]
    {
        job.write_to(dir.path().join(path));
        let error = fails(dir.path(), &job);
        assert!(error.message().contains(says), "{error}");
        assert_eq!(error.key(), Some("output.path"));
    }
    job.write_to(dir.path().join("out.csv"));
    job.output.as_mut().unwrap().manifest = Some(dir.path().join("none/m.json"));
    assert_eq!(fails(dir.path(), &job).key(), Some("output.manifest"));
}
