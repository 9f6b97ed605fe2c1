//! Streams where files are expected, and results that nobody reads.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Command;

use crate::room::{PEOPLE, Room};

const RELEASE: &str = "anonymize people.csv --quasi age,zip -k 2 -o r.csv";

/// A pipe with a table in it that is never at its end: whoever waits for more waits forever.
fn pipe(room: &Room) -> (String, File) {
    let path = room.path().join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let mut pipe = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    pipe.write_all(PEOPLE.as_bytes()).unwrap();
    (path.display().to_string(), pipe)
}

#[test]
fn a_stream_is_refused_and_not_read() {
    // The pipe lies elsewhere: whoever compares this directory before and after would read it.
    let (room, elsewhere) = (Room::with_old_release(), Room::new());
    let (path, mut pipe) = pipe(&elsewhere);
    room.write("zip.csv", "A;*\nB;*\n");
    for typed in [
        format!("anonymize {path} --quasi age,zip -k 2 -o out.csv"),
        format!("anonymize people.csv {path} --quasi age,zip -k 2 -o out.csv"),
        format!("verify {path} --quasi age,zip -k 2"),
        format!("measure {path} people.csv --quasi age,zip"),
        format!("hierarchy build {path} zip --kind mask"),
        format!("hierarchy lint zip.csv --table {path} --column zip"),
    ] {
        let says = &["pipe.csv` is not a file", "save a stream to a file first"];
        room.refuses(&typed).exits(2).says(says);
    }
    room.refuses("anonymize /dev/null --quasi age,zip -k 2 -o out.csv").exits(2).says(&["is not a file"]);
    let mut left = vec![0; PEOPLE.len()];
    pipe.write_all(b"nothing was taken").unwrap();
    pipe.read_exact(&mut left).unwrap();
    assert!(left == PEOPLE.as_bytes(), "some of the stream was read");
}

/// Commands with a result, each in its own way of printing it.
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
fn whoever_closes_the_pipe_has_seen_enough() {
    let room = Room::with_people();
    for typed in TALKATIVE {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        // As a shell reports a program that a closed pipe ended.
        let done = room.run_into(typed, writer).exits(141);
        assert!(!done.stderr.contains("panicked") && !done.stderr.contains("error:"), "{done}");
    }
    room.does("verify r.csv").prints(&["digest   matches"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_an_error() {
    let room = Room::with_people();
    for typed in TALKATIVE {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = room.run_into(typed, full).exits(2).says(&["error: cannot write the result"]);
        assert!(!done.stderr.contains("panicked"), "{done}");
    }
    room.does("verify r.csv").prints(&["digest   matches"]);
}
