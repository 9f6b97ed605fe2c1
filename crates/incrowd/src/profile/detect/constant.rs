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

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn one_value_for_all_is_dropped() {
        assert_eq!(judged("examide", &["No", "No", "No"]), (RoleName::Drop, true));
        assert_eq!(judged("age", &["", ""]), (RoleName::Drop, true));
        assert_ne!(judged("age", &["3", ""]).0, RoleName::Drop);
    }
}
