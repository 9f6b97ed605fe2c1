//! A directory as a table: its files, plus columns from the names of its subdirectories. In
//! `year=2021/part-0.parquet` every record has the value `2021` in a column `year`. Hive, Spark,
//! DuckDB and Polars use the same layout.

use std::path::Path;

use arrow_array::StringViewArray;
use incrowd_core::{Error, Result};

use super::work::Records;
use super::{CodedCells, Format, FormatCard, WholeCells, unreadable};
use crate::location::Location;

/// A column with one value for all records of a file.
pub(super) type Constant = (String, Option<String>);

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableFile {
    pub(super) location: Location,
    /// Columns from the names of the directories.
    pub(super) constants: Vec<Constant>,
}

/// Maximum depth of nested directories.
const DEEPEST: usize = 32;
/// Hive's directory name for a missing value.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The files of a table in a directory, in alphabetical order. Names that begin with `.` or `_` are
/// skipped.
pub(super) fn files(directory: &Path) -> Result<Vec<TableFile>> {
    let mut found = Vec::new();
    walk(directory, &[], DEEPEST, &mut found)?;
    if found.is_empty() {
        return Err(Error::input(format!(
            "the directory `{}` holds no table",
            directory.display()
        ))
        .help(format!("incrowd reads {} files, recognized by extension", FormatCard::titles())));
    }
    Ok(found)
}

fn walk(
    directory: &Path,
    constants: &[Constant],
    deeper: usize,
    found: &mut Vec<TableFile>,
) -> Result<()> {
    let failed = |e| unreadable(directory, &e);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            if deeper == 0 {
                return Err(Error::input(format!(
                    "the directory `{}` is too deep",
                    path.display()
                )));
            }
            let mut constants = constants.to_vec();
            constants.extend(constant(&name));
            walk(&path, &constants, deeper - 1, found)?;
        } else if Format::of_path(&path).is_ok() {
            let location = Location::File(path.clone());
            found.push(TableFile { location, constants: constants.to_vec() });
        }
    }
    Ok(())
}

/// Parses `column=value` in the name of a directory.
fn constant(name: &str) -> Option<Constant> {
    let (column, value) = name.split_once('=').filter(|(column, _)| !column.is_empty())?;
    Some((decoded(column), (value != NULL).then(|| decoded(value))))
}

/// Decodes percent-encoded characters such as `%20`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()))
                .and_then(|pair| u8::from_str_radix(pair, 16).ok()),
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Source of the cells of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot<'a> {
    /// A slot of the records of the file.
    Read(usize),
    /// A constant from the name of a directory.
    Constant(Option<&'a str>),
}

/// Records of a file with the columns from the directory names added.
pub(super) struct Partitioned<'a, R> {
    pub(super) records: &'a R,
    pub(super) slots: &'a [Slot<'a>],
}

impl<R: Records> Records for Partitioned<'_, R> {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn get(&self, record: usize, slot: usize) -> Option<&[u8]> {
        match self.slots[slot] {
            Slot::Read(slot) => self.records.get(record, slot),
            Slot::Constant(text) => text.map(str::as_bytes),
        }
    }

    fn coded(&self, slot: usize) -> Option<CodedCells<'_>> {
        match self.slots[slot] {
            Slot::Read(slot) => self.records.coded(slot),
            Slot::Constant(_) => None,
        }
    }

    fn views(&self, slot: usize) -> Option<&StringViewArray> {
        match self.slots[slot] {
            Slot::Read(slot) => self.records.views(slot),
            Slot::Constant(_) => None,
        }
    }

    fn whole(&self, slot: usize) -> Option<WholeCells<'_>> {
        match self.slots[slot] {
            Slot::Read(slot) => self.records.whole(slot),
            Slot::Constant(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_directories_tell_values() {
        assert_eq!(constant("year=2021"), Some(("year".into(), Some("2021".into()))));
        assert_eq!(
            constant("town=S%C3%A3o%20Paulo"),
            Some(("town".into(), Some("São Paulo".into())))
        );
        assert_eq!(constant("town=__HIVE_DEFAULT_PARTITION__"), Some(("town".into(), None)));
        assert_eq!(constant("share=100%"), Some(("share".into(), Some("100%".into()))));
        assert!(constant("plain").is_none() && constant("=x").is_none());
    }
}
