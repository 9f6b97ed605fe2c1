//! k-anonymity.
//!
//! Paper: `sweeney2002`, Definition 3 as printed there; `samarati2001` for the idea. Every
//! combination of quasi-identifier cells that occurs in the release belongs to at least k records.
//!
//! Where we differ: suppressed records form no group. If the table has a person column, a group has
//! at least k different persons; otherwise a record counts as a person. `dominance` bounds the
//! share of a group's records that belong to one person. It survives merging: if the share is at
//! most d in two groups, it is at most d in their union.

use super::unit::Unit;
use super::{BoundModel, Card, Model, Need, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "k-anonymity",
    paper: "sweeney2002",
    guarantee: "\
        Every combination of published quasi-identifier cells belongs to at least k records, so \
        linking on them leads to at least k candidates, never to one.",
    limits: "\
        It does not protect sensitive values: a group whose members all have the same disease is \
        k-anonymous and still discloses the disease. Without `[input] person` it counts records, \
        and k records of one person are not k people; with it, an adversary who knows several \
        records of one person may still find fewer than k (see the attack `persons`). It depends \
        on the choice of quasi-identifiers: a linkable column that is not one of them removes the \
        protection.",
    params: &[
        Param::count("k", 1).about("the least number of records, or persons, of a group"),
        Param::number("dominance", 0.0, 1.0)
            .optional()
            .about("the greatest share of a group's records that belong to one person"),
    ],
    variants: &[],
    needs: &[Need::Records],
    survives: Survives { merging: true, overlapping: true, suppressing: true },
    make: |params| {
        let dominance = params.optional_number("dominance");
        Ok(Box::new(KAnonymity { k: params.count("k"), dominance }))
    },
};

/// k-anonymity: at least k records in every group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KAnonymity {
    k: u64,
    dominance: Option<f64>,
}

impl KAnonymity {
    /// Groups of at least `k` records, `k` at least 1.
    pub fn new(k: u64) -> Result<Self> {
        if k == 0 {
            Err(Error::job("k must be at least 1"))
        } else {
            Ok(KAnonymity { k, dominance: None })
        }
    }
}

impl Model for KAnonymity {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        Ok(Box::new(BoundKAnonymity { k: self.k, dominance: self.dominance, unit: Unit::of(data) }))
    }
}

#[derive(Debug)]
struct BoundKAnonymity {
    k: u64,
    dominance: Option<f64>,
    unit: Unit,
}

impl BoundModel for BoundKAnonymity {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let size = self.unit.smallest_group(group, self.k);
        let Some(most) = self.dominance else { return size };
        let own = self.unit.of_group(group).map_or(1, |(persons, own)| persons.most_records(own));
        let (own, records) = (own.min(group.records), group.records.max(1));
        let holds = Decimal::of(most).at_most(own.into(), records.into());
        let share = own as f64 / records as f64;
        size.and(Verdict::at_most("greatest share of one person's records", share, most, holds))
    }

    fn least_records(&self) -> Option<u64> {
        (self.dominance.is_none() && self.unit.persons().is_none()).then_some(self.k)
    }

    fn least_persons(&self) -> Option<u64> {
        (self.dominance.is_none() && self.unit.persons().is_some()).then_some(self.k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_from_k_records_on() {
        KAnonymity::new(3).unwrap();
        let model = BoundKAnonymity { k: 3, dominance: None, unit: Unit::of_records() };
        for (records, holds) in [(0, false), (2, false), (3, true), (9, true)] {
            assert_eq!(
                model.admits(&GroupSummary { records, ..GroupSummary::default() }).holds,
                holds
            );
        }
        assert!(KAnonymity::new(0).is_err());
    }
}
