//! Places of residence.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("place.txt")));

/// Returns whether the column is a place, by its name.
pub(crate) fn is_place(column: &ColumnFacts<'_>) -> bool {
    column.name_has(NAMES.list("parts")) || column.named(NAMES.list("words"))
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
