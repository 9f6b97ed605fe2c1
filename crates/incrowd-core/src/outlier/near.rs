//! Computes the sensitive values that are good at a point, for all values at once.
//!
//! Let x be the distance of a record from the point on the distance attributes. The record is near
//! the point with value v if its own value is within √(d² − x²) of v. For a node of the tree x is
//! between a least and a greatest distance. The least distance gives an upper bound on the number
//! of records near v, the greatest a lower bound, both for every v in one pass over the node's
//! values. Nodes are expanded level by level until, for every v, the bounds decide whether more
//! than n − need records are near.
//!
//! The point may also be a set of corners: on each axis either end of an interval. The lower bound
//! then holds for all corners, the upper bound for any corner.

use super::Outliers;
use super::cache::{Ends, Query};
use super::tree::ValueCounts;

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits(Box<[u64]>);

impl Bits {
    /// An empty set; ranks are less than `count`.
    pub fn none(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)].into_boxed_slice())
    }

    /// The set of these ranks, which are less than `count`.
    pub fn of(count: usize, ranks: impl IntoIterator<Item = u32>) -> Bits {
        let mut bits = Bits::none(count);
        ranks.into_iter().for_each(|rank| bits.set(rank));
        bits
    }

    /// Adds a rank.
    pub fn set(&mut self, rank: u32) {
        self.0[rank as usize / 64] |= 1 << (rank % 64);
    }

    /// Removes a rank.
    pub fn unset(&mut self, rank: u32) {
        self.0[rank as usize / 64] &= !(1 << (rank % 64));
    }

    /// Whether the set contains a rank.
    pub fn get(&self, rank: u32) -> bool {
        self.0[rank as usize / 64] >> (rank % 64) & 1 == 1
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The number of ranks in the set.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether the sets have a common rank.
    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether every rank of this set that is in `within` is also in `other`.
    pub fn inside(&self, within: &Bits, other: &Bits) -> bool {
        self.0.iter().zip(&within.0).zip(&other.0).all(|((a, b), c)| a & b & !c == 0)
    }

    /// Adds the ranks of another set.
    pub fn join(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// The intersection.
    #[must_use]
    pub fn and(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// The difference.
    #[must_use]
    pub fn without(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// The ranks, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.0.len() as u32 * 64).filter(|&rank| self.get(rank))
    }
}

/// Bounds of the good values of a point or of the corners of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Good {
    /// Values that are good at all corners; for a point, all its good values.
    pub(super) all: Bits,
    /// A superset of the values that are good at any corner.
    pub(super) some: Bits,
}

/// The number of records near each value. Stored as differences between successive values (a prefix
/// sum gives the numbers), or directly if only few values are wanted.
struct Sums<'a> {
    scaled: &'a [f64],
    /// The wanted values, if there are few.
    few: Option<&'a [u32]>,
    sums: Vec<i64>,
}

/// Up to this many wanted values are counted directly.
const FEW: usize = 6;
/// Maximum number of nodes expanded for a box; beyond it, its corners are evaluated instead.
const OPENED: usize = 256;

impl<'a> Sums<'a> {
    fn new(scaled: &'a [f64], few: Option<&'a [u32]>) -> Sums<'a> {
        Sums { scaled, few, sums: vec![0; few.map_or(scaled.len() + 1, <[u32]>::len)] }
    }

    fn clear(&mut self) {
        self.sums.fill(0);
    }

    /// Adds the records whose value is within √`square` of a value.
    fn add(&mut self, counts: ValueCounts<'_>, square: f64) {
        if square < 0.0 {
            return;
        }
        let radius = square.sqrt();
        if let Some(few) = self.few {
            for (sum, &rank) in self.sums.iter_mut().zip(few) {
                let at = self.scaled[rank as usize];
                let from = counts.ranks.partition_point(|&r| self.scaled[r as usize] < at - radius);
                let to = counts.ranks.partition_point(|&r| self.scaled[r as usize] <= at + radius);
                *sum += (counts.before[to] - counts.before[from]) as i64;
            }
            return;
        }
        let count = self.scaled.len();
        let all = (counts.before[counts.ranks.len()] - counts.before[0]) as i64;
        if count > 0 && self.scaled[count - 1] - self.scaled[0] <= radius {
            self.sums[0] += all;
            self.sums[count] -= all;
            return;
        }
        // Two pointers advance over the values if there are many ranks; few ranks search.
        let walk = counts.ranks.len() * 8 > count;
        let (mut from, mut to) = (0, 0);
        for (i, &rank) in counts.ranks.iter().enumerate() {
            let (at, records) =
                (self.scaled[rank as usize], (counts.before[i + 1] - counts.before[i]) as i64);
            if walk {
                while from < count && self.scaled[from] < at - radius {
                    from += 1;
                }
                while to < count && self.scaled[to] <= at + radius {
                    to += 1;
                }
            } else {
                from = self.scaled.partition_point(|&x| x < at - radius);
                to = self.scaled.partition_point(|&x| x <= at + radius);
            }
            self.sums[from] += records;
            self.sums[to] -= records;
        }
    }

    /// The number of records near each wanted value, in order, including those of another sum.
    fn totals(&self, other: &Sums<'_>) -> impl Iterator<Item = i64> {
        let differences = self.few.is_none();
        let length = if differences { self.scaled.len() } else { self.sums.len() };
        let mut running = 0;
        (0..length).map(move |i| {
            let own = self.sums[i] + other.sums[i];
            running = if differences { running + own } else { own };
            running
        })
    }
}

impl Outliers {
    /// Computes bounds of the good values of the corners of a box with scaled ends; only for the
    /// values of `few`, if given. The bounds decide the query if the box is a point.
    pub(super) fn evaluate(&self, ends: &Ends, few: Option<&[u32]>, query: Query<'_>) -> Good {
        let few = few.filter(|few| few.len() <= FEW);
        if let Some(densities) = self.by_density() {
            return self.evaluate_by_density(densities, ends, few, query);
        }
        let enough = (self.records - self.need.min(self.records)) as i64;
        let sums = || Sums::new(&self.scaled, few);
        // Bounds from nodes that are done, and from nodes that are still open.
        let (mut least, mut most, mut least_open, mut most_open) = (sums(), sums(), sums(), sums());
        let mut open: Vec<u32> = if self.tree.nodes.is_empty() { Vec::new() } else { vec![0] };
        let (mut opened, point) = (0, ends.iter().all(|(lo, hi)| lo == hi));
        loop {
            least_open.clear();
            most_open.clear();
            let mut next = Vec::with_capacity(open.len() * 2);
            for &node in &open {
                let (near, far) = distances(self.tree.sides(node).iter().copied(), ends);
                if near > self.reach {
                    continue;
                }
                let counts = self.tree.of_node(node);
                if near == far || self.reaches_all_values(self.reach - far) {
                    least.add(counts, self.reach - far);
                    most.add(counts, self.reach - near);
                    continue;
                }
                let (points, second) =
                    (self.tree.nodes[node as usize].points, self.tree.nodes[node as usize].second);
                if second != 0 {
                    least_open.add(counts, self.reach - far);
                    most_open.add(counts, self.reach - near);
                    next.extend([node + 1, second]);
                    continue;
                }
                for point in points.0..points.1 {
                    let (near, far) =
                        distances(self.tree.place(point).iter().map(|&x| (x, x)), ends);
                    let counts = self.tree.of_point(point);
                    least.add(counts, self.reach - far);
                    most.add(counts, self.reach - near);
                }
            }
            opened += open.len();
            open = next;
            if open.is_empty() {
                least_open.clear();
                most_open.clear();
                break;
            }
            let total = (least.totals(&least_open), most.totals(&most_open));
            if decides(query, few, total, enough) || !point && opened > OPENED {
                break;
            }
        }
        let bits = |sums: &Sums<'_>, open: &Sums<'_>| {
            let mut bits = Bits::none(self.scaled.len());
            for (i, total) in sums.totals(open).enumerate() {
                if total > enough {
                    bits.set(few.map_or(i as u32, |few| few[i]));
                }
            }
            bits
        };
        Good { all: bits(&least, &least_open), some: bits(&most, &most_open) }
    }

    /// Whether any two values are within √`square` of each other. Expanding a node does not improve
    /// the bounds then.
    fn reaches_all_values(&self, square: f64) -> bool {
        match (self.scaled.first(), self.scaled.last()) {
            (Some(first), Some(last)) => square >= 0.0 && last - first <= square.sqrt(),
            _ => true,
        }
    }

    /// The good values among `ranks` at a point.
    pub(super) fn good_at_point(&self, point: u32, ranks: &[u32]) -> Bits {
        let ends: Ends = self.tree.place(point).iter().map(|&x| (x, x)).collect();
        if ranks.len() <= FEW {
            self.evaluate(&ends, Some(ranks), Query::All).all
        } else {
            let wanted = Bits::of(self.values.len(), ranks.iter().copied());
            self.cache.ask(self, &ends, Query::Each(&wanted)).all.clone()
        }
    }
}

/// Whether lower and upper bounds of the records near each value decide the query.
fn decides(
    query: Query<'_>,
    few: Option<&[u32]>,
    (least, most): (impl Iterator<Item = i64>, impl Iterator<Item = i64>),
    enough: i64,
) -> bool {
    let mut totals = least.zip(most).enumerate();
    let is_wanted = |i: usize, values: &Bits| values.get(few.map_or(i as u32, |few| few[i]));
    let open = |(least, most): (i64, i64)| least <= enough && most > enough;
    match query {
        Query::All => !totals.any(|(_, pair)| open(pair)),
        Query::Each(values) => !totals.any(|(i, pair)| open(pair) && is_wanted(i, values)),
        Query::Any(values) => {
            let mut undecided = false;
            for (_, pair) in totals.filter(|(i, _)| is_wanted(*i, values)) {
                if pair.0 > enough {
                    return true;
                }
                undecided |= open(pair);
            }
            !undecided
        }
    }
}

/// The squares of the least and greatest distance from a box to the corners of another.
fn distances(sides: impl Iterator<Item = (f64, f64)>, ends: &Ends) -> (f64, f64) {
    let (mut near, mut far) = (0.0, 0.0);
    for ((lo, hi), &(a, b)) in sides.zip(ends.iter()) {
        let least = |c: f64| {
            if c < lo {
                lo - c
            } else if c > hi {
                c - hi
            } else {
                0.0
            }
        };
        let most = |c: f64| (c - lo).abs().max((c - hi).abs());
        let (n, f) = (least(a).min(least(b)), most(a).max(most(b)));
        near += n * n;
        far += f * f;
    }
    (near, far)
}
