//! Normalized certainty penalty, columns weighted.
//!
//! Paper: `liu-itri`, section II.A, after `xu2006`. The penalties are averaged over the columns
//! with their weights. With equal weights it is the unweighted penalty.

use super::{Better, Card, Tally};

pub(super) const CARD: Card = Card {
    name: "weighted_ncp",
    paper: "liu-itri",
    about: "\
        Normalized certainty penalty, averaged over the columns with the `weight` set in the job, \
        1 by default. 0 is the original table, 1 is full suppression. Without weights it equals \
        `ncp`.",
    better: Better::Lower,
    measure: rate,
};

fn rate(tally: &Tally) -> f64 {
    let weights: f64 = tally.columns.iter().map(|column| column.weight).sum();
    if weights <= 0.0 {
        return 0.0;
    }
    let cost = tally.columns.iter().map(|column| column.weight * tally.column_ncp(column));
    cost.sum::<f64>() / weights
}

#[cfg(test)]
mod tests {
    use super::super::ColumnTally;
    use super::*;

    #[test]
    fn a_column_with_greater_weight_counts_more() {
        let column = |ncp, weight| ColumnTally { ncp, weight, ..ColumnTally::default() };
        let columns = vec![column(4.0, 3.0), column(0.0, 1.0)];
        let tally = Tally { columns, published: 4, ..Tally::default() };
        assert_eq!(rate(&tally), 0.75);
    }
}
