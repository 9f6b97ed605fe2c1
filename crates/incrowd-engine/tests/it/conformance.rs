//! Tests that every engine must pass, independent of where its tables and releases are stored. A
//! [`Harness`] provides a table to an engine, and reads the visible parts of a release with other
//! means.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use incrowd_core::{Folded, Silent};
use incrowd_engine::{
    Batches, Embedded, Engine, ExaminedColumns, FileStore, FoldSpec, MemoryStore, Options, Order,
    Places, RemoteEngine, Source, digest,
};

use crate::common::{Cell, Style, batches, difference, slow, spec, text, write};
use crate::people::{Ask, NAMES, expected, people, stage};
use crate::read_back::{read, sorted, typed};
use crate::remote::{Published, RemoteTable, Shelf};

/// A header and rows of cells.
type TableCells = (Vec<String>, Vec<Vec<Cell>>);

/// The tables of a release with the digests of their bytes, and its manifest.
type Visible = (Vec<(TableCells, String)>, Vec<u8>);

/// An engine under test.
trait Harness {
    /// Storage of the engine, for messages.
    fn name(&self) -> &'static str;

    /// An engine for this table.
    fn engine(&self, records: &[Vec<Cell>]) -> Box<dyn Engine>;

    /// Whether the table and the release have nulls.
    fn nulls(&self) -> (bool, bool);

    /// Targets of a release with this number of tables.
    fn places(&self, tables: usize) -> Places;

    /// The visible parts of the release: its tables with the digests of their bytes, and the
    /// manifest. `None` before the publication.
    fn visible(&self) -> Option<Visible>;

    /// Whether messages contain the positions of records.
    fn tells_places(&self) -> bool {
        true
    }

    /// Whether there are files or tables other than the input and a published release.
    fn leftovers(&self) -> bool;
}

/// Storage of a table or a release.
#[derive(Clone, Copy, PartialEq)]
enum Medium {
    Csv,
    Parquet,
    Memory,
}

/// The embedded engine, with an input and an output medium.
struct OnThisMachine {
    from: Medium,
    to: Medium,
    directory: tempfile::TempDir,
    memory: MemoryStore,
}

impl OnThisMachine {
    fn new(from: Medium, to: Medium) -> OnThisMachine {
        OnThisMachine {
            from,
            to,
            directory: tempfile::tempdir().unwrap(),
            memory: MemoryStore::new(),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn table_name(&self, table: usize) -> String {
        format!("release-{table}.{}", if self.to == Medium::Csv { "csv" } else { "parquet" })
    }
}

impl Harness for OnThisMachine {
    fn name(&self) -> &'static str {
        match (self.from, self.to) {
            (Medium::Memory, Medium::Memory) => "memory",
            (Medium::Memory, _) => "memory to files",
            (_, Medium::Memory) => "files to memory",
            (Medium::Parquet, _) => "parquet",
            _ => "csv",
        }
    }

    fn engine(&self, records: &[Vec<Cell>]) -> Box<dyn Engine> {
        let source = match self.from {
            Medium::Csv => {
                let path =
                    write(self.directory.path(), "in.csv", &text(&NAMES, records, &Style::PLAIN));
                Source::open(&[path], &Options::default())
            }
            Medium::Parquet => {
                crate::common::parquet(&self.at("in.parquet"), &NAMES, records);
                Source::open(&[self.at("in.parquet")], &Options::default())
            }
            Medium::Memory => {
                let (schema, batches) = batches(&NAMES, records);
                Source::of_batches(&Batches::new("people", schema, batches).unwrap())
            }
        };
        match self.to {
            Medium::Memory => Box::new(Embedded::new(source.unwrap(), self.memory.clone())),
            _ => Box::new(Embedded::new(source.unwrap(), FileStore::default())),
        }
    }

    fn nulls(&self) -> (bool, bool) {
        (self.from != Medium::Csv, self.to != Medium::Csv)
    }

    fn places(&self, tables: usize) -> Places {
        let tables = (0..tables).map(|table| self.at(&self.table_name(table)).into()).collect();
        Places { tables, manifest: self.at("release.json"), ..Places::default() }
    }

    fn visible(&self) -> Option<Visible> {
        if self.to == Medium::Memory {
            let (tables, manifest) = self.memory.released()?;
            let seen = |table: &incrowd_engine::ReleasedTable| {
                let own = format!("blake3:{}", blake3::hash(table.bytes()).to_hex());
                (typed(&table.batches().unwrap().1), own)
            };
            return Some((tables.iter().map(seen).collect(), manifest));
        }
        let manifest = std::fs::read(self.at("release.json")).ok();
        let tables: Vec<PathBuf> = (0..9)
            .map(|table| self.at(&self.table_name(table)))
            .filter(|path| path.exists())
            .collect();
        assert_eq!(
            manifest.is_some(),
            !tables.is_empty(),
            "a part of a release is there without the rest"
        );
        let seen = |path: &PathBuf| (read(path), digest(&path.into()).unwrap());
        Some((tables.iter().map(seen).collect(), manifest?))
    }

    fn leftovers(&self) -> bool {
        let files = std::fs::read_dir(self.directory.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
        names.into_iter().any(|name| !name.starts_with("in.") && !name.starts_with("release"))
    }
}

/// A table in another system.
#[derive(Default)]
struct Elsewhere(Published);

impl Harness for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    fn engine(&self, records: &[Vec<Cell>]) -> Box<dyn Engine> {
        let held = RemoteTable::new(&NAMES, records);
        let shelf = Shelf::new(held.clone(), self.0.clone());
        Box::new(RemoteEngine::new(Arc::new(held), Box::new(shelf)).unwrap())
    }

    fn nulls(&self) -> (bool, bool) {
        (true, true)
    }

    fn places(&self, tables: usize) -> Places {
        Places { tables: vec!["release".into(); tables], ..Places::default() }
    }

    fn visible(&self) -> Option<Visible> {
        let (tables, manifest) = self.0.lock().unwrap().clone()?;
        let seen =
            |table: &RemoteTable| ((table.names.clone(), table.records.clone()), table.digest_of());
        Some((tables.iter().map(seen).collect(), manifest))
    }

    fn tells_places(&self) -> bool {
        false
    }

    fn leftovers(&self) -> bool {
        false
    }
}

fn harnesses() -> Vec<Box<dyn Harness>> {
    use Medium::{Csv, Memory, Parquet};
    let all = [(Csv, Csv), (Parquet, Parquet), (Memory, Memory), (Memory, Csv), (Csv, Memory)];
    let here = all.map(|(from, to)| Box::new(OnThisMachine::new(from, to)) as Box<dyn Harness>);
    here.into_iter().chain([Box::new(Elsewhere::default()) as Box<dyn Harness>]).collect()
}

/// The table as read from the medium. Without nulls, missing cells are empty texts.
fn as_read(records: &[Vec<Cell>], nulls: bool) -> Vec<Vec<Cell>> {
    let cell =
        |cell: &Cell| if nulls { cell.clone() } else { Some(cell.clone().unwrap_or_default()) };
    records.iter().map(|record| record.iter().map(cell).collect()).collect()
}

#[test]
fn a_fold_is_that_of_the_slow_twin() {
    for harness in harnesses() {
        let people = people(400, 3);
        for (columns, missing, drop) in [
            (vec!["age", "city"], vec!["?"], true),
            (vec!["note", "disease", "id"], vec!["", "a,b"], false),
        ] {
            let spec = spec(&columns, &missing, drop);
            let folded: Folded = harness.engine(&people).fold(&spec, &Silent).unwrap();
            let twin = slow(&NAMES, &people, &spec, harness.nulls().0);
            assert_eq!(difference(&folded, &twin), None, "{} {columns:?}", harness.name());
        }
    }
}

#[test]
fn a_value_is_found_at_its_first_record() {
    let harnesses: Vec<_> = harnesses().into_iter().filter(|own| own.tells_places()).collect();
    assert!(harnesses.len() > 1, "{}", harnesses.len());
    for harness in harnesses {
        let mut people = people(50, 4);
        people[17][2] = Some("Atlantis".to_owned());
        people[30][2] = Some("Atlantis".to_owned());
        let place = harness.engine(&people).locate("city", "Atlantis").unwrap();
        assert_eq!(place.as_deref(), Some("record 18"), "{}", harness.name());
    }
}

#[test]
fn published_records_are_those_of_the_plan_and_those_read_back() {
    let asks =
        [(false, Order::Sorted, true), (true, Order::Shuffled, true), (true, Order::Sorted, false)];
    for (carry, order, drop) in asks {
        for harness in harnesses() {
            let ask = Ask { carry, order, drop };
            let people = people(300, 5);
            let mut engine = harness.engine(&people);
            engine.begin(&harness.places(1)).unwrap();
            let receipt = stage(&mut *engine, ask, || {}).unwrap();
            let columns: Vec<String> = if carry { NAMES.to_vec() } else { NAMES[1..4].to_vec() }
                .into_iter()
                .map(str::to_owned)
                .collect();
            let back = engine.read_back(0, &columns, ExaminedColumns::default(), &Silent).unwrap();
            assert!(harness.visible().is_none(), "{}: seen before it is published", harness.name());
            engine.publish(b"{ \"manifest\": 1 }").unwrap();
            let (tables, manifest) = harness.visible().expect("it is published");
            assert_eq!(manifest, b"{ \"manifest\": 1 }");
            let [((header, records), digest)] = tables.as_slice() else { panic!("one table") };
            assert_eq!((header, digest), (&columns, &back.digest), "{}", harness.name());
            assert_eq!(back.columns, columns);
            let (rows, suppressed) =
                expected(&as_read(&people, harness.nulls().0), ask, harness.nulls().1);
            assert_eq!((receipt.published, receipt.suppressed), (rows.len() as u64, suppressed));
            // `assert!` instead of `assert_eq!`, so that a failure shows no cell.
            assert!(
                sorted(records.clone()) == sorted(rows.clone()),
                "{}: other records",
                harness.name()
            );
            let mut counts: BTreeMap<Vec<Cell>, u64> = BTreeMap::new();
            records.iter().for_each(|record| *counts.entry(record.clone()).or_default() += 1);
            let read = back.folded.canonical().into_iter().map(|(row, n)| {
                (row.into_iter().map(|cell| cell.map(str::to_owned)).collect::<Vec<Cell>>(), n)
            });
            assert!(
                read.eq(counts),
                "{}: what was read back is not what is published",
                harness.name()
            );
            assert!(!harness.leftovers(), "{}", harness.name());
        }
    }
}

#[test]
fn a_discarded_release_leaves_nothing() {
    for harness in harnesses() {
        let ask = Ask { carry: true, order: Order::Shuffled, drop: true };
        let mut engine = harness.engine(&people(300, 6));
        engine.begin(&harness.places(1)).unwrap();
        stage(&mut *engine, ask, || {}).unwrap();
        engine.discard();
        assert!(harness.visible().is_none(), "{}", harness.name());
        assert!(!harness.leftovers(), "{}: leftovers", harness.name());
        // A dropped engine leaves nothing either.
        engine.begin(&harness.places(1)).unwrap();
        stage(&mut *engine, ask, || {}).unwrap();
        drop(engine);
        assert!(harness.visible().is_none() && !harness.leftovers(), "{}", harness.name());
    }
}

#[test]
fn several_tables_appear_together() {
    for harness in harnesses() {
        let ask = Ask { carry: false, order: Order::Sorted, drop: true };
        let mut engine = harness.engine(&people(120, 7));
        engine.begin(&harness.places(2)).unwrap();
        stage(&mut *engine, ask, || {}).unwrap();
        crate::people::stage_at(&mut *engine, 1, ask, || {}).unwrap();
        assert!(harness.visible().is_none(), "{}", harness.name());
        engine.publish(b"{}").unwrap();
        let (tables, _) = harness.visible().unwrap();
        assert_eq!(tables.len(), 2, "{}", harness.name());
        assert!(
            tables[0].0 == tables[1].0,
            "{}: two sorted tables of one plan differ",
            harness.name()
        );
    }
}

#[test]
fn a_table_without_a_place_is_refused() {
    for harness in harnesses() {
        let ask = Ask { carry: false, order: Order::Sorted, drop: true };
        let mut engine = harness.engine(&people(60, 8));
        assert!(stage(&mut *engine, ask, || {}).is_err(), "{}", harness.name());
        engine.begin(&harness.places(1)).unwrap();
        assert!(
            crate::people::stage_at(&mut *engine, 1, ask, || {}).is_err(),
            "{}",
            harness.name()
        );
    }
}

/// A table in memory may be one large batch, or several batches with columns of different types.
#[test]
fn batches_of_any_size_are_one_table() {
    let people = people(70_000, 9);
    let (schema, parts) = batches(&NAMES, &people);
    let whole = parts.iter().flat_map(|part: &RecordBatch| part.columns().first()).count();
    assert!(whole > 1);
    let spec = spec(&["age", "city", "disease"], &["?"], true);
    let twin = {
        let harness = OnThisMachine::new(Medium::Parquet, Medium::Parquet);
        harness.engine(&people).fold(&spec, &Silent).unwrap()
    };
    let table = Batches::new("people", schema, parts).unwrap();
    let folded = Source::of_batches(&table).unwrap().fold(&spec, &Silent).unwrap();
    assert_eq!(difference(&folded, &twin), None);
}

/// Functions on single records are rejected, because the other system only returns counts.
#[test]
fn requests_that_counts_cannot_answer_are_refused() {
    let harness = Elsewhere::default();
    let people = people(40, 10);
    let names = ["id".to_owned()];
    let mut engine = harness.engine(&people);
    assert!(engine.source().survey(&names, &[], &Silent).is_err());
    let spec = FoldSpec { people: names.to_vec(), ..spec(&["age"], &[], false) };
    assert!(engine.source().fold(&spec, &Silent).is_err());
    assert!(engine.fold(&spec, &Silent).is_err());
}

/// The other system counts unique records: in each column, and in all columns together.
#[test]
fn unique_records_are_counted_by_the_other_system() {
    let harness = Elsewhere::default();
    let engine = harness.engine(&people(60, 11));
    let columns = ["id", "note"].map(str::to_owned);
    let beside = ExaminedColumns { columns: &columns, counts_only: false };
    let read = engine.source().read_release(&["age".to_owned()], beside, &Silent).unwrap();
    assert_eq!(read.record_values.once.unwrap()[0], 60);
    assert_eq!(read.record_values.together, Some(60));
}
