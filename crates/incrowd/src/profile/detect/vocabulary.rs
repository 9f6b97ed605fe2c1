//! Values that identify the subject of a column regardless of its name: sexes, months, states,
//! countries, family.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

/// A list of values for each subject.
static SETS: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("vocabulary.txt")));

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
