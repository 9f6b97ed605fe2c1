//! The table of columns: what became of each, in one line.

use super::comparison::{Comparison, Line, Part};
use super::distribution::{original, reconstructed};
use super::kl_divergence::{kl_divergence, lost};
use super::non_uniform_entropy::{EntropyLoss, of_line};
use super::total_variation::total_variation;

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
    /// Non-uniform entropy.
    pub entropy: EntropyLoss,
    /// Divergence of the original from the reconstruction, in nats; may be infinite.
    pub kl_divergence: f64,
    /// Distance between the original and the reconstruction.
    pub total_variation: f64,
    /// Average width of the published ranges in the column's own units (days for dates), if it has numbers.
    pub mean_width: Option<f64>,
    /// How many values of the original cannot be in the release any more.
    pub lost_values: u64,
}

/// One line for each column, quasi-identifiers first.
pub fn columns(comparison: &Comparison) -> Vec<ColumnUtility> {
    comparison.lines.iter().map(|line| column(line, comparison.records)).collect()
}

fn column(line: &Line, records: u64) -> ColumnUtility {
    let (p, q) = (original(line), reconstructed(line));
    let published: u64 = line.published.iter().sum();
    let cells = || line.covers.iter().zip(&line.published);
    let penalties: f64 = cells().map(|(cover, &n)| n as f64 * cover.ncp).sum();
    let widths: Vec<(f64, u64)> =
        cells().filter_map(|(cover, &n)| cover.width.map(|width| (width, n))).collect();
    let wide: u64 = widths.iter().map(|(_, n)| n).sum();
    let sum: f64 = widths.iter().map(|(width, n)| width * *n as f64).sum();
    let suppressed = records.saturating_sub(published);
    ColumnUtility {
        name: line.name.clone(),
        part: line.part,
        cells: line.covers.len() as u64,
        ncp: (penalties + suppressed as f64) / records.max(1) as f64,
        entropy: of_line(line),
        kl_divergence: kl_divergence(&p, &q),
        total_variation: total_variation(&p, &q),
        mean_width: (wide > 0).then(|| sum / wide as f64),
        lost_values: lost(&p, &q),
    }
}
