//! Polars tables with several chunks. Polars exports a whole table by copying it into one chunk and
//! keeps both copies meanwhile. Exporting chunk by chunk copies nothing.

use pyo3::prelude::*;
use pyo3::types::PyList;

/// The smallest average chunk size in records. For smaller chunks one copy of the table is cheaper.
const LEAST: usize = 1 << 12;

/// Splits a table into tables of one chunk each, in order. Returns `None` for other libraries, a
/// single chunk, chunks that differ between columns, or a version of Polars without these methods.
pub(super) fn of<'py>(table: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let kind = table.get_type();
    if !kind.module().ok()?.to_str().ok()?.starts_with("polars.") {
        return None;
    }
    let columns: Vec<Bound<'py, PyAny>> = table.call_method0("get_columns").ok()?.extract().ok()?;
    let chunks = |column: &Bound<'py, PyAny>| -> Option<Vec<Bound<'py, PyAny>>> {
        column.call_method0("get_chunks").ok()?.extract().ok()
    };
    let columns: Vec<Vec<Bound<'py, PyAny>>> = columns.iter().map(chunks).collect::<Option<_>>()?;
    let count = columns.first()?.len();
    if count < 2
        || columns.iter().any(|column| column.len() != count)
        || table.len().ok()? / count < LEAST
    {
        return None;
    }
    let one = |at: usize| {
        let parts: Vec<&Bound<'py, PyAny>> = columns.iter().map(|column| &column[at]).collect();
        let records = parts[0].len().ok()?;
        let alike = parts.iter().all(|part| part.len().is_ok_and(|own| own == records));
        alike.then(|| kind.call1((PyList::new(table.py(), parts).ok()?,)).ok())?
    };
    (0..count).map(one).collect()
}
