//! Income, property and debts.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding, sensitive};

static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("money.txt")));

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let part = |part: &&str| {
        if part.len() < 5 { column.squashed == **part } else { column.squashed.contains(*part) }
    };
    (NAMES.list("parts").iter().any(part) || column.named(NAMES.list("words")))
        .then(|| sensitive(column, "is about money"))?
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn money_is_sensitive_unless_it_singles_out() {
        let cells = ["1000", "2000", "1000", "2000"];
        for name in [
            "income",
            "salary-class",
            "capital-gain",
            "PINCP_DECILE",
            "wages",
            "WAGP",
            "dividends_2021",
            "Dividendenertrag",
            "realrinc",
            "Gehalt",
            "net_wage",
        ] {
            assert_eq!(judged(name, &cells), (RoleName::Sensitive, true), "{name}");
        }
        assert_eq!(judged("FICA", &["1000", "2001", "3007", "4003"]), (RoleName::Quasi, false));
        assert_eq!(judged("magic", &cells).0, RoleName::Quasi);
    }
}
