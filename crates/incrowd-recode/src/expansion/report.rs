//! The report of an expansion, for the data owner only: the counts of outliers and suppressed
//! records describe people who are not published.

use incrowd_core::outlier::Forced;
use incrowd_core::text::{Block, thousands};
use serde_json::{Value as Json, json};

use crate::{AlgorithmReport, Outcome};

/// Statistics of one run, in records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpansionReport {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Outliers, and the number of records that every algorithm must suppress. `None` if no model
    /// defines outliers.
    pub forced: Option<Forced>,
    /// Records that grew into no group at first.
    pub residues: u64,
    /// The number of these whose cells had a dead corner when they were given up.
    pub dead_ends: u64,
    /// Groups before residues joined them.
    pub grown_groups: u64,
    /// Records in those groups.
    pub grown_records: u64,
    /// Records suppressed as global outliers.
    pub removed_global: u64,
    /// Records suppressed as local outliers before any group was grown.
    pub removed_local: u64,
    /// Records suppressed because they fit into no group.
    pub removed_residues: u64,
    /// The final number of groups.
    pub groups: u64,
    /// The number of times a row was added to a growing group.
    pub expansions: u64,
    /// The number of boxes and corners that were checked.
    pub looked: u64,
}

impl AlgorithmReport for ExpansionReport {
    fn name(&self) -> &'static str {
        "expansion"
    }

    fn to_json(&self) -> Json {
        json!({
            "algorithm": self.algorithm,
            "outliers": self.forced.as_ref().map(forced_json),
            "residues": self.residues,
            "residues_at_a_dead_corner": self.dead_ends,
            "grown": { "groups": self.grown_groups, "records": self.grown_records },
            "removed": {
                "global_outliers": self.removed_global,
                "local_outliers": self.removed_local,
                "residues": self.removed_residues,
            },
            "groups": self.groups,
            "expansions": self.expansions,
            "corners_looked_at": self.looked,
        })
    }

    fn to_text(&self, outcome: Outcome) -> Vec<Block> {
        let mut text = Vec::new();
        if let Some(forced) = &self.forced {
            text.push(Block::line(format!("outliers {}", forced_in_words(forced))));
            text.push(Block::line(format!(
                "before   at least {} of {} records must be suppressed with any algorithm{}",
                thousands(forced.removals()),
                thousands(outcome.records),
                if forced.all_decided { "" } else { " (a bound: not every outlier was settled)" }
            )));
        }
        text.push(Block::line(format!(
            "growing  {} groups by {} expansions; {} records grew into no group at first, {} of \
             them because of a dead corner; {} boxes and corners checked",
            thousands(self.grown_groups),
            thousands(self.expansions),
            thousands(self.residues),
            thousands(self.dead_ends),
            thousands(self.looked)
        )));
        text.push(Block::line(format!(
            "after    {} records suppressed: {} global outliers, {} local outliers before growing, \
             {} that fit into no group",
            thousands(self.removed_global + self.removed_local + self.removed_residues),
            thousands(self.removed_global),
            thousands(self.removed_local),
            thousands(self.removed_residues)
        )));
        text
    }
}

/// Returns the outliers, and the number of them that every algorithm must suppress, as JSON.
pub fn forced_json(forced: &Forced) -> Json {
    json!({
        "global": forced.outliers.global,
        "local": forced.outliers.local,
        "local_that_may_fit": forced.may_fit,
        "removals_at_least": forced.removals(),
        "settled": forced.all_decided,
    })
}

/// Returns the numbers of outliers in words.
pub fn forced_in_words(forced: &Forced) -> String {
    format!(
        "{} global, {} local, {} of which may fit into a plain group",
        thousands(forced.outliers.global),
        thousands(forced.outliers.local),
        thousands(forced.may_fit)
    )
}
