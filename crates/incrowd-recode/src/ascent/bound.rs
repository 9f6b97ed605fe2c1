//! A lower bound of the loss of any release, independent of the algorithm.
//!
//! A record shares its cells with all records of its group. So at least as many records as a group
//! needs must match these cells in the whole table. The cheapest cells for which this holds are a
//! lower bound of the loss of the record. The sum over all records is a lower bound of the loss of
//! any release. Groups compete for records, so the bound is rarely reached.
//!
//! For columns with a hierarchy, all its nodes are considered. Without a hierarchy, a record is
//! published with its own value or with at least one other value, the nearest.

use incrowd_core::{Dataset, Domain, Progress};
use rayon::prelude::*;

use super::blocks::Blocks;
use super::candidates::ClassCounter;
use super::levels::{self, PricedLevels};
use crate::improve::{Metric, ModelCheck};

/// The number of combinations that are evaluated in parallel.
const BATCH: usize = 64;

/// Returns the least mean price of a cell, or `None` if there are too many combinations of levels.
pub(crate) fn least_loss(
    check: &ModelCheck<'_>,
    metric: Metric,
    progress: &dyn Progress,
) -> Option<f64> {
    let data = check.data;
    let all: Vec<PricedLevels> =
        (0..data.quasi().len()).map(|q| bounding_levels(data, q, metric)).collect();
    if levels::combinations(&all) > levels::MAX_NODES {
        return None;
    }
    // By column and level: the lower bound for each leaf, and the least of these.
    let prices: Vec<Vec<Vec<f32>>> =
        all.iter().enumerate().map(|(q, of_column)| prices(data, q, of_column, metric)).collect();
    let cheapest = |levels: &[Vec<f32>], level: usize| {
        levels[level].iter().copied().fold(f32::INFINITY, f32::min)
    };
    let floors: Vec<Vec<f32>> =
        prices.iter().map(|p| (0..p.len()).map(|level| cheapest(p, level)).collect()).collect();
    let floor = |node: &[u8]| {
        node.iter().zip(&floors).map(|(&level, f)| f[usize::from(level)]).sum::<f32>()
    };
    let mut nodes: Vec<(f32, Vec<u8>)> =
        levels::nodes(&all).into_iter().map(|node| (floor(&node), node)).collect();
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    progress.step_through("bounding", nodes.len() as u64, "combinations");

    let rows: Vec<u32> = (0..data.rows() as u32).collect();
    let remaining = vec![true; rows.len()];
    let mut blocks = Blocks::new(&all, rows.len());
    let mut least = vec![f32::INFINITY; rows.len()];
    // The rows whose bound may still decrease.
    let mut open = rows.clone();
    for chunk in nodes.chunks(BATCH) {
        // Nodes are sorted by their floor, so no later node costs less than this.
        let floor = chunk[0].0;
        open.retain(|&row| least[row as usize] > floor);
        if open.is_empty() {
            break;
        }
        let chunk: Vec<Vec<u8>> = chunk.iter().map(|node| node.1.clone()).collect();
        blocks.prepare(check, &chunk, &rows);
        let better = |counter: &mut ClassCounter, node: &Vec<u8>| -> Vec<(u32, f32)> {
            let candidates = counter.candidates(check, None, &blocks.at(node), &rows, &remaining);
            let price = |row: u32| -> f32 {
                let codes = data.quasi_codes(row as usize).iter().zip(&prices).zip(node);
                codes
                    .map(|((&code, prices), &level)| prices[usize::from(level)][code as usize])
                    .sum()
            };
            let known = candidates.rows().map(|row| (row, price(row)));
            known.filter(|&(row, price)| price < least[row as usize]).collect()
        };
        let found: Vec<Vec<(u32, f32)>> =
            chunk.par_iter().map_init(ClassCounter::default, better).collect();
        for (row, price) in found.into_iter().flatten() {
            least[row as usize] = least[row as usize].min(price);
        }
        progress.advance(chunk.len() as u64);
    }
    let sum: f64 = rows
        .iter()
        .map(|&row| f64::from(least[row as usize]) * data.weight(row as usize) as f64)
        .sum();
    let importance: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
    Some(sum / (data.records() as f64 * importance))
}

/// Returns all levels of a hierarchy. For a column without one, returns the lowest and the highest.
fn bounding_levels(data: &Dataset, column: usize, metric: Metric) -> PricedLevels {
    let mut of_column = PricedLevels::new(data, column, metric);
    let top = of_column.terms.len() - 1;
    if !matches!(data.quasi()[column].domain, Domain::Taxonomy(_)) && top > 1 {
        of_column.terms.drain(1..top);
        of_column.prices.drain(1..top);
        of_column.spans.drain(1..top);
    }
    of_column
}

/// Returns by level a lower bound of the price of a record with each leaf. Leaves that do not occur
/// have infinite prices.
fn prices(
    data: &Dataset,
    column: usize,
    of_column: &PricedLevels,
    metric: Metric,
) -> Vec<Vec<f32>> {
    let domain = &data.quasi()[column].domain;
    let used: Vec<u32> =
        (0..domain.leaves()).filter(|&leaf| of_column.spans[0][leaf as usize].is_some()).collect();
    let at = |level: usize, leaf: u32| -> f32 {
        let Some((lo, hi)) = of_column.spans[level][leaf as usize] else { return f32::INFINITY };
        let price = match domain {
            Domain::Numbers(_) if level > 0 => {
                let rank = used.partition_point(|&other| other < leaf);
                let before = rank.checked_sub(1).map(|r| metric.of(domain, used[r], leaf));
                let after = used.get(rank + 1).map(|&next| metric.of(domain, leaf, next));
                before.into_iter().chain(after).fold(f64::INFINITY, f64::min)
            }
            // Any two values of a column without a hierarchy have the same price.
            Domain::Labels(_) if level > 0 => metric.of(domain, 0, 1),
            _ => metric.of(domain, lo, hi),
        };
        // The factor keeps the bound below the true price in spite of rounding.
        (data.quasi()[column].weight * price * (1.0 - 1e-6)) as f32
    };
    (0..of_column.terms.len())
        .map(|level| (0..domain.leaves()).map(|leaf| at(level, leaf)).collect())
        .collect()
}
