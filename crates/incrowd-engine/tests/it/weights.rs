//! Sampling weights that another system sums. The sums equal those of the embedded engine, and are
//! verified on the release.

use std::collections::BTreeMap;
use std::sync::Arc;

use incrowd_core::{
    Code, ColumnSpec, Dataset, Folded, Partition, Plan, RowId, SensitiveSpec, Silent, Span,
};
use incrowd_engine::{
    Batches, Content, Embedded, Engine, ExaminedColumns, FoldSpec, Order, Output, Places,
    RemoteEngine,
};

use crate::common::{Cell, batches, dice};
use crate::remote::{Published, RemoteTable, Shelf};

const NAMES: [&str; 4] = ["age", "disease", "pw", "ward"];

fn sample(count: u64, seed: u64) -> Vec<Vec<Cell>> {
    let mut dice = dice(seed);
    let record = |_| {
        let age = if dice(15) == 0 { "?".to_owned() } else { dice(12).to_string() };
        let weight = format!("{}.{:07}", 1 + dice(40), dice(10_000_000));
        [age, ["flu", "cold"][dice(2) as usize].to_owned(), weight, dice(3).to_string()]
            .map(Some)
            .to_vec()
    };
    (0..count).map(record).collect()
}

fn spec(keep: bool) -> FoldSpec {
    let columns = ["age", "disease"].map(str::to_owned).to_vec();
    let (missing, weight) = (vec!["?".to_owned()], Some("pw".to_owned()));
    let passthrough = if keep { vec!["ward".to_owned(), "pw".to_owned()] } else { Vec::new() };
    FoldSpec { columns, missing, weight, drop_missing: true, passthrough, ..FoldSpec::default() }
}

fn by_row(folded: &Folded) -> BTreeMap<Vec<String>, (u64, u64)> {
    let represented = folded.represented.as_ref().unwrap();
    let text = |row: usize| {
        let cells = folded.row(row).iter().zip(&folded.columns);
        cells.map(|(&code, column)| column.texts[code as usize].clone()).collect()
    };
    (0..folded.rows()).map(|row| (text(row), (folded.weights[row], represented[row]))).collect()
}

fn here(records: &[Vec<Cell>]) -> Embedded {
    let (schema, parts) = batches(&NAMES, records);
    Embedded::in_memory(&Batches::new("in", schema, parts).unwrap()).unwrap().0
}

fn elsewhere(records: &[Vec<Cell>], spoil: fn(&mut RemoteTable)) -> RemoteEngine {
    let held = RemoteTable::new(&NAMES, records);
    let mut shelf = Shelf::new(held.clone(), Published::default());
    shelf.spoil = spoil;
    RemoteEngine::new(Arc::new(held), Box::new(shelf)).unwrap()
}

#[test]
fn a_remote_system_adds_up_the_same_weights() {
    for (count, keep) in [(0, false), (50, true), (700, false)] {
        let sample = sample(count, count + 1);
        let twin = by_row(&here(&sample).fold(&spec(keep), &Silent).unwrap());
        let mut engine = elsewhere(&sample, |_| ());
        assert_eq!(by_row(&engine.fold(&spec(keep), &Silent).unwrap()), twin);
        assert_eq!(by_row(&engine.source().fold(&spec(keep), &Silent).unwrap()), twin);
    }
}

#[test]
fn a_record_without_a_weight_is_refused_unless_it_is_left_out() {
    for (cell, fits) in [
        (Some("0.5"), false),
        (Some("many"), false),
        (None, false),
        (Some("?"), false),
        (Some("2"), true),
    ] {
        for (age, left_out) in [("5", false), ("?", true)] {
            let mut records = sample(60, 3);
            records[7] = vec![
                Some(age.to_owned()),
                Some("flu".to_owned()),
                cell.map(str::to_owned),
                Some("1".to_owned()),
            ];
            for folded in [
                elsewhere(&records, |_| ()).fold(&spec(false), &Silent),
                here(&records).fold(&spec(false), &Silent),
            ] {
                assert_eq!(folded.is_ok(), fits || left_out, "{cell:?} {age}");
            }
        }
    }
}

/// Stages a release with two age groups, where the youngest are suppressed.
fn stage(engine: &mut dyn Engine, carry: bool) {
    let places = Places { tables: vec!["release.arrow".into()], ..Places::default() };
    engine.begin(&places).unwrap();
    let folded = engine.fold(&spec(carry), &Silent).unwrap();
    let data =
        Dataset::encode(folded, &[&ColumnSpec::default()], &[&SensitiveSpec::default()], "?")
            .unwrap();
    let mut partition = Partition::new(1, data.rows());
    let age = |row: usize| data.quasi_codes(row)[0];
    for (lo, hi) in [(2, 5), (6, 11)] {
        let rows = (0..data.rows())
            .filter(|&row| (lo..=hi).contains(&age(row)))
            .map(|row| RowId(row as u32));
        partition.add(&[Span { lo: Code(lo), hi: Code(hi) }], rows).unwrap();
    }
    let mut columns =
        vec![("age".to_owned(), Content::Quasi(0)), ("disease".to_owned(), Content::Sensitive(0))];
    if carry {
        columns.push(("ward".to_owned(), Content::Passthrough));
    }
    let output =
        Output { columns, order: Order::Sorted, missing: "?".to_owned(), ..Output::default() };
    engine.stage(0, &Plan::new(&data, &partition), &output, &Silent).unwrap();
}

#[test]
fn written_records_represent_the_same_people() {
    let sample = sample(900, 9);
    let columns = ["age", "disease"].map(str::to_owned);
    for carry in [false, true] {
        let (mut own, mut twin) = (elsewhere(&sample, |_| ()), here(&sample));
        let read = |engine: &mut dyn Engine| {
            stage(engine, carry);
            let back = engine.read_back(0, &columns, ExaminedColumns::default(), &Silent).unwrap();
            engine.discard();
            by_row(&back.folded)
        };
        let (own, twin) = (read(&mut own), read(&mut twin));
        assert_eq!(own, twin);
        assert_eq!(own.len(), 4);
        let mut spoiled = elsewhere(&sample, |table| table.lost = 1);
        stage(&mut spoiled, carry);
        assert!(spoiled.read_back(0, &columns, ExaminedColumns::default(), &Silent).is_err());
    }
}
