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

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;

    #[test]
    fn dates_come_in_several_orders() {
        for cells in [
            ["2021-03-05", "2021-03-06"],
            ["12.09.1972", "1.2.2003"],
            ["09/12/1972", "12/31/1999"],
            ["2023-03-04T10:00:00Z", "2023-03-04T11:00:00Z"],
            ["05.04.2023 23:18", "06.04.2023 23:18"],
        ] {
            assert_eq!(judged("x", &cells), (RoleName::Quasi, true), "{cells:?}");
        }
        assert_eq!(judged("x", &["1960", "1970", "1960"]), (RoleName::Quasi, false));
    }
}
