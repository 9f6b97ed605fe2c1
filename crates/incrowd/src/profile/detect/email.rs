//! E-mail addresses.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

fn is_email(text: &str) -> bool {
    let Some((person, domain)) = text.trim().rsplit_once('@') else { return false };
    let letters = |c: char| c.is_alphanumeric() || "-.".contains(c);
    !person.is_empty()
        && !person.contains(char::is_whitespace)
        && domain.chars().all(letters)
        && domain
            .rsplit_once('.')
            .is_some_and(|(name, end)| !name.is_empty() && end.chars().count() >= 2)
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.share(is_email) >= 0.5 {
        return Finding::sure(RoleName::Identifier, "holds e-mail addresses");
    }
    (column.name_has(&["email", "mailaddress"]) && column.counts.distinct > 2).then(|| Finding {
        role: RoleName::Identifier,
        sure: true,
        reason: "is named like an e-mail address".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_person_and_a_domain() {
        for good in ["ann@example.org", "a.b+c@mail.example.co.uk"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["@example.org", "ann@", "ann@example", "meet @ ten.to", "ann b@example.org", ""]
        {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
