//! What a search found, for the data owner: it tells which releases would not have kept the promises.

use incrowd_core::text::{Block, number, thousands};
use serde_json::{Map, Value as Json, json};

use crate::{AlgorithmReport, Outcome};

/// More minimal nodes than this are only counted in the text.
const SHOWN: usize = 12;

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

impl AlgorithmReport for SearchReport {
    fn name(&self) -> &'static str {
        "search"
    }

    fn to_json(&self) -> Json {
        let node = |node: &FoundNode| {
            let levels: Map<String, Json> =
                self.columns.iter().cloned().zip(node.levels.iter().map(|&level| json!(level))).collect();
            json!({ "levels": levels, "value": node.value, "groups": node.groups, "suppressed": node.suppressed })
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
            "search   {}: {} of {} combinations of levels keep the promises, {} of them minimal; {} checked{}",
            self.search,
            thousands(self.satisfying),
            thousands(self.nodes),
            thousands(self.minimal.len() as u64),
            thousands(self.checked),
            if self.pruned || self.search == "exhaustive" {
                ""
            } else {
                ", because none could be ruled out by another"
            }
        ))];
        let header = ["", self.metric, "groups", "suppressed"].map(str::to_owned);
        let mut rows: Vec<Vec<String>> =
            vec![header.into_iter().chain(self.columns.iter().cloned()).collect()];
        rows.push(self.best.row("published"));
        // The best by the metric comes first, as it would be chosen.
        let mut minimal: Vec<&FoundNode> = self.minimal.iter().collect();
        minimal.sort_by(|a, b| a.value.total_cmp(&b.value).then(b.groups.cmp(&a.groups)));
        let shown = minimal.iter().take(SHOWN).enumerate();
        rows.extend(shown.map(|(i, node)| node.row(if i == 0 { "minimal" } else { "" })));
        text.push(Block::Table(rows));
        if let Some(more) = minimal.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let more = thousands(more as u64);
            text.push(Block::line(format!("         and {more} more minimal ones; the JSON has all")));
        }
        if outcome.suppressed != self.best.suppressed {
            text.push(Block::line(format!(
                "         {} records were suppressed in the end, to keep every promise of what is left",
                thousands(outcome.suppressed)
            )));
        }
        text
    }
}

impl FoundNode {
    fn row(&self, name: &str) -> Vec<String> {
        let stated =
            [name.to_owned(), number(self.value), thousands(self.groups), thousands(self.suppressed)];
        stated.into_iter().chain(self.levels.iter().map(u32::to_string)).collect()
    }
}
