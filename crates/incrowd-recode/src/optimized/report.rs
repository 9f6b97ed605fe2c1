//! The report of the trials, for the data owner only: it contains the costs of other releases.

use incrowd_core::text::{Block, number};
use serde_json::{Value as Json, json};

use crate::{AlgorithmReport, Outcome};

/// The trials, the order, and the run that was kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialReport {
    /// The value of the parameter `priority`.
    pub priority: &'static str,
    /// The trial of each quasi-identifier, in the order of the table.
    pub trials: Vec<Trial>,
    /// The trials with numbers cut at the median, if requested.
    pub median_trials: Vec<Trial>,
    /// The quasi-identifiers in order of priority. Empty without trials.
    pub order: Vec<String>,
    /// The certainty penalty of the final run, averaged over all cells.
    pub last: f64,
    /// The run that was kept.
    pub kept: KeptRun,
    /// The number of runs.
    pub runs: usize,
    /// The columns that got a single width afterwards.
    pub single_width: Vec<SingleWidth>,
}

/// A run that divides one quasi-identifier first.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The quasi-identifier.
    pub column: String,
    /// The sum of the certainty penalties of all cells.
    pub cost: f64,
    /// The mean certainty penalty of all cells, which determines the order.
    pub rate: f64,
    /// The mean penalty if the trial were published, or `None` if it exceeds that of the final run.
    /// If numbers are cut at the median, trials group them by regular intervals, and the published
    /// tight ranges cost less.
    pub published: Option<f64>,
}

/// The run that is published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeptRun {
    /// The final one.
    #[default]
    Last,
    /// The trial of this quasi-identifier.
    Trial(String),
}

/// The effect of a single width on a column.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleWidth {
    /// The column.
    pub column: String,
    /// The width, in the column's units; days for dates.
    pub width: f64,
    /// The column's mean certainty penalty with all widths.
    pub before: f64,
    /// The column's mean certainty penalty with the single width.
    pub after: f64,
}

impl AlgorithmReport for TrialReport {
    fn name(&self) -> &'static str {
        "trials"
    }

    fn to_json(&self) -> Json {
        let trial = |trial: &Trial| {
            let Trial { column, rate, published, .. } = trial;
            json!({ "column": column, "ncp": rate, "ncp_if_published": published })
        };
        let width = |w: &SingleWidth| {
            let SingleWidth { column, width, before, after } = w;
            json!({ "column": column, "width": width, "ncp_before": before, "ncp_after": after })
        };
        json!({
            "priority": self.priority,
            "trials": self.trials.iter().map(trial).collect::<Vec<_>>(),
            "median_trials": self.median_trials.iter().map(trial).collect::<Vec<_>>(),
            "order": self.order,
            "final": self.last,
            "kept": match &self.kept {
                KeptRun::Last => json!({ "run": "final" }),
                KeptRun::Trial(column) => json!({ "run": "trial", "column": column }),
            },
            "runs": self.runs,
            "single_width": self.single_width.iter().map(width).collect::<Vec<_>>(),
        })
    }

    fn to_text(&self, _: Outcome) -> Vec<Block> {
        let mut text = Vec::new();
        if self.trials.is_empty() {
            text.push(Block::line("runs     one, the widest column first: no trials"));
        } else {
            let kept = match &self.kept {
                KeptRun::Last => "the final run".to_owned(),
                KeptRun::Trial(column) => {
                    format!("the trial of {column}, which costs less than the final run")
                }
            };
            let use_of_order = match self.priority {
                "rank" => "as factors",
                "all-orders" => "the best of all orders",
                "lex-both" => "the better of two orders",
                _ => "the first that can be divided",
            };
            text.push(Block::line(format!("runs     {}; kept: {kept}", self.runs)));
            text.push(Block::line(format!("order    {} ({use_of_order})", self.order.join(", "))));
            let header = ["divided first", "NCP of the trial", "if published"].map(str::to_owned);
            let mut rows = vec![header.to_vec()];
            let rate = |x: f64| format!("{x:.4}");
            let published = |t: &Trial| t.published.map_or_else(|| "more".to_owned(), rate);
            let trial = |t: &Trial| vec![t.column.clone(), rate(t.rate), published(t)];
            rows.extend(self.trials.iter().map(trial));
            let again = |t: &Trial| {
                vec![format!("{} (at the median)", t.column), rate(t.rate), published(t)]
            };
            rows.extend(self.median_trials.iter().map(again));
            rows.push(vec!["final run".to_owned(), String::new(), rate(self.last)]);
            text.push(Block::Table(rows));
        }
        text.extend(self.single_width.iter().map(|single| {
            Block::line(format!(
                "single width of {}: {}; its NCP is {:.4}, with all widths it was {:.4}",
                single.column,
                number(single.width),
                single.after,
                single.before
            ))
        }));
        text
    }
}
