//! Candidates instead of corners: whether nobody in a group needs to be an outlier.
//!
//! An adversary who knows everybody's quasi-identifiers has proved that a group contains an outlier
//! if its sensitive values cannot be assigned to different people who fit the group such that every
//! pair is good. This is a matching problem. People with the same good values are interchangeable,
//! so it is solved as a small flow from values to classes of people.

use std::collections::BTreeMap;

use super::cache::Ends;
use super::near::Bits;
use super::{Outliers, Standing};
use crate::region::Region;

impl Outliers {
    /// Calls `visit` for every point with people who fit the region, with their number.
    fn fitting(&self, region: &Region, visit: &mut dyn FnMut(u32, u64)) {
        let ends: Ends = self.ends(region);
        let mut open: Vec<u32> = if self.tree.nodes.is_empty() { Vec::new() } else { vec![0] };
        while let Some(node) = open.pop() {
            let outside =
                |(&(lo, hi), &(a, b)): (&(f64, f64), &(f64, f64))| hi < a.min(b) || lo > a.max(b);
            if self.tree.sides(node).iter().zip(ends.iter()).any(outside) {
                continue;
            }
            let (points, second) =
                (self.tree.nodes[node as usize].points, self.tree.nodes[node as usize].second);
            if second != 0 {
                open.extend([second, node + 1]);
                continue;
            }
            for point in points.0..points.1 {
                let fitting = self.tree.people(point).filter(|(codes, _)| region.covers(codes));
                let people: u64 = fitting.map(|(_, count)| count).sum();
                if people > 0 {
                    visit(point, people);
                }
            }
        }
    }

    /// Whether the values of a group, by rank with their record counts, can be assigned to people
    /// who fit its region such that nobody is an outlier. If not, the group provably contains one.
    pub fn assignable(&self, region: &Region, values: &[(u32, u64)]) -> bool {
        let wanted = Bits::of(self.values.len(), values.iter().map(|entry| entry.0));
        let mut kinds: BTreeMap<Bits, u64> = BTreeMap::new();
        self.fitting(region, &mut |point, people| {
            let ends: Ends = self.tree.place(point).iter().map(|&x| (x, x)).collect();
            let good = self.cache.good(self, &ends).all.and(&wanted);
            *kinds.entry(good).or_default() += people;
        });
        let kinds: Vec<(Bits, u64)> = kinds.into_iter().collect();
        is_assignable(values, &kinds)
    }

    /// The least number of a group's values that are bad for an outlier who fits its region.
    /// Outliers without bad values are not counted; `None` if there is no other outlier.
    pub fn least_bad_values(&self, region: &Region, values: &Bits) -> Option<u64> {
        let flags = self.outlying_points();
        let mut least = None;
        self.fitting(region, &mut |point, _| {
            if !flags[point as usize] {
                return;
            }
            let ends: Ends = self.tree.place(point).iter().map(|&x| (x, x)).collect();
            let bad = values.count() - self.cache.good(self, &ends).all.and(values).count();
            if bad > 0 && least.is_none_or(|l| bad < l) {
                least = Some(bad);
            }
        });
        least
    }

    /// For each point, whether there is an outlier at it.
    fn outlying_points(&self) -> Vec<bool> {
        let mut flags = vec![false; self.tree.points()];
        for (row, standing) in self.standings().iter().enumerate() {
            flags[self.point[row] as usize] |=
                *standing != Standing::Ordinary && self.row_counts[row] > 0;
        }
        flags
    }
}

/// Whether all records of the values can be assigned to people of kinds for whom the value is good.
/// Searches for a maximum flow by augmenting along shortest paths.
fn is_assignable(values: &[(u32, u64)], kinds: &[(Bits, u64)]) -> bool {
    let mut given = vec![vec![0u64; kinds.len()]; values.len()];
    let mut left: Vec<u64> = kinds.iter().map(|kind| kind.1).collect();
    for (v, &(_, records)) in values.iter().enumerate() {
        let mut missing = records;
        while missing > 0 {
            let Some((end, previous)) = augmenting_path(values, kinds, &given, &left, v) else {
                return false;
            };
            let steps = || {
                std::iter::successors(Some((end, previous[end])), |(_, step)| {
                    let from = step.and_then(|(_, from)| from)?;
                    Some((from, previous[from]))
                })
            };
            let available = steps()
                .filter_map(|(_, step)| step.and_then(|(value, from)| Some(given[value][from?])));
            let amount = available.min().unwrap_or(u64::MAX).min(missing).min(left[end]);
            left[end] -= amount;
            for (kind, step) in steps().collect::<Vec<_>>() {
                if let Some((value, from)) = step {
                    given[value][kind] += amount;
                    if let Some(from) = from {
                        given[value][from] -= amount;
                    }
                }
            }
            missing -= amount;
        }
    }
    true
}

/// For each kind, the value that would be moved to it, and the kind the value would leave.
type Predecessors = Vec<Option<(usize, Option<usize>)>>;

/// The shortest augmenting path: from a value over kinds, and values that could leave them, to a
/// kind with people left.
fn augmenting_path(
    values: &[(u32, u64)],
    kinds: &[(Bits, u64)],
    given: &[Vec<u64>],
    left: &[u64],
    start: usize,
) -> Option<(usize, Predecessors)> {
    let mut previous: Predecessors = vec![None; kinds.len()];
    let mut queue: Vec<usize> = Vec::new();
    let reach =
        |value: usize, from: Option<usize>, previous: &mut Predecessors, queue: &mut Vec<usize>| {
            for (kind, (good, _)) in kinds.iter().enumerate() {
                if previous[kind].is_none() && good.get(values[value].0) {
                    previous[kind] = Some((value, from));
                    queue.push(kind);
                }
            }
        };
    reach(start, None, &mut previous, &mut queue);
    let mut at = 0;
    while at < queue.len() {
        let kind = queue[at];
        at += 1;
        if left[kind] > 0 {
            return Some((kind, previous));
        }
        for value in (0..values.len()).filter(|&value| given[value][kind] > 0) {
            reach(value, Some(kind), &mut previous, &mut queue);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tries every assignment of records to people.
    fn slow(records: &[u32], people: &mut Vec<Option<Bits>>) -> bool {
        let Some((&rank, rest)) = records.split_first() else { return true };
        for at in 0..people.len() {
            if people[at].as_ref().is_some_and(|good| good.get(rank)) {
                let taken = people[at].take();
                let found = slow(rest, people);
                people[at] = taken;
                if found {
                    return true;
                }
            }
        }
        false
    }

    proptest! {
        #[test]
        fn the_flow_agrees_with_exhaustive_search(
            values in prop::collection::vec(1u64..4, 1..4),
            kinds in prop::collection::vec((0u32..16, 1u64..4), 1..4),
        ) {
            let values = values.into_iter().enumerate();
            let values: Vec<(u32, u64)> = values.map(|(v, n)| (v as u32, n)).collect();
            let good = |set: u32| Bits::of(4, (0..4).filter(|v| set >> v & 1 == 1));
            let kinds: Vec<(Bits, u64)> =
                kinds.into_iter().map(|(set, n)| (good(set), n)).collect();
            let records: Vec<u32> = values.iter().flat_map(|&(v, n)| vec![v; n as usize]).collect();
            let mut people: Vec<Option<Bits>> =
                kinds.iter().flat_map(|(good, n)| vec![Some(good.clone()); *n as usize]).collect();
            prop_assert_eq!(is_assignable(&values, &kinds), slow(&records, &mut people));
        }
    }
}
