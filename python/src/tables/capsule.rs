//! Arrow streams in capsules, the way in which libraries of Python hand tables to each other.
//!
//! The only file of the project with `unsafe` code: a capsule is a pointer that another library made, and Arrow's own reader
//! takes it over. That it points to a stream is what the capsule's name says, which is checked.
#![allow(unsafe_code)]

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name such capsules have.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// Takes the table out of a capsule. Its cells stay where they are.
pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let odd = |e: arrow_schema::ArrowError| PyValueError::new_err(format!("the table cannot be read: {e}"));
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the name says that it points to a stream. The reader moves it out and leaves one that is released.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(odd)?;
    let schema = reader.schema();
    Ok((schema, reader.collect::<Result<_, _>>().map_err(odd)?))
}

/// Puts a table into a capsule. Whoever drops the capsule unread releases it.
pub(crate) fn give(
    py: Python<'_>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
