//! Long quoted texts, detected delimiters, globs and digests.

use std::path::PathBuf;

use crate::common::{
    Cell, Style, dice, difference, fold, gzip, slow, spec, text, write, zstandard,
};
use incrowd_core::Silent;
use incrowd_engine::{Embedded, Engine, ExaminedColumns, Options, Source};

/// About six MiB. The quoted texts contain line breaks, delimiters and quotation marks, so that
/// every chunk boundary at a line end is or could be within quotes.
fn many_lines() -> Vec<Vec<Cell>> {
    let mut roll = dice(11);
    let texts: Vec<String> = (0..5)
        .map(|i| format!("line {i}\n,\"second\"\n").repeat(30) + &"\r\n".repeat(i))
        .chain(["x".to_owned(), String::new()])
        .collect();
    (0..14_000)
        .map(|_| {
            let text = texts[roll(texts.len() as u64) as usize].clone();
            vec![
                Some(roll(3).to_string()),
                Some(text),
                Some(["a", "?", "b\""][roll(3) as usize].to_owned()),
            ]
        })
        .collect()
}

#[test]
fn line_breaks_inside_quotes_do_not_mislead_the_cuts_between_chunks() {
    let (dir, names, records) = (tempfile::tempdir().unwrap(), ["n", "text", "m"], many_lines());
    for (crlf, name) in [(false, "lf"), (true, "crlf")] {
        let bytes = text(&names, &records, &Style { crlf, ..Style::PLAIN });
        assert!(bytes.len() > 5 << 20, "the table spans several chunks");
        let spec = spec(&names, &["?"], crlf);
        let twin = slow(&names, &records, &spec, false);
        for (format, bytes) in
            [("plain", bytes.clone()), ("gz", gzip(&bytes)), ("zst", zstandard(&bytes))]
        {
            let path = write(dir.path(), name, &bytes);
            let folded = fold(&[path], &Options::default(), &spec).unwrap();
            assert_eq!(difference(&folded, &twin), None, "{name} {format}");
        }
    }
}

#[test]
fn a_quoted_text_longer_than_several_chunks_is_one_cell() {
    let (dir, names) = (tempfile::tempdir().unwrap(), ["n", "text"]);
    let long = "1,2\n".repeat(1_300_000);
    let mut records: Vec<Vec<Cell>> = vec![vec![Some("1".into()), Some("short".into())]; 3];
    records.insert(1, vec![Some("2".into()), Some(long)]);
    let path = write(dir.path(), "long.csv", &text(&names, &records, &Style::PLAIN));
    let spec = spec(&["text", "n"], &[], false);
    let folded = fold(&[path], &Options::default(), &spec).unwrap();
    assert_eq!(difference(&folded, &slow(&names, &records, &spec, false)), None);
}

#[test]
fn delimiters_are_sniffed() {
    let (dir, names) = (tempfile::tempdir().unwrap(), ["a", "b", "c"]);
    let record =
        |n: u32| vec![Some(n.to_string()), Some(format!("x, y; z{n}")), Some("p|q\tr".to_owned())];
    let records: Vec<Vec<Cell>> = (0..20).map(|i| record(i % 4)).collect();
    let spec = spec(&names, &[], false);
    let twin = slow(&names, &records, &spec, false);
    for delimiter in *b",;\t|" {
        for quote_all in [true, false] {
            let style = Style { delimiter, quote_all, ..Style::PLAIN };
            let path = write(dir.path(), "t.csv", &text(&names, &records, &style));
            let folded = fold(&[path], &Options::default(), &spec).unwrap();
            assert_eq!(difference(&folded, &twin), None, "{:?}", delimiter as char);
        }
    }
}

#[test]
fn a_pattern_means_all_files_that_match() {
    let dir = tempfile::tempdir().unwrap();
    for (name, ages) in
        [("part-1.csv", "a\n1\n2\n"), ("part-2.csv", "a\n2\n"), ("other.csv", "a\n9\n")]
    {
        write(dir.path(), name, ages.as_bytes());
    }
    std::fs::create_dir(dir.path().join("part-3.csv")).unwrap();
    let spec = spec(&["a"], &[], false);
    let folded = fold(&[dir.path().join("part-*.csv")], &Options::default(), &spec).unwrap();
    let one = |age: &'static str, n| (vec![Some(age)], n);
    assert_eq!(folded.canonical(), [one("1", 1), one("2", 2)]);
    let error = fold(&[dir.path().join("none-*.csv")], &Options::default(), &spec).unwrap_err();
    assert!(error.message().contains("no file matches"), "{error}");
    // An existing file whose name contains pattern characters is not a pattern.
    write(dir.path(), "part-[1].csv", b"a\n7\n");
    let folded = fold(&[dir.path().join("part-[1].csv")], &Options::default(), &spec).unwrap();
    assert_eq!(folded.canonical(), [one("7", 1)]);
}

/// Reading a file twice would double every group, so that k = 2 would hold without any protection.
#[test]
fn a_file_named_twice_does_not_count_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(dir.path(), "t.csv", b"a\n1\n2\n");
    let pattern = dir.path().join("*.csv");
    for paths in [vec![path.clone(), path.clone()], vec![path, pattern]] {
        match fold(&paths, &Options::default(), &spec(&["a"], &[], false)) {
            Ok(folded) => assert_eq!(folded.records(), 2),
            Err(error) => assert!(error.message().contains("twice"), "{error}"),
        }
    }
}

#[test]
fn the_digest_is_that_of_the_bytes_of_the_file() {
    let (dir, names) = (tempfile::tempdir().unwrap(), ["n", "text", "m"]);
    let bytes = text(&names, &many_lines(), &Style::PLAIN);
    for (name, bytes) in
        [("t.csv", bytes.clone()), ("t.csv.gz", gzip(&bytes)), ("t.csv.zst", zstandard(&bytes))]
    {
        let path = write(dir.path(), name, &bytes);
        let columns = ["m".to_owned()];
        let source =
            Source::open(&[path], &Options { digest: true, ..Options::default() }).unwrap();
        let back = source.read_release(&columns, ExaminedColumns::default(), &Silent).unwrap();
        assert_eq!(back.digest, format!("blake3:{}", blake3::hash(&bytes).to_hex()), "{name}");
        assert_eq!(back.columns, names);
    }
}

#[test]
fn the_first_record_with_a_value_is_found_across_chunks_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines: Vec<String> = (0..400_000).map(|i| format!("{},filler {i}", i % 10)).collect();
    lines[345_677] = "needle,x".into();
    lines[345_999] = "needle,x".into();
    let big = write(dir.path(), "big.csv", format!("a,b\n{}\n", lines.join("\n")).as_bytes());
    let engine = Embedded::open(std::slice::from_ref(&big), &Options::default()).unwrap();
    assert_eq!(engine.locate("a", "needle").unwrap().as_deref(), Some("record 345678"));
    assert_eq!(engine.locate("a", "nothing").unwrap(), None);
    let small = write(dir.path(), "small.csv", b"b,a\nx,1\n");
    let paths: Vec<PathBuf> = vec![small, big.clone()];
    let engine = Embedded::open(&paths, &Options::default()).unwrap();
    let expected = format!("record 345678 of `{}`", big.display());
    assert_eq!(engine.locate("a", "needle").unwrap(), Some(expected));
}
