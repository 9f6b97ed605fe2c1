//! Distortion ratio.
//!
//! Paper: `sun2008`, the distortion of a generalized table. A cell h steps above its value in the
//! hierarchy costs h; the ratio is relative to the sum of all steps to the roots.
//!
//! A release does not show which record is whose. But h is the depth of the value minus the depth
//! of the cell. In the sum over all records the first term follows from the original alone, the
//! second from the release alone. The ratio is therefore exact without linking records, even for
//! branches of different length.
//!
//! Where we differ: a suppressed record counts as roots. In a column without a hierarchy every
//! range, set or `*` is one step above the value.

use super::{Better, Card, Tally};

pub(super) const CARD: Card = Card {
    name: "distortion",
    paper: "sun2008",
    about: "\
        Distortion ratio: the number of generalization steps in the hierarchies, as a share of \
        all steps to the roots. 0 is the original, 1 is full suppression. It counts steps, \
        whatever their size.",
    better: Better::Lower,
    measure: ratio,
};

fn ratio(tally: &Tally) -> f64 {
    let all: u64 = tally.columns.iter().map(|column| column.leaf_depth).sum();
    let left: u64 = tally.columns.iter().map(|column| column.depth).sum();
    if all == 0 { 0.0 } else { all.saturating_sub(left) as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::ColumnTally;
    use super::*;

    #[test]
    fn suppressed_records_count_as_roots() {
        // Four records two steps deep: one unmodified, one raised a step, one raised to the root,
        // one suppressed.
        let column =
            ColumnTally { name: "zip".into(), depth: 3, leaf_depth: 8, ..ColumnTally::default() };
        let tally =
            Tally { columns: vec![column], published: 3, suppressed: 1, ..Tally::default() };
        assert_eq!(ratio(&tally), 5.0 / 8.0);
        assert_eq!(ratio(&Tally::default()), 0.0);
    }
}
