//! Formats cells of a release as texts, for the first rows in a notebook.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// Formats the cell of a row. For rare types it returns the name of the type.
pub(crate) fn text(column: &ArrayRef, row: usize) -> String {
    macro_rules! number {
        ($type:ty) => {
            column.as_primitive::<$type>().value(row).to_string()
        };
    }
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).to_owned(),
        DataType::Utf8View => column.as_string_view().value(row).to_owned(),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Date32 => {
            let date = column.as_primitive::<Date32Type>().value_as_date(row);
            date.map_or_else(String::new, |date| date.to_string())
        }
        DataType::Dictionary(..) => {
            let codes = column.as_any_dictionary();
            text(codes.values(), codes.normalized_keys()[row])
        }
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<String> = (0..items.len()).map(|item| text(&items, item)).collect();
            format!("[{}]", items.join(", "))
        }
        other => format!("({other})"),
    }
}
