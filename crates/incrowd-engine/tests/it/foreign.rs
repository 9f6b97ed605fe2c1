//! Tables that other programs wrote: Stata and SPSS, with labels, missing values and dates; Excel; and what is not read.

use std::path::{Path, PathBuf};

use incrowd_core::Silent;
use incrowd_engine::{FoldSpec, Options, Source};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The records of a file, those that lack something with nothing there.
fn records(path: &Path, columns: &[&str], options: &Options) -> Vec<Vec<Option<String>>> {
    let source = Source::open(&[path.to_owned()], options).unwrap();
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    let folded = source.fold(&FoldSpec { columns, ..FoldSpec::default() }, &Silent).unwrap();
    let rows = folded.canonical().into_iter();
    rows.flat_map(|(row, n)| {
        let row: Vec<Option<String>> = row.into_iter().map(|cell| cell.map(str::to_owned)).collect();
        vec![row; n as usize]
    })
    .collect()
}

fn expected(rows: [[&str; 5]; 4]) -> Vec<Vec<Option<String>>> {
    let cell = |cell: &str| (!cell.is_empty()).then(|| cell.to_owned());
    let mut rows: Vec<Vec<Option<String>>> =
        rows.iter().map(|row| row.iter().map(|c| cell(c)).collect()).collect();
    rows.sort();
    rows
}

const PEOPLE: [[&str; 5]; 4] = [
    ["34", "male", "Graz", "1.5", "1972-09-12"],
    ["36", "female", "Linz", "169.25", "1980-01-02"],
    ["", "female", "", "170.0", ""],
    ["51", "male", "Zürich", "", "2001-12-31"],
];
const COLUMNS: [&str; 5] = ["age", "sex", "town", "height", "born"];

#[test]
fn stata_and_spss_are_read_with_labels_and_dates() {
    for name in ["people117.dta", "people118.dta", "people.sav", "people_row.sav"] {
        assert_eq!(records(&file(name), &COLUMNS, &Options::default()), expected(PEOPLE), "{name}");
    }
}

#[test]
fn what_a_user_declares_missing_is_missing() {
    let answers = |name: &str| {
        let mut rows = records(&file(name), &["answer"], &Options::default()).concat();
        rows.sort();
        rows
    };
    let some = |text: &str| Some(text.to_owned());
    // Declared for the SPSS files, as a value and as a range, and not for the Stata files.
    for name in ["people.sav", "people_row.sav"] {
        assert_eq!(answers(name), [None, some("no"), some("yes"), some("yes")], "{name}");
    }
    assert_eq!(answers("people118.dta"), [some("no"), some("refused"), some("yes"), some("yes")]);
    let long = records(&file("people118.dta"), &["_long"], &Options::default());
    assert!(long.concat().iter().all(|text| text.as_deref() == Some("xxxxxxxxxx")));
}

#[test]
#[cfg(feature = "formats")]
fn a_sheet_is_a_table() {
    assert_eq!(records(&file("one.xlsx"), &COLUMNS, &Options::default()), expected(PEOPLE));
    let sheet = |name: &str| Options { sheet: Some(name.to_owned()), ..Options::default() };
    assert_eq!(records(&file("people.xlsx"), &COLUMNS, &sheet("people")), expected(PEOPLE));
    assert_eq!(records(&file("people.xlsx"), &["age"], &sheet("notes")).len(), 4 - 1);
    let which = Source::open(&[file("people.xlsx")], &Options::default()).unwrap_err();
    assert!(which.message().contains("2 sheets") && which.advice().unwrap().contains("notes"), "{which}");
    let none = Source::open(&[file("people.xlsx")], &sheet("peopel")).unwrap_err();
    assert!(none.message().contains("no sheet `peopel`"), "{none}");
}

#[test]
fn a_damaged_file_is_an_error_or_a_table_and_never_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged");
    let mut errors = 0;
    for name in ["people117.dta", "people.sav", "people_row.sav"] {
        let sound = std::fs::read(file(name)).unwrap();
        for at in 16..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            errors += usize::from(Source::open(std::slice::from_ref(&path), &Options::default()).is_err());
            if at % 7 == 0 {
                std::fs::write(&path, &sound[..at]).unwrap();
                let cut = Source::open(std::slice::from_ref(&path), &Options::default());
                errors += usize::from(cut.is_err());
            }
        }
    }
    assert!(errors > 500, "{errors}");
}

#[test]
fn what_is_known_and_not_read_gets_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let told = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = Source::open(&[path], &Options::default()).unwrap_err();
        format!("{} / {}", error.message(), error.advice().unwrap_or_default())
    };
    let sas = [&[0; 12][..], b"\xc2\xea\x81\x60", &[0; 40]].concat();
    assert!(told("a.sas7bdat", &sas).contains("a SAS file / proc export"));
    assert!(told("a.db", b"SQLite format 3\0").contains("sqlite3 -csv"));
    assert!(told("a.xls", b"\xd0\xcf\x11\xe0\0").contains("save it as .xlsx"));
    assert!(told("a.orc", b"ORC\0\x01\x02").contains("as Parquet"));
    assert!(told("a.zip", b"PK\x03\x04\0\0").contains("unzip"));
    assert!(told("a.html", b"<!DOCTYPE html>").contains("web page"));
    assert!(told("a.dta", &[114, 2, 1, 0, 5]).contains("Stata 12"));
    // Names of columns may begin like anything.
    std::fs::write(dir.path().join("t.csv"), "ORC,age\n1,2\n").unwrap();
    assert!(Source::open(&[dir.path().join("t.csv")], &Options::default()).is_ok());
}
