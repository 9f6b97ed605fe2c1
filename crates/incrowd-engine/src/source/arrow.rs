//! Reader for Parquet and Arrow IPC files, one row group or record batch at a time. Every value is
//! converted to text, so that the later steps do not depend on the format.

pub(super) mod contain;
#[cfg(test)]
mod damaged;
mod delta;
mod group;
mod ipc;
mod pages;
mod text;
mod thrift;

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, StringArray, StringViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use incrowd_core::{Error, Result};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;

use self::contain::contained;
use self::group::RowGroup;
use super::work::{CodedCells, Records, WholeCells};
use super::{Batches, Column, Format, Part, check_name_lengths, unreadable};
use crate::cells::NO_TEXT;
use crate::intern::Short;

/// An opened typed file: its metadata, or its batches in memory.
#[derive(Clone, Debug)]
pub(super) enum TypedFile {
    Parquet(ArrowReaderMetadata),
    Arrow {
        batches: usize,
    },
    /// An Arrow file whose bytes are in memory, with its decoded batches.
    Bytes {
        bytes: Buffer,
        batches: Batches,
    },
    /// A table in memory.
    Batches(Batches),
}

impl TypedFile {
    /// Number of row groups or record batches in the file.
    pub(super) fn sections(&self) -> usize {
        match self {
            TypedFile::Parquet(metadata) => metadata.metadata().num_row_groups(),
            TypedFile::Arrow { batches } => *batches,
            TypedFile::Bytes { batches, .. } | TypedFile::Batches(batches) => batches.slices(),
        }
    }

    /// The serialized bytes, if the table is in memory. The slice is empty for batches without a
    /// serialized form.
    pub(super) fn in_memory(&self) -> Option<&[u8]> {
        match self {
            TypedFile::Parquet(_) | TypedFile::Arrow { .. } => None,
            TypedFile::Bytes { bytes, .. } => Some(bytes),
            TypedFile::Batches(_) => Some(&[]),
        }
    }
}

/// Reason why a typed file cannot be read. The message of the decoding library is not repeated,
/// because it may contain a cell.
#[derive(Debug)]
struct Damage {
    /// End of the message for a file that is intact but of an unsupported kind. The file name
    /// precedes it.
    unread: Option<String>,
    why: String,
    help: Option<&'static str>,
}

impl Damage {
    fn new(why: impl Into<String>) -> Damage {
        Damage { unread: None, why: why.into(), help: None }
    }

    fn unread(what: impl Into<String>) -> Damage {
        Damage { unread: Some(what.into()), ..Damage::new("") }
    }

    fn help(self, help: &'static str) -> Damage {
        Damage { help: Some(help), ..self }
    }

    /// Reports the damage of a part of a table.
    fn explain(self, part: &Part) -> Error {
        let format = match part.typed() {
            Some(TypedFile::Parquet(_)) => Format::Parquet,
            _ => Format::Arrow,
        };
        self.explain_file(&part.path, format)
    }

    fn explain_file(self, path: &Path, format: Format) -> Error {
        let (file, kind) =
            (path.display(), if format == Format::Parquet { "Parquet" } else { "Arrow" });
        let error = Error::input(match self.unread {
            Some(what) => format!("`{file}` {what}"),
            None => format!("`{file}` is truncated or damaged, or no {kind} file: {}", self.why),
        });
        match self.help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

impl From<contain::Panicked> for Damage {
    fn from(_: contain::Panicked) -> Damage {
        Damage::new("what it holds makes no sense")
    }
}

impl From<std::io::Error> for Damage {
    fn from(error: std::io::Error) -> Damage {
        Damage::new(error.to_string())
    }
}

impl From<ArrowError> for Damage {
    fn from(error: ArrowError) -> Damage {
        match error {
            ArrowError::IoError(why, _) => Damage::new(why),
            other if other.to_string().to_lowercase().contains("compress") => {
                Damage::unread("is compressed")
                    .help("incrowd reads Arrow files that are not; write it without compression")
            }
            _ => Damage::new("its parts do not fit together"),
        }
    }
}

impl From<ParquetError> for Damage {
    fn from(error: ParquetError) -> Damage {
        match error {
            ParquetError::NYI(_) => {
                Damage::unread("uses a part of the Parquet format that incrowd does not read")
            }
            ParquetError::EOF(_) => Damage::new("it ends too early"),
            _ => Damage::new("its parts do not fit together"),
        }
    }
}

fn file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| unreadable(path, &e))
}

/// Opens a typed file and returns its columns.
pub(super) fn open(path: &Path, format: Format) -> Result<(TypedFile, Vec<Column>)> {
    let explain = |damage: Damage| damage.explain_file(path, format);
    let (typed, schema): (TypedFile, SchemaRef) = if format == Format::Parquet {
        let metadata = parquet_metadata(file(path)?).map_err(explain)?;
        let schema = metadata.schema().clone();
        (TypedFile::Parquet(with_dictionaries(metadata)), schema)
    } else {
        let reader = ipc::open(file(path)?, None).map_err(explain)?;
        (TypedFile::Arrow { batches: reader.num_batches() }, reader.schema())
    };
    check_name_lengths(path, schema.fields().iter().map(|field| field.name().as_str()))?;
    Ok((typed, columns(&schema)))
}

fn parquet_metadata(mut file: File) -> Result<ArrowReaderMetadata, Damage> {
    pages::check_footer(&mut file)?;
    let metadata = contained(|| ParquetMetaDataReader::new().parse_and_finish(&file))??;
    pages::check_chunks(&metadata, file.metadata()?.len())?;
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    // The library decodes this schema for the types that Parquet does not have.
    for pair in pairs.filter(|pair| pair.key == ARROW_SCHEMA_META_KEY) {
        if let Some(encoded) = &pair.value {
            ipc::check_schema(encoded)?;
        }
    }
    contained(|| ArrowReaderMetadata::try_new(Arc::new(metadata), Default::default()))?
        .map_err(Damage::from)
}

/// Opens an Arrow file whose bytes are in memory.
pub(super) fn open_bytes(name: &str, bytes: &Buffer) -> Result<(TypedFile, Vec<Column>)> {
    let explain = |damage: Damage| damage.explain_file(Path::new(name), Format::Arrow);
    let (schema, batches) = ipc::batches_in(bytes).map_err(explain)?;
    let most = pages::most_texts(bytes.len() as u64);
    if batches.iter().any(|batch| text::need(batch, most).is_none()) {
        return Err(explain(repeated()));
    }
    let columns = columns(&schema);
    let batches = Batches::new(name, schema, batches)?;
    Ok((TypedFile::Bytes { bytes: bytes.clone(), batches }, columns))
}

/// The columns of a schema.
pub(super) fn columns(schema: &SchemaRef) -> Vec<Column> {
    let column = |f: &Arc<arrow_schema::Field>| Column {
        name: f.name().clone(),
        data_type: Some(f.data_type().clone()),
        sql: None,
    };
    schema.fields().iter().map(column).collect()
}

/// Text columns of a batch.
#[derive(Debug)]
pub(super) struct ArrowBatch {
    columns: Vec<TextColumn>,
    records: usize,
}

/// A column converted to text.
#[derive(Debug)]
enum TextColumn {
    Plain(StringArray),
    Views(StringViewArray),
    /// Dictionary-encoded text: the distinct texts, and a code for each record.
    Coded {
        codes: Vec<u32>,
        texts: StringArray,
    },
    /// Integers. They are converted to text on first access.
    Whole {
        values: ScalarBuffer<i64>,
        array: ArrayRef,
        spelled: OnceLock<Box<TextColumn>>,
    },
}

impl TextColumn {
    /// The column as text. Integers are converted on the first call.
    #[inline]
    fn spelled(&self) -> &TextColumn {
        match self {
            TextColumn::Whole { array, spelled, .. } => spelled.get_or_init(|| {
                let coded =
                    text::counted(array).map(|(codes, texts)| TextColumn::Coded { codes, texts });
                let plain =
                    || TextColumn::Plain(text::text(array).expect("whole numbers are read"));
                Box::new(coded.unwrap_or_else(plain))
            }),
            other => other,
        }
    }
}

impl Records for ArrowBatch {
    fn len(&self) -> usize {
        self.records
    }

    #[inline]
    fn get(&self, record: usize, slot: usize) -> Option<&[u8]> {
        match self.columns[slot].spelled() {
            TextColumn::Plain(column) => {
                column.is_valid(record).then(|| column.value(record).as_bytes())
            }
            TextColumn::Views(column) => {
                column.is_valid(record).then(|| column.value(record).as_bytes())
            }
            TextColumn::Coded { codes, texts } => match codes[record] {
                NO_TEXT => None,
                code => Some(texts.value(code as usize).as_bytes()),
            },
            TextColumn::Whole { .. } => None,
        }
    }

    #[inline]
    fn cell(&self, record: usize, slot: usize) -> Option<(&[u8], Option<Short>)> {
        let text = self.get(record, slot)?;
        let short = match self.columns[slot].spelled() {
            TextColumn::Plain(column) => {
                let start = column.value_offsets()[record] as usize;
                Short::at(column.value_data(), start, text.len())
            }
            // A short string is stored inline in its view.
            TextColumn::Views(column) => {
                Short::of_view(column.views()[record]).or_else(|| Short::of(text))
            }
            TextColumn::Coded { .. } | TextColumn::Whole { .. } => Short::of(text),
        };
        Some((text, short))
    }

    fn coded(&self, slot: usize) -> Option<CodedCells<'_>> {
        match self.columns[slot].spelled() {
            TextColumn::Coded { codes, texts } => Some(CodedCells { codes, texts }),
            _ => None,
        }
    }

    fn views(&self, slot: usize) -> Option<&StringViewArray> {
        match &self.columns[slot] {
            TextColumn::Views(column) => Some(column),
            _ => None,
        }
    }

    fn whole(&self, slot: usize) -> Option<WholeCells<'_>> {
        match &self.columns[slot] {
            TextColumn::Whole { values, array, .. } => {
                Some(WholeCells { values, nulls: array.nulls() })
            }
            _ => None,
        }
    }
}

/// Reads one row group or record batch. Slot `i` of the result is the column at `positions[i]` of
/// the file. Row groups that need much memory are read one at a time. `large` is the lock for them.
pub(super) fn section<'a>(
    part: &'a Part,
    section: usize,
    positions: &'a [usize],
    large: &'a Mutex<()>,
) -> Result<impl Iterator<Item = Result<ArrowBatch>> + 'a> {
    type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Damage>> + 'a>;
    // Both readers return the projected columns in the order of the file.
    let mut kept = positions.to_vec();
    kept.sort_unstable();
    kept.dedup();
    let batches: Batches<'a> = match part.typed() {
        Some(TypedFile::Parquet(metadata)) => {
            let group = RowGroup::open(part.open_file()?, metadata, section, &kept, large);
            Box::new(group.map_err(|damage| damage.explain(part))?)
        }
        Some(TypedFile::Batches(batches) | TypedFile::Bytes { batches, .. }) => {
            let batch = batches.slice(section).project(&kept).map_err(Damage::from);
            Box::new(std::iter::once(batch))
        }
        _ => {
            let slices = Slices::open(part.open_file()?, section, &kept, large);
            Box::new(slices.map_err(|damage| damage.explain(part))?)
        }
    };
    let texts = move |position: usize, values: &dyn Array| match part.typed() {
        Some(TypedFile::Batches(batches) | TypedFile::Bytes { batches, .. }) => {
            batches.texts(section, position, values, text::text)
        }
        _ => text::text(values),
    };
    // The iterator is not used after an error.
    Ok(batches.map(move |batch| {
        let batch = batch.map_err(|damage| damage.explain(part))?;
        let mut columns = Vec::with_capacity(positions.len());
        for &position in positions {
            let at = kept.binary_search(&position).expect("every wanted column is projected");
            // The builders of the library panic if texts are too long for them.
            let own = contained(|| column(part, &batch, at, |values| texts(position, values)));
            columns.push(own.map_err(|panicked| Damage::from(panicked).explain(part))??);
        }
        Ok(ArrowBatch { columns, records: batch.num_rows() })
    }))
}

/// Records per slice. Nulls and runs take no bytes in a file, but they take memory once they are
/// decoded.
const SLICE: usize = 1 << 17;

/// Splits a batch into slices whose texts fit into a bounded amount of memory.
struct Slices<'a> {
    batch: RecordBatch,
    step: usize,
    next: usize,
    /// Lock that prevents other threads from converting another large batch at the same time.
    _alone: Option<MutexGuard<'a, ()>>,
}

impl<'a> Slices<'a> {
    fn open(
        file: File,
        section: usize,
        kept: &[usize],
        large: &'a Mutex<()>,
    ) -> Result<Slices<'a>, Damage> {
        let length = file.metadata()?.len();
        let batch = ipc::batch_at(file, section, kept)?;
        let need = text::need(&batch, pages::most_texts(length)).ok_or_else(repeated)?;
        let alone = pages::is_large(need.fixed, length)
            .then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
        let step = pages::records_of_batch(&need.room, batch.num_rows().clamp(1, SLICE));
        Ok(Slices { batch, step, next: 0, _alone: alone })
    }
}

impl Iterator for Slices<'_> {
    type Item = Result<RecordBatch, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let (at, rows) = (self.next, self.batch.num_rows());
        // A batch without records is one slice without records.
        if at >= rows.max(1) {
            return None;
        }
        self.next = at + self.step;
        Some(Ok(self.batch.slice(at, self.step.min(rows - at))))
    }
}

/// What is wrong with a batch whose texts are not measured in full.
const REPEATED: &str = "repeats texts or items so often that they need much more memory than a \
                        table of its size should";
const WRITE_OUT: &str = "write its columns as plain text, without shared views, nested \
                         dictionaries and lists of millions of items";

fn repeated() -> Damage {
    Damage::unread(REPEATED).help(WRITE_OUT)
}

/// Start positions of the slices of a batch in memory. A slice has up to `most` records. It has
/// fewer if the dictionary texts are so long that one copy per record would need too much memory.
/// `name` is used in messages.
pub(super) fn slice_starts(name: &str, batch: &RecordBatch, most: usize) -> Result<Vec<usize>> {
    let rows = batch.num_rows();
    let length = batch.get_array_memory_size() as u64;
    let need = text::need(batch, pages::most_texts(length))
        .ok_or_else(|| Error::input(format!("`{name}` {REPEATED}")).help(WRITE_OUT))?;
    let room = need.room;
    if pages::records_of_batch(&room, most) == most {
        return Ok((0..rows).step_by(most).collect());
    }
    // Text lengths per dictionary column. For other types, the size of the longest value is used.
    let lengths: Vec<Option<Vec<u64>>> = batch.columns().iter().map(text::lengths).collect();
    let others = lengths.iter().zip(&room).filter(|(lengths, _)| lengths.is_none());
    let others = others.fold(0u64, |sum, (_, room)| sum.saturating_add(*room));
    let mut starts = Vec::new();
    for window in (0..rows).step_by(most) {
        let slice = batch.slice(window, most.min(rows - window));
        let mut room = vec![others; slice.num_rows()];
        for (column, lengths) in slice.columns().iter().zip(&lengths) {
            let (Some(keys), Some(lengths)) = (column.as_any_dictionary_opt(), lengths) else {
                continue;
            };
            if !lengths.is_empty() {
                let keys = keys.normalized_keys();
                room.iter_mut()
                    .zip(keys)
                    .for_each(|(room, key)| *room = room.saturating_add(lengths[key]));
            }
        }
        let mut sum = u64::MAX;
        for (record, room) in room.into_iter().enumerate() {
            sum = sum.saturating_add(room);
            if sum > pages::BATCH_TEXT {
                starts.push(window + record);
                sum = room;
            }
        }
    }
    Ok(starts)
}

/// Converts a column to text. `texts` returns the texts of a dictionary.
fn column(
    part: &Part,
    batch: &RecordBatch,
    position: usize,
    texts: impl Fn(&dyn Array) -> Option<StringArray>,
) -> Result<TextColumn> {
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
    if !text::is_read(array.data_type()) {
        return Err(unsupported());
    }
    let strange = || {
        let file = part.path.display();
        let what = format!(
            "column `{name}` of `{file}` holds a value that {} cannot have",
            array.data_type()
        );
        Error::input(what)
            .help("a day or a moment may lie outside of the calendar, or bytes may be no text")
    };
    let Some(dictionary) =
        array.as_any_dictionary_opt().filter(|dictionary| !dictionary.values().is_empty())
    else {
        if let DataType::Utf8View = array.data_type() {
            return Ok(TextColumn::Views(array.as_string_view().clone()));
        }
        if let Some(values) = text::whole(array) {
            let (array, spelled) = (array.clone(), OnceLock::new());
            return Ok(TextColumn::Whole { values, array, spelled });
        }
        if let Some((codes, texts)) = text::counted(array) {
            return Ok(TextColumn::Coded { codes, texts });
        }
        return text::text(array).map(TextColumn::Plain).ok_or_else(strange);
    };
    let texts = texts(dictionary.values()).ok_or_else(strange)?;
    let whole = dictionary.keys().null_count() == 0 && texts.null_count() == 0;
    let codes = match dictionary.keys().data_type() {
        DataType::Int8 if whole => places::<Int8Type>(dictionary.keys()),
        DataType::Int16 if whole => places::<Int16Type>(dictionary.keys()),
        DataType::Int32 if whole => places::<Int32Type>(dictionary.keys()),
        DataType::UInt32 if whole => places::<UInt32Type>(dictionary.keys()),
        _ => {
            let place = |(record, place): (usize, usize)| {
                let there = dictionary.keys().is_valid(record) && texts.is_valid(place);
                if there { place as u32 } else { NO_TEXT }
            };
            dictionary.normalized_keys().into_iter().enumerate().map(place).collect()
        }
    };
    Ok(TextColumn::Coded { codes, texts })
}

/// Dictionary keys without nulls, as `u32`.
fn places<K: ArrowPrimitiveType>(keys: &dyn Array) -> Vec<u32> {
    keys.as_primitive::<K>().values().iter().map(|key| key.as_usize() as u32).collect()
}

/// Changes the Arrow schema so that columns with a dictionary in the file are read as dictionary
/// arrays.
fn with_dictionaries(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let groups = metadata.metadata().row_groups();
    let flat = metadata.parquet_schema().num_columns() == metadata.schema().fields().len();
    let once =
        |column: usize| groups.iter().all(|g| g.column(column).dictionary_page_offset().is_some());
    let fields = metadata.schema().fields().iter().enumerate().map(|(column, field)| {
        let is_text =
            matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if !is_text || !flat || !once(column) {
            return field.clone();
        }
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(field.as_ref().clone().with_data_type(coded))
    });
    let schema =
        Schema::new(fields.collect::<Vec<_>>()).with_metadata(metadata.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).unwrap_or(metadata)
}
