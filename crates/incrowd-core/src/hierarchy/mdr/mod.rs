//! The mean difference recommending tree: regular intervals for numbers and dates.
//!
//! Paper: `liu-itri`, section III.A and figure 4; the exact form is in `docs/papers.md`. Values
//! more than two standard deviations from the mean form one cell below and one above. The others
//! are covered by a grid of cells as wide as the mean difference. The next levels join two and four
//! cells; the root is `*`. A value is never published itself: the finest published node is a cell.
//!
//! Where we differ: the paper assumes that the mean difference depends on the distribution of the
//! data. It telescopes, so it is a twentieth of the range of any column, and the tree is a grid of
//! equal widths (see [`mean_difference`]). If bounds are given, they are the ends of the grid, so
//! that no extreme of the data is published. If the column has a given domain, the cells of
//! outliers extend to its ends for the same reason.

mod grid;
pub mod mean_difference;

pub use grid::{Grid, Unit};
pub use mean_difference::Quantile;
use mean_difference::Sample;

use super::{Extents, Taxonomy, intervals};
use crate::error::{Error, Result};
use crate::number::{Number, date_of, parse_date, parse_number};

/// The values outside the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Outliers {
    /// Values more than two standard deviations from the mean.
    #[default]
    TwoSigma,
    /// Values outside these bounds.
    Bounds(f64, f64),
    /// No values.
    None,
}

/// The definition of a tree of regular intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Mdr {
    outliers: Outliers,
    factors: Vec<u32>,
    quantile: Quantile,
    base_width: Option<f64>,
    grid: Option<Grid>,
}

impl Default for Mdr {
    fn default() -> Self {
        Mdr {
            outliers: Outliers::default(),
            factors: vec![1, 2, 4],
            quantile: Quantile::default(),
            base_width: None,
            grid: None,
        }
    }
}

impl Mdr {
    /// Checks the definition. `base_width` replaces the mean difference, if given.
    pub fn new(
        outliers: Outliers,
        factors: Vec<u32>,
        quantile: Quantile,
        base_width: Option<f64>,
    ) -> Result<Mdr> {
        if let Outliers::Bounds(lo, hi) = outliers
            && !(lo.is_finite() && hi.is_finite() && lo < hi)
        {
            return Err(Error::job(
                "the bounds of `outliers` must be two numbers, the lower one first",
            ));
        }
        let nested = factors.windows(2).all(|w| w[0] < w[1] && w[1] % w[0] == 0);
        if !nested || factors.is_empty() || factors.contains(&0) || factors.len() > 32 {
            return Err(Error::job("`factors` must ascend, each a multiple of the one before")
                .help("factors = [1, 2, 4] joins two and four of the finest cells"));
        }
        if base_width.is_some_and(|width| !(width.is_finite() && width > 0.0)) {
            return Err(Error::job("`base_width` must be a number above 0"));
        }
        Ok(Mdr { outliers, factors, quantile, base_width, grid: None })
    }

    /// The definition of a tree with a known grid.
    pub fn of_grid(grid: Grid) -> Mdr {
        Mdr { factors: grid.factors.clone(), grid: Some(grid), ..Mdr::default() }
    }

    /// The grid, if it is known.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Builds the tree over the numbers or dates in `values`. `counts` holds the number of records
    /// per value, `domain` the whole range of the column, if given.
    pub fn build(
        &self,
        column: &str,
        values: &[&str],
        counts: Option<&[u64]>,
        domain: Option<(f64, f64)>,
    ) -> Result<Taxonomy> {
        let numbers: Option<Vec<Number>> = values.iter().map(|v| parse_number(v)).collect();
        let (unit, parsed): (Unit, Vec<f64>) = match numbers {
            Some(numbers) => {
                let whole = numbers.iter().all(|n| matches!(n, Number::Integer(_)));
                let unit = if whole { Unit::Integers } else { Unit::Reals };
                (unit, numbers.into_iter().map(Number::as_f64).collect())
            }
            None => {
                let dates: Option<Vec<i32>> = values.iter().map(|v| parse_date(v)).collect();
                let dates = dates.ok_or_else(|| {
                    Error::input(format!(
                        "column `{column}` holds a value that is neither a number nor a date"
                    ))
                    .help(
                        "list texts that mean a missing value in [input] missing, or use another \
                         hierarchy",
                    )
                })?;
                (Unit::Dates, dates.into_iter().map(f64::from).collect())
            }
        };
        let once = vec![1; values.len()];
        let mut leaves: Vec<Leaf> = Vec::with_capacity(values.len());
        for ((text, x), &count) in values.iter().zip(parsed).zip(counts.unwrap_or(&once)) {
            leaves.push(Leaf { label: leaf(text).unwrap_or_default(), x, count });
        }
        if self.grid.is_none() && counts.is_none() && self.needs_counts() {
            return Err(Error::bug(format!(
                "the tree of column `{column}` needs the number of records by value"
            )));
        }
        self.tree(column, leaves, unit, domain)
    }

    /// Whether the tree depends on the number of records per value.
    fn needs_counts(&self) -> bool {
        self.outliers == Outliers::TwoSigma || self.quantile == Quantile::Chunk
    }

    /// Builds the tree over leaves of one type.
    pub(crate) fn tree(
        &self,
        column: &str,
        mut leaves: Vec<Leaf>,
        unit: Unit,
        domain: Option<(f64, f64)>,
    ) -> Result<Taxonomy> {
        leaves.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.label.cmp(&b.label)));
        leaves.dedup_by(|next, kept| {
            let same = next.label == kept.label;
            kept.count += if same { next.count } else { 0 };
            same
        });
        let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else {
            return Err(Error::input(format!(
                "column `{column}` has no numbers to make intervals of"
            )));
        };
        let own = (first.x, last.x);
        let exact = unit != Unit::Integers || own.0.abs().max(own.1.abs()) < grid::EXACT;
        if !(exact && (own.1 - own.0).is_finite()) {
            return Err(Error::input(format!(
                "the numbers of column `{column}` are too large for a tree of intervals"
            )));
        }
        if let Some((lo, hi)) = domain
            && (own.0 < lo || own.1 > hi)
            && self.grid.is_none()
        {
            return Err(Error::input(format!("column `{column}` has values outside its `domain`"))
                .help("widen `domain`, or remove it to use the range of the data")
                .at(format!("columns.{column}.domain")));
        }
        let grid = match &self.grid {
            Some(grid) => grid.clone(),
            None => {
                let sample: Vec<(f64, u64)> =
                    leaves.iter().map(|leaf| (leaf.x, leaf.count)).collect();
                self.choose_grid(column, &sample, unit, domain.unwrap_or(own))?
            }
        };
        build_tree(&leaves, grid, domain.unwrap_or(own))
    }

    /// Determines the ends and the width of the grid.
    fn choose_grid(
        &self,
        column: &str,
        sample: &Sample,
        unit: Unit,
        domain: (f64, f64),
    ) -> Result<Grid> {
        let bounds = match self.outliers {
            Outliers::TwoSigma => mean_difference::two_sigma(sample),
            Outliers::Bounds(lo, hi) => (lo, hi),
            Outliers::None => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let whole = unit != Unit::Reals;
        let core: Vec<(f64, u64)> =
            sample.iter().copied().filter(|(x, _)| (bounds.0..=bounds.1).contains(x)).collect();
        let (Some(first), Some(last)) = (core.first(), core.last()) else {
            return Err(Error::input(format!(
                "column `{column}` has no value between the bounds of `outliers`"
            ))
            .at(format!("columns.{column}.hierarchy")));
        };
        let (lo, hi) = match self.outliers {
            Outliers::Bounds(lo, hi) if whole => (lo.ceil(), hi.floor()),
            Outliers::Bounds(lo, hi) => (lo, hi),
            _ => (first.0, last.0),
        };
        let mean_difference = match (self.outliers, self.quantile) {
            // The given ends are the first and the last cut point.
            (Outliers::Bounds(..), Quantile::Cuts) => {
                self.quantile.mean_difference(&[(lo, 1), (hi, 1)])
            }
            _ => self.quantile.mean_difference(&core),
        };
        let width = match self.base_width {
            Some(width) if whole && width.fract() != 0.0 => {
                return Err(Error::job(format!(
                    "`base_width` of column `{column}` must be an integer"
                ))
                .at(format!("columns.{column}.hierarchy")));
            }
            Some(width) => width,
            None if whole => (mean_difference + 0.5).floor().max(1.0),
            None => mean_difference,
        };
        let low = sample.iter().any(|(x, _)| *x < lo).then_some(domain.0);
        let high = sample.iter().any(|(x, _)| *x > hi).then_some(domain.1);
        let grid = Grid { unit, lo, hi, width, factors: self.factors.clone(), low, high };
        grid.is_sound().then_some(grid).ok_or_else(|| {
            Error::input(format!(
                "the intervals of column `{column}` are too narrow or too far out to be \
                 distinguished"
            ))
            .help("set a greater `base_width`, or bounds and a `domain` near the values")
            .at(format!("columns.{column}.hierarchy"))
        })
    }
}

/// A value with its canonical spelling and its number of records.
pub(crate) struct Leaf {
    pub(crate) label: String,
    pub(crate) x: f64,
    pub(crate) count: u64,
}

/// The canonical spelling of a number, or of a date.
pub(crate) fn leaf(text: &str) -> Option<String> {
    let date = || parse_date(text).map(|day| date_of(day).to_string());
    intervals::leaf(text).map(|(label, _)| label).or_else(date)
}

/// Builds the tree of a grid over sorted leaves.
fn build_tree(leaves: &[Leaf], grid: Grid, domain: (f64, f64)) -> Result<Taxonomy> {
    let mut cells = hashbrown::HashMap::new();
    let mut paths = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let mut path = vec![leaf.label.clone()];
        for interval in grid.path(leaf.x) {
            path.push(interval.label.clone());
            cells.insert(interval.label, interval.extent);
        }
        path.push("*".to_owned());
        paths.push(path);
    }
    let taxonomy = Taxonomy::from_paths(&paths)?;
    let values: hashbrown::HashMap<&str, f64> =
        leaves.iter().map(|l| (l.label.as_str(), l.x)).collect();
    let extent = |node: usize| {
        let label = taxonomy.label(crate::NodeId(node as u32));
        let value = || values.get(label).map(|&x| (x, x));
        cells.get(label).copied().or_else(value).unwrap_or(domain)
    };
    let of_node = (0..taxonomy.node_count()).map(extent).collect();
    let integers = grid.unit != Unit::Reals;
    Ok(taxonomy.with_extents(Extents { of_node, domain, integers }).with_grid(grid))
}

impl Taxonomy {
    /// The lowest node of a tree of regular intervals whose interval contains a value. The value
    /// need not be a leaf.
    pub(crate) fn cell_of(&self, text: &str) -> Option<crate::NodeId> {
        let grid = self.grid()?;
        let x = match grid.unit {
            Unit::Dates => parse_date(text).map(f64::from),
            _ => parse_number(text).map(Number::as_f64),
        };
        // A cell without records is not in the tree; a coarser cell may be.
        grid.path(x?).iter().find_map(|interval| self.node(&interval.label))
    }

    /// The leaves under another grid; `None` if the tree has no grid. A leaf that is not a number,
    /// for example a kept missing value, stays a child of the root.
    pub fn regridded(&self, grid: Grid) -> Option<Result<Taxonomy>> {
        let extents = self.extents().filter(|_| self.grid().is_some())?;
        let (mut leaves, mut missing) = (Vec::new(), None);
        for code in 0..self.leaves() {
            let leaf = self.leaf(crate::Code(code));
            let label = self.label(leaf).to_owned();
            if self.parent(leaf) == Some(self.root()) {
                missing = Some(label);
            } else {
                leaves.push(Leaf { label, x: extents.of_node[leaf.index()].0, count: 1 });
            }
        }
        let tree = build_tree(&leaves, grid, extents.domain);
        Some(tree.map(|tree| match missing {
            Some(label) => tree.with_leaf(&label),
            None => tree,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(mdr: &Mdr, values: &[&str]) -> Taxonomy {
        mdr.build("age", values, Some(&vec![1; values.len()]), None).unwrap()
    }

    fn common(t: &Taxonomy, a: &str, b: &str) -> String {
        t.label(t.common(t.code(a).unwrap(), t.code(b).unwrap())).to_owned()
    }

    fn bounded(lo: f64, hi: f64) -> Mdr {
        Mdr::new(Outliers::Bounds(lo, hi), vec![1, 2, 4], Quantile::Cuts, None).unwrap()
    }

    #[test]
    fn the_finest_published_node_of_a_value_is_its_cell() {
        let t = tree(&bounded(22.0, 62.0), &["17", "21", "22", "25", "26", "62", "63", "90"]);
        assert_eq!(common(&t, "25", "25"), "[24, 25]");
        assert_eq!(common(&t, "22", "25"), "[22, 25]");
        assert_eq!(common(&t, "22", "26"), "[22, 29]");
        assert_eq!(
            (common(&t, "17", "21"), common(&t, "63", "90")),
            ("[17, 21]".into(), "[63, 90]".into())
        );
        assert_eq!((common(&t, "62", "62"), common(&t, "21", "22")), ("62".into(), "*".into()));
        assert_eq!((t.height(), t.leaves()), (3, 8));
        assert_eq!(t.node("25"), None, "a value that is not a cell cannot be read back");
        assert_eq!(t.ncp(t.node("[24, 25]").unwrap()), 1.0 / 73.0);
        assert!(t.children(t.node("[24, 25]").unwrap()).is_empty());
    }

    #[test]
    fn given_bounds_and_domain_publish_no_extreme_of_the_data() {
        let t = bounded(20.0, 60.0)
            .build("age", &["19", "23", "55"], None, Some((0.0, 120.0)))
            .unwrap();
        assert_eq!(common(&t, "19", "19"), "[0, 19]");
        assert_eq!(common(&t, "23", "23"), "[22, 23]");
    }

    #[test]
    fn the_outer_end_of_reals_and_dates_is_closed() {
        let none = Mdr::new(Outliers::None, vec![1, 2, 4], Quantile::Cuts, None).unwrap();
        let t = tree(&none, &["1.0", "1.5", "2.25", "7.5", "9.0"]);
        assert_eq!(
            (common(&t, "9", "9"), common(&t, "7.5", "9")),
            ("[8.6, 9]".into(), "[7.4, 9]".into())
        );
        let t = tree(&none, &["2021-01-01", "2021-01-15", "2021-04-11"]);
        assert_eq!(common(&t, "2021-01-01", "2021-01-01"), "[2021-01-01, 2021-01-05]");
        assert_eq!(common(&t, "2021-04-11", "2021-04-11"), "2021-04-11");
    }

    #[test]
    fn a_missing_value_is_a_leaf_below_the_root() {
        let t = tree(&bounded(0.0, 20.0), &["1", "5", "30"]).with_leaf("?");
        assert_eq!(t.label(t.common(t.code("?").unwrap(), t.code("?").unwrap())), "?");
        assert_eq!((common(&t, "5", "?"), common(&t, "1", "1")), ("*".into(), "1".into()));
        let single = t.regridded(t.grid().unwrap().with_factor(4)).unwrap().unwrap();
        assert_eq!(
            (common(&single, "1", "1"), common(&single, "?", "?")),
            ("[0, 3]".into(), "?".into())
        );
        assert_eq!(common(&single, "1", "5"), "*");
    }

    #[test]
    fn refuses_settings_that_make_no_grid() {
        assert!(Mdr::new(Outliers::Bounds(2.0, 1.0), vec![1], Quantile::Cuts, None).is_err());
        assert!(Mdr::new(Outliers::None, vec![2, 3], Quantile::Cuts, None).is_err());
        assert!(Mdr::new(Outliers::None, vec![1], Quantile::Cuts, Some(0.0)).is_err());
        assert!(
            bounded(40.0, 50.0).build("x", &["1", "2"], None, None).is_err(),
            "no value is between the bounds"
        );
        assert!(Mdr::default().build("x", &["a"], Some(&[1]), None).is_err());
        assert!(Mdr::default().build("x", &["1"], None, None).is_err(), "sigma needs counts");
        assert!(bounded(0.0, 9.0).build("x", &["1"], None, Some((2.0, 3.0))).is_err());
    }
}
