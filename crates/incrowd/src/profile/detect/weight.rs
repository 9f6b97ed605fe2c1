//! Survey weights: the number of people that a record represents. They contain nothing about a
//! person, but they are nearly unique, so they can be linked to the public file they came from.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

/// The beginning of the reason.
pub(crate) const SURVEY: &str = "looks like a survey weight";

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let (low, high) = column.range?;
    if low < 0.0 || column.counts.distinct < 20 {
        return None;
    }
    let surely = column.name_has(&[
        "wgt",
        "sampweight",
        "samplingweight",
        "surveyweight",
        "finalweight",
        "repwt",
    ]) || column.named(&[
        "wt", "wts", "perwt", "hhwt", "wtss", "wtssall", "wtssnr", "wtssps", "asecwt", "wtint2yr",
        "wtmec2yr",
    ]);
    // Between 1 and 400 a weight may be a body weight.
    let perhaps =
        column.named(&["weight", "weights", "gewicht", "poids"]) && (low <= 0.5 || high > 400.0);
    (surely || perhaps).then(|| {
        Finding::sure(
            RoleName::Drop,
            format!("{SURVEY}: the number of people that a record represents, and nearly unique"),
        )
    })?
}
