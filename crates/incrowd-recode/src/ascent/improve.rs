//! Small moves that make a valid partition cheaper: a row goes over to another group that can take it for less than its own
//! group saves, and a group dissolves if its rows cost less elsewhere. Nothing ever gets dearer.

use incrowd_core::Dataset;
use rayon::prelude::*;

use super::climb::Judge;
use super::shape::Shapes;

/// So many rows are looked at together.
const WINDOW: usize = 800;

/// Gains below this are rounding.
const LEAST_GAIN: f32 = 1e-3;

/// A group of rows.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) rows: Vec<u32>,
    pub(super) shape: Vec<u32>,
    pub(super) records: u64,
    /// What one of its records costs.
    pub(super) price: f32,
}

impl Group {
    pub(super) fn new(data: &Dataset, shapes: &Shapes<'_>, rows: Vec<u32>) -> Group {
        let shape = shapes.of(rows.iter().copied());
        let records = rows.iter().map(|&row| data.weight(row as usize)).sum();
        let price = shapes.price(&shape);
        Group { rows, shape, records, price }
    }

    /// What all its records cost.
    pub(super) fn cost(&self) -> f32 {
        self.records as f32 * self.price
    }

    /// What it would cost more with a row of so many records.
    pub(super) fn dearer_with(&self, shapes: &Shapes<'_>, row: u32, weight: u64) -> f32 {
        (self.records + weight) as f32 * shapes.price_with(&self.shape, row) - self.cost()
    }

    pub(super) fn push(&mut self, shapes: &Shapes<'_>, row: u32, weight: u64) {
        self.rows.push(row);
        shapes.cover(&mut self.shape, row);
        self.records += weight;
        self.price = shapes.price(&self.shape);
    }
}

/// Improves the groups by moves between neighbours, `sweeps` times, each time with other neighbours.
pub(super) fn improve(
    judge: &Judge<'_>,
    shapes: &Shapes<'_>,
    mut groups: Vec<Group>,
    sweeps: usize,
) -> Vec<Group> {
    let columns = judge.data.quasi().len();
    for sweep in 0..sweeps {
        // Neighbours agree in the columns that come first in the order of this sweep.
        let key = |group: &Group| -> Vec<u32> {
            let codes = judge.data.quasi_codes(group.rows[(sweep / columns) % group.rows.len()] as usize);
            (0..columns).map(|i| codes[(i * stride(columns, sweep) + sweep) % columns]).collect()
        };
        groups.sort_by_cached_key(|group| (key(group), group.rows[0]));
        let mut windows: Vec<Vec<Group>> = vec![Vec::new()];
        let mut rows = 0;
        for group in groups {
            if rows + group.rows.len() > WINDOW && rows > 0 {
                windows.push(Vec::new());
                rows = 0;
            }
            rows += group.rows.len();
            windows.last_mut().into_iter().for_each(|window| window.push(group.clone()));
        }
        groups = windows.into_par_iter().flat_map_iter(|window| settle(judge, shapes, window)).collect();
    }
    groups
}

/// A step through the columns that reaches all of them, another one every few sweeps.
fn stride(columns: usize, sweep: usize) -> usize {
    let coprime = |step: &usize| (2..=*step).all(|d| !step.is_multiple_of(d) || !columns.is_multiple_of(d));
    let steps: Vec<usize> = (1..=columns.max(1)).filter(coprime).collect();
    steps[(sweep / columns.max(1)) % steps.len()]
}

/// Moves rows within a window until no move is a gain.
fn settle(judge: &Judge<'_>, shapes: &Shapes<'_>, mut groups: Vec<Group>) -> Vec<Group> {
    for _ in 0..4 {
        let moved = relocate(judge, shapes, &mut groups);
        let gone = dissolve(judge, shapes, &mut groups);
        if !moved && !gone {
            break;
        }
    }
    groups
}

/// The group other than `from` that takes the row for least, if that is less than `limit`.
fn nearest(
    judge: &Judge<'_>,
    shapes: &Shapes<'_>,
    groups: &[Group],
    from: usize,
    row: u32,
    limit: f32,
) -> Option<(f32, usize)> {
    let weight = judge.data.weight(row as usize);
    let mut best: Option<(f32, usize)> = None;
    for (to, group) in groups.iter().enumerate().filter(|(to, group)| *to != from && !group.rows.is_empty()) {
        let dearer = group.dearer_with(shapes, row, weight);
        if dearer < best.map_or(limit, |best| best.0) && takes(judge, group, row, weight) {
            best = Some((dearer, to));
        }
    }
    best
}

/// Whether the models admit the group with the row.
fn takes(judge: &Judge<'_>, group: &Group, row: u32, weight: u64) -> bool {
    if judge.only_counts() {
        return true;
    }
    let mut rows = group.rows.clone();
    rows.push(row);
    judge.admits(&rows, group.records + weight)
}

/// Lets rows go where they cost less; whether any did.
fn relocate(judge: &Judge<'_>, shapes: &Shapes<'_>, groups: &mut [Group]) -> bool {
    let mut moved = false;
    for from in 0..groups.len() {
        let mut at = 0;
        while at < groups[from].rows.len() {
            let row = groups[from].rows[at];
            let weight = judge.data.weight(row as usize);
            at += 1;
            if groups[from].records < judge.least + weight || groups[from].rows.len() == 1 {
                continue;
            }
            let mut rows = groups[from].rows.clone();
            rows.remove(at - 1);
            let rest = Group::new(judge.data, shapes, rows);
            let saved = groups[from].cost() - rest.cost() - LEAST_GAIN;
            if saved <= 0.0 || !judge.admits(&rest.rows, rest.records) {
                continue;
            }
            if let Some((_, to)) = nearest(judge, shapes, groups, from, row, saved) {
                groups[to].push(shapes, row, weight);
                groups[from] = rest;
                moved = true;
                at -= 1;
            }
        }
    }
    moved
}

/// Dissolves groups whose rows cost less elsewhere; whether any was.
fn dissolve(judge: &Judge<'_>, shapes: &Shapes<'_>, groups: &mut Vec<Group>) -> bool {
    let mut gone = false;
    for from in 0..groups.len() {
        let have = groups[from].cost() - LEAST_GAIN;
        if have <= 0.0 {
            continue;
        }
        let mut left = have;
        let mut before: Vec<(usize, Group)> = Vec::new();
        let mut placed = true;
        for row in groups[from].rows.clone() {
            let Some((dearer, to)) = nearest(judge, shapes, groups, from, row, left) else {
                placed = false;
                break;
            };
            left -= dearer;
            before.push((to, groups[to].clone()));
            groups[to].push(shapes, row, judge.data.weight(row as usize));
        }
        if placed {
            groups[from].rows.clear();
            groups[from].records = 0;
            gone = true;
        } else {
            before.into_iter().rev().for_each(|(to, group)| groups[to] = group);
        }
    }
    groups.retain(|group| !group.rows.is_empty());
    gone
}
