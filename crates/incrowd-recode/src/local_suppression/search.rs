//! Which cells to leave out: for every scarce point the cheapest columns without which it is in company, then fewer where missing
//! cells of others are company enough.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::matches::Matches;
use super::points::{Columns, Points, columns_of};

/// Sets of at most so many columns are tried, fewer where that would be more than this many looks at a point.
const MOST_COLUMNS: u32 = 3;
const LOOKS: u64 = 60_000_000;

/// Making cells come back takes at most so many looks at a hash.
const CHANGE_LOOKS: u64 = 200_000_000;

/// Points are gone through at most so often.
const SWEEPS: usize = 2;

/// What missing cells cost, and how many of a column there may be.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// By column, what a missing cell costs.
    pub(super) of_column: Vec<f64>,
    /// By column, how many cells may be missing; all if nobody says.
    pub(super) most: Vec<u64>,
}

impl Prices {
    fn of(&self, columns: Columns) -> f64 {
        columns_of(columns, self.of_column.len()).map(|column| self.of_column[column]).sum()
    }
}

/// Sets of columns by price, those with one price together.
fn sets(prices: &Prices, points: u64) -> Vec<Columns> {
    let width = prices.of_column.len() as u32;
    let mut sets: Vec<Columns> = vec![0];
    let mut all: Vec<Columns> = Vec::new();
    for _ in 0..MOST_COLUMNS.min(width) {
        let larger = |set: &Columns| {
            let next = Columns::BITS - set.leading_zeros();
            let set = *set;
            (next..width).map(move |column| set | 1 << column)
        };
        sets = sets.iter().flat_map(larger).collect();
        if !all.is_empty() && (all.len() + sets.len()) as u64 * points > LOOKS {
            break;
        }
        all.extend(&sets);
    }
    all.sort_by(|&a, &b| prices.of(a).total_cmp(&prices.of(b)).then(a.cmp(&b)));
    all
}

/// Sets for points that no small set helps: columns with many values go first, one more at a time.
fn chain(points: &Points) -> Vec<Columns> {
    let values = |column: usize| {
        let keys = (0..points.len() as u32).map(|point| points.key(point, !(1 << column)));
        keys.collect::<hashbrown::HashSet<u64, FixedState>>().len()
    };
    let mut columns: Vec<(usize, usize)> = (0..points.width).map(|column| (values(column), column)).collect();
    columns.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let chain = columns.iter().scan(0, |set: &mut Columns, &(_, column)| {
        *set |= 1 << column;
        Some(*set)
    });
    chain.collect()
}

/// For each of some points how many records agree with it without a set of columns, and how many scarce points.
fn company(points: &Points, least: u64, asking: &[u32], set: Columns) -> Vec<(u64, u32)> {
    let mut found: HashMap<u64, (u64, u32), FixedState> = HashMap::default();
    for &point in asking {
        found.entry(points.key(point, set)).or_default();
    }
    for point in 0..points.len() as u32 {
        if let Some((records, scarce)) = found.get_mut(&points.key(point, set)) {
            *records += points.records[point as usize];
            *scarce += u32::from(points.records[point as usize] < least);
        }
    }
    asking.iter().map(|&point| found[&points.key(point, set)]).collect()
}

/// The missing columns of every point, or the points for which the limits leave none.
pub(super) fn begin(points: &Points, least: u64, prices: &Prices) -> Result<Vec<Columns>, u64> {
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
        // Of the sets of one price the one that most other scarce points share: what is missing then helps them too.
        let mut best: Vec<(u32, Columns)> = vec![(0, 0); open.len()];
        for sets in sets.chunks(8) {
            let found: Vec<Vec<(u64, u32)>> =
                sets.par_iter().map(|&set| company(points, least, &open, set)).collect();
            for (set, found) in sets.iter().zip(found) {
                for ((point, best), (records, scarce)) in open.iter().zip(&mut best).zip(found) {
                    let own = points.records[*point as usize];
                    let room = columns_of(*set, points.width).all(|column| left[column] >= own);
                    if records >= least && scarce > best.0 && room {
                        *best = (scarce, *set);
                    }
                }
            }
        }
        let mut still = Vec::new();
        for (&point, (scarce, set)) in open.iter().zip(best) {
            let own = points.records[point as usize];
            let room = columns_of(set, points.width).all(|column| left[column] >= own);
            if scarce == 0 || !room {
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

/// Lets cells come back where points match enough records without their being missing. Points that lost most come first.
pub(super) fn improve(matches: &mut Matches<'_>, prices: &Prices) {
    let width = matches.points.width;
    let small = sets(prices, matches.points.len() as u64);
    let mut left = prices.most.clone();
    for &point in &matches.scarce {
        let own = matches.points.records[point as usize];
        columns_of(matches.missing(point), width)
            .for_each(|column| left[column] = left[column].saturating_sub(own));
    }
    for _ in 0..SWEEPS {
        let mut order: Vec<(f64, u64, u32)> = matches
            .scarce
            .iter()
            .map(|&point| (prices.of(matches.missing(point)), matches.points.records[point as usize], point))
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut changed = false;
        for (now, own, point) in order {
            if matches.looks > CHANGE_LOOKS {
                return;
            }
            let old = matches.missing(point);
            let cheaper = small.iter().copied().take_while(|&set| prices.of(set) < now);
            let parts = columns_of(old, width).map(|column| old & !(1 << column)).filter(|&set| set != 0);
            for set in cheaper.chain(parts) {
                let room = columns_of(set & !old, width).all(|column| left[column] >= own);
                if room && matches.change(point, set) {
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
