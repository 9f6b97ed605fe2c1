//! Dictionary-encoded columns for tables in memory.
//!
//! A code takes a quarter of the memory of a text, and a quarter of the time to write it. Callers
//! receive plain texts. An entry in the schema metadata marks the columns to convert.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::take::take;

use super::typed;
use crate::cells::{NO_TEXT, Texts};

/// Metadata key of a dictionary column that callers receive as plain text.
const MARK: &str = "incrowd:plain";

/// Converts a text field to a dictionary field for up to `texts` distinct texts. The key type is
/// the smallest that fits. Other fields are unchanged.
pub(super) fn field(own: &FieldRef, texts: usize) -> FieldRef {
    match own.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let keys = match texts {
                0..=0x80 => DataType::Int8,
                0x81..=0x8000 => DataType::Int16,
                _ => DataType::Int32,
            };
            let kept = DataType::Dictionary(Box::new(keys), Box::new(own.data_type().clone()));
            let mark = [(MARK.to_owned(), String::new())].into();
            Arc::new(Field::new(own.name(), kept, own.is_nullable()).with_metadata(mark))
        }
        _ => own.clone(),
    }
}

/// Builds the dictionary of a dictionary column.
pub(in crate::sink) fn prepare(texts: &Texts, to: &DataType) {
    if let DataType::Dictionary(_, values) = to {
        texts.dictionary(|all| typed::typed(all, values));
    }
}

/// Dictionary-encodes the records of a column. Returns `None` if the type does not allow it.
pub(super) fn array(texts: &Texts, codes: &[u32], to: &DataType) -> Option<ArrayRef> {
    use DataType::*;
    let Dictionary(keys, values) = to else { return None };
    let dictionary = texts.dictionary(|all| typed::typed(all, values))?;
    let places = &dictionary.places;
    // The size of the dictionary is compared with the range of the key type once, so that no check
    // per key is needed.
    let (room, numbers): (u64, Numbering) = match **keys {
        Int8 => (1 << 7, numbers::<i8>),
        Int16 => (1 << 15, numbers::<i16>),
        Int32 => (1 << 31, numbers::<i32>),
        Int64 => (1 << 63, numbers::<i64>),
        UInt8 => (1 << 8, numbers::<u8>),
        UInt16 => (1 << 16, numbers::<u16>),
        UInt32 => (1 << 32, numbers::<u32>),
        _ => (u64::MAX, numbers::<u64>),
    };
    if dictionary.values.len() as u64 > room {
        return None;
    }
    let (keys, absent) = numbers(places, codes);
    let nulls = absent.then(|| {
        codes.iter().map(|&code| places[code as usize] != NO_TEXT).collect::<NullBuffer>()
    });
    let data = ArrayData::builder(to.clone()).len(codes.len()).nulls(nulls).add_buffer(keys);
    Some(make_array(data.add_child_data(dictionary.values.to_data()).build().ok()?))
}

/// Converts codes to keys of one type. Arguments: positions in the dictionary by code, and the
/// codes of the records.
type Numbering = fn(&[u32], &[u32]) -> (Buffer, bool);

/// Looks up the positions of the codes. Also returns whether a code has no position.
fn numbers<K: ArrowNativeType>(places: &[u32], codes: &[u32]) -> (Buffer, bool) {
    let mut absent = false;
    let number = |&code: &u32| match places[code as usize] {
        NO_TEXT => {
            absent = true;
            K::default()
        }
        place => K::usize_as(place as usize),
    };
    let numbers: Vec<K> = codes.iter().map(number).collect();
    (Buffer::from_vec(numbers), absent)
}

/// The schema with plain texts, for callers.
pub(crate) fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    let field = |own: &FieldRef| match own.data_type() {
        DataType::Dictionary(_, values) if own.metadata().contains_key(MARK) => {
            Arc::new(Field::new(own.name(), values.as_ref().clone(), own.is_nullable()))
        }
        _ => own.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Converts a batch to plain texts. `schema` must come from [`plain_schema`].
pub(crate) fn plain(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let column = |(own, field): (&ArrayRef, &FieldRef)| match own.as_any_dictionary_opt() {
        Some(dictionary) if field.data_type() == dictionary.values().data_type() => {
            take(dictionary.values(), dictionary.keys(), None)
        }
        _ => Ok(own.clone()),
    };
    let columns = batch.columns().iter().zip(schema.fields()).map(column);
    RecordBatch::try_new(schema.clone(), columns.collect::<Result<_, _>>()?)
}
