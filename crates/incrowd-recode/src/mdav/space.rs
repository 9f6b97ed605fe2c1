//! How far apart two records are: every column is an axis, scaled so that all columns count alike, or as much as their weights say.
//!
//! Numbers lie at their standard scores. Values of a hierarchy are as far apart as publishing both in one cell would lose, text
//! without a hierarchy is alike or not; both are scaled so that two records drawn at random are as far apart as on an axis of
//! numbers. The middle of a group is its mean, or the value nearest to all others (the most frequent one, for plain text).

use incrowd_core::domain::Numbers;
use incrowd_core::{Code, Dataset, Domain};

/// Tables of distances are kept for lines of at most this many leaves.
const MOST_TABLED: u32 = 512;

/// So many pairs of records tell the scale of a longer line; far records are paired by this leap.
const PAIRS: usize = 4000;
const LEAP: usize = 7919;

/// A column.
#[derive(Debug)]
enum Axis<'a> {
    /// Coordinates are scores.
    Numbers,
    /// Coordinates are leaves, alike or not.
    Nominal { scale: f64 },
    /// Coordinates are leaves; squared distances by two leaves, if they are kept.
    Tree { domain: &'a Domain, leaves: u32, scale: f64, table: Vec<f64> },
}

impl Axis<'_> {
    /// The squared distance of two coordinates.
    #[inline]
    fn apart(&self, a: f64, b: f64) -> f64 {
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

/// The places of all rows.
#[derive(Debug)]
pub(super) struct Space<'a> {
    axes: Vec<Axis<'a>>,
    /// Coordinates, row by row.
    places: Vec<f64>,
    /// Whether all columns are numbers.
    pub(super) numeric: bool,
}

impl<'a> Space<'a> {
    pub(super) fn new(data: &'a Dataset) -> Space<'a> {
        let width = data.quasi().len();
        let mut places = vec![0.0; data.rows() * width];
        let mut axes = Vec::with_capacity(width);
        for (q, quasi) in data.quasi().iter().enumerate() {
            let counts = data.leaf_counts(q);
            let place: Vec<f64> = match &quasi.domain {
                Domain::Numbers(line) => {
                    axes.push(Axis::Numbers);
                    scores(line.numbers(), &counts, quasi.weight)
                }
                domain => {
                    axes.push(qualities(domain, data, q, &counts, quasi.weight));
                    (0..domain.leaves()).map(f64::from).collect()
                }
            };
            for row in 0..data.rows() {
                places[row * width + q] = place[data.quasi_codes(row)[q] as usize];
            }
        }
        let numeric = axes.iter().all(|axis| matches!(axis, Axis::Numbers));
        Space { axes, places, numeric }
    }

    pub(super) fn width(&self) -> usize {
        self.axes.len()
    }

    pub(super) fn is_number(&self, axis: usize) -> bool {
        matches!(self.axes[axis], Axis::Numbers)
    }

    /// Where a row lies.
    #[inline]
    pub(super) fn place(&self, row: u32) -> &[f64] {
        let width = self.axes.len();
        &self.places[row as usize * width..(row as usize + 1) * width]
    }

    /// The same places for a table in which some rows were divided: the rows they were divided from, in order.
    pub(super) fn extend(&mut self, rows: impl Iterator<Item = u32>) {
        let width = self.axes.len();
        for row in rows {
            self.places.extend_from_within(row as usize * width..(row as usize + 1) * width);
        }
    }

    /// The squared distance of two places.
    #[inline]
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        if self.numeric {
            return a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
        }
        self.axes.iter().zip(a.iter().zip(b)).map(|(axis, (&x, &y))| axis.apart(x, y)).sum()
    }

    /// How far apart two coordinates of an axis are, squared.
    pub(super) fn length(&self, axis: usize, lo: f64, hi: f64) -> f64 {
        self.axes[axis].apart(lo, hi)
    }

    /// No row whose coordinates lie within the box is nearer than this.
    #[inline]
    pub(super) fn at_least(&self, place: &[f64], sides: &[(f64, f64)]) -> f64 {
        let side = |(axis, (&x, &(lo, hi))): (&Axis<'_>, (&f64, &(f64, f64)))| {
            if x < lo {
                axis.apart(x, lo)
            } else if x > hi {
                axis.apart(x, hi)
            } else {
                0.0
            }
        };
        self.axes.iter().zip(place.iter().zip(sides)).map(side).sum()
    }

    /// No row whose coordinates lie within the box is farther than this.
    #[inline]
    pub(super) fn at_most(&self, place: &[f64], sides: &[(f64, f64)]) -> f64 {
        let side = |(axis, (&x, &(lo, hi))): (&Axis<'_>, (&f64, &(f64, f64)))| {
            // Distances on a line of leaves grow with the distance from `x`, so the ends are farthest.
            axis.apart(x, lo).max(axis.apart(x, hi))
        };
        self.axes.iter().zip(place.iter().zip(sides)).map(side).sum()
    }

    /// The middle of rows with so many records each: means, and on other axes the value that is nearest to all.
    pub(super) fn middle(&self, rows: &[(u32, u64)]) -> Vec<f64> {
        let records: u64 = rows.iter().map(|row| row.1).sum();
        let middle = |axis: usize| match &self.axes[axis] {
            Axis::Numbers => {
                rows.iter().map(|&(row, n)| self.place(row)[axis] * n as f64).sum::<f64>() / records as f64
            }
            _ => self.nearest_value(axis, rows).0,
        };
        (0..self.width()).map(middle).collect()
    }

    /// The value of an axis that is nearest to those of all rows, the lowest of equally near ones, and how far they are in all.
    fn nearest_value(&self, axis: usize, rows: &[(u32, u64)]) -> (f64, f64) {
        let mut values: Vec<(f64, u64)> = rows.iter().map(|&(row, n)| (self.place(row)[axis], n)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|b, a| {
            let same = a.0 == b.0;
            a.1 += if same { b.1 } else { 0 };
            same
        });
        let sum = |x: f64| values.iter().map(|&(y, n)| self.axes[axis].apart(x, y) * n as f64).sum::<f64>();
        let mut best = (0.0, f64::INFINITY);
        for &(x, _) in &values {
            let own = sum(x);
            if own < best.1 {
                best = (x, own);
            }
        }
        best
    }

    /// How far rows are from their middle on the axes that are no numbers, in all.
    pub(super) fn qualities(&self, rows: &[(u32, u64)]) -> f64 {
        let others = (0..self.width()).filter(|&axis| !self.is_number(axis));
        others.map(|axis| self.nearest_value(axis, rows).1).sum()
    }
}

/// The standard scores of the leaves of a line of numbers, times the root of the column's weight. A missing value lies one
/// deviation beyond the greatest number.
fn scores(numbers: &Numbers, counts: &[u64], weight: f64) -> Vec<f64> {
    let mut values: Vec<f64> = match numbers {
        Numbers::Integers(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Reals(v) => v.clone(),
        Numbers::Dates(v) => v.iter().map(|&n| f64::from(n)).collect(),
    };
    // Numbers beyond this would leave no room for their squares.
    let greatest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if greatest > 1e100 {
        values.iter_mut().for_each(|x| *x /= greatest);
    }
    let records: u64 = counts.iter().take(values.len()).sum();
    let mean = |of: &dyn Fn(f64) -> f64| {
        values.iter().zip(counts).map(|(&x, &n)| of(x) * n as f64).sum::<f64>() / records.max(1) as f64
    };
    let middle = mean(&|x| x);
    let deviation = mean(&|x| (x - middle) * (x - middle)).sqrt();
    let factor = if deviation > 0.0 { weight.sqrt() / deviation } else { 0.0 };
    let mut scores: Vec<f64> = values.iter().map(|x| (x - middle) * factor).collect();
    let beyond = scores.last().copied().unwrap_or(0.0) + weight.sqrt();
    scores.resize(counts.len(), beyond);
    scores
}

/// The axis of a column that is no line of numbers.
fn qualities<'a>(domain: &'a Domain, data: &Dataset, q: usize, counts: &[u64], weight: f64) -> Axis<'a> {
    // Two records drawn at random are at a squared distance of 2 on an axis of scores.
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
    if leaves <= MOST_TABLED {
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
    let sum: f64 = (0..PAIRS).map(|i| squared(code(i * (rows / PAIRS).max(1)), code(i * LEAP + 1))).sum();
    Axis::Tree { domain, leaves, scale: scale(sum / PAIRS as f64), table: Vec::new() }
}
