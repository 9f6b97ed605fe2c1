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

/// The same table without views of texts, which libraries of two years ago cannot read.
pub(crate) fn for_everybody(
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    if schema.fields().iter().all(|field| *field.data_type() != DataType::Utf8View) {
        return Ok((schema, batches));
    }
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Utf8View => FieldRef::new(field.as_ref().clone().with_data_type(DataType::LargeUtf8)),
        _ => field.clone(),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().map(field).collect();
    let plain = SchemaRef::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let column = |column: &ArrayRef| match column.data_type() {
        DataType::Utf8View => {
            std::sync::Arc::new(LargeStringArray::from_iter(column.as_string_view())) as ArrayRef
        }
        _ => column.clone(),
    };
    let batch = |batch: &RecordBatch| {
        RecordBatch::try_new(plain.clone(), batch.columns().iter().map(column).collect())
    };
    let batches = batches.iter().map(batch).collect::<Result<_, _>>()?;
    Ok((plain, batches))
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
