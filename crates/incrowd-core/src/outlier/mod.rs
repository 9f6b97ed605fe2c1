//! (p,d)-outliers: who is far from nearly everybody.
//!
//! Paper: `wang2009`, Definitions 3.1 and 3.2 (after `knorr2000`). With every attribute scaled to its range, a tuple x, real
//! or thought of, is **bad** if at least a share p of all records lie farther than d from it:
//! `#{t : dist(x,t) > d} >= ceil(p·n)`. Distances are Euclidean over the distance attributes and the sensitive value;
//! equality counts as near. A record is a *global* outlier if its sensitive value alone makes it one, a *local* one if it
//! is bad otherwise.
//!
//! Where we differ: p is a fraction; `> d` decides in both definitions (the paper has `>= d` in one, and then a
//! sensitive-attribute outlier need not be an outlier); the range to which attributes are scaled is by default that of the
//! records without the global outliers, since one billionaire would make all other incomes equal. The count is always over
//! all records, those left out of a release included.
//!
//! Local outliers can be told by density instead (`lof`).
//!
//! [`Outliers`] answers for every tuple a box could hide. Points with equal places are taken together and lie in a tree
//! (`tree`); the good values of a point are found for all sensitive values at once (`near`) and kept (`corners`).

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
use tree::Tree;

/// What makes somebody an outlier.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The share of all records that must be far, in (0, 1].
    pub p: f64,
    /// What far is, after scaling.
    pub d: f64,
    /// The quasi-identifiers distance is measured on; empty means all of them.
    pub distance_attributes: Vec<String>,
    /// What attributes are scaled to.
    pub scale: Scale,
    /// Stated ranges, which take the place of those found.
    pub bounds: Vec<Bounds>,
    /// The sensitive column; empty if there is only one.
    pub on: String,
    /// How outliers are told by density; by distance, if this is left out. Nobody is then a global outlier, and p and d only
    /// say which values a trimmed scale leaves out.
    pub density: Option<Density>,
}

/// How a record stands to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No outlier.
    Ordinary,
    /// An outlier by several attributes together.
    Local,
    /// An outlier by its sensitive value alone: no box can hide it.
    Global,
}

/// How many records stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Global outliers.
    pub global: u64,
    /// Local outliers.
    pub local: u64,
}

/// The outlier structure of a table.
pub struct Outliers {
    /// The position of the sensitive column.
    column: usize,
    /// How many far records make a tuple bad.
    need: u64,
    records: u64,
    /// The square of the distance that is still near, with the slack.
    reach: f64,
    /// The distance attributes: position among the quasi-identifiers, and scale.
    axes: Vec<(usize, Axis)>,
    sensitive: Axis,
    /// For each code of the sensitive column its rank among the distinct places.
    rank: Vec<u32>,
    /// The places of the ranks, ascending, and their scaled form.
    values: Vec<f64>,
    scaled: Vec<f64>,
    global: Vec<bool>,
    tree: Tree,
    /// The node of each row of the table in the tree.
    point: Vec<u32>,
    row_rank: Vec<u32>,
    weights: Vec<u64>,
    standing: OnceLock<Vec<Standing>>,
    density: Option<Density>,
    densities: OnceLock<Option<Densities>>,
    /// All ranks.
    everything: Bits,
    cache: Cache,
}

// Places are cells, and cells must not reach logs.
impl std::fmt::Debug for Outliers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outliers")
            .field("need", &self.need)
            .field("records", &self.records)
            .field("points", &self.tree.points())
            .finish_non_exhaustive()
    }
}

/// Squares of distances that differ by no more are equal.
const SLACK: f64 = 1e-12;

impl Outliers {
    /// Looks at a table. Fails if the sensitive column has no order, or a distance attribute is not one of the table's or
    /// has a missing value without a place.
    pub fn new(data: &Dataset, settings: &Settings) -> Result<Outliers> {
        let column = find_sensitive(data, &settings.on)?;
        let places = sensitive_places(data, column)?;
        let axes = distance_attributes(data, &settings.distance_attributes)?;
        let mut values = places.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let rank: Vec<u32> = places.iter().map(|x| values.partition_point(|y| y < x) as u32).collect();
        let row_rank: Vec<u32> =
            (0..data.rows()).map(|row| rank[data.sensitive_codes(row)[column] as usize]).collect();
        let weights: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
        let records = data.records();
        let need = need(settings.p, records);
        let reach = settings.d * settings.d + SLACK;

        let mut counts = vec![0u64; values.len()];
        row_rank.iter().zip(&weights).for_each(|(&rank, &weight)| counts[rank as usize] += weight);
        let own =
            Axis::spanning(values.iter().copied().zip(&counts).filter(|(_, n)| **n > 0).map(|(x, _)| x));
        let first = scale::far_values(&values, &counts, own, reach, need);
        let kept = |row: usize| settings.scale == Scale::Original || !first[row_rank[row] as usize];
        let rows = || (0..data.rows()).filter(|&row| weights[row] > 0 && kept(row));
        let name = &data.sensitive()[column].name;
        let found = Axis::spanning(rows().map(|row| values[row_rank[row] as usize]));
        let sensitive = Bounds::stated(&settings.bounds, name, &values)?.unwrap_or(found);
        let mut scaled_axes = Vec::with_capacity(axes.len());
        for q in axes {
            let quasi = &data.quasi()[q];
            let place = |row: usize| quasi.domain.place(Code(data.quasi_codes(row)[q]));
            let all: Vec<f64> = (0..data.rows()).map(place).collect();
            let found = Axis::spanning(rows().map(place));
            scaled_axes.push((q, Bounds::stated(&settings.bounds, &quasi.name, &all)?.unwrap_or(found)));
        }
        let axes = scaled_axes;
        Bounds::all_known(
            &settings.bounds,
            axes.iter().map(|(q, _)| data.quasi()[*q].name.as_str()).chain([name.as_str()]),
        )?;
        let last = scale::far_values(&values, &counts, sensitive, reach, need);
        // However far a value is, a crowd may be there.
        let by_distance = settings.density.is_none();
        let global: Vec<bool> = first.iter().zip(&last).map(|(a, b)| by_distance && (*a || *b)).collect();
        let scaled = values.iter().map(|&x| sensitive.scaled(x)).collect();
        let (tree, point) = Tree::new(data, &axes, &row_rank, values.len());
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
            weights,
            standing: OnceLock::new(),
            density: settings.density,
            densities: OnceLock::new(),
            everything,
            cache: Cache::default(),
        })
    }

    /// The position of the sensitive column.
    pub fn column(&self) -> usize {
        self.column
    }

    /// How many far records make a tuple bad.
    pub fn need(&self) -> u64 {
        self.need
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// What makes an outlier by density, if that decides.
    pub fn density(&self) -> Option<Density> {
        self.density
    }

    /// The distance attributes, by their positions among the quasi-identifiers.
    pub fn attributes(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().map(|(q, _)| *q)
    }

    /// For the data owner only: the range each distance attribute is scaled to, and that of the sensitive column. The ends
    /// are values of records.
    pub fn ranges(&self) -> (Vec<(f64, f64)>, (f64, f64)) {
        (self.axes.iter().map(|(_, axis)| axis.range()).collect(), self.sensitive.range())
    }

    /// How many distinct points the records have on the distance attributes.
    pub fn points(&self) -> usize {
        self.tree.points()
    }

    /// How many different sensitive values there are.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The rank of a sensitive code among the distinct values.
    pub fn rank(&self, code: u32) -> u32 {
        self.rank[code as usize]
    }

    /// Whether a value, by its rank, makes its records global outliers.
    pub fn is_global(&self, rank: u32) -> bool {
        self.global[rank as usize]
    }

    /// How many different values records have that are no global outliers.
    pub fn values_left(&self) -> u64 {
        self.global.iter().filter(|global| !**global).count() as u64
    }

    /// How a row of the table stands. The first question about a local outlier looks at all rows.
    pub fn standing(&self, row: usize) -> Standing {
        self.standings()[row]
    }

    /// Whether a row's sensitive value alone makes it an outlier.
    pub fn is_global_row(&self, row: usize) -> bool {
        self.global[self.row_rank[row] as usize]
    }

    /// What is known of densities, if outliers are told by them. The first question looks at all places.
    fn by_density(&self) -> Option<&Densities> {
        self.densities.get_or_init(|| self.density.map(|asked| self.densities(asked))).as_ref()
    }

    fn standings(&self) -> &[Standing] {
        self.standing.get_or_init(|| self.all_standings())
    }

    fn all_standings(&self) -> Vec<Standing> {
        let mut standing = vec![Standing::Ordinary; self.weights.len()];
        let mut by_point: Vec<u32> = (0..self.weights.len() as u32).collect();
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

    /// How many outliers there are.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (standing, weight) in self.standings().iter().zip(&self.weights) {
            match standing {
                Standing::Global => counts.global += weight,
                Standing::Local => counts.local += weight,
                Standing::Ordinary => {}
            }
        }
        counts
    }
}

/// `ceil(p·n)`, with p as the decimal that was typed.
fn need(p: f64, records: u64) -> u64 {
    let (p, floor) = (Decimal::of(p), Decimal::of(p).share_of(records));
    floor + u64::from(p.cmp_fraction(u128::from(floor), u128::from(records.max(1))).is_lt())
}

fn sensitive_places(data: &Dataset, column: usize) -> Result<Vec<f64>> {
    let sensitive = &data.sensitive()[column];
    match (sensitive.hierarchy(), sensitive.numbers()) {
        (_, Ok(numbers)) => Ok(numbers.to_vec()),
        (Ok((_, leaves)), Err(_)) if sensitive.missing.is_none() => {
            Ok(leaves.iter().map(|leaf| f64::from(leaf.0 + 1)).collect())
        }
        (_, Err(error)) if sensitive.missing.is_some() => Err(error),
        (_, Err(error)) => {
            Err(error.help("outliers need numbers, dates, or a hierarchy that lists the values in an order"))
        }
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
            return Err(
                Error::job(format!("`distance_attributes` names `{name}` twice")).at("distance_attributes")
            );
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
                "leave such records out with on_missing = \"drop\", or the column out of distance_attributes",
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
