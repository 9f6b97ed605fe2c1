//! Columns that only number the records.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.kind != ValueKind::Integer {
        return None;
    }
    let (low, high) = column.range?;
    let dense = high - low + 1.0 <= 1.2 * column.counts.distinct as f64;
    if dense && column.uniqueness() > 0.99 && column.counts.distinct > 10 {
        return Finding::sure(
            RoleName::Identifier,
            "numbers the records, so it can be linked to the original table",
        );
    }
    let named = column.named(&[
        "seq", "sequence", "index", "idx", "row", "rownum", "line", "counter", "person", "serialno",
    ]) || column.squashed.is_empty();
    (named && dense)
        .then(|| {
            Finding::unsure(
                RoleName::Drop,
                "looks like a counter, which reveals the order of the records",
            )
        })
        .flatten()
}
