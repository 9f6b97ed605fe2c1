//! δ-presence.
//!
//! Paper: `nergiz2007`, Definition 2 as printed there. For every person of a public population
//! table, the probability that the person is in the private table, given the release, is between
//! δ_min and δ_max. For every group this is the number of its records divided by the number of
//! people its cells cover.
//!
//! Where we differ: the paper generalizes the population together with the table, so groups are
//! disjoint. Here people are counted by evaluating the published cells; if cells overlap, each
//! group is judged separately. People that no cell covers are certainly absent, which violates any
//! δ_min above 0. Overlapping groups can cover the same people, so the model is not declared to
//! survive merging.

use super::unit::Unit;
use super::{BoundModel, Card, Model, Need, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "delta-presence",
    paper: "nergiz2007",
    guarantee: "\
        An adversary who finds a person of the population table in the release cannot tell \
        whether the person's record is in it: the probability is between delta_min and delta_max.",
    limits: "\
        It assumes that the population table contains everybody in the sample and that all people \
        a cell covers are equally likely to be in it. If published ranges overlap, a person \
        covered by two groups is judged in each separately. It does not protect sensitive values, \
        nor does it prevent that records are distinguished.",
    params: &[
        Param::number("delta_min", 0.0, 1.0)
            .or("0")
            .about("the least probability of being in the table"),
        Param::number("delta_max", 0.0, 1.0)
            .about("the greatest probability of being in the table"),
    ],
    variants: &[],
    needs: &[Need::Population],
    survives: Survives { merging: false, overlapping: false, suppressing: false },
    make: |params| {
        let (min, max) = (params.number("delta_min"), params.number("delta_max"));
        if min > max {
            return Err(Error::job(format!("delta_min = {min} is greater than delta_max = {max}"))
                .at("delta_min"));
        }
        Ok(Box::new(DeltaPresence { min, max }))
    },
};

#[derive(Clone, Copy, Debug)]
struct DeltaPresence {
    min: f64,
    max: f64,
}

impl Model for DeltaPresence {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        Ok(Box::new(BoundDeltaPresence { min: self.min, max: self.max, unit: Unit::of(data) }))
    }
}

#[derive(Debug)]
struct BoundDeltaPresence {
    min: f64,
    max: f64,
    unit: Unit,
}

impl BoundModel for BoundDeltaPresence {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (part, whole) = (u128::from(self.unit.size(group)), u128::from(group.population));
        if part == 0 && whole == 0 {
            return Verdict::at_most("greatest probability of presence", 0.0, self.max, true);
        }
        let have = if whole == 0 { f64::INFINITY } else { part as f64 / whole as f64 };
        let below = whole > 0 && Decimal::of(self.max).at_most(part, whole);
        let above = whole == 0 || Decimal::of(self.min).at_least(part, whole);
        let greatest = Verdict::at_most("greatest probability of presence", have, self.max, below);
        let least = Verdict::at_least("least probability of presence", have, self.min, above);
        if self.min == 0.0 { greatest } else { greatest.and(least) }
    }
}
