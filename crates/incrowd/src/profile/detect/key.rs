//! Columns in which nearly every record, or every person, has a distinct value.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("key.txt")));

/// The reason given for an identifier of persons with several records.
pub(crate) const SEVERAL: &str = "records per value, so k records need not be k people";

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let named = column.named(NAMES.list("words"))
        || ["id", "nbr", "key"]
            .iter()
            .any(|end| column.squashed.len() > 4 && column.squashed.ends_with(end));
    let share = 100.0 * column.uniqueness();
    let coded = matches!(column.kind, ValueKind::Integer | ValueKind::Text);
    if named && coded && column.counts.distinct > 20 && column.variety() > 0.2 {
        let each = column.present() as f64 / column.counts.distinct as f64;
        let several = match each {
            e if e > 1.02 => format!("; it has {e:.1} {SEVERAL}"),
            _ => String::new(),
        };
        return Finding::sure(
            RoleName::Identifier,
            format!(
                "is named like a number of a person or a record, \
                 and {share:.0} % of records have one of their own{several}"
            ),
        );
    }
    (column.kind == ValueKind::Text && column.uniqueness() >= 0.95 && column.counts.distinct > 20)
        .then(|| {
            Finding::unsure(
                RoleName::Identifier,
                format!("nearly every record has a value of its own ({share:.0} % occur once)"),
            )
        })
        .flatten()
}
