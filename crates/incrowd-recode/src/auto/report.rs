//! The report of auto: the algorithms that were tried, the choice, and the losses.

use incrowd_core::text::{Block, thousands};
use serde_json::{Value as Json, json};

use crate::improve::Metric;
use crate::{AlgorithmReport, Outcome};

/// An algorithm that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: &'static str,
    /// The mean loss of a cell.
    pub loss: f64,
}

/// The report of one run. Losses are means over all cells, multiplied by the importance of the
/// columns. A suppressed record has the full loss in every cell.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoReport {
    /// The loss that was minimized.
    pub metric: Metric,
    /// The algorithms that were tried.
    pub candidates: Vec<Candidate>,
    /// The candidate that was improved.
    pub taken: &'static str,
    /// The number of rounds in which records were moved.
    pub rounds: u64,
    /// The number of comparisons of a row with a group while records were moved.
    pub comparisons: u64,
    /// The final loss.
    pub loss: f64,
}

impl AutoReport {
    /// Records that the result of `mondrian` is published instead.
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
            "looks": self.comparisons,
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
