//! Local suppression: single cells are published as missing, so that every record matches at least
//! k records. A missing cell matches any value.
//!
//! Papers: `samarati2001` for suppression of cells, `templ2015` for the definition in which a
//! missing cell matches any value.
//!
//! Differences from the papers: by that definition alone, k - 1 records with only missing cells
//! would make any table k-anonymous, because every record matches them. So the missing cells of
//! other records do not suffice: every record with values that fewer than k records share has
//! missing cells of its own, and no more than it needs. Other records are published completely.
//!
//! It is hard to find the least number of missing cells (NP-hard even if a missing cell matches
//! only missing cells). First, each point gets the cheapest set of columns without which it matches
//! enough records. Then cells are restored if the missing cells of others suffice.

mod levels;
mod matches;
mod points;
mod report;
mod search;
#[cfg(test)]
mod tests;

pub use levels::cheapest_levels;
pub use report::{LocalSuppressionReport, MissingOfColumn};

use std::collections::BTreeMap;

use incrowd_core::{Code, Dataset, Error, Partition, Result, RowId, Span};

use crate::Recoding;
use matches::Matches;
use points::{Columns, Points, columns_of};
use search::Prices;

/// The greatest number of columns of a bit set.
const MAX_COLUMNS: usize = 64;

/// The requirements of local suppression.
#[derive(Clone, Debug)]
pub struct LocalSuppression {
    /// The least number of records that every record must match, including itself.
    pub least: u64,
    /// By quasi-identifier: the share of cells that may be missing, if it is limited.
    pub limits: Vec<Option<f64>>,
}

impl LocalSuppression {
    fn prices(&self, data: &Dataset) -> Prices {
        let most = |limit: &Option<f64>| match limit {
            None => u64::MAX,
            Some(share) => incrowd_core::exact::Decimal::of(*share).share_of(data.records()),
        };
        Prices {
            of_column: data.quasi().iter().map(|quasi| quasi.weight).collect(),
            most: self.limits.iter().map(most).collect(),
        }
    }

    /// Suppresses cells of a table whose domains publish a cell unchanged or as `*`
    /// ([`Domain::or_missing`](incrowd_core::Domain::or_missing)). The groups of the result are
    /// records with equal cells. They may have fewer than `least` records, because matches are
    /// counted across groups.
    pub fn recode(&self, data: &Dataset) -> Result<Recoding> {
        if data.records() < self.least {
            return Err(Error::unsatisfiable(format!(
                "the table has {} records, and every record must match {}",
                data.records(),
                self.least
            ))
            .help("weaken the models"));
        }
        if data.quasi().len() > MAX_COLUMNS {
            return Err(Error::job(format!(
                "local suppression supports at most {MAX_COLUMNS} quasi-identifiers, and there are \
                 {}",
                data.quasi().len()
            )));
        }
        let points = Points::new(data);
        let prices = self.prices(data);
        let missing = search::initial_missing(&points, self.least, &prices).map_err(|records| {
            Error::unsatisfiable(format!(
                "with the limits of missing cells, {records} records match fewer than {} records",
                self.least
            ))
            .help("raise `max_missing` of a column, or generalize first")
            .at("columns")
        })?;
        let mut matches = Matches::new(&points, self.least, missing);
        search::improve(&mut matches, &prices);
        let report = report::LocalSuppressionReport::new(data, &mut matches, self.least);
        Ok(Recoding::new(partition(data, &points, &matches)?).reporting(report))
    }
}

/// Groups the records with equal cells.
fn partition(data: &Dataset, points: &Points, matches: &Matches<'_>) -> Result<Partition> {
    let mut groups: BTreeMap<(Columns, u64), Vec<u32>> = BTreeMap::new();
    for point in 0..points.len() as u32 {
        let missing = matches.missing(point);
        groups
            .entry((missing, points.key(point, missing)))
            .or_default()
            .extend(&points.rows[point as usize]);
    }
    let mut groups: Vec<(Columns, Vec<u32>)> =
        groups.into_iter().map(|((missing, _), rows)| (missing, rows)).collect();
    groups.iter_mut().for_each(|group| group.1.sort_unstable());
    groups.sort_unstable_by_key(|group| group.1[0]);
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    for (missing, rows) in groups {
        let span = |q: usize| {
            if missing >> q & 1 == 1 {
                return Span { lo: Code(0), hi: Code(data.quasi()[q].domain.leaves() - 1) };
            }
            let codes = || rows.iter().map(|&row| Code(data.quasi_codes(row as usize)[q]));
            let ends = (codes().min(), codes().max());
            Span { lo: ends.0.unwrap_or(Code(0)), hi: ends.1.unwrap_or(Code(0)) }
        };
        let spans: Vec<Span> = (0..data.quasi().len()).map(span).collect();
        partition.add(&spans, rows.iter().map(|&row| RowId(row)))?;
    }
    Ok(partition)
}

/// Returns the loss of all missing cells, multiplied by the importance of the columns.
fn cost(points: &Points, missing: &[Columns], prices: &Prices) -> f64 {
    let of_point = |(point, &columns): (usize, &Columns)| {
        let cells: f64 =
            columns_of(columns, points.width).map(|column| prices.of_column[column]).sum();
        cells * points.records[point] as f64
    };
    missing.iter().enumerate().map(of_point).sum()
}
