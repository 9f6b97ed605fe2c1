//! Parquet and Arrow IPC files. Quasi-identifiers are text once they are generalized; other columns keep their type.

mod typed;

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd_core::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Bytes, Rows};

pub(super) fn schema(columns: &[(String, DataType)]) -> SchemaRef {
    let field = |(name, data_type): &(String, DataType)| Field::new(name, typed::published(data_type), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

pub(super) fn render<R: Rows>(rows: &R, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for (column, field) in schema.fields().iter().enumerate() {
        let mut builder = StringBuilder::with_capacity(rows.len(), rows.len() * 8);
        for index in 0..rows.len() {
            match rows.cell(rows.row(index), column) {
                Some(cell) => {
                    let text = std::str::from_utf8(cell)
                        .map_err(|_| Error::bug("a cell to be written is not text"))?;
                    builder.append_value(text);
                }
                None => builder.append_null(),
            }
        }
        let column = typed::typed(&builder.finish(), field.data_type()).ok_or_else(|| {
            Error::bug(format!("column `{}` cannot be written as {}", field.name(), field.data_type()))
        })?;
        columns.push(column);
    }
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|e| Error::bug(format!("a batch does not fit: {e}")))
}

enum Writer {
    Parquet(Box<ArrowWriter<Bytes>>),
    Arrow(Box<arrow_ipc::writer::FileWriter<BufWriter<Bytes>>>),
}

/// A typed file under way.
pub(crate) struct ArrowSink {
    writer: Writer,
    target: PathBuf,
}

fn failed(target: &Path, error: impl std::fmt::Display) -> Error {
    Error::resources(format!("cannot write `{}`: {error}", target.display()))
}

impl ArrowSink {
    pub(super) fn create(
        file: Bytes,
        target: PathBuf,
        parquet: bool,
        schema: &SchemaRef,
    ) -> Result<ArrowSink> {
        let writer = if parquet {
            let level = ZstdLevel::try_new(3).map_err(|e| failed(&target, e))?;
            let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
            let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
            Writer::Parquet(Box::new(writer.map_err(|e| failed(&target, e))?))
        } else {
            let writer = arrow_ipc::writer::FileWriter::try_new(BufWriter::new(file), schema);
            Writer::Arrow(Box::new(writer.map_err(|e| failed(&target, e))?))
        };
        Ok(ArrowSink { writer, target })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.writer {
            Writer::Parquet(writer) => writer.write(batch).map_err(|e| failed(&self.target, e)),
            Writer::Arrow(writer) => writer.write(batch).map_err(|e| failed(&self.target, e)),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.writer {
            Writer::Parquet(writer) => writer.close().map(drop).map_err(|e| failed(&self.target, e)),
            Writer::Arrow(mut writer) => writer.finish().map_err(|e| failed(&self.target, e)),
        }
    }
}
