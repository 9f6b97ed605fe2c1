//! The report of local suppression: which cells are missing, and what somebody who knows everything would still find.

use incrowd_core::Dataset;
use incrowd_core::text::{Block, thousands};
use serde_json::{Value as Json, json};

use super::matches::Matches;
use super::points::columns_of;
use crate::{AlgorithmReport, Outcome};

/// The missing cells of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingOfColumn {
    /// The column's name.
    pub name: String,
    /// How many of its cells are missing.
    pub cells: u64,
}

/// Which cells are missing, and what that is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSuppressionReport {
    /// How many records every record matches at least.
    pub least: u64,
    /// Missing cells by column.
    pub columns: Vec<MissingOfColumn>,
    /// How many records have a missing cell.
    pub records: u64,
    /// How many people match fewer than `least` published records for somebody who knows all their quasi-identifiers.
    pub few: u64,
    /// How many of them match one record only, which is theirs.
    pub found: u64,
}

impl LocalSuppressionReport {
    pub(super) fn new(data: &Dataset, matches: &mut Matches<'_>, least: u64) -> LocalSuppressionReport {
        let width = data.quasi().len();
        let mut cells = vec![0; width];
        let (mut records, mut few, mut found) = (0, 0, 0);
        for at in 0..matches.scarce.len() {
            let point = matches.scarce[at];
            let own = matches.points.records[point as usize];
            let missing = matches.missing(point);
            columns_of(missing, width).for_each(|column| cells[column] += own);
            records += own;
            // Somebody who knows all values looks for records that show none but these.
            let candidates = matches.count(point, 0);
            few += if candidates < least { own } else { 0 };
            found += u64::from(candidates == 1);
        }
        let columns = data.quasi().iter().zip(cells);
        let columns =
            columns.map(|(quasi, cells)| MissingOfColumn { name: quasi.name.clone(), cells }).collect();
        LocalSuppressionReport { least, columns, records, few, found }
    }

    /// How many cells are missing.
    pub fn cells(&self) -> u64 {
        self.columns.iter().map(|column| column.cells).sum()
    }
}

impl AlgorithmReport for LocalSuppressionReport {
    fn name(&self) -> &'static str {
        "local_suppression"
    }

    fn taken(&self) -> Option<&'static str> {
        Some("local-suppression")
    }

    fn to_json(&self) -> Json {
        let columns = self.columns.iter().map(|c| (c.name.clone(), json!(c.cells)));
        json!({
            "missing_cells": self.cells(),
            "missing_by_column": columns.collect::<serde_json::Map<_, _>>(),
            "records_with_missing_cells": self.records,
            "people_few_match_for_who_knows_all": self.few,
            "people_found_by_who_knows_all": self.found,
        })
    }

    fn to_text(&self, _: Outcome) -> Vec<Block> {
        let columns: Vec<String> =
            self.columns.iter().map(|c| format!("{} {}", c.name, thousands(c.cells))).collect();
        vec![
            Block::line(format!(
                "missing  {} cells in {} records: {}",
                thousands(self.cells()),
                thousands(self.records),
                columns.join("   ")
            )),
            Block::line(format!(
                "known    to somebody who knows every quasi-identifier {} people match fewer than {} records, {} of them one only",
                thousands(self.few),
                self.least,
                thousands(self.found)
            )),
        ]
    }
}
