//! Persons of records: from the fold, through the order of publication, to the verification of the
//! written bytes. Every record has a tag of its person, which is published with it. A reader can
//! therefore verify the written numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use incrowd_core::{
    Code, ColumnSpec, Dataset, Folded, Partition, Plan, RowId, SensitiveSpec, Silent, Span,
};
use incrowd_engine::{
    Batches, Content, Embedded, Engine, ExaminedColumns, FoldSpec, Options, Order, Output, Places,
    RemoteEngine,
};

use crate::common::{Cell, Style, batches, dice, parquet, text, write};
use crate::remote::{Published, RemoteTable, Shelf};

const NAMES: [&str; 4] = ["who", "age", "disease", "tag"];

/// Records of few persons. Some records have no identifier.
fn people(count: u64, seed: u64) -> Vec<Vec<Cell>> {
    let mut dice = dice(seed);
    let record = |n: u64| {
        let who = dice(count / 3 + 1);
        let nobody = dice(9) == 0;
        let name = if nobody {
            ["", "?"][dice(2) as usize].to_owned()
        } else {
            format!("person number {who}")
        };
        let tag = if nobody { format!("n{n}") } else { format!("p{who}") };
        let age = if dice(20) == 0 { String::new() } else { dice(30).to_string() };
        [name, age, ["flu", "cold"][dice(2) as usize].to_owned(), tag].map(Some).to_vec()
    };
    (0..count).map(record).collect()
}

fn spec(sensitive: &str, keep: bool) -> FoldSpec {
    FoldSpec {
        weight: None,
        columns: vec!["age".to_owned(), sensitive.to_owned()],
        missing: vec![String::new(), "?".to_owned()],
        drop_missing: true,
        passthrough: if keep { vec!["tag".to_owned()] } else { Vec::new() },
        person: Some("who".to_owned()),
        repeating: Vec::new(),
        people: Vec::new(),
        packed: false,
    }
}

/// For each tag in a column of tags, the person codes of its records.
fn by_tag(folded: &Folded, column: usize) -> BTreeMap<String, BTreeSet<u32>> {
    let mut tags: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (row, own) in folded.persons_by_row().unwrap().into_iter().enumerate() {
        let tag = &folded.columns[column].texts[folded.row(row)[column] as usize];
        tags.entry(tag.clone()).or_default().extend(own);
    }
    tags
}

/// Whether every tag has exactly one person, and every person one tag.
fn one_each(tags: &BTreeMap<String, BTreeSet<u32>>) -> bool {
    let all: BTreeSet<u32> = tags.values().flatten().copied().collect();
    tags.values().all(|codes| codes.len() == 1) && all.len() == tags.len()
}

#[test]
fn the_fold_has_the_persons_of_every_row() {
    let dir = tempfile::tempdir().unwrap();
    for count in [40, 60_000] {
        let people = people(count, count);
        let kept = |record: &&Vec<Cell>| record[1].as_deref() != Some("");
        let tags = |records: &mut dyn Iterator<Item = &Vec<Cell>>| -> BTreeSet<String> {
            records.map(|record| record[3].clone().unwrap()).collect()
        };
        let (read, left) = (tags(&mut people.iter()), tags(&mut people.iter().filter(kept)));
        let unnamed = left.iter().filter(|tag| tag.starts_with('n')).count() as u64;
        let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
        let typed = dir.path().join("in.parquet");
        parquet(&typed, &NAMES, &people);
        for path in [input, typed] {
            let mut engine = Embedded::open(&[path], &Options::default()).unwrap();
            let folded = engine.fold(&spec("tag", false), &Silent).unwrap();
            let persons = folded.persons.clone().unwrap();
            assert!(persons.repeated);
            assert_eq!(persons.codes.len() as u64, folded.records());
            assert_eq!((persons.read, persons.different), (read.len() as u64, left.len() as u64));
            assert_eq!(persons.unnamed, unnamed);
            let seen = by_tag(&folded, 1);
            assert!(one_each(&seen));
            let repeating = ["who", "disease", "tag"].map(str::to_owned).to_vec();
            let columns = vec!["age".to_owned()];
            let checked = engine
                .fold(&FoldSpec { columns, repeating, ..FoldSpec::default() }, &Silent)
                .unwrap();
            assert_eq!(checked.repeating, ["who", "tag"], "a disease tells nobody apart");
            assert_eq!(seen.into_keys().collect::<BTreeSet<_>>(), left);
        }
    }
}

#[test]
fn persons_with_one_record_each_take_no_memory() {
    let records: Vec<Vec<Cell>> = (0..50)
        .map(|n| [n.to_string(), "30".into(), "flu".into(), "t".into()].map(Some).to_vec())
        .collect();
    let (schema, batches) = batches(&NAMES, &records);
    let table = Batches::new("in", schema, batches).unwrap();
    let (mut engine, _) = Embedded::in_memory(&table).unwrap();
    let folded = engine.fold(&spec("disease", false), &Silent).unwrap();
    let persons = folded.persons.as_ref().unwrap();
    assert_eq!((persons.repeated, persons.codes.len(), persons.different), (false, 0, 50));
    let data =
        Dataset::encode(folded, &[&ColumnSpec::default()], &[&SensitiveSpec::default()], "?")
            .unwrap();
    assert!(data.persons().is_none());
    assert_eq!(data.people(), 50);
}

/// Stages a release with two age groups, where the youngest are suppressed. The tag is a sensitive
/// or a passthrough column.
fn stage(engine: &mut dyn Engine, target: &Path, carry: bool, order: Order) {
    let manifest = target.with_extension("json");
    engine.begin(&Places { tables: vec![target.into()], manifest, ..Places::default() }).unwrap();
    let folded = engine.fold(&spec(if carry { "disease" } else { "tag" }, carry), &Silent).unwrap();
    let data =
        Dataset::encode(folded, &[&ColumnSpec::default()], &[&SensitiveSpec::default()], "?")
            .unwrap();
    let leaves = data.quasi()[0].domain.leaves();
    let group_of = |row: usize| data.quasi_codes(row)[0] * 3 / leaves;
    let mut partition = Partition::new(1, data.rows());
    for group in 1..3 {
        let rows: Vec<usize> = (0..data.rows()).filter(|&row| group_of(row) == group).collect();
        let codes = || rows.iter().map(|&row| Code(data.quasi_codes(row)[0]));
        let span = Span { lo: codes().min().unwrap(), hi: codes().max().unwrap() };
        partition.add(&[span], rows.iter().map(|&row| RowId(row as u32))).unwrap();
    }
    let plan = Plan::new(&data, &partition);
    let mut columns = vec![("age".to_owned(), Content::Quasi(0))];
    if carry {
        columns.push(("disease".to_owned(), Content::Sensitive(0)));
        columns.push(("tag".to_owned(), Content::Passthrough));
    } else {
        columns.push(("tag".to_owned(), Content::Sensitive(0)));
    }
    let output = Output { columns, order, missing: "?".to_owned(), ..Output::default() };
    let receipt = engine.stage(0, &plan, &output, &Silent).unwrap();
    assert!(receipt.suppressed > 0);
}

#[test]
fn reading_back_pairs_every_record_with_its_person() {
    let dir = tempfile::tempdir().unwrap();
    let people = people(70_000, 11);
    let input = write(dir.path(), "in.csv", &text(&NAMES, &people, &Style::PLAIN));
    for target in ["r.csv", "r.csv.gz", "r.parquet", "r.arrow"] {
        for carry in [false, true] {
            for order in [Order::Shuffled, Order::Sorted] {
                let mut engine =
                    Embedded::open(std::slice::from_ref(&input), &Options::default()).unwrap();
                stage(&mut engine, &dir.path().join(target), carry, order);
                let columns = ["age".to_owned(), "tag".to_owned()];
                let back =
                    engine.read_back(0, &columns, ExaminedColumns::default(), &Silent).unwrap();
                assert!(one_each(&by_tag(&back.folded, 1)), "{target} carry {carry} {order:?}");
                engine.discard();
            }
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_release_in_memory_is_paired_too() {
    let people = people(2_000, 5);
    let (schema, batches) = batches(&NAMES, &people);
    let table = Batches::new("in", schema, batches).unwrap();
    let (mut engine, _) = Embedded::in_memory(&table).unwrap();
    stage(&mut engine, Path::new("release.arrow"), true, Order::Shuffled);
    let back = engine
        .read_back(0, &["age".to_owned(), "tag".to_owned()], ExaminedColumns::default(), &Silent)
        .unwrap();
    assert!(one_each(&by_tag(&back.folded, 1)));
}

/// An engine for a table in another system. `spoil` changes the tables that it writes.
fn elsewhere(records: &[Vec<Cell>], spoil: fn(&mut RemoteTable)) -> RemoteEngine {
    let held = RemoteTable::new(&NAMES, records);
    let mut shelf = Shelf::new(held.clone(), Published::default());
    shelf.spoil = spoil;
    RemoteEngine::new(std::sync::Arc::new(held), Box::new(shelf)).unwrap()
}

#[test]
fn a_remote_system_finds_the_same_persons() {
    for (count, keep) in [(0, false), (40, false), (900, true), (900, false)] {
        let people = people(count, count + 3);
        let (schema, parts) = batches(&NAMES, &people);
        let table = Batches::new("in", schema, parts).unwrap();
        let spec = spec("tag", keep);
        let twin = Embedded::in_memory(&table).unwrap().0.fold(&spec, &Silent).unwrap();
        let mut engine = elsewhere(&people, |_| ());
        let by_source = engine.source().fold(&spec, &Silent).unwrap();
        for folded in [engine.fold(&spec, &Silent).unwrap(), by_source] {
            assert_eq!(folded.canonical(), twin.canonical());
            let (own, other) = (folded.persons.clone().unwrap(), twin.persons.clone().unwrap());
            let numbers = |p: &incrowd_core::FoldedPersons| {
                (p.repeated, p.read, p.different, p.unnamed, p.codes.len())
            };
            assert_eq!(numbers(&own), numbers(&other));
            if own.repeated {
                let (own, other) = (by_tag(&folded, 1), by_tag(&twin, 1));
                assert!(one_each(&own) && own.keys().eq(other.keys()));
            }
        }
    }
}

#[test]
fn records_of_a_remote_system_are_paired_with_persons_too() {
    let people = people(3_000, 17);
    for carry in [false, true] {
        for order in [Order::Shuffled, Order::Sorted] {
            let mut engine = elsewhere(&people, |_| ());
            stage(&mut engine, Path::new("release"), carry, order);
            let columns = ["age".to_owned(), "tag".to_owned()];
            let beside = ExaminedColumns { columns: &columns[1..], counts_only: false };
            let back = engine.read_back(0, &columns, beside, &Silent).unwrap();
            let tags = by_tag(&back.folded, 1);
            assert!(one_each(&tags), "carry {carry} {order:?}");
            assert!(!back.columns.contains(&"who".to_owned()));
            // Each tag belongs to one person, even if several records have it.
            assert_eq!(
                (back.record_values.once, back.record_values.people),
                (Some(vec![tags.len() as u64]), Some(tags.len() as u64))
            );
            engine.discard();
        }
    }
}

#[test]
fn records_whose_persons_are_not_known_are_refused() {
    let people = people(500, 23);
    let columns = ["age".to_owned(), "disease".to_owned()];
    for (lost, fits) in [(0, true), (1, false)] {
        let spoil: fn(&mut RemoteTable) = if lost == 0 { |_| () } else { |table| table.lost = 1 };
        let mut engine = elsewhere(&people, spoil);
        stage(&mut engine, Path::new("release"), true, Order::Sorted);
        let back = engine.read_back(0, &columns, ExaminedColumns::default(), &Silent);
        assert_eq!(back.is_ok(), fits);
        if let Err(error) = back {
            assert!(error.message().contains("other records"), "{}", error.message());
        }
        engine.discard();
    }
}
