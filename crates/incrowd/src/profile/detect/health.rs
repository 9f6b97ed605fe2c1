//! Health and other specially protected data: belief, politics, sexuality, crime, heredity.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding, sensitive};

static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("health.txt")));

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.name_has(NAMES.list("parts"))
        || column.named(NAMES.list("words"))
        || column.words.iter().any(|w| is_diagnosis(w))
    {
        return sensitive(column, "is about health");
    }
    let other = column.name_has(NAMES.list("parts of other subjects"))
        || column.named(NAMES.list("words of other subjects"));
    other.then(|| sensitive(column, "is about belief, politics, sexuality, crime or heredity"))?
}

/// `diag1`, `dx2`, `icd9`
fn is_diagnosis(word: &str) -> bool {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.len() < word.len() && ["diag", "dx", "icd"].contains(&stem)
}
