//! The choice of missing cells: for every rare point the cheapest columns without which it matches
//! enough records, then fewer columns if the missing cells of others suffice.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::matches::Matches;
use super::points::{Columns, Points, columns_of};

/// The greatest number of columns of the sets that are tried first. Smaller sets only if there
/// would be more than [`MAX_LOOKUPS`] comparisons with a point.
const MAX_COLUMNS: u32 = 3;
const MAX_LOOKUPS: u64 = 60_000_000;

/// The greatest number of hash lookups while cells are restored.
const MAX_CHANGE_LOOKUPS: u64 = 200_000_000;

/// The greatest number of sweeps over the points.
const SWEEPS: usize = 2;

/// The prices of missing cells, and their limits.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// By column: the price of a missing cell.
    pub(super) of_column: Vec<f64>,
    /// By column: the greatest number of missing cells.
    pub(super) most: Vec<u64>,
}

impl Prices {
    fn of(&self, columns: Columns) -> f64 {
        columns_of(columns, self.of_column.len()).map(|column| self.of_column[column]).sum()
    }
}

/// Returns small sets of columns, ascending by price.
fn sets(prices: &Prices, points: u64) -> Vec<Columns> {
    let width = prices.of_column.len() as u32;
    let mut sets: Vec<Columns> = vec![0];
    let mut all: Vec<Columns> = Vec::new();
    for _ in 0..MAX_COLUMNS.min(width) {
        let larger = |set: &Columns| {
            let next = Columns::BITS - set.leading_zeros();
            let set = *set;
            (next..width).map(move |column| set | 1 << column)
        };
        sets = sets.iter().flat_map(larger).collect();
        if !all.is_empty() && (all.len() + sets.len()) as u64 * points > MAX_LOOKUPS {
            break;
        }
        all.extend(&sets);
    }
    all.sort_by(|&a, &b| prices.of(a).total_cmp(&prices.of(b)).then(a.cmp(&b)));
    all
}

/// Returns larger sets for points for which no small set suffices: the columns are added one by
/// one, those with many values first.
fn chain(points: &Points) -> Vec<Columns> {
    let values = |column: usize| {
        let keys = (0..points.len() as u32).map(|point| points.key(point, !(1 << column)));
        keys.collect::<hashbrown::HashSet<u64, FixedState>>().len()
    };
    let mut columns: Vec<(usize, usize)> =
        (0..points.width).map(|column| (values(column), column)).collect();
    columns.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let chain = columns.iter().scan(0, |set: &mut Columns, &(_, column)| {
        *set |= 1 << column;
        Some(*set)
    });
    chain.collect()
}

/// Returns for each of the `open` points the numbers of records and of rare points that agree with
/// it without a set of columns.
fn count_agreeing(points: &Points, least: u64, open: &[u32], set: Columns) -> Vec<(u64, u32)> {
    let mut found: HashMap<u64, (u64, u32), FixedState> = HashMap::default();
    for &point in open {
        found.entry(points.key(point, set)).or_default();
    }
    for point in 0..points.len() as u32 {
        if let Some((records, rare)) = found.get_mut(&points.key(point, set)) {
            *records += points.records[point as usize];
            *rare += u32::from(points.records[point as usize] < least);
        }
    }
    open.iter().map(|&point| found[&points.key(point, set)]).collect()
}

/// Returns the missing columns of every point, or the number of records for which the limits are
/// too low.
pub(super) fn initial_missing(
    points: &Points,
    least: u64,
    prices: &Prices,
) -> Result<Vec<Columns>, u64> {
    let mut missing: Vec<Columns> = vec![0; points.len()];
    let mut left = prices.most.clone();
    let mut open: Vec<u32> =
        (0..points.len() as u32).filter(|&point| points.records[point as usize] < least).collect();
    let small = sets(prices, points.len() as u64);
    let alike = small.chunk_by(|&a, &b| prices.of(a) == prices.of(b)).map(<[Columns]>::to_vec);
    for sets in alike.chain(chain(points).into_iter().map(|set| vec![set])) {
        if open.is_empty() {
            break;
        }
        // Of the sets of equal price, choose the one that most other rare points share, because the
        // missing cells then help them too.
        let mut best: Vec<(u32, Columns)> = vec![(0, 0); open.len()];
        for sets in sets.chunks(8) {
            let found: Vec<Vec<(u64, u32)>> =
                sets.par_iter().map(|&set| count_agreeing(points, least, &open, set)).collect();
            for (set, found) in sets.iter().zip(found) {
                for ((point, best), (records, rare)) in open.iter().zip(&mut best).zip(found) {
                    let own = points.records[*point as usize];
                    let fits = columns_of(*set, points.width).all(|column| left[column] >= own);
                    if records >= least && rare > best.0 && fits {
                        *best = (rare, *set);
                    }
                }
            }
        }
        let mut still = Vec::new();
        for (&point, (rare, set)) in open.iter().zip(best) {
            let own = points.records[point as usize];
            let fits = columns_of(set, points.width).all(|column| left[column] >= own);
            if rare == 0 || !fits {
                still.push(point);
                continue;
            }
            missing[point as usize] = set;
            columns_of(set, points.width).for_each(|column| left[column] -= own);
        }
        open = still;
    }
    let without = open.iter().map(|&point| points.records[point as usize]).sum();
    if open.is_empty() { Ok(missing) } else { Err(without) }
}

/// Restores cells of points that match enough records without these cells being missing. Points
/// with the highest price come first.
pub(super) fn improve(matches: &mut Matches<'_>, prices: &Prices) {
    let width = matches.points.width;
    let small = sets(prices, matches.points.len() as u64);
    let mut left = prices.most.clone();
    for &point in &matches.rare {
        let own = matches.points.records[point as usize];
        columns_of(matches.missing(point), width)
            .for_each(|column| left[column] = left[column].saturating_sub(own));
    }
    for _ in 0..SWEEPS {
        let mut order: Vec<(f64, u64, u32)> = matches
            .rare
            .iter()
            .map(|&point| {
                (prices.of(matches.missing(point)), matches.points.records[point as usize], point)
            })
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut changed = false;
        for (now, own, point) in order {
            if matches.lookups > MAX_CHANGE_LOOKUPS {
                return;
            }
            let old = matches.missing(point);
            let cheaper = small.iter().copied().take_while(|&set| prices.of(set) < now);
            let subsets =
                columns_of(old, width).map(|column| old & !(1 << column)).filter(|&set| set != 0);
            for set in cheaper.chain(subsets) {
                let fits = columns_of(set & !old, width).all(|column| left[column] >= own);
                if fits && matches.change(point, set) {
                    columns_of(old & !set, width).for_each(|column| left[column] += own);
                    columns_of(set & !old, width).for_each(|column| left[column] -= own);
                    changed = true;
                    break;
                }
            }
        }
        if !changed {
            return;
        }
    }
}
