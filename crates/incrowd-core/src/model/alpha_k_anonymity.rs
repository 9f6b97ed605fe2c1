//! (α,k)-anonymity.
//!
//! Paper: `wong2006`, Definitions 2 and 3 as printed there. Every group has at least k records, and
//! no sensitive value has more than a share α of a group's records.
//!
//! Where we differ: the paper's simple model protects one value, its general one all values.
//! `values` lists the protected values; without it all are protected.

use super::presence::Presence;
use super::running::{Frequency, Running, Share, first_true};
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::group::GroupSummary;
use crate::value_key::value_key;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "alpha-k-anonymity",
    paper: "wong2006",
    guarantee: "\
        Every group has at least k records, and no value of the sensitive column has more than a \
        share alpha of a group's records, so an adversary cannot infer a person's value with more \
        confidence than alpha.",
    limits: "\
        Alpha bounds the confidence after the release, whatever it was before: a value that one \
        person in a thousand has may rise to alpha in a group. Values with nearly the same \
        meaning are counted separately. With `values`, values that are not listed are not \
        protected at all.",
    params: &[
        Param::number("alpha", 0.0, 1.0)
            .about("the greatest share of a group's records with the same value"),
        Param::count("k", 1).about("the least number of records of a group"),
        Param::words("values").optional().about("the protected values; all if none is listed"),
        ON,
    ],
    variants: &[],
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

    /// A value that no record has is more likely misspelled than absent, and a misspelled value
    /// would not be protected.
    fn suits(&self, data: &Dataset) -> Result<()> {
        let (_, column) = TargetColumn::find(data, &self.on)?;
        let occurs =
            |value: &&String| column.values.iter().any(|own| value_key(own) == value_key(value));
        match self.values.iter().find(|value| !occurs(value)) {
            None => Ok(()),
            Some(value) => {
                Err(Error::job(format!("no record has `{value}` in column `{}`", column.name))
                    .help("write `values` as in the table")
                    .at("values"))
            }
        }
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, column) = TargetColumn::find(data, &self.on)?;
        let mut protected = vec![self.values.is_empty(); column.values.len()];
        let keys: Vec<_> = self.values.iter().map(|value| value_key(value)).collect();
        let own =
            column.values.iter().enumerate().filter(|(_, value)| keys.contains(&value_key(value)));
        for (code, _) in own {
            protected[target.counted_as(code as u32) as usize] = true;
        }
        Ok(Box::new(BoundAlphaK {
            alpha: self.alpha,
            exact: Decimal::of(self.alpha),
            k: self.k,
            protected,
            target,
        }))
    }
}

#[derive(Debug)]
struct BoundAlphaK {
    alpha: f64,
    exact: Decimal,
    k: u64,
    /// Whether the value of a code is protected.
    protected: Vec<bool>,
    target: TargetColumn,
}

impl BoundModel for BoundAlphaK {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (histogram, size) = (self.target.holders(group), self.target.size(group));
        let about = histogram.entries().iter().filter(|entry| self.protected[entry.0 as usize]);
        let most = about.map(|entry| entry.1).max().unwrap_or(0);
        let have = if size == 0 { 0.0 } else { most as f64 / size as f64 };
        let holds = size == 0 || self.exact.at_most(most.into(), size.into());
        let share = Verdict::at_most("greatest share of a value", have, self.alpha, holds);
        self.target.unit.smallest_group(group, self.k).and(share)
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }

    fn fewest_records(&self) -> u64 {
        self.k.max(1)
    }

    /// At least 1/α protected values must occur, unless other values do: each has at most a share
    /// α.
    fn presence(&self) -> Option<Presence> {
        let least = first_true(1, self.protected.len() as u64 + 1, |values| {
            self.exact.at_most(1, values.into())
        });
        Presence::new(
            &self.target,
            least,
            |code| if self.protected[code as usize] { 1 } else { least },
        )
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(
            Frequency::new(&self.target, Share::of(self.exact)).of(&self.protected, self.k),
        ))
    }
}
