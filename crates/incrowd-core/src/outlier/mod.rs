//! (p,d)-outliers: records that are far from nearly all others.
//!
//! Paper: `wang2009`, Definitions 3.1 and 3.2 (after `knorr2000`). Every attribute is scaled to its
//! range. A real or hypothetical tuple x is **bad** if at least a share p of all records is farther
//! than d from it: `#{t : dist(x,t) > d} >= ceil(p·n)`. Distances are Euclidean over the distance
//! attributes and the sensitive value; records at distance d are near. A record is a *global*
//! outlier if it is one by its sensitive value alone, and a *local* outlier if it is bad otherwise.
//!
//! Where we differ: p is a fraction. `> d` is used in both definitions; the paper has `>= d` in
//! one, and then a sensitive-attribute outlier need not be an outlier. By default attributes are
//! scaled to the range of the records without global outliers, because one extreme income would
//! make all other incomes nearly equal. All records are counted, including those suppressed in a
//! release.
//!
//! Local outliers can be defined by density instead (`lof`).
//!
//! [`Outliers`] evaluates every tuple that a box could contain. Records at equal positions form one
//! point of a kd-tree (`tree`). The good values of a point are computed for all sensitive values at
//! once (`near`) and cached (`cache`).

mod assignment;
mod bound;
mod cache;
mod corners;
mod lof;
mod near;
mod scale;
mod tree;

pub use bound::Forced;
pub use corners::{Fault, Matrix};
pub use lof::Density;
pub use near::Bits;
pub use scale::{Bounds, Scale};

use std::sync::OnceLock;

use crate::dataset::Dataset;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::index::Code;
use crate::model::find_sensitive;
use cache::Cache;
use lof::Densities;
use scale::Axis;
use tree::KdTree;

/// The definition of an outlier.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The share of all records that must be far, in (0, 1].
    pub p: f64,
    /// The greatest distance that is not far, after scaling.
    pub d: f64,
    /// The quasi-identifiers on which distance is measured; empty means all of them.
    pub distance_attributes: Vec<String>,
    /// The range to which attributes are scaled.
    pub scale: Scale,
    /// Given ranges, which replace the ranges of the data.
    pub bounds: Vec<Bounds>,
    /// The sensitive column; empty if there is only one.
    pub on: String,
    /// The definition by density; `None` for outliers by distance. With it, no record is a global
    /// outlier, and p and d determine only the values that a trimmed scale excludes.
    pub density: Option<Density>,
}

/// The outlier status of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not an outlier.
    Ordinary,
    /// An outlier by several attributes together.
    Local,
    /// An outlier by its sensitive value alone: in no box is it hidden.
    Global,
}

/// The number of outliers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Global outliers.
    pub global: u64,
    /// Local outliers.
    pub local: u64,
}

/// The outlier structure of a table.
pub struct Outliers {
    /// The index of the sensitive column.
    column: usize,
    /// The number of far records that makes a tuple bad.
    need: u64,
    records: u64,
    /// The square of the greatest near distance, including the tolerance.
    reach: f64,
    /// The distance attributes: index of the quasi-identifier, and scale.
    axes: Vec<(usize, Axis)>,
    sensitive: Axis,
    /// For each code of the sensitive column, its rank among the distinct positions.
    rank: Vec<u32>,
    /// The positions by rank, ascending, and their scaled form.
    values: Vec<f64>,
    scaled: Vec<f64>,
    global: Vec<bool>,
    tree: KdTree,
    /// The point of each row of the table in the tree.
    point: Vec<u32>,
    row_rank: Vec<u32>,
    row_counts: Vec<u64>,
    standing: OnceLock<Vec<Standing>>,
    density: Option<Density>,
    densities: OnceLock<Option<Densities>>,
    /// All ranks.
    everything: Bits,
    cache: Cache,
}

crate::opaque_debug!(Outliers { need, records, points: |outliers| outliers.tree.points() });

/// Squared distances that differ by at most this are equal.
const SLACK: f64 = 1e-12;

impl Outliers {
    /// Builds the structure. Fails if the sensitive column has no order, or if a distance attribute
    /// is not a quasi-identifier or has missing values among numbers.
    pub fn new(data: &Dataset, settings: &Settings) -> Result<Outliers> {
        let column = find_sensitive(data, &settings.on)?;
        let places = sensitive_places(data, column)?;
        let axes = distance_attributes(data, &settings.distance_attributes)?;
        let mut values = places.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let rank: Vec<u32> =
            places.iter().map(|x| values.partition_point(|y| y < x) as u32).collect();
        let row_rank: Vec<u32> =
            (0..data.rows()).map(|row| rank[data.sensitive_codes(row)[column] as usize]).collect();
        let row_counts: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
        let records = data.records();
        let need = need(settings.p, records);
        let reach = settings.d * settings.d + SLACK;

        let mut counts = vec![0u64; values.len()];
        row_rank.iter().zip(&row_counts).for_each(|(&rank, &count)| counts[rank as usize] += count);
        let own = Axis::spanning(
            values.iter().copied().zip(&counts).filter(|(_, n)| **n > 0).map(|(x, _)| x),
        );
        let first = scale::far_values(&values, &counts, own, reach, need);
        let kept = |row: usize| settings.scale == Scale::Original || !first[row_rank[row] as usize];
        let rows = || (0..data.rows()).filter(|&row| row_counts[row] > 0 && kept(row));
        let name = &data.sensitive()[column].name;
        let found = Axis::spanning(rows().map(|row| values[row_rank[row] as usize]));
        let sensitive = Bounds::stated(&settings.bounds, name, &values)?.unwrap_or(found);
        let mut scaled_axes = Vec::with_capacity(axes.len());
        for q in axes {
            let quasi = &data.quasi()[q];
            let place = |row: usize| quasi.domain.place(Code(data.quasi_codes(row)[q]));
            let all: Vec<f64> = (0..data.rows()).map(place).collect();
            let found = Axis::spanning(rows().map(place));
            scaled_axes
                .push((q, Bounds::stated(&settings.bounds, &quasi.name, &all)?.unwrap_or(found)));
        }
        let axes = scaled_axes;
        Bounds::all_known(
            &settings.bounds,
            axes.iter().map(|(q, _)| data.quasi()[*q].name.as_str()).chain([name.as_str()]),
        )?;
        let last = scale::far_values(&values, &counts, sensitive, reach, need);
        // With density, a value far from all others is no outlier if enough records have it.
        let by_distance = settings.density.is_none();
        let global: Vec<bool> =
            first.iter().zip(&last).map(|(a, b)| by_distance && (*a || *b)).collect();
        let scaled = values.iter().map(|&x| sensitive.scaled(x)).collect();
        let (tree, point) = KdTree::new(data, &axes, &row_rank, values.len());
        let everything = Bits::of(values.len(), 0..values.len() as u32);
        Ok(Outliers {
            column,
            need,
            records,
            reach,
            axes,
            sensitive,
            rank,
            values,
            scaled,
            global,
            tree,
            point,
            row_rank,
            row_counts,
            standing: OnceLock::new(),
            density: settings.density,
            densities: OnceLock::new(),
            everything,
            cache: Cache::default(),
        })
    }

    /// The index of the sensitive column.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The number of far records that makes a tuple bad.
    pub fn need(&self) -> u64 {
        self.need
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The definition by density, if it is used.
    pub fn density(&self) -> Option<Density> {
        self.density
    }

    /// The distance attributes, as indices of quasi-identifiers.
    pub fn attributes(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().map(|(q, _)| *q)
    }

    /// For the data owner only: the scaling range of each distance attribute and of the sensitive
    /// column. The ends are values of records.
    pub fn ranges(&self) -> (Vec<(f64, f64)>, (f64, f64)) {
        (self.axes.iter().map(|(_, axis)| axis.range()).collect(), self.sensitive.range())
    }

    /// The number of distinct points of the records on the distance attributes.
    pub fn points(&self) -> usize {
        self.tree.points()
    }

    /// The distinct sensitive values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The rank of a sensitive code among the distinct values.
    pub fn rank(&self, code: u32) -> u32 {
        self.rank[code as usize]
    }

    /// The number of distinct values whose records are not global outliers.
    pub fn values_left(&self) -> u64 {
        self.global.iter().filter(|global| !**global).count() as u64
    }

    /// The status of a row. The first call computes the status of all rows.
    pub fn standing(&self, row: usize) -> Standing {
        self.standings()[row]
    }

    /// Whether a row is an outlier by its sensitive value alone.
    pub fn is_global_row(&self, row: usize) -> bool {
        self.global[self.row_rank[row] as usize]
    }

    /// The densities, if outliers are defined by them. The first call computes all of them.
    fn by_density(&self) -> Option<&Densities> {
        self.densities
            .get_or_init(|| self.density.map(|settings| self.densities(settings)))
            .as_ref()
    }

    fn standings(&self) -> &[Standing] {
        self.standing.get_or_init(|| self.all_standings())
    }

    fn all_standings(&self) -> Vec<Standing> {
        let mut standing = vec![Standing::Ordinary; self.row_counts.len()];
        let mut by_point: Vec<u32> = (0..self.row_counts.len() as u32).collect();
        by_point.sort_unstable_by_key(|&row| (self.point[row as usize], row));
        for rows in by_point.chunk_by(|a, b| self.point[*a as usize] == self.point[*b as usize]) {
            let point = self.point[rows[0] as usize];
            let mut ranks: Vec<u32> = rows.iter().map(|&row| self.row_rank[row as usize]).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let good = self.good_at_point(point, &ranks);
            for &row in rows {
                let rank = self.row_rank[row as usize];
                standing[row as usize] = match () {
                    () if self.global[rank as usize] => Standing::Global,
                    () if !good.get(rank) => Standing::Local,
                    () => Standing::Ordinary,
                };
            }
        }
        standing
    }

    /// The number of outliers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (standing, count) in self.standings().iter().zip(&self.row_counts) {
            match standing {
                Standing::Global => counts.global += count,
                Standing::Local => counts.local += count,
                Standing::Ordinary => {}
            }
        }
        counts
    }
}

/// `ceil(p·n)`, with p as a decimal number.
fn need(p: f64, records: u64) -> u64 {
    let (p, floor) = (Decimal::of(p), Decimal::of(p).share_of(records));
    floor + u64::from(p.cmp_fraction(u128::from(floor), u128::from(records.max(1))).is_lt())
}

fn sensitive_places(data: &Dataset, column: usize) -> Result<Vec<f64>> {
    let sensitive = &data.sensitive()[column];
    sensitive.refuse_inexact()?;
    match (sensitive.hierarchy(), sensitive.numbers()) {
        (_, Ok(numbers)) => Ok(numbers.to_vec()),
        (Ok((_, leaves)), Err(_)) if sensitive.missing.is_none() => {
            Ok(leaves.iter().map(|leaf| f64::from(leaf.0 + 1)).collect())
        }
        (_, Err(error)) if sensitive.missing.is_some() => Err(error),
        (_, Err(error)) => Err(error.help(
            "outliers need numbers, dates, or a hierarchy that lists the values in an order",
        )),
    }
}

fn distance_attributes(data: &Dataset, names: &[String]) -> Result<Vec<usize>> {
    let known = || data.quasi().iter().map(|quasi| quasi.name.as_str());
    let mut chosen: Vec<usize> = Vec::new();
    for name in names {
        let Some(position) = known().position(|q| q == name) else {
            return Err(Error::job(format!(
                "`distance_attributes` names `{name}`, which is not a quasi-identifier"
            ))
            .help_near(name, known())
            .at("distance_attributes"));
        };
        if chosen.contains(&position) {
            return Err(Error::job(format!("`distance_attributes` names `{name}` twice"))
                .at("distance_attributes"));
        }
        chosen.push(position);
    }
    if names.is_empty() {
        chosen.extend(0..data.quasi().len());
    }
    chosen.sort_unstable();
    for &q in &chosen {
        if let Domain::Numbers(line) = &data.quasi()[q].domain
            && line.missing_leaf().is_some()
        {
            let name = &data.quasi()[q].name;
            return Err(Error::job(format!(
                "column `{name}` has missing values, which have no distance to numbers"
            ))
            .help(
                "drop these records with on_missing = \"drop\", or remove the column from \
                 distance_attributes",
            ));
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::need;

    #[test]
    fn the_share_of_far_records_is_rounded_up() {
        assert_eq!((need(0.75, 9), need(0.8, 10), need(0.8, 11), need(1.0, 7)), (7, 8, 9, 7));
        // 0.7 · 10 is 7 although the binary product is a little more, and 0.07 · 100 is 7.
        assert_eq!((need(0.7, 10), need(0.07, 100), need(0.44, 9)), (7, 7, 4));
        assert_eq!(need(1e-12, 10), 1);
    }
}
