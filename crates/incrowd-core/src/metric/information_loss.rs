//! Generalized information loss.
//!
//! Paper: `wang2009`, section on information loss; the exact form is in `docs/papers.md`. The sum
//! over the quasi-identifiers of a record, averaged over all records; a removed record costs the
//! number of quasi-identifiers.
//!
//! Where we differ: the paper calls the value "always below 1", which holds per column only; the
//! report prints both.

use super::{Better, Card};

pub(super) const CARD: Card = Card {
    name: "information_loss",
    paper: "wang2009",
    about: "\
        Generalized information loss, summed over the quasi-identifiers of a record and averaged \
        over records: from 0 to the number of quasi-identifiers. For integers an interval counts \
        its values, so even an unmodified number has a small loss.",
    better: Better::Lower,
    measure: |tally| {
        let records = tally.published + tally.suppressed;
        let columns = tally.columns.len() as f64;
        let kept: f64 = tally.columns.iter().map(|column| column.loss).sum();
        if records == 0 { 0.0 } else { (kept + columns * tally.suppressed as f64) / records as f64 }
    },
};
