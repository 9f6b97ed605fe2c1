//! The table of columns: what became of each, in one line. Measures that look at single columns add a figure each.

use incrowd_core::text::{Block, number, thousands};
use serde_json::{Map, Value as Json, json};

use super::UTILITIES;
use super::comparison::{Comparison, Line, Part};
use super::distribution::{original, reconstructed};
use super::kl_divergence::lost;

/// What became of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnUtility {
    /// Its name.
    pub name: String,
    /// What it is.
    pub part: Part,
    /// How many different cells the release has.
    pub cells: u64,
    /// Average normalized certainty penalty of the published cells and the suppressed records.
    pub ncp: f64,
    /// What each measure that looks at single columns says, by its name.
    pub figures: Vec<(&'static str, f64)>,
    /// Average width of the published ranges in the column's own units (days for dates), if it has numbers.
    pub mean_width: Option<f64>,
    /// How many values of the original cannot be in the release any more.
    pub lost_values: u64,
}

/// A column as measures see it.
pub(super) struct ColumnView<'a> {
    pub(super) line: &'a Line,
    /// The distribution of the original, and the one a reader reconstructs.
    pub(super) original: Vec<f64>,
    pub(super) reconstructed: Vec<f64>,
}

/// One line for each column, quasi-identifiers first.
pub fn columns(comparison: &Comparison) -> Vec<ColumnUtility> {
    comparison.lines.iter().map(|line| column(line, comparison.records)).collect()
}

fn column(line: &Line, records: u64) -> ColumnUtility {
    let view = ColumnView { line, original: original(line), reconstructed: reconstructed(line) };
    let published: u64 = line.published.iter().sum();
    let cells = || line.covers.iter().zip(&line.published);
    let penalties: f64 = cells().map(|(cover, &n)| n as f64 * cover.ncp).sum();
    let widths: Vec<(f64, u64)> =
        cells().filter_map(|(cover, &n)| cover.width.map(|width| (width, n))).collect();
    let wide: u64 = widths.iter().map(|(_, n)| n).sum();
    let sum: f64 = widths.iter().map(|(width, n)| width * *n as f64).sum();
    let suppressed = records.saturating_sub(published);
    let figures = UTILITIES.iter().filter_map(|card| Some((card.name, card.of_column.as_ref()?)));
    ColumnUtility {
        name: line.name.clone(),
        part: line.part,
        cells: line.covers.len() as u64,
        ncp: (penalties + suppressed as f64) / records.max(1) as f64,
        figures: figures.map(|(name, figure)| (name, (figure.of)(&view))).collect(),
        mean_width: (wide > 0).then(|| sum / wide as f64),
        lost_values: lost(&view.original, &view.reconstructed),
    }
}

impl Part {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Part::Quasi => "quasi",
            Part::Sensitive => "sensitive",
            Part::Target => "target",
        }
    }
}

impl ColumnUtility {
    /// What a measure says of the column.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(own, _)| *own == name).map(|(_, x)| *x)
    }

    /// What may be published. An infinite divergence is `null`: JSON has no infinity.
    pub fn public_json(&self) -> Json {
        let mut all = Map::new();
        all.insert("role".into(), json!(self.part.name()));
        all.insert("distinct_cells".into(), json!(self.cells));
        all.insert("ncp".into(), json!(self.ncp));
        all.extend(self.figures.iter().map(|(name, x)| ((*name).to_owned(), json!(x))));
        all.insert("mean_width".into(), json!(self.mean_width));
        Json::Object(all)
    }

    /// All columns for people, as far as they may be published.
    pub fn public_text(columns: &[ColumnUtility]) -> Vec<Block> {
        let figures = UTILITIES.iter().filter_map(|card| card.of_column.as_ref());
        let mut head = vec!["column", "role", "cells", "ncp"];
        head.extend(figures.map(|figure| figure.heading));
        head.push("mean width");
        let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
        for c in columns {
            let mut row = vec![c.name.clone(), c.part.name().into(), thousands(c.cells), number(c.ncp)];
            row.extend(c.figures.iter().map(|(_, x)| finite(*x)));
            row.push(c.mean_width.map_or_else(|| "-".into(), |width| format!("{width:.2}")));
            rows.push(row);
        }
        vec![Block::line(""), Block::line("columns"), Block::Table(rows)]
    }

    /// What is for the data owner only, for people.
    pub fn private_text(columns: &[ColumnUtility]) -> Vec<Block> {
        let lost = columns.iter().filter(|c| c.lost_values > 0);
        let lost: Vec<String> = lost.map(|c| format!("{} {}", c.name, thousands(c.lost_values))).collect();
        if lost.is_empty() {
            return Vec::new();
        }
        let lost = format!("values of the original that are in no cell any more: {}", lost.join(", "));
        vec![Block::line(""), Block::Line(lost)]
    }
}

/// A number that may be infinite, for people.
pub(super) fn finite(x: f64) -> String {
    if x.is_finite() { number(x) } else { "infinite".into() }
}
