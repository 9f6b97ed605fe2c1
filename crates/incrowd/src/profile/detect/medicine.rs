//! Columns named after a medicine.
//!
//! International nonproprietary names are built from stems that indicate the kind of medicine, such
//! as `-statin` or `-formin`. The stems below are frequent ones of the World Health Organization's
//! list.

use std::sync::LazyLock;

use incrowd_core::lists::entries;

use super::{ColumnFacts, Finding, sensitive};

static ENDINGS: LazyLock<Vec<&str>> =
    LazyLock::new(|| entries(include_str!("medicine.txt")).collect());

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let long = |word: &&String| word.chars().count() >= 6;
    let is_medicine = |word: &String| {
        ENDINGS.iter().any(|end| word.ends_with(end)) || word.starts_with("insulin")
    };
    column
        .words
        .iter()
        .filter(long)
        .any(is_medicine)
        .then(|| sensitive(column, "is named after a medicine"))?
}
