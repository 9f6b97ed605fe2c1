//! Reading Parquet and Arrow IPC files, one row group or record batch at a time. Every value passes as text, as a reader of
//! the file would print it, so that what follows is the same for all formats.

mod text;

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema, SchemaRef};
use incrowd_core::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::work::{CodedCells, Records};
use super::{Batches, Column, Format, Part, unreadable};
use crate::cells::NO_TEXT;

/// Records per batch when a row group is read.
const BATCH: usize = 1 << 15;

/// What is known of a typed file after opening it.
#[derive(Clone, Debug)]
pub(super) enum Typed {
    Parquet(ArrowReaderMetadata),
    Arrow {
        batches: usize,
    },
    /// An Arrow file whose bytes are in memory.
    Bytes {
        bytes: Arc<[u8]>,
        batches: usize,
    },
    /// A table in memory.
    Batches(Batches),
}

impl Typed {
    /// How many row groups or record batches the file has.
    pub(super) fn sections(&self) -> usize {
        match self {
            Typed::Parquet(metadata) => metadata.metadata().num_row_groups(),
            Typed::Arrow { batches } | Typed::Bytes { batches, .. } => *batches,
            Typed::Batches(batches) => batches.slices(),
        }
    }

    /// The bytes of what is in memory; those of a table without a serialized form are none.
    pub(super) fn in_memory(&self) -> Option<&[u8]> {
        match self {
            Typed::Parquet(_) | Typed::Arrow { .. } => None,
            Typed::Bytes { bytes, .. } => Some(bytes),
            Typed::Batches(_) => Some(&[]),
        }
    }
}

fn damaged(part: &Part, error: impl std::fmt::Display) -> Error {
    let (file, kind) =
        (part.path.display(), if part.format == Format::Parquet { "Parquet" } else { "Arrow" });
    Error::input(format!("`{file}` is truncated or damaged, or no {kind} file: {error}"))
}

fn file(part: &Part) -> Result<File> {
    File::open(&part.path).map_err(|e| unreadable(&part.path, &e))
}

/// Opens a typed file and tells its columns.
pub(super) fn open(part: &Part) -> Result<(Typed, Vec<Column>)> {
    let (typed, schema): (Typed, SchemaRef) = if part.format == Format::Parquet {
        let metadata =
            ArrowReaderMetadata::load(&file(part)?, Default::default()).map_err(|e| damaged(part, e))?;
        let schema = metadata.schema().clone();
        (Typed::Parquet(with_dictionaries(metadata)), schema)
    } else {
        let reader =
            arrow_ipc::reader::FileReader::try_new(file(part)?, None).map_err(|e| damaged(part, e))?;
        (Typed::Arrow { batches: reader.num_batches() }, reader.schema())
    };
    Ok((typed, columns(&schema)))
}

/// Opens an Arrow file whose bytes are in memory.
pub(super) fn open_bytes(part: &Part, bytes: &Arc<[u8]>) -> Result<(Typed, Vec<Column>)> {
    let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(bytes.clone()), None)
        .map_err(|e| damaged(part, e))?;
    let columns = columns(&reader.schema());
    Ok((Typed::Bytes { bytes: bytes.clone(), batches: reader.num_batches() }, columns))
}

/// The columns of a schema.
pub(super) fn columns(schema: &SchemaRef) -> Vec<Column> {
    let column = |f: &Arc<arrow_schema::Field>| Column {
        name: f.name().clone(),
        data_type: Some(f.data_type().clone()),
    };
    schema.fields().iter().map(column).collect()
}

/// The record batch at a position of an Arrow file, only the columns `kept`.
fn batch_at<R: Read + Seek>(part: &Part, from: R, section: usize, kept: &[usize]) -> Result<RecordBatch> {
    let mut reader =
        arrow_ipc::reader::FileReader::try_new(from, Some(kept.to_vec())).map_err(|e| damaged(part, e))?;
    reader.set_index(section).map_err(|e| damaged(part, e))?;
    let batch = reader.next().unwrap_or_else(|| Ok(RecordBatch::new_empty(reader.schema())));
    batch.map_err(|e| damaged(part, e))
}

/// Text columns of a batch.
#[derive(Debug)]
pub(super) struct ArrowBatch {
    columns: Vec<TextColumn>,
    records: usize,
}

/// A column as text.
#[derive(Debug)]
enum TextColumn {
    Plain(StringArray),
    /// Each text once, and for each record the number of its text.
    Coded {
        codes: Vec<u32>,
        texts: StringArray,
    },
}

impl Records for ArrowBatch {
    fn len(&self) -> usize {
        self.records
    }

    #[inline]
    fn get(&self, record: usize, slot: usize) -> Option<&[u8]> {
        match &self.columns[slot] {
            TextColumn::Plain(column) => column.is_valid(record).then(|| column.value(record).as_bytes()),
            TextColumn::Coded { codes, texts } => match codes[record] {
                NO_TEXT => None,
                code => Some(texts.value(code as usize).as_bytes()),
            },
        }
    }

    fn coded(&self, slot: usize) -> Option<CodedCells<'_>> {
        match &self.columns[slot] {
            TextColumn::Plain(_) => None,
            TextColumn::Coded { codes, texts } => Some(CodedCells { codes, texts }),
        }
    }
}

/// Reads one row group or record batch; slot `i` of what comes is the column at `positions[i]` of the file.
pub(super) fn section<'a>(
    part: &'a Part,
    section: usize,
    positions: &'a [usize],
) -> Result<impl Iterator<Item = Result<ArrowBatch>> + 'a> {
    type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;
    // Both readers return the projected columns in the order of the file.
    let mut kept = positions.to_vec();
    kept.sort_unstable();
    kept.dedup();
    let (batches, owned): (Batches, Part) = match part.typed.as_ref() {
        Some(Typed::Parquet(metadata)) => {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file(part)?, metadata.clone());
            let mask = ProjectionMask::roots(builder.parquet_schema(), kept.iter().copied());
            let reader = builder.with_projection(mask).with_row_groups(vec![section]).with_batch_size(BATCH);
            let owned = part.clone();
            let batches = reader.build().map_err(|e| damaged(part, e))?;
            (Box::new(batches.map(move |batch| batch.map_err(|e| damaged(&owned, e)))), part.clone())
        }
        Some(Typed::Batches(batches)) => {
            let batch = batches.slice(section).project(&kept).map_err(|e| damaged(part, e));
            (Box::new(std::iter::once(batch)), part.clone())
        }
        Some(Typed::Bytes { bytes, .. }) => {
            let batch = batch_at(part, Cursor::new(bytes.clone()), section, &kept);
            (Box::new(std::iter::once(batch)), part.clone())
        }
        _ => {
            let batch = batch_at(part, file(part)?, section, &kept);
            (Box::new(std::iter::once(batch)), part.clone())
        }
    };
    Ok(batches.map(move |batch| {
        let batch = batch?;
        let slot = |position: &usize| kept.binary_search(position).expect("every wanted column is projected");
        let columns: Result<Vec<TextColumn>> =
            positions.iter().map(|p| column(&owned, &batch, slot(p))).collect();
        Ok(ArrowBatch { columns: columns?, records: batch.num_rows() })
    }))
}

/// A column as text.
fn column(part: &Part, batch: &RecordBatch, position: usize) -> Result<TextColumn> {
    let array: &ArrayRef = batch.column(position);
    let name = batch.schema().field(position).name().clone();
    let unsupported = || {
        Error::input(format!(
            "column `{name}` of `{}` has the type {}",
            part.path.display(),
            array.data_type()
        ))
        .help("incrowd reads text, numbers, booleans, dates and times; leave the column out or convert it")
    };
    let Some(dictionary) = array.as_any_dictionary_opt().filter(|dictionary| !dictionary.values().is_empty())
    else {
        return text::text(array).map(TextColumn::Plain).ok_or_else(unsupported);
    };
    let texts = text::text(dictionary.values()).ok_or_else(unsupported)?;
    let place = |(record, place): (usize, usize)| {
        let there = dictionary.keys().is_valid(record) && texts.is_valid(place);
        if there { place as u32 } else { NO_TEXT }
    };
    let codes = dictionary.normalized_keys().into_iter().enumerate().map(place).collect();
    Ok(TextColumn::Coded { codes, texts })
}

/// The way to read a file in which texts that it keeps once also come once.
fn with_dictionaries(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let groups = metadata.metadata().row_groups();
    let flat = metadata.parquet_schema().num_columns() == metadata.schema().fields().len();
    let once = |column: usize| groups.iter().all(|g| g.column(column).dictionary_page_offset().is_some());
    let fields = metadata.schema().fields().iter().enumerate().map(|(column, field)| {
        if *field.data_type() != DataType::Utf8 || !flat || !once(column) {
            return field.clone();
        }
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(field.as_ref().clone().with_data_type(coded))
    });
    let schema = Schema::new(fields.collect::<Vec<_>>()).with_metadata(metadata.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).unwrap_or(metadata)
}
