//! Loss of non-uniform entropy.
//!
//! Paper: `gionis2009`, the non-uniform entropy measure: a cell costs the number of bits needed to
//! determine the record's value from it, given the frequency of each value of the column.
//!
//! Where we differ: the sum over all columns is divided by the cost of publishing nothing, so 0 is
//! the original and 1 is `*` everywhere. A suppressed record costs as much as a record published as
//! `*`. The measure is undefined for a release with records of two tables.

use super::{Better, Card, Tally};

pub(super) const CARD: Card = Card {
    name: "entropy_loss",
    paper: "gionis2009",
    about: "\
        Loss of non-uniform entropy: the share of the bits in the quasi-identifiers that is \
        needed to determine the values from the published cells, given the frequency of each \
        value. 0 is the original table, 1 is full suppression. NCP understates the loss if few \
        values are common: a range of a tenth of the domain may contain nine in ten records.",
    better: Better::Lower,
    measure: share,
};

fn share(tally: &Tally) -> f64 {
    let open: f64 = tally.columns.iter().map(|column| column.open_bits).sum();
    let all: f64 = tally.columns.iter().map(|column| column.all_bits).sum();
    // A value far below one bit per record is a rounding error.
    if open.is_nan() || open.abs() > all * 1e-12 { open / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::ColumnTally;
    use super::*;

    #[test]
    fn bits_are_added_over_columns() {
        let column =
            |open_bits, all_bits| ColumnTally { open_bits, all_bits, ..ColumnTally::default() };
        let of = |columns: Vec<ColumnTally>| share(&Tally { columns, ..Tally::default() });
        assert_eq!(of(vec![column(1.0, 2.0), column(0.0, 6.0)]), 0.125);
        assert_eq!(of(vec![column(1e-15, 2.0)]), 0.0);
        // A column of one value has nothing to lose.
        assert_eq!(of(vec![column(0.0, 0.0)]), 0.0);
        assert!(of(vec![column(f64::NAN, 2.0)]).is_nan());
    }
}
