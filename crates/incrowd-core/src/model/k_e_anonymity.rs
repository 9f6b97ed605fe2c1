//! (k,e)-anonymity, for numeric sensitive values.
//!
//! Paper: `zhang2007`, the definition of (k,e)-anonymity. Every group has at least k different values of the sensitive
//! column, and its greatest value is at least e above its least.
//!
//! Where we differ: the difference is rounded down, so that e is never reached by rounding alone.

use super::l_diversity::fewest_values;
use super::watched::Watched;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, ParamKind};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "k-e-anonymity",
    paper: "zhang2007",
    promise: "Every group has at least k different numbers in the sensitive column, the greatest at least e above the \
              least, so a person's number is not known more closely than within e.",
    limits: "It looks at the extremes only: ninety-nine salaries between 3000 and 3100 and one of 90000 span 87000 and give \
             the ninety-nine away. `epsilon-m-anonymity` is the answer to that.",
    params: &[
        Param {
            name: "k",
            kind: ParamKind::Count(1),
            default: None,
            about: "how many different numbers at least",
        },
        Param {
            name: "e",
            kind: ParamKind::Number(0.0, f64::MAX),
            default: None,
            about: "how far the greatest number is above the least, in the column's own unit (days for dates)",
        },
        ON,
    ],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, suppressing: true },
    make: |params| {
        Ok(Box::new(KE { k: params.count("k"), e: params.number("e"), on: params.word("on").to_owned() }))
    },
};

#[derive(Debug)]
struct KE {
    k: u64,
    e: f64,
    on: String,
}

impl Model for KE {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (watched, column) = Watched::find(data, &self.on)?;
        let numbers = column.numbers().map_err(|e| e.at("on"))?.to_vec();
        Ok(Box::new(Bound { k: self.k, e: self.e, numbers, watched }))
    }
}

#[derive(Debug)]
struct Bound {
    k: u64,
    e: f64,
    numbers: Vec<f64>,
    watched: Watched,
}

impl BoundModel for Bound {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let histogram = self.watched.histogram(group);
        let numbers = histogram.entries().iter().map(|entry| self.numbers[entry.0 as usize]);
        let (lo, hi) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let range = if lo <= hi { hi - lo } else { 0.0 };
        // By how much the rounded difference misses the true one, exactly (two-sum).
        let back = hi - range;
        let missed = (hi - (range + back)) + (back - lo);
        let holds = range > self.e || (range == self.e && (lo > hi || missed >= 0.0));
        let spread = Verdict::at_least("smallest range", range, self.e, holds);
        fewest_values(histogram.entries().len() as u64, self.k).and(spread)
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.watched.column)
    }
}
