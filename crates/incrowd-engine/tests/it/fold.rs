//! Compares the fold with a reference implementation, for every format.

use crate::common::{
    Cell, Style, arrow, difference, fold, gzip, parquet, slow, spec, text, write, zstandard,
};
use incrowd_engine::Options;
use proptest::prelude::*;
use std::collections::BTreeMap;

const NAMES: [&str; 4] = ["age", "zip code", "größe", "note"];

fn cells() -> impl Strategy<Value = Cell> {
    prop_oneof![
        4 => "[ab]{1,2}".prop_map(Some),
        3 => "[a\",;|\t\n é]{0,6}".prop_map(Some),
        2 => "(x|\r\n|\"|\"\"|,){1,5}".prop_map(Some),
        2 => prop::sample::select(vec!["", "?", "NA", "*", "na"]).prop_map(|m| Some(m.to_owned())),
        1 => Just(None),
    ]
}

/// One to four columns, and records with many duplicates.
fn tables() -> impl Strategy<Value = (usize, Vec<Vec<Cell>>)> {
    (1usize..=4).prop_flat_map(|width| {
        let rows = prop::collection::vec((prop::collection::vec(cells(), width), 1usize..4), 0..16);
        let repeat = |rows: Vec<(Vec<Cell>, usize)>| {
            rows.into_iter().flat_map(|(row, n)| std::iter::repeat_n(row, n)).collect::<Vec<_>>()
        };
        (Just(width), rows.prop_map(repeat).prop_shuffle())
    })
}

fn styles() -> impl Strategy<Value = Style> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (prop::sample::select(b",;\t|".to_vec()), flags).prop_map(
        |(delimiter, (crlf, mark, quote_all, last_line_end))| Style {
            delimiter,
            crlf,
            mark,
            quote_all,
            last_line_end,
        },
    )
}

/// Missing texts, whether records with a missing value are dropped, and the folded columns in
/// order.
type Question = (Vec<&'static str>, bool, Vec<&'static str>);

fn questions(width: usize) -> impl Strategy<Value = Question> {
    let missing = prop::sample::select(vec![vec![], vec!["?"], vec!["", "?", "NA"]]);
    let columns = prop::sample::subsequence(NAMES[..width].to_vec(), 1..=width).prop_shuffle();
    (missing, any::<bool>(), columns)
}

fn cases() -> impl Strategy<Value = (Vec<Vec<Cell>>, Style, Question, usize)> {
    tables()
        .prop_flat_map(|(width, records)| (Just(records), styles(), questions(width), Just(width)))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn text_plain_or_compressed_folds_like_the_obvious_fold(
        (records, style, (missing, drop, columns), width) in cases(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let names = &NAMES[..width];
        let bytes = text(names, &records, &style);
        let spec = spec(&columns, &missing, drop);
        let twin = slow(names, &records, &spec, false);
        let options = Options { delimiter: Some(style.delimiter), ..Options::default() };
        // The file names have no extension. The format is detected from the bytes.
        for (name, bytes) in [("a", bytes.clone()), ("b", gzip(&bytes)), ("c", zstandard(&bytes))] {
            let path = write(dir.path(), name, &bytes);
            let folded = fold(&[path], &options, &spec).unwrap();
            prop_assert_eq!(difference(&folded, &twin), None, "file {}", name);
        }
    }

    #[test]
    fn typed_files_fold_like_the_obvious_fold(
        (records, _, (missing, drop, columns), width) in cases(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let names = &NAMES[..width];
        let spec = spec(&columns, &missing, drop);
        let twin = slow(names, &records, &spec, true);
        let (p, a) = (dir.path().join("p"), dir.path().join("a"));
        parquet(&p, names, &records);
        arrow(&a, names, &records);
        for path in [p, a] {
            let folded = fold(&[path], &Options::default(), &spec).unwrap();
            prop_assert_eq!(difference(&folded, &twin), None);
        }
    }

    #[test]
    fn several_files_with_columns_in_any_order_are_one_table(
        (records, style, (missing, drop, columns), width) in cases(),
        turn in 0usize..4,
        cut in 0usize..40,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let names = &NAMES[..width];
        // The second file has its columns rotated, and another style.
        let turned = |list: &[Cell]| { let mut l = list.to_vec(); l.rotate_left(turn % width); l };
        let mut turned_names = names.to_vec();
        turned_names.rotate_left(turn % width);
        let (first, second) = records.split_at(cut.min(records.len()));
        let second: Vec<Vec<Cell>> = second.iter().map(|r| turned(r)).collect();
        let other = Style { delimiter: style.delimiter, ..Style::PLAIN };
        let paths = [
            write(dir.path(), "1.csv", &text(names, first, &style)),
            write(dir.path(), "2.csv.gz", &gzip(&text(&turned_names, &second, &other))),
            dir.path().join("3.parquet"),
        ];
        parquet(&paths[2], &turned_names, &second);
        let spec = spec(&columns, &missing, drop);
        let options = Options { delimiter: Some(style.delimiter), ..Options::default() };
        let folded = fold(&paths, &options, &spec).unwrap();
        // Nulls of the third file are missing values. Empty texts of the other files are missing
        // only if they are listed.
        let empty = |record: &Vec<Cell>| {
            record.iter().map(|c| Some(c.clone().unwrap_or_default())).collect()
        };
        let back: Vec<Vec<Cell>> = records[cut.min(records.len())..].to_vec();
        let mut all: Vec<Vec<Cell>> = records.iter().map(empty).collect();
        all.extend(back);
        let twin = slow(names, &all, &spec, true);
        prop_assert_eq!(difference(&folded, &twin), None);
    }
}

/// Rows of many columns are packed into integers while there are few distinct values, and unpacked
/// when more values occur.
#[test]
fn rows_that_no_longer_fit_into_packed_numbers_are_counted() {
    let names: Vec<String> = (0..40).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = names.join(",") + "\n";
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    // The first chunks have one value in each column, and some missing values. The last chunks have
    // three values.
    let records = 90_000;
    for at in 0..records {
        let values = if at < records * 3 / 4 { 1 } else { 3 };
        let cell = |column: usize| match (at * (column + 7) / 3 + at / 1000) % 50 {
            49 => "?".to_owned(),
            n => format!("v{}", n % values),
        };
        let record = (0..names.len()).map(cell).collect::<Vec<_>>().join(",");
        table += &record;
        table.push('\n');
        *expected.entry(record).or_default() += 1;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = write(dir.path(), "wide.csv", table.as_bytes());
    let folded = fold(&[path], &Options::default(), &spec(&names, &["?"], false)).unwrap();
    let spelled = folded.canonical().into_iter().map(|(cells, records)| {
        (cells.into_iter().map(|cell| cell.unwrap_or("?")).collect::<Vec<_>>().join(","), records)
    });
    assert_eq!(spelled.collect::<BTreeMap<_, _>>(), expected);
    assert_eq!(folded.records(), records as u64);
}
