//! Number of groups.

use super::{Better, Card};

pub(super) const CARD: Card = Card {
    name: "groups",
    paper: "lefevre2006",
    about: "How many different combinations of quasi-identifier cells the release has.",
    better: Better::Higher,
    measure: |tally| tally.group_sizes.len() as f64,
};
