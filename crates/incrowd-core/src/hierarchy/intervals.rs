//! Numeric intervals: of fixed width, each level a multiple of the one below, or with cut points of one's own.

use super::{Extents, Taxonomy};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Number, parse_number};

/// A recipe for numeric intervals.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervals {
    /// Cells `[origin + i*width, origin + (i+1)*width)`; each further level joins `factor` cells of the one below.
    Fixed {
        /// Width of the finest intervals.
        width: f64,
        /// Where one of the cells begins.
        origin: f64,
        /// How many levels there are between the values and the root.
        levels: u32,
        /// How many cells the next level joins.
        factor: u32,
    },
    /// Cut points per level, finest first; each coarser level keeps some of the cuts of the finer one.
    Cuts(Vec<Vec<f64>>),
}

impl Intervals {
    /// Intervals of fixed width.
    pub fn fixed(width: f64, origin: f64, levels: u32, factor: u32) -> Result<Intervals> {
        if !(width.is_finite() && width > 0.0 && origin.is_finite()) {
            return Err(Error::job("the width of intervals must be a number above 0"));
        }
        if levels == 0 || levels > 32 || factor < 2 {
            return Err(Error::job("intervals need 1 to 32 levels and a factor of at least 2"));
        }
        Ok(Intervals::Fixed { width, origin, levels, factor })
    }

    /// Intervals between cut points; a cut belongs to the interval above it.
    pub fn cuts(levels: Vec<Vec<f64>>) -> Result<Intervals> {
        if levels.is_empty() || levels.iter().any(Vec::is_empty) {
            return Err(Error::job("`cuts` needs at least one list with at least one cut point"));
        }
        if levels
            .iter()
            .any(|cuts| cuts.windows(2).any(|w| w[0] >= w[1]) || cuts.iter().any(|c| !c.is_finite()))
        {
            return Err(Error::job("the cut points of a level must ascend"));
        }
        for pair in levels.windows(2) {
            if let Some(stray) = pair[1].iter().find(|cut| !pair[0].contains(cut)) {
                return Err(Error::job(format!(
                    "cut point {stray} of a coarser level is not a cut point of the finer level before it"
                )));
            }
        }
        Ok(Intervals::Cuts(levels))
    }

    /// Builds the tree over the numbers in `values`.
    pub fn build(&self, column: &str, values: &[&str]) -> Result<Taxonomy> {
        self.build_within(column, values, Limits::default())
    }

    /// The same with numbers from a bound on as one leaf. Intervals that reach a bound are open beyond it.
    pub(crate) fn build_within(&self, column: &str, values: &[&str], limits: Limits) -> Result<Taxonomy> {
        let mut leaves = Vec::with_capacity(values.len());
        for value in values {
            let (label, x) = leaf(value).ok_or_else(|| not_numeric(column))?;
            leaves.push(limits.label(x).map_or((label, x), |label| (label, limits.clamp(x))));
        }
        leaves.sort_by(|a, b| a.1.total_cmp(&b.1));
        leaves.dedup_by(|a, b| a.0 == b.0);
        let integers = values.iter().all(|v| matches!(parse_number(v), Some(Number::Integer(_))));
        let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else {
            return Err(Error::input(format!("column `{column}` has no numbers to make intervals of")));
        };
        let domain = (first.1, last.1);
        let mut paths = Vec::with_capacity(leaves.len());
        let mut cells = hashbrown::HashMap::new();
        for (label, x) in &leaves {
            let mut path = vec![label.clone()];
            for level in 0..self.levels() {
                let cell = open(self.cell(level, *x), limits);
                let name = self.label(cell, integers);
                let closed = if integers { (cell.0.ceil(), cell.1.ceil() - 1.0) } else { cell };
                let extent = (closed.0.max(domain.0), closed.1.min(domain.1));
                cells.insert(name.clone(), extent);
                path.push(name);
            }
            path.push("*".to_owned());
            paths.push(path);
        }
        let taxonomy = Taxonomy::from_paths(&paths)?;
        let node_count = taxonomy.node_count();
        let mut of_node = vec![domain; node_count];
        for (i, extent) in of_node.iter_mut().enumerate().skip(1) {
            let node = crate::NodeId(i as u32);
            let label = taxonomy.label(node);
            *extent = if taxonomy.children(node).is_empty() {
                let bound = label.trim_start_matches(['<', '>', '=']);
                let x = parse_number(bound).map_or(0.0, Number::as_f64);
                (x, x)
            } else {
                cells[label]
            };
        }
        Ok(taxonomy.with_extents(Extents { of_node, domain, integers }))
    }

    fn levels(&self) -> usize {
        match self {
            Intervals::Fixed { levels, .. } => *levels as usize,
            Intervals::Cuts(levels) => levels.len(),
        }
    }

    /// The half-open cell that holds `x`.
    fn cell(&self, level: usize, x: f64) -> (f64, f64) {
        match self {
            Intervals::Fixed { width, origin, factor, .. } => {
                let edge = |i: i64| significant(origin + i as f64 * width);
                // Rounding may put a number on the wrong side of an edge; the edges as published decide.
                let mut finest = ((x - origin) / width).floor() as i64;
                while x < edge(finest) {
                    finest -= 1;
                }
                while x >= edge(finest + 1) {
                    finest += 1;
                }
                let joined = i64::from(*factor).saturating_pow(level as u32);
                let i = finest.div_euclid(joined);
                (edge(i.saturating_mul(joined)), edge((i + 1).saturating_mul(joined)))
            }
            Intervals::Cuts(levels) => {
                let cuts = &levels[level];
                let above = cuts.partition_point(|cut| *cut <= x);
                let lo = if above == 0 { f64::NEG_INFINITY } else { cuts[above - 1] };
                (lo, cuts.get(above).copied().unwrap_or(f64::INFINITY))
            }
        }
    }

    fn label(&self, (lo, hi): (f64, f64), integers: bool) -> String {
        match (lo.is_finite(), hi.is_finite()) {
            (false, false) => "*".to_owned(),
            (false, _) => format!("<{hi}"),
            (_, false) => format!(">={lo}"),
            // A whole number above `lo - 1` is at least the next whole number from `lo` on.
            _ if integers && hi.ceil() - 1.0 <= lo.ceil() => format!("{}", lo.ceil()),
            _ if integers => format!("[{}, {}]", lo.ceil(), hi.ceil() - 1.0),
            _ => format!("[{lo}, {hi}]"),
        }
    }
}

/// The cell without the end that lies beyond a bound.
fn open((lo, hi): (f64, f64), limits: Limits) -> (f64, f64) {
    let hi = if limits.top.is_some_and(|top| hi > top) { f64::INFINITY } else { hi };
    let lo = if limits.bottom.is_some_and(|bottom| lo <= bottom) { f64::NEG_INFINITY } else { lo };
    (lo, hi)
}

/// The number rounded to twelve significant digits, so that 0.35 is not published as 0.35000000000000003.
pub(super) fn significant(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// The canonical label of a number and its value.
pub(crate) fn leaf(text: &str) -> Option<(String, f64)> {
    Some(match parse_number(text)? {
        Number::Integer(n) => (n.to_string(), n as f64),
        Number::Real(x) => (x.to_string(), x),
    })
}

pub(crate) fn not_numeric(column: &str) -> Error {
    Error::input(format!("column `{column}` holds a value that is not a number"))
        .help("list what counts as missing in [input] missing, or give the column another hierarchy")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(t: &Taxonomy, a: &str, b: &str) -> String {
        t.label(t.common(t.code(a).unwrap(), t.code(b).unwrap())).to_owned()
    }

    #[test]
    fn fixed_widths_double() {
        let values: Vec<String> = (17..=90).map(|n| n.to_string()).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let t = Intervals::fixed(5.0, 0.0, 3, 2).unwrap().build("age", &values).unwrap();
        assert_eq!(common(&t, "20", "24"), "[20, 24]");
        assert_eq!(common(&t, "20", "25"), "[20, 29]");
        assert_eq!(common(&t, "20", "39"), "[20, 39]");
        assert_eq!(common(&t, "19", "20"), "[0, 19]".replace("[0, 19]", "*"));
        let node = t.node("[20, 24]").unwrap();
        assert_eq!(t.ncp(node), 4.0 / 73.0);
        assert_eq!(t.loss(node), 5.0 / 74.0);
    }

    #[test]
    fn cut_points_are_open_ended_and_nested() {
        let t = Intervals::cuts(vec![vec![18.0, 30.0, 65.0], vec![18.0, 65.0]]).unwrap();
        let t = t.build("age", &["10", "17", "18", "29", "30", "64", "65", "90"]).unwrap();
        assert_eq!(common(&t, "10", "17"), "<18");
        assert_eq!(common(&t, "18", "29"), "[18, 29]");
        assert_eq!(common(&t, "29", "30"), "[18, 64]");
        assert_eq!(common(&t, "65", "90"), ">=65");
        assert!(Intervals::cuts(vec![vec![18.0], vec![20.0]]).is_err());
        assert!(Intervals::cuts(vec![vec![18.0, 18.0]]).is_err());
    }

    #[test]
    fn reals_share_end_points_and_spellings_unite() {
        let t = Intervals::fixed(0.5, 0.0, 1, 2).unwrap().build("x", &["0.10", "0.1", "0.4", "0.5"]).unwrap();
        assert_eq!(t.leaves(), 3);
        assert_eq!(common(&t, "0.1", "0.4"), "[0, 0.5]");
        assert!(Intervals::fixed(0.0, 0.0, 1, 2).is_err());
    }
}
