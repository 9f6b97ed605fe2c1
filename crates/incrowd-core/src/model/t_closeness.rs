//! t-closeness with equal, ordered and hierarchical ground distance.
//!
//! Paper: `li2007`, Definition 2 and section 4 as printed there. The earth mover's distance between
//! the distribution of a sensitive column in a group and in the whole release is at most t. With P
//! and Q the two distributions:
//! - equal: ½ Σ |pᵢ − qᵢ|
//! - ordered, over the m different values in order: 1/(m−1) · Σᵢ |Σ_{j≤i} (pⱼ − qⱼ)|
//! - hierarchical, with H the height of the hierarchy and d(a, b) = height of the lowest common
//!   node / H: the sum over inner nodes of height/H · min(surplus, shortage) among the node's
//!   children
//!
//! Where we differ: all three are computed in integers, as multiples of 1/(N·n) for N records in
//! all and n in the group. If a person may have several records, each person has the weight 1,
//! divided evenly among her records in the group. The order is that of numbers or dates, or of a
//! hierarchy's leaves. In a ragged hierarchy a node's height is that of its deepest leaf.

use std::sync::OnceLock;

use super::presence::Presence;
use super::running::{IncrementalDistance, Running, Work};
use super::spread::Spread;
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Variant, Verdict};
use crate::card::Param;
use crate::dataset::{Dataset, Sensitive};
use crate::error::Result;
use crate::exact::Decimal;
use crate::group::{GroupSummary, Histogram};
use crate::hierarchy::Taxonomy;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "t-closeness",
    paper: "li2007",
    guarantee: "\
        The distribution of the sensitive column in every group is within t of that in the whole \
        release, so knowing a person's group reveals little more than knowing the release. The \
        distance is the work of moving one distribution onto the other: all values equally far \
        apart, or by their order, or by a hierarchy.",
    limits: "\
        The distance is an average: with equal distance a rare value may still become many times \
        more likely (see beta-likeness). It is relative to the release itself, which is the \
        adversary's prior only if nothing better is known. It does not bound identity disclosure: \
        add k-anonymity.",
    params: &[
        Param::number("t", 0.0, 1.0)
            .about("the greatest distance, from 0 (the same distribution) to 1"),
        Param::choice("distance", &["equal", "ordered", "hierarchical"]).or("equal").about(
            "the distance of two values: equal for all, by rank, or by the column's hierarchy",
        ),
        ON,
    ],
    variants: &[
        Variant {
            param: "distance",
            value: "equal",
            guarantee: "\
                The distribution of {on} in every group is within {t} of that in the whole \
                release, so knowing a person's group reveals little more than knowing the \
                release. All values are equally far apart.",
            limits: "\
                The distance is an average: a rare value may still become many times more likely \
                (see beta-likeness). It is relative to the release itself, which is the \
                adversary's prior only if nothing better is known. It does not bound identity \
                disclosure: add k-anonymity.",
        },
        Variant {
            param: "distance",
            value: "ordered",
            guarantee: "\
                The distribution of {on} in every group is within {t} of that in the whole \
                release, so knowing a person's group reveals little more than knowing the \
                release. The distance of values is that of their ranks.",
            limits: "\
                The distance is an average over ranks: neighbouring values may be exchanged at \
                little cost. It is relative to the release itself, which is the adversary's prior \
                only if nothing better is known. It does not bound identity disclosure: add \
                k-anonymity.",
        },
        Variant {
            param: "distance",
            value: "hierarchical",
            guarantee: "\
                The distribution of {on} in every group is within {t} of that in the whole \
                release, so knowing a person's group reveals little more than knowing the \
                release. The distance of values is that in their hierarchy.",
            limits: "\
                The distance is an average: values below one node may be exchanged at little \
                cost. It is relative to the release itself, which is the adversary's prior only \
                if nothing better is known. It does not bound identity disclosure: add \
                k-anonymity.",
        },
    ],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: false },
    make: |params| {
        Ok(Box::new(TCloseness {
            t: params.number("t"),
            distance: match params.word("distance") {
                "ordered" => Distance::Ordered,
                "hierarchical" => Distance::Hierarchical,
                _ => Distance::Equal,
            },
            on: params.word("on").to_owned(),
        }))
    },
};

#[derive(Clone, Copy, Debug)]
enum Distance {
    Equal,
    Ordered,
    Hierarchical,
}

#[derive(Debug)]
struct TCloseness {
    t: f64,
    distance: Distance,
    on: String,
}

impl Model for TCloseness {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, column) = TargetColumn::find(data, &self.on)?;
        let spread = Spread::new(&target, data);
        let whole = data.summary(0..data.rows());
        let (shares, total) = spread.of(&target, &whole);
        let mut overall = vec![0; column.values.len()];
        shares.entries().iter().for_each(|&(code, weight)| overall[code as usize] = weight);
        let ground = match self.distance {
            Distance::Equal => Ground::Equal(overall),
            Distance::Ordered => {
                Ground::Ordered(Ordered::new(column, &overall).map_err(|e| e.at("on"))?)
            }
            Distance::Hierarchical => {
                Ground::Tree(ValueTree::new(column, &overall).map_err(|e| e.at("on"))?)
            }
        };
        let to_release = ToRelease {
            ground,
            records: total,
            of_one: OnceLock::new(),
            codes: column.values.len(),
        };
        Ok(Box::new(BoundTCloseness {
            t: self.t,
            exact: Decimal::of(self.t),
            to_release,
            spread,
            records: data.records(),
            target,
        }))
    }
}

/// The ground distance with the counts of the whole release.
#[derive(Debug)]
enum Ground {
    /// By code.
    Equal(Vec<u64>),
    Ordered(Ordered),
    Tree(ValueTree),
}

/// The distance of a group's distribution to that of the release.
#[derive(Debug)]
struct ToRelease {
    ground: Ground,
    records: u64,
    codes: usize,
    /// The work of a group of one record, by value; computed on first use.
    of_one: OnceLock<Vec<u128>>,
}

impl Work for ToRelease {
    fn work(&self, group: &Histogram, n: u64) -> u128 {
        match &self.ground {
            Ground::Equal(overall) => {
                equal_work(overall, group.entries().iter().copied(), self.records, n)
            }
            Ground::Ordered(order) => order.work(group, self.records, n),
            Ground::Tree(tree) => tree.work(group, self.records, n),
        }
    }

    fn work_of(&self, counts: &[u64], n: u64) -> Option<u128> {
        let Ground::Equal(overall) = &self.ground else { return None };
        let occurring = counts.iter().enumerate().map(|(code, &count)| (code as u32, count));
        Some(equal_work(overall, occurring, self.records, n))
    }

    fn work_if(&self, group: &Histogram, n: u64, code: u32, count: u64) -> u128 {
        if let Ground::Equal(overall) = &self.ground {
            let others = group.entries().iter().copied().filter(|entry| entry.0 != code);
            return equal_work(overall, others.chain([(code, count)]), self.records, n);
        }
        let mut group = group.clone();
        let there = group.get(code);
        group.add(code, count.saturating_sub(there));
        group.subtract(code, there.saturating_sub(count));
        self.work(&group, n)
    }

    fn work_of_one(&self, code: u32) -> u128 {
        let one = |code: usize| {
            let mut one = Histogram::default();
            one.add(code as u32, 1);
            self.work(&one, 1)
        };
        self.of_one.get_or_init(|| (0..self.codes).map(one).collect())[code as usize]
    }

    fn unit(&self) -> u128 {
        self.steps() * u128::from(self.records)
    }
}

impl ToRelease {
    /// The number of steps of the greatest distance.
    fn steps(&self) -> u128 {
        let steps = match &self.ground {
            Ground::Equal(_) => 1,
            Ground::Ordered(order) => order.below.len() as u64,
            Ground::Tree(tree) => tree.height,
        };
        u128::from(steps.max(1))
    }
}

#[derive(Debug)]
struct BoundTCloseness {
    t: f64,
    exact: Decimal,
    to_release: ToRelease,
    spread: Spread,
    /// The records of the whole release; the sum of their weights is `to_release.records`.
    records: u64,
    target: TargetColumn,
}

impl BoundModel for BoundTCloseness {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (histogram, n) = self.spread.of(&self.target, group);
        // The distance is work / (unit · N · n).
        let all = (self.to_release.records, self.records);
        let slack = self.spread.slack((n, group.records), all) * self.to_release.steps();
        let work = self.to_release.work(&histogram, n) + slack;
        let whole = (self.to_release.unit() * u128::from(n)).max(1);
        let have = work as f64 / whole as f64;
        Verdict::at_most("greatest distance", have, self.t, self.exact.at_most(work, whole))
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }

    /// With equal distances: the smallest n for which the best approximation of the overall
    /// distribution with n records is within t.
    fn fewest_records(&self) -> u64 {
        let Ground::Equal(overall) = &self.to_release.ground else { return 1 };
        if self.target.unit.persons().is_some() {
            return 1;
        }
        let tries = MOST_JUDGED / overall.len().max(1) as u64;
        let fits = |n: &u64| {
            self.exact.at_most(
                least_work(overall, self.to_release.records, *n),
                u128::from(self.to_release.records) * u128::from(*n),
            )
        };
        (1..=tries).find(fits).unwrap_or(tries + 1)
    }

    /// With equal distances, the overall share of values absent from a group must be moved, and it
    /// is at most t.
    fn presence(&self) -> Option<Presence> {
        let Ground::Equal(overall) = &self.to_release.ground else { return None };
        let all = self.to_release.records;
        Presence::new(&self.target, all.saturating_sub(self.exact.share_of(all)), |code| {
            overall[code as usize]
        })
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(IncrementalDistance::new(&self.target, &self.to_release, self.exact)))
    }
}

/// Maximum number of evaluated shares when the smallest possible group size is computed.
const MOST_JUDGED: u64 = 1 << 14;

/// The least work of any group of `n` records: each value has its expected count rounded down, and
/// the values with the greatest remainders have one more.
fn least_work(overall: &[u64], all: u64, n: u64) -> u128 {
    let expected = |records: &u64| u128::from(*records) * u128::from(n);
    let whole: u128 =
        overall.iter().map(|records| expected(records) / u128::from(all.max(1))).sum();
    let mut more: Vec<u128> = overall
        .iter()
        .map(|records| u128::from(all) - expected(records) % u128::from(all.max(1)))
        .collect();
    more.sort_unstable();
    more.iter().take((u128::from(n) - whole) as usize).sum()
}

/// The sum of the surpluses, which must be moved. Only values that occur in the group can have a
/// surplus.
fn equal_work(overall: &[u64], group: impl Iterator<Item = (u32, u64)>, all: u64, n: u64) -> u128 {
    // Fast path: with 32-bit totals all products and sums fit into 64 bits.
    if let (Ok(_), Ok(_)) = (u32::try_from(all), u32::try_from(n)) {
        let surplus =
            |(code, count): (u32, u64)| (count * all).saturating_sub(overall[code as usize] * n);
        return group.map(surplus).sum::<u64>().into();
    }
    let surplus = |(code, count): (u32, u64)| {
        let expected = u128::from(overall[code as usize]) * u128::from(n);
        (u128::from(count) * u128::from(all)).saturating_sub(expected)
    };
    group.map(surplus).sum()
}

/// Values with an order.
#[derive(Debug)]
struct Ordered {
    /// The rank of each code.
    ranks: Vec<u32>,
    /// For each rank but the last, the number of records of the whole release up to it.
    below: Vec<u64>,
    /// Prefix sums of `below`.
    sums: Vec<u128>,
}

impl Ordered {
    fn new(column: &Sensitive, overall: &[u64]) -> Result<Ordered> {
        let (mut ranks, all) = column.ranks()?;
        let mut records = vec![0u64; all];
        ranks.iter().zip(overall).for_each(|(&rank, &n)| records[rank as usize] += n);
        // A value whose records were all suppressed does not occur in the release and has no rank.
        let place = records
            .iter()
            .scan(0u32, |next, &n| Some(std::mem::replace(next, *next + u32::from(n > 0))));
        let place: Vec<u32> = place.collect();
        let mut below: Vec<u64> = records.iter().copied().filter(|&n| n > 0).collect();
        ranks.iter_mut().for_each(|rank| *rank = place[*rank as usize]);
        let count = below.len();
        for rank in 1..count {
            below[rank] += below[rank - 1];
        }
        below.pop();
        let mut sums = vec![0u128];
        below.iter().for_each(|&b| sums.push(sums[sums.len() - 1] + u128::from(b)));
        Ok(Ordered { ranks, below, sums })
    }

    /// Σ |n·below − N·(group's below)| over the ranks. Between two values of the group its own
    /// count is constant, so each interval is two sums, split at the rank where the release exceeds
    /// the group.
    fn work(&self, group: &Histogram, all: u64, n: u64) -> u128 {
        let mut own: Vec<(u32, u64)> = group
            .entries()
            .iter()
            .map(|&(code, records)| (self.ranks[code as usize], records))
            .collect();
        own.sort_unstable();
        let (mut work, mut counted, mut from) = (0u128, 0u64, 0usize);
        let mut interval = |from: usize, to: usize, counted: u64| {
            if from >= to {
                return;
            }
            let level = u128::from(counted) * u128::from(all);
            let exceeded = from
                + self.below[from..to].partition_point(|&b| u128::from(b) * u128::from(n) <= level);
            let sum = |a: usize, b: usize| (self.sums[b] - self.sums[a]) * u128::from(n);
            work += level * (exceeded - from) as u128 - sum(from, exceeded);
            work += sum(exceeded, to) - level * (to - exceeded) as u128;
        };
        for (rank, records) in own {
            let rank = (rank as usize).min(self.below.len());
            interval(from, rank, counted);
            (from, counted) = (rank.max(from), counted + records);
        }
        interval(from, self.below.len(), counted);
        work
    }
}

/// Values as leaves of a hierarchy.
#[derive(Debug)]
struct ValueTree {
    /// The parent of each node and its height above its deepest leaf. Parents precede their
    /// children.
    nodes: Vec<(usize, u64)>,
    /// The node of each code.
    leaf: Vec<usize>,
    overall: Vec<u64>,
    height: u64,
}

impl ValueTree {
    fn new(column: &Sensitive, overall: &[u64]) -> Result<ValueTree> {
        let (taxonomy, leaves) = column.hierarchy()?;
        // Breadth first, so that a backward pass visits children before their parents.
        let mut order = vec![(taxonomy.root(), 0)];
        let mut at = 0;
        while at < order.len() {
            let children = taxonomy.children(order[at].0).iter().map(|&child| (child, at));
            order.extend(children.collect::<Vec<_>>());
            at += 1;
        }
        let heights: Vec<u64> = order.iter().map(|(node, _)| height(taxonomy, *node)).collect();
        let mut position = vec![0; taxonomy.node_count()];
        order.iter().enumerate().for_each(|(at, (node, _))| position[node.index()] = at);
        Ok(ValueTree {
            nodes: order
                .iter()
                .zip(&heights)
                .map(|(&(_, parent), &height)| (parent, height))
                .collect(),
            leaf: leaves.iter().map(|&code| position[taxonomy.leaf(code).index()]).collect(),
            overall: overall.to_vec(),
            height: heights[0],
        })
    }

    /// Σ over inner nodes of height · min(surplus, shortage) of their children. The remaining
    /// surplus or shortage of a node is passed to its parent.
    fn work(&self, group: &Histogram, all: u64, n: u64) -> u128 {
        let mut extra = vec![0i128; self.nodes.len()];
        for (code, &records) in self.overall.iter().enumerate() {
            extra[self.leaf[code]] -= i128::from(records) * i128::from(n);
        }
        for &(code, records) in group.entries() {
            extra[self.leaf[code as usize]] += i128::from(records) * i128::from(all);
        }
        let (mut surplus, mut shortage) =
            (vec![0u128; self.nodes.len()], vec![0u128; self.nodes.len()]);
        let mut work = 0;
        for node in (0..self.nodes.len()).rev() {
            let (parent, height) = self.nodes[node];
            work += u128::from(height) * surplus[node].min(shortage[node]);
            extra[node] += surplus[node] as i128 - shortage[node] as i128;
            if node > 0 && extra[node] > 0 {
                surplus[parent] += extra[node].unsigned_abs();
            } else if node > 0 {
                shortage[parent] += extra[node].unsigned_abs();
            }
        }
        work
    }
}

fn height(taxonomy: &Taxonomy, node: crate::NodeId) -> u64 {
    taxonomy.children(node).iter().map(|&child| height(taxonomy, child) + 1).max().unwrap_or(0)
}
