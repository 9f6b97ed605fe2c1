//! Telephone numbers.

use super::{ColumnFacts, Finding, is_date};
use crate::job::RoleName;

/// Returns whether a text has seven to fifteen digits (the maximum of ITU E.164) with the
/// separators of telephone numbers.
fn is_phone(text: &str, marks_needed: bool) -> bool {
    let text = text.trim();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let marks = text.chars().filter(|c| "+()-. /".contains(*c)).count();
    let marked = text.starts_with(['+', '(']) || marks >= 2;
    (7..=15).contains(&digits)
        && digits + marks == text.chars().count()
        && (marked || !marks_needed)
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let named = column.named(&["phone", "tel", "telephone", "mobile", "cell", "fax", "handy"])
        || column.name_has(&["phone", "telefon"]);
    if named && column.share(|v| is_phone(v, false)) >= 0.5 {
        return Finding::sure(RoleName::Identifier, "holds telephone numbers");
    }
    let looks = column.share(|v| is_phone(v, true)) >= 0.9 && column.variety() > 0.5;
    if looks && column.kind == crate::profile::ValueKind::Text && column.share(dotted_date) < 0.5 {
        return Finding::unsure(
            RoleName::Identifier,
            "its values are written like telephone numbers",
        );
    }
    None
}

/// Returns whether a text is a date: 05.03.2021 and 05/03/2021 have the digits and separators of a
/// telephone number.
fn dotted_date(text: &str) -> bool {
    is_date(text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;

    #[test]
    fn telephone_numbers_are_distinguished_from_other_numbers() {
        for good in ["+49 30 1234567", "(212) 555-0123", "212-555-0123"] {
            assert!(is_phone(good, true), "{good}");
        }
        for bad in ["12-34", "13-1081", "hello", "", "1234567890123456"] {
            assert!(!is_phone(bad, true), "{bad}");
        }
        assert!(is_phone("2125550123", false) && !is_phone("2125550123", true));
        assert_eq!(
            judged("x", &["212-555-0123", "212-555-0124", "212-555-0125"]).0,
            RoleName::Identifier
        );
        assert_eq!(judged("x", &["05.03.2021", "06.03.2021", "07.03.2021"]).0, RoleName::Quasi);
    }
}
