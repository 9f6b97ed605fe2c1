//! Arrow streams in capsules, the way in which libraries of Python hand tables to each other.
//!
//! The only file of the project with `unsafe` code: a capsule is a pointer that another library made, and Arrow's own reader
//! takes it over. That it points to a stream is what the capsule's name says, which is checked.
#![allow(unsafe_code)]

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name such capsules have.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// Takes the table out of a capsule. Its cells stay where they are.
pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let odd = |e: ArrowError| PyValueError::new_err(format!("the table cannot be read: {e}"));
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the name says that it points to a stream. The reader moves it out and leaves one that is released.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(odd)?;
    let schema = reader.schema();
    Ok((schema, reader.collect::<Result<_, _>>().map_err(odd)?))
}

/// Puts a table into a capsule, its batches made when they are asked for. Whoever drops the capsule unread releases it. Views of
/// texts, which libraries of two years ago cannot read, become texts.
pub(crate) fn give<'py>(
    py: Python<'py>,
    table: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Utf8View => FieldRef::new(field.as_ref().clone().with_data_type(DataType::LargeUtf8)),
        _ => field.clone(),
    };
    let fields: Vec<FieldRef> = table.schema().fields().iter().map(field).collect();
    let schema = SchemaRef::new(Schema::new_with_metadata(fields, table.schema().metadata().clone()));
    let plain = schema.clone();
    let batches = table.map(move |batch| {
        RecordBatch::try_new(plain.clone(), batch?.columns().iter().map(without_views).collect())
    });
    let reader = RecordBatchIterator::new(batches, schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

fn without_views(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Utf8View => std::sync::Arc::new(LargeStringArray::from_iter(column.as_string_view())),
        _ => column.clone(),
    }
}
