//! What the trials found. It tells what other releases would have cost, so it is for the data owner.

use incrowd_core::text::{Block, number};
use serde_json::{Value as Json, json};

use crate::{AlgorithmReport, Outcome};

/// The trials, the order, and what was kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialReport {
    /// How the order was used, as the option says it.
    pub priority: &'static str,
    /// What each quasi-identifier cost as the one to be divided first, in the order of the table.
    pub trials: Vec<Trial>,
    /// The same with numbers cut at the median, if that was asked for.
    pub median_trials: Vec<Trial>,
    /// The quasi-identifiers in order of priority; empty without trials.
    pub order: Vec<String>,
    /// The certainty penalty of the final run, averaged over all cells.
    pub last: f64,
    /// Which run was kept.
    pub kept: KeptRun,
    /// How many runs there were.
    pub runs: usize,
    /// The columns that were given a single width afterwards.
    pub single_width: Vec<SingleWidth>,
}

/// A run that favours one quasi-identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The quasi-identifier.
    pub column: String,
    /// The certainty penalties of all cells, added up.
    pub cost: f64,
    /// The same, averaged over all cells: what the order goes by.
    pub rate: f64,
    /// What the trial would cost if it were published, unless that is more than the final run anyway. Where numbers are cut at
    /// the median, trials group them by regular intervals, and tight ranges cost less than those.
    pub published: Option<f64>,
}

/// Which of the runs is published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeptRun {
    /// The final one.
    #[default]
    Last,
    /// The trial of this quasi-identifier.
    Trial(String),
}

/// What a single width costs a column.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleWidth {
    /// The column.
    pub column: String,
    /// The width, in the column's units; days for dates.
    pub width: f64,
    /// Its average certainty penalty with all widths.
    pub before: f64,
    /// The same with the single width.
    pub after: f64,
}

impl AlgorithmReport for TrialReport {
    fn name(&self) -> &'static str {
        "trials"
    }

    fn to_json(&self) -> Json {
        let trial = |trial: &Trial| json!({ "column": trial.column, "ncp": trial.rate, "ncp_if_published": trial.published });
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
            let way = match self.priority {
                "rank" => "as weights",
                "all-orders" => "the best of all orders",
                "lex-both" => "the better of two orders",
                _ => "the first that can be divided",
            };
            text.push(Block::line(format!("runs     {}; kept: {kept}", self.runs)));
            text.push(Block::line(format!("order    {} ({way})", self.order.join(", "))));
            let header = ["divided first", "NCP of the trial", "if published"].map(str::to_owned);
            let mut rows = vec![header.to_vec()];
            let rate = |x: f64| format!("{x:.4}");
            let published = |t: &Trial| t.published.map_or_else(|| "more".to_owned(), rate);
            let trial = |t: &Trial| vec![t.column.clone(), rate(t.rate), published(t)];
            rows.extend(self.trials.iter().map(trial));
            let again = |t: &Trial| vec![format!("{} (at the median)", t.column), rate(t.rate), published(t)];
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
