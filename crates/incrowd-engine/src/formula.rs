//! Cells that a spreadsheet would take for a formula, and how they are written so that it does not.
//!
//! A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return is computed when a text file is opened, and may fetch or
//! send things then. With an apostrophe before it, it is shown as it is. Numbers are left alone. A cell that begins with
//! apostrophes and goes on like a formula gets one more, so that every cell can be told back.

use incrowd_core::Folded;
use incrowd_core::number::looks_numeric;

const MARK: u8 = b'\'';

/// Whether a text would be taken for a formula, or for one that was made harmless.
pub fn is_formula(text: &[u8]) -> bool {
    let marks = text.iter().take_while(|&&byte| byte == MARK).count();
    let text = &text[marks..];
    let begins = matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
    begins && !std::str::from_utf8(text).is_ok_and(looks_numeric)
}

/// The text as it is written.
pub(crate) fn harmless(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if is_formula(text) { [&[MARK], text].concat().into() } else { text.into() }
}

/// The text as it was before.
fn original(text: &str) -> Option<&str> {
    text.strip_prefix(MARK as char).filter(|rest| is_formula(rest.as_bytes()))
}

/// Takes the marks off what was read of a table that was written harmless.
pub fn read_formulas(folded: &mut Folded) {
    for text in folded.columns.iter_mut().flat_map(|column| &mut column.texts) {
        if let Some(own) = original(text) {
            *text = own.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_told_back_and_none_is_a_formula() {
        let begins = ["", "'", "''", "=", "+", "-", "@", "\t", "\r", " ", "a"];
        for text in begins.iter().flat_map(|a| begins.iter().map(move |b| format!("{a}{b}1+1"))) {
            let written = String::from_utf8(harmless(text.as_bytes()).into_owned()).unwrap();
            assert_eq!(original(&written).unwrap_or(&written), text);
            assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r']), "{written}");
        }
        for number in ["-5", "+3.25", "-1e6", "17", "-0.5"] {
            assert_eq!(*harmless(number.as_bytes()), *number.as_bytes());
        }
        assert_eq!(*harmless(b"=HYPERLINK(1)"), *b"'=HYPERLINK(1)");
    }
}
