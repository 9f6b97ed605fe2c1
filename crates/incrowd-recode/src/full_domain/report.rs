//! The report of a search, for the data owner only: it reveals which releases would violate the
//! models.

use incrowd_core::text::{Block, number, thousands};
use serde_json::{Map, Value as Json, json};

use crate::{AlgorithmReport, Outcome};

/// The greatest number of minimal nodes in the text.
const SHOWN: usize = 12;

/// A node of the lattice that satisfies the models.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundNode {
    /// The level of each quasi-identifier.
    pub levels: Vec<u32>,
    /// The cost by the metric of the search.
    pub value: f64,
    /// The number of groups.
    pub groups: u64,
    /// The number of suppressed records.
    pub suppressed: u64,
}

/// The report of a full-domain search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchReport {
    /// The search strategy.
    pub search: &'static str,
    /// The metric that was minimized.
    pub metric: &'static str,
    /// The quasi-identifiers, in the order of the levels.
    pub columns: Vec<String>,
    /// The number of nodes of the lattice.
    pub nodes: u64,
    /// The number of nodes whose groups were counted. With Incognito this includes nodes of subsets
    /// of the columns.
    pub checked: u64,
    /// The number of nodes that satisfy the models.
    pub satisfying: u64,
    /// Whether verdicts on nodes were applied to others, so that not all had to be checked.
    pub pruned: bool,
    /// The nodes that satisfy the models and have no such node below them, in lexicographic order.
    pub minimal: Vec<FoundNode>,
    /// The published node: of all that satisfy the models, the one with the least cost, then with
    /// most groups, then the lexicographically smallest.
    pub best: FoundNode,
}

impl AlgorithmReport for SearchReport {
    fn name(&self) -> &'static str {
        "search"
    }

    fn to_json(&self) -> Json {
        let node = |node: &FoundNode| {
            let levels: Map<String, Json> = self
                .columns
                .iter()
                .cloned()
                .zip(node.levels.iter().map(|&level| json!(level)))
                .collect();
            json!({
                "levels": levels,
                "value": node.value,
                "groups": node.groups,
                "suppressed": node.suppressed,
            })
        };
        json!({
            "search": self.search,
            "metric": self.metric,
            "nodes": self.nodes,
            "checked": self.checked,
            "pruned": self.pruned,
            "satisfying": self.satisfying,
            "best": node(&self.best),
            "minimal": self.minimal.iter().map(node).collect::<Vec<_>>(),
        })
    }

    fn to_text(&self, outcome: Outcome) -> Vec<Block> {
        let mut text = vec![Block::line(format!(
            "search   {}: {} of {} combinations of levels satisfy the models, {} of them minimal; \
             {} checked{}",
            self.search,
            thousands(self.satisfying),
            thousands(self.nodes),
            thousands(self.minimal.len() as u64),
            thousands(self.checked),
            if self.pruned || self.search == "exhaustive" {
                ""
            } else {
                ", because no verdict implied others"
            }
        ))];
        let header = ["", self.metric, "groups", "suppressed"].map(str::to_owned);
        let mut rows: Vec<Vec<String>> =
            vec![header.into_iter().chain(self.columns.iter().cloned()).collect()];
        rows.push(self.best.row("published"));
        // Ascending by cost, like the choice of the published node.
        let mut minimal: Vec<&FoundNode> = self.minimal.iter().collect();
        minimal.sort_by(|a, b| a.value.total_cmp(&b.value).then(b.groups.cmp(&a.groups)));
        let shown = minimal.iter().take(SHOWN).enumerate();
        rows.extend(shown.map(|(i, node)| node.row(if i == 0 { "minimal" } else { "" })));
        text.push(Block::Table(rows));
        if let Some(more) = minimal.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let more = thousands(more as u64);
            text.push(Block::line(format!(
                "         and {more} more minimal ones; the JSON has all"
            )));
        }
        if outcome.suppressed != self.best.suppressed {
            text.push(Block::line(format!(
                "         {} records were suppressed in total, because the published records must \
                 satisfy all models",
                thousands(outcome.suppressed)
            )));
        }
        text
    }
}

impl FoundNode {
    fn row(&self, name: &str) -> Vec<String> {
        let stated = [
            name.to_owned(),
            number(self.value),
            thousands(self.groups),
            thousands(self.suppressed),
        ];
        stated.into_iter().chain(self.levels.iter().map(u32::to_string)).collect()
    }
}
