//! Test tables in every format, and a slow reference fold.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use incrowd_core::{Error, Folded, Silent};
use incrowd_engine::{Embedded, Engine, FoldSpec, Options};

/// A cell. `None` is a null, which text files write as an empty field.
pub(crate) type Cell = Option<String>;

/// Style of a text file.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) delimiter: u8,
    pub(crate) crlf: bool,
    pub(crate) mark: bool,
    pub(crate) quote_all: bool,
    pub(crate) last_line_end: bool,
}

impl Style {
    pub(crate) const PLAIN: Style =
        Style { delimiter: b',', crlf: false, mark: false, quote_all: false, last_line_end: true };
}

/// Writes delimited text as other programs do, with quotes where necessary or everywhere.
pub(crate) fn text(names: &[&str], records: &[Vec<Cell>], style: &Style) -> Vec<u8> {
    let mut out = Vec::new();
    if style.mark {
        out.extend_from_slice(b"\xef\xbb\xbf");
    }
    let line_end: &[u8] = if style.crlf { b"\r\n" } else { b"\n" };
    let header: Vec<Cell> = names.iter().map(|n| Some((*n).to_owned())).collect();
    for (i, record) in std::iter::once(&header).chain(records).enumerate() {
        if i > 0 {
            out.extend_from_slice(line_end);
        }
        for (j, cell) in record.iter().enumerate() {
            if j > 0 {
                out.push(style.delimiter);
            }
            let cell = cell.as_deref().unwrap_or("");
            let special = |b: u8| b == style.delimiter || matches!(b, b'\n' | b'\r');
            let lone = record.len() == 1 && cell.is_empty();
            if style.quote_all || lone || cell.starts_with('"') || cell.bytes().any(special) {
                out.extend_from_slice(format!("\"{}\"", cell.replace('"', "\"\"")).as_bytes());
            } else {
                out.extend_from_slice(cell.as_bytes());
            }
        }
    }
    if style.last_line_end {
        out.extend_from_slice(line_end);
    }
    out
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

pub(crate) fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

pub(crate) fn batches(names: &[&str], records: &[Vec<Cell>]) -> (Arc<Schema>, Vec<RecordBatch>) {
    let fields: Vec<Field> =
        names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = |rows: &[Vec<Cell>]| {
        let column = |c: usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| row[c].as_deref()).collect::<StringArray>())
        };
        RecordBatch::try_new(schema.clone(), (0..names.len()).map(column).collect()).unwrap()
    };
    (schema.clone(), records.chunks(7).map(batch).collect())
}

/// A Parquet file with a row group for every seven records.
pub(crate) fn parquet(path: &Path, names: &[&str], records: &[Vec<Cell>]) {
    let (schema, batches) = batches(names, records);
    write_parquet(path, schema, &batches);
}

pub(crate) fn write_parquet(path: &Path, schema: Arc<Schema>, batches: &[RecordBatch]) {
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(File::create(path).unwrap(), schema, None).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

/// An Arrow file with a record batch for every seven records.
pub(crate) fn arrow(path: &Path, names: &[&str], records: &[Vec<Cell>]) {
    let (schema, batches) = batches(names, records);
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(File::create(path).unwrap(), &schema).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
}

/// Writes a file into a directory.
pub(crate) fn write(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

pub(crate) fn spec(columns: &[&str], missing: &[&str], drop_missing: bool) -> FoldSpec {
    FoldSpec {
        weight: None,
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        missing: missing.iter().map(|m| (*m).to_owned()).collect(),
        drop_missing,
        passthrough: Vec::new(),
        person: None,
        repeating: Vec::new(),
        people: Vec::new(),
        packed: false,
    }
}

pub(crate) fn fold(paths: &[PathBuf], options: &Options, spec: &FoldSpec) -> Result<Folded, Error> {
    let open = || Embedded::open(paths, options);
    let folded = open()?.fold(spec, &Silent)?;
    // Fold again with packed rows, and with the cells of single records.
    let numbers = open()?.fold(&FoldSpec { packed: true, ..spec.clone() }, &Silent)?.unpacked();
    let passthrough = spec.columns.iter().take(1).cloned().collect();
    let kept = open()?.fold(&FoldSpec { passthrough, ..spec.clone() }, &Silent)?;
    for other in [numbers, kept] {
        assert_eq!(other.canonical(), folded.canonical());
        assert_eq!((other.read, other.dropped_missing), (folded.read, folded.dropped_missing));
        assert_eq!((&other.missing, &other.marker), (&folded.missing, &folded.marker));
    }
    Ok(folded)
}

/// Reference fold. `nulls` states whether the format has nulls, or only empty texts.
pub(crate) fn slow(names: &[&str], records: &[Vec<Cell>], spec: &FoldSpec, nulls: bool) -> Folded {
    let columns: Vec<&str> = spec.columns.iter().map(String::as_str).collect();
    let at: Vec<usize> =
        columns.iter().map(|c| names.iter().position(|name| name == c).unwrap()).collect();
    let seen = |cell: &'_ Cell| -> Option<String> {
        let text = if nulls { cell.clone() } else { Some(cell.clone().unwrap_or_default()) };
        text.filter(|t| !spec.missing.contains(t))
    };
    let rows: Vec<Vec<Option<String>>> =
        records.iter().map(|record| at.iter().map(|&i| seen(&record[i])).collect()).collect();
    let refs = rows.iter().map(|row| row.iter().map(Option::as_deref).collect());
    Folded::from_records(&columns, refs, spec.drop_missing)
}

/// Describes the first difference between a fold and the reference, without showing a cell.
pub(crate) fn difference(fast: &Folded, slow: &Folded) -> Option<&'static str> {
    let names = |f: &Folded| f.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    if names(fast) != names(slow) {
        Some("columns")
    } else if (fast.read, fast.dropped_missing) != (slow.read, slow.dropped_missing) {
        Some("records read or dropped")
    } else if fast.missing != slow.missing {
        Some("missing values by column")
    } else if fast.canonical() != slow.canonical() {
        Some("rows or weights")
    } else {
        None
    }
}

/// Deterministic pseudo-random numbers below a limit.
pub(crate) fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |sides| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % sides
    }
}
