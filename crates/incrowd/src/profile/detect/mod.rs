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

    /// Columns by their names and cells, separated by `|`, with their roles and whether these are
    /// sure.
    #[test]
    fn names_and_cells_decide_about_roles() {
        use RoleName::{Drop, Identifier, Quasi, Sensitive};
        fn joined<T: ToString>(cells: impl Iterator<Item = T>) -> String {
            cells.map(|cell| cell.to_string()).collect::<Vec<_>>().join("|")
        }
        let times = |step: u32| joined((1..80).map(|i| i * step));
        let notes = joined((0..30).map(|i| format!("the patient came back after {i} days")));
        let answers =
            ["not in the labour force at all", "is working for pay or profit now"].repeat(20);
        for (names, cells, role, sure) in [
            // Addresses, counters and keys with many values identify.
            ("street_address", "1 High St|2 High St|1 Low Rd", Identifier, true),
            ("x", &*joined(100..160), Identifier, true),
            ("person", "1|2|3|1|2|3", Drop, false),
            ("x", "1|2|3|1|2|3", Quasi, false),
            ("patient_nbr", &*joined((0..60).map(|i| i * 7919 % 100_003)), Identifier, true),
            ("admission_type_id", "1|2|3|1|2|3|1|2", Quasi, true),
            ("x", &*joined((0..60).map(|i| format!("K{}", i * 7919 % 100_003))), Identifier, false),
            // Columns with one value, sentences, survey weights and clusters are not published.
            ("examide", "No|No|No", Drop, true),
            ("age", "|", Drop, true),
            ("age", "3|", Quasi, true),
            ("x", &*notes, Drop, true),
            ("x", &*answers.join("|"), Quasi, false),
            ("fnlwgt|weight", &*times(977), Drop, true),
            ("PWGTP|wtssall", &*times(2), Drop, true),
            ("weight", &*joined((0..80).map(|i| 50 + i % 40)), Quasi, true),
            ("PSU", "1|2|1|2", Drop, false),
            // Dates in several orders, circumstances, demographics and places can be linked.
            ("x", "2021-03-05|2021-03-06", Quasi, true),
            ("x", "12.09.1972|1.2.2003", Quasi, true),
            ("x", "09/12/1972|12/31/1999", Quasi, true),
            ("x", "2023-03-04T10:00:00Z|2023-03-04T11:00:00Z", Quasi, true),
            ("x", "05.04.2023 23:18|06.04.2023 23:18", Quasi, true),
            ("x", "1960|1970|1960", Quasi, false),
            ("time_in_hospital|medical_specialty|payer_code", "1|2|1|2", Quasi, true),
            ("age|AGEP|iage|isex|marital-status|hispanic_origin", "1|2|1|2", Quasi, true),
            ("RAC1P|irace|workclass|wrkstat|work_status|empstat", "1|2|1|2", Quasi, true),
            ("educ|highest_qualification|childs|n_children|sibs", "1|2|1|2", Quasi, true),
            ("mileage", "1|2|1|2", Quasi, false),
            ("zip|ZIPCODE|native-country|TRACT|PUMA", "1|2|1|2", Quasi, true),
            ("economic_region|istatenum", "1|2|1|2", Quasi, true),
            ("q17", "Male|Female|Male", Quasi, true),
            ("q18", "Ohio|Texas|Utah|Ohio", Quasi, true),
            ("q19", "yes|no|yes|no", Quasi, false),
            // Health and money are sensitive unless they single out.
            ("disease|diag_1|hosp_stay|DPHY|iinjury", "flu|cold|flu|cold", Sensitive, true),
            ("diabetesMed|A1Cresult|religion", "flu|cold|flu|cold", Sensitive, true),
            ("cholesterol", &*joined((0..40).map(|i| format!("{}.5", i * 3))), Quasi, false),
            ("metformin|rosiglitazone|atorvastatin", "No|Up|No|Up", Sensitive, true),
            ("glyburide-metformin|insulin|acarbose", "No|Up|No|Up", Sensitive, true),
            ("reason", "No|Up|No|Up", Quasi, false),
            ("income|salary-class|capital-gain|wages", "1000|2000|1000|2000", Sensitive, true),
            ("PINCP_DECILE|WAGP|dividends_2021", "1000|2000|1000|2000", Sensitive, true),
            ("Dividendenertrag|realrinc|Gehalt", "1000|2000|1000|2000", Sensitive, true),
            ("net_wage", "1000|2000|1000|2000", Sensitive, true),
            ("FICA", "1000|2001|3007|4003", Quasi, false),
            ("magic", "1000|2000|1000|2000", Quasi, false),
            // Unknown columns are protected.
            ("zq", "1|2|1|2|3|3", Quasi, false),
        ] {
            let split: Vec<&str> = cells.split('|').collect();
            for name in names.split('|') {
                assert_eq!(judged(name, &split), (role, sure), "{name}: {cells}");
            }
        }
    }
}
