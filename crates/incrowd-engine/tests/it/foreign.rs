//! Tables of other programs: Stata and SPSS with labels, missing values and dates; Excel;
//! unsupported formats. SAS is in `sas.rs`.

use std::path::{Path, PathBuf};

use incrowd_core::Silent;
use incrowd_engine::{FoldSpec, Options, Source};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The records of a file. Missing cells are empty.
pub(crate) fn records(
    path: &Path,
    columns: &[&str],
    options: &Options,
) -> Vec<Vec<Option<String>>> {
    let source = Source::open(&[path.to_owned()], options).unwrap();
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    let folded = source.fold(&FoldSpec { columns, ..FoldSpec::default() }, &Silent).unwrap();
    let rows = folded.canonical().into_iter();
    rows.flat_map(|(row, n)| {
        let row: Vec<Option<String>> =
            row.into_iter().map(|cell| cell.map(str::to_owned)).collect();
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
    for name in [
        "people117.dta",
        "people118.dta",
        "people.sav",
        "people_row.sav",
        "people.zsav",
        "people114.dta",
    ] {
        assert_eq!(records(&file(name), &COLUMNS, &Options::default()), expected(PEOPLE), "{name}");
    }
}

/// A file of Stata 4 to 8 in either byte order, with consecutive parts of fixed width.
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
    file.extend(
        [two(5), four(4), vec![0; label], vec![0; if version > 104 { 18 } else { 0 }]].concat(),
    );
    // A one-byte integer, a two-byte integer with labels, a text of six bytes, two doubles.
    file.extend(if version < 111 {
        [b'b', b'i', 127 + 7, b'd', b'd']
    } else {
        [251, 252, 7, 255, 255]
    });
    file.extend(COLUMNS.iter().flat_map(|column| padded(column, name)));
    file.extend([0; 12]);
    let format = if version > 104 { 12 } else { 7 };
    file.extend(
        ["%8.0g", "%8.0g", "%7s", "%9.2f", "%d"].iter().flat_map(|text| padded(text, format)),
    );
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
            assert_eq!(
                records(&path, &COLUMNS, &Options::default()),
                expected(people),
                "{version} {big}"
            );
        }
    }
    // The value 101 is a number before format 113, and missing since then.
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
fn declared_missing_values_are_missing() {
    let answers = |name: &str| {
        let mut rows = records(&file(name), &["answer"], &Options::default()).concat();
        rows.sort();
        rows
    };
    let some = |text: &str| Some(text.to_owned());
    // Missing values are declared in the SPSS files, as a value and as a range, but not in the
    // Stata files.
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
    // The table is in memory after it was opened, and is still that of a file.
    let source = Source::open([file("one.xlsx")], &Options::default()).unwrap();
    assert!(source.files().eq([file("one.xlsx")]));
    let sheet = |name: &str| Options { sheet: Some(name.to_owned()), ..Options::default() };
    assert_eq!(records(&file("people.xlsx"), &COLUMNS, &sheet("people")), expected(PEOPLE));
    assert_eq!(records(&file("people.xlsx"), &["age"], &sheet("notes")).len(), 4 - 1);
    let which = Source::open(&[file("people.xlsx")], &Options::default()).unwrap_err();
    assert!(
        which.message().contains("2 sheets") && which.advice().unwrap().contains("notes"),
        "{which}"
    );
    let none = Source::open(&[file("people.xlsx")], &sheet("peopel")).unwrap_err();
    assert!(none.message().contains("no sheet `peopel`"), "{none}");
}

#[test]
#[cfg(feature = "formats")]
fn cells_of_a_workbook_are_read_as_excel_shows_them() {
    use incrowd_testing::foreign::workbook;
    let strings = "<sst><si><t>name</t></si><si><r><t xml:space=\"preserve\">An </t></r><r><t>na</t></r><rPh><t>x</t></rPh></si>\
                   <si><t> a_x000D_b &lt;&#228; </t></si></sst>";
    let styles = "<styleSheet><numFmts><numFmt numFmtId=\"170\" formatCode=\"dd.mm.yyyy\"/></numFmts>\
                  <cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>\
                  <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"170\"/><xf numFmtId=\"22\"/></cellXfs></styleSheet>";
    // The header is the first row with a cell, and the table starts in column B. Cells and rows may
    // have no reference attribute.
    let rows = "<row r=\"1\"><c r=\"A1\"/></row>\
        <row r=\"3\"><c r=\"B3\" t=\"s\"><v>0</v></c><c t=\"inlineStr\"><is><t>born</t></is></c><c t=\"str\"><v>sum</v></c></row>\
        <row><c r=\"B4\" t=\"s\"><v>1</v></c><c s=\"1\"><v>26554</v></c><c><f>1+1</f><v>2.5</v></c><c t=\"b\"><v>1</v></c></row>\
        <row r=\"9\"><c r=\"E9\" t=\"e\"><v>#N/A</v></c><c r=\"B9\" t=\"s\"><v>2</v></c><c s=\"2\"><v>29222.75</v></c></row>\
        <row r=\"10\"><c r=\"D10\"><v>4</v></c></row>";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.xlsx");
    std::fs::write(&path, workbook(rows, strings, styles)).unwrap();
    let rows = records(&path, &["name", "born", "sum", "column 4"], &Options::default());
    let cell = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut expected: Vec<Vec<Option<String>>> = [
        ["An na", "1972-09-12", "2.5", "true"],
        ["a\rb <ä", "1980-01-02", "", ""],
        ["", "", "4.0", ""],
    ]
    .iter()
    .map(|row| row.iter().map(|text| cell(text)).collect())
    .collect();
    expected.sort();
    assert_eq!(rows, expected);
}

#[test]
#[cfg(feature = "formats")]
fn a_workbook_may_count_its_days_from_1904() {
    let relation = |kind: &str, target: &str| {
        format!("<Relationship Id=\"{kind}\" Type=\"x/{kind}\" Target=\"{target}\"/>")
    };
    let list = |all: String| format!("<Relationships>{all}</Relationships>");
    let sheet = "<worksheet><sheetData><row><c t=\"inlineStr\"><is><t>born</t></is></c></row>\
                 <row><c s=\"0\"><v>0</v></c></row></sheetData></worksheet>";
    let book = "<workbook><workbookPr date1904=\"1\"/><sheets><sheet name=\"a\" id=\"worksheet\"/></sheets></workbook>";
    let file = incrowd_testing::foreign::zip(&[
        ("_rels/.rels", list(relation("officeDocument", "xl/workbook.xml")).as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        (
            "xl/_rels/workbook.xml.rels",
            list(relation("worksheet", "/xl/s.xml") + &relation("styles", "x.xml")).as_bytes(),
        ),
        ("xl/s.xml", sheet.as_bytes()),
        ("xl/x.xml", b"<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.xlsx");
    std::fs::write(&path, file).unwrap();
    assert_eq!(records(&path, &["born"], &Options::default()), [[Some("1904-01-01".to_owned())]]);
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
        ("one.xlsx", 5),
    ] {
        let sound = std::fs::read(file(name)).unwrap();
        for at in (16..sound.len()).step_by(step) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            errors += usize::from(
                Source::open(std::slice::from_ref(&path), &Options::default()).is_err(),
            );
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
fn known_formats_that_cannot_be_read_get_a_hint() {
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
    // A column name may start with the same bytes as a signature.
    std::fs::write(dir.path().join("t.csv"), "ORC,age\n1,2\n").unwrap();
    assert!(Source::open(&[dir.path().join("t.csv")], &Options::default()).is_ok());
}
