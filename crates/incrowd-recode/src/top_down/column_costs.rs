//! The loss of ranges of leaves. The perimeter of a box is the sum over its sides.

use incrowd_core::domain::Numbers;
use incrowd_core::{Code, Dataset, Domain};

/// The losses of ranges in all columns of a table, prepared for fast access.
#[derive(Debug)]
pub struct ColumnCosts<'a> {
    costs: Vec<ColumnCost<'a>>,
}

enum ColumnCost<'a> {
    /// The number at each leaf, and the width of the domain.
    Numbers(Vec<f64>, f64),
    Other(&'a Domain),
}

// Cells must not reach logs.
impl std::fmt::Debug for ColumnCost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, ColumnCost::Numbers(..)) { "Numbers" } else { "Other" })
    }
}

impl<'a> ColumnCosts<'a> {
    /// Prepares the columns of a table.
    pub fn new(data: &'a Dataset) -> ColumnCosts<'a> {
        let q = |domain: &'a Domain| match domain {
            Domain::Numbers(numbers) => {
                let values: Vec<f64> = match numbers.numbers() {
                    Numbers::Integers(v) => v.iter().map(|&n| n as f64).collect(),
                    Numbers::Reals(v) => v.clone(),
                    Numbers::Dates(v) => v.iter().map(|&n| f64::from(n)).collect(),
                };
                let (min, max) = numbers.domain();
                // A missing value has no position among the numbers.
                if values.len() as u32 == domain.leaves() {
                    match max - min {
                        width if width.is_finite() => ColumnCost::Numbers(values, width),
                        // Values are halved, because the difference overflows.
                        _ => ColumnCost::Numbers(
                            values.iter().map(|x| x / 2.0).collect(),
                            max / 2.0 - min / 2.0,
                        ),
                    }
                } else {
                    ColumnCost::Other(domain)
                }
            }
            _ => ColumnCost::Other(domain),
        };
        ColumnCosts { costs: data.quasi().iter().map(|quasi| q(&quasi.domain)).collect() }
    }

    /// Returns the number of columns.
    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }

    /// Returns whether the leaves are numbers, so that the loss of a range is its length.
    pub(crate) fn is_numeric(&self, q: usize) -> bool {
        matches!(self.costs[q], ColumnCost::Numbers(..))
    }

    /// Returns the loss of the leaves from `lo` to `hi`, from 0 to 1.
    #[inline]
    pub fn cost(&self, q: usize, lo: u32, hi: u32) -> f64 {
        if lo == hi {
            return 0.0;
        }
        match &self.costs[q] {
            ColumnCost::Numbers(values, width) if *width > 0.0 => {
                (values[hi as usize] - values[lo as usize]) / width
            }
            ColumnCost::Numbers(..) => 0.0,
            ColumnCost::Other(domain) => domain.ncp(Code(lo), Code(hi)),
        }
    }

    /// Returns the perimeter of the bounding box of two points.
    pub(crate) fn distance(&self, a: &[u32], b: &[u32]) -> f64 {
        let side = |(q, (&x, &y)): (usize, (&u32, &u32))| self.cost(q, x.min(y), x.max(y));
        a.iter().zip(b).enumerate().map(side).sum()
    }

    /// Returns the perimeter of a box.
    pub(crate) fn perimeter(&self, spans: &[(u32, u32)]) -> f64 {
        spans.iter().enumerate().map(|(q, &(lo, hi))| self.cost(q, lo, hi)).sum()
    }
}

/// Returns whether a cost is less than another by more than a rounding error. Costs that differ by
/// less are a tie.
#[inline]
pub(crate) fn less(a: f64, b: f64) -> bool {
    b - a > 1e-11 * a.abs().max(b.abs()).max(1e-3)
}
