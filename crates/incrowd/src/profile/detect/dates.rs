//! Dates. Somebody always knows when something happened.

use super::{Finding, Seen};
use crate::job::RoleName;
use crate::profile::ValueKind;

/// Whether a text is a date with the day or the month first, such as `05/03/2021` or `5.3.2021`.
pub(crate) fn day_first(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split(['/', '.', '-']).collect();
    let [a, b, year] = parts[..] else { return false };
    let number =
        |part: &str| part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<u32>().ok()).flatten();
    let (Some(a), Some(b), Some(y)) = (number(a), number(b), number(year)) else { return false };
    let year_fits = year.len() == 4 && (1800..2200).contains(&y);
    year_fits && (1..=31).contains(&a) && (1..=31).contains(&b) && (a <= 12 || b <= 12)
}

pub(super) fn detect(column: &Seen<'_>) -> Option<Finding> {
    let birth = column.named(&["birth", "born", "dob", "birthday", "birthdate", "yob", "geburt"])
        || column.name_has(&["birth", "dateofb", "geburt"]);
    if column.kind == ValueKind::Date || column.share(day_first) >= 0.8 {
        let what = if birth {
            "holds dates of birth, the classic link to other registers"
        } else {
            "holds dates, and somebody knows when it was"
        };
        return Finding::sure(RoleName::Quasi, what);
    }
    if birth {
        return Finding::sure(RoleName::Quasi, "is about birth, which other registers know too");
    }
    let year = column.kind == ValueKind::Integer
        && column.range.is_some_and(|(low, high)| low >= 1850.0 && high <= 2150.0);
    let named =
        column.named(&["year", "month", "day", "date", "time", "yr", "jahr"]) || column.name_has(&["death"]);
    if named {
        return Finding::sure(
            RoleName::Quasi,
            "tells when something happened, and somebody knows when it was",
        );
    }
    year.then(|| Finding::unsure(RoleName::Quasi, "its values look like years"))?
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;

    #[test]
    fn dates_come_in_several_orders() {
        assert!(day_first("05/03/2021") && day_first("5.3.2021") && day_first("12/31/1999"));
        assert!(
            !day_first("2021-03-05")
                && !day_first("45/45/2021")
                && !day_first("1.2.3")
                && !day_first("x/y/2000")
        );
        assert_eq!(judged("x", &["2021-03-05", "2021-03-06"]), (RoleName::Quasi, true));
        assert_eq!(judged("x", &["1960", "1970", "1960"]), (RoleName::Quasi, false));
    }
}
