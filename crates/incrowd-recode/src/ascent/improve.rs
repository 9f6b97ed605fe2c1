//! Small moves that make a valid partition cheaper: a row goes over to another group that can take it for less than its own
//! group saves, and a group dissolves if its rows cost less elsewhere. Nothing ever gets dearer.

use std::time::Instant;

use incrowd_core::Progress;
use rayon::prelude::*;

use super::climb::ModelCheck;
use super::movable::MovableGroup;
use super::shape::Shapes;

/// So many rows are looked at together.
const WINDOW: usize = 800;

/// Rows move at most so many times round in a window before other windows are made.
const ROUNDS: usize = 4;

/// Gains below this are rounding.
const LEAST_GAIN: f32 = 1e-3;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// After so many rounds.
    pub(super) rounds: usize,
    /// After a round that lowers the loss by no more than this share of it.
    pub(super) least_gain: f64,
    /// After so many seconds, if that is limited.
    pub(super) seconds: Option<f64>,
}

/// The groups afterwards.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) groups: Vec<MovableGroup>,
    pub(super) rounds: u64,
    pub(super) out_of_time: bool,
}

/// What a cell costs in the mean.
pub(super) fn mean_price(groups: &[MovableGroup], columns: usize) -> f64 {
    let cost: f64 = groups.iter().map(|group| f64::from(group.price) * group.records() as f64).sum();
    let cells = groups.iter().map(MovableGroup::records).sum::<u64>() * columns as u64;
    if cells == 0 { 0.0 } else { cost / cells as f64 }
}

/// Improves the groups by moves between neighbours, in every round between others.
pub(super) fn improve(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    mut groups: Vec<MovableGroup>,
    patience: Patience,
    progress: &dyn Progress,
) -> Moved {
    let columns = check.data.quasi().len();
    let began = Instant::now();
    let late = || patience.seconds.is_some_and(|seconds| began.elapsed().as_secs_f64() > seconds);
    let mut loss = mean_price(&groups, columns);
    let mut rounds = 0;
    if patience.rounds > 0 {
        progress.step_through("moving", patience.rounds as u64, "rounds");
    }
    for round in 0..patience.rounds {
        if late() {
            break;
        }
        let windows = windows(check, groups, round);
        let improved =
            |window: Vec<MovableGroup>| if late() { window } else { improve_window(check, shapes, window) };
        groups = windows.into_par_iter().flat_map_iter(improved).collect();
        rounds += 1;
        let now = mean_price(&groups, columns);
        progress.advance(1);
        progress.note(&format!("loss so far {now:.4}"));
        if now >= loss * (1.0 - patience.least_gain) && patience.least_gain > 0.0 {
            break;
        }
        loss = now;
    }
    Moved { groups, rounds, out_of_time: late() }
}

/// The groups in windows of neighbours, which agree in the columns that come first in the order of this round.
fn windows(check: &ModelCheck<'_>, mut groups: Vec<MovableGroup>, round: usize) -> Vec<Vec<MovableGroup>> {
    let columns = check.data.quasi().len();
    let key = |group: &MovableGroup| -> Vec<u32> {
        let codes = check.data.quasi_codes(group.rows[(round / columns) % group.rows.len()] as usize);
        (0..columns).map(|i| codes[(i * stride(columns, round) + round) % columns]).collect()
    };
    groups.sort_by_cached_key(|group| (key(group), group.rows[0]));
    let mut windows: Vec<Vec<MovableGroup>> = vec![Vec::new()];
    let mut rows = 0;
    for group in groups {
        if rows + group.rows.len() > WINDOW && rows > 0 {
            windows.push(Vec::new());
            rows = 0;
        }
        rows += group.rows.len();
        if let Some(window) = windows.last_mut() {
            window.push(group);
        }
    }
    windows
}

/// A step through the columns that reaches all of them, another one every few sweeps.
fn stride(columns: usize, sweep: usize) -> usize {
    let coprime = |step: &usize| (2..=*step).all(|d| !step.is_multiple_of(d) || !columns.is_multiple_of(d));
    let steps: Vec<usize> = (1..=columns.max(1)).filter(coprime).collect();
    steps[(sweep / columns.max(1)) % steps.len()]
}

/// Groups that stand near each other, and when each was last changed.
struct Window<'a> {
    check: &'a ModelCheck<'a>,
    shapes: &'a Shapes<'a>,
    groups: Vec<MovableGroup>,
    changed: Vec<usize>,
}

/// Moves rows within a window until no move is a gain.
fn improve_window(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    groups: Vec<MovableGroup>,
) -> Vec<MovableGroup> {
    let mut window = Window { check, shapes, changed: vec![0; groups.len()], groups };
    for round in 1..=ROUNDS {
        window.relocate(round);
        window.dissolve(round);
        if !window.changed.contains(&round) {
            break;
        }
    }
    window.groups.retain(|group| !group.rows.is_empty());
    window.groups
}

impl Window<'_> {
    /// Whether a move between these two may be a gain now that was none before.
    fn is_news(&self, from: usize, to: usize, round: usize) -> bool {
        self.changed[from] + 1 >= round || self.changed[to] + 1 >= round
    }

    /// The group other than `from` that takes the row for least, if that is less than `limit`.
    fn nearest(&self, from: usize, row: u32, limit: f32, round: usize) -> Option<(f32, usize)> {
        let weight = self.check.data.weight(row as usize);
        let mut best: Option<(f32, usize)> = None;
        for (to, group) in self.groups.iter().enumerate() {
            if to == from || group.rows.is_empty() || !self.is_news(from, to, round) {
                continue;
            }
            let most = best.map_or(limit, |best| best.0);
            if let Some(dearer) = group.dearer_with(self.shapes, row, weight, most)
                && dearer < most
                && group.takes(self.check, row)
            {
                best = Some((dearer, to));
            }
        }
        best
    }

    /// Lets rows go where they cost less.
    fn relocate(&mut self, round: usize) {
        for from in 0..self.groups.len() {
            let mut at = 0;
            while at < self.groups[from].rows.len() && self.groups[from].price > 0.0 {
                let group = &self.groups[from];
                let row = group.rows[at];
                at += 1;
                if !group.spares(self.check, at - 1) {
                    continue;
                }
                let saved = group.cheaper_without(self.check, self.shapes, at - 1) - LEAST_GAIN;
                if saved <= 0.0 {
                    continue;
                }
                if let Some((_, to)) = self.nearest(from, row, saved, round) {
                    at -= 1;
                    self.groups[from].remove(self.check, self.shapes, at);
                    self.groups[to].push(self.check, self.shapes, row);
                    (self.changed[from], self.changed[to]) = (round, round);
                }
            }
        }
    }

    /// Dissolves groups whose rows cost less elsewhere.
    fn dissolve(&mut self, round: usize) {
        for from in 0..self.groups.len() {
            let have = self.groups[from].cost() - LEAST_GAIN;
            if have <= 0.0 || self.changed[from] + 1 < round {
                continue;
            }
            let mut left = have;
            let mut before: Vec<(usize, MovableGroup, usize)> = Vec::new();
            for row in self.groups[from].rows.clone() {
                let Some((dearer, to)) = self.nearest(from, row, left, round) else { break };
                left -= dearer;
                before.push((to, self.groups[to].clone(), self.changed[to]));
                self.groups[to].push(self.check, self.shapes, row);
                self.changed[to] = round;
            }
            if before.len() == self.groups[from].rows.len() {
                self.groups[from] = MovableGroup::new(self.check, self.shapes, Vec::new());
                self.changed[from] = round;
            } else {
                for (to, group, changed) in before.into_iter().rev() {
                    (self.groups[to], self.changed[to]) = (group, changed);
                }
            }
        }
    }
}
