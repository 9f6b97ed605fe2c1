//! Numeric intervals: of fixed width, where each level joins intervals of the one below, or with
//! given cut points.

use super::{Extents, Taxonomy};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{Number, is_exact, parse_number};
use crate::value_key::value_key;

/// The definition of numeric intervals.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervals {
    /// Cells `[origin + i*width, origin + (i+1)*width)`; each further level joins `factor` cells of
    /// the one below.
    Fixed {
        /// Width of the finest intervals.
        width: f64,
        /// The start of one of the cells.
        origin: f64,
        /// The number of levels between the values and the root.
        levels: u32,
        /// The number of cells that the next level joins.
        factor: u32,
    },
    /// Cut points per level, finest first; each coarser level has a subset of the cuts of the finer
    /// one.
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
        if levels.iter().any(|cuts| {
            cuts.windows(2).any(|w| w[0] >= w[1]) || cuts.iter().any(|c| !c.is_finite())
        }) {
            return Err(Error::job("the cut points of a level must ascend"));
        }
        for pair in levels.windows(2) {
            if let Some(stray) = pair[1].iter().find(|cut| !pair[0].contains(cut)) {
                return Err(Error::job(format!(
                    "cut point {stray} of a coarser level is not a cut point of the finer level \
                     before it"
                )));
            }
        }
        Ok(Intervals::Cuts(levels))
    }

    /// Builds the tree over the numbers in `values`.
    pub fn build(&self, column: &str, values: &[&str]) -> Result<Taxonomy> {
        self.build_within(column, values, Limits::default(), false)
    }

    /// Builds the tree with all numbers beyond a bound as one leaf. Intervals that reach a bound
    /// are unbounded beyond it. For measuring, the numbers beyond a bound are leaves below a node
    /// with the bound's label.
    pub(crate) fn build_within(
        &self,
        column: &str,
        values: &[&str],
        limits: Limits,
        measuring: bool,
    ) -> Result<Taxonomy> {
        let mut leaves = Vec::with_capacity(values.len());
        let mut domain: Option<(f64, f64)> = None;
        for value in values {
            let (label, x) = leaf(value).ok_or_else(|| not_numeric(column))?;
            // For a rounded number it is undecided whether it reaches a bound.
            if limits != Limits::default() && !is_exact(value) {
                return Err(not_exact(column));
            }
            domain = Some(domain.map_or((x, x), |(lo, hi)| (lo.min(x), hi.max(x))));
            leaves.push(match limits.label(x) {
                Some(bound) if measuring => (label, x, Some(bound)),
                Some(bound) => (bound, limits.clamp(x), None),
                None => (label, x, None),
            });
        }
        leaves.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        leaves.dedup_by(|a, b| a.0 == b.0);
        let integers = values.iter().all(|v| matches!(parse_number(v), Some(Number::Integer(_))));
        // The range of the numbers without bounds; losses are shares of it.
        let Some(domain) = domain else {
            return Err(Error::input(format!(
                "column `{column}` has no numbers to make intervals of"
            )));
        };
        let beyond = |bound: &str, x: f64| {
            if bound.starts_with('>') { (x, domain.1) } else { (domain.0, x) }
        };
        let mut paths = Vec::with_capacity(leaves.len());
        let mut cells = hashbrown::HashMap::new();
        for (label, x, bound) in &leaves {
            let mut path = vec![label.clone()];
            let x = limits.clamp(*x);
            if let Some(bound) = bound {
                cells.insert(bound.clone(), beyond(bound, x));
                path.push(bound.clone());
            }
            for level in 0..self.levels() {
                let cell = open(self.cell(level, x).ok_or_else(|| too_narrow(column))?, limits);
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
                let number = label.trim_start_matches(['<', '>', '=']);
                let x = parse_number(number).map_or(0.0, Number::as_f64);
                if number.len() < label.len() { beyond(label, x) } else { (x, x) }
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

    /// The half-open cell that contains `x`; `None` if cells of this width cannot be distinguished
    /// near `x`.
    fn cell(&self, level: usize, x: f64) -> Option<(f64, f64)> {
        Some(match self {
            Intervals::Fixed { width, origin, factor, .. } => {
                let edge = |i: f64| match origin + i * width {
                    whole if whole.fract() == 0.0 && whole.abs() < EXACT => whole,
                    edge => significant(edge),
                };
                let estimate = ((x - origin) / width).floor();
                if estimate.is_nan() || estimate.abs() >= EXACT {
                    return None;
                }
                // Rounding may put a number on the wrong side of an edge; the published edges
                // decide. If rounding moves an edge by more than a cell, the cells cannot be
                // distinguished.
                let holds = |i: &f64| (edge(*i)..edge(i + 1.0)).contains(&x);
                let finest = [estimate, estimate - 1.0, estimate + 1.0].into_iter().find(holds)?;
                // If `joined` overflows, the cell reaches from the origin to infinity.
                let joined = f64::from(*factor).powi(level as i32);
                let i = (finest / joined).floor();
                (edge(i * joined), edge((i + 1.0) * joined))
            }
            Intervals::Cuts(levels) => {
                let cuts = &levels[level];
                let above = cuts.partition_point(|cut| *cut <= x);
                let lo = if above == 0 { f64::NEG_INFINITY } else { cuts[above - 1] };
                (lo, cuts.get(above).copied().unwrap_or(f64::INFINITY))
            }
        })
    }

    fn label(&self, (lo, hi): (f64, f64), integers: bool) -> String {
        match (lo.is_finite(), hi.is_finite()) {
            (false, false) => "*".to_owned(),
            (false, _) => format!("<{hi}"),
            (_, false) => format!(">={lo}"),
            // The integers of `[lo, hi)` are those from `ceil(lo)` to `ceil(hi) - 1`.
            _ if integers && hi.ceil() - 1.0 <= lo.ceil() => format!("{}", lo.ceil()),
            _ if integers => format!("[{}, {}]", lo.ceil(), hi.ceil() - 1.0),
            _ => format!("[{lo}, {hi}]"),
        }
    }
}

/// The cell without the end that is beyond a bound.
fn open((lo, hi): (f64, f64), limits: Limits) -> (f64, f64) {
    let hi = if limits.top.is_some_and(|top| hi > top) { f64::INFINITY } else { hi };
    let lo = if limits.bottom.is_some_and(|bottom| lo <= bottom) { f64::NEG_INFINITY } else { lo };
    (lo, hi)
}

/// 2^53: greater integers are not all exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn too_narrow(column: &str) -> Error {
    Error::input(format!(
        "column `{column}` holds a number for which its intervals are too narrow: they cannot be \
         distinguished"
    ))
    .help(
        "use wider intervals or cut points, or list texts that mean a missing value in \
             [input] missing",
    )
    .at(format!("columns.{column}.hierarchy"))
}

/// The number rounded to twelve significant digits, so that 0.35 is not published as
/// 0.35000000000000003.
pub(super) fn significant(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// The canonical label of a number and its value. A number that is not exact as a float keeps all
/// its digits.
pub(crate) fn leaf(text: &str) -> Option<(String, f64)> {
    Some(match parse_number(text)? {
        number if !is_exact(text) => (value_key(text).into_owned(), number.as_f64()),
        Number::Integer(n) => (n.to_string(), n as f64),
        Number::Real(x) => (x.to_string(), x),
    })
}

/// The error about a number that is not exact as a float.
pub(crate) fn not_exact(column: &str) -> Error {
    Error::input(format!(
        "column `{column}` holds a number with more digits than are computed with: it would be \
         rounded"
    ))
    .help("round it beforehand, set kind = \"text\", or give the column intervals as a hierarchy")
}

pub(crate) fn not_numeric(column: &str) -> Error {
    Error::input(format!("column `{column}` holds a value that is not a number"))
        .help("list texts that mean a missing value in [input] missing, or use another hierarchy")
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

    /// The slow twin: goes from the origin, cell by cell.
    fn walked(width: f64, origin: f64, x: f64) -> (f64, f64) {
        let mut i = 0.0;
        let edge = |i: f64| significant(origin + i * width);
        while x < edge(i) {
            i -= 1.0;
        }
        while x >= edge(i + 1.0) {
            i += 1.0;
        }
        (edge(i), edge(i + 1.0))
    }

    proptest::proptest! {
        #[test]
        fn the_cell_agrees_with_the_slow_twin(
            tenths in -20_000i32..20_000,
            width in 1u32..300,
            origin in -50i32..50,
        ) {
            let [x, width, origin] =
                [f64::from(tenths), f64::from(width), f64::from(origin)].map(|n| n / 10.0);
            let intervals = Intervals::fixed(width, origin, 3, 3).unwrap();
            proptest::prop_assert_eq!(intervals.cell(0, x), Some(walked(width, origin, x)));
            for level in 1..3 {
                let (lo, hi) = intervals.cell(level, x).unwrap();
                let (finer_lo, finer_hi) = intervals.cell(level - 1, x).unwrap();
                proptest::prop_assert!(lo <= finer_lo && finer_hi <= hi);
            }
        }
    }

    #[test]
    fn numbers_too_large_for_their_intervals_are_refused_at_once() {
        for (width, values) in [
            (5.0, ["1", "2", "1e20"]),
            (1e-17, ["39", "40", "41"]),
            (100.0, ["1", "2", "1e308"]),
            (1.0, ["-1.7e308", "1.7e308", "0"]),
            (1e-300, ["1", "2", "3"]),
        ] {
            let error =
                Intervals::fixed(width, 0.0, 3, 2).unwrap().build("age", &values).unwrap_err();
            assert!(error.message().contains("too narrow"), "{error}");
        }
        // Timestamps in milliseconds have thirteen digits, and integer edges are exact.
        let t = Intervals::fixed(5.0, 0.0, 1, 2).unwrap();
        let t = t.build("t", &["1600000000001", "1600000000004", "1600000000005"]).unwrap();
        assert_eq!(common(&t, "1600000000001", "1600000000004"), "[1600000000000, 1600000000004]");
        // More levels than a float can count.
        let t = Intervals::fixed(1.0, 0.0, 32, u32::MAX)
            .unwrap()
            .build("x", &["-3", "3", "5"])
            .unwrap();
        assert_eq!(common(&t, "3", "5"), "[0, 4294967294]");
        assert_eq!(common(&t, "-3", "5"), "*");
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
    fn reals_share_end_points_and_spellings_are_merged() {
        let t = Intervals::fixed(0.5, 0.0, 1, 2)
            .unwrap()
            .build("x", &["0.10", "0.1", "0.4", "0.5"])
            .unwrap();
        assert_eq!(t.leaves(), 3);
        assert_eq!(common(&t, "0.1", "0.4"), "[0, 0.5]");
        assert!(Intervals::fixed(0.0, 0.0, 1, 2).is_err());
    }
}
