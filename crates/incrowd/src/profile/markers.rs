//! Texts that probably mean a missing value but are not listed as missing.
//!
//! Only well-known markers are searched, so naming them reveals nothing about anyone.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

static TEXTS: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("markers.txt")));

/// With more distinct words than this among numbers, they are not markers.
pub(crate) const MOST: usize = 4;

/// A text that probably means a missing value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The text in the table.
    pub text: String,
    /// The number of records with it.
    pub records: u64,
}

fn known(list: &str, text: &str) -> bool {
    TEXTS.list(list).contains(&text.trim().to_lowercase().as_str())
}

/// Returns whether a word would be a marker among numbers.
pub(crate) fn is_word(text: &str) -> bool {
    known("among numbers", text)
}

/// Returns markers for words among numbers or dates.
pub(crate) fn words(others: &[(&str, u64)]) -> Vec<Marker> {
    let mut found: Vec<Marker> = others
        .iter()
        .map(|(text, records)| Marker { text: (*text).to_owned(), records: *records })
        .collect();
    found.sort_by(|a, b| a.text.cmp(&b.text));
    found
}

/// Returns the markers among other words.
pub(crate) fn in_text<'a>(values: impl Iterator<Item = (&'a str, u64)>) -> Vec<Marker> {
    let marks: Vec<(&str, u64)> = values.filter(|(text, _)| known("in text", text)).collect();
    words(&marks)
}

/// Returns numbers that are probably markers: the only negative number, if it is −1, −7, −8, −9 or
/// similar; and the greatest number, if it consists of nines and is more than double the next.
pub(crate) fn in_numbers(ascending: &[(f64, u64)]) -> Vec<Marker> {
    let mut found = Vec::new();
    if let [(low, records), (next, _), _, ..] = ascending
        && *next >= 0.0
        && [-1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -999.0, -9999.0].contains(low)
    {
        found.push(Marker { text: low.to_string(), records: *records });
    }
    if let [.., _, (next, _), (high, records)] = ascending
        && *next >= 0.0
        && *high > 2.0 * next
        && [99.0, 999.0, 9999.0, 99_999.0, 999_999.0].contains(high)
    {
        found.push(Marker { text: high.to_string(), records: *records });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_markers_are_far_from_the_other_numbers() {
        let numbers = |xs: &[f64]| {
            let found = in_numbers(&xs.iter().map(|&x| (x, 1)).collect::<Vec<_>>());
            found.into_iter().map(|m| m.text).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&[-9.0, 0.0, 1.0, 2.0]), ["-9"]);
        assert_eq!(numbers(&[-9.0, -8.0, 1.0, 2.0]), [""; 0]);
        assert_eq!(numbers(&[1.0, 97.0, 98.0, 99.0]), [""; 0]);
        assert_eq!(numbers(&[1.0, 20.0, 41310.0, 99999.0]), ["99999"]);
        assert_eq!(numbers(&[-2.0, 0.0, 1.0]), [""; 0]);
    }

    #[test]
    fn regular_values_of_a_text_column_are_no_markers() {
        assert!(is_word("N") && is_word(" Unknown ") && !is_word("Norway"));
        let found = in_text([("Unknown", 3), ("None", 5), ("White", 9)].into_iter());
        assert_eq!(found, [Marker { text: "Unknown".into(), records: 3 }]);
    }
}
