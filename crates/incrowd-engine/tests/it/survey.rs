//! A survey returns the same cells as a fold, record by record.

use std::collections::BTreeMap;

use incrowd_core::{Columnar, MISSING, Silent};
use incrowd_engine::{Embedded, Engine, FoldSpec, Options};

type Rows<'a> = BTreeMap<Vec<Option<&'a str>>, u64>;

fn rows(table: &Columnar) -> Rows<'_> {
    let mut rows = Rows::new();
    for record in 0..table.records {
        let cell = |c: &'_ usize| {
            let column = &table.columns[*c];
            let code = column.codes[record];
            (code != MISSING).then(|| column.texts.get(code))
        };
        *rows
            .entry((0..table.columns.len()).collect::<Vec<_>>().iter().map(cell).collect())
            .or_default() += 1;
    }
    rows
}

/// Several chunks, read by several threads. A line break within quotes requires a correction of the
/// chunk boundary.
#[test]
fn a_survey_agrees_with_a_fold() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let mut text = String::from("id,name,note,few\n");
    for i in 0..70_000u32 {
        let note = ["plain", "\"two\nlines, one cell\"", "?", ""][(i % 4) as usize];
        let name = format!("name {} {}", i % 5_000, "x".repeat((i % 40) as usize));
        text += &format!("{i},{name},{note},{}\n", i % 3);
    }
    std::fs::write(&path, &text).unwrap();
    let mut engine = Embedded::open(&[path], &Options::default()).unwrap();
    let missing: Vec<String> = vec!["".into(), "?".into()];
    for columns in [vec!["few", "note"], vec!["id", "name", "note", "few"]] {
        let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
        let table = engine.source().survey(&columns, &missing, &Silent).unwrap();
        assert_eq!(table.records, 70_000);
        let spec = FoldSpec { columns, missing: missing.clone(), ..FoldSpec::default() };
        let folded = engine.fold(&spec, &Silent).unwrap();
        assert_eq!(rows(&table), folded.canonical().into_iter().collect::<Rows<'_>>());
    }
}

#[test]
fn long_cells_take_little_memory_and_stay_different() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let long = "ä long letter ".repeat(500);
    let text: String = (0..50).map(|i| format!("{long}{}\n", i % 25)).collect();
    std::fs::write(&path, format!("letter\n{text}")).unwrap();
    let engine = Embedded::open(&[path], &Options::default()).unwrap();
    let table = engine.source().survey(&["letter".into()], &[], &Silent).unwrap();
    let texts = &table.columns[0].texts;
    assert_eq!(texts.iter().count(), 25);
    assert!(texts.iter().all(|(_, text)| text.len() <= 100 && text.starts_with("ä long letter")));
    assert!(table.columns[0].counts()[1..].iter().all(|&n| n == 2));
}

#[test]
fn a_missing_column_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "age\n1\n").unwrap();
    let engine = Embedded::open(&[path], &Options::default()).unwrap();
    assert!(engine.source().survey(&["agee".into()], &[], &Silent).is_err());
}
