//! (α,k)-anonymity.
//!
//! Paper: `wong2006`, Definitions 2 and 3 as printed there. Every group has at least k records, and no sensitive value
//! holds more than a share α of a group's records.
//!
//! Where we differ: the paper's simple model is about one value, its general one about all; `values` names those it is
//! about, and without it all are.

use super::presence::Presence;
use super::running::{Frequency, Running, Share, first_true};
use super::watched::Watched;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, ParamKind};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "alpha-k-anonymity",
    paper: "wong2006",
    promise: "Every group has at least k records, and in no group does a value of the sensitive column hold more than a \
              share alpha of them, so it can be guessed of nobody with more confidence than alpha.",
    limits: "Alpha bounds the confidence after the release, whatever it was before: a value that one person in a thousand \
             has may rise to alpha in a group. Values that mean nearly the same are counted apart. With `values`, the \
             values not named are not protected at all.",
    params: &[
        Param {
            name: "alpha",
            kind: ParamKind::Number(0.0, 1.0),
            default: None,
            about: "the greatest share of a group's records a value may hold",
        },
        Param {
            name: "k",
            kind: ParamKind::Count(1),
            default: None,
            about: "how many records a group has at least",
        },
        Param {
            name: "values",
            kind: ParamKind::Words,
            default: Some(""),
            about: "the values it is about; all if none is named",
        },
        ON,
    ],
    kinds: &[],
    needs: &[Need::Records, Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| {
        Ok(Box::new(AlphaK {
            alpha: params.number("alpha"),
            k: params.count("k"),
            values: params.words("values"),
            on: params.word("on").to_owned(),
        }))
    },
};

#[derive(Debug)]
struct AlphaK {
    alpha: f64,
    k: u64,
    values: Vec<String>,
    on: String,
}

impl Model for AlphaK {
    fn card(&self) -> &'static Card {
        &CARD
    }

    /// A value no record has is more likely misspelled than absent, and a misspelled value is not protected.
    fn suits(&self, data: &Dataset) -> Result<()> {
        let (_, column) = Watched::find(data, &self.on)?;
        match self.values.iter().find(|value| !column.values.contains(value)) {
            None => Ok(()),
            Some(value) => Err(Error::job(format!("no record has `{value}` in column `{}`", column.name))
                .help("spell `values` as the table does")
                .at("values")),
        }
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (watched, column) = Watched::find(data, &self.on)?;
        let mut counts = vec![self.values.is_empty(); column.values.len()];
        for (code, _) in column.values.iter().enumerate().filter(|(_, value)| self.values.contains(value)) {
            counts[watched.counted_as(code as u32) as usize] = true;
        }
        Ok(Box::new(Bound { alpha: self.alpha, exact: Decimal::of(self.alpha), k: self.k, counts, watched }))
    }
}

#[derive(Debug)]
struct Bound {
    alpha: f64,
    exact: Decimal,
    k: u64,
    /// Whether a code is one of the values the promise is about.
    counts: Vec<bool>,
    watched: Watched,
}

impl BoundModel for Bound {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (histogram, size) = (self.watched.holders(group), self.watched.size(group));
        let about = histogram.entries().iter().filter(|entry| self.counts[entry.0 as usize]);
        let most = about.map(|entry| entry.1).max().unwrap_or(0);
        let have = if size == 0 { 0.0 } else { most as f64 / size as f64 };
        let holds = size == 0 || self.exact.at_most(most.into(), size.into());
        let share = Verdict::at_most("greatest share of a value", have, self.alpha, holds);
        self.watched.unit.smallest_group(group, self.k).and(share)
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.watched.column)
    }

    fn fewest_records(&self) -> u64 {
        self.k.max(1)
    }

    /// Values that hold at most a share α each must be at least 1/α, unless others are there.
    fn presence(&self) -> Option<Presence> {
        let least =
            first_true(1, self.counts.len() as u64 + 1, |values| self.exact.at_most(1, values.into()));
        Presence::new(&self.watched, least, |code| if self.counts[code as usize] { 1 } else { least })
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(Frequency::new(&self.watched, Share::of(self.exact)).of(&self.counts, self.k)))
    }
}
