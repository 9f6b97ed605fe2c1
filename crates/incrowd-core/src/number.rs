//! Parsing of numbers and dates.

use crate::calendar::{Date, DateFormat};
use crate::value_key::value_key;

/// A number of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer that fits into 64 bits.
    Integer(i64),
    /// Any other finite number.
    Real(f64),
}

impl Number {
    /// The number as a float.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Integer(n) => n as f64,
            Number::Real(x) => x,
        }
    }
}

/// Parses a finite decimal number. Blanks around it are allowed; `nan`, `inf` and hexadecimal
/// numbers are not.
pub fn parse_number(text: &str) -> Option<Number> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(n) = text.parse::<i64>() {
        return Some(Number::Integer(n));
    }
    let x = text.parse::<f64>().ok().filter(|x| x.is_finite())?;
    // -0.0 and 0.0 are the same number.
    Some(Number::Real(if x == 0.0 { 0.0 } else { x }))
}

/// Whether a column with this text may be detected as numeric: the text is a
/// [quantity](is_quantity) and can be represented [exactly](is_exact).
pub fn looks_numeric(text: &str) -> bool {
    is_quantity(text) && is_exact(text)
}

/// Whether this text is a number. A leading zero (`02139`) marks a code, not a quantity.
pub fn is_quantity(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    let leading_zero =
        digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    !leading_zero && parse_number(text).is_some()
}

/// Whether a number is represented exactly: the shortest decimal text of its float is the number
/// itself. `9007199254740993` and numbers of twenty digits are not: two of them may become equal.
pub fn is_exact(text: &str) -> bool {
    // Up to 15 digits are always exact, and so are integers up to 2^53.
    const SAFE: usize = 15;
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    match parse_number(text) {
        None => false,
        Some(Number::Integer(n)) if n.unsigned_abs() <= 1 << 53 => true,
        Some(Number::Real(_)) if digits <= SAFE && !text.contains(['e', 'E']) => true,
        Some(number) => value_key(&number.as_f64().to_string()) == value_key(text),
    }
}

/// Whether a number is the text of a float with 17 significant digits, as C's `%.17g` prints it:
/// `0.10000000000000001` is the float of `0.1`. Every float has one such text.
fn is_printed_float(text: &str) -> bool {
    let number = parse_number(text).map(|number| format!("{:.16e}", number.as_f64()));
    number.is_some_and(|printed| value_key(&printed) == value_key(text))
}

/// Whether this is a number that computations would change: it is neither [exact](is_exact) nor the
/// text of a float with 17 significant digits.
pub fn is_rounded(text: &str) -> bool {
    parse_number(text).is_some() && !is_exact(text) && !is_printed_float(text)
}

/// The position of the first number that computations would change or merge with another number of
/// the list. `0.1` and `0.10000000000000001` are one float, so a list with both is not exact.
pub fn first_inexact(texts: &[impl AsRef<str>]) -> Option<usize> {
    let texts = || texts.iter().map(AsRef::as_ref);
    if texts().all(is_exact) {
        return None;
    }
    let mut numbers = hashbrown::HashMap::new();
    texts().position(|text| {
        let Some(number) = parse_number(text).filter(|_| !is_rounded(text)) else { return true };
        let key = value_key(text);
        *numbers.entry(number.as_f64().to_bits()).or_insert_with(|| key.clone()) != key
    })
}

/// Whether this text is a date in the published format.
pub fn looks_like_date(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() == 10 && b[4] == b'-' && b[7] == b'-' && parse_date(text).is_some()
}

/// `(hi - lo + step) / (max - min + step)`, without overflow: the difference of −1.7e308 and
/// 1.7e308 is not a finite float, so all terms are halved.
pub fn ratio((lo, hi): (f64, f64), (min, max): (f64, f64), step: f64) -> f64 {
    let whole = max - min + step;
    if whole.is_finite() {
        (hi - lo + step) / whole
    } else {
        (hi / 2.0 - lo / 2.0 + step / 2.0) / (max / 2.0 - min / 2.0 + step / 2.0)
    }
}

/// Parses a calendar date such as `2021-03-05` as days since 1970-01-01. A time of day after it is
/// ignored.
pub fn parse_date(text: &str) -> Option<i32> {
    DateFormat::ISO.read(text).or_else(|| DateFormat::COMPACT.read(text)).map(Date::days)
}

/// The calendar date of a number of days since 1970-01-01, clamped to the years 0 to 9999.
pub fn date_of(days: i32) -> Date {
    Date::of_days(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_decimals() {
        assert_eq!(parse_number(" 39"), Some(Number::Integer(39)));
        assert_eq!(parse_number("-0.0"), Some(Number::Real(0.0)));
        assert_eq!(parse_number("1e3"), Some(Number::Real(1000.0)));
        for text in ["", "?", "nan", "inf", "0x10", "1,000", "1e999", "--1"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
        assert!(looks_numeric("0.5") && looks_numeric("0") && !looks_numeric("02139"));
    }

    #[test]
    fn a_number_is_exact_if_no_digit_is_lost() {
        for exact in [
            "9007199254740992",
            "-9007199254740992",
            "0.1",
            "1e300",
            "123456.789",
            "1700000000000000000",
            "1.50",
            "1e23",
        ] {
            assert!(is_exact(exact), "{exact}");
        }
        for rounded in [
            "9007199254740993",
            "-9007199254740993",
            "12345678901234567890",
            "18446744073709551615",
            "0.1000000000000000055511151231257827",
            "3.14159265358979323846",
            "1e-400",
        ] {
            assert!(!is_exact(rounded) && !looks_numeric(rounded), "{rounded}");
        }
        assert!(is_quantity("12345678901234567890"));
    }

    #[test]
    fn floats_with_17_digits_are_numbers_unless_two_texts_are_one_float() {
        let printed = ["0.10000000000000001", "0.69999999999999996", "4321.1000000000004", "3"];
        assert_eq!(first_inexact(&printed), None);
        assert!(printed[..3].iter().all(|text| !is_exact(text) && !is_rounded(text)));
        assert_eq!(first_inexact(&["0.1", "0.2", "0.10000000000000001"]), Some(2));
        assert_eq!(first_inexact(&["0.10000000000000001", "0.100000000000000010"]), None);
        for rounded in ["0.100000000000000012", "9007199254740993", "12345678901234567890"] {
            assert!(is_rounded(rounded), "{rounded}");
            assert_eq!(first_inexact(&["1", rounded]), Some(1));
        }
        assert!(!is_rounded("flu") && !is_rounded("0.1"));
    }

    #[test]
    fn a_ratio_does_not_overflow() {
        let (least, most) = (-1.7e308, 1.7e308);
        assert_eq!(ratio((least, most), (least, most), 0.0), 1.0);
        assert_eq!(ratio((0.0, most), (least, most), 0.0), 0.5);
        assert_eq!(ratio((2.0, 3.0), (0.0, 10.0), 1.0), 2.0 / 11.0);
    }

    #[test]
    fn dates_count_days() {
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_date("1969-12-31"), Some(-1));
        assert_eq!(parse_date("2021-02-30"), None);
        assert_eq!(date_of(i32::MAX).to_string(), "9999-12-31");
        assert_eq!(date_of(i32::MIN).to_string(), "0000-01-01");
        assert_eq!(date_of(parse_date("2024-02-29").unwrap()).to_string(), "2024-02-29");
        assert!(looks_like_date("2021-03-05") && !looks_like_date("20210305"));
    }
}
