//! Files of other programs. Excel, Stata, SPSS and SAS files are read into memory. For other known
//! formats, the error suggests a conversion.
//!
//! Every length and count in a file is compared with the size of the file before memory is
//! allocated. The table is stored by column with dictionary-encoded texts, within a
//! [budget](budget) that depends on the size of the file.

mod budget;
mod bytes;
mod columns;
#[cfg(feature = "formats")]
mod excel;
mod sas;
mod spss;
mod stata;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use incrowd_core::{Error, Result};

use super::{Batches, check_name_lengths, unreadable};
use budget::Budget;
use columns::Cells;

/// A program whose files are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    Excel,
    Stata,
    Spss,
    Sas,
}

/// Signatures of unsupported files, with a description and advice on the conversion.
const KNOWN: &[(&[u8], &str, &str)] = &[
    (&[0xd0, 0xcf, 0x11, 0xe0], "an old Excel or Word file", "save it as .xlsx or .csv"),
    (
        b"HEADER RECORD",
        "a SAS transport file",
        "in R: arrow::write_parquet(haven::read_xpt(f), 'f.parquet')",
    ),
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

/// Number of bytes read to detect the format.
const FIRST: u64 = 512;

/// Detects a supported program from the first bytes of a file. Other known formats cause an error
/// with advice.
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
    let refuse = |what: &str, help: &str| {
        Err(Error::input(format!("`{}` is {what}", path.display())).help(help))
    };
    if first.starts_with(b"PK\x03\x04") {
        let excel = path.extension().is_none_or(|ext| !ext.eq_ignore_ascii_case("zip"));
        return match excel {
            true => Ok(Some(Foreign::Excel)),
            false => {
                refuse("a zip archive", "unzip it first: unzip -p FILE | incrowd anonymize - …")
            }
        };
    }
    if first.get(8..12) == Some(b"DUCK") {
        return refuse(
            "a DuckDB database",
            "duckdb -csv FILE 'from TABLE' | incrowd anonymize - …",
        );
    }
    // A text file may start with the same bytes as a signature. The signatures of binary files
    // therefore only count if the file contains a control character.
    let binary = first.iter().any(|byte| *byte < b'\t');
    let is_known = |magic: &[u8]| {
        let textual =
            [&b"<"[..], b"%PDF", b"HEADER RECORD"].iter().any(|begins| magic.starts_with(begins));
        (binary || textual) && first.starts_with(magic)
    };
    match KNOWN.iter().find(|(magic, ..)| is_known(magic)) {
        Some((_, what, help)) => refuse(what, help),
        None => Ok(None),
    }
}

/// A table in memory.
#[derive(Default)]
struct Table {
    columns: Vec<(String, Cells)>,
}

/// Reason why a file is not read.
#[derive(Debug)]
enum Damage {
    /// The file is damaged. The text follows the file name and never contains a cell.
    Broken(String),
    /// The table would exceed this memory limit in bytes.
    TooLarge(u64),
    /// The file is valid but rejected for another reason.
    #[cfg(feature = "formats")]
    Refused(Box<Error>),
}

impl From<String> for Damage {
    fn from(what: String) -> Damage {
        Damage::Broken(what)
    }
}

impl From<&str> for Damage {
    fn from(what: &str) -> Damage {
        Damage::Broken(what.to_owned())
    }
}

impl Damage {
    fn explain(self, path: &Path, kind: &str) -> Error {
        let file = path.display();
        match self {
            #[cfg(feature = "formats")]
            Damage::Refused(error) => *error,
            Damage::Broken(what) => {
                Error::input(format!("`{file}` is truncated or damaged, or no {kind} file: {what}"))
            }
            Damage::TooLarge(limit) => {
                Error::input(format!("the table in `{file}` takes more than {} MiB of memory", limit >> 20)).help(
                    format!("files of {kind} are read whole, within a limit that grows with its size; export the table as CSV or Parquet"),
                )
            }
        }
    }
}

/// Reads a file of another program.
pub(super) fn read(path: &Path, foreign: Foreign, sheet: Option<&str>) -> Result<Batches> {
    let bytes = std::fs::read(path).map_err(|e| unreadable(path, &e))?;
    let mut budget = Budget::of(bytes.len());
    let (kind, table) = match foreign {
        #[cfg(feature = "formats")]
        Foreign::Excel => ("Excel", excel::read(&bytes, sheet, path, &mut budget)),
        #[cfg(not(feature = "formats"))]
        Foreign::Excel => {
            let _ = sheet;
            return Err(Error::input(format!("`{}` is an Excel file", path.display()))
                .help("this build of incrowd does not read it; save it as .csv"));
        }
        Foreign::Stata => ("Stata", stata::read(&bytes, &mut budget)),
        Foreign::Spss => ("SPSS", spss::read(&bytes, &mut budget)),
        Foreign::Sas => ("SAS", sas::read(&bytes, &mut budget)),
    };
    let records = |table: Table| {
        budget.take_records(table.columns.first().map_or(0, |(_, cells)| cells.len()))?;
        Ok(table)
    };
    let table = table.and_then(records).map_err(|damage| damage.explain(path, kind))?;
    drop(bytes);
    check_name_lengths(path, table.columns.iter().map(|(name, _)| name.as_str()))?;
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = table
        .columns
        .into_iter()
        .map(|(name, cells)| {
            let array = cells.array();
            (Field::new(name, array.data_type().clone(), true), array)
        })
        .unzip();
    if fields.is_empty() {
        return Err(Error::input(format!("`{}` holds no table", path.display())));
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)
        .map_err(|_| Damage::from("its columns are not of one length").explain(path, kind))?;
    Batches::new(&path.display().to_string(), schema, vec![batch])
}

/// The published type of a column. It does not depend on the width of the integers in memory.
pub(super) fn published(own: DataType) -> DataType {
    match own {
        DataType::Dictionary(_, values) => *values,
        DataType::Int8 | DataType::Int32 => DataType::Int64,
        other => other,
    }
}

/// Formats days since 1970-01-01 as a date.
fn date(days: f64) -> Option<String> {
    let known = days.is_finite() && days.abs() < 4_000_000.0;
    known.then(|| incrowd_core::number::date_of(days.floor() as i32).to_string())
}
