//! What the trials found. It tells what other releases would have cost, so it is for the data owner.

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
