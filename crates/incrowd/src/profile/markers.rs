//! Texts that probably stand for a missing value although nobody listed them as missing.
//!
//! Only well-known markers are looked for, so naming them tells nothing about anyone.

/// Words that mark a missing value where numbers or dates are expected, in lower case.
const WORDS: &[&str] = &[
    "n",
    "na",
    "n.a.",
    "n/a",
    "#n/a",
    "#nv",
    "nan",
    "null",
    "nil",
    "none",
    "no",
    "-",
    "--",
    "---",
    ".",
    "..",
    "x",
    "*",
    "unknown",
    "unk",
    "u",
    "missing",
    "not available",
    "not applicable",
    "not stated",
    "not known",
    "refused",
    "don't know",
    "dk",
    "blank",
    "empty",
    "undefined",
    "tbd",
];

/// Of these, the words that mark a missing value even among other words. `none` and `no` are answers there.
const IN_TEXT: &[&str] = &[
    "n/a",
    "#n/a",
    "#nv",
    "n.a.",
    "nan",
    "null",
    "-",
    "--",
    "---",
    ".",
    "unknown",
    "unk",
    "missing",
    "not available",
    "not applicable",
    "not stated",
    "not known",
    "refused",
    "don't know",
    "unknown/invalid",
    "undefined",
];

/// More than this many different words among numbers are no markers any more.
pub(crate) const MOST: usize = 4;

/// A text that probably stands for a missing value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// As the table has it.
    pub text: String,
    /// How many records have it.
    pub records: u64,
}

fn known(list: &[&str], text: &str) -> bool {
    list.contains(&text.trim().to_lowercase().as_str())
}

/// Whether a word would be a marker among numbers.
pub(crate) fn is_word(text: &str) -> bool {
    known(WORDS, text)
}

/// Words among numbers or dates, all of which are markers.
pub(crate) fn words(others: &[(&str, u64)]) -> Vec<Marker> {
    let mut found: Vec<Marker> =
        others.iter().map(|(text, records)| Marker { text: (*text).to_owned(), records: *records }).collect();
    found.sort_by(|a, b| a.text.cmp(&b.text));
    found
}

/// Markers among other words.
pub(crate) fn in_text<'a>(values: impl Iterator<Item = (&'a str, u64)>) -> Vec<Marker> {
    let marks: Vec<(&str, u64)> = values.filter(|(text, _)| known(IN_TEXT, text)).collect();
    words(&marks)
}

/// Numbers that stand apart from the others as only markers do: the only negative one, if it is −1, −7, −8, −9 or such, and
/// a greatest one of nines, if it is more than double the next.
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
    fn markers_stand_apart() {
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
    fn words_are_markers_where_they_are_no_answers() {
        assert!(is_word("N") && is_word(" Unknown ") && !is_word("Norway"));
        let found = in_text([("Unknown", 3), ("None", 5), ("White", 9)].into_iter());
        assert_eq!(found, [Marker { text: "Unknown".into(), records: 3 }]);
    }
}
