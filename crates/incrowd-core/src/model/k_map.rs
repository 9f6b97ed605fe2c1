//! k-map.
//!
//! Paper: `sweeney2001`, the definition of k-map protection. The cells of every released record
//! cover at least k people of a population, of which the table is a sample.
//!
//! Without a population table but with sampling weights, the number of people of a group is
//! estimated as the sum of its weights.
//!
//! Where we differ: people are counted by evaluating the published cells, so a value that occurs
//! only in the population counts if a cell covers it.

use super::{BoundModel, Card, Model, Need, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::group::GroupSummary;
use crate::represented::MILLIONTHS;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "k-map",
    paper: "sweeney2001",
    guarantee: "\
        The published cells of every record cover at least k people of the population table, so \
        linking with it leads to at least k people, never to one.",
    limits: "\
        It protects only against an adversary who does not know who is in the sample. An \
        adversary who does finds a record that is the only one of its group, so combine it with \
        k-anonymity if possible. It depends on the population table: if the table lacks people, \
        the guarantee is stronger than stated; if it lists people the sample cannot contain, the \
        guarantee is weaker. Estimated by sampling weights, it holds on average and not for every \
        group. It does not protect sensitive values.",
    params: &[Param::count("k", 1)
        .about("the least number of people of the population that the cells cover")],
    variants: &[],
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
        match data.has_sampling_weights() && data.population().is_none() {
            true => Ok(Box::new(Estimated { k: self.k })),
            false => Ok(Box::new(*self)),
        }
    }

    fn weighs(&self) -> bool {
        true
    }
}

/// k-map with an estimated population: the number of people of a group is the sum of the sampling
/// weights of its records.
#[derive(Clone, Copy, Debug)]
struct Estimated {
    k: u64,
}

impl BoundModel for Estimated {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let holds = group.records == 0
            || u128::from(group.represented) >= u128::from(self.k) * u128::from(MILLIONTHS);
        let have = if group.records == 0 {
            self.k as f64
        } else {
            group.represented as f64 / MILLIONTHS as f64
        };
        Verdict::at_least(
            "fewest people of a group, estimated by sampling weights,",
            have,
            self.k as f64,
            holds,
        )
    }
}

impl BoundModel for KMap {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        // A summary without records describes people that no cell covers; nothing links to them.
        let holds = group.records == 0 || group.population >= self.k;
        let have = if group.records == 0 { self.k } else { group.population };
        Verdict::at_least("fewest people covered by a record", have as f64, self.k as f64, holds)
    }
}
