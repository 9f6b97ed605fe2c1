//! Typed columns for Parquet and Arrow IPC files. Generalized quasi-identifiers are text. Other
//! columns keep their type.

pub(crate) mod coded;
mod typed;

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use incrowd_core::{Error, Result};

use super::parquet::{Codes, Column, Columns};
use super::{Bytes, Rows};
use crate::cells::{NO_TEXT, Texts};

pub(super) fn schema(columns: &[(String, DataType)]) -> SchemaRef {
    let field = |(name, data_type): &(String, DataType)| {
        Field::new(name, typed::published(data_type), true)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// The schema with dictionary fields for columns that are determined by the plan. `texts` returns
/// the maximum number of texts of such a column.
pub(super) fn in_codes(schema: &SchemaRef, texts: impl Fn(usize) -> Option<usize>) -> SchemaRef {
    let fields = schema.fields().iter().enumerate();
    let field = |(column, field): (usize, &Arc<Field>)| {
        texts(column).map_or_else(|| field.clone(), |most| coded::field(field, most))
    };
    Arc::new(Schema::new(fields.map(field).collect::<Vec<_>>()))
}

/// Converts rows to a batch for an Arrow file.
pub(super) fn batch<R: Rows>(rows: &R, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = columns(rows, schema, false)?.columns.into_iter().map(|column| match column {
        Column::Values(array) => Ok(array),
        Column::Coded(_) => Err(Error::bug("a batch has values")),
    });
    RecordBatch::try_new(schema.clone(), columns.collect::<Result<_>>()?)
        .map_err(|e| Error::bug(format!("a batch does not fit: {e}")))
}

/// Rows whose cells are looked up together.
const NEAR: usize = 256;

/// Converts rows to columns. With `coded`, columns that are determined by the plan remain codes.
pub(super) fn columns<R: Rows>(rows: &R, schema: &SchemaRef, coded: bool) -> Result<Columns> {
    let found: Vec<R::Row> = (0..rows.len()).map(|index| rows.row(index)).collect();
    let planned: Vec<usize> =
        (0..schema.fields().len()).filter(|column| rows.texts(*column).is_some()).collect();
    // Process few rows at a time, so that the cells of their groups stay in the processor cache.
    let mut codes: Vec<Vec<u32>> =
        planned.iter().map(|_| Vec::with_capacity(found.len())).collect();
    for near in found.chunks(NEAR) {
        for (codes, &column) in codes.iter_mut().zip(&planned) {
            rows.codes(near, column, codes);
        }
    }
    let mut codes = codes.into_iter();
    let mut columns = Vec::with_capacity(schema.fields().len());
    for (column, field) in schema.fields().iter().enumerate() {
        let planned =
            rows.texts(column).zip(planned.contains(&column).then(|| codes.next()).flatten());
        columns.push(match planned {
            Some((texts, codes)) if coded && is_text(field.data_type()) => {
                let codes = codes.into_iter().map(|code| texts.as_read(code)).collect();
                Column::Coded(Codes { codes, texts: texts.clone() })
            }
            Some((texts, codes)) if matches!(field.data_type(), DataType::Dictionary(..)) => {
                match coded::array(texts, &codes, field.data_type()) {
                    Some(array) => Column::Values(array),
                    None => Column::Values(spelled(rows, &found, column, field)?),
                }
            }
            Some((texts, codes)) => match picked(texts, codes, field.data_type()) {
                Some(array) => Column::Values(array),
                None => Column::Values(spelled(rows, &found, column, field)?),
            },
            None => Column::Values(spelled(rows, &found, column, field)?),
        });
    }
    Ok(Columns { records: found.len(), columns })
}

/// Whether Parquet stores a column of this type as texts, independent of the type in memory.
pub(super) fn is_text(of: &DataType) -> bool {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Converts each distinct text once and looks up the values. Returns `None` if a text is not a
/// value of the type.
fn picked(texts: &Texts, codes: Vec<u32>, to: &DataType) -> Option<ArrayRef> {
    let values = texts.values(|all| typed::typed(all, to))?;
    let places =
        codes.into_iter().map(|code| Some(texts.as_read(code)).filter(|code| *code != NO_TEXT));
    take(&values, &UInt32Array::from_iter(places), None).ok()
}

/// Converts a column cell by cell.
fn spelled<R: Rows>(rows: &R, found: &[R::Row], column: usize, field: &Field) -> Result<ArrayRef> {
    let mut builder = StringBuilder::with_capacity(found.len(), found.len() * 8);
    for row in found {
        match rows.cell(*row, column) {
            Some(cell) => {
                let text = std::str::from_utf8(cell)
                    .map_err(|_| Error::bug("a cell to be written is not text"))?;
                builder.append_value(text);
            }
            None => builder.append_null(),
        }
    }
    typed::typed(&builder.finish(), field.data_type()).ok_or_else(|| {
        Error::bug(format!("column `{}` cannot be written as {}", field.name(), field.data_type()))
    })
}

/// Writer of an Arrow file.
pub(crate) struct ArrowSink {
    writer: arrow_ipc::writer::FileWriter<BufWriter<Bytes>>,
    target: PathBuf,
}

pub(super) fn failed(target: &Path, error: impl std::fmt::Display) -> Error {
    Error::resources(format!("cannot write `{}`: {error}", target.display()))
}

impl ArrowSink {
    pub(super) fn create(file: Bytes, target: PathBuf, schema: &SchemaRef) -> Result<ArrowSink> {
        let writer = arrow_ipc::writer::FileWriter::try_new(BufWriter::new(file), schema);
        Ok(ArrowSink { writer: writer.map_err(|e| failed(&target, e))?, target })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|e| failed(&self.target, e))
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.writer.finish().map_err(|e| failed(&self.target, e))
    }
}
