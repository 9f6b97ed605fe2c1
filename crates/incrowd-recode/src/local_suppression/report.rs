//! The report of local suppression: the missing cells, and the re-identification risk with complete
//! background knowledge.

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
    /// The number of its missing cells.
    pub cells: u64,
}

/// The missing cells and the remaining risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSuppressionReport {
    /// The least number of records that every record matches.
    pub least: u64,
    /// Missing cells by column.
    pub columns: Vec<MissingOfColumn>,
    /// The number of records with a missing cell.
    pub records: u64,
    /// The number of people who match fewer than `least` published records for an adversary who
    /// knows all their quasi-identifiers.
    pub few: u64,
    /// The number of these people who match exactly one record, their own.
    pub found: u64,
}

impl LocalSuppressionReport {
    pub(super) fn new(
        data: &Dataset,
        matches: &mut Matches<'_>,
        least: u64,
    ) -> LocalSuppressionReport {
        let width = data.quasi().len();
        let mut cells = vec![0; width];
        let (mut records, mut few, mut found) = (0, 0, 0);
        for at in 0..matches.rare.len() {
            let point = matches.rare[at];
            let own = matches.points.records[point as usize];
            let missing = matches.missing(point);
            columns_of(missing, width).for_each(|column| cells[column] += own);
            records += own;
            // An adversary who knows all values of a person compares them with the published cells.
            let candidates = matches.count(point, 0);
            few += if candidates < least { own } else { 0 };
            found += u64::from(candidates == 1);
        }
        let columns = data.quasi().iter().zip(cells);
        let columns = columns
            .map(|(quasi, cells)| MissingOfColumn { name: quasi.name.clone(), cells })
            .collect();
        LocalSuppressionReport { least, columns, records, few, found }
    }

    /// Returns the number of missing cells.
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
                "known    to an adversary who knows every quasi-identifier {} people match fewer \
                 than {} records, {} of them only one",
                thousands(self.few),
                self.least,
                thousands(self.found)
            )),
        ]
    }
}
