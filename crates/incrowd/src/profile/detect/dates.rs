//! Dates. Other people may know when something happened.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let birth = column.named(&["birth", "born", "dob", "birthday", "birthdate", "yob", "geburt"])
        || column.name_has(&["birth", "dateofb", "geburt"]);
    if column.kind == ValueKind::Date {
        let what = if birth {
            "holds dates of birth, the classic link to other registers"
        } else {
            "holds dates, which other people may know"
        };
        return Finding::sure(RoleName::Quasi, what);
    }
    if birth {
        return Finding::sure(RoleName::Quasi, "is about birth, which other registers know too");
    }
    let year = column.kind == ValueKind::Integer
        && column.range.is_some_and(|(low, high)| low >= 1850.0 && high <= 2150.0);
    let named = column.named(&["year", "month", "day", "date", "time", "yr", "jahr"])
        || column.name_has(&["death"]);
    if named {
        return Finding::sure(
            RoleName::Quasi,
            "is about the time of an event, which other people may know",
        );
    }
    year.then(|| Finding::unsure(RoleName::Quasi, "its values look like years"))?
}
