//! The corners of a box, and the values that are good at each of them.
//!
//! Paper: `wang2009`, Definition 4.2 and Theorem 5.1. The corners of a box and the sensitive values
//! of its group form a matrix of good and bad tuples. A group is plain if no value is bad at every
//! corner (no bad row) and no corner is bad with every value (no bad column). A corner that is bad
//! with every value of the table is *dead*.
//!
//! Not all corners are enumerated. A box is first evaluated as a whole: a value that is good at all
//! its corners decides all columns, and if no value is good at any corner there is a bad column. An
//! undecided box is split in half on its widest side, down to single corners, whose results are
//! shared between boxes. Rows are checked last, because most are decided by the results for
//! columns.

use super::Outliers;
use super::cache::{Ends, Query};
use super::near::Bits;
use crate::region::Region;

/// Maximum number of boxes examined per group; beyond it the group counts as not plain.
const BUDGET: u32 = 20_000;
/// Boxes with at most this many non-flat sides are split at once: their corners are shared with
/// other boxes and mostly cached.
const FREE: usize = 6;

/// The reason why a group is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A value is bad at every corner.
    Row,
    /// A corner is bad with every value.
    Column,
    /// The search exceeded its budget, which counts as not plain.
    Budget,
}

/// The bad rows and columns of a small box, for reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The ranks of the group's values that are bad at every corner.
    pub bad_values: Vec<u32>,
    /// The corners that are bad with every value: one position per distance attribute.
    pub bad_corners: Vec<Vec<f64>>,
}

/// The search over the corners of one box.
struct Search<'a> {
    outliers: &'a Outliers,
    values: &'a Bits,
    /// Values known to be good at some corner.
    covered: Bits,
    steps: u32,
}

impl Search<'_> {
    fn step(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > BUDGET { Err(Fault::Budget) } else { Ok(()) }
    }

    /// Fails if a corner is bad with every value.
    fn columns(&mut self, ends: &Ends) -> Result<(), Fault> {
        self.step()?;
        let free = free(ends);
        if free == 0 || free > FREE && self.outliers.density.is_none() {
            let good = self.outliers.cache.ask(self.outliers, ends, Query::Any(self.values));
            self.covered.join(&good.all);
            if good.all.meets(self.values) {
                return Ok(());
            }
            if free == 0 || !good.some.meets(self.values) {
                return Err(Fault::Column);
            }
        }
        match halves(ends) {
            Some((left, right)) => {
                self.columns(&left)?;
                self.columns(&right)
            }
            None => Ok(()),
        }
    }

    /// Searches for a good corner of every value that has none yet.
    fn rows(&mut self, ends: &Ends) -> Result<(), Fault> {
        let missing = self.values.without(&self.covered);
        if missing.is_empty() {
            return Ok(());
        }
        self.step()?;
        let free = free(ends);
        if free == 0 || free > FREE && self.outliers.density.is_none() {
            let good = self.outliers.cache.ask(self.outliers, ends, Query::Each(&missing));
            self.covered.join(&good.all);
            if free == 0 || good.some.inside(self.values, &self.covered) {
                return Ok(());
            }
        }
        match halves(ends) {
            Some((left, right)) => {
                self.rows(&left)?;
                self.rows(&right)
            }
            None => Ok(()),
        }
    }
}

/// The number of non-flat sides of a box.
fn free(ends: &Ends) -> usize {
    ends.iter().filter(|(lo, hi)| lo != hi).count()
}

/// Splits a box: its widest side is fixed at one end, and at the other.
fn halves(ends: &Ends) -> Option<(Ends, Ends)> {
    let width = |axis: usize| (ends[axis].1 - ends[axis].0).abs();
    let axis = (0..ends.len()).rev().max_by(|&a, &b| width(a).total_cmp(&width(b)))?;
    if width(axis) == 0.0 {
        return None;
    }
    let fixed = |x: f64| {
        let mut half = ends.clone();
        half[axis] = (x, x);
        half
    };
    Some((fixed(ends[axis].0), fixed(ends[axis].1)))
}

impl Outliers {
    pub(super) fn ends(&self, region: &Region) -> Ends {
        let end = |&(q, axis): &(usize, super::scale::Axis)| {
            let (lo, hi) = region.extents[q].ends;
            (axis.scaled(lo), axis.scaled(hi))
        };
        self.axes.iter().map(end).collect()
    }

    /// Whether a group with this region and these values is plain: no bad row, no bad column.
    pub fn plain(&self, region: &Region, values: &Bits) -> Result<(), Fault> {
        let covered = Bits::none(self.values.len());
        let mut search = Search { outliers: self, values, covered, steps: 0 };
        let ends = self.ends(region);
        search.columns(&ends)?;
        search.rows(&ends)?;
        if values.inside(values, &search.covered) { Ok(()) } else { Err(Fault::Row) }
    }

    /// Whether a corner of the region is bad with every value of the table. No group with this
    /// region is plain then.
    pub fn is_dead(&self, region: &Region) -> bool {
        self.dead(&self.ends(region))
    }

    pub(super) fn dead(&self, ends: &Ends) -> bool {
        self.cache.dead(ends, || {
            let covered = Bits::none(self.values.len());
            let mut search = Search { outliers: self, values: &self.everything, covered, steps: 0 };
            search.columns(ends).is_err()
        })
    }

    /// Adds those of the wanted values that are good at some corner of a box. If the search exceeds
    /// its budget, all of them are added, because callers need a superset.
    pub(super) fn good_at_some_corner(&self, ends: &Ends, wanted: &Bits, found: &mut Bits) {
        let mut search =
            Search { outliers: self, values: wanted, covered: found.clone(), steps: 0 };
        match search.rows(ends) {
            Ok(()) => found.join(&search.covered),
            Err(_) => found.join(wanted),
        }
    }

    /// The number of evaluations of boxes and corners so far.
    pub fn evaluations(&self) -> u64 {
        self.cache.evaluations()
    }

    /// The good values at a position of the distance attributes, unscaled, in the order of
    /// [`Outliers::attributes`].
    pub fn good_at(&self, place: &[f64]) -> Bits {
        let ends = self
            .axes
            .iter()
            .zip(place)
            .map(|((_, axis), &x)| (axis.scaled(x), axis.scaled(x)))
            .collect();
        self.cache.good(self, &ends).all.clone()
    }

    /// The bad rows and columns of a box, corner by corner; `None` if it has more than 65,536
    /// corners.
    pub fn matrix(&self, region: &Region, values: &Bits) -> Option<Matrix> {
        let ends: Vec<(f64, f64)> =
            self.axes.iter().map(|(q, _)| region.extents[*q].ends).collect();
        let sides: Vec<Vec<f64>> =
            ends.iter().map(|&(lo, hi)| if lo == hi { vec![lo] } else { vec![lo, hi] }).collect();
        let count: usize =
            sides.iter().map(Vec::len).try_fold(1usize, |n, side| n.checked_mul(side))?;
        if count > 1 << 16 {
            return None;
        }
        let mut covered = Bits::none(self.values.len());
        let mut bad_corners = Vec::new();
        for mut at in 0..count {
            let mut corner = vec![0.0; sides.len()];
            for (axis, side) in sides.iter().enumerate().rev() {
                corner[axis] = side[at % side.len()];
                at /= side.len();
            }
            let good = self.good_at(&corner);
            if !good.meets(values) {
                bad_corners.push(corner);
            }
            covered.join(&good);
        }
        let bad_values = values.ranks().filter(|&rank| !covered.get(rank)).collect();
        Some(Matrix { bad_values, bad_corners })
    }
}
