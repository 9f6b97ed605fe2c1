//! Converts typed values to text, for the types that occur in tables about people.
//!
//! The crate `arrow-cast` converts between all types, but accounted for half of the build time of
//! this project. The few conversions needed here are therefore implemented directly. The tests
//! compare them with `arrow-cast`.

use std::fmt::Write;
use std::ops::Range;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions as temporal;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, ArrowPrimitiveType, OffsetSizeTrait, RecordBatch, StringArray,
};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::cell::set_label;

use crate::cells::NO_TEXT;

/// Converts a column to text. Returns `None` for an unsupported type, or if a value has no text
/// (invalid UTF-8, or a day outside the calendar).
pub(super) fn text(array: &dyn Array) -> Option<StringArray> {
    use DataType::*;
    match array.data_type() {
        Null => Some(StringArray::new_null(array.len())),
        Utf8 => Some(array.as_string::<i32>().clone()),
        LargeUtf8 => Some(array.as_string::<i64>().iter().collect()),
        Utf8View => Some(array.as_string_view().iter().collect()),
        Binary => bytes(array.as_binary::<i32>()),
        LargeBinary => bytes(array.as_binary::<i64>()),
        BinaryView => bytes(array.as_binary_view()),
        Boolean => spelled(array.as_boolean(), |out, value| {
            out.write_str(if value { "true" } else { "false" })
        }),
        Int8 => numbers::<Int8Type>(array),
        Int16 => numbers::<Int16Type>(array),
        Int32 => numbers::<Int32Type>(array),
        Int64 => numbers::<Int64Type>(array),
        UInt8 => numbers::<UInt8Type>(array),
        UInt16 => numbers::<UInt16Type>(array),
        UInt32 => numbers::<UInt32Type>(array),
        UInt64 => numbers::<UInt64Type>(array),
        Float16 => numbers::<Float16Type>(array),
        Float32 => spelled(array.as_primitive::<Float32Type>(), |out, value| {
            out.write_str(ryu::Buffer::new().format(value))
        }),
        Float64 => spelled(array.as_primitive::<Float64Type>(), |out, value| {
            out.write_str(ryu::Buffer::new().format(value))
        }),
        Decimal32(precision, scale) => decimals::<Decimal32Type>(array, *precision, *scale),
        Decimal64(precision, scale) => decimals::<Decimal64Type>(array, *precision, *scale),
        Decimal128(precision, scale) => decimals::<Decimal128Type>(array, *precision, *scale),
        Decimal256(precision, scale) => decimals::<Decimal256Type>(array, *precision, *scale),
        Date32 => spelled(array.as_primitive::<Date32Type>(), |out, value| {
            let day = temporal::date32_to_datetime(value).ok_or(std::fmt::Error)?.date();
            write!(out, "{day:?}")
        }),
        Date64 => moments::<Date64Type, _>(array, temporal::date64_to_datetime, ""),
        Time32(TimeUnit::Second) => {
            moments::<Time32SecondType, _>(array, temporal::time32s_to_time, "")
        }
        Time32(_) => moments::<Time32MillisecondType, _>(array, temporal::time32ms_to_time, ""),
        Time64(TimeUnit::Microsecond) => {
            moments::<Time64MicrosecondType, _>(array, temporal::time64us_to_time, "")
        }
        Time64(_) => moments::<Time64NanosecondType, _>(array, temporal::time64ns_to_time, ""),
        // A timestamp with a time zone is written in UTC, which requires no time zone database.
        Timestamp(unit, zone) => timestamps(array, *unit, if zone.is_some() { "Z" } else { "" }),
        Duration(unit) => durations(array, *unit),
        Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let values = text(dictionary.values())?;
            if values.is_empty() {
                return Some(StringArray::new_null(array.len()));
            }
            let keys = dictionary.normalized_keys();
            let at = |i: usize| dictionary.keys().is_valid(i).then(|| keys[i]);
            Some(picked(&values, (0..array.len()).map(at)))
        }
        RunEndEncoded(ends, _) => match ends.data_type() {
            Int16 => runs::<Int16Type>(array),
            Int32 => runs::<Int32Type>(array),
            _ => runs::<Int64Type>(array),
        },
        List(_) => lists::<i32>(array),
        LargeList(_) => lists::<i64>(array),
        _ => None,
    }
}

/// Converts integers to `i64`. Returns `None` for other types, and for unsigned 64-bit integers.
pub(super) fn whole(array: &dyn Array) -> Option<ScalarBuffer<i64>> {
    fn widened<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array) -> ScalarBuffer<i64> {
        array.as_primitive::<T>().values().iter().map(|&value| value.into()).collect()
    }
    use DataType::*;
    match array.data_type() {
        Int8 => Some(widened::<Int8Type>(array)),
        Int16 => Some(widened::<Int16Type>(array)),
        Int32 => Some(widened::<Int32Type>(array)),
        Int64 => Some(array.as_primitive::<Int64Type>().values().clone()),
        UInt8 => Some(widened::<UInt8Type>(array)),
        UInt16 => Some(widened::<UInt16Type>(array)),
        UInt32 => Some(widened::<UInt32Type>(array)),
        _ => None,
    }
}

/// Dictionary-encodes integers, so that each distinct integer is formatted once. Returns `None` for
/// other types, and if nearly all integers are distinct.
pub(super) fn counted(array: &dyn Array) -> Option<(Vec<u32>, StringArray)> {
    use DataType::*;
    match array.data_type() {
        Int8 => numbered::<Int8Type>(array),
        Int16 => numbered::<Int16Type>(array),
        Int32 => numbered::<Int32Type>(array),
        Int64 => numbered::<Int64Type>(array),
        UInt8 => numbered::<UInt8Type>(array),
        UInt16 => numbered::<UInt16Type>(array),
        UInt32 => numbered::<UInt32Type>(array),
        UInt64 => numbered::<UInt64Type>(array),
        _ => None,
    }
}

fn numbered<T: ArrowPrimitiveType<Native: Copy + Eq + std::hash::Hash + std::fmt::Display>>(
    array: &dyn Array,
) -> Option<(Vec<u32>, StringArray)> {
    let values = array.as_primitive::<T>();
    let most = values.len() / 4;
    let mut places: HashMap<T::Native, u32, FixedState> = HashMap::default();
    let mut texts = StringBuilder::new();
    let mut codes = Vec::with_capacity(values.len());
    for (record, &value) in values.values().iter().enumerate() {
        if values.is_null(record) {
            codes.push(NO_TEXT);
            continue;
        }
        let next = places.len() as u32;
        let place = *places.entry(value).or_insert(next);
        if place == next {
            if places.len() > most {
                return None;
            }
            write!(texts, "{value}").ok()?;
            texts.append_value("");
        }
        codes.push(place);
    }
    Some((codes, texts.finish()))
}

/// Whether a type is supported.
pub(super) fn is_read(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => true,
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(_, _) | Duration(_) => true,
        Dictionary(_, values) => is_read(values),
        RunEndEncoded(_, values) => is_read(values.data_type()),
        List(items) | LargeList(items) => is_read(items.data_type()),
        other => other.is_numeric(),
    }
}

/// Memory in bytes that the texts of a batch need in addition to the batch.
#[derive(Debug)]
pub(super) struct Need {
    /// For each column, the upper bound for a record. 0 if it is known to be small.
    pub(super) room: Vec<u64>,
    /// For what no smaller slice avoids: the texts of all dictionaries, and of one record.
    pub(super) fixed: u64,
}

/// Measures the texts of a batch without building them. Views, dictionaries, runs and lists can
/// repeat bytes so often that a small file states texts of many gigabytes. Returns `None` if the
/// texts of the dictionaries or of one record need more than `most` bytes.
pub(super) fn need(batch: &RecordBatch, most: u64) -> Option<Need> {
    let sum = |of: &dyn Fn(&ArrayRef) -> u64| {
        batch.columns().iter().fold(0u64, |sum, column| sum.saturating_add(of(column)))
    };
    // The dictionaries come first: without a limit, the values measured by `room` may be billions.
    let dictionaries = sum(&|column| whole_texts(column, most));
    if dictionaries > most {
        return None;
    }
    let room: Vec<u64> = batch.columns().iter().map(|column| room(column, most)).collect();
    let record = room.iter().fold(0u64, |sum, own| sum.saturating_add(*own));
    (record <= most).then(|| Need { room, fixed: dictionaries.saturating_add(record) })
}

/// Upper bound for the memory in bytes that the text of a record needs in addition to the array.
/// Returns 0 if it is known to be small.
fn room(array: &dyn Array, most: u64) -> u64 {
    use DataType::*;
    let longest =
        |values: &dyn Array| lengths_of(values, most).longest(values.len()).saturating_add(OFFSET);
    // Texts that are stored once each take no more memory than the array itself.
    let shared = |own: u64| {
        let total = lengths_of(array, most).sum(0..array.len());
        if total <= own.min(MOST_TEXT) { 0 } else { longest(array) }
    };
    match array.data_type() {
        Null => OFFSET,
        Dictionary(_, _) => longest(array.as_any_dictionary().values()),
        RunEndEncoded(ends, _) => match ends.data_type() {
            Int16 => longest(array.as_run::<Int16Type>().values()),
            Int32 => longest(array.as_run::<Int32Type>().values()),
            _ => longest(array.as_run::<Int64Type>().values()),
        },
        List(_) | LargeList(_) => longest(array),
        LargeUtf8 | LargeBinary => shared(u64::MAX),
        BinaryView => {
            let view = array.as_binary_view();
            let buffers = view.data_buffers().iter().map(|buffer| buffer.len() as u64);
            shared(buffers.sum::<u64>() + INLINE * view.len() as u64)
        }
        // A text column of views is used as it is.
        _ => 0,
    }
}

/// Memory for the texts that are built for every slice of an array, however small it is: those of
/// all values of its dictionaries.
fn whole_texts(array: &dyn Array, most: u64) -> u64 {
    use DataType::*;
    match array.data_type() {
        Dictionary(_, _) => all_texts(array.as_any_dictionary().values(), most),
        RunEndEncoded(ends, _) => match ends.data_type() {
            Int16 => whole_texts(array.as_run::<Int16Type>().values(), most),
            Int32 => whole_texts(array.as_run::<Int32Type>().values(), most),
            _ => whole_texts(array.as_run::<Int64Type>().values(), most),
        },
        List(_) => whole_texts(array.as_list::<i32>().values(), most),
        LargeList(_) => whole_texts(array.as_list::<i64>().values(), most),
        _ => 0,
    }
}

/// Memory for the texts of all values of an array. Not exact above `most`.
fn all_texts(array: &dyn Array, most: u64) -> u64 {
    use DataType::*;
    // Such texts are used as they are.
    if let Utf8 = array.data_type() {
        return 0;
    }
    // Nulls and runs take no bytes, so there may be billions of them.
    let offsets = (array.len() as u64).saturating_mul(OFFSET);
    if offsets > most {
        return offsets;
    }
    let texts = lengths_of(array, most).sum(0..array.len());
    let copies = match array.data_type() {
        // The texts of the runs, and one for each value.
        RunEndEncoded(_, _) => 2,
        _ => 1,
    };
    let own = texts.saturating_add(offsets).saturating_mul(copies);
    own.saturating_add(whole_texts(array, most))
}

/// Upper bounds for the lengths of the texts of an array.
enum Lengths<'a> {
    /// The same for all values.
    All(u64),
    Each(Box<dyn Fn(usize) -> u64 + 'a>),
}

impl Lengths<'_> {
    fn sum(&self, range: Range<usize>) -> u64 {
        match self {
            Lengths::All(length) => length.saturating_mul(range.len() as u64),
            Lengths::Each(each) => range.fold(0, |sum: u64, i| sum.saturating_add(each(i))),
        }
    }

    /// The longest of the first `count` texts.
    fn longest(&self, count: usize) -> u64 {
        match self {
            Lengths::All(length) => *length,
            Lengths::Each(each) => (0..count).map(each).max().unwrap_or(0),
        }
    }
}

/// Lengths of the texts of an array, from its offsets, views, keys and runs. Lists with items for
/// more than `most` bytes are not measured exactly.
fn lengths_of(array: &dyn Array, most: u64) -> Lengths<'_> {
    use DataType::*;
    let between = |start: usize, end: usize| end.saturating_sub(start) as u64;
    // A view begins with the length of its text. The view of a missing text may be anything.
    let viewed = move |views: &ScalarBuffer<u128>, i: usize| {
        if array.is_valid(i) { u64::from(views[i] as u32) } else { 0 }
    };
    match array.data_type() {
        Utf8 => {
            let offsets = array.as_string::<i32>().value_offsets();
            Lengths::Each(Box::new(move |i| {
                between(offsets[i].as_usize(), offsets[i + 1].as_usize())
            }))
        }
        LargeUtf8 => {
            let offsets = array.as_string::<i64>().value_offsets();
            Lengths::Each(Box::new(move |i| {
                between(offsets[i].as_usize(), offsets[i + 1].as_usize())
            }))
        }
        Binary => {
            let offsets = array.as_binary::<i32>().value_offsets();
            Lengths::Each(Box::new(move |i| {
                between(offsets[i].as_usize(), offsets[i + 1].as_usize())
            }))
        }
        LargeBinary => {
            let offsets = array.as_binary::<i64>().value_offsets();
            Lengths::Each(Box::new(move |i| {
                between(offsets[i].as_usize(), offsets[i + 1].as_usize())
            }))
        }
        Utf8View => {
            let views = array.as_string_view().views();
            Lengths::Each(Box::new(move |i| viewed(views, i)))
        }
        BinaryView => {
            let views = array.as_binary_view().views();
            Lengths::Each(Box::new(move |i| viewed(views, i)))
        }
        Dictionary(keys, _) => match keys.as_ref() {
            Int8 => keyed::<Int8Type>(array, most),
            Int16 => keyed::<Int16Type>(array, most),
            Int32 => keyed::<Int32Type>(array, most),
            Int64 => keyed::<Int64Type>(array, most),
            UInt8 => keyed::<UInt8Type>(array, most),
            UInt16 => keyed::<UInt16Type>(array, most),
            UInt32 => keyed::<UInt32Type>(array, most),
            _ => keyed::<UInt64Type>(array, most),
        },
        RunEndEncoded(ends, _) => match ends.data_type() {
            Int16 => in_runs::<Int16Type>(array, most),
            Int32 => in_runs::<Int32Type>(array, most),
            _ => in_runs::<Int64Type>(array, most),
        },
        List(_) => in_lists::<i32>(array, most),
        LargeList(_) => in_lists::<i64>(array, most),
        other => Lengths::All(width(other)),
    }
}

/// Length of the longest text of a number, a day or a moment.
fn width(data_type: &DataType) -> u64 {
    use DataType::*;
    match data_type {
        Null => 0,
        Boolean => 5,
        Int8 | UInt8 => 4,
        Int16 | UInt16 => 6,
        Int32 | UInt32 => 11,
        Int64 | UInt64 => 20,
        Float16 | Float32 | Float64 => 24,
        Date32 => 14,
        Time32(_) | Time64(_) => 20,
        // Sign, point and a leading zero; a negative scale appends zeros.
        Decimal32(digits, scale)
        | Decimal64(digits, scale)
        | Decimal128(digits, scale)
        | Decimal256(digits, scale) => u64::from(*digits) + u64::from(scale.unsigned_abs()) + 3,
        _ => 40,
    }
}

fn keyed<K: ArrowDictionaryKeyType>(array: &dyn Array, most: u64) -> Lengths<'_> {
    let dictionary = array.as_dictionary::<K>();
    let (keys, values) = (dictionary.keys(), dictionary.values());
    match lengths_of(values, most) {
        Lengths::All(length) => Lengths::All(length),
        Lengths::Each(each) => Lengths::Each(Box::new(move |i| {
            let place = keys.is_valid(i).then(|| keys.value(i).as_usize());
            place.filter(|place| *place < values.len()).map_or(0, &each)
        })),
    }
}

fn in_runs<T: RunEndIndexType>(array: &dyn Array, most: u64) -> Lengths<'_> {
    let runs = array.as_run::<T>();
    match lengths_of(runs.values(), most) {
        Lengths::All(length) => Lengths::All(length),
        Lengths::Each(each) => Lengths::Each(Box::new(move |i| each(runs.get_physical_index(i)))),
    }
}

fn in_lists<O: OffsetSizeTrait>(array: &dyn Array, most: u64) -> Lengths<'_> {
    let lists = array.as_list::<O>();
    let items = lengths_of(lists.values(), most);
    // In a set, the quotes within a text are doubled.
    let copies = if lists.value_type().is_string() { 2 } else { 1 };
    let of = |ends: &[O]| {
        let (start, end) = (ends[0].as_usize(), ends[1].as_usize());
        let own = (end.saturating_sub(start) as u64).saturating_mul(PER_ITEM);
        // Missing items take no bytes, so there may be billions of them.
        if own > most {
            return own;
        }
        own.saturating_add(items.sum(start..end).saturating_mul(copies)).saturating_add(2)
    };
    // A dictionary may repeat a list, but the items of each list are added up once.
    let lengths: Vec<u64> = lists.value_offsets().windows(2).map(of).collect();
    Lengths::Each(Box::new(move |i| lengths[i]))
}

/// Memory for each text of a dictionary. Returns `None` for other types.
pub(super) fn lengths(array: &ArrayRef) -> Option<Vec<u64>> {
    let texts = text(array.as_any_dictionary_opt()?.values())?;
    Some((0..texts.len()).map(|i| texts.value_length(i) as u64 + OFFSET).collect())
}

/// Bytes of memory per text in addition to its characters.
const OFFSET: u64 = 8;

/// Bytes of memory per item of a list in addition to its characters: its offset, its place in the
/// list and what separates it from the next one.
const PER_ITEM: u64 = 32;

/// Bytes of a text that a view holds itself.
const INLINE: u64 = 12;

/// Size of texts that are converted together. The library cannot build 2 GiB.
const MOST_TEXT: u64 = 1 << 30;

/// Formats every value with `spell`.
fn spelled<A: ArrayAccessor>(
    array: A,
    spell: impl Fn(&mut StringBuilder, A::Item) -> std::fmt::Result,
) -> Option<StringArray> {
    let mut out = StringBuilder::with_capacity(array.len(), array.len() * 8);
    for i in 0..array.len() {
        if array.is_null(i) {
            out.append_null();
        } else {
            spell(&mut out, array.value(i)).ok()?;
            // `append_value` completes the value from the text written so far.
            out.append_value("");
        }
    }
    Some(out.finish())
}

fn bytes<'a>(array: impl ArrayAccessor<Item = &'a [u8]>) -> Option<StringArray> {
    spelled(array, |out, value| {
        out.write_str(std::str::from_utf8(value).map_err(|_| std::fmt::Error)?)
    })
}

fn numbers<T: ArrowPrimitiveType<Native: std::fmt::Display>>(
    array: &dyn Array,
) -> Option<StringArray> {
    spelled(array.as_primitive::<T>(), |out, value| write!(out, "{value}"))
}

fn decimals<T: DecimalType>(array: &dyn Array, precision: u8, scale: i8) -> Option<StringArray> {
    spelled(array.as_primitive::<T>(), |out, value| {
        out.write_str(&T::format_decimal(value, precision, scale))
    })
}

/// Dates, times and timestamps. The `Debug` format of `chrono` is ISO 8601.
fn moments<T: ArrowPrimitiveType, M: std::fmt::Debug>(
    array: &dyn Array,
    moment: impl Fn(T::Native) -> Option<M>,
    suffix: &str,
) -> Option<StringArray> {
    spelled(array.as_primitive::<T>(), |out, value| {
        write!(out, "{:?}{suffix}", moment(value).ok_or(std::fmt::Error)?)
    })
}

fn timestamps(array: &dyn Array, unit: TimeUnit, suffix: &str) -> Option<StringArray> {
    use temporal::*;
    match unit {
        TimeUnit::Second => {
            moments::<TimestampSecondType, _>(array, timestamp_s_to_datetime, suffix)
        }
        TimeUnit::Millisecond => {
            moments::<TimestampMillisecondType, _>(array, timestamp_ms_to_datetime, suffix)
        }
        TimeUnit::Microsecond => {
            moments::<TimestampMicrosecondType, _>(array, timestamp_us_to_datetime, suffix)
        }
        TimeUnit::Nanosecond => {
            moments::<TimestampNanosecondType, _>(array, timestamp_ns_to_datetime, suffix)
        }
    }
}

fn durations(array: &dyn Array, unit: TimeUnit) -> Option<StringArray> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array) -> Option<StringArray> {
        spelled(array.as_primitive::<T>(), |out, value| {
            write!(out, "{}", temporal::as_duration::<T>(value).ok_or(std::fmt::Error)?)
        })
    }
    match unit {
        TimeUnit::Second => of::<DurationSecondType>(array),
        TimeUnit::Millisecond => of::<DurationMillisecondType>(array),
        TimeUnit::Microsecond => of::<DurationMicrosecondType>(array),
        TimeUnit::Nanosecond => of::<DurationNanosecondType>(array),
    }
}

/// Looks up values by index.
fn picked(values: &StringArray, places: impl Iterator<Item = Option<usize>>) -> StringArray {
    places.map(|place| place.filter(|&at| values.is_valid(at)).map(|at| values.value(at))).collect()
}

fn runs<T: RunEndIndexType>(array: &dyn Array) -> Option<StringArray> {
    let runs = array.as_run::<T>();
    // Like the child array of a list, that of a slice still contains the values of all runs.
    let values = text(&runs.values_slice())?;
    let first = if runs.is_empty() { 0 } else { runs.get_start_physical_index() };
    Some(picked(&values, (0..array.len()).map(|i| Some(runs.get_physical_index(i) - first))))
}

/// Formats lists as `[a, b]`. A missing element is empty. Lists of text have the same format as
/// sets, so that they can be parsed again.
fn lists<O: OffsetSizeTrait>(array: &dyn Array) -> Option<StringArray> {
    let lists = array.as_list::<O>();
    let offsets = lists.value_offsets();
    // The child array of a sliced list array still contains all elements.
    let (first, end) = (offsets[0].as_usize(), offsets[offsets.len() - 1].as_usize());
    let elements = text(&lists.values().slice(first, end - first))?;
    let is_text = lists.value_type().is_string();
    let list = |i: usize| {
        let elements: Vec<&str> = (offsets[i].as_usize() - first
            ..offsets[i + 1].as_usize() - first)
            .map(|at| if elements.is_valid(at) { elements.value(at) } else { "" })
            .collect();
        if is_text { set_label(&elements) } else { format!("[{}]", elements.join(", ")) }
    };
    Some((0..array.len()).map(|i| lists.is_valid(i).then(|| list(i))).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::*;
    use arrow_buffer::{Buffer, OffsetBuffer, i256};
    use arrow_schema::Field;
    use proptest::prelude::*;

    use super::*;

    /// The result of `arrow-cast`. Timestamps with a time zone are first converted to UTC.
    fn twin(array: &ArrayRef) -> Option<StringArray> {
        let strict = arrow_cast::CastOptions { safe: false, ..Default::default() };
        let cast = |array: &ArrayRef, to: &DataType| {
            arrow_cast::cast_with_options(array, to, &strict).ok()
        };
        let universal = match array.data_type() {
            DataType::Timestamp(unit, Some(_)) => {
                cast(array, &DataType::Timestamp(*unit, Some("+00:00".into())))?
            }
            _ => array.clone(),
        };
        Some(cast(&universal, &DataType::Utf8)?.as_string::<i32>().clone())
    }

    fn agree(array: impl Array + 'static) {
        let array: ArrayRef = Arc::new(array);
        assert_eq!(text(&array), twin(&array), "{}", array.data_type());
        // A slice starts at an offset within its buffers.
        let slice = array.slice(array.len() / 3, array.len() - array.len() / 3);
        assert_eq!(text(&slice), twin(&slice), "a slice of {}", array.data_type());
    }

    proptest! {
        #[test]
        fn numbers_that_are_counted_are_those_that_are_spelled(
            values in prop::collection::vec(prop::option::weighted(0.9, -3..4_i64), 40..90),
        ) {
            let array = Int64Array::from_iter(values.iter().copied()).slice(3, 37);
            let (codes, texts) = counted(&array).expect("a few numbers");
            let read: Vec<Option<&str>> =
                codes.iter().map(|&code| (code != NO_TEXT).then(|| texts.value(code as usize))).collect();
            let spelled = text(&array).unwrap();
            prop_assert_eq!(read, spelled.iter().collect::<Vec<_>>());
            prop_assert!(texts.len() <= 7, "each is spelled once");
        }

        #[test]
        fn numbers_are_spelled_as_arrow_spells_them(
            values in prop::collection::vec(prop::option::weighted(0.9, any::<i64>()), 0..30),
            scale in 0..6_i8,
        ) {
            let each = || values.iter().copied();
            agree(Int8Array::from_iter(each().map(|v| v.map(|v| v as i8))));
            agree(Int16Array::from_iter(each().map(|v| v.map(|v| v as i16))));
            agree(Int32Array::from_iter(each().map(|v| v.map(|v| v as i32))));
            agree(Int64Array::from_iter(each()));
            agree(UInt8Array::from_iter(each().map(|v| v.map(|v| v as u8))));
            agree(UInt16Array::from_iter(each().map(|v| v.map(|v| v as u16))));
            agree(UInt32Array::from_iter(each().map(|v| v.map(|v| v as u32))));
            agree(UInt64Array::from_iter(each().map(|v| v.map(|v| v as u64))));
            agree(BooleanArray::from_iter(each().map(|v| v.map(|v| v > 0))));
            agree(Float16Array::from_iter(each().map(|v| v.map(|v| half(v as f32 / 1e15)))));
            agree(Float32Array::from_iter(each().map(|v| v.map(|v| f32::from_bits(v as u32)))));
            agree(Float64Array::from_iter(each().map(|v| v.map(|v| f64::from_bits(v as u64)))));
            agree(Float64Array::from_iter(each().map(|v| v.map(|v| (v % 1_000_000) as f64 / 1000.0))));
            let decimals = |v: i64| v % 100_000_000;
            let own = Decimal32Array::from_iter(each().map(|v| v.map(|v| decimals(v) as i32)));
            agree(own.with_precision_and_scale(9, scale).unwrap());
            let own = Decimal64Array::from_iter(each().map(|v| v.map(decimals)));
            agree(own.with_precision_and_scale(18, scale).unwrap());
            let own = Decimal128Array::from_iter(each().map(|v| v.map(i128::from)));
            agree(own.with_precision_and_scale(30, scale).unwrap());
            let own = Decimal128Array::from_iter(each().map(|v| v.map(i128::from)));
            agree(own.with_precision_and_scale(30, -scale).unwrap());
            let own = Decimal256Array::from_iter(each().map(|v| v.map(|v| i256::from_i128(v.into()))));
            agree(own.with_precision_and_scale(40, scale).unwrap());
        }

        #[test]
        fn dates_and_times_are_spelled_as_arrow_spells_them(
            values in prop::collection::vec(prop::option::weighted(0.9, -100_000_000_000_i64..200_000_000_000), 0..30),
        ) {
            let each = |by: i64| values.iter().map(move |v| v.map(|v| v * by));
            let within = |end: i64| values.iter().map(move |v| v.map(|v| v.rem_euclid(end)));
            agree(Date32Array::from_iter(each(1).map(|v| v.map(|v| (v % 4_000_000) as i32))));
            agree(Date64Array::from_iter(each(977)));
            agree(Time32SecondArray::from_iter(within(86_400).map(|v| v.map(|v| v as i32))));
            agree(Time32MillisecondArray::from_iter(within(86_400_000).map(|v| v.map(|v| v as i32))));
            agree(Time64MicrosecondArray::from_iter(within(86_400_000_000)));
            agree(Time64NanosecondArray::from_iter(within(86_400_000_000).map(|v| v.map(|v| v * 1000 + 1))));
            for zone in [None, Some("+00:00"), Some("+02:00")] {
                let zone = || zone.map(Into::into);
                agree(TimestampSecondArray::from_iter(each(1)).with_timezone_opt::<Arc<str>>(zone()));
                agree(TimestampMillisecondArray::from_iter(each(99)).with_timezone_opt::<Arc<str>>(zone()));
                agree(TimestampMicrosecondArray::from_iter(each(99_777)).with_timezone_opt::<Arc<str>>(zone()));
                agree(TimestampNanosecondArray::from_iter(each(9_999_999)).with_timezone_opt::<Arc<str>>(zone()));
            }
            agree(DurationSecondArray::from_iter(each(1)));
            agree(DurationMillisecondArray::from_iter(each(1)));
            agree(DurationMicrosecondArray::from_iter(each(999)));
            agree(DurationNanosecondArray::from_iter(each(99_999)));
        }

        #[test]
        fn texts_pass_as_they_are(values in prop::collection::vec(prop::option::weighted(0.9, ".{0,20}"), 1..30)) {
            let each = || values.iter().map(Option::as_deref);
            agree(StringArray::from_iter(each()));
            agree(LargeStringArray::from_iter(each()));
            agree(StringViewArray::from_iter(each()));
            agree(BinaryArray::from_iter(each().map(|v| v.map(str::as_bytes))));
            agree(LargeBinaryArray::from_iter(each().map(|v| v.map(str::as_bytes))));
            agree(BinaryViewArray::from_iter(each().map(|v| v.map(str::as_bytes))));
            agree(each().collect::<DictionaryArray<Int8Type>>());
            agree(each().collect::<DictionaryArray<UInt32Type>>());
            agree(each().collect::<RunArray<Int16Type>>());
            agree(each().collect::<RunArray<Int64Type>>());
            let mut lists = ListBuilder::new(Int32Builder::new());
            for value in each() {
                value.into_iter().flat_map(str::chars).for_each(|c| lists.values().append_option((c != 'e').then_some(c as i32)));
                lists.append(value.is_some());
            }
            agree(lists.finish());
        }
    }

    fn half(value: f32) -> <Float16Type as ArrowPrimitiveType>::Native {
        <Float16Type as ArrowPrimitiveType>::Native::from_f32(value)
    }

    fn column(array: impl Array + 'static) -> RecordBatch {
        RecordBatch::try_from_iter([("a", Arc::new(array) as ArrayRef)]).unwrap()
    }

    /// `count` views of one text.
    fn views(count: usize, length: u32) -> (ScalarBuffer<u128>, Vec<Buffer>) {
        let text = "x".repeat(length as usize);
        let view = u128::from(length) | (u128::from(u32::from_le_bytes(*b"xxxx")) << 32);
        (vec![view; count].into(), vec![Buffer::from_vec(text.into_bytes())])
    }

    const MOST: u64 = 64 << 20;

    #[test]
    fn shared_views_are_measured_by_their_texts() {
        let (shared, buffers) = views(1000, 100_000);
        let binary = BinaryViewArray::new(shared.clone(), buffers.clone(), None);
        let text = StringViewArray::new(shared, buffers, None);
        let found = need(&column(binary.clone()), MOST).expect("a record fits");
        assert_eq!(found.room, [100_000 + OFFSET]);
        assert_eq!(need(&column(text.clone()), MOST).expect("no copy is made").room, [0]);
        // Texts that are stored once each are not sliced.
        let own = BinaryViewArray::from_iter_values(["a".repeat(50), "b".repeat(70)]);
        assert_eq!(need(&column(own), MOST).unwrap().room, [0]);
        // All values of a dictionary are converted together, those of runs are not.
        let keys = Int32Array::from(vec![0, 1]);
        let dictionary = DictionaryArray::new(keys, Arc::new(binary.clone()));
        assert!(need(&column(dictionary), MOST).is_none());
        let ends = Int32Array::from_iter_values(1..1001);
        let runs = RunArray::try_new(&ends, &text).unwrap();
        assert_eq!(need(&column(runs), MOST).unwrap().room, [100_000 + OFFSET]);
        let item = Arc::new(Field::new_list_field(DataType::BinaryView, false));
        let offsets = OffsetBuffer::from_lengths([1000]);
        let lists = ListArray::new(item, offsets, Arc::new(binary), None);
        assert!(need(&column(lists), MOST).is_none());
    }

    #[test]
    fn dictionaries_within_lists_and_runs_are_measured_by_their_texts() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(100_000)]));
        let keys = || Int8Array::from(vec![0; 1000]);
        let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys(), texts));
        let item = || Arc::new(Field::new_list_field(dictionary.data_type().clone(), true));
        let lists = |each: usize| {
            let offsets = OffsetBuffer::from_lengths(vec![each; 1000 / each]);
            ListArray::new(item(), offsets, dictionary.clone(), None)
        };
        let found = need(&column(lists(10)), MOST).expect("a list fits");
        assert_eq!(found.room, [10 * (100_000 + PER_ITEM) + 2 + OFFSET]);
        assert!(need(&column(lists(1000)), MOST).is_none());
        let keys = Int32Array::from(vec![0, 1]);
        let outer = DictionaryArray::new(keys, Arc::new(lists(1)));
        assert!(need(&column(outer), MOST).is_none());
        let ends = Int32Array::from_iter_values(1..1001);
        let runs = RunArray::try_new(&ends, &dictionary).unwrap();
        assert_eq!(need(&column(runs), MOST).unwrap().room, [100_000 + OFFSET]);
    }

    #[test]
    fn billions_of_missing_items_are_refused() {
        let count = i32::MAX as usize - 1;
        let nulls: ArrayRef = Arc::new(NullArray::new(count));
        let item = || Arc::new(Field::new_list_field(DataType::Null, true));
        let lists = |lengths: &[usize]| {
            let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
            ListArray::new(item(), offsets, nulls.clone(), None)
        };
        assert!(need(&column(lists(&[count])), MOST).is_none());
        assert!(need(&column(lists(&[60_000_000, 60_000_000])), MOST).is_none());
        let found = need(&column(lists(&[1000, 10])), MOST).expect("a short list fits");
        assert_eq!(found.room, [1000 * PER_ITEM + 2 + OFFSET]);
        let dictionary = DictionaryArray::new(Int32Array::from(vec![0]), nulls.clone());
        assert!(need(&column(dictionary), MOST).is_none());
    }

    #[test]
    fn a_slice_of_runs_is_spelled_like_a_part_of_the_whole() {
        let runs: RunArray<Int32Type> = ["a", "a", "b", "c", "c", "c"].into_iter().collect();
        let whole = text(&runs).unwrap();
        for (at, length) in [(0, 6), (0, 1), (1, 2), (2, 1), (3, 2), (4, 2), (0, 0)] {
            assert_eq!(text(&runs.slice(at, length)).unwrap(), whole.slice(at, length));
        }
    }

    #[test]
    fn what_has_no_text_is_refused() {
        agree(NullArray::new(3));
        assert_eq!(text(&BinaryArray::from_iter_values([[0xff]])), None);
        assert_eq!(text(&Date32Array::from_iter_values([i32::MAX])), None);
        assert_eq!(text(&StructArray::new_empty_fields(2, None)), None);
    }
}
