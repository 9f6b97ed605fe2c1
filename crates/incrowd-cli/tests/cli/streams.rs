//! Streams in place of files, and closed outputs.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Command;

use crate::test_dir::{PEOPLE, TestDir};

const RELEASE: &str = "anonymize people.csv --quasi age,zip -k 2 -o r.csv";

/// A pipe with a table that never reaches its end: reading it would block forever.
fn pipe(test: &TestDir) -> (String, File) {
    let path = test.path().join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let mut pipe = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    pipe.write_all(PEOPLE.as_bytes()).unwrap();
    (path.display().to_string(), pipe)
}

#[test]
fn a_stream_is_refused_and_not_read() {
    // The pipe is in another directory, because the comparison of files would read it.
    let (test, elsewhere) = (TestDir::with_old_release(), TestDir::new());
    let (path, mut pipe) = pipe(&elsewhere);
    test.write("zip.csv", "A;*\nB;*\n");
    for args in [
        format!("anonymize {path} --quasi age,zip -k 2 -o out.csv"),
        format!("anonymize people.csv {path} --quasi age,zip -k 2 -o out.csv"),
        format!("verify {path} --quasi age,zip -k 2"),
        format!("measure {path} people.csv --quasi age,zip"),
        format!("hierarchy build {path} zip --kind mask"),
        format!("hierarchy lint zip.csv --table {path} --column zip"),
    ] {
        let expected = &["pipe.csv` is not a file", "save a stream to a file first"];
        test.refuses(&args).exits(2).reports(expected);
    }
    test.refuses("anonymize /dev/null --quasi age,zip -k 2 -o out.csv")
        .exits(2)
        .reports(&["is not a file"]);
    let mut left = vec![0; PEOPLE.len()];
    pipe.write_all(b"nothing was taken").unwrap();
    pipe.read_exact(&mut left).unwrap();
    assert!(left == PEOPLE.as_bytes(), "some of the stream was read");
}

/// Commands with a result, one for each way of printing.
const TALKATIVE: [&str; 14] = [
    RELEASE,
    "anonymize people.csv --quasi age,zip -k 2 -o r.csv --json",
    "verify r.csv",
    "verify r.csv --json",
    "measure people.csv r.csv",
    "hierarchy build people.csv zip --kind mask",
    "hierarchy build people.csv zip --kind mask -o zip.csv",
    "hierarchy lint zip.csv",
    "hierarchy show zip.csv",
    "explain k-anonymity",
    "completions bash",
    "demo --rows 50 -k 3 --dir d",
    "report r.csv --original people.csv --owner owner.html",
    "compare people.csv --quasi age,zip --algorithms mondrian --k 2 -o c",
];

#[test]
fn a_closed_pipe_ends_the_command() {
    let test = TestDir::with_people();
    for args in TALKATIVE {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        // The exit code a shell reports for SIGPIPE.
        let done = test.run_into(args, writer).exits(141);
        assert!(!done.stderr.contains("panicked") && !done.stderr.contains("error:"), "{done}");
    }
    test.succeeds("verify r.csv").prints(&["digest   matches"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_an_error() {
    let test = TestDir::with_people();
    for args in TALKATIVE {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = test.run_into(args, full).exits(2).reports(&["error: cannot write the result"]);
        assert!(!done.stderr.contains("panicked"), "{done}");
    }
    test.succeeds("verify r.csv").prints(&["digest   matches"]);
}
