//! Trimming: leave out surplus external people at the faces of a box.
//!
//! Paper: `sacharidis2010`, section 4 (the group of L, M, Y and Z in its figure 8). While a group has more than k records, a
//! face whose people are all external is given up if k records remain; the face whose loss makes the box shrink most goes
//! first.
//!
//! Where we differ: off unless asked for. Whoever knows the join can tell that a face which was not given up, though there
//! were people enough, holds somebody of the microdata; if a single person stands on it, that person is exposed.

use incrowd_core::Dataset;

use super::{Card, JoinOutcome, JoinRules};
use crate::top_down::{Lines, less};

/// The entry for `explain`.
pub(super) const CARD: Card = Card {
    name: "trim",
    paper: "sacharidis2010",
    about: "Option of k-join-anonymity: trim = \"greedy\" leaves out external people at the faces of a box while k remain, so \
            that boxes shrink, as the paper does. trim = \"off\", the default, keeps them.",
    limits: "Trimming tells who is in the microdata: a face that could have been given up and was not must hold somebody of \
             it. The attack `trimming` counts the people exposed that way.",
};

/// Trims every group of the outcome.
pub fn trim(outcome: &mut JoinOutcome, data: &Dataset, rules: &JoinRules<'_>) {
    let lines = Lines::new(data);
    outcome.groups.iter_mut().for_each(|group| trim_group(&mut group.rows, data, &lines, rules));
}

/// Trims one group: rows are taken away from `rows`.
pub fn trim_group(rows: &mut Vec<u32>, data: &Dataset, lines: &Lines<'_>, rules: &JoinRules<'_>) {
    let width = data.quasi().len();
    let mut records: u64 = rows.iter().map(|&row| data.weight(row as usize)).sum();
    // Along each line the rows in order; what is gone is skipped by moving the two ends.
    let orders: Vec<Vec<u32>> = (0..width)
        .map(|line| {
            let mut order = rows.clone();
            order.sort_by_key(|&row| data.quasi_codes(row as usize)[line]);
            order
        })
        .collect();
    let mut ends: Vec<(usize, usize)> = vec![(0, rows.len()); width];
    let mut gone: hashbrown::HashSet<u32> = hashbrown::HashSet::new();
    while records > rules.least() {
        let mut best: Option<(f64, u64, Vec<u32>)> = None;
        for line in 0..width {
            let (order, (from, to)) = (&orders[line], &mut ends[line]);
            while *from < *to && gone.contains(&order[*from]) {
                *from += 1;
            }
            while *from < *to && gone.contains(&order[*to - 1]) {
                *to -= 1;
            }
            let left = &order[*from..*to];
            let at = |row: &u32| data.quasi_codes(*row as usize)[line];
            let (Some(lo), Some(hi)) = (left.first().map(at), left.last().map(at)) else { return };
            if lo == hi {
                continue;
            }
            let present = |row: &&u32| !gone.contains(*row);
            let low: Vec<u32> =
                left.iter().take_while(|row| at(row) == lo).filter(present).copied().collect();
            let high: Vec<u32> =
                left.iter().rev().take_while(|row| at(row) == hi).filter(present).copied().collect();
            let next_lo = left.iter().filter(present).map(at).find(|&code| code > lo).unwrap_or(hi);
            let next_hi = left.iter().rev().filter(present).map(at).find(|&code| code < hi).unwrap_or(lo);
            let width_before = lines.cost(line, lo, hi);
            let faces = [
                (low, width_before - lines.cost(line, next_lo, hi), lines.cost(line, lo, next_lo)),
                (high, width_before - lines.cost(line, lo, next_hi), lines.cost(line, next_hi, hi)),
            ];
            for (face, shrinks, step) in faces {
                // On a line of numbers both are the same but for rounding, and the step is the exact one.
                let gain = if lines.is_numeric(line) { step } else { shrinks };
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
        gone.extend(face);
        records -= people;
    }
    rows.retain(|row| !gone.contains(row));
}
