//! The regular intervals of a published column. Their bounds are visible in the release anyway;
//! with them every reader can check that each cell is in the tree.

use incrowd_core::hierarchy::mdr::{Grid, Unit};
use incrowd_core::number::{date_of, parse_date};
use serde::{Deserialize, Serialize};

/// Regular intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegularIntervals {
    unit: String,
    from: End,
    to: End,
    width: f64,
    factors: Vec<u32>,
    outliers_from: Option<End>,
    outliers_to: Option<End>,
}

/// A bound of the intervals; bounds of dates are written as dates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum End {
    Integer(i64),
    Real(f64),
    Date(String),
}

impl End {
    fn new(x: f64, unit: Unit) -> End {
        match unit {
            Unit::Dates => End::Date(date_of(x as i32).to_string()),
            Unit::Integers => End::Integer(x as i64),
            Unit::Reals => End::Real(x),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            End::Integer(n) => Some(*n as f64),
            End::Real(x) => Some(*x),
            End::Date(text) => parse_date(text).map(f64::from),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Integer(n) => n.fmt(f),
            End::Real(x) => x.fmt(f),
            End::Date(text) => text.fmt(f),
        }
    }
}

impl RegularIntervals {
    pub(crate) fn of(grid: &Grid) -> RegularIntervals {
        let end = |x: f64| End::new(x, grid.unit);
        let unit = Unit::ALL.iter().find(|(_, unit)| *unit == grid.unit).map(|(name, _)| *name);
        RegularIntervals {
            unit: unit.unwrap_or_default().to_owned(),
            from: end(grid.lo),
            to: end(grid.hi),
            width: grid.width,
            factors: grid.factors.clone(),
            outliers_from: grid.low.map(end),
            outliers_to: grid.high.map(end),
        }
    }

    /// Returns the intervals, if they are valid.
    pub(crate) fn grid(&self) -> Option<Grid> {
        let unit = Unit::ALL.iter().find(|(name, _)| *name == self.unit).map(|(_, unit)| *unit)?;
        let (lo, hi) = (self.from.number()?, self.to.number()?);
        let end = |end: &Option<End>| end.as_ref().and_then(End::number);
        let (low, high) = (end(&self.outliers_from), end(&self.outliers_to));
        let (width, factors) = (self.width, self.factors.clone());
        Some(Grid { unit, lo, hi, width, factors, low, high }).filter(Grid::is_sound)
    }

    /// Describes the intervals for a summary.
    pub fn describe(&self, column: &str) -> String {
        let widths: Vec<String> = self
            .factors
            .iter()
            .map(|factor| (f64::from(*factor) * self.width).to_string())
            .collect();
        let days = if self.unit == "date" { " days" } else { "" };
        let s = if widths.len() == 1 { "" } else { "s" };
        let (from, to) = (&self.from, &self.to);
        let mut line = format!("{column}: {from} to {to} in width{s} {}{days}", widths.join(", "));
        if let Some(end) = &self.outliers_from {
            line += &format!("; one cell down to {end}");
        }
        if let Some(end) = &self.outliers_to {
            line += &format!("; one cell up to {end}");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_survive_a_round_trip() {
        for unit in [Unit::Integers, Unit::Reals, Unit::Dates] {
            let width = if unit == Unit::Reals { 0.25 } else { 3.0 };
            let grid = Grid {
                unit,
                lo: -4.0,
                hi: 40.0,
                width,
                factors: vec![1, 4],
                low: None,
                high: Some(90.0),
            };
            let text = serde_json::to_string(&RegularIntervals::of(&grid)).unwrap();
            let back: RegularIntervals = serde_json::from_str(&text).unwrap();
            assert_eq!(back.grid(), Some(grid));
        }
        assert!(serde_json::from_str::<RegularIntervals>(r#"{ "unit": "integer" }"#).is_err());
    }
}
