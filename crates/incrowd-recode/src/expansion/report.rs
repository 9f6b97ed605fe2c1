//! What an expansion did, for the data owner: counts of outliers and removals describe people who were left out.

use incrowd_core::outlier::Forced;

/// How a release by expansion came about, in records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpansionReport {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Outliers, and how many records no algorithm can keep; `None` if no model knows outliers.
    pub forced: Option<Forced>,
    /// Records that grew into no group at first.
    pub residues: u64,
    /// Those of them whose cells had a dead corner when they were given up.
    pub dead_ends: u64,
    /// Groups before residues joined them.
    pub grown_groups: u64,
    /// Records in those groups.
    pub grown_records: u64,
    /// Records left out as global outliers.
    pub removed_global: u64,
    /// Records left out as local outliers before anything was grown.
    pub removed_local: u64,
    /// Records left out because they fit into no group.
    pub removed_residues: u64,
    /// Groups.
    pub groups: u64,
    /// How often a row was added to a group under way.
    pub expansions: u64,
    /// How many boxes and corners were looked at.
    pub looked: u64,
}
