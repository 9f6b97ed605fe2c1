//! k-anonymity.
//!
//! Paper: `sweeney2002`, Definition 3 as printed there; `samarati2001` for the idea. Every combination of
//! quasi-identifier cells that occurs in the release belongs to at least k records.
//!
//! Where we differ: suppressed records form no group, and a row counts as often as it was read, so a table with several
//! records per person needs k to be chosen accordingly.

use super::{BoundModel, Card, Model, Need, Survives, Verdict};
use crate::card::{Param, ParamKind};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "k-anonymity",
    paper: "sweeney2002",
    promise: "Every combination of published quasi-identifier cells belongs to at least k records, so linking on them \
              narrows a person down to k candidates, never to one.",
    limits: "It says nothing about sensitive values: a group whose members all share one disease is k-anonymous and \
             still gives the disease away. It counts records, so a person with several records is not k persons. It \
             trusts the choice of quasi-identifiers: a linkable column left out of them undoes the promise.",
    params: &[Param {
        name: "k",
        kind: ParamKind::Count(1),
        default: None,
        about: "how many records a group has at least",
    }],
    needs: &[Need::Records],
    survives: Survives { merging: true, suppressing: true },
    make: |params| Ok(Box::new(KAnonymity { k: params.count("k") })),
};

/// At least k records in every group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KAnonymity {
    k: u64,
}

impl KAnonymity {
    /// Groups of at least `k` records, `k` at least 1.
    pub fn new(k: u64) -> Result<Self> {
        if k == 0 { Err(Error::job("k must be at least 1")) } else { Ok(KAnonymity { k }) }
    }
}

impl Model for KAnonymity {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, _: &Dataset) -> Result<Box<dyn BoundModel>> {
        Ok(Box::new(*self))
    }
}

impl BoundModel for KAnonymity {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        smallest_group(group, self.k)
    }

    fn least_records(&self) -> Option<u64> {
        Some(self.k)
    }
}

/// At least k records, as other models ask for too.
pub(super) fn smallest_group(group: &GroupSummary, k: u64) -> Verdict {
    Verdict::at_least("smallest group", group.records as f64, k as f64, group.records >= k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_from_k_records_on() {
        let model = KAnonymity::new(3).unwrap();
        for (records, holds) in [(0, false), (2, false), (3, true), (9, true)] {
            assert_eq!(model.admits(&GroupSummary { records, ..GroupSummary::default() }).holds, holds);
        }
        assert!(KAnonymity::new(0).is_err());
    }
}
