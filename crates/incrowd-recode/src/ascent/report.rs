//! The report of an ascent: how many groups the climb found and the loss that was reached.

use incrowd_core::text::{Block, groups, thousands};
use serde_json::{Value as Json, json};

use super::{Effort, Metric, Work};
use crate::{AlgorithmReport, Outcome};

/// The statistics of one run. Losses are means over all published cells.
#[derive(Clone, Debug, PartialEq)]
pub struct AscentReport {
    /// The loss that was minimized.
    pub metric: Metric,
    /// How long records were moved.
    pub effort: Effort,
    /// The number of combinations of levels.
    pub combinations: u64,
    /// The number of groups that were found at the combinations.
    pub initial_groups: u64,
    /// The number of records that were in no group at any combination and joined other groups.
    pub left_over: u64,
    /// The loss before records were moved.
    pub climbed: f64,
    /// The final loss.
    pub reached: f64,
    /// The number of rounds in which records were moved.
    pub rounds: u64,
    /// The amount of work of the climb.
    pub work: Work,
    /// The number of comparisons of a row with a group while rows were moved.
    pub comparisons: u64,
    /// Whether moving ended because of the time limit.
    pub out_of_time: bool,
}

impl AlgorithmReport for AscentReport {
    fn name(&self) -> &'static str {
        "ascent"
    }

    fn to_json(&self) -> Json {
        json!({
            "metric": self.metric.name(),
            "effort": self.effort.name(),
            "combinations": self.combinations,
            "groups_at_first": self.initial_groups,
            "without_company": self.left_over,
            "loss_before_moving": self.climbed,
            "loss": self.reached,
            "rounds": self.rounds,
            "rows_looked_at": self.work.rows,
            "groups_judged": self.work.checked,
            "looks_while_moving": self.comparisons,
            "out_of_time": self.out_of_time,
        })
    }

    fn to_text(&self, _: Outcome) -> Vec<Block> {
        let metric = self.metric.title();
        let left_over = match self.left_over {
            0 => "no records left over".to_owned(),
            1 => "1 left-over record joined another group".to_owned(),
            n => format!("{} left-over records joined other groups", thousands(n)),
        };
        let mut text = vec![Block::line(format!(
            "climbing {} combinations of levels: {}, {left_over}; {metric} {:.4}",
            thousands(self.combinations),
            groups(self.initial_groups),
            self.climbed
        ))];
        if self.rounds > 0 {
            let s = if self.rounds == 1 { "" } else { "s" };
            let time = if self.out_of_time { ", then the time limit was reached" } else { "" };
            let rounds = thousands(self.rounds);
            text.push(Block::line(format!(
                "moving   {rounds} round{s}{time}: {metric} {:.4}",
                self.reached
            )));
        }
        text
    }
}
