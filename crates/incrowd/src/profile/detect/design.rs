//! Strata and clusters of survey designs.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    column.named(&["psu", "ssu", "stratum", "strata", "cluster"]).then(|| {
        Finding::unsure(
            RoleName::Drop,
            "looks like a group of the survey's design, which often follows small areas",
        )
    })?
}
