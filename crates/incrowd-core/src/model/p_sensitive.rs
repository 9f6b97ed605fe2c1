//! p-sensitive k-anonymity.
//!
//! Paper: `truta2006`, Definition 2 as printed there. Every group has at least k records and at
//! least p different values of the sensitive column.
//!
//! Where we differ: p may be greater than k, groups then have at least p records.

use super::l_diversity::fewest_values;
use super::presence::Presence;
use super::running::{Distinct, Running};
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "p-sensitive",
    paper: "truta2006",
    guarantee: "\
        Every group has at least k records and at least p different values of the sensitive \
        column.",
    limits: "\
        It counts values, not their frequencies or similarity: a group of ninety-nine cancers and \
        one flu is 2-sensitive, and so is a group of two kinds of cancer. The paper that corrects \
        the latter (sun2008) has errors in its examples: its Table 8 violates its own alpha, its \
        Tables 6 and 7 are not views of its microdata, and tables that it counts as vulnerable to \
        the similarity attack cannot exist. Its models cost more than this one, not a third as it \
        claims, because they imply it.",
    params: &[
        Param::count("p", 1).about("the least number of different values"),
        Param::count("k", 1).about("the least number of records of a group"),
        ON,
    ],
    variants: &[],
    needs: &[Need::Records, Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| {
        Ok(Box::new(PSensitive {
            p: params.count("p"),
            k: params.count("k"),
            on: params.word("on").to_owned(),
        }))
    },
};

#[derive(Debug)]
struct PSensitive {
    p: u64,
    k: u64,
    on: String,
}

impl Model for PSensitive {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, _) = TargetColumn::find(data, &self.on)?;
        Ok(Box::new(BoundPSensitive { p: self.p, k: self.k, target }))
    }
}

#[derive(Debug)]
struct BoundPSensitive {
    p: u64,
    k: u64,
    target: TargetColumn,
}

impl BoundModel for BoundPSensitive {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let values = self.target.extremal(group).len() as u64;
        self.target.unit.smallest_group(group, self.k).and(fewest_values(values, self.p))
    }

    fn missing(&self, group: &GroupSummary) -> [f64; 2] {
        let values = self.target.extremal(group).len() as u64;
        [self.p.saturating_sub(values) as f64, 0.0]
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }

    fn fewest_records(&self) -> u64 {
        self.k.max(self.p).max(1)
    }

    fn presence(&self) -> Option<Presence> {
        Presence::new(&self.target, self.p, |_| 1)
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(Distinct::new(&self.target, self.p, self.k)))
    }
}
