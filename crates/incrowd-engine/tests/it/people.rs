//! A table of people, a plan derived from it, and the expected release, computed record by record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use incrowd_core::cell::set_label;
use incrowd_core::{Code, ColumnSpec, Dataset, Kind, Partition, Plan, Result, RowId, Silent, Span};
use incrowd_engine::{Content, Embedded, Engine, Options, Order, Output, Places, Receipt};

use crate::common::{Cell, dice, spec};

pub(crate) const NAMES: [&str; 5] = ["id", "age", "city", "disease", "note"];

/// People with unique ids, in random order.
pub(crate) fn people(count: u64, seed: u64) -> Vec<Vec<Cell>> {
    let mut roll = dice(seed);
    let cities = ["Rome", "St. Ives, UK", "\"X\"", "{a}", "*", "two\nlines", "?"];
    let diseases = ["flu", "cold", "?", "a, \"b\""];
    let notes = [None, Some(""), Some("a,b"), Some("q\"uote"), Some("line\r\nbreak")];
    let pick = |list: &[&str], i: u64| Some(list[i as usize].to_owned());
    (0..count)
        .map(|i| {
            let age = if roll(15) == 0 { "?".to_owned() } else { roll(60).to_string() };
            let id = Some(format!("p{}", i * 7919 % 1_000_003));
            let city = pick(&cities, roll(7).min(roll(7)));
            vec![
                id,
                Some(age),
                city,
                pick(&diseases, roll(4)),
                notes[roll(5) as usize].map(str::to_owned),
            ]
        })
        .collect()
}

/// People of the same decade form a group, and so do people without an age. Every fourth decade is
/// suppressed.
fn decade(age: &str) -> Option<u32> {
    age.parse::<u32>().ok().map(|age| age / 10)
}

fn is_suppressed(decade: Option<u32>) -> bool {
    decade.is_some_and(|d| d % 4 == 3)
}

/// Settings of a release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) carry: bool,
    pub(crate) order: Order,
    pub(crate) drop: bool,
}

fn output(ask: Ask) -> Output {
    let mut columns = vec![
        ("id".to_owned(), Content::Passthrough),
        ("age".to_owned(), Content::Quasi(0)),
        ("city".to_owned(), Content::Quasi(1)),
        ("disease".to_owned(), Content::Sensitive(0)),
        ("note".to_owned(), Content::Passthrough),
    ];
    columns.retain(|(_, content)| ask.carry || *content != Content::Passthrough);
    Output { columns, order: ask.order, missing: "?".to_owned(), ..Output::default() }
}

fn partition(data: &Dataset) -> Partition {
    let mut groups: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
    for row in 0..data.rows() {
        let age = Code(data.quasi_codes(row)[0]);
        groups.entry(decade(&data.quasi()[0].domain.label(age, age))).or_default().push(row as u32);
    }
    let mut partition = Partition::new(2, data.rows());
    for (_, rows) in groups.iter().filter(|(decade, _)| !is_suppressed(**decade)) {
        let span = |q: usize| {
            let codes = || rows.iter().map(|&row| Code(data.quasi_codes(row as usize)[q]));
            Span { lo: codes().min().unwrap(), hi: codes().max().unwrap() }
        };
        partition.add(&[span(0), span(1)], rows.iter().map(|&row| RowId(row))).unwrap();
    }
    partition
}

/// Folds, calls `between`, and applies. On success, the release is published.
pub(crate) fn release_after(
    input: &Path,
    target: &Path,
    ask: Ask,
    between: impl FnOnce(),
) -> Result<Receipt> {
    release_with(Embedded::open(&[input.to_owned()], &Options::default())?, target, ask, between)
}

/// Folds and applies with an engine that has opened the input.
pub(crate) fn release_with(
    mut engine: Embedded,
    target: &Path,
    ask: Ask,
    between: impl FnOnce(),
) -> Result<Receipt> {
    let manifest = target.with_file_name("manifest.json");
    engine.begin(&Places {
        tables: vec![target.into()],
        manifest: manifest.clone(),
        ..Places::default()
    })?;
    let receipt = stage(&mut engine, ask, between)?;
    engine.publish(b"{}")?;
    std::fs::remove_file(manifest).unwrap();
    Ok(receipt)
}

/// Folds the people of an engine, calls `between`, and stages the plan derived from them.
pub(crate) fn stage(engine: &mut dyn Engine, ask: Ask, between: impl FnOnce()) -> Result<Receipt> {
    stage_at(engine, 0, ask, between)
}

/// Stages the table with this index.
pub(crate) fn stage_at(
    engine: &mut dyn Engine,
    table: usize,
    ask: Ask,
    between: impl FnOnce(),
) -> Result<Receipt> {
    let mut fold = spec(&["age", "city", "disease"], &["?"], ask.drop);
    if ask.carry {
        fold.passthrough = ["id", "note"].map(str::to_owned).to_vec();
    }
    let folded = engine.fold(&fold, &Silent)?;
    let city = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
    let specs = [&ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() }, &city];
    let data = Dataset::encode(folded, &specs, &[], "?").map_err(|e| e.misfit.error)?;
    let partition = partition(&data);
    between();
    engine.stage(table, &Plan::new(&data, &partition), &output(ask), &Silent)
}

pub(crate) fn release(input: &Path, target: &Path, ask: Ask) -> Receipt {
    release_after(input, target, ask, || {}).unwrap()
}

/// The expected records in input order, and the expected number of suppressed records. `nulls`
/// states whether the target has nulls.
pub(crate) fn expected(people: &[Vec<Cell>], ask: Ask, nulls: bool) -> (Vec<Vec<Cell>>, u64) {
    let text = |person: &[Cell], c: usize| person[c].clone().unwrap();
    let kept = |p: &&Vec<Cell>| !(ask.drop && (1..4).any(|c| p[c].as_deref() == Some("?")));
    let kept: Vec<&Vec<Cell>> = people.iter().filter(kept).collect();
    let mut ages: BTreeMap<Option<u32>, BTreeSet<u32>> = BTreeMap::new();
    let mut cities: BTreeMap<Option<u32>, BTreeSet<String>> = BTreeMap::new();
    for person in &kept {
        let group = decade(&text(person, 1));
        ages.entry(group).or_default().extend(text(person, 1).parse::<u32>());
        cities.entry(group).or_default().insert(text(person, 2));
    }
    let published = kept.iter().filter(|p| !is_suppressed(decade(&text(p, 1))));
    let rows: Vec<Vec<Cell>> = published
        .map(|p| {
            let group = decade(&text(p, 1));
            let age = match (ages[&group].first(), ages[&group].last()) {
                (Some(lo), Some(hi)) if lo < hi => format!("[{lo}, {hi}]"),
                (Some(lo), _) => lo.to_string(),
                _ => "?".to_owned(),
            };
            let set: Vec<&str> = cities[&group].iter().map(String::as_str).collect();
            let disease = p[3].clone().filter(|d| !(nulls && d == "?"));
            let note = if nulls { p[4].clone() } else { Some(p[4].clone().unwrap_or_default()) };
            let mut row = vec![p[0].clone(), Some(age), Some(set_label(&set)), disease, note];
            if !ask.carry {
                row = row[1..4].to_vec();
            }
            row
        })
        .collect();
    let suppressed = kept.len() - rows.len();
    (rows, suppressed as u64)
}
