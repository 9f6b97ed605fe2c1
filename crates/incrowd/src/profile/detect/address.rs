//! Postal addresses.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let named = column.named(&["address", "addr", "street", "strasse", "straße", "adresse"])
        || column.name_has(&["streetaddress", "homeaddress", "addressline"]);
    (named && column.kind == crate::profile::ValueKind::Text && column.counts.distinct > 2)
        .then(|| Finding::sure(RoleName::Identifier, "is named like a postal address"))
        .flatten()
}
