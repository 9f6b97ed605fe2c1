//! Values that identify the subject of a column regardless of its name: sexes, months, states,
//! countries, family.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

const SETS: &[(&str, &[&str])] = &[
    (
        "sexes",
        &[
            "male",
            "female",
            "m",
            "f",
            "w",
            "man",
            "woman",
            "männlich",
            "weiblich",
            "other",
            "diverse",
            "nonbinary",
        ],
    ),
    (
        "months",
        &[
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
            "jan",
            "feb",
            "mar",
            "apr",
            "jun",
            "jul",
            "aug",
            "sep",
            "oct",
            "nov",
            "dec",
        ],
    ),
    ("weekdays", &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]),
    (
        "race or origin",
        &[
            "white",
            "black",
            "asian",
            "hispanic",
            "caucasian",
            "african american",
            "africanamerican",
            "chinese",
            "japanese",
            "filipino",
            "american indian",
            "native american",
            "hawaiian",
            "latino",
            "mixed",
        ],
    ),
    (
        "family",
        &[
            "single",
            "married",
            "divorced",
            "widowed",
            "separated",
            "never married",
            "never-married",
            "husband",
            "wife",
            "unmarried",
            "own-child",
        ],
    ),
    (
        "states",
        &[
            "alabama",
            "alaska",
            "arizona",
            "arkansas",
            "california",
            "colorado",
            "connecticut",
            "delaware",
            "florida",
            "georgia",
            "hawaii",
            "idaho",
            "illinois",
            "indiana",
            "iowa",
            "kansas",
            "kentucky",
            "louisiana",
            "maine",
            "maryland",
            "massachusetts",
            "michigan",
            "minnesota",
            "mississippi",
            "missouri",
            "montana",
            "nebraska",
            "nevada",
            "new hampshire",
            "new jersey",
            "new mexico",
            "new york",
            "north carolina",
            "north dakota",
            "ohio",
            "oklahoma",
            "oregon",
            "pennsylvania",
            "rhode island",
            "south carolina",
            "south dakota",
            "tennessee",
            "texas",
            "utah",
            "vermont",
            "virginia",
            "washington",
            "west virginia",
            "wisconsin",
            "wyoming",
        ],
    ),
    (
        "countries",
        &[
            "united states",
            "usa",
            "canada",
            "mexico",
            "germany",
            "france",
            "spain",
            "italy",
            "portugal",
            "poland",
            "united kingdom",
            "uk",
            "england",
            "ireland",
            "netherlands",
            "belgium",
            "austria",
            "switzerland",
            "sweden",
            "norway",
            "denmark",
            "finland",
            "greece",
            "turkey",
            "russia",
            "ukraine",
            "china",
            "india",
            "japan",
            "philippines",
            "vietnam",
            "brazil",
            "argentina",
            "peru",
            "colombia",
            "cuba",
            "jamaica",
            "haiti",
            "egypt",
            "nigeria",
            "south africa",
            "australia",
        ],
    ),
];

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.kind != crate::profile::ValueKind::Text || column.values.len() < 2 {
        return None;
    }
    let share =
        |set: &[&str]| column.share(|value| set.contains(&value.trim().to_lowercase().as_str()));
    let (what, _) = SETS.iter().find(|(_, set)| share(set) >= 0.6)?;
    Finding::sure(
        RoleName::Quasi,
        format!("its values are words for {what}, which others know of a person"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn values_decide_where_names_do_not() {
        assert_eq!(judged("q17", &["Male", "Female", "Male"]), (RoleName::Quasi, true));
        assert_eq!(judged("q18", &["Ohio", "Texas", "Utah", "Ohio"]), (RoleName::Quasi, true));
        assert_eq!(judged("q19", &["yes", "no", "yes", "no"]), (RoleName::Quasi, false));
    }
}
