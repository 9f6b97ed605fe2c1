//! The levels of a column: those of its hierarchy or, for numbers without one, intervals of 1, 2,
//! 4, … values.

use std::collections::BTreeMap;

use incrowd_core::{Code, Dataset, Domain};

use crate::improve::Metric;

/// The greatest number of combinations of levels. Levels are left out if there are more.
pub(super) const MAX_NODES: usize = 50_000;

/// The levels of a column with their prices.
#[derive(Clone, Debug)]
pub(super) struct PricedLevels {
    /// By level: a random-looking number for each leaf, equal for the leaves of one class. The sum
    /// of these numbers over the columns is a hash of the cells.
    pub(super) terms: Vec<Vec<u64>>,
    /// By level: the mean price of a record.
    pub(super) prices: Vec<f64>,
    /// By level: the first and last leaf of the class of each leaf. `None` for leaves that do not
    /// occur.
    pub(super) spans: Vec<Vec<Option<(u32, u32)>>>,
}

/// The finalizer of SplitMix64.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl PricedLevels {
    pub(super) fn new(data: &Dataset, column: usize, metric: Metric) -> PricedLevels {
        let quasi = &data.quasi()[column];
        let domain = &quasi.domain;
        let mut records = vec![0u64; domain.leaves() as usize];
        for row in 0..data.rows() {
            records[data.quasi_codes(row)[column] as usize] += data.weight(row);
        }
        let used: Vec<u32> =
            (0..domain.leaves()).filter(|&leaf| records[leaf as usize] > 0).collect();
        let mut of_column =
            PricedLevels { terms: Vec::new(), prices: Vec::new(), spans: Vec::new() };
        let mut last = 0;
        for level in 0.. {
            let classes = classes(domain, &used, level);
            let mut spans: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            for (&leaf, &class) in used.iter().zip(&classes) {
                let span = spans.entry(class).or_insert((leaf, leaf));
                *span = (span.0.min(leaf), span.1.max(leaf));
            }
            // A level that merges no classes is skipped.
            if level == 0 || spans.len() < last {
                last = spans.len();
                let mut terms = vec![0; records.len()];
                let mut price = 0.0;
                let mut of_leaf = vec![None; records.len()];
                for (&leaf, &class) in used.iter().zip(&classes) {
                    let salt = (column as u64) << 40 | (of_column.terms.len() as u64) << 32;
                    terms[leaf as usize] = mix(salt | u64::from(class));
                    let (lo, hi) = spans[&class];
                    of_leaf[leaf as usize] = Some((lo, hi));
                    price +=
                        quasi.weight * metric.of(domain, lo, hi) * records[leaf as usize] as f64;
                }
                of_column.terms.push(terms);
                of_column.spans.push(of_leaf);
                of_column.prices.push(price / data.records() as f64);
            }
            if last <= 1 {
                break;
            }
        }
        of_column
    }
}

/// Returns the class of each leaf at a level. At a sufficiently high level there is one class.
fn classes(domain: &Domain, used: &[u32], level: u32) -> Vec<u32> {
    match domain {
        Domain::Taxonomy(_) => {
            let level = (level as usize).min(domain.levels() - 1);
            used.iter().map(|&leaf| domain.level_span(Code(leaf), level).lo.0).collect()
        }
        Domain::Numbers(_) => (0..used.len() as u32).map(|rank| rank >> level.min(31)).collect(),
        Domain::Labels(_) => used.iter().map(|&leaf| if level == 0 { leaf } else { 0 }).collect(),
    }
}

/// Returns the levels of all columns, reduced to at most [`MAX_NODES`] combinations.
pub(super) fn column_levels(data: &Dataset, metric: Metric) -> Vec<PricedLevels> {
    let mut column_levels: Vec<PricedLevels> =
        (0..data.quasi().len()).map(|q| PricedLevels::new(data, q, metric)).collect();
    while combinations(&column_levels) > MAX_NODES {
        let Some(tallest) =
            column_levels.iter_mut().max_by_key(|s| s.terms.len()).filter(|s| s.terms.len() > 1)
        else {
            break;
        };
        // Remove the level whose absence leaves the smallest gap in price. The first and the last
        // level are kept as long as there are others.
        let gap = |level: usize| tallest.prices[level + 1] - tallest.prices[level - 1];
        let inner = 1..tallest.terms.len() - 1;
        let level = inner.min_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
        tallest.terms.remove(level);
        tallest.prices.remove(level);
        tallest.spans.remove(level);
    }
    column_levels
}

/// Returns the number of combinations of levels.
pub(super) fn combinations(column_levels: &[PricedLevels]) -> usize {
    column_levels.iter().fold(1, |n, of_column| n.saturating_mul(of_column.terms.len()))
}

/// Returns all combinations of levels, the cheapest first.
pub(super) fn nodes(column_levels: &[PricedLevels]) -> Vec<Vec<u8>> {
    let mut nodes: Vec<(f64, Vec<u8>)> = vec![(0.0, Vec::new())];
    for of_column in column_levels {
        let with = |(price, levels): &(f64, Vec<u8>), level: usize| {
            let mut levels = levels.clone();
            levels.push(level as u8);
            (price + of_column.prices[level], levels)
        };
        nodes = nodes
            .iter()
            .flat_map(|node| (0..of_column.terms.len()).map(|l| with(node, l)))
            .collect();
    }
    nodes.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    nodes.into_iter().map(|node| node.1).collect()
}
