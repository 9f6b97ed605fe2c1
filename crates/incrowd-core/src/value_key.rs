//! The key under which a person or a sensitive value is counted, independent of its spelling.
//!
//! The key depends on the text only and is exact: nothing is rounded.
//!
//! 1. Leading and trailing blanks are ignored: white space of any kind, no-break spaces, and
//!    invisible characters (zero-width characters, a byte order mark).
//! 2. A decimal number is its value: `1`, `01`, `+1`, `1.0`, `1e0` and `10e-1` have one key.
//! 3. Any other text is its own key. `Flu` and `flu` have two keys.
//!
//! Numbers with leading zeros are merged, although `007` and `7` may be two identifiers: programs
//! that read tables drop the zeros, and two files of one table then contain both. Two keys for one
//! person overstate the number of persons, and two keys for one value overstate the number of
//! values; both overstate protection. One key for two persons only understates the size of a group.
//! One key for two values makes every model stricter that judges a single group: merging values
//! adds their shares, so there are fewer values (distinct), the entropy does not rise, the greatest
//! share does not fall, and neither does the sum of the greatest l − 1 shares (recursive,
//! frequency). Models that compare a group with the whole table (t-closeness, β-likeness,
//! δ-disclosure) apply to the merged values then: a difference between two values that differ in
//! leading zeros only is not detected. Such columns are therefore [reported](Spellings).

use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};

use crate::numerals::DecimalMark;

/// Numbers with at most this many digits are written out in their keys.
const WRITTEN_OUT: i64 = 40;
/// Texts with a longer exponent are not numbers.
const EXPONENT_DIGITS: usize = 9;
/// The comparison without regard to case, which only produces a warning, stops collecting texts
/// with capital letters at this number.
const MOST_CAPITALS: usize = 1 << 20;

/// Whether a character is ignored at the beginning and end of a text.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// The key of a text: two texts with the same key are one person or one value.
///
/// ```
/// use incrowd_core::value_key;
///
/// assert_eq!(value_key(" 1.0"), value_key("1"));
/// assert_eq!(value_key("flu\u{a0}"), "flu");
/// assert_ne!(value_key("9007199254740993"), value_key("9007199254740992"));
/// ```
pub fn value_key(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(is_blank);
    let bytes = text.as_bytes();
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    // Fast path: words, and integers without leading zeros, are their own keys.
    match digits.first() {
        Some(b'1'..=b'9')
            if digits.len() <= WRITTEN_OUT as usize && digits.iter().all(u8::is_ascii_digit) =>
        {
            Cow::Borrowed(text)
        }
        Some(b'0'..=b'9' | b'.' | b'+') => {
            Decimal::read(text).map_or(Cow::Borrowed(text), |number| Cow::Owned(number.key()))
        }
        _ => Cow::Borrowed(text),
    }
}

/// The key of a text in a table with this decimal mark: with a comma, `1,0` has the key `1`.
pub fn value_key_in(text: &str, mark: DecimalMark) -> Cow<'_, str> {
    match text.contains(',') && mark == DecimalMark::Comma {
        true => match mark.read(text.trim_matches(is_blank)) {
            Some(Cow::Owned(number)) => Cow::Owned(value_key(&number).into_owned()),
            _ => value_key(text),
        },
        false => value_key(text),
    }
}

/// Whether a text means a missing value: its [key](value_key) is that of one of the texts
/// `missing`. Blanks around it are ignored.
///
/// ```
/// use incrowd_core::means_missing;
///
/// let missing = ["?".to_owned(), "NA".to_owned()];
/// assert!(means_missing(" ?", &missing) && means_missing("NA\u{a0}", &missing));
/// assert!(!means_missing("N/A", &missing));
/// ```
pub fn means_missing(text: &str, missing: &[String]) -> bool {
    let key = value_key(text);
    missing.iter().any(|own| value_key(own) == key)
}

/// A decimal number, exactly: `digits * 10^exponent`.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Decimal> {
        let (negative, number) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match number.find(['e', 'E']) {
            None => (number, 0),
            Some(at) => {
                let power = &number[at + 1..];
                let digits = power.strip_prefix(['-', '+']).unwrap_or(power);
                let fits = (1..=EXPONENT_DIGITS).contains(&digits.len()) && is_digits(digits);
                (&number[..at], power.parse::<i64>().ok().filter(|_| fits)?)
            }
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let kept = all.trim_end_matches('0');
        let exponent = exponent - fraction.len() as i64 + (all.len() - kept.len()) as i64;
        let digits = kept.trim_start_matches('0').to_owned();
        Some(match digits.is_empty() {
            true => Decimal { negative: false, digits, exponent: 0 },
            false => Decimal { negative, digits, exponent },
        })
    }

    fn key(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let (digits, exponent, length) = (&self.digits, self.exponent, self.digits.len() as i64);
        if digits.is_empty() {
            "0".to_owned()
        } else if exponent >= 0 && length + exponent <= WRITTEN_OUT {
            format!("{sign}{digits}{}", "0".repeat(exponent as usize))
        } else if exponent < 0 && length <= WRITTEN_OUT && exponent >= -WRITTEN_OUT {
            let places = -exponent as usize;
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places);
            format!("{sign}{whole}.{fraction}")
        } else {
            format!("{sign}{digits}e{exponent}")
        }
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Counts of texts of a column that differ in spelling only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spellings {
    /// Number of values with several spellings. Each is counted as one value.
    pub merged: u64,
    /// Number of values that differ from another one in upper and lower case only. They are counted
    /// as different.
    pub case: u64,
}

impl Spellings {
    /// Returns the warnings for the table's owner. `one` and `many` are the singular and plural
    /// noun for what is counted.
    pub fn warnings(self, column: &str, one: &str, many: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.merged > 0 {
            let (n, each, is) = match self.merged {
                1 => ("1".to_owned(), format!("{one} is"), "it counts"),
                n => (n.to_string(), format!("{many} are"), "each counts"),
            };
            warnings.push(format!(
                "in column `{column}` {n} {each} written in more than one way (as 1 and 1.0, as \
                 01 and 1, with blanks around): {is} as one {one}"
            ));
        }
        if self.case > 0 {
            let (n, differ) = match self.case {
                1 => ("1".to_owned(), format!("{one} differs")),
                n => (n.to_string(), format!("{many} differ")),
            };
            warnings.push(format!(
                "in column `{column}` {n} {differ} from another one in upper and lower case only: \
                 they count as different; unify them beforehand if they mean the same"
            ));
        }
        warnings
    }
}

/// Groups of distinct texts with one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SameKeys {
    /// For each text the representative of its key; `None` if every text has a different key.
    pub first: Option<Vec<u32>>,
    /// Number of texts that are not representatives.
    pub repeated: u64,
    /// Number of keys with several texts.
    pub merged: u64,
}

impl SameKeys {
    /// Compares `count` distinct texts. `text` returns a text by number, and `find` the number of a
    /// text, if it is one of them. `mark` is the decimal mark. Stores only keys that differ from
    /// their text.
    pub fn of<'t>(
        count: usize,
        mark: DecimalMark,
        text: impl Fn(u32) -> Cow<'t, str>,
        find: impl Fn(&str) -> Option<u32>,
    ) -> SameKeys {
        // For each key that is not itself one of the texts, the first text that has it.
        let mut others: HashMap<String, u32, FixedState> = HashMap::default();
        let mut several: HashSet<u32, FixedState> = HashSet::default();
        let mut changes: Vec<(u32, u32)> = Vec::new();
        for number in 0..count as u32 {
            let own = text(number);
            let key = value_key_in(&own, mark);
            if key == own {
                continue;
            }
            let first = match find(&key) {
                Some(first) => first,
                None => *others.entry_ref(key.as_ref()).or_insert(number),
            };
            if first != number {
                several.insert(first);
                changes.push((number, first));
            }
        }
        let (repeated, merged) = (changes.len() as u64, several.len() as u64);
        let first = (repeated > 0).then(|| {
            let mut first: Vec<u32> = (0..count as u32).collect();
            changes.into_iter().for_each(|(number, other)| first[number as usize] = other);
            first
        });
        SameKeys { first, repeated, merged }
    }

    /// Compares the texts of a list, with this decimal mark.
    pub fn of_texts(texts: &[impl AsRef<str>], mark: DecimalMark) -> SameKeys {
        // The index is built only if a key differs from its text.
        let spelled: OnceCell<HashMap<&str, u32, FixedState>> = OnceCell::new();
        let find = |key: &str| {
            let numbered = || texts.iter().map(AsRef::as_ref).zip(0..).collect();
            spelled.get_or_init(numbered).get(key).copied()
        };
        let text = |number: u32| Cow::Borrowed(texts[number as usize].as_ref());
        SameKeys::of(texts.len(), mark, text, find)
    }
}

impl Spellings {
    /// Counts the texts that differ in spelling only, given their keys.
    pub fn of<'t>(same: &SameKeys, count: usize, text: impl Fn(u32) -> Cow<'t, str>) -> Spellings {
        Spellings { merged: same.merged, case: case_only(same, count, text) }
    }

    /// Counts the texts of a list that differ in spelling only, with this decimal mark.
    pub fn of_texts(texts: &[impl AsRef<str>], mark: DecimalMark) -> Spellings {
        let text = |number: u32| Cow::Borrowed(texts[number as usize].as_ref());
        Spellings::of(&SameKeys::of_texts(texts, mark), texts.len(), text)
    }
}

/// Number of keys that differ from another one in upper and lower case only.
fn case_only<'t>(same: &SameKeys, count: usize, text: impl Fn(u32) -> Cow<'t, str>) -> u64 {
    let is_representative =
        |number: &u32| same.first.as_ref().is_none_or(|first| first[*number as usize] == *number);
    // Two keys without capital letters differ in more than case, so only lower-case forms of keys
    // with capital letters are collected.
    let mut capitals: HashSet<u64, FixedState> = HashSet::default();
    for number in (0..count as u32).filter(is_representative) {
        let own = text(number);
        if own.chars().any(char::is_uppercase) && capitals.len() < MOST_CAPITALS {
            capitals.insert(hash(&value_key(&own).to_lowercase()));
        }
    }
    if capitals.is_empty() {
        return 0;
    }
    let mut spelled: HashMap<u64, u64, FixedState> = HashMap::default();
    for number in (0..count as u32).filter(is_representative) {
        let lower = hash(&value_key(&text(number)).to_lowercase());
        if capitals.contains(&lower) {
            *spelled.entry(lower).or_insert(0) += 1;
        }
    }
    spelled.values().map(|texts| texts - 1).sum()
}

fn hash(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_spellings_of_a_number_have_one_key() {
        for one in [
            "1",
            "01",
            "+1",
            "1.0",
            "1.",
            "1e0",
            "10e-1",
            "0.1E+1",
            " 1 ",
            "\u{a0}1\u{202f}",
            "\u{feff}001.000",
        ] {
            assert_eq!(value_key(one), "1", "{one:?}");
        }
        for zero in ["0", "-0", "0.0", "000", "0e7", "-.0"] {
            assert_eq!(value_key(zero), "0", "{zero:?}");
        }
        assert_eq!(
            (value_key("-01.50"), value_key(".050"), value_key("1e3")),
            ("-1.5".into(), "0.05".into(), "1000".into())
        );
        assert_eq!(value_key("1e999999999"), value_key("10E999999998"));
    }

    #[test]
    fn other_texts_are_their_own_keys_without_blanks_around() {
        let texts = [
            "",
            "flu",
            "1 2",
            "1,5",
            "--1",
            "+",
            ".",
            "e5",
            "1e",
            "1e1234567890",
            "0x10",
            "nan",
            "inf",
            "١",
            "1_000",
        ];
        for text in texts {
            assert_eq!(value_key(text), text);
            assert_eq!(value_key(&format!("\t{text}\u{3000}")), text);
        }
        assert_ne!(value_key("Flu"), value_key("flu"));
    }

    #[test]
    fn blanks_around_a_missing_text_are_ignored() {
        let missing = ["", "?", "-9"].map(str::to_owned);
        for text in ["", " ", "\u{a0}\u{200b}", "?", " ?", "?\t", "\u{feff}?", "-9", " -9.0"] {
            assert!(means_missing(text, &missing), "{text:?}");
            assert!(!means_missing(text, &[]), "{text:?}");
        }
        for text in ["??", "? ?", "9", "NA"] {
            assert!(!means_missing(text, &missing), "{text:?}");
        }
        assert!(!means_missing(" ", &missing[1..]));
    }

    #[test]
    fn digits_are_never_rounded() {
        let long = "1".repeat(60);
        assert_ne!(value_key(&long), value_key(&format!("{}2", "1".repeat(59))));
        assert_eq!(value_key(&format!("{long}.0")), value_key(&long));
        assert_ne!(value_key("12345678901234567890"), value_key("12345678901234567891"));
    }

    #[test]
    fn a_comma_is_a_decimal_mark_if_configured() {
        assert_eq!(value_key_in("1,0", DecimalMark::Comma), "1");
        assert_eq!(value_key_in(" 1.234,50", DecimalMark::Comma), "1234.5");
        assert_eq!(value_key_in("a,b", DecimalMark::Comma), "a,b");
        assert_eq!(value_key_in("1,0", DecimalMark::Point), "1,0");
    }

    /// The number in units of 10⁻¹², computed in another way.
    fn slow(text: &str) -> Option<i128> {
        let text = text.trim_matches([' ', '\u{a0}']);
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let sign = if mantissa.starts_with('-') { -1 } else { 1 };
        let mantissa = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (mut value, mut places, mut point, mut any) = (0i128, 0, false, false);
        for c in mantissa.chars() {
            match c.to_digit(10) {
                Some(digit) => {
                    (value, any) = (value * 10 + i128::from(digit), true);
                    places += i32::from(point);
                }
                None if c == '.' && !point => point = true,
                None => return None,
            }
        }
        any.then(|| sign * value * 10i128.pow((12 + power - places) as u32))
    }

    fn spelled() -> impl Strategy<Value = String> {
        let number = "[ \u{a0}]{0,2}[+-]?[0-9]{1,3}(\\.[0-9]{0,3})?([eE][+-]?[0-2])?[ \u{a0}]{0,2}";
        prop_oneof![number, "[ ]?(a|A|b)[ ]?", "[0-9.+-]{0,4}"]
    }

    proptest! {
        #[test]
        fn keys_agree_with_slow_arithmetic(texts in prop::collection::vec(spelled(), 2..30)) {
            for pair in texts.windows(2) {
                let same = match (slow(&pair[0]), slow(&pair[1])) {
                    (Some(a), Some(b)) => a == b,
                    (None, None) => pair[0].trim() == pair[1].trim(),
                    _ => false,
                };
                prop_assert_eq!(value_key(&pair[0]) == value_key(&pair[1]), same, "{:?}", pair);
            }
        }

        #[test]
        fn a_key_is_its_own_key(text in ".{0,12}") {
            let key = value_key(&text).into_owned();
            prop_assert_eq!(value_key(&key), key.as_str());
        }

        /// All texts of one key have one representative, which is one of them.
        #[test]
        fn texts_are_grouped_by_their_keys(
            texts in prop::collection::btree_set(spelled(), 1..30),
        ) {
            let texts: Vec<String> = texts.into_iter().rev().collect();
            let same = SameKeys::of_texts(&texts, DecimalMark::Point);
            let first = same.first.clone().unwrap_or_else(|| (0..texts.len() as u32).collect());
            let mut groups: std::collections::BTreeMap<String, Vec<usize>> = Default::default();
            for (at, text) in texts.iter().enumerate() {
                groups.entry(value_key(text).into_owned()).or_default().push(at);
            }
            for group in groups.values() {
                prop_assert!(group.iter().all(|&at| first[at] == first[group[0]]));
                prop_assert!(group.contains(&(first[group[0]] as usize)));
            }
            prop_assert_eq!(same.first.is_none(), groups.len() == texts.len());
            prop_assert_eq!(same.repeated, (texts.len() - groups.len()) as u64);
            let merged = groups.values().filter(|own| own.len() > 1).count() as u64;
            prop_assert_eq!(same.merged, merged);
            let lower: std::collections::BTreeSet<String> =
                groups.keys().map(|key| key.to_lowercase()).collect();
            let spellings = Spellings::of_texts(&texts, DecimalMark::Point);
            prop_assert_eq!(spellings.case, (groups.len() - lower.len()) as u64);
        }
    }
}
