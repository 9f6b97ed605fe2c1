//! Columns that keep each text once and then number it.
//!
//! A table in memory keeps its texts so, because a number takes a quarter of a text and of the time to write it. Whoever asks for
//! the table gets plain texts; a mark in the schema tells which columns those are.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::take::take;

use super::typed;
use crate::cells::{NO_TEXT, Texts};

/// Marks a column that is plain text for whoever asks.
const MARK: &str = "incrowd:plain";

/// A field of plain text as one that keeps each text once; others stay.
pub(super) fn field(own: &FieldRef) -> FieldRef {
    match own.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let kept = DataType::Dictionary(Box::new(DataType::Int32), Box::new(own.data_type().clone()));
            let mark = [(MARK.to_owned(), String::new())].into();
            Arc::new(Field::new(own.name(), kept, own.is_nullable()).with_metadata(mark))
        }
        _ => own.clone(),
    }
}

/// Records of a column as numbers of the texts that are published; `None` if they cannot be kept so.
pub(super) fn array(texts: &Texts, codes: &[u32], to: &DataType) -> Option<ArrayRef> {
    use DataType::*;
    let Dictionary(keys, values) = to else { return None };
    let dictionary = texts.dictionary(|all| typed::typed(all, values))?;
    let places: Vec<u32> = codes.iter().map(|&code| dictionary.places[code as usize]).collect();
    let keys = match **keys {
        Int8 => numbers::<i8>(&places),
        Int16 => numbers::<i16>(&places),
        Int32 => numbers::<i32>(&places),
        Int64 => numbers::<i64>(&places),
        UInt8 => numbers::<u8>(&places),
        UInt16 => numbers::<u16>(&places),
        UInt32 => numbers::<u32>(&places),
        _ => numbers::<u64>(&places),
    }?;
    let absent = places.contains(&NO_TEXT);
    let nulls = absent.then(|| places.iter().map(|place| *place != NO_TEXT).collect::<NullBuffer>());
    let data = ArrayData::builder(to.clone()).len(places.len()).nulls(nulls).add_buffer(keys);
    Some(make_array(data.add_child_data(dictionary.values.to_data()).build().ok()?))
}

fn numbers<K: ArrowNativeType + TryFrom<u32>>(places: &[u32]) -> Option<Buffer> {
    let number = |place: &u32| if *place == NO_TEXT { Some(K::default()) } else { K::try_from(*place).ok() };
    Some(Buffer::from_vec(places.iter().map(number).collect::<Option<Vec<K>>>()?))
}

/// The schema that whoever asks for the table gets.
pub(crate) fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    let field = |own: &FieldRef| match own.data_type() {
        DataType::Dictionary(_, values) if own.metadata().contains_key(MARK) => {
            Arc::new(Field::new(own.name(), values.as_ref().clone(), own.is_nullable()))
        }
        _ => own.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// A batch with plain texts, `schema` being what [`plain_schema`] says.
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
