//! Arrow streams in capsules, the protocol for tables between Python libraries.
//!
//! This is the only file of the project with `unsafe` code: a capsule is a pointer from another
//! library, and Arrow's reader takes ownership. The capsule's name, which is checked, states that
//! it points to a stream.
#![allow(unsafe_code)]

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    ArrayRef, LargeStringArray, RecordBatch, RecordBatchIterator, RecordBatchReader,
};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name of such capsules.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// Takes the table out of a capsule without copying cells.
pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let odd = |e: ArrowError| PyValueError::new_err(format!("the table cannot be read: {e}"));
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: by its name, the capsule points to a stream. The reader moves the stream out and
    // leaves a released one.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(odd)?;
    let schema = reader.schema();
    Ok((schema, reader.collect::<Result<_, _>>().map_err(odd)?))
}

/// Puts a table into a capsule. Batches are created when they are read, and dropping the capsule
/// releases them. String views become strings, because older libraries cannot read views.
pub(crate) fn give<'py>(
    py: Python<'py>,
    table: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Utf8View => {
            FieldRef::new(field.as_ref().clone().with_data_type(DataType::LargeUtf8))
        }
        _ => field.clone(),
    };
    let fields: Vec<FieldRef> = table.schema().fields().iter().map(field).collect();
    let schema =
        SchemaRef::new(Schema::new_with_metadata(fields, table.schema().metadata().clone()));
    let plain = schema.clone();
    let batches = table.map(move |batch| {
        RecordBatch::try_new(plain.clone(), batch?.columns().iter().map(without_views).collect())
    });
    let reader = RecordBatchIterator::new(batches, schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

fn without_views(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Utf8View => {
            std::sync::Arc::new(LargeStringArray::from_iter(column.as_string_view()))
        }
        _ => column.clone(),
    }
}
