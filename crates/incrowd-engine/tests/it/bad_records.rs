//! Errors about invalid records contain the number of the record.

use std::path::PathBuf;

use crate::common::{fold, gzip, spec, write};
use incrowd_core::{Error, Fault};
use incrowd_engine::Options;

fn refused(paths: &[PathBuf]) -> Error {
    let error = fold(paths, &Options::default(), &spec(&["a"], &[], false)).unwrap_err();
    assert_eq!(error.fault(), Fault::Input, "{error}");
    error
}

/// About seven MiB, which gives several chunks.
fn long_table() -> Vec<String> {
    (0..300_000).map(|i| format!("{},some text {i}", i % 7)).collect()
}

fn table(lines: &[String]) -> Vec<u8> {
    format!("a,b\n{}\n", lines.join("\n")).into_bytes()
}

#[test]
fn a_record_with_another_number_of_fields_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (bytes, number, fields) in [
        ("a,b\n1,2\n3\n", 2, "1 field,"),
        ("a,b\n1,2,secret\n", 1, "3 fields,"),
        ("a,b\n\n1,2\n\n3,4\n5,6,7", 3, "3 fields,"),
        ("a,b\n\"1\n\",2\n\"3\n4\n\"\n", 2, "1 field,"),
    ] {
        let error = refused(&[write(dir.path(), "t.csv", bytes.as_bytes())]);
        assert!(error.message().starts_with(&format!("record {number} has {fields}")), "{error}");
        assert!(!error.message().contains("secret"));
    }
}

#[test]
fn a_ragged_record_in_a_late_chunk_has_the_right_number() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = long_table();
    lines[271_828] = "1,2,3".into();
    lines[299_000] = "1".into();
    for bytes in [table(&lines), gzip(&table(&lines))] {
        let error = refused(&[write(dir.path(), "t.csv", &bytes)]);
        assert!(error.message().starts_with("record 271829 has 3 fields"), "{error}");
    }
}

#[test]
fn a_ragged_record_in_the_third_file_has_its_number_in_that_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = long_table();
    let paths = [
        write(dir.path(), "1.csv", &table(&lines)),
        write(dir.path(), "2.csv", b"b,a\nx,1\n"),
        dir.path().join("3.csv"),
    ];
    lines[200_000] = "lonely".into();
    std::fs::write(&paths[2], table(&lines)).unwrap();
    let error = refused(&paths);
    assert!(error.message().starts_with("record 200001 of `"), "{error}");
    assert!(error.message().contains("3.csv` has 1 field,"), "{error}");
}

#[test]
fn an_unclosed_quoted_field_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = long_table();
    for at in [3, 290_000] {
        lines[at] = "1,\"open".into();
        let error = refused(&[write(dir.path(), "t.csv", &table(&lines))]);
        assert!(error.message().contains("never closed"), "{error}");
        assert!(error.message().contains(&format!("record {}", at + 1)), "{error}");
        lines[at] = "1,closed".into();
    }
}

#[test]
fn bytes_that_are_not_utf8_are_reported_with_their_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = table(&long_table());
    let line = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(i, _)| i)
        .nth(250_000)
        .unwrap();
    bytes[line + 5] = 0xe4;
    let error = refused(&[write(dir.path(), "t.csv", &bytes)]);
    assert!(error.message().starts_with("record 250001 is not valid UTF-8"), "{error}");
    let error = refused(&[write(dir.path(), "t.csv", b"a,b\n1,\xc3\xa4\n3,\"x\"\n\xff,4\n")]);
    assert!(error.message().starts_with("record 3 is not valid UTF-8"), "{error}");
    let error = refused(&[write(dir.path(), "t.csv", b"a,\xe4\n1,\xc3\xa4\n")]);
    assert!(error.message().contains("header"), "{error}");
}

/// The number of the record is found by counting. A line break within quotes does not end a record.
#[test]
fn bytes_that_are_not_utf8_after_a_quoted_line_break_are_reported_with_their_record() {
    let dir = tempfile::tempdir().unwrap();
    for bytes in [
        &b"a,b\n1,\xc3\xa4\n3,4\n5,\"x\n\xff\"\n7,8\n"[..],
        b"a,b\n1,\xc3\xa4\n3,4\n\"x\ny\n\",\xff\n",
    ] {
        let error = refused(&[write(dir.path(), "t.csv", bytes)]);
        assert!(error.message().starts_with("record 3 is not valid UTF-8"), "{error}");
    }
}
