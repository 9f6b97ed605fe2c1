//! k-map.
//!
//! Paper: `sweeney2001`, the definition of k-map protection. The cells of every released record cover at least k people of
//! a population, of which the table is a sample.
//!
//! Without a population table but with sampling weights, the people of a group are estimated as the sum of its weights.
//!
//! Where we differ: people are counted by reading the published cells, so a value that only the population has counts
//! where a cell covers it.

use super::{BoundModel, Card, Model, Need, Survives, Verdict};
use crate::card::{Param, ParamKind};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::group::GroupSummary;
use crate::represented::MILLIONTHS;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "k-map",
    paper: "sweeney2001",
    promise: "The published cells of every record cover at least k people of the population table, so linking with it \
              narrows a record down to k people, never to one.",
    limits: "It protects only against an adversary who does not know who is in the sample: to one who does, a record alone \
             in its group is found, so combine it with k-anonymity where that is possible. It is as good as the population \
             table: a table that lacks people promises too little, one that lists people the sample cannot contain promises \
             too much. Estimated by weights, it holds on average and not for every group. It says nothing about sensitive values.",
    params: &[Param {
        name: "k",
        kind: ParamKind::Count(1),
        default: None,
        about: "how many people of the population the cells cover at least",
    }],
    kinds: &[],
    needs: &[Need::Population],
    survives: Survives { merging: true, overlapping: true, suppressing: true },
    make: |params| Ok(Box::new(KMap { k: params.count("k") })),
};

#[derive(Clone, Copy, Debug)]
struct KMap {
    k: u64,
}

impl Model for KMap {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        match data.is_weighed() && data.population().is_none() {
            true => Ok(Box::new(Estimated { k: self.k })),
            false => Ok(Box::new(*self)),
        }
    }

    fn weighs(&self) -> bool {
        true
    }
}

/// The same where the population is estimated: the people of a group are the sum of the weights of its records.
#[derive(Clone, Copy, Debug)]
struct Estimated {
    k: u64,
}

impl BoundModel for Estimated {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let holds = group.records == 0
            || u128::from(group.represented) >= u128::from(self.k) * u128::from(MILLIONTHS);
        let have =
            if group.records == 0 { self.k as f64 } else { group.represented as f64 / MILLIONTHS as f64 };
        Verdict::at_least("fewest people a group stands for by its weights", have, self.k as f64, holds)
    }
}

impl BoundModel for KMap {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        // People whom no cell covers are nobody's candidates.
        let holds = group.records == 0 || group.population >= self.k;
        let have = if group.records == 0 { self.k } else { group.population };
        Verdict::at_least("fewest people covered by a record", have as f64, self.k as f64, holds)
    }
}
