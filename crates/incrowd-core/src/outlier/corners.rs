//! The corners of a box: which of them are good with which values.
//!
//! Paper: `wang2009`, Definition 4.2 and Theorem 5.1. Over the corners of a box and the sensitive values of its group, bad
//! tuples make a matrix. A group is plain if no value is bad at every corner (no bad row) and no corner is bad with every
//! value (no bad column). A corner that is bad with every value of the table is *dead*.
//!
//! What was found out about a corner is kept, and boxes share corners, so up to 64 of them are simply asked. The corners of
//! larger boxes are not enumerated. Such a box is looked at as a whole first: values that are good at all its corners settle
//! their rows and all columns at once, a value that is good at none ends the search. Only what is not settled is halved, on
//! the widest side, until few corners are left.

use std::sync::{Arc, Mutex};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Outliers;
use super::near::{Bits, Good};
use crate::region::Region;

/// For each axis the two ends of a box, scaled; alike where there is only one.
pub(super) type Ends = Box<[(f64, f64)]>;

/// So many boxes are looked at for one group before the answer is no.
const BUDGET: u32 = 20_000;
/// Up to so many free sides all corners are asked.
const FREE: usize = 6;
/// So many bytes of good values are kept.
const KEPT: usize = 512 << 20;

/// Why a group is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A value is bad at every corner.
    Row,
    /// A corner is bad with every value.
    Column,
    /// The search was given up, which counts as not plain.
    Budget,
}

/// The whole matrix of a small box, for reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The ranks of the group's values that are bad at every corner.
    pub bad_values: Vec<u32>,
    /// The corners that are bad with every value: one place per distance attribute.
    pub bad_corners: Vec<Vec<f64>>,
}

#[derive(Default)]
struct Kept {
    good: HashMap<Box<[u64]>, Arc<Good>, FixedState>,
    dead: HashMap<Box<[u64]>, bool, FixedState>,
    looked: u64,
}

/// What was found out already.
#[derive(Default)]
pub(super) struct Cache {
    kept: Mutex<Kept>,
}

fn key(ends: &Ends) -> Box<[u64]> {
    // One zero has two forms.
    let bits = |x: f64| (x + 0.0).to_bits();
    ends.iter().flat_map(|&(a, b)| [bits(a), bits(b)]).collect()
}

impl Cache {
    pub(super) fn good(&self, outliers: &Outliers, ends: &Ends) -> Arc<Good> {
        let key = key(ends);
        if let Ok(kept) = self.kept.lock()
            && let Some(good) = kept.good.get(&key)
        {
            return good.clone();
        }
        let good = Arc::new(outliers.look(ends, None));
        if let Ok(mut kept) = self.kept.lock() {
            let each = 16 * outliers.scaled.len().div_ceil(64) + 16 * ends.len() + 96;
            if kept.good.len() * each > KEPT {
                kept.good.clear();
            }
            kept.looked += 1;
            kept.good.insert(key, good.clone());
        }
        good
    }
}

/// The search over the corners of one box.
struct Search<'a> {
    outliers: &'a Outliers,
    values: &'a Bits,
    covered: Bits,
    steps: u32,
}

impl Search<'_> {
    fn down(&mut self, ends: &Ends) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > BUDGET {
            return Err(Fault::Budget);
        }
        if let Some(corners) = corners(ends) {
            for corner in corners {
                let good = self.outliers.cache.good(self.outliers, &corner);
                if !good.all.meets(self.values) {
                    return Err(Fault::Column);
                }
                self.covered.join(&good.all);
            }
            return Ok(());
        }
        let good = self.outliers.cache.good(self.outliers, ends);
        if !good.some.meets(self.values) {
            return Err(Fault::Column);
        }
        self.covered.join(&good.all);
        let columns = good.all.meets(self.values);
        if columns && good.some.inside(self.values, &self.covered) {
            return Ok(());
        }
        match halves(ends) {
            Some((left, right)) => {
                self.down(&left)?;
                self.down(&right)
            }
            None => Ok(()),
        }
    }
}

/// The corners of a box, if it has few.
fn corners(ends: &Ends) -> Option<impl Iterator<Item = Ends> + '_> {
    let free: Vec<usize> = (0..ends.len()).filter(|&axis| ends[axis].0 != ends[axis].1).collect();
    (free.len() <= FREE).then(|| {
        (0u32..1 << free.len()).map(move |which| {
            let mut corner = ends.clone();
            for (bit, &axis) in free.iter().enumerate() {
                let (lo, hi) = ends[axis];
                let end = if which >> bit & 1 == 0 { lo } else { hi };
                corner[axis] = (end, end);
            }
            corner
        })
    })
}

/// A box with its widest side fixed at one end, and at the other.
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

    /// Whether a group with this region and these values hides everybody: no bad row, no bad column.
    pub fn plain(&self, region: &Region, values: &Bits) -> Result<(), Fault> {
        let covered = Bits::none(self.values.len());
        let mut search = Search { outliers: self, values, covered, steps: 0 };
        search.down(&self.ends(region))?;
        if values.inside(values, &search.covered) { Ok(()) } else { Err(Fault::Row) }
    }

    /// Whether a corner of the region is bad with every value of the table, so that no group with it is plain.
    pub fn is_dead(&self, region: &Region) -> bool {
        self.dead(&self.ends(region))
    }

    /// Adds the values that are good at some corner of a box, as far as they are asked for.
    pub(super) fn good_at_some_corner(&self, ends: &Ends, asked: &Bits, found: &mut Bits) {
        if let Some(corners) = corners(ends) {
            corners.for_each(|corner| found.join(&self.cache.good(self, &corner).all));
            return;
        }
        let good = self.cache.good(self, ends);
        found.join(&good.all);
        if good.some.inside(asked, found) {
            return;
        }
        if let Some((left, right)) = halves(ends) {
            self.good_at_some_corner(&left, asked, found);
            self.good_at_some_corner(&right, asked, found);
        }
    }

    pub(super) fn dead(&self, ends: &Ends) -> bool {
        let key = key(ends);
        if let Ok(kept) = self.cache.kept.lock()
            && let Some(&dead) = kept.dead.get(&key)
        {
            return dead;
        }
        let mut stack = vec![ends.clone()];
        let (mut dead, mut steps) = (false, 0);
        while let Some(part) = stack.pop() {
            steps += 1;
            if let Some(mut corners) = corners(&part) {
                dead = corners.any(|corner| self.cache.good(self, &corner).all.is_empty());
                if dead {
                    break;
                }
                continue;
            }
            let good = self.cache.good(self, &part);
            dead = good.some.is_empty() || steps > BUDGET;
            if dead {
                break;
            }
            if good.all.is_empty()
                && let Some((left, right)) = halves(&part)
            {
                stack.extend([right, left]);
            }
        }
        if let Ok(mut kept) = self.cache.kept.lock() {
            kept.dead.insert(key, dead);
        }
        dead
    }

    /// How many boxes and corners were looked at so far.
    pub fn looked(&self) -> u64 {
        self.cache.kept.lock().map_or(0, |kept| kept.looked)
    }

    /// The good values at a place of the distance attributes, given in the order of [`Outliers::attributes`] as it stands in
    /// the table, unscaled.
    pub fn good_at(&self, place: &[f64]) -> Bits {
        let ends =
            self.axes.iter().zip(place).map(|((_, axis), &x)| (axis.scaled(x), axis.scaled(x))).collect();
        self.cache.good(self, &ends).all.clone()
    }

    /// The whole matrix of a box, corner by corner; `None` if it has more than 65,536 corners.
    pub fn matrix(&self, region: &Region, values: &Bits) -> Option<Matrix> {
        let ends: Vec<(f64, f64)> = self.axes.iter().map(|(q, _)| region.extents[*q].ends).collect();
        let sides: Vec<Vec<f64>> =
            ends.iter().map(|&(lo, hi)| if lo == hi { vec![lo] } else { vec![lo, hi] }).collect();
        let count: usize = sides.iter().map(Vec::len).try_fold(1usize, |n, side| n.checked_mul(side))?;
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
