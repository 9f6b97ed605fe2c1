//! Normalized certainty penalty.
//!
//! Paper: `xu2006`; the exact form is in `docs/papers.md`. A numeric cell costs its width divided
//! by that of the domain. A taxonomy node costs nothing if it is a leaf, otherwise its share of the
//! leaves. `*` costs 1.
//!
//! Where we differ: a set costs its share of the distinct values, and a suppressed record costs 1
//! in every column.

use super::{Better, Card, Tally};

pub(super) const CARD: Card = Card {
    name: "ncp",
    paper: "xu2006",
    about: "\
        Normalized certainty penalty: the share of each column's range that a published cell \
        covers, averaged over all cells. 0 is the original table, 1 is full suppression.",
    better: Better::Lower,
    measure: rate,
};

fn rate(tally: &Tally) -> f64 {
    let columns = tally.columns.len();
    if columns == 0 {
        return 0.0;
    }
    tally.columns.iter().map(|column| tally.column_ncp(column)).sum::<f64>() / columns as f64
}

#[cfg(test)]
mod tests {
    use super::super::ColumnTally;
    use super::*;

    #[test]
    fn suppressed_records_are_fully_lost() {
        let column = ColumnTally { name: "age".into(), ncp: 1.5, ..ColumnTally::default() };
        let tally =
            Tally { columns: vec![column], group_sizes: vec![3], published: 3, suppressed: 1 };
        assert_eq!(rate(&tally), 2.5 / 4.0);
    }
}
