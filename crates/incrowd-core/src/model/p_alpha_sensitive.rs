//! (p,α)-sensitive k-anonymity, and what it shares with (p⁺,α)-sensitivity.
//!
//! Paper: `sun2008`, Definition 4 as printed there. Every group has at least k records, at least p different values of the
//! sensitive column, and a total weight of at least α, where a value of the i-th of m categories weighs (i − 1)/(m − 1).
//!
//! Where we differ: weights are integers, multiples of 1/(m − 1), and α is the decimal that was typed. Since a sum of weights
//! is reached by a few harmless records whatever the others are, `mean_weight` and `max_category_share` can be asked for
//! beside it.

use super::l_diversity::fewest_values;
use super::watched::Watched;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, ParamKind, Params};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::exact::Decimal;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "p-alpha-sensitive",
    paper: "sun2008",
    promise: "Every group has at least k records, at least p different sensitive values, and a total weight of at least alpha, \
              where values of the most sensitive category weigh 0 and those of the least sensitive 1.",
    limits: "The weight is a sum: two flus let any number of HIV cases pass alpha = 2, so a large group can consist of \
             little but one disease; ask for mean_weight or max_category_share too. A group of one category passes if that \
             category is harmless enough. In the paper, Table 8 violates its own alpha (0 + 1 is not 2), Table 6 publishes \
             record 3 under a zip code it does not have, and Table 7 shows a disease its microdata lack.",
    params: PARAMS,
    kinds: &[],
    needs: &[Need::Records, Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| Ok(Box::new(Weighted::new(params, false, &CARD))),
};

/// The parameters of both models.
pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "p",
        kind: ParamKind::Count(1),
        default: None,
        about: "how many different values, or categories, at least",
    },
    Param {
        name: "alpha",
        kind: ParamKind::Number(0.0, f64::MAX),
        default: None,
        about: "the least total weight of a group",
    },
    Param {
        name: "k",
        kind: ParamKind::Count(1),
        default: None,
        about: "how many records a group has at least",
    },
    Param {
        name: "mean_weight",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some(""),
        about: "the least mean weight of a group's records, which no few harmless records can reach for all",
    },
    Param {
        name: "max_category_share",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some(""),
        about: "the greatest share of a group's records that one category may hold",
    },
    ON,
];

/// Either model: what is counted p times are values or categories.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    card: &'static Card,
    categories_count: bool,
    p: u64,
    k: u64,
    alpha: f64,
    mean_weight: Option<f64>,
    max_category_share: Option<f64>,
    on: String,
}

impl Weighted {
    pub(super) fn new(params: &Params, categories_count: bool, card: &'static Card) -> Weighted {
        Weighted {
            card,
            categories_count,
            p: params.count("p"),
            k: params.count("k"),
            alpha: params.number("alpha"),
            mean_weight: params.optional_number("mean_weight"),
            max_category_share: params.optional_number("max_category_share"),
            on: params.word("on").to_owned(),
        }
    }
}

impl Model for Weighted {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (watched, column) = Watched::find(data, &self.on)?;
        let (category, categories) = column.categories().map_err(|e| e.at("on"))?;
        Ok(Box::new(Bound { model: self.clone(), category, categories, watched }))
    }
}

#[derive(Debug)]
struct Bound {
    model: Weighted,
    /// The category of each code.
    category: Vec<u32>,
    categories: usize,
    watched: Watched,
}

impl Bound {
    /// The total weight of a group, as a multiple of 1/(categories − 1), and how many values or categories it has of the p it
    /// needs. Where a person has several records, both are the least that one record of each person can have.
    fn count(&self, group: &GroupSummary) -> (u128, u64) {
        let category = |code: u32| self.category[code as usize];
        let mut total = 0u128;
        if self.watched.unit.persons().is_some() {
            self.watched.each_person(group, |values| {
                let lightest = values.iter().map(|&(code, _)| category(code)).min();
                total += u128::from(lightest.unwrap_or(0));
            });
        } else {
            let weight = |&(code, count): &(u32, u64)| u128::from(category(code)) * u128::from(count);
            total = self.watched.holders(group).entries().iter().map(weight).sum();
        }
        let different = if self.model.categories_count {
            self.watched.extremal_of(group, category).len()
        } else {
            self.watched.extremal(group).len()
        };
        (total, different as u64)
    }
}

impl BoundModel for Bound {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (total, different) = self.count(group);
        // With a single category the weight is 0.
        let unit = (self.categories as u128 - 1).max(1);
        let diversity = if self.model.categories_count {
            let need = self.model.p;
            Verdict::at_least("fewest categories", different as f64, need as f64, different >= need)
        } else {
            fewest_values(different, self.model.p)
        };
        let mut verdict =
            self.watched.unit.smallest_group(group, self.model.k).and(diversity).and(Verdict::at_least(
                "least weight",
                total as f64 / unit as f64,
                self.model.alpha,
                Decimal::of(self.model.alpha).at_least(total, unit),
            ));
        let n = u128::from(self.watched.size(group).max(1));
        if let Some(least) = self.model.mean_weight {
            let mean = total as f64 / (unit * n) as f64;
            let holds = Decimal::of(least).at_least(total, unit * n);
            verdict = verdict.and(Verdict::at_least("least mean weight", mean, least, holds));
        }
        if let Some(most) = self.model.max_category_share {
            let holders = self.watched.holders_of(group, |code| self.category[code as usize]);
            let largest = holders.into_iter().max().unwrap_or(0);
            let holds = Decimal::of(most).at_most(largest.into(), n);
            let share = largest as f64 / n as f64;
            verdict = verdict.and(Verdict::at_most("greatest share of a category", share, most, holds));
        }
        verdict
    }

    fn missing(&self, group: &GroupSummary) -> [f64; 2] {
        let (total, different) = self.count(group);
        let weight = total as f64 / (self.categories as f64 - 1.0).max(1.0);
        [self.model.p.saturating_sub(different) as f64, (self.model.alpha - weight).max(0.0)]
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.watched.column)
    }
}
