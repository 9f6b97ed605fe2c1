//! Association of pairs of columns, in the original and in the reconstruction.
//!
//! Paper: `cramer1946`, chapter on contingency tables: V is `√(χ² / (n (min(r, c) − 1)))` of the
//! table of two columns, where r and c are the numbers of values that occur. It is 0 for
//! independent columns and 1 if one column determines the other.
//!
//! The original's table is compared with the reconstruction, in which each record of the release is
//! distributed evenly over the pairs of leaves of its two cells.
//!
//! Where we differ: a column with more than 32 leaves is divided into at most 32 bins of
//! consecutive leaves with similar numbers of records in the original. Both tables have the same
//! bins. V is not corrected for small tables.

use incrowd_core::Better;
use incrowd_core::text::{Block, number};
use serde_json::{Value as Json, json};

use super::bins::Bins;
use super::columns::finite;
use super::comparison::{CellGroup, Comparison};
use super::kl_divergence::{kl_divergence, lost};
use super::total_variation::total_variation;
use super::{Card, Layout, Measured};

pub(super) const CARD: Card = Card {
    name: "association",
    paper: "cramer1946",
    about: "For every pair of columns, Cramer's V in the original and in the reconstruction from \
            the release: 0 if the columns are independent, 1 if one determines the other. The \
            divergence and the distance of the two tables are reported too. V should be close to \
            the original's.",
    limits: "Generalization usually weakens associations, but V may also increase: the records of \
             a cell are distributed evenly, and rare values that get too many of them look like a \
             pattern. Columns with more than 32 values are binned first. V of small tables is too \
             large.",
    better: Better::Nearer,
    by_default: false,
    fits: &[Layout::OneTable, Layout::Linked],
    reads_means: false,
    of_column: None,
    measure: Some(|comparison, _, _| Ok(Some(Box::new(Pairs(pairs(comparison)))))),
};

/// Association of two columns.
#[derive(Clone, Debug, PartialEq)]
pub struct PairUtility {
    /// Names of the columns.
    pub columns: (String, String),
    /// Cramér's V in the original.
    pub original: f64,
    /// Cramér's V in the reconstruction.
    pub reconstructed: f64,
    /// Divergence of the original from the reconstruction, in nats. It may be infinite.
    pub kl_divergence: f64,
    /// Total variation distance between the two.
    pub total_variation: f64,
    /// Number of pairs of values, or of bins, in the original that the reconstruction lacks.
    pub lost_pairs: u64,
}

/// Associations of all pairs of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs(pub Vec<PairUtility>);

impl Measured for Pairs {
    fn public_json(&self) -> Json {
        let pair = |p: &PairUtility| {
            json!({
                "columns": [p.columns.0, p.columns.1],
                "cramers_v": { "original": p.original, "reconstructed": p.reconstructed },
                "kl_divergence": p.kl_divergence,
                "total_variation": p.total_variation,
            })
        };
        self.0.iter().map(pair).collect()
    }

    fn private_json(&self) -> Option<(&'static str, Json)> {
        let lost = |p: &PairUtility| {
            let columns = [&p.columns.0, &p.columns.1];
            json!({ "columns": columns, "lost": p.lost_pairs })
        };
        Some(("lost_pairs", self.0.iter().map(lost).collect()))
    }

    fn public_text(&self) -> Vec<Block> {
        let head = ["columns", "V before", "V after", "kl", "tv"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.0.iter().map(|p| {
            vec![
                format!("{} × {}", p.columns.0, p.columns.1),
                number(p.original),
                number(p.reconstructed),
                finite(p.kl_divergence),
                number(p.total_variation),
            ]
        }));
        let title = "pairs of columns (columns with more than 32 values have at most 32 bins)";
        vec![Block::line(""), Block::line(title), Block::Table(rows)]
    }
}

/// Returns the associations of all pairs of columns, in order.
pub fn pairs(comparison: &Comparison) -> Vec<PairUtility> {
    let bins: Vec<Bins> = comparison.lines.iter().map(Bins::new).collect();
    let width = comparison.lines.len();
    let all = (0..width).flat_map(|a| (a + 1..width).map(move |b| (a, b)));
    all.map(|(a, b)| pair(comparison, &bins, a, b)).collect()
}

fn pair(comparison: &Comparison, bins: &[Bins], a: usize, b: usize) -> PairUtility {
    let p = original(comparison, bins, a, b);
    let q = reconstructed(comparison, bins, a, b);
    let columns = bins[b].count();
    PairUtility {
        columns: (comparison.lines[a].name.clone(), comparison.lines[b].name.clone()),
        original: cramers_v(&p, columns),
        reconstructed: cramers_v(&q, columns),
        kl_divergence: kl_divergence(&p, &q),
        total_variation: total_variation(&p, &q),
        lost_pairs: lost(&p, &q),
    }
}

fn original(comparison: &Comparison, bins: &[Bins], a: usize, b: usize) -> Vec<f64> {
    let columns = bins[b].count();
    let mut counts = vec![0u64; bins[a].count() * columns];
    let leaves = comparison.leaves[a].iter().zip(&comparison.leaves[b]);
    for ((&x, &y), records) in leaves.zip(&comparison.counts) {
        counts[bins[a].of(x) * columns + bins[b].of(y)] += records;
    }
    counts.into_iter().map(|n| n as f64 / comparison.records.max(1) as f64).collect()
}

/// Returns the reconstructed table of two columns. It first distributes the records over the bins
/// of `b` for every cell of `a`, then over the bins of `a`. This is linear in the number of groups.
/// Distributing each group over all its pairs of bins would be quadratic in the bins.
fn reconstructed(comparison: &Comparison, bins: &[Bins], a: usize, b: usize) -> Vec<f64> {
    let (rows, columns) = (bins[a].count(), bins[b].count());
    let shares = |at: usize| -> Vec<Vec<(usize, f64)>> {
        comparison.lines[at].covers.iter().map(|cover| bins[at].shares(cover)).collect()
    };
    let (of_a, of_b) = (shares(a), shares(b));
    let mut half = vec![0.0; of_a.len() * columns];
    let mut add = |x: u32, y: u32, records: u64| {
        for &(bin, share) in &of_b[y as usize] {
            half[x as usize * columns + bin] += share * records as f64;
        }
    };
    let quasi = comparison.quasi;
    for CellGroup { cells, records, rest, .. } in &comparison.groups {
        if b < quasi {
            add(cells[a], cells[b], *records);
            continue;
        }
        for (others, records) in rest {
            let x = if a < quasi { cells[a] } else { others[a - quasi] };
            add(x, others[b - quasi], *records);
        }
    }
    let mut table = vec![0.0; rows * columns];
    for (cell, shares) in of_a.iter().enumerate() {
        let from = &half[cell * columns..(cell + 1) * columns];
        for &(bin, share) in shares {
            let into = &mut table[bin * columns..(bin + 1) * columns];
            into.iter_mut().zip(from).for_each(|(into, from)| *into += share * from);
        }
    }
    let published = comparison.published.max(1) as f64;
    table.into_iter().map(|mass| mass / published).collect()
}

fn cramers_v(table: &[f64], columns: usize) -> f64 {
    let rows: Vec<f64> = table.chunks(columns.max(1)).map(|row| row.iter().sum()).collect();
    let mut sums = vec![0.0; columns];
    for row in table.chunks(columns.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
    }
    let occurring = |sums: &[f64]| sums.iter().filter(|p| **p > 0.0).count();
    let least = occurring(&rows).min(occurring(&sums));
    if least < 2 {
        return 0.0;
    }
    let mut chi = 0.0;
    for (row, of_row) in table.chunks(columns).zip(&rows) {
        for (p, of_column) in row.iter().zip(&sums) {
            let expected = of_row * of_column;
            if expected > 0.0 {
                chi += (p - expected) * (p - expected) / expected;
            }
        }
    }
    (chi / (least - 1) as f64).sqrt().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v_of_known_tables() {
        assert_eq!(cramers_v(&[0.25, 0.25, 0.25, 0.25], 2), 0.0);
        assert_eq!(cramers_v(&[0.5, 0.0, 0.0, 0.5], 2), 1.0);
        // χ² of (10, 20; 30, 40) by hand: 100 (10·40 − 20·30)² / (30·70·40·60) = 0.7937.
        let v = cramers_v(&[0.1, 0.2, 0.3, 0.4], 2);
        assert!((v - (0.793_650_793_65_f64 / 100.0).sqrt()).abs() < 1e-9, "{v}");
        assert_eq!(cramers_v(&[0.5, 0.5], 2), 0.0);
    }
}
