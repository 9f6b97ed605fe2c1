//! (p,α)-sensitive k-anonymity, and the code shared with (p⁺,α)-sensitivity.
//!
//! Paper: `sun2008`, Definition 4 as printed there. Every group has at least k records, at least p
//! different values of the sensitive column, and a total weight of at least α. A value of the i-th
//! of m categories has the weight (i − 1)/(m − 1).
//!
//! Where we differ: weights are integers, multiples of 1/(m − 1), and α is a decimal number. A few
//! harmless records reach a given sum of weights whatever the others are, so there are the
//! additional conditions `mean_weight` and `max_category_share`.

use super::l_diversity::fewest_values;
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, Params};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::exact::Decimal;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "p-alpha-sensitive",
    paper: "sun2008",
    guarantee: "\
        Every group has at least k records, at least p different sensitive values, and a total \
        weight of at least alpha, where values of the most sensitive category have weight 0 and \
        those of the least sensitive weight 1.",
    limits: "\
        The weight is a sum: with alpha = 2, two cases of flu admit any number of HIV cases, so \
        nearly all records of a large group may have one disease; set mean_weight or \
        max_category_share too. A group of one category is admitted if that category is harmless \
        enough. In the paper, Table 8 violates its own alpha (0 + 1 is not 2), Table 6 publishes \
        record 3 with a zip code it does not have, and Table 7 shows a disease that the microdata \
        lack.",
    params: PARAMS,
    variants: &[],
    needs: &[Need::Records, Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| Ok(Box::new(Weighted::new(params, false, &CARD))),
};

/// The parameters of both models.
pub(super) const PARAMS: &[Param] = &[
    Param::count("p", 1).about("the least number of different values, or categories"),
    Param::number("alpha", 0.0, f64::MAX).about("the least total weight of a group"),
    Param::count("k", 1).about("the least number of records of a group"),
    Param::number("mean_weight", 0.0, 1.0).optional().about(
        "the least mean weight of a group's records, which a few harmless records cannot reach",
    ),
    Param::number("max_category_share", 0.0, 1.0)
        .optional()
        .about("the greatest share of a group's records in one category"),
    ON,
];

/// Either model: p counts values or categories.
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
        let (target, column) = TargetColumn::find(data, &self.on)?;
        let (category, categories) = column.categories().map_err(|e| e.at("on"))?;
        Ok(Box::new(BoundWeighted { model: self.clone(), category, categories, target }))
    }
}

#[derive(Debug)]
struct BoundWeighted {
    model: Weighted,
    /// The category of each code.
    category: Vec<u32>,
    categories: usize,
    target: TargetColumn,
}

impl BoundWeighted {
    /// The total weight of a group, as a multiple of 1/(categories − 1), and its number of values
    /// or categories. If persons have several records, both are the least over all choices of one
    /// record per person.
    fn count(&self, group: &GroupSummary) -> (u128, u64) {
        let category = |code: u32| self.category[code as usize];
        let mut total = 0u128;
        if self.target.unit.persons().is_some() {
            self.target.each_person(group, |values| {
                let lightest = values.iter().map(|&(code, _)| category(code)).min();
                total += u128::from(lightest.unwrap_or(0));
            });
        } else {
            let weight =
                |&(code, count): &(u32, u64)| u128::from(category(code)) * u128::from(count);
            total = self.target.holders(group).entries().iter().map(weight).sum();
        }
        let different = if self.model.categories_count {
            self.target.extremal_of(group, category).len()
        } else {
            self.target.extremal(group).len()
        };
        (total, different as u64)
    }
}

impl BoundModel for BoundWeighted {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (total, different) = self.count(group);
        // With a single category all weights are 0; `max` avoids a division by zero.
        let unit = (self.categories as u128 - 1).max(1);
        let diversity = if self.model.categories_count {
            let need = self.model.p;
            Verdict::at_least("fewest categories", different as f64, need as f64, different >= need)
        } else {
            fewest_values(different, self.model.p)
        };
        let mut verdict = self.target.unit.smallest_group(group, self.model.k).and(diversity).and(
            Verdict::at_least(
                "least weight",
                total as f64 / unit as f64,
                self.model.alpha,
                Decimal::of(self.model.alpha).at_least(total, unit),
            ),
        );
        let n = u128::from(self.target.size(group).max(1));
        if let Some(least) = self.model.mean_weight {
            let mean = total as f64 / (unit * n) as f64;
            let holds = Decimal::of(least).at_least(total, unit * n);
            verdict = verdict.and(Verdict::at_least("least mean weight", mean, least, holds));
        }
        if let Some(most) = self.model.max_category_share {
            let holders = self.target.holders_of(group, |code| self.category[code as usize]);
            let largest = holders.into_iter().max().unwrap_or(0);
            let holds = Decimal::of(most).at_most(largest.into(), n);
            let share = largest as f64 / n as f64;
            verdict =
                verdict.and(Verdict::at_most("greatest share of a category", share, most, holds));
        }
        verdict
    }

    fn missing(&self, group: &GroupSummary) -> [f64; 2] {
        let (total, different) = self.count(group);
        let weight = total as f64 / (self.categories as f64 - 1.0).max(1.0);
        [self.model.p.saturating_sub(different) as f64, (self.model.alpha - weight).max(0.0)]
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }
}
