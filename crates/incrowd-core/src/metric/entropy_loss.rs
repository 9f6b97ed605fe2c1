//! Loss of non-uniform entropy.
//!
//! Paper: `gionis2009`, the non-uniform entropy measure: a cell costs the bits that are missing to tell the record's value from it,
//! for somebody who knows how common each value of the column is.
//!
//! Where we differ: the sum over all columns is divided by what publishing nothing would cost, so that 0 is the original and 1 is
//! `*` everywhere. A suppressed record costs as much as one published as `*`. A release with records of two tables has no such figure.

use super::{Better, Card, Tally};

pub(super) const CARD: Card = Card {
    name: "entropy_loss",
    paper: "gionis2009",
    about: "Loss of non-uniform entropy: the share of the bits in the quasi-identifiers that is missing to tell the values from the \
            published cells, knowing how common each value is. 0 is the original table, 1 says nothing any more. NCP flatters where \
            few values are common: a range of a tenth of the domain may hold nine in ten records.",
    better: Better::Lower,
    measure: share,
};

fn share(tally: &Tally) -> f64 {
    let open: f64 = tally.columns.iter().map(|column| column.open_bits).sum();
    let all: f64 = tally.columns.iter().map(|column| column.all_bits).sum();
    // What is far below a bit per record is rounding.
    if open.is_nan() || open.abs() > all * 1e-12 { open / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::ColumnTally;
    use super::*;

    #[test]
    fn bits_are_added_over_columns() {
        let column = |open_bits, all_bits| ColumnTally { open_bits, all_bits, ..ColumnTally::default() };
        let of = |columns: Vec<ColumnTally>| share(&Tally { columns, ..Tally::default() });
        assert_eq!(of(vec![column(1.0, 2.0), column(0.0, 6.0)]), 0.125);
        assert_eq!(of(vec![column(1e-15, 2.0)]), 0.0);
        // A column of one value has nothing to lose.
        assert_eq!(of(vec![column(0.0, 0.0)]), 0.0);
        assert!(of(vec![column(f64::NAN, 2.0)]).is_nan());
    }
}
