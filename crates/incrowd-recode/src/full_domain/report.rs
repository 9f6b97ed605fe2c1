//! What a search found, for the data owner: it tells which releases would not have kept the promises.

/// A node of the lattice that keeps the promises.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundNode {
    /// The level of each quasi-identifier.
    pub levels: Vec<u32>,
    /// What it costs by the metric of the search.
    pub value: f64,
    /// How many groups it has.
    pub groups: u64,
    /// How many records it suppresses.
    pub suppressed: u64,
}

/// What a full-domain search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchReport {
    /// How it searched.
    pub search: &'static str,
    /// What was to be least.
    pub metric: &'static str,
    /// The quasi-identifiers, in the order of the levels.
    pub columns: Vec<String>,
    /// How many nodes the lattice has.
    pub nodes: u64,
    /// How many nodes had their groups counted; with Incognito those of fewer columns too.
    pub checked: u64,
    /// How many nodes keep the promises.
    pub satisfying: u64,
    /// Whether the verdict on one node told that on others, so that not all had to be checked.
    pub pruned: bool,
    /// The nodes below which no other keeps the promises, lexicographically.
    pub minimal: Vec<FoundNode>,
    /// The node that was published: the least by the metric of all that keep the promises, then the one with most groups,
    /// then the lexicographically smallest.
    pub best: FoundNode,
}
