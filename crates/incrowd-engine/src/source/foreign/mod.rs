//! Files of other programs: Excel, Stata, SPSS and SAS are read into memory as a table; what else is known by its first bytes gets a
//! hint what converts it.
//!
//! Whatever a file states is held against what it has before anything is allocated: these readers take memory in proportion to
//! the file.

mod bytes;
#[cfg(feature = "formats")]
mod excel;
mod sas;
mod spss;
mod stata;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use incrowd_core::{Error, Result};

use super::{Batches, unreadable};

/// A program whose files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    Excel,
    Stata,
    Spss,
    Sas,
}

/// The first bytes of files that are not read, with what they are and what converts them.
const KNOWN: &[(&[u8], &str, &str)] = &[
    (&[0xd0, 0xcf, 0x11, 0xe0], "an old Excel or Word file", "save it as .xlsx or .csv"),
    (b"HEADER RECORD", "a SAS transport file", "in R: arrow::write_parquet(haven::read_xpt(f), 'f.parquet')"),
    (
        b"SQLite format 3",
        "an SQLite database",
        "sqlite3 -csv -header FILE 'select * from TABLE' | incrowd anonymize - …",
    ),
    (b"ORC", "an ORC file", "write it as Parquet, for example with Spark or pyarrow"),
    (b"Obj\x01", "an Avro file", "write it as Parquet, for example with Spark or DuckDB"),
    (b"\x89HDF", "an HDF5 file", "write it as Parquet or CSV, for example with pandas"),
    (b"%PDF", "a PDF", "take the table it was made from"),
    (b"BZh", "compressed with bzip2", "bunzip2 it first"),
    (b"\xfd7zXZ", "compressed with xz", "unxz it first"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"<!DOCTYPE", "a web page", "take the table it was made from"),
    (b"<html", "a web page", "take the table it was made from"),
    (b"<?xml", "XML", "write it as CSV or Parquet"),
    (b"RDX", "an R file", "in R: write.csv(…, row.names = FALSE)"),
];

/// How many first bytes tell.
const FIRST: u64 = 512;

/// Which program a file is of, if it is one whose files are read. Other known files are refused with a hint.
pub(super) fn sniff(path: &Path) -> Result<Option<Foreign>> {
    let mut first = Vec::new();
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    file.take(FIRST).read_to_end(&mut first).map_err(|e| unreadable(path, &e))?;
    if first.starts_with(b"$FL2") || first.starts_with(b"$FL3") {
        return Ok(Some(Foreign::Spss));
    }
    if first.starts_with(b"<stata_dta>") || stata::is_fixed(&first) {
        return Ok(Some(Foreign::Stata));
    }
    if first.starts_with(sas::MAGIC) {
        return Ok(Some(Foreign::Sas));
    }
    let refuse =
        |what: &str, help: &str| Err(Error::input(format!("`{}` is {what}", path.display())).help(help));
    if first.starts_with(b"PK\x03\x04") {
        let excel = path.extension().is_none_or(|ext| !ext.eq_ignore_ascii_case("zip"));
        return match excel {
            true => Ok(Some(Foreign::Excel)),
            false => refuse("a zip archive", "unzip it first: unzip -p FILE | incrowd anonymize - …"),
        };
    }
    if first.get(8..12) == Some(b"DUCK") {
        return refuse("a DuckDB database", "duckdb -csv FILE 'from TABLE' | incrowd anonymize - …");
    }
    // A header of text may begin like anything.
    let binary = first.iter().any(|byte| *byte < b'\t');
    let is_known = |magic: &[u8]| {
        let textual = [&b"<"[..], b"%PDF", b"HEADER RECORD"].iter().any(|begins| magic.starts_with(begins));
        (binary || textual) && first.starts_with(magic)
    };
    match KNOWN.iter().find(|(magic, ..)| is_known(magic)) {
        Some((_, what, help)) => refuse(what, help),
        None => Ok(None),
    }
}

/// The cells of a column.
pub(super) enum Cells {
    Text(Vec<Option<String>>),
    Numbers(Vec<Option<f64>>),
}

/// A table in memory.
#[derive(Default)]
pub(super) struct Table {
    pub(super) columns: Vec<(String, Cells)>,
}

/// What is wrong with a file, as it follows its name.
pub(super) type Damage = String;

/// Reads a file of another program.
pub(super) fn read(path: &Path, foreign: Foreign, sheet: Option<&str>) -> Result<Batches> {
    let bytes = std::fs::read(path).map_err(|e| unreadable(path, &e))?;
    let table = match foreign {
        #[cfg(feature = "formats")]
        Foreign::Excel => excel::read(bytes, sheet, path)?,
        #[cfg(not(feature = "formats"))]
        Foreign::Excel => {
            let _ = sheet;
            return Err(Error::input(format!("`{}` is an Excel file", path.display()))
                .help("this build of incrowd does not read it; save it as .csv"));
        }
        Foreign::Stata => stata::read(&bytes).map_err(|damage| damaged(path, "Stata", &damage))?,
        Foreign::Spss => spss::read(&bytes).map_err(|damage| damaged(path, "SPSS", &damage))?,
        Foreign::Sas => sas::read(&bytes).map_err(|damage| damaged(path, "SAS", &damage))?,
    };
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = table
        .columns
        .into_iter()
        .map(|(name, cells)| {
            let array = array(cells);
            (Field::new(name, array.data_type().clone(), true), array)
        })
        .unzip();
    if fields.is_empty() {
        return Err(Error::input(format!("`{}` holds no table", path.display())));
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)
        .map_err(|_| damaged(path, "such", "its columns are not of one length"))?;
    Batches::new(&path.display().to_string(), schema, vec![batch])
}

fn damaged(path: &Path, kind: &str, what: &str) -> Error {
    Error::input(format!("`{}` is truncated or damaged, or no {kind} file: {what}", path.display()))
}

/// Whole numbers are whole numbers.
fn array(cells: Cells) -> ArrayRef {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match cells {
        Cells::Text(texts) => Arc::new(StringArray::from(texts)),
        Cells::Numbers(numbers) => {
            let whole = |x: &f64| x.fract() == 0.0 && x.abs() < EXACT;
            match numbers.iter().flatten().all(whole) {
                true => Arc::new(numbers.iter().map(|x| x.map(|x| x as i64)).collect::<Int64Array>()),
                false => Arc::new(Float64Array::from(numbers)),
            }
        }
    }
}

/// Labels in place of the codes they stand for, if every code that occurs has one.
fn labelled(numbers: Vec<Option<f64>>, labels: &[(f64, String)]) -> Cells {
    let label = |x: f64| labels.iter().find(|(code, _)| *code == x).map(|(_, label)| label);
    let all = numbers.iter().flatten().all(|x| label(*x).is_some());
    match all && numbers.iter().any(Option::is_some) {
        true => Cells::Text(numbers.into_iter().map(|x| x.and_then(|x| label(x).cloned())).collect()),
        false => Cells::Numbers(numbers),
    }
}

/// Days since 1970-01-01 as a date.
fn date(days: f64) -> Option<String> {
    let known = days.is_finite() && days.abs() < 4_000_000.0;
    known.then(|| incrowd_core::number::date_of(days.floor() as i32).to_string())
}
