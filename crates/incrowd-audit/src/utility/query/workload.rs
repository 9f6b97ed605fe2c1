//! Random queries. Equal seeds draw equal queries for the same original.

use incrowd_core::{Error, Result};

use super::super::comparison::{ColumnRole, Comparison, Line};
use super::super::rng::SeededRng;

/// Parameters of random queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Number of queries.
    pub queries: usize,
    /// The seed. It protects nobody and is printed.
    pub seed: u64,
    /// Expected selectivity θ: the share of the records that a query would select if records were
    /// distributed uniformly.
    pub selectivity: f64,
    /// Dimensionality λ: the number of quasi-identifiers with a range.
    pub dimensions: usize,
}

impl Default for Workload {
    fn default() -> Workload {
        Workload { queries: 1000, seed: 1, selectivity: 0.05, dimensions: 3 }
    }
}

/// A range on one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    /// Numbers between these, both included.
    Between(f64, f64),
    /// Leaves between these, both included.
    Leaves(u32, u32),
}

/// A counting query: counts the records that satisfy all predicates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    /// Quasi-identifiers with their ranges.
    pub(super) sides: Vec<(usize, Side)>,
    /// A column that is published unchanged, and which of its leaves are selected.
    pub(super) values: Option<(usize, Vec<bool>)>,
}

impl Workload {
    /// Draws the queries. Each of the λ ranges, and the sensitive predicate if there is one, covers
    /// the same share of its domain, so that the product of the shares is θ.
    pub(super) fn draw(&self, comparison: &Comparison) -> Result<Vec<Query>> {
        if self.queries == 0 || self.dimensions == 0 {
            return Err(Error::job("a workload needs at least one query with at least one range"));
        }
        if !(self.selectivity > 0.0 && self.selectivity <= 1.0) {
            return Err(Error::job("the selectivity of queries must be above 0 and at most 1"));
        }
        let sensitive: Vec<usize> = (0..comparison.lines.len())
            .filter(|&at| comparison.lines[at].role == ColumnRole::Sensitive)
            .collect();
        let dimensions = self.dimensions.min(comparison.quasi);
        let predicates = dimensions + usize::from(!sensitive.is_empty());
        let share = self.selectivity.powf(1.0 / predicates as f64);
        let mut rng = SeededRng::new(self.seed);
        let draw = |_| {
            let columns = rng.choose(dimensions, comparison.quasi);
            let sides =
                columns.into_iter().map(|at| (at, side(&comparison.lines[at], share, &mut rng)));
            let sides = sides.collect();
            let values = (!sensitive.is_empty()).then(|| {
                let at = sensitive[rng.below(sensitive.len())];
                let leaves = comparison.lines[at].leaves as usize;
                let mut selected = vec![false; leaves];
                rng.choose(part_of(leaves, share), leaves)
                    .into_iter()
                    .for_each(|leaf| selected[leaf] = true);
                (at, selected)
            });
            Query { sides, values }
        };
        Ok((0..self.queries).map(draw).collect())
    }
}

fn part_of(leaves: usize, share: f64) -> usize {
    ((leaves as f64 * share).ceil() as usize).clamp(1, leaves)
}

fn side(line: &Line, share: f64, rng: &mut SeededRng) -> Side {
    if line.numbers.is_some() {
        let (min, max) = line.range;
        if !(max - min).is_finite() {
            // The difference overflows, so compute with halves.
            let length = (max / 2.0 - min / 2.0) * share;
            let from = min / 2.0 + (max / 2.0 - min / 2.0 - length) * rng.unit();
            return Side::Between(from * 2.0, (from + length) * 2.0);
        }
        let length = (max - min) * share;
        let from = min + (max - min - length) * rng.unit();
        return Side::Between(from, from + length);
    }
    let leaves = line.leaves as usize;
    let count = part_of(leaves, share);
    let first = rng.below(leaves - count + 1);
    Side::Leaves(first as u32, (first + count - 1) as u32)
}
