//! Flips every bit of a small Arrow or Parquet file, and truncates it at every length. Each variant
//! is either read, or causes one error about the file. There is no panic, no abort, and no
//! allocation larger than the file justifies.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int16Type;
use arrow_array::{
    ArrayRef, Decimal128Array, DictionaryArray, Int32Array, NullArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow_schema::{Field, Schema};
use incrowd_core::Fault;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::super::{Options, open_file};
use super::section;

/// A cell that must not occur in any message.
const CANARY: &str = "Zaunkönig";

/// Columns of many types, with nulls.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let n = || 0..3i32;
    let some = |i: i32| i != 1;
    let word = |i: i32| format!("{CANARY} {}", i % 3);
    let mut lists = ListBuilder::new(StringBuilder::new());
    n().for_each(|i| lists.append_value((0..i % 3).map(|j| Some(word(j)))));
    let words: Vec<Option<String>> = n().map(|i| some(i).then(|| word(i))).collect();
    let texts = || words.iter().map(Option::as_deref);
    vec![
        ("number", Arc::new(Int32Array::from_iter(n().map(|i| some(i).then_some(i))))),
        ("text", Arc::new(StringArray::from_iter(texts()))),
        ("view", Arc::new(StringViewArray::from_iter(texts()))),
        ("word", Arc::new(texts().collect::<DictionaryArray<Int16Type>>())),
        (
            "money",
            Arc::new(
                Decimal128Array::from_iter_values(n().map(i128::from))
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        ("list", Arc::new(lists.finish())),
        ("nothing", Arc::new(NullArray::new(3))),
    ]
}

fn batch(of: &[&str]) -> RecordBatch {
    let columns: Vec<_> = columns().into_iter().filter(|(name, _)| of.contains(name)).collect();
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
        .unwrap()
}

fn arrow(of: &[&str]) -> Vec<u8> {
    let batch = batch(of);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn parquet(of: &[&str], compression: Compression, version: WriterVersion) -> Vec<u8> {
    let batch = batch(of);
    let properties =
        WriterProperties::builder().set_compression(compression).set_writer_version(version);
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build()))
            .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Reads every column. An error must be about the file and must not contain a cell.
fn read(path: &Path) -> bool {
    let outcome = open_file(path, &Options::default()).and_then(|(part, columns)| {
        let positions: Vec<usize> = (0..columns.len()).collect();
        let large = std::sync::Mutex::new(());
        let sections = part.typed().map_or(0, super::TypedFile::sections);
        (0..sections).try_for_each(|at| {
            section(&part, at, &positions, &large)?.try_for_each(|batch| batch.map(|_| ()))
        })
    });
    match outcome {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.fault(), Fault::Input, "{error}");
            let said = format!("{error} {}", error.advice().unwrap_or_default());
            // A flipped bit may change the name of a column in the schema. A message may contain
            // that name, but no cell.
            assert!(!said.contains("Zaun") && said.len() < 2000, "{said}");
            false
        }
    }
}

/// Flips every bit and truncates at every length. Returns the number of variants, and the number of
/// variants that were read without an error.
fn damage(dir: &Path, whole: &[u8]) -> (usize, usize) {
    let path = dir.join("t");
    std::fs::write(&path, whole).unwrap();
    assert!(read(&path), "the sound file is read");
    let (mut tried, mut unharmed) = (0, 0);
    let mut run = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        tried += 1;
        unharmed += usize::from(read(&path));
    };
    for length in 1..whole.len() {
        run(&whole[..length]);
    }
    let mut bytes = whole.to_vec();
    for bit in 0..whole.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        run(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    (tried, unharmed)
}

/// Runs a test of this file again in a process limited to 2 GiB of memory. The process must succeed
/// and must not report a panic.
fn within_limits(name: &str, work: impl FnOnce(&Path)) {
    if std::env::var_os("INCROWD_WITHIN_LIMITS").is_some() {
        let dir = tempfile::tempdir().unwrap();
        return work(dir.path());
    }
    let limited = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 2097152; exec \"$0\" \"$@\"",
            std::env::current_exe().unwrap().to_str().unwrap(),
        ])
        .arg(name)
        .envs([("RUST_TEST_THREADS", "1"), ("RUST_TEST_NOCAPTURE", "1")])
        .env("INCROWD_WITHIN_LIMITS", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&limited.stderr);
    assert!(limited.status.success(), "{}: {said}", limited.status);
    assert!(!said.contains("panicked"), "{said}");
    assert!(String::from_utf8_lossy(&limited.stdout).contains("1 passed"), "it did not run");
}

const PLAIN: [&str; 3] = ["number", "text", "word"];
const OTHERS: [&str; 4] = ["view", "money", "list", "nothing"];

#[test]
fn a_damaged_arrow_file_is_one_error() {
    within_limits("source::arrow::damaged::a_damaged_arrow_file_is_one_error", |dir| {
        for of in [&PLAIN[..], &OTHERS] {
            let (tried, unharmed) = damage(dir, &arrow(of));
            assert!(tried > 10_000 && unharmed < tried, "{tried} tried, {unharmed} unharmed");
        }
    });
}

#[test]
fn a_damaged_parquet_file_is_one_error() {
    within_limits("source::arrow::damaged::a_damaged_parquet_file_is_one_error", |dir| {
        let zstd = Compression::ZSTD(Default::default());
        for (of, compression, version) in [
            (&PLAIN[..], Compression::SNAPPY, WriterVersion::PARQUET_1_0),
            (&OTHERS[..], zstd, WriterVersion::PARQUET_2_0),
        ] {
            let (tried, unharmed) = damage(dir, &parquet(of, compression, version));
            assert!(tried > 5_000 && unharmed < tried, "{tried} tried, {unharmed} unharmed");
        }
    });
}

/// Only a first page is measured as a dictionary.
#[test]
fn a_dictionary_after_a_page_of_values_is_damaged() {
    let mut bytes = parquet(&["text"], Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    let column = reader.metadata().row_group(0).column(0);
    let start = column.dictionary_page_offset().unwrap() as usize;
    let values = column.data_page_offset() as usize;
    let end = start + column.compressed_size() as usize;
    bytes[start..end].rotate_left(values - start);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    std::fs::write(&path, &bytes).unwrap();
    let opened = open_file(&path, &Options::default()).unwrap().0;
    let large = std::sync::Mutex::new(());
    let error = section(&opened, 0, &[0], &large).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("not the first page"), "{error}");
}
