//! Circumstances of a treatment. Neighbours, employers and insurers know them, so they can be
//! linked.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let named = column.name_has(&[
        "admission",
        "discharge",
        "payer",
        "specialty",
        "speciality",
        "provider",
        "lengthofstay",
    ]) || column.squashed.contains("timeinhospital")
        || column.named(&["los", "ward", "clinic", "physician", "doctor"]);
    (named && column.kind != crate::profile::ValueKind::Date).then(|| {
        Finding::sure(
            RoleName::Quasi,
            "is about the circumstances of a treatment, which others than the patient know",
        )
    })?
}
