//! Reading Parquet and Arrow IPC files, one row group or record batch at a time. Every value passes as text, as a reader of
//! the file would print it, so that what follows is the same for all formats.

mod contain;
#[cfg(test)]
mod damaged;
mod group;
mod ipc;
mod keys;
mod pages;
mod runs;
mod text;
mod thrift;

use std::fs::File;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, StringArray, StringViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use incrowd_core::{Error, Result};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;

use self::contain::contained;
use self::group::{Read, RowGroup};
use super::work::{CodedCells, Records, WholeCells};
use super::{Batches, Column, Format, Part, unreadable};
use crate::cells::NO_TEXT;
use crate::intern::Short;

/// What is known of a typed file after opening it.
#[derive(Clone, Debug)]
pub(super) enum Typed {
    Parquet(ArrowReaderMetadata),
    Arrow {
        batches: usize,
    },
    /// An Arrow file whose bytes are in memory, and its batches there.
    Bytes {
        bytes: Buffer,
        batches: Batches,
    },
    /// A table in memory.
    Batches(Batches),
}

impl Typed {
    /// How many row groups or record batches the file has.
    pub(super) fn sections(&self) -> usize {
        match self {
            Typed::Parquet(metadata) => metadata.metadata().num_row_groups(),
            Typed::Arrow { batches } => *batches,
            Typed::Bytes { batches, .. } | Typed::Batches(batches) => batches.slices(),
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

/// Why a typed file cannot be read. What a library says of it is not told: it may hold a cell.
#[derive(Debug)]
struct Damage {
    /// What follows the name of the file, if it is sound but not of a kind that is read.
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

    fn explain(self, part: &Part) -> Error {
        let (file, kind) =
            (part.path.display(), if part.format == Format::Parquet { "Parquet" } else { "Arrow" });
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
            other if other.to_string().to_lowercase().contains("compress") => Damage::unread("is compressed")
                .help("incrowd reads Arrow files that are not; write it without compression"),
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

fn file(part: &Part) -> Result<File> {
    File::open(&part.path).map_err(|e| unreadable(&part.path, &e))
}

/// Opens a typed file and tells its columns.
pub(super) fn open(part: &Part) -> Result<(Typed, Vec<Column>)> {
    let (typed, schema): (Typed, SchemaRef) = if part.format == Format::Parquet {
        let metadata = parquet_metadata(file(part)?).map_err(|damage| damage.explain(part))?;
        let schema = metadata.schema().clone();
        (Typed::Parquet(with_dictionaries(metadata)), schema)
    } else {
        let reader = ipc::open(file(part)?, None).map_err(|damage| damage.explain(part))?;
        (Typed::Arrow { batches: reader.num_batches() }, reader.schema())
    };
    Ok((typed, columns(&schema)))
}

fn parquet_metadata(mut file: File) -> Result<ArrowReaderMetadata, Damage> {
    pages::check_footer(&mut file)?;
    let metadata = contained(|| ArrowReaderMetadata::load(&file, Default::default()))??;
    pages::check_chunks(metadata.metadata(), file.metadata()?.len())?;
    Ok(metadata)
}

/// Opens an Arrow file whose bytes are in memory.
pub(super) fn open_bytes(part: &Part, bytes: &Buffer) -> Result<(Typed, Vec<Column>)> {
    let (schema, batches) = ipc::batches_in(bytes).map_err(|damage| damage.explain(part))?;
    let columns = columns(&schema);
    let batches = Batches::new(&part.path.to_string_lossy(), schema, batches)?;
    Ok((Typed::Bytes { bytes: bytes.clone(), batches }, columns))
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

/// A column as text.
#[derive(Debug)]
enum TextColumn {
    Plain(StringArray),
    Views(StringViewArray),
    /// Each text once, and for each record the number of its text.
    Coded {
        codes: Vec<u32>,
        texts: StringArray,
    },
    /// Whole numbers, which are spelled when somebody asks for their text.
    Whole {
        values: ScalarBuffer<i64>,
        array: ArrayRef,
        spelled: OnceLock<Box<TextColumn>>,
    },
}

impl TextColumn {
    /// The column with its texts.
    #[inline]
    fn spelled(&self) -> &TextColumn {
        match self {
            TextColumn::Whole { array, spelled, .. } => spelled.get_or_init(|| {
                let coded = text::counted(array).map(|(codes, texts)| TextColumn::Coded { codes, texts });
                let plain = || TextColumn::Plain(text::text(array).expect("whole numbers are read"));
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
            TextColumn::Plain(column) => column.is_valid(record).then(|| column.value(record).as_bytes()),
            TextColumn::Views(column) => column.is_valid(record).then(|| column.value(record).as_bytes()),
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
            // A short text lies within its view.
            TextColumn::Views(column) => Short::of_view(column.views()[record]).or_else(|| Short::of(text)),
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
            TextColumn::Whole { values, array, .. } => Some(WholeCells { values, nulls: array.nulls() }),
            _ => None,
        }
    }
}

/// Reads one row group or record batch; slot `i` of what comes is the column at `positions[i]` of the file.
pub(super) fn section<'a>(
    part: &'a Part,
    section: usize,
    positions: &'a [usize],
) -> Result<impl Iterator<Item = Result<ArrowBatch>> + 'a> {
    type Batches = Box<dyn Iterator<Item = Result<Read, Damage>>>;
    // Both readers return the projected columns in the order of the file.
    let mut kept = positions.to_vec();
    kept.sort_unstable();
    kept.dedup();
    let batches: Batches = match part.typed.as_ref() {
        Some(Typed::Parquet(metadata)) => {
            let group = RowGroup::open(file(part)?, metadata, section, &mut kept);
            Box::new(group.map_err(|damage| damage.explain(part))?)
        }
        Some(Typed::Batches(batches) | Typed::Bytes { batches, .. }) => {
            let batch = batches.slice(section).project(&kept).map_err(Damage::from);
            Box::new(std::iter::once(batch.map(Read::from)))
        }
        _ => Box::new(slices(ipc::batch_at(file(part)?, section, &kept)).map(|batch| batch.map(Read::from))),
    };
    let texts = move |position: usize, values: &dyn Array| match part.typed.as_ref() {
        Some(Typed::Batches(batches) | Typed::Bytes { batches, .. }) => {
            batches.texts(section, position, values, text::text)
        }
        _ => text::text(values),
    };
    // Whoever gets an error asks no more.
    Ok(batches.map(move |batch| {
        let Read { batch, mut coded, records } = batch.map_err(|damage| damage.explain(part))?;
        let mut columns = Vec::with_capacity(positions.len());
        for (slot, &position) in positions.iter().enumerate() {
            if let Some(own) = coded.iter_mut().find(|own| own.position == position) {
                let again = positions[slot + 1..].contains(&position);
                let codes = if again { own.codes.clone() } else { std::mem::take(&mut own.codes) };
                columns.push(TextColumn::Coded { codes, texts: own.texts.clone() });
                continue;
            }
            let at = kept.binary_search(&position).expect("every wanted column is projected");
            columns.push(column(part, &batch, at, |values| texts(position, values))?);
        }
        Ok(ArrowBatch { columns, records })
    }))
}

/// A batch in pieces whose texts do not take too much room.
fn slices(batch: Result<RecordBatch, Damage>) -> Box<dyn Iterator<Item = Result<RecordBatch, Damage>>> {
    match batch {
        Err(damage) => Box::new(std::iter::once(Err(damage))),
        Ok(batch) => {
            let room: Vec<u64> = batch.columns().iter().map(|column| text::room(column)).collect();
            let step = pages::records_of_batch(&room, batch.num_rows().max(1));
            let starts = (0..batch.num_rows().max(1)).step_by(step);
            Box::new(starts.map(move |at| Ok(batch.slice(at, step.min(batch.num_rows() - at)))))
        }
    }
}

/// A column as text; `texts` knows those of a dictionary.
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
        let what =
            format!("column `{name}` of `{file}` holds a value that {} cannot have", array.data_type());
        Error::input(what).help("a day or a moment may lie outside of the calendar, or bytes may be no text")
    };
    let Some(dictionary) = array.as_any_dictionary_opt().filter(|dictionary| !dictionary.values().is_empty())
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

/// Places in a dictionary, none of which is missing.
fn places<K: ArrowPrimitiveType>(keys: &dyn Array) -> Vec<u32> {
    keys.as_primitive::<K>().values().iter().map(|key| key.as_usize() as u32).collect()
}

/// The way to read a file in which texts that it keeps once also come once.
fn with_dictionaries(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let groups = metadata.metadata().row_groups();
    let flat = metadata.parquet_schema().num_columns() == metadata.schema().fields().len();
    let once = |column: usize| groups.iter().all(|g| g.column(column).dictionary_page_offset().is_some());
    let fields = metadata.schema().fields().iter().enumerate().map(|(column, field)| {
        let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if !is_text || !flat || !once(column) {
            return field.clone();
        }
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(field.as_ref().clone().with_data_type(coded))
    });
    let schema = Schema::new(fields.collect::<Vec<_>>()).with_metadata(metadata.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).unwrap_or(metadata)
}
