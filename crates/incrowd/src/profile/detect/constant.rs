//! Columns with the same value in every record.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    match (column.counts.distinct, column.counts.missing) {
        (0, _) => Finding::sure(RoleName::Drop, "no record has a value"),
        (1, 0) => Finding::sure(RoleName::Drop, "the same in every record"),
        _ => None,
    }
}
