//! The facts about a column that detectors use: the words of its name, counts, and a sample of its
//! values.

use incrowd_audit::risk::ColumnCounts;
use incrowd_core::CodedColumn;
use incrowd_core::calendar::{DateFormat, Sniffed};
use incrowd_core::number::{Number, first_inexact, is_quantity, parse_number};

use super::markers::{self, Marker};

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Whole numbers.
    Integer,
    /// Numbers, not all whole.
    Real,
    /// Calendar dates, with or without a time.
    Date,
    /// Anything else.
    Text,
}

impl ValueKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Integer => "integer",
            ValueKind::Real => "real",
            ValueKind::Date => "date",
            ValueKind::Text => "text",
        }
    }

    /// Returns whether the values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, ValueKind::Integer | ValueKind::Real)
    }
}

/// The maximum number of distinct values in the sample of a column.
const SAMPLE: usize = 4096;

/// The facts about a column that detectors use.
pub(crate) struct ColumnFacts<'a> {
    pub(crate) name: &'a str,
    /// The words of the name in lower case: `maritalStatus` and `MARITAL_STATUS` are `marital`,
    /// `status`.
    pub(crate) words: Vec<String>,
    /// The letters and digits of the name in lower case.
    pub(crate) squashed: String,
    pub(crate) kind: ValueKind,
    /// The format of its dates.
    pub(crate) dates: Sniffed,
    pub(crate) records: u64,
    pub(crate) counts: ColumnCounts,
    pub(crate) markers: Vec<Marker>,
    /// The least and the greatest number, without markers.
    pub(crate) range: Option<(f64, f64)>,
    /// The total variation of the frequencies of integers, in order of value, relative to that of a
    /// single rise and fall. It is 1 if the frequencies rise and fall once.
    pub(crate) roughness: Option<f64>,
    /// Distinct values without markers: all of them, or a sample that does not depend on their
    /// order.
    pub(crate) values: Vec<&'a str>,
}

incrowd_core::opaque_debug!(ColumnFacts<'_> { name, kind });

impl<'a> ColumnFacts<'a> {
    /// Computes the facts about a column.
    // Long, because kind, markers and range of a column depend on each other.
    pub(crate) fn new(column: &'a CodedColumn, records: u64) -> ColumnFacts<'a> {
        let counts = ColumnCounts::of(column);
        let by_code = column.counts();
        let used = || column.texts.iter().filter(|(code, _)| by_code[*code as usize] > 0);
        let (mut whole, mut real, mut marks, mut texts) = (0u64, 0u64, Vec::new(), Vec::new());
        let mut quantities = Vec::new();
        for (code, text) in used() {
            let number = parse_number(text).filter(|_| is_quantity(text));
            quantities.extend(number.map(|_| text));
            match number {
                Some(Number::Integer(_)) => whole += 1,
                Some(Number::Real(_)) => real += 1,
                None if markers::is_word(text) => marks.push((text, by_code[code as usize])),
                None => texts.push(text),
            }
        }
        // Numbers that computations would change make the column text, as when it is anonymized.
        texts.extend(first_inexact(&quantities).map(|at| quantities[at]));
        let only_markers = marks.len() <= markers::MOST;
        // Markers of missing values do not change the type, if they are few and there is more than
        // one other value.
        let alone = |n: usize| n > 0 && only_markers && (marks.is_empty() || n > 1);
        let dates = match (whole + real, &texts[..]) {
            (0, texts) if alone(texts.len()) => DateFormat::sniff(texts.iter().copied()),
            (1.., [])
                if real == 0
                    && compact(&column.name, &used().map(|(_, text)| text).collect::<Vec<_>>()) =>
            {
                Sniffed::Written(DateFormat::COMPACT)
            }
            _ => Sniffed::NoDates,
        };
        let kind =
            match dates {
                Sniffed::NoDates if texts.is_empty() && alone((whole + real) as usize) => {
                    if real == 0 { ValueKind::Integer } else { ValueKind::Real }
                }
                Sniffed::NoDates => ValueKind::Text,
                _ => ValueKind::Date,
            };
        let others = marks;
        let numbers =
            || used().filter_map(|(code, text)| Some((parse_number(text)?.as_f64(), code)));
        let found = match kind {
            ValueKind::Text => {
                markers::in_text(used().map(|(code, text)| (text, by_code[code as usize])))
            }
            ValueKind::Date => markers::words(&others),
            _ => {
                let mut found = markers::words(&others);
                let mut sorted: Vec<(f64, u64)> =
                    numbers().map(|(x, code)| (x, by_code[code as usize])).collect();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                found.extend(markers::in_numbers(&sorted));
                found
            }
        };
        let is_marker = |text: &str| found.iter().any(|marker| marker.text == text);
        let roughness = (kind == ValueKind::Integer).then(|| {
            let within = numbers().filter(|(_, code)| !is_marker(column.texts.get(*code)));
            roughness(within.map(|(x, code)| (x, by_code[code as usize])).collect())
        });
        let range = kind.is_number().then(|| {
            let within = numbers().filter(|(_, code)| !is_marker(column.texts.get(*code)));
            within
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (x, _)| (lo.min(x), hi.max(x)))
        });
        let mut values: Vec<&str> =
            used().map(|(_, text)| text).filter(|text| !is_marker(text)).collect();
        if values.len() > SAMPLE {
            values.select_nth_unstable_by_key(SAMPLE, |text| (hash(text), *text));
            values.truncate(SAMPLE);
        }
        values.sort_unstable();
        let squashed =
            column.name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let range = range.filter(|(lo, hi)| lo <= hi);
        let words = words(&column.name);
        ColumnFacts {
            name: &column.name,
            words,
            squashed,
            kind,
            dates,
            records,
            counts,
            markers: found,
            range,
            roughness: roughness.flatten(),
            values,
        }
    }

    /// Returns whether one of the name's words is one of these.
    pub(crate) fn named(&self, known: &[&str]) -> bool {
        self.words.iter().any(|word| known.contains(&word.as_str()))
    }

    /// Returns whether the letters and digits of the name contain one of these parts.
    pub(crate) fn name_has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.squashed.contains(part))
    }

    /// Returns the share of distinct values for which `fits` holds.
    pub(crate) fn share(&self, fits: impl Fn(&str) -> bool) -> f64 {
        if self.values.is_empty() {
            return 0.0;
        }
        self.values.iter().filter(|value| fits(value)).count() as f64 / self.values.len() as f64
    }

    /// Returns the number of records with a value.
    pub(crate) fn present(&self) -> u64 {
        self.records - self.counts.missing
    }

    /// Returns the share of unique values among the records with a value.
    pub(crate) fn uniqueness(&self) -> f64 {
        if self.present() == 0 { 0.0 } else { self.counts.unique as f64 / self.present() as f64 }
    }

    /// Returns the number of distinct values per record with a value.
    pub(crate) fn variety(&self) -> f64 {
        if self.present() == 0 { 0.0 } else { self.counts.distinct as f64 / self.present() as f64 }
    }
}

/// Returns whether integers are dates without separators, such as `20210305`: all must exist and
/// have plausible years.
fn compact(name: &str, texts: &[&str]) -> bool {
    let year = |text: &str| text.get(..4).and_then(|year| year.parse::<u32>().ok());
    let fits = |text: &str| {
        DateFormat::COMPACT.read(text).is_some()
            && text.len() == 8
            && year(text).is_some_and(|year| (1850..=2150).contains(&year))
    };
    let named = words(name)
        .iter()
        .any(|word| ["date", "day", "dob", "birth", "born", "dt"].contains(&word.as_str()));
    (named || texts.len() >= 5) && texts.iter().all(|text| fits(text))
}

/// Computes [`ColumnFacts::roughness`] from values with their frequencies.
fn roughness(mut counted: Vec<(f64, u64)>) -> Option<f64> {
    counted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let counts: Vec<f64> = counted.iter().map(|(_, n)| *n as f64).collect();
    let (first, last) = (counts.first()?, counts.last()?);
    let once = 2.0 * counts.iter().copied().fold(0.0, f64::max) - first - last;
    let way: f64 = counts.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    (once > 0.0).then(|| way / once)
}

/// Splits a name into words: at separators, between lower and upper case, and `ABc` as `A`, `Bc`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = i.checked_sub(1).map(|j| chars[j]);
        let after = chars.get(i + 1);
        let begins = c.is_uppercase()
            && before.is_some_and(|b| {
                b.is_lowercase() || (b.is_uppercase() && after.is_some_and(|a| a.is_lowercase()))
            });
        if begins {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// FNV-1a. It is stable across platforms and versions, and good enough to draw a sample.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use incrowd_core::{ColumnSpec, Columnar, Domain, FoldedColumn};

    /// Calls `ask` with the facts about a column of these cells; empty cells are missing.
    pub(crate) fn with_column<T>(
        name: &str,
        cells: &[&str],
        ask: impl Fn(&ColumnFacts<'_>) -> T,
    ) -> T {
        let cell = |text: &&'static str| vec![(!text.is_empty()).then_some(*text)];
        let cells: Vec<&'static str> =
            cells.iter().map(|c| &*Box::leak((*c).to_owned().into_boxed_str())).collect();
        let table = Columnar::from_records(&[name], cells.iter().map(cell));
        ask(&ColumnFacts::new(&table.columns[0], table.records as u64))
    }

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("maritalStatus", vec!["marital", "status"]),
            ("MARITAL_STATUS", vec!["marital", "status"]),
            ("hours-per-week", vec!["hours", "per", "week"]),
            ("patientID", vec!["patient", "id"]),
            ("IDNumber", vec!["id", "number"]),
            ("RAC1P", vec!["rac1p"]),
            ("", vec![]),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn markers_do_not_change_the_type_but_other_texts_do() {
        let kind = |cells: &[&str]| with_column("x", cells, |facts| facts.kind);
        assert_eq!(kind(&["1", "2", "", "3"]), ValueKind::Integer);
        assert_eq!(kind(&["1", "2.5", "N"]), ValueKind::Real);
        assert_eq!(kind(&["1", "2", "N", "Unknown"]), ValueKind::Integer);
        assert_eq!(kind(&["1", "2", "three"]), ValueKind::Text);
        assert_eq!(kind(&["02139", "10001"]), ValueKind::Text);
        assert_eq!(kind(&["2021-03-05", "2021-03-06T10:00", "n/a"]), ValueKind::Date);
        assert_eq!(kind(&["12.09.1972", "1.2.2003", "n/a"]), ValueKind::Date);
        assert_eq!(kind(&["09/12/1972", "01/02/2003"]), ValueKind::Date);
        assert_eq!(kind(&["2023-03-04T10:00:00Z"]), ValueKind::Date);
        assert_eq!(kind(&["05.04.2023 23:18", "06.04.2023 00:00"]), ValueKind::Date);
        assert_eq!(
            kind(&["19720912", "20030201", "20030202", "19991231", "20000101"]),
            ValueKind::Date
        );
        assert_eq!(
            kind(&["19720912", "20030299", "20030202", "19991231", "20000101"]),
            ValueKind::Integer
        );
        assert_eq!(kind(&["N", "Unknown"]), ValueKind::Text);
        assert_eq!(kind(&["", ""]), ValueKind::Text);
    }

    /// A column is proposed as numbers exactly if it is then anonymized as numbers.
    #[test]
    fn numbers_are_recognized_as_when_they_are_anonymized() {
        for (cells, is_number) in [
            (vec!["0.10000000000000001", "0.69999999999999996", "3"], true),
            (vec!["0.1", "0.10000000000000001"], false),
            (vec!["0.10000000000000001", "0.100000000000000010"], true),
            (vec!["7", "9007199254740992"], true),
            (vec!["7", "9007199254740993"], false),
            (vec!["02139", "10001"], false),
        ] {
            let kind = with_column("x", &cells, |facts| facts.kind);
            let texts = std::iter::once("").chain(cells.iter().copied()).map(str::to_owned);
            let column = FoldedColumn { name: "x".to_owned(), texts: texts.collect() };
            let (domain, _) = Domain::build(&column, &ColumnSpec::default(), None).unwrap();
            let anonymized = matches!(domain, Domain::Numbers(_));
            assert_eq!((kind.is_number(), anonymized), (is_number, is_number), "{cells:?}");
        }
    }

    #[test]
    fn a_sample_does_not_depend_on_the_order() {
        let cells: Vec<String> = (0..9000).map(|i| format!("v{i}")).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let sample = |cells: &[&str]| {
            with_column("x", cells, |facts| {
                facts.values.iter().map(|v| v.to_string()).collect::<Vec<_>>()
            })
        };
        let first = sample(&cells);
        cells.reverse();
        assert_eq!((first.len(), &first), (SAMPLE, &sample(&cells)));
    }

    #[test]
    fn debug_output_contains_no_values() {
        with_column("x", &["secret"], |facts| assert!(!format!("{facts:?}").contains("secret")));
    }
}
