//! Average class size.
//!
//! Paper: `lefevre2006`, there divided by k; the report gives the plain average, which needs no k.

use super::{Better, Card};

pub(super) const CARD: Card = Card {
    name: "average_class_size",
    paper: "lefevre2006",
    about: "\
        Published records per group. With k-anonymity it is at least k; a value near k means that \
        little was merged unnecessarily.",
    better: Better::Lower,
    measure: |tally| {
        if tally.group_sizes.is_empty() {
            0.0
        } else {
            tally.published as f64 / tally.group_sizes.len() as f64
        }
    },
};
