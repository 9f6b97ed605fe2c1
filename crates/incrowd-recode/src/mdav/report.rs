//! The report of MDAV: the distances of records from the centres of their groups, before and after
//! moves.

use incrowd_core::text::{Block, thousands};
use serde_json::{Value as Json, json};

use crate::{AlgorithmReport, Outcome};

/// The distances of records from the centres of their groups.
#[derive(Clone, Debug, PartialEq)]
pub struct MdavReport {
    /// The number of groups.
    pub groups: u64,
    /// The sum of squared distances to the centres of the groups, divided by that to the centre of
    /// the table, before moves.
    pub gathered: f64,
    /// This ratio after moves.
    pub moved: f64,
    /// IL1s: the mean distance of a record from the centre of its group in a column of numbers, in
    /// units of standard deviations times √2. 0 without such columns.
    pub il1s: f64,
    /// The number of rounds of moves.
    pub rounds: u64,
}

impl AlgorithmReport for MdavReport {
    fn name(&self) -> &'static str {
        "mdav"
    }

    fn to_json(&self) -> Json {
        json!({
            "groups": self.groups,
            "sse_over_sst_gathered": self.gathered,
            "sse_over_sst": self.moved,
            "il1s": self.il1s,
            "rounds": self.rounds,
        })
    }

    fn to_text(&self, _: Outcome) -> Vec<Block> {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let groups = thousands(self.groups);
        let mut line = format!("mdav     {groups} groups: SSE/SST {}", percent(self.gathered));
        if self.rounds > 0 {
            let s = if self.rounds == 1 { "" } else { "s" };
            line += &format!(
                ", {} after {} round{s} of moves",
                percent(self.moved),
                thousands(self.rounds)
            );
        }
        line += &format!("; IL1s {:.4}", self.il1s);
        vec![Block::line(line)]
    }
}
