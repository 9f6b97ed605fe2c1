//! Discernibility.
//!
//! Paper: `bayardo2005`. Every record is charged the size of its group.
//!
//! A suppressed record is charged the size of the table, as in the paper.

use super::{Better, Card};

pub(super) const CARD: Card = Card {
    name: "discernibility",
    paper: "bayardo2005",
    about: "Discernibility: the sum of squared group sizes, a suppressed record counting as often as the table has \
            records. It knows only group sizes, not how coarse the cells are.",
    better: Better::Lower,
    measure: |tally| {
        let squares: f64 = tally.group_sizes.iter().map(|&n| n as f64 * n as f64).sum();
        squares + tally.suppressed as f64 * (tally.published + tally.suppressed) as f64
    },
};
