//! Writer for Parquet files. Records are buffered until a row group is complete. All columns of a
//! row group are encoded in parallel.

mod coded;
mod hybrid;

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, SchemaRef};
use incrowd_core::Result;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;

use super::Bytes;
use super::arrow::failed;
use crate::cells::Texts;

/// Approximate number of records per row group. Readers assign row groups to threads, so a file
/// should have many of them.
const ROW_GROUP: usize = 1 << 18;
/// Bytes of buffered values at which a row group with fewer records is complete.
const ROW_GROUP_BYTES: usize = 256 << 20;
/// Higher levels take more time and hardly reduce the size of shuffled codes.
const ZSTD_LEVEL: i32 = 1;

/// Dictionary-encoded records of a column.
pub(crate) struct Codes {
    pub(crate) codes: Vec<u32>,
    pub(crate) texts: Arc<Texts>,
}

/// Records of all columns.
pub(crate) struct Columns {
    pub(crate) records: usize,
    pub(crate) columns: Vec<Column>,
}

/// Records of one column.
pub(crate) enum Column {
    Coded(Codes),
    Values(ArrayRef),
}

/// Buffered records of a column.
#[derive(Default)]
struct Waiting {
    coded: Vec<Codes>,
    values: Vec<ArrayRef>,
}

/// An encoded column of a row group.
enum Chunk {
    Coded(bytes::Bytes, Box<ColumnCloseResult>),
    Values(Box<ArrowColumnChunk>),
}

/// Writer of a Parquet file.
pub(crate) struct ParquetSink {
    writer: SerializedFileWriter<Bytes>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    compression: Compression,
    waiting: Vec<Waiting>,
    records: usize,
    /// Bytes of the buffered values. Dictionary codes are not counted.
    bytes: usize,
    row_groups: usize,
    target: PathBuf,
}

impl ParquetSink {
    pub(super) fn create(file: Bytes, target: PathBuf, schema: &SchemaRef) -> Result<ParquetSink> {
        let start = || {
            let compression = Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?);
            // The records are not sorted, so page indexes would not help readers.
            let properties = WriterProperties::builder()
                .set_compression(compression)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true);
            let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties.build()))?;
            let (writer, factory) = writer.into_serialized_writer()?;
            Ok((writer, factory, compression))
        };
        let (writer, factory, compression) =
            start().map_err(|e: ParquetError| failed(&target, e))?;
        let waiting = schema.fields().iter().map(|_| Waiting::default()).collect();
        let schema = schema.clone();
        Ok(ParquetSink {
            writer,
            factory,
            schema,
            compression,
            waiting,
            records: 0,
            bytes: 0,
            row_groups: 0,
            target,
        })
    }

    pub(super) fn write(&mut self, block: Columns) -> Result<()> {
        for (waiting, column) in self.waiting.iter_mut().zip(block.columns) {
            match column {
                Column::Coded(codes) => waiting.coded.push(codes),
                Column::Values(array) => {
                    self.bytes += array.to_data().get_slice_memory_size().unwrap_or(0);
                    waiting.values.push(array);
                }
            }
        }
        self.records += block.records;
        match self.records >= ROW_GROUP || self.bytes >= ROW_GROUP_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        if self.records > 0 {
            self.flush()?;
        }
        self.writer.close().map(drop).map_err(|e| failed(&self.target, e))
    }

    fn flush(&mut self) -> Result<()> {
        self.row_group().map_err(|e| failed(&self.target, e))
    }

    fn row_group(&mut self) -> Result<(), ParquetError> {
        let writers = self.factory.create_column_writers(self.row_groups)?;
        let columns = self.writer.schema_descr().columns().to_vec();
        let waiting: Vec<Waiting> = self.waiting.iter_mut().map(std::mem::take).collect();
        let each =
            waiting.into_par_iter().zip(writers).zip(columns).zip(self.schema.fields().to_vec());
        let chunks = each.map(|(((waiting, writer), column), field)| {
            waiting.encode(writer, &column, &field, self.compression)
        });
        let chunks: Vec<Result<Chunk, ParquetError>> = chunks.collect();
        let mut group = self.writer.next_row_group()?;
        for chunk in chunks {
            match chunk? {
                Chunk::Coded(bytes, close) => group.append_column(&bytes, *close)?,
                Chunk::Values(chunk) => chunk.append_to_row_group(&mut group)?,
            }
        }
        group.close()?;
        (self.records, self.bytes) = (0, 0);
        self.row_groups += 1;
        Ok(())
    }
}

impl Waiting {
    fn encode(
        self,
        mut writer: ArrowColumnWriter,
        column: &ColumnDescPtr,
        field: &Field,
        compression: Compression,
    ) -> Result<Chunk, ParquetError> {
        if !self.coded.is_empty() {
            let (bytes, close) = coded::encode(&self.coded, column, compression)?;
            return Ok(Chunk::Coded(bytes, Box::new(close)));
        }
        for array in &self.values {
            for leaf in compute_leaves(field, array)? {
                writer.write(&leaf)?;
            }
        }
        writer.close().map(|chunk| Chunk::Values(Box::new(chunk)))
    }
}
