//! The distance of two records: every column is an axis, scaled so that all columns have equal
//! influence, or influence in proportion to their importance.
//!
//! The coordinates of numbers are their standard scores. The distance of two values of a hierarchy
//! is the loss of a cell that covers both. Text values without a hierarchy are equal or different.
//! These distances are scaled so that the expected squared distance of two random records is that
//! of an axis of numbers. The centre of a group is its mean or, for other columns, the value with
//! the least sum of squared distances to the others (the most frequent one for plain text).

use incrowd_core::domain::Numbers;
use incrowd_core::group::merge_equal;
use incrowd_core::{Code, Dataset, Domain};

/// The greatest number of leaves for which a table of distances is computed.
const MAX_TABLED: u32 = 512;

/// The number of pairs of records from which the scale of larger domains is estimated, and the
/// stride between the second records of these pairs, a prime.
const PAIRS: usize = 4000;
const PAIR_STRIDE: usize = 7919;

/// A column.
#[derive(Debug)]
enum Axis<'a> {
    /// Coordinates are standard scores.
    Numbers,
    /// Coordinates are leaves, equal or different.
    Nominal { scale: f64 },
    /// Coordinates are leaves. `table` contains the squared distances of all pairs, or is empty.
    Tree { domain: &'a Domain, leaves: u32, scale: f64, table: Vec<f64> },
}

impl Axis<'_> {
    /// Returns the squared distance of two coordinates.
    #[inline]
    fn squared_distance(&self, a: f64, b: f64) -> f64 {
        match self {
            Axis::Numbers => (a - b) * (a - b),
            Axis::Nominal { scale } => {
                if a == b {
                    0.0
                } else {
                    *scale
                }
            }
            Axis::Tree { domain, leaves, scale, table } => {
                if a == b {
                    0.0
                } else if table.is_empty() {
                    let (lo, hi) = (a.min(b) as u32, a.max(b) as u32);
                    let loss = domain.loss(Code(lo), Code(hi));
                    loss * loss * scale
                } else {
                    table[a as usize * *leaves as usize + b as usize]
                }
            }
        }
    }
}

/// The points of all rows.
#[derive(Debug)]
pub(super) struct Space<'a> {
    axes: Vec<Axis<'a>>,
    /// Coordinates, row by row.
    points: Vec<f64>,
    /// Whether all columns are numbers.
    pub(super) numeric: bool,
}

impl<'a> Space<'a> {
    pub(super) fn new(data: &'a Dataset) -> Space<'a> {
        let width = data.quasi().len();
        let mut points = vec![0.0; data.rows() * width];
        let mut axes = Vec::with_capacity(width);
        for (q, quasi) in data.quasi().iter().enumerate() {
            let counts = data.leaf_counts(q);
            let point: Vec<f64> = match &quasi.domain {
                Domain::Numbers(line) => {
                    axes.push(Axis::Numbers);
                    scores(line.numbers(), &counts, quasi.weight)
                }
                domain => {
                    axes.push(categorical_axis(domain, data, q, &counts, quasi.weight));
                    (0..domain.leaves()).map(f64::from).collect()
                }
            };
            for row in 0..data.rows() {
                points[row * width + q] = point[data.quasi_codes(row)[q] as usize];
            }
        }
        let numeric = axes.iter().all(|axis| matches!(axis, Axis::Numbers));
        Space { axes, points, numeric }
    }

    pub(super) fn width(&self) -> usize {
        self.axes.len()
    }

    pub(super) fn is_number(&self, axis: usize) -> bool {
        matches!(self.axes[axis], Axis::Numbers)
    }

    /// Returns the point of a row.
    #[inline]
    pub(super) fn point(&self, row: u32) -> &[f64] {
        let width = self.axes.len();
        &self.points[row as usize * width..(row as usize + 1) * width]
    }

    /// Adds points for divided rows. `rows` are the rows they were divided from, in order.
    pub(super) fn extend(&mut self, rows: impl Iterator<Item = u32>) {
        let width = self.axes.len();
        for row in rows {
            self.points.extend_from_within(row as usize * width..(row as usize + 1) * width);
        }
    }

    /// Returns the squared distance of two points.
    #[inline]
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        if self.numeric {
            return a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
        }
        self.axes
            .iter()
            .zip(a.iter().zip(b))
            .map(|(axis, (&x, &y))| axis.squared_distance(x, y))
            .sum()
    }

    /// Returns the squared distance of two coordinates of an axis.
    pub(super) fn length(&self, axis: usize, lo: f64, hi: f64) -> f64 {
        self.axes[axis].squared_distance(lo, hi)
    }

    /// Returns a lower bound of the squared distance to all rows within a box.
    #[inline]
    pub(super) fn min_distance(&self, point: &[f64], sides: &[(f64, f64)]) -> f64 {
        let side = |(axis, (&x, &(lo, hi))): (&Axis<'_>, (&f64, &(f64, f64)))| {
            if x < lo {
                axis.squared_distance(x, lo)
            } else if x > hi {
                axis.squared_distance(x, hi)
            } else {
                0.0
            }
        };
        self.axes.iter().zip(point.iter().zip(sides)).map(side).sum()
    }

    /// Returns an upper bound of the squared distance to all rows within a box.
    #[inline]
    pub(super) fn max_distance(&self, point: &[f64], sides: &[(f64, f64)]) -> f64 {
        let side = |(axis, (&x, &(lo, hi))): (&Axis<'_>, (&f64, &(f64, f64)))| {
            // The distance grows monotonically in both directions from `x`, so one of the ends is
            // farthest.
            axis.squared_distance(x, lo).max(axis.squared_distance(x, hi))
        };
        self.axes.iter().zip(point.iter().zip(sides)).map(side).sum()
    }

    /// Returns the centre of rows with these numbers of records: means and, on other axes, the
    /// value with the least sum of squared distances.
    pub(super) fn centre(&self, rows: &[(u32, u64)]) -> Vec<f64> {
        let records: u64 = rows.iter().map(|row| row.1).sum();
        let centre = |axis: usize| match &self.axes[axis] {
            Axis::Numbers => {
                rows.iter().map(|&(row, n)| self.point(row)[axis] * n as f64).sum::<f64>()
                    / records as f64
            }
            _ => self.nearest_value(axis, rows).0,
        };
        (0..self.width()).map(centre).collect()
    }

    /// Returns the value of an axis with the least sum of squared distances to those of all rows,
    /// the lowest of several, and that sum.
    fn nearest_value(&self, axis: usize, rows: &[(u32, u64)]) -> (f64, f64) {
        let mut values: Vec<(f64, u64)> =
            rows.iter().map(|&(row, n)| (self.point(row)[axis], n)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        merge_equal(&mut values);
        let sum = |x: f64| {
            values
                .iter()
                .map(|&(y, n)| self.axes[axis].squared_distance(x, y) * n as f64)
                .sum::<f64>()
        };
        let mut best = (0.0, f64::INFINITY);
        for &(x, _) in &values {
            let own = sum(x);
            if own < best.1 {
                best = (x, own);
            }
        }
        best
    }

    /// Returns the sum of squared distances of rows from their centre, over the axes that are not
    /// numbers.
    pub(super) fn categorical_sum(&self, rows: &[(u32, u64)]) -> f64 {
        let others = (0..self.width()).filter(|&axis| !self.is_number(axis));
        others.map(|axis| self.nearest_value(axis, rows).1).sum()
    }
}

/// Returns the standard scores of the leaves of a domain of numbers, multiplied by the square root
/// of the column's importance. A missing value is one deviation beyond the greatest number.
fn scores(numbers: &Numbers, counts: &[u64], weight: f64) -> Vec<f64> {
    let mut values: Vec<f64> = match numbers {
        Numbers::Integers(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Reals(v) => v.clone(),
        Numbers::Dates(v) => v.iter().map(|&n| f64::from(n)).collect(),
    };
    // Greater numbers are scaled, because their squares would overflow.
    let greatest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if greatest > 1e100 {
        values.iter_mut().for_each(|x| *x /= greatest);
    }
    let records: u64 = counts.iter().take(values.len()).sum();
    let mean = |of: &dyn Fn(f64) -> f64| {
        values.iter().zip(counts).map(|(&x, &n)| of(x) * n as f64).sum::<f64>()
            / records.max(1) as f64
    };
    let middle = mean(&|x| x);
    let deviation = mean(&|x| (x - middle) * (x - middle)).sqrt();
    let factor = if deviation > 0.0 { weight.sqrt() / deviation } else { 0.0 };
    let mut scores: Vec<f64> = values.iter().map(|x| (x - middle) * factor).collect();
    let beyond = scores.last().copied().unwrap_or(0.0) + weight.sqrt();
    scores.resize(counts.len(), beyond);
    scores
}

/// Creates the axis of a column that does not contain numbers.
fn categorical_axis<'a>(
    domain: &'a Domain,
    data: &Dataset,
    q: usize,
    counts: &[u64],
    weight: f64,
) -> Axis<'a> {
    // The expected squared distance of two random records is 2 on an axis of standard scores.
    let scale = |mean: f64| if mean > 0.0 { 2.0 * weight / mean } else { 0.0 };
    let records = data.records().max(1) as f64;
    if matches!(domain, Domain::Labels(_)) {
        let alike: f64 = counts.iter().map(|&n| (n as f64 / records).powi(2)).sum();
        return Axis::Nominal { scale: scale(1.0 - alike) };
    }
    let leaves = domain.leaves();
    let squared = |a: u32, b: u32| {
        let loss = if a == b { 0.0 } else { domain.loss(Code(a.min(b)), Code(a.max(b))) };
        loss * loss
    };
    if leaves <= MAX_TABLED {
        let pairs = |a: u32| (0..leaves).map(move |b| (a, b));
        let mut table: Vec<f64> = (0..leaves).flat_map(pairs).map(|(a, b)| squared(a, b)).collect();
        let share = |leaf: usize| counts[leaf] as f64 / records;
        let mean: f64 = table
            .iter()
            .enumerate()
            .map(|(i, x)| x * share(i / leaves as usize) * share(i % leaves as usize))
            .sum();
        let scale = scale(mean);
        table.iter_mut().for_each(|x| *x *= scale);
        return Axis::Tree { domain, leaves, scale, table };
    }
    let rows = data.rows();
    let code = |at: usize| data.quasi_codes(at % rows)[q];
    let sum: f64 = (0..PAIRS)
        .map(|i| squared(code(i * (rows / PAIRS).max(1)), code(i * PAIR_STRIDE + 1)))
        .sum();
    Axis::Tree { domain, leaves, scale: scale(sum / PAIRS as f64), table: Vec::new() }
}
