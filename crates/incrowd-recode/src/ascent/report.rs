//! The report of an ascent: how many groups the climb found and the loss that was reached.

use incrowd_core::text::{Block, groups, thousands};
use serde_json::{Value as Json, json};

use super::{Effort, Metric, Work};
use crate::{AlgorithmReport, Outcome};

/// How an ascent went. Losses are the mean over all published cells.
#[derive(Clone, Debug, PartialEq)]
pub struct AscentReport {
    /// What was to be least.
    pub metric: Metric,
    /// How much was done for it.
    pub effort: Effort,
    /// How many combinations of levels there are.
    pub combinations: u64,
    /// How many groups were found on the way.
    pub groups_at_first: u64,
    /// How many records found no company at any combination and joined others.
    pub without_company: u64,
    /// The loss before records were moved about.
    pub climbed: f64,
    /// The loss in the end.
    pub reached: f64,
    /// How many times all records were looked at to move them.
    pub rounds: u64,
    /// What the climb took.
    pub work: Work,
    /// How many times a row was looked at beside a group to move it.
    pub looks: u64,
    /// Whether that ended because the time was up.
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
            "groups_at_first": self.groups_at_first,
            "without_company": self.without_company,
            "loss_before_moving": self.climbed,
            "loss": self.reached,
            "rounds": self.rounds,
            "rows_looked_at": self.work.rows,
            "groups_judged": self.work.judged,
            "looks_while_moving": self.looks,
            "out_of_time": self.out_of_time,
        })
    }

    fn to_text(&self, _: Outcome) -> Vec<Block> {
        let metric = self.metric.title();
        let alone = match self.without_company {
            0 => "nobody without company".to_owned(),
            1 => "1 record without company placed with others".to_owned(),
            n => format!("{} records without company placed with others", thousands(n)),
        };
        let mut text = vec![Block::line(format!(
            "climbing {} combinations of levels: {}, {alone}; {metric} {:.4}",
            thousands(self.combinations),
            groups(self.groups_at_first),
            self.climbed
        ))];
        if self.rounds > 0 {
            let s = if self.rounds == 1 { "" } else { "s" };
            let time = if self.out_of_time { ", then the time was up" } else { "" };
            let rounds = thousands(self.rounds);
            text.push(Block::line(format!("moving   {rounds} round{s}{time}: {metric} {:.4}", self.reached)));
        }
        text
    }
}
