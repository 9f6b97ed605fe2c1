//! What is this column to a release?
//!
//! A detector looks at one column, its name and its values, and answers with a role and the reason in a sentence, or with
//! nothing. A new detector is a file and a line in [`DETECTORS`]. The list is in order of precedence: the first detector
//! that is sure decides; if none is, the first that has an opinion. Whoever is in doubt chooses the role that protects: a
//! column that is generalized without need costs precision, one that is published without thought costs somebody else.

mod address;
mod care;
mod code;
mod constant;
mod counter;
mod dates;
mod demographic;
mod design;
mod email;
mod free_text;
mod health;
pub(crate) mod key;
mod medicine;
mod money;
mod national;
mod network;
mod person_name;
mod phone;
mod place;
pub(super) mod weight;
mod words;

use incrowd_core::calendar::{DateFormat, Sniffed};

use super::seen::Seen;
use crate::job::RoleName;

pub(crate) use code::why_code;
pub(crate) use demographic::is_age;
pub(crate) use place::{is_large_place, is_place, is_postal};

/// What a detector thinks of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) role: RoleName,
    pub(crate) sure: bool,
    pub(crate) reason: String,
}

impl Finding {
    fn sure(role: RoleName, reason: impl Into<String>) -> Option<Finding> {
        Some(Finding { role, sure: true, reason: reason.into() })
    }

    fn unsure(role: RoleName, reason: impl Into<String>) -> Option<Finding> {
        Some(Finding { role, sure: false, reason: reason.into() })
    }
}

/// Whether a text is a date of any kind, whatever the others of its column are.
pub(crate) fn is_date(text: &str) -> bool {
    DateFormat::sniff(std::iter::once(text)) != Sniffed::NoDates
}

type Detector = fn(&Seen<'_>) -> Option<Finding>;

/// All detectors, in order of precedence.
const DETECTORS: &[Detector] = &[
    constant::detect,
    email::detect,
    network::detect,
    national::detect,
    phone::detect,
    person_name::detect,
    address::detect,
    counter::detect,
    key::detect,
    free_text::detect,
    weight::detect,
    design::detect,
    care::detect,
    dates::detect,
    medicine::detect,
    health::detect,
    demographic::detect,
    place::detect,
    money::detect,
    words::detect,
];

/// The role of a column, with the reason.
pub(crate) fn role(column: &Seen<'_>) -> Finding {
    let mut doubtful = None;
    for detector in DETECTORS {
        match detector(column) {
            Some(finding) if finding.sure => return finding,
            Some(finding) => doubtful = doubtful.or(Some(finding)),
            None => {}
        }
    }
    doubtful.unwrap_or_else(|| Finding {
        role: RoleName::Quasi,
        sure: false,
        reason: "neither name nor values tell what it is, so it counts as something that could be linked"
            .into(),
    })
}

/// A sensitive column, unless it would itself single people out: sensitive values are published as they are.
fn sensitive(column: &Seen<'_>, what: &str) -> Option<Finding> {
    if column.uniqueness() > 0.1 {
        return Finding::unsure(
            RoleName::Quasi,
            format!(
                "{what}, but {:.0} % of the records have a value nobody else has: published as it is it would single \
                 people out, so it is generalized",
                100.0 * column.uniqueness()
            ),
        );
    }
    Finding::sure(RoleName::Sensitive, what)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::profile::seen::tests::with_column;

    /// The role of a column with that name and these cells, and whether it is sure.
    pub(super) fn judged(name: &str, cells: &[&str]) -> (RoleName, bool) {
        with_column(name, cells, |seen| {
            let finding = role(seen);
            (finding.role, finding.sure)
        })
    }

    #[test]
    fn no_reason_shows_a_cell() {
        let cells = ["ann@example.org", "bob@example.org", "carl@example.org"];
        let reason = with_column("x", &cells, |seen| role(seen).reason);
        assert!(!reason.contains("example"), "{reason}");
    }

    #[test]
    fn what_nobody_knows_is_protected() {
        assert_eq!(judged("zq", &["1", "2", "1", "2", "3", "3"]), (RoleName::Quasi, false));
    }
}
