//! The report of auto: what was tried, what was taken, and what it cost.

use incrowd_core::text::{Block, thousands};
use serde_json::{Value as Json, json};

use crate::improve::Metric;
use crate::{AlgorithmReport, Outcome};

/// A way of grouping that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: &'static str,
    /// The mean loss of a cell.
    pub loss: f64,
}

/// How the groups were found. Losses are the mean over all cells, columns weighted, a suppressed record losing all of its.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoReport {
    /// What was to be least.
    pub metric: Metric,
    /// What was tried.
    pub candidates: Vec<Candidate>,
    /// The candidate that was improved.
    pub taken: &'static str,
    /// How many times all records were looked at to move them.
    pub rounds: u64,
    /// How many looks at a row beside a group that took.
    pub looks: u64,
    /// The loss in the end.
    pub loss: f64,
}

impl AutoReport {
    /// What was found is not published after all, but what `mondrian` found.
    pub(super) fn back_to_mondrian(&mut self) {
        let mondrian = &self.candidates[0];
        (self.taken, self.loss, self.rounds) = (mondrian.name, mondrian.loss, 0);
    }
}

impl AlgorithmReport for AutoReport {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn taken(&self) -> Option<&'static str> {
        Some(self.taken)
    }

    fn to_json(&self) -> Json {
        let tried = self.candidates.iter().map(|c| json!({ "name": c.name, "loss": c.loss }));
        json!({
            "metric": self.metric.name(),
            "tried": tried.collect::<Vec<_>>(),
            "taken": self.taken,
            "rounds": self.rounds,
            "looks": self.looks,
            "loss": self.loss,
        })
    }

    fn to_text(&self, _: Outcome) -> Vec<Block> {
        let tried: Vec<String> =
            self.candidates.iter().map(|c| format!("{} {:.4}", c.name, c.loss)).collect();
        let mut text = vec![Block::line(format!(
            "tried    {} ({}): {} taken",
            tried.join(", "),
            self.metric.title(),
            self.taken
        ))];
        if self.rounds > 0 {
            let s = if self.rounds == 1 { "" } else { "s" };
            let (rounds, title) = (thousands(self.rounds), self.metric.title());
            text.push(Block::line(format!("moving   {rounds} round{s}: {title} {:.4}", self.loss)));
        }
        text
    }
}
