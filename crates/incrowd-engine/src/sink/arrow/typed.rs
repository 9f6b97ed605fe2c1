//! Converts text to typed values. It is the inverse of the conversion in `source`, and also accepts
//! numbers as people type them.
//!
//! Arrays are built from buffers by Arrow's generic functions. Concrete array types would be
//! compiled again in this crate and increase the build time.

use std::str::FromStr;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::temporal_conversions as temporal;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BinaryViewArray, BooleanArray,
    LargeBinaryArray, LargeStringArray, StringArray, StringViewArray, make_array,
};
use arrow_buffer::{ArrowNativeType, Buffer, i256};
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use hashbrown::HashMap;
use incrowd_core::cell::parse_set;

/// The published type of a column of this type. Types that cannot be built from text become text. A
/// set is published as a list of texts. For a list column of the input, the caller passes the text
/// type.
pub(super) fn published(own: &DataType) -> DataType {
    match own {
        DataType::List(items) if *items.data_type() == DataType::Utf8 => own.clone(),
        other => of_text(other),
    }
}

/// The type to which texts are converted.
fn of_text(own: &DataType) -> DataType {
    use DataType::*;
    match own {
        RunEndEncoded(_, values) => of_text(values.data_type()),
        Dictionary(_, values) if of_text(values) == **values => own.clone(),
        Utf8
        | LargeUtf8
        | Utf8View
        | Binary
        | LargeBinary
        | BinaryView
        | Boolean
        | Date32
        | Date64
        | Time32(_)
        | Time64(_)
        | Timestamp(_, _) => own.clone(),
        number if number.is_numeric() => own.clone(),
        _ => Utf8,
    }
}

/// Converts texts to a type returned by `published`. Returns `None` if a text is not a value of the
/// type.
pub(super) fn typed(texts: &StringArray, to: &DataType) -> Option<ArrayRef> {
    use DataType::*;
    let data = match to {
        Utf8 => texts.to_data(),
        LargeUtf8 => LargeStringArray::from_iter(texts).into_data(),
        Utf8View => StringViewArray::from_iter(texts).into_data(),
        Binary => BinaryArray::from_iter(bytes(texts)).into_data(),
        LargeBinary => LargeBinaryArray::from_iter(bytes(texts)).into_data(),
        BinaryView => BinaryViewArray::from_iter(bytes(texts)).into_data(),
        Boolean => {
            let read = |text: Option<&str>| text.map(|text| text.parse::<bool>()).transpose();
            texts.iter().map(read).collect::<Result<BooleanArray, _>>().ok()?.into_data()
        }
        Int8 => numbers::<i8>(texts, to)?,
        Int16 => numbers::<i16>(texts, to)?,
        Int32 => numbers::<i32>(texts, to)?,
        Int64 => numbers::<i64>(texts, to)?,
        UInt8 => numbers::<u8>(texts, to)?,
        UInt16 => numbers::<u16>(texts, to)?,
        UInt32 => numbers::<u32>(texts, to)?,
        UInt64 => numbers::<u64>(texts, to)?,
        Float16 => numbers::<<Float16Type as ArrowPrimitiveType>::Native>(texts, to)?,
        Float32 => numbers::<f32>(texts, to)?,
        Float64 => numbers::<f64>(texts, to)?,
        Decimal32(precision, scale) => decimals(texts, to, *scale, |n| {
            Decimal32Type::is_valid_decimal_precision(n, *precision)
        })?,
        Decimal64(precision, scale) => decimals(texts, to, *scale, |n| {
            Decimal64Type::is_valid_decimal_precision(n, *precision)
        })?,
        Decimal128(precision, scale) => decimals(texts, to, *scale, |n| {
            Decimal128Type::is_valid_decimal_precision(n, *precision)
        })?,
        Decimal256(precision, scale) => decimals::<i256>(texts, to, *scale, |n| {
            Decimal256Type::is_valid_decimal_precision(n, *precision)
        })?,
        Date32 => each(texts, to, &|text| Some(Date32Type::from_naive_date(day(text)?)))?,
        Date64 => each(texts, to, &|text| Some(moment(text)?.and_utc().timestamp_millis()))?,
        Time32(TimeUnit::Second) => {
            each(texts, to, &|text| Some(temporal::time_to_time32s(time(text)?)))?
        }
        Time32(_) => each(texts, to, &|text| Some(temporal::time_to_time32ms(time(text)?)))?,
        Time64(TimeUnit::Microsecond) => {
            each(texts, to, &|text| Some(temporal::time_to_time64us(time(text)?)))?
        }
        Time64(_) => each(texts, to, &|text| Some(temporal::time_to_time64ns(time(text)?)))?,
        // Timestamps are in UTC. The time zone only affects how they are displayed.
        Timestamp(unit, _) => each(texts, to, &|text| {
            let moment = moment(text)?.and_utc();
            match unit {
                TimeUnit::Second => Some(moment.timestamp()),
                TimeUnit::Millisecond => Some(moment.timestamp_millis()),
                TimeUnit::Microsecond => Some(moment.timestamp_micros()),
                TimeUnit::Nanosecond => moment.timestamp_nanos_opt(),
            }
        })?,
        List(_) => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for text in texts {
                match text.map(|text| parse_set(text).unwrap_or_else(|| vec![text.to_owned()])) {
                    Some(values) => lists.append_value(values.into_iter().map(Some)),
                    None => lists.append_null(),
                }
            }
            lists.finish().into_data()
        }
        Dictionary(key, values) => match **key {
            Int8 => dictionary::<i8>(texts, to, values)?,
            Int16 => dictionary::<i16>(texts, to, values)?,
            Int32 => dictionary::<i32>(texts, to, values)?,
            Int64 => dictionary::<i64>(texts, to, values)?,
            UInt8 => dictionary::<u8>(texts, to, values)?,
            UInt16 => dictionary::<u16>(texts, to, values)?,
            UInt32 => dictionary::<u32>(texts, to, values)?,
            _ => dictionary::<u64>(texts, to, values)?,
        },
        _ => return None,
    };
    Some(make_array(data))
}

fn bytes(texts: &StringArray) -> impl Iterator<Item = Option<&[u8]>> {
    texts.iter().map(|text| text.map(str::as_bytes))
}

/// Parses every text with `read`.
fn each<N: ArrowNativeType>(
    texts: &StringArray,
    to: &DataType,
    read: &dyn Fn(&str) -> Option<N>,
) -> Option<ArrayData> {
    let mut values = Vec::with_capacity(texts.len());
    for i in 0..texts.len() {
        values.push(if texts.is_null(i) { N::default() } else { read(texts.value(i))? });
    }
    array(texts, to, values).build().ok()
}

/// Builds an array of the type from values, with the nulls of the texts.
fn array<N: ArrowNativeType>(
    texts: &StringArray,
    to: &DataType,
    values: Vec<N>,
) -> arrow_data::ArrayDataBuilder {
    let array = ArrayData::builder(to.clone()).len(values.len());
    array.nulls(texts.nulls().cloned()).add_buffer(Buffer::from_vec(values))
}

fn numbers<N: ArrowNativeType + FromStr>(texts: &StringArray, to: &DataType) -> Option<ArrayData> {
    each::<N>(texts, to, &|text| text.trim().parse().ok())
}

/// Parses decimals. A decimal is stored as an integer without the decimal point, with `scale`
/// digits after it. Values are never rounded.
fn decimals<N: ArrowNativeType + FromStr>(
    texts: &StringArray,
    to: &DataType,
    scale: i8,
    fits: impl Fn(N) -> bool,
) -> Option<ArrayData> {
    each(texts, to, &|text| {
        let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let fraction = fraction.trim_end_matches('0');
        if !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = match usize::try_from(scale) {
            Ok(places) if fraction.len() <= places => format!("{whole}{fraction:0<places$}"),
            Err(_) if fraction.is_empty() && whole.trim_start_matches(['-', '+']) == "0" => {
                "0".to_owned()
            }
            // Negative scale: the number must end with that many zeros, which are not stored.
            Err(_) if fraction.is_empty() => {
                let zeros = "0".repeat(usize::from(scale.unsigned_abs()));
                whole.strip_suffix(&zeros)?.to_owned()
            }
            _ => return None,
        };
        digits.parse().ok().filter(|value| fits(*value))
    })
}

/// Parses a number that consists of digits only.
fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
}

/// Parses `2026-11-16`. Years before 0 or after 9999 have a sign.
fn day(text: &str) -> Option<NaiveDate> {
    match text.as_bytes() {
        [y @ .., b'-', m1, m2, b'-', d1, d2] if y.len() == 4 => {
            NaiveDate::from_ymd_opt(digits(y)? as i32, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?)
        }
        _ => text.parse().ok(),
    }
}

/// Parses `23:59:58` with up to nine fractional digits.
fn time(text: &str) -> Option<NaiveTime> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, fraction @ ..] = text.as_bytes() else {
        return text.parse().ok();
    };
    let nanoseconds = match fraction {
        [] => 0,
        [b'.', places @ ..] if (1..=9).contains(&places.len()) => {
            digits(places)? * 10_u32.pow(9 - places.len() as u32)
        }
        _ => return text.parse().ok(),
    };
    NaiveTime::from_hms_nano_opt(
        digits(&[*h1, *h2])?,
        digits(&[*m1, *m2])?,
        digits(&[*s1, *s2])?,
        nanoseconds,
    )
}

/// Parses `2026-11-16T23:59:58`, with an optional `Z` for UTC.
fn moment(text: &str) -> Option<NaiveDateTime> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, clock) = text.split_once(['T', ' '])?;
    Some(day(date)?.and_time(time(clock)?))
}

/// Builds a dictionary array. The dictionary is in order of first occurrence.
fn dictionary<K: ArrowNativeType + TryFrom<usize>>(
    texts: &StringArray,
    to: &DataType,
    values: &DataType,
) -> Option<ArrayData> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut distinct = Vec::new();
    let mut keys = Vec::with_capacity(texts.len());
    for i in 0..texts.len() {
        let place = if texts.is_null(i) {
            0
        } else {
            let text = texts.value(i);
            *places.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            })
        };
        keys.push(K::try_from(place).ok()?);
    }
    let values = typed(&StringArray::from(distinct), values)?;
    array(texts, to, keys).add_child_data(values.into_data()).build().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The result of `arrow-cast`. Timestamps with a time zone are first converted to UTC.
    fn twin(texts: &StringArray, to: &DataType) -> Option<ArrayRef> {
        let strict = arrow_cast::CastOptions { safe: false, ..Default::default() };
        let cast = |array: &dyn Array, to: &DataType| {
            arrow_cast::cast_with_options(array, to, &strict).ok()
        };
        match to {
            DataType::Timestamp(unit, Some(_)) => {
                let universal = cast(texts, &DataType::Timestamp(*unit, Some("+00:00".into())))?;
                cast(&universal, to)
            }
            _ => cast(texts, to),
        }
    }

    fn agree(texts: &StringArray, to: &DataType) {
        assert_eq!(published(to), *to);
        let own = typed(texts, to);
        assert!(own.as_ref().is_none_or(|array| array.data_type() == to), "{to}");
        assert_eq!(own, twin(texts, to), "{to} of {texts:?}");
    }

    fn dictionary_of(key: DataType, values: DataType) -> DataType {
        DataType::Dictionary(Box::new(key), Box::new(values))
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_arrow_reads_them(
            values in prop::collection::vec(prop::option::weighted(0.9, any::<i64>()), 1..20),
            shift in 0..64_u32,
            scale in 0..5_i8,
        ) {
            use DataType::*;
            let whole: StringArray =
                values.iter().map(|v| v.map(|v| (v >> shift).to_string())).collect();
            let whole_numbers = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64];
            let numbers = whole_numbers.iter().chain(&[Float32, Float64]);
            numbers.for_each(|to| agree(&whole, to));
            agree(&whole, &Decimal64(18, scale));
            agree(&whole, &Decimal128(38, scale));
            agree(&whole, &Decimal256(60, scale));
            let part = |v: i64| format!("{}", (v >> shift) as f64 / 16.0);
            let parts: StringArray = values.iter().map(|v| v.map(part)).collect();
            [Float32, Float64].iter().for_each(|to| agree(&parts, to));
            let cent = |v: i64| format!("{}.{:02}", v / 100, (v % 100).abs());
            let cents: StringArray = values.iter().map(|v| v.map(cent)).collect();
            agree(&cents, &Decimal128(30, 2 + scale));
            agree(&cents, &Decimal256(50, 2));
            let keys = [Int8, Int32, UInt64].map(|key| dictionary_of(key, Utf8));
            keys.iter().for_each(|to| agree(&whole, to));
        }

        #[test]
        fn dates_and_times_are_read_as_arrow_reads_them(
            days in prop::collection::vec(
                prop::option::weighted(0.9, -700_000..2_900_000_i32),
                1..20,
            ),
            clock in 0..86_400_000_000_000_i64,
        ) {
            use DataType::*;
            use TimeUnit::*;
            let day = |n: i32| temporal::date32_to_datetime(n).unwrap().date();
            let dates: StringArray = days.iter().map(|d| d.map(|d| day(d).to_string())).collect();
            agree(&dates, &Date32);
            let units = [Second, Millisecond, Microsecond, Nanosecond];
            for (step, unit) in [1_000_000_000, 1_000_000, 1000, 1].into_iter().zip(units) {
                let time = temporal::time64ns_to_time(clock - clock % step).unwrap();
                let clocks: StringArray =
                    days.iter().map(|d| d.map(|_| format!("{time:?}"))).collect();
                let is_short = matches!(unit, Second | Millisecond);
                agree(&clocks, &if is_short { Time32(unit) } else { Time64(unit) });
                // Nanoseconds only cover the years 1677 to 2262.
                let near = |d: i32| if unit == Nanosecond { d % 100_000 } else { d };
                let moments: StringArray =
                    days.iter().map(|d| d.map(|d| format!("{:?}T{time:?}", day(near(d))))).collect();
                agree(&moments, &Timestamp(unit, None));
                let universal: StringArray =
                    days.iter().map(|d| d.map(|d| format!("{:?}T{time:?}Z", day(near(d))))).collect();
                agree(&universal, &Timestamp(unit, Some("+00:00".into())));
                agree(&universal, &Timestamp(unit, Some("+05:30".into())));
            }
        }
    }

    #[test]
    fn texts_that_are_not_values_of_the_type_are_refused() {
        use DataType::*;
        let no = |text: &str, to: DataType| {
            assert_eq!(typed(&StringArray::from(vec!["1", text]), &to), None, "{text} {to}")
        };
        no("", Int64);
        no("1.5", Int64);
        no("300", UInt8);
        no("x", Float64);
        no("yes", Boolean);
        no("2021-02-30", Date32);
        no("25:00:00", Time32(TimeUnit::Second));
        no("2021-02-03", Timestamp(TimeUnit::Second, None));
        no("1.234", Decimal128(10, 2));
        no("123456789", Decimal128(5, 0));
        no("1..5", Decimal128(10, 2));
        no("1", Decimal128(10, -2));
    }

    #[test]
    fn decimals_of_a_negative_scale_lose_their_zeros() {
        let texts = StringArray::from(vec![Some("12300"), None, Some("0"), Some("-500")]);
        let values = typed(&texts, &DataType::Decimal128(10, -2)).unwrap();
        let values = arrow_array::cast::AsArray::as_primitive::<Decimal128Type>(&values).clone();
        assert_eq!(values.iter().collect::<Vec<_>>(), [Some(123), None, Some(0), Some(-5)]);
    }

    #[test]
    fn types_that_cannot_be_parsed_from_text_are_published_as_text() {
        use DataType::*;
        let list = List(std::sync::Arc::new(arrow_schema::Field::new("item", Utf8, true)));
        assert_eq!(published(&list), list);
        let numbers = List(std::sync::Arc::new(arrow_schema::Field::new("item", Int64, true)));
        assert_eq!(published(&numbers), Utf8);
        assert_eq!(published(&Duration(TimeUnit::Second)), Utf8);
        let runs = |values| {
            let field =
                |name, of, null| std::sync::Arc::new(arrow_schema::Field::new(name, of, null));
            RunEndEncoded(field("run_ends", Int32, false), field("values", values, true))
        };
        assert_eq!(published(&runs(Int64)), Int64);
        assert_eq!(published(&runs(list.clone())), Utf8);
        assert_eq!(published(&dictionary_of(Int8, list)), Utf8);
    }
}
