//! Detectors of the role of a column.
//!
//! A detector examines the name and the values of one column and returns a role with a reason, or
//! nothing. A new detector is a file and a line in [`DETECTORS`]. The list is in order of
//! precedence: the first detector that is sure decides; if none is, the first one with a result. An
//! unsure detector chooses a protective role: generalizing a column without need costs precision,
//! but publishing it unprotected harms people.

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
mod vocabulary;
pub(super) mod weight;

use incrowd_core::calendar::{DateFormat, Sniffed};

use super::column_facts::ColumnFacts;
use crate::job::RoleName;

pub(crate) use code::why_code;
pub(crate) use demographic::is_age;
pub(crate) use place::{is_large_place, is_place, is_postal};

/// The result of a detector.
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

/// Returns whether a text is a date in any format.
pub(crate) fn is_date(text: &str) -> bool {
    DateFormat::sniff(std::iter::once(text)) != Sniffed::NoDates
}

type Detector = fn(&ColumnFacts<'_>) -> Option<Finding>;

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
    vocabulary::detect,
];

/// Returns the role of a column, with the reason.
pub(crate) fn role(column: &ColumnFacts<'_>) -> Finding {
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
        reason: "neither name nor values show what it is, so it could be linked".into(),
    })
}

/// Returns the sensitive role, unless the column is nearly unique: sensitive values are published
/// unchanged.
fn sensitive(column: &ColumnFacts<'_>, what: &str) -> Option<Finding> {
    if column.uniqueness() > 0.1 {
        return Finding::unsure(
            RoleName::Quasi,
            format!(
                "{what}, but {:.0} % of the records have a unique value: published unchanged it \
                 would single people out, so it is generalized",
                100.0 * column.uniqueness()
            ),
        );
    }
    Finding::sure(RoleName::Sensitive, what)
}

#[cfg(test)]
pub(super) mod tests {
    use incrowd_core::lists::Lists;

    use super::*;
    use crate::profile::column_facts::tests::with_column;

    /// Returns the role of a column with that name and these cells, and whether it is sure.
    pub(super) fn judged(name: &str, cells: &[&str]) -> (RoleName, bool) {
        with_column(name, cells, |facts| {
            let finding = role(facts);
            (finding.role, finding.sure)
        })
    }

    #[test]
    fn no_reason_shows_a_cell() {
        let cells = ["ann@example.org", "bob@example.org", "carl@example.org"];
        let reason = with_column("x", &cells, |facts| role(facts).reason);
        assert!(!reason.contains("example"), "{reason}");
    }

    #[test]
    fn entries_of_lists_are_in_lower_case_and_occur_once() {
        for file in [
            include_str!("code.txt"),
            include_str!("demographic.txt"),
            include_str!("health.txt"),
            include_str!("key.txt"),
            include_str!("money.txt"),
            include_str!("person_name.txt"),
            include_str!("place.txt"),
            include_str!("vocabulary.txt"),
            include_str!("../markers.txt"),
        ] {
            for (title, list) in Lists::parse(file).iter() {
                for (i, entry) in list.iter().enumerate() {
                    let repeated = list[..i].contains(entry);
                    assert!(!repeated && *entry == entry.to_lowercase(), "[{title}] {entry}");
                }
            }
        }
    }

    #[test]
    fn unknown_columns_are_protected() {
        assert_eq!(judged("zq", &["1", "2", "1", "2", "3", "3"]), (RoleName::Quasi, false));
    }
}
