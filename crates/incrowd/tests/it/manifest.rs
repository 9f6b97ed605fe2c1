//! The content of the manifest.

use incrowd::Anonymizer;
use serde_json::Value as Json;

use crate::release::{listing, small};

fn keys(object: &Json) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

fn has(object: &Json, wanted: &[&str]) {
    for key in wanted {
        assert!(object.get(key).is_some(), "`{key}` is not among {:?}", keys(object));
    }
}

#[test]
fn it_has_the_documented_keys() {
    let dir = tempfile::tempdir().unwrap();
    let report = Anonymizer::new(small(dir.path(), "out.csv")).run().unwrap();
    let manifest = &report.manifest.to_json();
    has(
        manifest,
        &["incrowd", "job", "records", "groups", "models", "metrics", "algorithm", "digest"],
    );
    assert_eq!(keys(&manifest["records"]), ["read", "dropped_missing", "suppressed", "published"]);
    has(&manifest["models"][0], &["name", "k", "holds", "margin"]);
    let metrics =
        ["ncp", "ncp_by_column", "information_loss", "discernibility", "average_class_size"];
    has(&manifest["metrics"], &metrics);
    assert_eq!(keys(&manifest["metrics"]["ncp_by_column"]), ["age", "city"]);
    has(&manifest["algorithm"], &["name", "metric", "taken"]);
    assert_eq!(manifest["models"][0]["k"], 2);
    assert_eq!(manifest["algorithm"]["name"], "auto");
}

#[test]
fn it_contains_no_path_and_no_value() {
    let dir = tempfile::tempdir().unwrap();
    let hierarchy = dir.path().join("private-hierarchy.csv");
    std::fs::write(&hierarchy, "Rome;South;*\nOslo;North;*\n").unwrap();
    let mut job = small(dir.path(), "out.csv");
    let spec = incrowd::job::hierarchy_from_path(&hierarchy).unwrap();
    job.column_mut("city").spec.hierarchy = Some(spec);
    Anonymizer::new(&job).run().unwrap();
    let text = std::fs::read_to_string(dir.path().join("out.release.json")).unwrap();
    let place = dir.path().to_str().unwrap();
    for secret in [place, "people-in", "private-hierarchy", "Rome", "Oslo", "flu", "seed"] {
        assert!(!text.contains(secret), "the manifest tells `{secret}`");
    }
}

#[test]
fn two_runs_write_the_same_manifest() {
    let dir = tempfile::tempdir().unwrap();
    let job = small(dir.path(), "out.csv");
    let run = || {
        Anonymizer::new(&job).run().unwrap();
        std::fs::read(dir.path().join("out.release.json")).unwrap()
    };
    assert_eq!(run(), run());
}

#[test]
fn it_is_written_to_the_path_of_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv.gz");
    job.output.as_mut().unwrap().manifest = Some(dir.path().join("elsewhere.json"));
    Anonymizer::new(&job).run().unwrap();
    assert_eq!(listing(dir.path()), ["elsewhere.json", "out.csv.gz", "people-in.csv"]);
}
