//! The regular intervals a column is published in, as text.

use serde_json::Value;

use crate::print::number;

/// The regular intervals of a column, from what the manifest tells of them.
pub(crate) fn intervals(column: &str, mdr: &Value) -> Option<String> {
    let factors = mdr["factors"].as_array()?;
    let (width, days) = (mdr["width"].as_f64()?, if mdr["unit"] == "date" { " days" } else { "" });
    let widths: Vec<String> = factors.iter().filter_map(Value::as_f64).map(|f| number(f * width)).collect();
    let end = |json: &Value| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    let mut line = format!(
        "intervals {column}: {} to {} in width{} {}{days}",
        end(&mdr["from"]),
        end(&mdr["to"]),
        if widths.len() == 1 { "" } else { "s" },
        widths.join(", ")
    );
    if !mdr["outliers_from"].is_null() {
        line += &format!("; one cell down to {}", end(&mdr["outliers_from"]));
    }
    if !mdr["outliers_to"].is_null() {
        line += &format!("; one cell up to {}", end(&mdr["outliers_to"]));
    }
    Some(line)
}
