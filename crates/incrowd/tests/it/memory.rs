//! Tables and releases in memory: the same models, the same cells.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use incrowd::job::{ExternalJob, Job, Order, RoleName};
use incrowd::{Anonymizer, Batches, Judging, Value};
use incrowd_synth::{Synth, Table};

/// Returns the demo's people, as a file and as batches.
fn people(dir: &Path, records: u64) -> Batches {
    let mut csv = Vec::new();
    Synth::new(Table::Census, records, 21).write_csv(&mut csv).unwrap();
    std::fs::write(dir.join("people.csv"), &csv).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_slice());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |(i, name): (usize, &String)| -> (String, ArrayRef) {
        let texts = || rows.iter().map(move |row| &row[i]);
        match name.as_str() {
            "age" => (
                name.clone(),
                Arc::new(texts().map(|t| t.parse::<i64>().ok()).collect::<Int64Array>()),
            ),
            _ => (name.clone(), Arc::new(texts().map(Some).collect::<StringArray>())),
        }
    };
    let batch = RecordBatch::try_from_iter(names.iter().enumerate().map(column)).unwrap();
    let parts = (0..batch.num_rows())
        .step_by(700)
        .map(|at| batch.slice(at, 700.min(batch.num_rows() - at)));
    Batches::new("people", batch.schema(), parts.collect()).unwrap()
}

fn roles(job: Job) -> Job {
    let mut job = job.quasi(["age", "sex", "country"]).sensitive(["disease"]);
    job.input.missing = vec![String::new(), "?".to_owned()];
    job
}

/// Returns the records of a release in memory, sorted.
fn cells(table: &incrowd::ReleasedTable) -> Vec<Vec<String>> {
    let (_, batches) = table.batches().unwrap();
    let mut rows = Vec::new();
    for batch in &batches {
        let columns: Vec<&StringArray> = batch
            .columns()
            .iter()
            .map(|c| c.as_any().downcast_ref::<StringArray>().unwrap())
            .collect();
        rows.extend(
            (0..batch.num_rows()).map(|r| columns.iter().map(|c| c.value(r).to_owned()).collect()),
        );
    }
    rows.sort();
    rows
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut rows: Vec<Vec<String>> =
        reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
    rows.sort();
    rows
}

#[test]
fn a_release_in_memory_has_the_cells_of_the_one_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let table = people(dir.path(), 2000);
    for algorithm in ["mondrian", "top-down", "local-recoding", "ascent"] {
        let mut from_file = roles(Job::of_file(dir.path().join("people.csv"))).k(5);
        from_file.algorithm.name = algorithm.to_owned();
        let mut from_memory = roles(Job::of_batches(table.clone())).k(5);
        from_memory.algorithm.name = algorithm.to_owned();
        let file = Anonymizer::new(from_file.output(dir.path().join("out.csv"))).run().unwrap();
        let memory = Anonymizer::new(&from_memory).run_in_memory().unwrap();
        assert_eq!(memory.report.manifest.metrics, file.manifest.metrics, "{algorithm}");
        assert!(
            cells(&memory.tables[0]) == lines(&dir.path().join("out.csv")),
            "{algorithm}: other cells"
        );
        let digest = format!("blake3:{}", blake3::hash(memory.tables[0].bytes()).to_hex());
        assert_eq!(
            memory.report.manifest.digest, digest,
            "it is judged by the bytes that are returned"
        );
        let judging = Judging::of_batches(memory.tables[0].table().unwrap())
            .with_role(["age", "sex", "country"], RoleName::Quasi)
            .model("k-anonymity", [("k", Value::Integer(5))]);
        assert!(judging.verify().unwrap().holds(), "{algorithm}");
    }
}

/// The order of the input must not be visible, in files and in memory.
#[test]
fn the_order_of_the_batches_is_not_visible() {
    let dir = tempfile::tempdir().unwrap();
    let job = roles(Job::of_batches(people(dir.path(), 600)))
        .with_role(["id"], RoleName::Passthrough)
        .unlinkable(["id"])
        .k(2)
        .output("out.arrow");
    let ids = |job: &Job| -> Vec<String> {
        let released = Anonymizer::new(job).run_in_memory().unwrap();
        let (schema, batches) = released.tables[0].batches().unwrap();
        let id = schema.index_of("id").unwrap();
        let column =
            |b: &RecordBatch| b.column(id).as_any().downcast_ref::<StringArray>().unwrap().clone();
        batches
            .iter()
            .flat_map(|b| column(b).iter().map(|v| v.unwrap().to_owned()).collect::<Vec<_>>())
            .collect()
    };
    let (one, other) = (ids(&job), ids(&job));
    assert!(one != other && !one.is_sorted(), "records come in an order that means something");
    let mut sorted = job.clone();
    sorted.output.as_mut().unwrap().order = Order::Sorted;
    assert_eq!(ids(&sorted), ids(&sorted));
}

#[test]
fn two_tables_are_made_in_memory_too() {
    let dir = tempfile::tempdir().unwrap();
    let table = people(dir.path(), 900);
    let mut joined =
        Job::of_batches(table.clone()).quasi(["age", "sex"]).sensitive(["disease"]).k(4);
    joined.external = Some(ExternalJob {
        paths: vec![dir.path().join("people.csv").into()],
        id: "id".into(),
        ..ExternalJob::default()
    });
    let released = Anonymizer::new(&joined).run_in_memory().unwrap();
    assert_eq!(released.tables.len(), 2);
    assert!(released.report.verification.holds());
    let names: Vec<&str> = released.tables.iter().map(|table| table.name()).collect();
    assert_eq!(names, ["release.arrow", "release.si.arrow"]);
}

#[test]
fn a_failed_run_leaves_no_release() {
    let dir = tempfile::tempdir().unwrap();
    let job = roles(Job::of_batches(people(dir.path(), 50))).k(51);
    let error = Anonymizer::new(&job).run_in_memory().unwrap_err();
    assert_eq!(error.fault(), incrowd::Fault::Unsatisfiable);
    let job = roles(Job::of_batches(people(dir.path(), 50))).quasi(["agee"]).k(2);
    assert_eq!(Anonymizer::new(&job).run_in_memory().unwrap_err().fault(), incrowd::Fault::Job);
}

/// A value that only unpublished records have must not be in a dictionary of the release, in any
/// format.
#[test]
fn dictionaries_contain_published_values_only() {
    let dir = tempfile::tempdir().unwrap();
    let records = 70_000;
    let texts = |column: usize| -> Vec<Option<String>> {
        let text = |record: usize| match (column, record) {
            (0, 0) => None,
            (0, r) => Some(["young", "old"][r % 2].to_owned()),
            (1, 0) => Some("lupus".to_owned()),
            (1, r) => Some(["flu", "cold", "asthma"][(r + 2) % 3].to_owned()),
            (_, r) => Some(["north", "south", "east"][(r / 30_000) % 3].to_owned()),
        };
        (0..records).map(text).collect()
    };
    let dictionary = |column: usize| -> ArrayRef {
        let texts = texts(column);
        Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int8Type>>())
    };
    let columns = [("age", dictionary(0)), ("disease", dictionary(1)), ("region", dictionary(2))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let table = Batches::new("people", batch.schema(), vec![batch]).unwrap();
    for carried in [false, true] {
        let mut job = Job::of_batches(table.clone()).quasi(["age"]).sensitive(["disease"]).k(5);
        if carried {
            job = job.with_role(["region"], RoleName::Passthrough);
        }
        let released = Anonymizer::new(&job).run_in_memory().unwrap();
        let has = |bytes: &[u8], text: &str| {
            bytes.windows(text.len()).any(|part| part == text.as_bytes())
        };
        assert!(has(released.tables[0].bytes(), "asthma"));
        assert!(!has(released.tables[0].bytes(), "lupus"));
        let (schema, batches) = released.tables[0].batches().unwrap();
        assert_eq!(*schema.field_with_name("age").unwrap().data_type(), DataType::Utf8);
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), records - 1);
        let own = batches[0].column(schema.index_of("disease").unwrap()).as_any_dictionary();
        let values = own.values().as_string::<i32>();
        assert_eq!(
            values.iter().flatten().collect::<Vec<_>>(),
            ["asthma", "cold", "flu"],
            "sorted"
        );
        for format in ["arrow", "parquet"] {
            let path = dir.path().join(format!("{format}.{format}"));
            Anonymizer::new(job.clone().output(&path)).run().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert!(!has(&bytes, "lupus"), "{format} carried {carried}");
            if format == "arrow" {
                assert!(has(&bytes, "asthma"));
            }
        }
    }
}
