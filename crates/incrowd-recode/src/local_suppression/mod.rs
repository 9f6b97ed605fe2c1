//! Local suppression: single cells are left out, so that every record matches at least k, a missing cell matching any value.
//!
//! Papers: `samarati2001` for suppression of cells, `templ2015` for the reading in which a missing cell matches any value.
//!
//! Where we differ: counted like this, k - 1 records of which nothing is published would make any table k-anonymous, for everybody
//! would match them. So nobody is protected by the missing cells of others alone: of every record that fewer than k share, cells of
//! its own are missing, and never more than this record needs. Records that k share are published whole.
//!
//! To leave out the fewest cells is hard (NP-hard even where a missing cell matches missing cells only). Every point gets the
//! cheapest columns without which it is in company, then cells come back where missing cells of others are company enough.

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

/// More columns than this have no sets of bits.
const MOST_COLUMNS: usize = 64;

/// What is to be left out of a table.
#[derive(Clone, Debug)]
pub struct LocalSuppression {
    /// How many records every record matches at least, itself included.
    pub least: u64,
    /// By quasi-identifier the share of cells that may be missing, if that is limited.
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

    /// Leaves out cells of a table whose lines publish a cell as it is or as `*`
    /// ([`Domain::or_missing`](incrowd_core::Domain::or_missing)). The groups of the answer are records that are published alike; they
    /// may have fewer records than `least`, for what matches is counted across groups.
    pub fn recode(&self, data: &Dataset) -> Result<Recoding> {
        if data.records() < self.least {
            return Err(Error::unsatisfiable(format!(
                "the table has {} records, and every record must match {}",
                data.records(),
                self.least
            ))
            .help("ask for less"));
        }
        if data.quasi().len() > MOST_COLUMNS {
            return Err(Error::job(format!(
                "local suppression takes at most {MOST_COLUMNS} quasi-identifiers, and there are {}",
                data.quasi().len()
            )));
        }
        let points = Points::new(data);
        let prices = self.prices(data);
        let missing = search::begin(&points, self.least, &prices).map_err(|records| {
            Error::unsatisfiable(format!(
                "the limits of missing cells leave {records} records that fewer than {} match",
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

/// Records that are published alike are a group.
fn partition(data: &Dataset, points: &Points, matches: &Matches<'_>) -> Result<Partition> {
    let mut groups: BTreeMap<(Columns, u64), Vec<u32>> = BTreeMap::new();
    for point in 0..points.len() as u32 {
        let missing = matches.missing(point);
        groups.entry((missing, points.key(point, missing))).or_default().extend(&points.rows[point as usize]);
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

/// What is lost: a missing cell all of it, weighed by column.
fn cost(points: &Points, missing: &[Columns], prices: &Prices) -> f64 {
    let of_point = |(point, &columns): (usize, &Columns)| {
        let cells: f64 = columns_of(columns, points.width).map(|column| prices.of_column[column]).sum();
        cells * points.records[point] as f64
    };
    missing.iter().enumerate().map(of_point).sum()
}
