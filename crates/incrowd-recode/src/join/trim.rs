//! Trimming: removes surplus external people at the faces of a box.
//!
//! Paper: `sacharidis2010`, section 4 (the group of L, M, Y and Z in its figure 8). While a group
//! has more than k records, a face that contains only external people is removed if k records
//! remain. The face whose removal shrinks the box most is removed first.
//!
//! Differences from the paper: off by default. An adversary who knows the join can infer that a
//! face that was not removed, although enough people would have remained, contains a person of the
//! microdata. If a single person is on that face, the person is identified.

use incrowd_core::Dataset;

use super::{Card, JoinOutcome, JoinRules};
use crate::top_down::{ColumnCosts, less};

/// The description for `explain`.
pub(super) const CARD: Card = Card {
    name: "trim",
    paper: "sacharidis2010",
    about: "Option of k-join-anonymity: trim = \"greedy\" removes external people at the faces of \
            a box while k remain, so that boxes shrink, as in the paper. trim = \"off\", the \
            default, keeps them.",
    limits: "Trimming reveals who is in the microdata: a face that could have been removed and was \
             not must contain a person of the microdata. The attack `trimming` counts the people \
             exposed that way.",
};

/// Trims every group of the outcome.
pub fn trim(outcome: &mut JoinOutcome, data: &Dataset, rules: &JoinRules<'_>) {
    let costs = ColumnCosts::new(data);
    outcome.groups.iter_mut().for_each(|group| trim_group(&mut group.rows, data, &costs, rules));
}

/// Trims one group by removing rows from `rows`.
pub fn trim_group(
    rows: &mut Vec<u32>,
    data: &Dataset,
    costs: &ColumnCosts<'_>,
    rules: &JoinRules<'_>,
) {
    let width = data.quasi().len();
    let mut records: u64 = rows.iter().map(|&row| data.weight(row as usize)).sum();
    // The rows in the order of each column. Removed rows are skipped by moving the two ends.
    let orders: Vec<Vec<u32>> = (0..width)
        .map(|q| {
            let mut order = rows.clone();
            order.sort_by_key(|&row| data.quasi_codes(row as usize)[q]);
            order
        })
        .collect();
    let mut ends: Vec<(usize, usize)> = vec![(0, rows.len()); width];
    let mut removed: hashbrown::HashSet<u32> = hashbrown::HashSet::new();
    while records > rules.least() {
        let mut best: Option<(f64, u64, Vec<u32>)> = None;
        for q in 0..width {
            let (order, (from, to)) = (&orders[q], &mut ends[q]);
            while *from < *to && removed.contains(&order[*from]) {
                *from += 1;
            }
            while *from < *to && removed.contains(&order[*to - 1]) {
                *to -= 1;
            }
            let left = &order[*from..*to];
            let at = |row: &u32| data.quasi_codes(*row as usize)[q];
            let (Some(lo), Some(hi)) = (left.first().map(at), left.last().map(at)) else { return };
            if lo == hi {
                continue;
            }
            let present = |row: &&u32| !removed.contains(*row);
            let low: Vec<u32> =
                left.iter().take_while(|row| at(row) == lo).filter(present).copied().collect();
            let high: Vec<u32> = left
                .iter()
                .rev()
                .take_while(|row| at(row) == hi)
                .filter(present)
                .copied()
                .collect();
            let next_lo = left.iter().filter(present).map(at).find(|&code| code > lo).unwrap_or(hi);
            let next_hi =
                left.iter().rev().filter(present).map(at).find(|&code| code < hi).unwrap_or(lo);
            let width_before = costs.cost(q, lo, hi);
            let faces = [
                (low, width_before - costs.cost(q, next_lo, hi), costs.cost(q, lo, next_lo)),
                (high, width_before - costs.cost(q, lo, next_hi), costs.cost(q, next_hi, hi)),
            ];
            for (face, shrinks, step) in faces {
                // For numbers the two are equal except for rounding, and the step is exact.
                let gain = if costs.is_numeric(q) { step } else { shrinks };
                let people: u64 = face.iter().map(|&row| data.weight(row as usize)).sum();
                let feasible = gain > 0.0
                    && records - people >= rules.least()
                    && !face.iter().any(|&row| rules.is_microdata(row));
                let better = best.as_ref().is_none_or(|(most, fewest, _)| {
                    less(*most, gain) || !less(gain, *most) && people < *fewest
                });
                if feasible && better {
                    best = Some((gain, people, face));
                }
            }
        }
        let Some((_, people, face)) = best else { break };
        removed.extend(face);
        records -= people;
    }
    rows.retain(|row| !removed.contains(row));
}
