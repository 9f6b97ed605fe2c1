//! Tables that other programs wrote: Stata and SPSS (SAS is in `sas.rs`), with labels, missing values and dates; Excel; and what is not read.

use std::path::{Path, PathBuf};

use incrowd_core::Silent;
use incrowd_engine::{FoldSpec, Options, Source};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The records of a file, those that lack something with nothing there.
pub(crate) fn records(path: &Path, columns: &[&str], options: &Options) -> Vec<Vec<Option<String>>> {
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

pub(crate) fn expected(rows: [[&str; 5]; 4]) -> Vec<Vec<Option<String>>> {
    let cell = |cell: &str| (!cell.is_empty()).then(|| cell.to_owned());
    let mut rows: Vec<Vec<Option<String>>> =
        rows.iter().map(|row| row.iter().map(|c| cell(c)).collect()).collect();
    rows.sort();
    rows
}

pub(crate) const PEOPLE: [[&str; 5]; 4] = [
    ["34", "male", "Graz", "1.5", "1972-09-12"],
    ["36", "female", "Linz", "169.25", "1980-01-02"],
    ["", "female", "", "170.0", ""],
    ["51", "male", "Zürich", "", "2001-12-31"],
];
pub(crate) const COLUMNS: [&str; 5] = ["age", "sex", "town", "height", "born"];

#[test]
fn stata_and_spss_are_read_with_labels_and_dates() {
    for name in
        ["people117.dta", "people118.dta", "people.sav", "people_row.sav", "people.zsav", "people114.dta"]
    {
        assert_eq!(records(&file(name), &COLUMNS, &Options::default()), expected(PEOPLE), "{name}");
    }
}

/// A table of Stata 4 to 8 in either order of bytes: parts of fixed width, one after another.
fn old_stata(version: u8, big: bool) -> Vec<u8> {
    let ordered = |mut bytes: Vec<u8>| {
        if big {
            bytes.reverse();
        }
        bytes
    };
    let two = |x: i16| ordered(x.to_le_bytes().to_vec());
    let four = |x: i32| ordered(x.to_le_bytes().to_vec());
    let double = |x: f64| ordered(x.to_le_bytes().to_vec());
    let padded = |text: &str, width: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(width, 0);
        bytes
    };
    let name = if version > 108 { 33 } else { 9 };
    let label = if version > 105 { 81 } else { 32 };
    let mut file = vec![version, if big { 1 } else { 2 }, 1, 0];
    file.extend([two(5), four(4), vec![0; label], vec![0; if version > 104 { 18 } else { 0 }]].concat());
    // A number of one byte, one of two with labels, a text of six bytes, two doubles.
    file.extend(if version < 111 { [b'b', b'i', 127 + 7, b'd', b'd'] } else { [251, 252, 7, 255, 255] });
    file.extend(COLUMNS.iter().flat_map(|column| padded(column, name)));
    file.extend([0; 12]);
    let format = if version > 104 { 12 } else { 7 };
    file.extend(["%8.0g", "%8.0g", "%7s", "%9.2f", "%d"].iter().flat_map(|text| padded(text, format)));
    file.extend(["", "sex", "", "", ""].iter().flat_map(|text| padded(text, name)));
    file.extend(vec![0; 5 * label]);
    match version {
        109.. => file.extend([vec![1], four(3), vec![7; 3], vec![0; 5]].concat()),
        105..=108 => file.extend([vec![1], two(3), vec![7; 3], vec![0; 3]].concat()),
        _ => {}
    }
    let missing = if version <= 105 { 2f64.powi(333) } else { 2f64.powi(1023) };
    let (none, none_of_two) = if version < 113 { (127, 32_767) } else { (101, 32_741) };
    let row = |age: i8, sex: i16, town: &str, height: f64, born: f64| {
        [vec![age as u8], two(sex), padded(town, 7), double(height), double(born)].concat()
    };
    file.extend(row(34, 1, "Graz", 1.5, 4638.0));
    file.extend(row(36, 2, "Linz", 169.25, 7306.0));
    file.extend(row(none, none_of_two, "", 170.0, missing));
    file.extend(row(51, 1, "Z\u{fc}rich", missing, 15_340.0));
    match version {
        108.. => {
            let texts = b"female\0male\0";
            file.extend([four(28), padded("sex", name), vec![0; 3], four(2), four(12)].concat());
            file.extend([four(7), four(0), four(1), four(2), texts.to_vec()].concat());
        }
        _ => {
            file.extend([two(2), padded("sex", 9), vec![0], two(1), two(2)].concat());
            file.extend([padded("male", 8), padded("female", 8)].concat());
        }
    }
    file
}

#[test]
fn stata_files_of_any_age_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.dta");
    let mut people = PEOPLE;
    people[2][1] = "";
    for version in [104, 105, 108, 110, 111, 113] {
        for big in [false, true] {
            std::fs::write(&path, old_stata(version, big)).unwrap();
            assert_eq!(records(&path, &COLUMNS, &Options::default()), expected(people), "{version} {big}");
        }
    }
    // 101 was a number before format 113, and is missing since.
    for (version, there) in [(111, true), (113, false)] {
        let mut file = old_stata(version, false);
        let at = file.windows(7).position(|bytes| bytes == b"\x01\0Graz\0").unwrap() - 1;
        file[at] = 101;
        std::fs::write(&path, file).unwrap();
        let ages = records(&path, &["age"], &Options::default()).concat();
        assert_eq!(ages.contains(&Some("101".to_owned())), there, "{version}");
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
    for (name, step) in [
        ("people117.dta", 1),
        ("people114.dta", 4),
        ("people.sav", 1),
        ("people_row.sav", 2),
        ("people.zsav", 3),
    ] {
        let sound = std::fs::read(file(name)).unwrap();
        for at in (16..sound.len()).step_by(step) {
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
    assert!(told("a.db", b"SQLite format 3\0").contains("sqlite3 -csv"));
    assert!(told("a.xls", b"\xd0\xcf\x11\xe0\0").contains("save it as .xlsx"));
    assert!(told("a.orc", b"ORC\0\x01\x02").contains("as Parquet"));
    assert!(told("a.zip", b"PK\x03\x04\0\0").contains("unzip"));
    assert!(told("a.html", b"<!DOCTYPE html>").contains("web page"));
    // Names of columns may begin like anything.
    std::fs::write(dir.path().join("t.csv"), "ORC,age\n1,2\n").unwrap();
    assert!(Source::open(&[dir.path().join("t.csv")], &Options::default()).is_ok());
}
