//! Number of groups.

use super::{Better, Card};

pub(super) const CARD: Card = Card {
    name: "groups",
    paper: "lefevre2006",
    about: "Number of different combinations of quasi-identifier cells in the release.",
    better: Better::Higher,
    measure: |tally| tally.group_sizes.len() as f64,
};
