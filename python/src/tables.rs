//! Tables: objects with `__arrow_c_stream__`, or paths of files. Nothing is copied.

pub(crate) mod capsule;
pub(crate) mod cells;
mod chunks;
mod sequence;

pub(crate) use sequence::Sequence;

use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use incrowd::job::{Input, Table};
use incrowd::{Batches, Error, Location};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;
use crate::spark::{REMOTE, SparkTable};

/// A table argument.
#[derive(Debug)]
pub(crate) enum Given {
    /// Paths and patterns.
    Files(Vec<PathBuf>),
    /// A table in memory.
    Memory(Batches),
}

fn located(paths: Vec<PathBuf>) -> Vec<Location> {
    paths.into_iter().map(Location::from).collect()
}

impl Given {
    /// Replaces the tables of the input.
    pub(crate) fn replace(self, input: &mut Input) {
        (input.paths, input.memory) = match self {
            Given::Files(paths) => (located(paths), None),
            Given::Memory(batches) => (Vec::new(), Some(batches)),
        };
    }

    /// Converts to a table without reading options.
    pub(crate) fn table(self) -> Table {
        match self {
            Given::Files(paths) => Table { paths: located(paths), ..Table::default() },
            Given::Memory(batches) => Table::in_memory(batches),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Given {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Given> {
        let py = object.py();
        if object.hasattr(REMOTE)? {
            return Ok(Given::Memory(SparkTable::of(&object)?));
        }
        if object.hasattr("__arrow_c_stream__")? {
            let mut parts =
                chunks::of(&object).unwrap_or_else(|| vec![object.to_owned()]).into_iter();
            let first =
                parts.next().ok_or_else(|| PyValueError::new_err("a table without chunks"))?;
            let (schema, mut batches) = taken(&first)?;
            for part in parts {
                batches.extend(taken(&part)?.1);
            }
            return in_memory(schema, batches)
                .map(Given::Memory)
                .map_err(|e| errors::raise(py, e.into()));
        }
        if let Ok(path) = object.extract::<PathBuf>() {
            return Ok(Given::Files(vec![path]));
        }
        if let Ok(paths) = object.extract::<Vec<PathBuf>>() {
            return Ok(Given::Files(paths));
        }
        let kind = object.get_type().fully_qualified_name()?.to_string();
        let error = Error::input(format!("a `{kind}` is not a table"));
        let error = error.help(match object.hasattr("collect")? {
            true => "call .collect() first",
            false => {
                "give a DataFrame of pandas or Polars, a table of pyarrow, or the path of a file"
            }
        });
        Err(errors::raise(py, error.into()))
    }
}

/// Imports a table through its Arrow stream.
fn taken(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    // No schema is requested. Older libraries require the argument.
    let capsule = table.call_method1("__arrow_c_stream__", (table.py().None(),));
    let capsule = capsule.map_err(|error| not_given(table.py(), table, error))?;
    capsule::take(capsule.cast()?)
}

/// Converts the error of a library that did not export its table.
fn not_given(py: Python<'_>, object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<pyo3::exceptions::PyImportError>(py) {
        return error;
    }
    let kind =
        object.get_type().fully_qualified_name().map(|name| name.to_string()).unwrap_or_default();
    let refused =
        Error::input(format!("a `{kind}` needs pyarrow to be read")).help("pip install pyarrow");
    let raised = errors::raise(py, refused.into());
    raised.set_cause(py, Some(error));
    raised
}

/// Removes the metadata that libraries add to schemas, because it may differ between batches.
fn in_memory(schema: SchemaRef, batches: Vec<RecordBatch>) -> incrowd::Result<Batches> {
    let plain = SchemaRef::new(Schema::new(schema.fields().clone()));
    let rebuilt = batches
        .into_iter()
        .map(|batch| RecordBatch::try_new(plain.clone(), batch.columns().to_vec()));
    let rebuilt: Result<Vec<_>, _> = rebuilt.collect();
    let odd = |_| Error::input("the table has batches of different columns");
    Batches::new("the table", plain, rebuilt.map_err(odd)?)
}
