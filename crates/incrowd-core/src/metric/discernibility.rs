//! Discernibility.
//!
//! Paper: `bayardo2005`. The cost of a record is the size of its group. The cost of a suppressed
//! record is the size of the table.

use super::{Better, Card};

pub(super) const CARD: Card = Card {
    name: "discernibility",
    paper: "bayardo2005",
    about: "\
        Discernibility: the sum of squared group sizes; a suppressed record adds the number of \
        records of the table. It depends on group sizes only, not on how coarse the cells are.",
    better: Better::Lower,
    measure: |tally| {
        let squares: f64 = tally.group_sizes.iter().map(|&n| n as f64 * n as f64).sum();
        squares + tally.suppressed as f64 * (tally.published + tally.suppressed) as f64
    },
};
