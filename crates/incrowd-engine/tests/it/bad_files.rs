//! Invalid files cause specific errors and no panic.

use std::path::{Path, PathBuf};

use crate::common::{Cell, Style, arrow, fold, gzip, parquet, spec, text, write, zstandard};
use incrowd_core::{Error, Fault};
use incrowd_engine::{Encoding, Options, Source};

fn refused(path: impl Into<PathBuf>) -> Error {
    fold(&[path.into()], &Options::default(), &spec(&["a"], &[], false)).unwrap_err()
}

fn says(error: &Error, words: &str) {
    assert_eq!(error.fault(), Fault::Input, "{error}");
    assert!(error.message().contains(words), "`{words}` is not in: {error}");
}

fn records(count: usize) -> Vec<Vec<Cell>> {
    (0..count)
        .map(|i| vec![Some(format!("{}", i * 7919 % 1013)), Some(format!("text {i}"))])
        .collect()
}

#[test]
fn truncated_files_are_refused_wherever_they_end() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["a", "b"];
    let bytes = text(&names, &records(20_000), &Style::PLAIN);
    let (p, a) = (dir.path().join("p"), dir.path().join("a"));
    parquet(&p, &names, &records(100));
    arrow(&a, &names, &records(100));
    let files = [
        ("gz", gzip(&bytes)),
        ("zst", zstandard(&bytes)),
        ("parquet", std::fs::read(&p).unwrap()),
        ("arrow", std::fs::read(&a).unwrap()),
    ];
    for (name, whole) in files {
        let path = write(dir.path(), "whole", &whole);
        fold(&[path], &Options::default(), &spec(&["a"], &[], false)).unwrap();
        for keep in [20, whole.len() / 2, whole.len() * 9 / 10, whole.len() - 9, whole.len() - 1] {
            let path = write(dir.path(), "cut", &whole[..keep]);
            let error = refused(path);
            assert_eq!(error.fault(), Fault::Input, "{name}, {keep} bytes: {error}");
            let expected =
                ["truncated", "damaged"].iter().any(|word| error.message().contains(word));
            assert!(expected, "{name}, {keep} bytes: {error}");
        }
    }
}

#[test]
fn damaged_bytes_in_the_middle_are_refused_or_at_least_do_not_panic() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = text(&["a", "b"], &records(5_000), &Style::PLAIN);
    let mut zipped = gzip(&bytes);
    let middle = zipped.len() / 2;
    zipped[middle..middle + 8].fill(0xff);
    says(&refused(write(dir.path(), "t.csv.gz", &zipped)), "damaged");
    let path = dir.path().join("t.parquet");
    parquet(&path, &["a", "b"], &records(100));
    let whole = std::fs::read(&path).unwrap();
    for at in (4..whole.len() - 8).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, damaged).unwrap();
        if let Err(error) =
            fold(std::slice::from_ref(&path), &Options::default(), &spec(&["a"], &[], false))
        {
            assert_ne!(error.fault(), Fault::Bug, "{error}");
        }
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    says(
        &refused(write(dir.path(), "t.csv", b"a,b, a\n1,2,3\n")),
        "two columns of one name (columns 1 and 3)",
    );
    let path = dir.path().join("t.parquet");
    parquet(&path, &["a", "a"], &records(3));
    says(&refused(path), "two columns of one name");
}

#[test]
fn a_header_without_records_is_an_empty_table() {
    let dir = tempfile::tempdir().unwrap();
    for bytes in ["a,b", "a,b\n", "a,b\r\n\r\n\n", "\u{feff}\n\na,b\n"] {
        let path = write(dir.path(), "t.csv", bytes.as_bytes());
        let folded = fold(&[path], &Options::default(), &spec(&["b", "a"], &[], true)).unwrap();
        assert_eq!((folded.read, folded.rows(), folded.columns.len()), (0, 0, 2));
    }
}

#[test]
fn empty_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for bytes in [&b""[..], b"\n\r\n ", b"\xef\xbb\xbf", &gzip(b""), &zstandard(b"\n")] {
        says(&refused(write(dir.path(), "t.csv", bytes)), "is empty");
    }
}

#[test]
fn text_of_other_encodings_is_read_and_other_bytes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let utf16 = |mark: &[u8], order: fn(u16) -> [u8; 2]| {
        let units = "a,b\n1,2\n".encode_utf16().flat_map(order);
        mark.iter().copied().chain(units).collect::<Vec<u8>>()
    };
    let columns = |path: std::path::PathBuf, options: &Options| {
        Source::open(&[path], options).unwrap_or_else(|e| panic!("{e}")).columns().to_vec()
    };
    let usual = Options::default();
    assert_eq!(
        columns(write(dir.path(), "le.csv", &utf16(b"\xff\xfe", u16::to_le_bytes)), &usual),
        ["a", "b"]
    );
    assert_eq!(
        columns(write(dir.path(), "be.csv", &utf16(b"\xfe\xff", u16::to_be_bytes)), &usual),
        ["a", "b"]
    );
    let stated = Options { encoding: Some(Encoding::Utf16Le), ..Options::default() };
    assert_eq!(
        columns(write(dir.path(), "bare.csv", &utf16(b"", u16::to_le_bytes)), &stated),
        ["a", "b"]
    );
    assert_eq!(
        columns(write(dir.path(), "latin.csv", b"a,gr\xf6\xdfe\n1,2\n"), &usual),
        ["a", "größe"]
    );
    assert_eq!(
        columns(write(dir.path(), "latin.csv.gz", &gzip(b"a,gr\xf6\xdfe\n1,2\n")), &usual),
        ["a", "größe"]
    );
    says(&refused(write(dir.path(), "bare.csv", &utf16(b"", u16::to_le_bytes))), "is not text");
    says(&refused(write(dir.path(), "old.csv", b"a,b\r1,2\r3,4\r")), "CR alone");
}

#[test]
fn missing_files_and_empty_directories_have_different_errors() {
    let dir = tempfile::tempdir().unwrap();
    says(&refused(dir.path()), "holds no table");
    says(&refused(dir.path().join("none.csv")), "there is no file");
    assert_eq!(
        fold(&[], &Options::default(), &spec(&["a"], &[], false)).unwrap_err().fault(),
        Fault::Job
    );
}

#[test]
fn an_unknown_column_is_refused_with_a_suggestion() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(dir.path(), "t.csv", b"age,sex\n1,2\n");
    let error = fold(&[path], &Options::default(), &spec(&["agee"], &[], false)).unwrap_err();
    assert_eq!((error.fault(), error.advice()), (Fault::Job, Some("did you mean `age`?")));
}

#[test]
fn files_with_other_columns_are_not_one_table() {
    let dir = tempfile::tempdir().unwrap();
    let first = write(dir.path(), "1.csv", b"a,b\n1,2\n");
    for (name, bytes) in
        [("2.csv", &b"a,c\n1,2\n"[..]), ("3.csv", b"a\n1\n"), ("4.csv", b"a,b,c\n1,2,3\n")]
    {
        let paths = [first.clone(), write(dir.path(), name, bytes)];
        let error = fold(&paths, &Options::default(), &spec(&["a"], &[], false)).unwrap_err();
        says(&error, "does not have the same columns");
        assert!(error.message().contains(Path::new(name).to_str().unwrap()));
    }
}
