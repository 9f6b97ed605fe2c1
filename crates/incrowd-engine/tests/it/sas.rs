//! SAS data sets in all variants of the format.

use std::path::PathBuf;

use incrowd_engine::{Options, Source};

use crate::foreign::{COLUMNS, PEOPLE, expected, records};
use crate::sas_writer::{Column, Layout, Packing, Values, data_set};

const PLAIN: Layout = Layout {
    wide: true,
    big: false,
    shifted: true,
    packing: Packing::None,
    mix: false,
    encoding: 20,
};

/// Days from 1960-01-01 to the dates of birth of the four people.
const BORN: [Option<f64>; 4] = [Some(4638.0), Some(7306.0), None, Some(15_340.0)];

fn people(zurich: &[u8]) -> Vec<Column<'_>> {
    let numbers = |name, format, width, values| Column {
        name,
        format,
        values: Values::Numbers(width, values),
    };
    let texts =
        |name, width, values| Column { name, format: "$", values: Values::Texts(width, values) };
    let moments = BORN.map(|days| days.map(|days| days * 86_400.0 + 3600.5)).to_vec();
    vec![
        numbers("age", "BEST", 3, vec![Some(34.0), Some(36.0), None, Some(51.0)]),
        texts("sex", 20, vec![b"male", b"female", b"female", b"male"]),
        texts("town", 9, vec![b"Graz", b"Linz", b"", zurich]),
        numbers("height", "", 8, vec![Some(1.5), Some(169.25), Some(170.0), None]),
        numbers("born", "YYMMDDD", 5, BORN.to_vec()),
        numbers("seen", "DATETIME", 8, moments),
    ]
}

fn written(dir: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join("people.sas7bdat");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_data_set_is_read_whatever_its_layout() {
    let dir = tempfile::tempdir().unwrap();
    for packing in [Packing::None, Packing::Runs, Packing::Ross] {
        for bits in 0..16 {
            let is = |bit: u8| bits >> bit & 1 == 1;
            let layout = Layout {
                wide: is(0),
                big: is(1),
                shifted: is(2),
                mix: is(3) && packing == Packing::None,
                packing,
                encoding: 20,
            };
            let path = written(&dir, &data_set(layout, &people("Zürich".as_bytes())));
            assert_eq!(
                records(&path, &COLUMNS, &Options::default()),
                expected(PEOPLE),
                "{layout:?}"
            );
            let days = |column: &str| records(&path, &[column], &Options::default());
            assert_eq!(days("seen"), days("born"), "{layout:?}");
        }
    }
}

#[test]
fn many_records_take_many_pages() {
    let dir = tempfile::tempdir().unwrap();
    let numbers: Vec<Option<f64>> =
        (0..3000).map(|i| (i % 7 > 0).then_some(f64::from(i) / 4.0)).collect();
    let texts: Vec<String> = (0..3000).map(|i| format!("{}", i % 11).repeat(i % 25)).collect();
    let expected = |i: usize| {
        let number =
            numbers[i].map(|x| if x.fract() == 0.0 { format!("{x:.1}") } else { x.to_string() });
        vec![number, Some(texts[i].clone()).filter(|text| !text.is_empty())]
    };
    let mut all: Vec<Vec<Option<String>>> = (0..3000).map(expected).collect();
    all.sort();
    for packing in [Packing::None, Packing::Runs, Packing::Ross] {
        for (wide, big) in [(false, false), (false, true), (true, false), (true, true)] {
            let layout = Layout { wide, big, packing, mix: packing == Packing::None, ..PLAIN };
            let columns = [
                Column { name: "x", format: "", values: Values::Numbers(8, numbers.clone()) },
                Column {
                    name: "t",
                    format: "$CHAR",
                    values: Values::Texts(60, texts.iter().map(|text| text.as_bytes()).collect()),
                },
            ];
            let mut read = records(
                &written(&dir, &data_set(layout, &columns)),
                &["x", "t"],
                &Options::default(),
            );
            read.sort();
            assert!(read == all, "{layout:?}");
        }
    }
}

#[test]
fn texts_are_read_in_their_encoding_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let latin = data_set(Layout { encoding: 62, ..PLAIN }, &people(b"Z\xfcrich"));
    assert_eq!(records(&written(&dir, &latin), &COLUMNS, &Options::default()), expected(PEOPLE));
    // A DOS code page.
    let unknown = data_set(Layout { encoding: 42, ..PLAIN }, &people(b"Z\x81rich"));
    let error = Source::open(&[written(&dir, &unknown)], &Options::default()).unwrap_err();
    assert!(error.message().contains("encoding that is not read"), "{error}");
    let ascii = data_set(Layout { encoding: 42, ..PLAIN }, &people(b"Zurich"));
    assert!(Source::open(&[written(&dir, &ascii)], &Options::default()).is_ok());
}

#[test]
fn deleted_records_are_not_published() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = data_set(PLAIN, &people(b"Wien"));
    // The lower byte of the type of the second page, which contains the records.
    bytes[1024 + 4096 + 32] |= 0x80;
    let error = Source::open(&[written(&dir, &bytes)], &Options::default()).unwrap_err();
    assert!(error.message().contains("were deleted"), "{error}");
}

#[test]
fn a_damaged_data_set_is_an_error_or_a_table_and_never_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut errors = 0;
    for (packing, wide) in [(Packing::None, true), (Packing::Runs, false), (Packing::Ross, true)] {
        let sound = data_set(Layout { packing, wide, big: wide, ..PLAIN }, &people(b"Wien"));
        // Only positions with data. The rest of the header and the pages is zero.
        for at in (32..sound.len()).filter(|at| (sound[*at] != 0 && at % 3 == 0) || at % 64 == 0) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            let path = written(&dir, &damaged);
            errors += usize::from(Source::open(&[path], &Options::default()).is_err());
        }
        for end in (0..sound.len()).step_by(509) {
            let path = written(&dir, &sound[..end]);
            assert!(Source::open(&[path], &Options::default()).is_err(), "{end}");
        }
    }
    assert!(errors > 100, "{errors}");
}
