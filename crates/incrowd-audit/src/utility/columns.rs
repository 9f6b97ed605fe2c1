//! Utility per column. Measures for single columns contribute one figure each.

use incrowd_core::text::{Block, number, thousands};
use serde_json::{Map, Value as Json, json};

use super::UTILITIES;
use super::comparison::{ColumnRole, Comparison, Line};
use super::distribution::{original, reconstructed};
use super::kl_divergence::lost;

/// Utility of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnUtility {
    /// Name of the column.
    pub name: String,
    /// Role of the column.
    pub role: ColumnRole,
    /// Number of distinct cells of the release.
    pub cells: u64,
    /// Average normalized certainty penalty (NCP) over published cells and suppressed records.
    pub ncp: f64,
    /// Results of the measures for single columns, by name.
    pub figures: Vec<(&'static str, f64)>,
    /// Average width of the published ranges in the units of the column (days for dates). `None` if
    /// it is not numeric.
    pub mean_width: Option<f64>,
    /// Number of values of the original that no cell of the release covers.
    pub lost_values: u64,
}

/// Input of measures for single columns.
pub(super) struct ColumnView<'a> {
    pub(super) line: &'a Line,
    /// Distributions of the original and of the reconstruction.
    pub(super) original: Vec<f64>,
    pub(super) reconstructed: Vec<f64>,
}

/// Returns one entry per column, quasi-identifiers first.
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
        role: line.role,
        cells: line.covers.len() as u64,
        ncp: (penalties + suppressed as f64) / records.max(1) as f64,
        figures: figures.map(|(name, figure)| (name, (figure.of)(&view))).collect(),
        mean_width: (wide > 0).then(|| sum / wide as f64),
        lost_values: lost(&view.original, &view.reconstructed),
    }
}

impl ColumnRole {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ColumnRole::Quasi => "quasi",
            ColumnRole::Sensitive => "sensitive",
            ColumnRole::Target => "target",
        }
    }
}

impl ColumnUtility {
    /// Returns the result of a measure for the column.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(own, _)| *own == name).map(|(_, x)| *x)
    }

    /// Returns the public part as JSON. An infinite divergence is `null`, because JSON has no
    /// infinity.
    pub fn public_json(&self) -> Json {
        let mut all = Map::new();
        all.insert("role".into(), json!(self.role.name()));
        all.insert("distinct_cells".into(), json!(self.cells));
        all.insert("ncp".into(), json!(self.ncp));
        all.extend(self.figures.iter().map(|(name, x)| ((*name).to_owned(), json!(x))));
        all.insert("mean_width".into(), json!(self.mean_width));
        Json::Object(all)
    }

    /// Returns the public part of all columns as text.
    pub fn public_text(columns: &[ColumnUtility]) -> Vec<Block> {
        let figures = UTILITIES.iter().filter_map(|card| card.of_column.as_ref());
        let mut head = vec!["column", "role", "cells", "ncp"];
        head.extend(figures.map(|figure| figure.heading));
        head.push("mean width");
        let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
        for c in columns {
            let mut row =
                vec![c.name.clone(), c.role.name().into(), thousands(c.cells), number(c.ncp)];
            row.extend(c.figures.iter().map(|(_, x)| finite(*x)));
            row.push(c.mean_width.map_or_else(|| "-".into(), |width| format!("{width:.2}")));
            rows.push(row);
        }
        vec![Block::line(""), Block::line("columns"), Block::Table(rows)]
    }

    /// Returns the part for the data owner as text.
    pub fn private_text(columns: &[ColumnUtility]) -> Vec<Block> {
        let lost = columns.iter().filter(|c| c.lost_values > 0);
        let lost: Vec<String> =
            lost.map(|c| format!("{} {}", c.name, thousands(c.lost_values))).collect();
        if lost.is_empty() {
            return Vec::new();
        }
        let lost = format!("values of the original that no cell contains: {}", lost.join(", "));
        vec![Block::line(""), Block::Line(lost)]
    }
}

/// Formats a number that may be infinite.
pub(super) fn finite(x: f64) -> String {
    if x.is_finite() { number(x) } else { "infinite".into() }
}
