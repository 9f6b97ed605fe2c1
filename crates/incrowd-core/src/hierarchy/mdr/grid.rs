//! A tree of regular intervals with known ends and width: a grid of cells, adjacent ones of which
//! are joined.

use crate::number::date_of;

/// 2^53: greater integers are not all exact as floats.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;
/// Maximum number of cells for which a linear search of a value's cell is accepted.
const FEW: f64 = 4096.0;

/// The type of a grid's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Integers: cells are closed and do not touch.
    Integers,
    /// Any numbers: adjacent cells share an end point, which belongs to the upper one.
    Reals,
    /// Days since 1970-01-01, written as dates.
    Dates,
}

impl Unit {
    /// The names in a manifest.
    pub const ALL: [(&'static str, Unit); 3] =
        [("integer", Unit::Integers), ("real", Unit::Reals), ("date", Unit::Dates)];

    fn text(self, x: f64) -> String {
        match self {
            Unit::Dates => date_of(x as i32).to_string(),
            _ => x.to_string(),
        }
    }
}

/// Cells `[lo + i * width, lo + (i + 1) * width)`, the last one closed at `hi`. Each level joins as
/// many of them as its factor.
#[derive(Clone, PartialEq)]
pub struct Grid {
    /// The type of the numbers.
    pub unit: Unit,
    /// The start of the first cell.
    pub lo: f64,
    /// The end of the last cell.
    pub hi: f64,
    /// The width of the finest cells.
    pub width: f64,
    /// The number of finest cells that each level joins, finest first.
    pub factors: Vec<u32>,
    /// The start of the cell of values below `lo`, if there is one.
    pub low: Option<f64>,
    /// The end of the cell of values above `hi`, if there is one.
    pub high: Option<f64>,
}

crate::opaque_debug!(Grid { unit, factors });

/// A closed interval and the text it is published as.
#[derive(Clone, PartialEq)]
pub(super) struct Interval {
    pub(super) label: String,
    pub(super) extent: (f64, f64),
}

impl Grid {
    /// Whether every cell can be found and distinguished from adjacent ones: ends and edges are
    /// exact numbers, or there are few cells.
    pub fn is_sound(&self) -> bool {
        let ends = [Some(self.lo), Some(self.hi), self.low, self.high];
        let end = |x: f64| match self.unit {
            Unit::Reals => x.is_finite(),
            Unit::Integers => x.abs() < EXACT,
            Unit::Dates => f64::from(date_of(x as i32).days()) == x.trunc(),
        };
        let range = self.hi - self.lo;
        let furthest = self.lo.abs().max(self.hi.abs());
        let distinguishable = match self.unit {
            _ if self.width == 0.0 => true,
            // Edges are rounded to twelve digits.
            Unit::Reals => range / self.width <= FEW || self.width >= furthest * 1e-11,
            _ => self.width >= 1.0,
        };
        ends.into_iter().flatten().all(end)
            && self.lo <= self.hi
            && range.is_finite()
            && self.width.is_finite()
            && self.width >= 0.0
            && distinguishable
            && (1..=32).contains(&self.factors.len())
            && !self.factors.contains(&0)
    }

    /// The number of cells of the finest level.
    pub fn cells(&self) -> u64 {
        if self.width <= 0.0 {
            return 1;
        }
        let whole = self.unit != Unit::Reals;
        let range = self.hi - self.lo + if whole { 1.0 } else { 0.0 };
        let mut count = (range / self.width).ceil().max(1.0);
        // Rounding may put the last edge on the wrong side of the end; the published edges decide.
        while !whole && count > 1.0 && self.edge(count - 1.0) >= self.hi {
            count -= 1.0;
        }
        count as u64
    }

    fn edge(&self, i: f64) -> f64 {
        let x = self.lo + i * self.width;
        // The first edge is not rounded, because the cell of low outliers ends there.
        if self.unit == Unit::Reals && i > 0.0 {
            super::super::intervals::significant(x)
        } else {
            x
        }
    }

    /// The intervals of a value, finest first; empty if the value is outside the grid.
    pub(super) fn path(&self, x: f64) -> Vec<Interval> {
        let step = if self.unit == Unit::Reals { 0.0 } else { 1.0 };
        if step > 0.0 && x.fract() != 0.0 {
            return Vec::new();
        }
        if x < self.lo || x > self.hi {
            // A cell of outliers is a child of the root.
            let extent = match (self.low, self.high) {
                (Some(low), _) if x < self.lo && x >= low => (low, self.lo - step),
                (_, Some(high)) if x > self.hi && x <= high => (self.hi + step, high),
                _ => return Vec::new(),
            };
            return vec![self.interval(extent)];
        }
        if self.width <= 0.0 {
            return self.factors.iter().map(|_| self.interval((self.lo, self.hi))).collect();
        }
        let last = self.cells() as f64 - 1.0;
        let mut cell = ((x - self.lo) / self.width).floor().clamp(0.0, last);
        while cell > 0.0 && x < self.edge(cell) {
            cell -= 1.0;
        }
        while cell < last && x >= self.edge(cell + 1.0) {
            cell += 1.0;
        }
        let join = |&factor: &u32| {
            let factor = f64::from(factor);
            let first = (cell / factor).floor() * factor;
            let end = self.edge(first + factor) - step;
            self.interval((
                self.edge(first),
                if first + factor > last { self.hi } else { end.min(self.hi) },
            ))
        };
        self.factors.iter().map(join).collect()
    }

    fn interval(&self, (lo, hi): (f64, f64)) -> Interval {
        let text = |x: f64| self.unit.text(x);
        let label = if lo == hi { text(lo) } else { format!("[{}, {}]", text(lo), text(hi)) };
        Interval { label, extent: (lo, hi) }
    }

    /// The grid with one of its widths only.
    #[must_use]
    pub fn with_factor(&self, factor: u32) -> Grid {
        Grid { factors: vec![factor], ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(grid: &Grid, x: f64) -> Vec<String> {
        grid.path(x).into_iter().map(|interval| interval.label).collect()
    }

    fn ages() -> Grid {
        let (unit, factors) = (Unit::Integers, vec![1, 2, 4]);
        Grid { unit, lo: 22.0, hi: 62.0, width: 2.0, factors, low: Some(17.0), high: None }
    }

    #[test]
    fn values_are_generalized_from_cell_to_cell() {
        assert_eq!(labels(&ages(), 25.0), ["[24, 25]", "[22, 25]", "[22, 29]"]);
        assert_eq!(labels(&ages(), 62.0), ["62", "62", "62"]);
        assert_eq!(labels(&ages(), 18.0), ["[17, 21]"]);
        assert!(labels(&ages(), 63.0).is_empty() && labels(&ages(), 16.0).is_empty());
        assert_eq!(ages().cells(), 21);
    }

    #[test]
    fn a_grid_with_indistinguishable_cells_is_not_sound() {
        assert!(ages().is_sound());
        let reals = Grid { unit: Unit::Reals, lo: 0.0, hi: 73.0, width: 1e-17, ..ages() };
        let far = Grid { unit: Unit::Reals, lo: 0.0, hi: 1e300, width: 5.0, low: None, ..ages() };
        let wide = Grid { unit: Unit::Reals, lo: -1.7e308, hi: 1.7e308, width: 1e307, ..ages() };
        let dates = Grid { unit: Unit::Dates, hi: 1e9, ..ages() };
        for grid in [reals, far, wide, dates, Grid { high: Some(1e300), ..ages() }] {
            assert!(!grid.is_sound(), "{} {}", grid.lo, grid.hi);
        }
        // Few cells may be closer than the rounding: the linear search is short.
        let close =
            Grid { unit: Unit::Reals, lo: 1e15, hi: 1e15 + 4.0, width: 0.2, low: None, ..ages() };
        assert!(close.is_sound() && !close.path(1e15 + 2.0).is_empty());
    }

    #[test]
    fn dates_are_written_as_dates() {
        let grid = Grid { unit: Unit::Dates, lo: 0.0, hi: 40.0, width: 7.0, low: None, ..ages() };
        assert_eq!(labels(&grid, 8.0)[0], "[1970-01-08, 1970-01-14]");
    }

    #[test]
    fn the_greatest_number_belongs_to_the_last_cell() {
        let grid = Grid { unit: Unit::Reals, lo: 1.0, hi: 9.0, width: 0.4, low: None, ..ages() };
        assert_eq!(labels(&grid, 9.0), ["[8.6, 9]", "[8.2, 9]", "[7.4, 9]"]);
        assert_eq!(labels(&grid, 1.4)[0], "[1.4, 1.8]");
        assert_eq!(grid.cells(), 20);
    }
}
