//! Protection against formula injection: cells that a spreadsheet program would execute as a
//! formula.
//!
//! A spreadsheet program evaluates a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage
//! return when it opens a text file. Such a formula may read or send data. An apostrophe before it
//! makes the program show the text. Some programs trim blanks and invisible characters first, and
//! some treat the wide forms `＝＋－＠` like the narrow ones, so these count too. Numbers are not
//! changed. A cell that begins with apostrophes followed by a formula gets one more apostrophe, so
//! that the original cell can be restored.

use incrowd_core::Folded;
use incrowd_core::number::is_quantity;
use incrowd_core::numerals::DecimalMark;

const MARK: u8 = b'\'';

/// Whether a program would execute a text as a formula, or whether it is a formula after
/// apostrophes. With a decimal comma, `-1,5` is a number and not a formula.
pub fn is_formula(text: &[u8], decimal: DecimalMark) -> bool {
    let marks = text.iter().take_while(|&&byte| byte == MARK).count();
    let text = &text[marks..];
    // Most cells begin with a letter or a digit. This check is the fast path.
    if text.first().is_none_or(u8::is_ascii_alphanumeric) {
        return false;
    }
    let text = String::from_utf8_lossy(text);
    let trimmed = text.trim_start_matches(is_trimmed);
    let begins = trimmed.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
        || text.starts_with(['\t', '\r']);
    let is_number = || {
        let has_comma = decimal == DecimalMark::Comma && trimmed.contains(',');
        let number = if has_comma { decimal.read(trimmed) } else { Some(trimmed.into()) };
        number.is_some_and(|number| is_quantity(&number))
    };
    begins && !is_number()
}

/// Whether a program may drop the character at the beginning of a cell: blanks of any kind, control
/// characters, the byte order mark, and characters of zero width.
fn is_trimmed(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The text with an apostrophe, if it is a formula.
pub fn harmless(text: &[u8], decimal: DecimalMark) -> std::borrow::Cow<'_, [u8]> {
    if is_formula(text, decimal) { [&[MARK], text].concat().into() } else { text.into() }
}

/// The text without the apostrophe, if it has one that [`harmless`] added.
fn original(text: &str, decimal: DecimalMark) -> Option<&str> {
    text.strip_prefix(MARK as char).filter(|rest| is_formula(rest.as_bytes(), decimal))
}

/// Removes the apostrophes before formulas from a table that was read back.
pub fn read_formulas(folded: &mut Folded) {
    let decimal = folded.decimal;
    for text in folded.columns.iter_mut().flat_map(|column| &mut column.texts) {
        if let Some(own) = original(text, decimal) {
            *text = own.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_texts_are_restored_and_are_no_formulas() {
        let begins = [
            "", "'", "''", "=", "+", "-", "@", "\t", "\r", " ", "\n", "\u{a0}", "\u{feff}",
            "\u{200b}", "＝", "a",
        ];
        let (point, comma) = (DecimalMark::Point, DecimalMark::Comma);
        for text in begins.iter().flat_map(|a| begins.iter().map(move |b| format!("{a}{b}1+1"))) {
            assert_eq!(harmless(text.as_bytes(), comma), harmless(text.as_bytes(), point));
            let written = String::from_utf8(harmless(text.as_bytes(), point).into_owned()).unwrap();
            assert_eq!(original(&written, point).unwrap_or(&written), text);
            assert!(!written.starts_with(['\t', '\r']), "{written}");
            let seen = written.trim_start_matches(is_trimmed);
            assert!(!seen.starts_with(['=', '+', '-', '@', '＝']), "{written:?}");
        }
        for number in ["-5", "+3.25", "-1e6", "17", "-0.5"] {
            assert_eq!(*harmless(number.as_bytes(), point), *number.as_bytes());
        }
        for number in ["-1,5", "+3,25", "-1.234,5", "-0,5"] {
            assert_eq!(*harmless(number.as_bytes(), comma), *number.as_bytes());
            assert!(is_formula(number.as_bytes(), point), "{number}");
        }
        assert_eq!(*harmless(b"=HYPERLINK(1)", comma), *b"'=HYPERLINK(1)");
        assert_eq!(*harmless(b"-1,5+A1", comma), *b"'-1,5+A1");
    }
}
