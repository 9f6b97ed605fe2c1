//! Scaling of attributes for distances.

use crate::error::{Error, Result};
use crate::number::ratio;

/// The records that determine the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// All records except those that are outliers by their sensitive value alone.
    Trimmed,
    /// All records.
    Original,
}

/// A given range of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// The column.
    pub column: String,
    /// The ends of the range, as positions.
    pub range: (f64, f64),
}

impl Bounds {
    /// Parses a range such as `age:0:120`.
    pub fn parse(text: &str) -> Result<Bounds> {
        let mut parts = text.rsplitn(3, ':').map(str::trim);
        let read = (|| {
            let (hi, lo, column) = (parts.next()?, parts.next()?, parts.next()?);
            let range = (lo.parse::<f64>().ok()?, hi.parse::<f64>().ok()?);
            let sound = range.0.is_finite()
                && range.1.is_finite()
                && range.0 < range.1
                && !column.is_empty();
            sound.then(|| Bounds { column: column.to_owned(), range })
        })();
        read.ok_or_else(|| {
            Error::job(format!("`bounds` has `{text}`, which is not a range"))
                .help("write age:0:120")
                .at("bounds")
        })
    }

    /// The given range of a column, if there is one. All positions must be inside it.
    pub(super) fn stated(stated: &[Bounds], column: &str, places: &[f64]) -> Result<Option<Axis>> {
        let Some(Bounds { range: (lo, hi), .. }) =
            stated.iter().find(|bounds| bounds.column == column)
        else {
            return Ok(None);
        };
        if places.iter().any(|place| !(*lo..=*hi).contains(place)) {
            return Err(Error::job(format!(
                "column `{column}` has values outside its given `bounds`"
            ))
            .help("widen them, or leave them out to use the range of the data")
            .at("bounds"));
        }
        Ok(Some(Axis { lo: *lo, hi: *hi }))
    }

    /// Refuses a range for a column on which no distance is measured.
    pub(super) fn all_known<'n>(
        stated: &[Bounds],
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<()> {
        match stated.iter().find(|bounds| !known.clone().any(|name| name == bounds.column)) {
            None => Ok(()),
            Some(Bounds { column, .. }) => Err(Error::job(format!(
                "`bounds` names `{column}`, on which no distance is measured"
            ))
            .help_near(column, known)
            .at("bounds")),
        }
    }
}

/// A range that is scaled to 0..1.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Axis {
    lo: f64,
    hi: f64,
}

impl Axis {
    /// The range of some positions; empty if there are none.
    pub(super) fn spanning(places: impl Iterator<Item = f64>) -> Axis {
        let empty = Axis { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
        places.fold(empty, |axis, x| Axis { lo: axis.lo.min(x), hi: axis.hi.max(x) })
    }

    /// A scaled position; outside the range it is below 0 or above 1. All positions of a constant
    /// attribute are 0.
    pub(super) fn scaled(self, x: f64) -> f64 {
        if self.hi > self.lo { ratio((self.lo, x), (self.lo, self.hi), 0.0) } else { 0.0 }
    }

    pub(super) fn range(self) -> (f64, f64) {
        (self.lo, self.hi)
    }
}

/// For each of the ascending values, whether at least `need` records have a value whose squared
/// distance is greater than `reach`.
pub(super) fn far_values(
    values: &[f64],
    counts: &[u64],
    axis: Axis,
    reach: f64,
    need: u64,
) -> Vec<bool> {
    let scaled: Vec<f64> = values.iter().map(|&x| axis.scaled(x)).collect();
    let sums: Vec<u64> = std::iter::once(0)
        .chain(counts.iter().scan(0, |sum, &n| {
            *sum += n;
            Some(*sum)
        }))
        .collect();
    let all = sums[sums.len() - 1];
    let near = |x: f64, y: f64| (x - y) * (x - y) <= reach;
    let far = |&x: &f64| {
        let from = scaled.partition_point(|&y| y < x && !near(x, y));
        let to = scaled.partition_point(|&y| y <= x || near(x, y));
        all - (sums[to] - sums[from]) >= need
    };
    scaled.iter().map(far).collect()
}
