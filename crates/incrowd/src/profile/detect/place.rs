//! Places of residence.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

const PARTS: &[&str] = &[
    "zipcode",
    "postal",
    "postcode",
    "county",
    "country",
    "province",
    "region",
    "district",
    "municipal",
    "latitude",
    "longitude",
    "blkgroup",
    "blockgroup",
    "neighbo",
    "statenum",
    "statefip",
    "puma",
    "location",
    "residence",
    "density",
];
const WORDS: &[&str] = &[
    "zip", "plz", "city", "town", "state", "tract", "block", "parish", "suburb", "village", "lat",
    "lon", "lng", "geo", "fips", "msa", "metro", "urban", "rural", "area", "kreis", "ort",
];

/// Returns whether the column is a place, by its name.
pub(crate) fn is_place(column: &ColumnFacts<'_>) -> bool {
    column.name_has(PARTS) || column.named(WORDS)
}

/// Returns whether the column is a postal code, by its name.
pub(crate) fn is_postal(column: &ColumnFacts<'_>) -> bool {
    column.name_has(&["zipcode", "postal", "postcode"]) || column.named(&["zip", "plz"])
}

/// Returns whether the places are states, countries or larger, by the column's name.
pub(crate) fn is_large_place(column: &ColumnFacts<'_>) -> bool {
    column.name_has(&["country", "state", "region", "density"])
        || column.named(&["state", "urban", "rural", "metro", "division", "st"])
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    is_place(column).then(|| {
        Finding::sure(RoleName::Quasi, "is about a place, which others know of a person")
    })?
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn places_can_be_linked() {
        for name in
            ["zip", "ZIPCODE", "native-country", "TRACT", "PUMA", "economic_region", "istatenum"]
        {
            assert_eq!(judged(name, &["1", "2", "1", "2"]), (RoleName::Quasi, true), "{name}");
        }
    }
}
