//! (p⁺,α)-sensitive k-anonymity.
//!
//! Paper: `sun2008`, Definition 5 as printed there. Like (p,α)-sensitivity, but a group has at
//! least p different *categories* of sensitive values.
//!
//! Where we differ: as for (p,α)-sensitivity, with which it shares its code. By default only the
//! categories are published, because the values would disclose more.

use super::p_alpha_sensitive::{PARAMS, Weighted};
use super::{Card, Need, Survives};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "p-plus-alpha-sensitive",
    paper: "sun2008",
    guarantee: "\
        Every group has at least k records, sensitive values of at least p different categories, \
        and a total weight of at least alpha, where values of the most sensitive category have \
        weight 0 and those of the least sensitive weight 1.",
    limits: "\
        The weight is a sum, so a large group is admitted with a few harmless records, and \
        nothing bounds how likely the most sensitive category is; set mean_weight or \
        max_category_share too. The paper reports 3 of 28 tables as vulnerable to the similarity \
        attack under (2+, 2), which is impossible: every group has two categories by definition.",
    params: PARAMS,
    variants: &[],
    needs: &[Need::Records, Need::Sensitive, Need::Categories],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| Ok(Box::new(Weighted::new(params, true, &CARD))),
};
