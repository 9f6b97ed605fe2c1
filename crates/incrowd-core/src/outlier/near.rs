//! Which sensitive values are good at a point, for all values at once.
//!
//! A record at distance x on the distance attributes is near the point with value v if its own value is within
//! √(d² − x²) of v. A node of the tree lies between a least and a greatest distance; the first gives an upper bound of the
//! records near v, the second a lower one, and both for every v in one pass over the node's values. Nodes are opened level
//! by level until every v is known to have more than n − need records near it, or no more.
//!
//! The point may be several at once: on each axis one end of an interval or the other. Then the lower bound is about all of
//! them, the upper about any.

use super::Outliers;
use super::cache::{Asked, Ends};
use super::tree::Listed;

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits(Box<[u64]>);

impl Bits {
    /// No rank of `count`.
    pub fn none(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)].into_boxed_slice())
    }

    /// These ranks of `count`.
    pub fn of(count: usize, ranks: impl IntoIterator<Item = u32>) -> Bits {
        let mut bits = Bits::none(count);
        ranks.into_iter().for_each(|rank| bits.set(rank));
        bits
    }

    /// Adds a rank.
    pub fn set(&mut self, rank: u32) {
        self.0[rank as usize / 64] |= 1 << (rank % 64);
    }

    /// Takes a rank away.
    pub fn unset(&mut self, rank: u32) {
        self.0[rank as usize / 64] &= !(1 << (rank % 64));
    }

    /// Whether a rank is there.
    pub fn get(&self, rank: u32) -> bool {
        self.0[rank as usize / 64] >> (rank % 64) & 1 == 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether some rank is in both.
    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether every rank that is here and in `within` is there.
    pub fn inside(&self, within: &Bits, other: &Bits) -> bool {
        self.0.iter().zip(&within.0).zip(&other.0).all(|((a, b), c)| a & b & !c == 0)
    }

    /// Adds the ranks of another set.
    pub fn join(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// The ranks in both.
    #[must_use]
    pub fn and(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// The ranks here that are not there.
    #[must_use]
    pub fn without(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// The ranks, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.0.len() as u32 * 64).filter(|&rank| self.get(rank))
    }
}

/// What is known of the corners of a box, or of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Good {
    /// Values that are good at all of them; for one point, all its good values.
    pub(super) all: Bits,
    /// No other value is good at any of them.
    pub(super) some: Bits,
}

/// Sums of records near each value, as differences between neighbours or, for few values, one by one.
struct Sums<'a> {
    scaled: &'a [f64],
    /// The values asked about, if few are.
    few: Option<&'a [u32]>,
    sums: Vec<i64>,
}

/// Up to so many values are counted one by one.
const FEW: usize = 6;
/// So many nodes are opened for a box, whose corners can be asked instead.
const OPENED: usize = 256;

impl<'a> Sums<'a> {
    fn new(scaled: &'a [f64], few: Option<&'a [u32]>) -> Sums<'a> {
        Sums { scaled, few, sums: vec![0; few.map_or(scaled.len() + 1, <[u32]>::len)] }
    }

    fn clear(&mut self) {
        self.sums.fill(0);
    }

    /// Adds the records whose value is within the root of `room` of a value.
    fn add(&mut self, listed: Listed<'_>, room: f64) {
        if room < 0.0 {
            return;
        }
        let radius = room.sqrt();
        if let Some(few) = self.few {
            for (sum, &rank) in self.sums.iter_mut().zip(few) {
                let at = self.scaled[rank as usize];
                let from = listed.ranks.partition_point(|&r| self.scaled[r as usize] < at - radius);
                let to = listed.ranks.partition_point(|&r| self.scaled[r as usize] <= at + radius);
                *sum += (listed.before[to] - listed.before[from]) as i64;
            }
            return;
        }
        let count = self.scaled.len();
        let all = (listed.before[listed.ranks.len()] - listed.before[0]) as i64;
        if count > 0 && self.scaled[count - 1] - self.scaled[0] <= radius {
            self.sums[0] += all;
            self.sums[count] -= all;
            return;
        }
        let walk = listed.ranks.len() * 8 > count;
        let (mut from, mut to) = (0, 0);
        for (i, &rank) in listed.ranks.iter().enumerate() {
            let (at, records) =
                (self.scaled[rank as usize], (listed.before[i + 1] - listed.before[i]) as i64);
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

    /// The records near each value asked about, in order, together with those of another sum.
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
    /// Bounds of the good values of the corners of a box, its ends scaled; only of those of `few`, if that is given. They decide
    /// what is asked if the box is a point.
    pub(super) fn look(&self, ends: &Ends, few: Option<&[u32]>, asked: Asked<'_>) -> Good {
        let few = few.filter(|few| few.len() <= FEW);
        if let Some(densities) = self.by_density() {
            return self.look_at_density(densities, ends, few, asked);
        }
        let enough = (self.records - self.need.min(self.records)) as i64;
        let sums = || Sums::new(&self.scaled, few);
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
                let listed = self.tree.of_node(node);
                if near == far || self.reaches_all_values(self.reach - far) {
                    least.add(listed, self.reach - far);
                    most.add(listed, self.reach - near);
                    continue;
                }
                let (points, second) =
                    (self.tree.nodes[node as usize].points, self.tree.nodes[node as usize].second);
                if second != 0 {
                    least_open.add(listed, self.reach - far);
                    most_open.add(listed, self.reach - near);
                    next.extend([node + 1, second]);
                    continue;
                }
                for point in points.0..points.1 {
                    let (near, far) = distances(self.tree.place(point).iter().map(|&x| (x, x)), ends);
                    let listed = self.tree.of_point(point);
                    least.add(listed, self.reach - far);
                    most.add(listed, self.reach - near);
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
            if decides(asked, few, total, enough) || !point && opened > OPENED {
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

    /// Whether any two values are near within the root of `room`: then nothing is gained by looking closer.
    fn reaches_all_values(&self, room: f64) -> bool {
        match (self.scaled.first(), self.scaled.last()) {
            (Some(first), Some(last)) => room >= 0.0 && last - first <= room.sqrt(),
            _ => true,
        }
    }

    /// The good values among `ranks` of people at a point.
    pub(super) fn good_at_point(&self, point: u32, ranks: &[u32]) -> Bits {
        let ends: Ends = self.tree.place(point).iter().map(|&x| (x, x)).collect();
        if ranks.len() <= FEW {
            self.look(&ends, Some(ranks), Asked::All).all
        } else {
            let asked = Bits::of(self.values.len(), ranks.iter().copied());
            self.cache.ask(self, &ends, Asked::Each(&asked)).all.clone()
        }
    }
}

/// Whether the records surely and perhaps near each value decide what is asked.
fn decides(
    asked: Asked<'_>,
    few: Option<&[u32]>,
    (least, most): (impl Iterator<Item = i64>, impl Iterator<Item = i64>),
    enough: i64,
) -> bool {
    let mut totals = least.zip(most).enumerate();
    let asks = |i: usize, values: &Bits| values.get(few.map_or(i as u32, |few| few[i]));
    let open = |(least, most): (i64, i64)| least <= enough && most > enough;
    match asked {
        Asked::All => !totals.any(|(_, pair)| open(pair)),
        Asked::Each(values) => !totals.any(|(i, pair)| open(pair) && asks(i, values)),
        Asked::Any(values) => {
            let mut undecided = false;
            for (_, pair) in totals.filter(|(i, _)| asks(*i, values)) {
                if pair.0 > enough {
                    return true;
                }
                undecided |= open(pair);
            }
            !undecided
        }
    }
}

/// The squares of the least and of the greatest distance from a box to the corners of another.
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
