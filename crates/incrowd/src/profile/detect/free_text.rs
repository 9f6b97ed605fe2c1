//! Free text. It can contain anything about a person, and no hierarchy generalizes it.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.kind != ValueKind::Text || column.counts.distinct < 10 {
        return None;
    }
    let sentences = column.share(|text| text.split_whitespace().count() >= 5) >= 0.5;
    let named = column.named(&[
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "description",
        "text",
        "memo",
        "message",
    ]);
    if sentences && (column.variety() > 0.3 || named) {
        return Finding::sure(RoleName::Drop, "is free text, which can contain anything");
    }
    (named && column.variety() > 0.3)
        .then(|| {
            Finding::unsure(RoleName::Drop, "is named like free text, which can contain anything")
        })
        .flatten()
}
