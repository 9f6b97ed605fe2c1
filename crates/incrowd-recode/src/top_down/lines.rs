//! What a stretch of each line costs: the perimeter of a box is the sum over its sides.

use incrowd_core::domain::Numbers;
use incrowd_core::{Code, Dataset, Domain};

/// The lines of a table, ready to be measured often.
#[derive(Debug)]
pub struct Lines<'a> {
    lines: Vec<Line<'a>>,
}

enum Line<'a> {
    /// The number at each leaf, and the width of the domain.
    Numbers(Vec<f64>, f64),
    Other(&'a Domain),
}

// Cells must not reach logs.
impl std::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Line::Numbers(..)) { "Numbers" } else { "Other" })
    }
}

impl<'a> Lines<'a> {
    /// The lines of a table.
    pub fn new(data: &'a Dataset) -> Lines<'a> {
        let line = |domain: &'a Domain| match domain {
            Domain::Numbers(line) => {
                let values: Vec<f64> = match line.numbers() {
                    Numbers::Integers(v) => v.iter().map(|&n| n as f64).collect(),
                    Numbers::Reals(v) => v.clone(),
                    Numbers::Dates(v) => v.iter().map(|&n| f64::from(n)).collect(),
                };
                let (min, max) = line.domain();
                // A missing value has no place among the numbers.
                if values.len() as u32 == domain.leaves() {
                    match max - min {
                        width if width.is_finite() => Line::Numbers(values, width),
                        // Halves, because the range itself is greater than any number.
                        _ => Line::Numbers(values.iter().map(|x| x / 2.0).collect(), max / 2.0 - min / 2.0),
                    }
                } else {
                    Line::Other(domain)
                }
            }
            _ => Line::Other(domain),
        };
        Lines { lines: data.quasi().iter().map(|quasi| line(&quasi.domain)).collect() }
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether the leaves are numbers, so that the cost of a stretch is its length.
    pub(crate) fn is_numeric(&self, line: usize) -> bool {
        matches!(self.lines[line], Line::Numbers(..))
    }

    /// What the leaves from `lo` to `hi` cost, from 0 to 1.
    #[inline]
    pub fn cost(&self, line: usize, lo: u32, hi: u32) -> f64 {
        if lo == hi {
            return 0.0;
        }
        match &self.lines[line] {
            Line::Numbers(values, width) if *width > 0.0 => {
                (values[hi as usize] - values[lo as usize]) / width
            }
            Line::Numbers(..) => 0.0,
            Line::Other(domain) => domain.ncp(Code(lo), Code(hi)),
        }
    }

    /// The perimeter of the box of two points.
    pub(crate) fn distance(&self, a: &[u32], b: &[u32]) -> f64 {
        let side = |(line, (&x, &y)): (usize, (&u32, &u32))| self.cost(line, x.min(y), x.max(y));
        a.iter().zip(b).enumerate().map(side).sum()
    }

    /// The perimeter of a box.
    pub(crate) fn perimeter(&self, spans: &[(u32, u32)]) -> f64 {
        spans.iter().enumerate().map(|(line, &(lo, hi))| self.cost(line, lo, hi)).sum()
    }
}

/// Whether a cost is less than another by more than rounding can have made of it: costs that differ by less are a tie.
#[inline]
pub(crate) fn less(a: f64, b: f64) -> bool {
    b - a > 1e-11 * a.abs().max(b.abs()).max(1e-3)
}
