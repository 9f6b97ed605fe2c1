//! Moves that bring records nearer to the centres of their groups: a row moves to another group,
//! two rows are exchanged, or all rows of a group move to other groups.
//!
//! Moves happen within windows of neighbouring groups, which change in every round. They minimize
//! the sum of squared distances to the centres. The models check every changed group before a move.
//! The work is limited by the number of comparisons, not by time.

use rayon::prelude::*;

use super::space::Space;
use crate::improve::{GroupState, ModelCheck};

/// The approximate number of groups of a window.
const WINDOW: usize = 96;

/// The number of neighbours with which a group exchanges rows.
const NEIGHBOURS: usize = 12;

/// The greatest number of sweeps over a window before the windows change.
const SWEEPS: usize = 6;

/// The greatest number of pairs of rows of two groups for an exchange, and the same if not all
/// columns are numbers. Exchanges between large groups gain little.
const MAX_PAIRS: usize = 4096;
const MAX_MIXED_PAIRS: usize = 400;

/// The greatest number of rows of a group that may be dissolved.
const MAX_DISSOLVED: usize = 64;

/// Smaller gains may be rounding errors.
const LEAST_GAIN: f64 = 1e-9;

/// The conditions under which the search stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopRule {
    pub(super) rounds: usize,
    /// Stop if a round lowers the sum by no more than this share.
    pub(super) least_gain: f64,
    /// Stop before a round that would exceed this number of comparisons.
    pub(super) comparisons: u64,
}

/// A group with the data from which its sum of squared distances follows without reading its rows.
#[derive(Clone, Debug)]
struct Group {
    rows: Vec<u32>,
    records: u64,
    /// The sums of coordinates of numbers, and the sum of their squares.
    sums: Vec<f64>,
    squares: f64,
    /// The sum of squared distances on other axes.
    others: f64,
    centre: Vec<f64>,
}

/// The table and the models.
pub(super) struct Moves<'m, 'a> {
    pub(super) space: &'m Space<'m>,
    pub(super) check: &'m ModelCheck<'a>,
}

impl Moves<'_, '_> {
    fn records(&self, row: u32) -> u64 {
        self.check.data.weight(row as usize)
    }

    fn counted(&self, rows: &[u32]) -> Vec<(u32, u64)> {
        rows.iter().map(|&row| (row, self.records(row))).collect()
    }

    fn group(&self, rows: Vec<u32>) -> Group {
        let counted = self.counted(&rows);
        let mut sums = vec![0.0; self.space.width()];
        let mut squares = 0.0;
        for &(row, records) in &counted {
            self.add(&mut sums, &mut squares, row, records as f64);
        }
        let others = if self.space.numeric { 0.0 } else { self.space.categorical_sum(&counted) };
        let centre = if rows.is_empty() { Vec::new() } else { self.space.centre(&counted) };
        Group {
            rows,
            records: counted.iter().map(|row| row.1).sum(),
            sums,
            squares,
            others,
            centre,
        }
    }

    /// Adds `records` records of a row to the sums. A negative number removes them.
    fn add(&self, sums: &mut [f64], squares: &mut f64, row: u32, records: f64) {
        for (axis, &x) in self.space.point(row).iter().enumerate() {
            if self.space.is_number(axis) {
                sums[axis] += x * records;
                *squares += x * x * records;
            }
        }
    }

    /// Returns the sum of squared distances of a group.
    fn sum(&self, group: &Group) -> f64 {
        squared_deviations(&group.sums, group.squares, group.records) + group.others
    }

    /// Returns the sum of squared distances and the number of records after `out` left and `come`
    /// joined.
    fn sum_with(&self, group: &Group, out: Option<u32>, come: Option<u32>) -> (f64, u64) {
        let mut records = group.records;
        let mut square = group.squares;
        // The squared length of the vector of sums, computed axis by axis.
        let (mut length, leaves, comes) = (
            0.0,
            out.map(|row| (row, self.records(row))),
            come.map(|row| (row, self.records(row))),
        );
        for axis in 0..self.space.width() {
            if !self.space.is_number(axis) {
                continue;
            }
            let mut sum = group.sums[axis];
            if let Some((row, n)) = leaves {
                let x = self.space.point(row)[axis];
                sum -= x * n as f64;
                square -= x * x * n as f64;
            }
            if let Some((row, n)) = comes {
                let x = self.space.point(row)[axis];
                sum += x * n as f64;
                square += x * x * n as f64;
            }
            length += sum * sum;
        }
        records = records - leaves.map_or(0, |row| row.1) + comes.map_or(0, |row| row.1);
        if records == 0 {
            return (0.0, 0);
        }
        let mut sum = (square - length / records as f64).max(0.0);
        if !self.space.numeric {
            sum += self.space.categorical_sum(&self.counted(&changed(&group.rows, out, come)));
        }
        (sum, records)
    }

    /// Returns whether the models admit these rows as a group.
    fn admits(&self, rows: &[u32], records: u64) -> bool {
        records >= self.check.min_records
            && (self.check.needs_only_records()
                || self.check.admits(&mut GroupState::new(self.check), rows, records))
    }

    /// Improves the groups. Also returns the numbers of rounds and comparisons.
    pub(super) fn improve(
        &self,
        mut groups: Vec<Vec<u32>>,
        stop: StopRule,
        progress: &dyn incrowd_core::Progress,
    ) -> (Vec<Vec<u32>>, u64, u64) {
        let (mut rounds, mut comparisons, mut last) = (0, 0u64, 0u64);
        let mut before = self.total(&groups);
        progress.step_through("moving", stop.rounds as u64, "rounds");
        for round in 0..stop.rounds {
            if groups.len() < 2 || comparisons.saturating_add(last) > stop.comparisons {
                break;
            }
            let windows = self.windows(groups, round);
            let improved: Vec<(Vec<Vec<u32>>, u64)> =
                windows.into_par_iter().map(|window| self.improve_window(window)).collect();
            last = improved.iter().map(|window| window.1).sum();
            comparisons += last;
            groups = improved.into_iter().flat_map(|window| window.0).collect();
            rounds += 1;
            progress.advance(1);
            let now = self.total(&groups);
            if now >= before * (1.0 - stop.least_gain) {
                break;
            }
            before = now;
        }
        (groups, rounds, comparisons)
    }

    /// Returns the sum of squared distances of all groups.
    pub(super) fn total(&self, groups: &[Vec<u32>]) -> f64 {
        let sums: Vec<f64> =
            groups.par_iter().map(|rows| self.sum(&self.group(rows.clone()))).collect();
        sums.iter().sum()
    }

    /// Divides the groups into windows by their centres, along the widest axes. The cuts change in
    /// every round.
    fn windows(&self, groups: Vec<Vec<u32>>, round: usize) -> Vec<Vec<Group>> {
        let mut groups: Vec<Group> = groups.into_par_iter().map(|rows| self.group(rows)).collect();
        groups.par_sort_unstable_by_key(|group| group.rows[0]);
        let mut windows = Vec::new();
        self.divide(groups, round, 0, &mut windows);
        windows
    }

    fn divide(
        &self,
        mut groups: Vec<Group>,
        round: usize,
        depth: usize,
        windows: &mut Vec<Vec<Group>>,
    ) {
        if groups.len() <= WINDOW {
            windows.push(groups);
            return;
        }
        let width = self.space.width();
        let length = |axis: usize| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            groups.iter().for_each(|group| {
                (lo, hi) = (lo.min(group.centre[axis]), hi.max(group.centre[axis]))
            });
            self.space.length(axis, lo, hi)
        };
        let mut axes: Vec<(f64, usize)> = (0..width).map(|axis| (length(axis), axis)).collect();
        axes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // The cuts differ from round to round, so that neighbours that are separated in one round
        // meet in another.
        let axis = axes[if depth == 0 { round % width } else { 0 }].1;
        let share = [0.5, 0.37, 0.63, 0.44, 0.56][round % 5];
        let at = ((groups.len() as f64 * share) as usize).clamp(1, groups.len() - 1);
        let key = |group: &Group| (group.centre[axis], group.rows[0]);
        groups.select_nth_unstable_by(at, |a, b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let second = groups.split_off(at);
        self.divide(groups, round, depth + 1, windows);
        self.divide(second, round, depth + 1, windows);
    }

    /// Moves rows within a window until no move lowers the sum.
    fn improve_window(&self, groups: Vec<Group>) -> (Vec<Vec<u32>>, u64) {
        let mut comparisons = 0;
        let mut window = groups;
        window.sort_unstable_by_key(|group| group.rows[0]);
        let mut moved = vec![true; window.len()];
        for _ in 0..SWEEPS {
            let before = std::mem::replace(&mut moved, vec![false; window.len()]);
            for at in 0..window.len() {
                if window[at].rows.is_empty() {
                    continue;
                }
                for other in self.neighbours(&window, at) {
                    if before[at] || before[other] || moved[at] || moved[other] {
                        let gained = self.exchange(&mut window, at, other, &mut comparisons);
                        moved[at] |= gained;
                        moved[other] |= gained;
                    }
                }
            }
            for at in 0..window.len() {
                self.dissolve(&mut window, at, &mut moved, &mut comparisons);
            }
            if !moved.contains(&true) {
                break;
            }
        }
        (
            window.into_iter().map(|group| group.rows).filter(|rows| !rows.is_empty()).collect(),
            comparisons,
        )
    }

    fn neighbours(&self, window: &[Group], at: usize) -> Vec<usize> {
        let others =
            (0..window.len()).filter(|&other| other != at && !window[other].rows.is_empty());
        let mut near: Vec<(f64, usize)> = others
            .map(|other| (self.space.distance(&window[at].centre, &window[other].centre), other))
            .collect();
        let by = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if near.len() > NEIGHBOURS {
            near.select_nth_unstable_by(NEIGHBOURS, by);
            near.truncate(NEIGHBOURS);
        }
        near.sort_by(by);
        near.into_iter().map(|near| near.1).collect()
    }

    /// Applies the best move of a row between two groups, or the best exchange of two rows, while
    /// it lowers the sum.
    fn exchange(&self, window: &mut [Group], a: usize, b: usize, comparisons: &mut u64) -> bool {
        let mut gained = false;
        loop {
            let (one, two) = (&window[a], &window[b]);
            let most = if self.space.numeric { MAX_PAIRS } else { MAX_MIXED_PAIRS };
            if one.rows.len() * two.rows.len() > most {
                return gained;
            }
            let now = self.sum(one) + self.sum(two);
            let mut best: Option<(f64, Option<u32>, Option<u32>)> = None;
            let leaving = one.rows.iter().map(|&row| Some(row)).chain([None]);
            for out in leaving {
                for back in two.rows.iter().map(|&row| Some(row)).chain([None]) {
                    if out.is_none() && back.is_none() {
                        continue;
                    }
                    *comparisons += 1;
                    let (first, records) = self.sum_with(one, out, back);
                    let (second, others) = self.sum_with(two, back, out);
                    let least = self.check.min_records;
                    let gain = now - first - second;
                    if records >= least
                        && others >= least
                        && gain > LEAST_GAIN * (1.0 + now)
                        && best.is_none_or(|best| gain > best.0)
                    {
                        best = Some((gain, out, back));
                    }
                }
            }
            let Some((_, out, back)) = best else { return gained };
            let (one, two) = (changed(&one.rows, out, back), changed(&two.rows, back, out));
            let (one, two) = (self.group(one), self.group(two));
            if !self.admits(&one.rows, one.records) || !self.admits(&two.rows, two.records) {
                return gained;
            }
            (window[a], window[b]) = (one, two);
            gained = true;
        }
    }

    /// Moves all rows of a group to its neighbours if that lowers the sum.
    fn dissolve(&self, window: &mut [Group], at: usize, moved: &mut [bool], comparisons: &mut u64) {
        if window[at].rows.is_empty() || window[at].rows.len() > MAX_DISSOLVED {
            return;
        }
        let near = self.neighbours(window, at);
        let have = self.sum(&window[at]);
        let mut cost = 0.0;
        let mut changed: Vec<(usize, Group)> = Vec::new();
        for &row in &window[at].rows.clone() {
            let current = |other: usize| {
                changed.iter().rev().find(|own| own.0 == other).map_or(&window[other], |own| &own.1)
            };
            *comparisons += near.len() as u64;
            let extra = |&other: &usize| {
                let group = current(other);
                self.sum_with(group, None, Some(row)).0 - self.sum(group)
            };
            let best = near.iter().map(|other| (extra(other), *other));
            let Some((extra, to)) = best.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            else {
                return;
            };
            cost += extra;
            if cost + LEAST_GAIN * (1.0 + have) >= have {
                return;
            }
            let mut rows = current(to).rows.clone();
            rows.push(row);
            changed.push((to, self.group(rows)));
        }
        let last: Vec<usize> = (0..changed.len())
            .filter(|&i| !changed[i + 1..].iter().any(|later| later.0 == changed[i].0))
            .collect();
        if !last.iter().all(|&i| self.admits(&changed[i].1.rows, changed[i].1.records)) {
            return;
        }
        for i in last {
            let (to, group) = changed[i].clone();
            window[to] = group;
            moved[to] = true;
        }
        window[at] = self.group(Vec::new());
        moved[at] = true;
    }
}

/// Returns the sum of squared distances to the mean.
fn squared_deviations(sums: &[f64], squares: f64, records: u64) -> f64 {
    if records == 0 {
        return 0.0;
    }
    (squares - sums.iter().map(|sum| sum * sum).sum::<f64>() / records as f64).max(0.0)
}

/// Returns the rows after `out` left and `come` joined.
fn changed(rows: &[u32], out: Option<u32>, come: Option<u32>) -> Vec<u32> {
    rows.iter().copied().filter(|&row| Some(row) != out).chain(come).collect()
}
