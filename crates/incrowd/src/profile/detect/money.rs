//! Income, property and debts.

use super::{ColumnFacts, Finding, sensitive};

const PARTS: &[&str] = &[
    "income",
    "salary",
    "wage",
    "earning",
    "dividend",
    "interestincome",
    "stipend",
    "allowance",
    "rinc",
    "coninc",
    "conrinc",
    "realinc",
    "realrinc",
    "wagp",
    "semp",
    "intp",
    "retp",
    "ssip",
    "pernp",
    "hincp",
    "fincp",
    "gehalt",
    "einkommen",
    "salaire",
    "revenu",
    "ingreso",
    "capitalgain",
    "capitalloss",
    "pension",
    "poverty",
    "povpip",
    "pincp",
    "taxinc",
    "fedtax",
    "statetax",
    "fica",
    "agi",
    "wsalval",
    "ernval",
    "pearnval",
    "ptotval",
    "pothval",
    "intval",
    "emcontrb",
];
const WORDS: &[&str] = &[
    "inc",
    "tax",
    "debt",
    "credit",
    "loan",
    "rent",
    "price",
    "asset",
    "assets",
    "balance",
    "wealth",
    "bonus",
    "benefit",
    "benefits",
    "pay",
    "revenue",
    "spending",
    "expenditure",
    "cost",
    "charges",
    "amount",
    "div",
    "dividends",
    "wage",
    "wages",
    "lohn",
    "sueldo",
];

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let part = |part: &&str| {
        if part.len() < 5 { column.squashed == **part } else { column.squashed.contains(*part) }
    };
    (PARTS.iter().any(part) || column.named(WORDS)).then(|| sensitive(column, "is about money"))?
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
