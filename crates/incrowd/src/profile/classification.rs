//! Recognizes the classification of a column's values.

use incrowd_core::hierarchy::known::{KNOWN, Known};

use super::ValueKind;
use super::column_facts::ColumnFacts;
use super::detect;

/// The share of distinct values that must be codes of a classification.
const ENOUGH: f64 = 0.9;

/// Returns the classification to which most values belong. Codes that look like other numbers also
/// need a matching column name.
pub(super) fn recognise(column: &ColumnFacts<'_>) -> Option<&'static str> {
    if column.values.len() < 5 || column.kind == ValueKind::Date || column.kind == ValueKind::Real {
        return None;
    }
    let mut best: Option<(f64, bool, &Known)> = None;
    for known in KNOWN {
        let named = column.named(known.words) || column.name_has(&[known.name]);
        let tells = known.by_values && column.kind == ValueKind::Text && telling(known, column);
        let share = column.share(|value| known.fits(value));
        if share < ENOUGH || !(named || tells) {
            continue;
        }
        if best.is_none_or(|(most, by_name, _)| (share, named) > (most, by_name)) {
            best = Some((share, named, known));
        }
    }
    let quantity = column.kind == ValueKind::Integer && detect::why_code(column).is_none();
    best.filter(|_| !quantity).map(|(_, _, known)| known.name)
}

/// Returns whether the values can hardly be anything else. Short codes of letters and digits could
/// be.
fn telling(known: &Known, column: &ColumnFacts<'_>) -> bool {
    match known.name {
        "icd10" => column.share(|value| value.contains('.')) > 0.2,
        "nuts" => {
            column.share(|value| value.len() > 3 && value.bytes().any(|b| b.is_ascii_digit())) > 0.5
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::column_facts::tests::with_column;

    fn of(name: &str, cells: &[&str]) -> Option<&'static str> {
        with_column(name, cells, recognise)
    }

    #[test]
    fn classifications_are_recognised_by_their_values() {
        assert_eq!(of("x", &["Peru", "Chile", "Mexico", "Germany", "France"]), Some("countries"));
        assert_eq!(of("home", &["Ohio", "Texas", "Utah", "Maine", "Iowa"]), Some("us-states"));
        assert_eq!(of("x", &["E11.9", "I10", "J45.0", "K35.8", "C50.9"]), Some("icd10"));
        assert_eq!(of("diag_1", &["250.83", "276", "648", "V57", "197"]), Some("icd9"));
        assert_eq!(of("state_fips", &["1", "6", "36", "48", "56"]), Some("us-states"));
        assert_eq!(of("zip", &["02138", "02139", "10001", "60601", "94105"]), Some("postal"));
        assert_eq!(of("isco", &["2221", "5120", "9112", "1120", "2512"]), Some("isco08"));
        assert_eq!(of("home", &["DE111", "DE112", "FRK21", "AT130", "ITC11"]), Some("nuts"));
    }

    #[test]
    fn other_values_are_not_recognised() {
        assert_eq!(of("x", &["1", "6", "36", "48", "56"]), None);
        assert_eq!(of("age", &["21", "22", "36", "48", "56"]), None);
        assert_eq!(of("seat", &["A12", "B03", "C11", "D07", "E20"]), None);
        assert_eq!(of("x", &["Peru", "blue", "red", "green", "black"]), None);
        assert_eq!(of("x", &["Peru", "Chile"]), None);
    }
}
