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

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn addresses_identify() {
        let cells = ["1 High St", "2 High St", "1 Low Rd"];
        assert_eq!(judged("street_address", &cells), (RoleName::Identifier, true));
    }
}
