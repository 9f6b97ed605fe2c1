//! Reading numbers and dates out of text.

use crate::calendar::{Date, DateFormat};

/// A number as written in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number that fits 64 bits.
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

/// Reads a finite decimal number; blanks around it are allowed, `nan`, `inf` and hexadecimal are not numbers.
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
    // -0.0 and 0.0 are one number to every reader of a table.
    Some(Number::Real(if x == 0.0 { 0.0 } else { x }))
}

/// Whether a column holding this text may be taken for numeric without being told. A leading zero (`02139`) marks a
/// code, not a quantity.
pub fn looks_numeric(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    let leading_zero = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    !leading_zero && parse_number(text).is_some()
}

/// Whether this text is a date as they are published.
pub fn looks_like_date(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() == 10 && b[4] == b'-' && b[7] == b'-' && parse_date(text).is_some()
}

/// `(hi - lo + step) / (max - min + step)`, also where a difference is greater than any number: −1.7e308 and 1.7e308 are both
/// numbers, what lies between them is none.
pub fn ratio((lo, hi): (f64, f64), (min, max): (f64, f64), step: f64) -> f64 {
    let whole = max - min + step;
    if whole.is_finite() {
        (hi - lo + step) / whole
    } else {
        (hi / 2.0 - lo / 2.0 + step / 2.0) / (max / 2.0 - min / 2.0 + step / 2.0)
    }
}

/// Reads a calendar date such as `2021-03-05` as days since 1970-01-01; a time of day after it is ignored.
pub fn parse_date(text: &str) -> Option<i32> {
    DateFormat::ISO.read(text).or_else(|| DateFormat::COMPACT.read(text)).map(Date::days)
}

/// The calendar date of a number of days since 1970-01-01; days beyond the calendar are its last or first.
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
    fn a_ratio_survives_a_range_that_is_no_number() {
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
