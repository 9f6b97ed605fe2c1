//! A sequence of tables, each with the name of its release.

use incrowd::{BatchTable, Error};
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString};

use super::Given;
use crate::errors;
use crate::spark::REMOTE;

/// Tables in order: a list, or a mapping by name.
#[derive(Debug)]
pub(crate) struct Sequence(pub(crate) Vec<BatchTable>);

impl<'a, 'py> FromPyObject<'a, 'py> for Sequence {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Sequence> {
        let py = object.py();
        let refused = |error: Error| errors::raise(py, error.into());
        let one = || {
            let error = Error::job("`tables` is one table, expected several");
            refused(error.help("give a list of tables, or a dictionary of tables by name"))
        };
        // A path and a table are iterable, but their items are not tables.
        let is_path = object.is_instance_of::<PyString>() || object.hasattr("__fspath__")?;
        if is_path || object.hasattr("__arrow_c_stream__")? || object.hasattr(REMOTE)? {
            return Err(one());
        }
        let mut tables = Vec::new();
        if let Ok(by_name) = object.cast::<PyMapping>() {
            for entry in by_name.items()? {
                let (name, table): (Bound<'_, PyAny>, Given) = entry.extract()?;
                let name = name.str()?.to_string();
                tables.push(BatchTable::named(&name, table.table()).map_err(refused)?);
            }
            return Ok(Sequence(tables));
        }
        for (at, table) in object.try_iter().map_err(|_| one())?.enumerate() {
            tables.push(match table?.extract::<Given>()? {
                Given::Files(paths) if paths.len() == 1 => BatchTable::from(&paths[0]),
                Given::Files(_) => {
                    let error = Error::job("a table in several files has no name");
                    return Err(refused(error.help("give a dictionary of tables by name")));
                }
                memory => BatchTable::named(&format!("batch-{}", at + 1), memory.table())
                    .map_err(refused)?,
            });
        }
        Ok(Sequence(tables))
    }
}
