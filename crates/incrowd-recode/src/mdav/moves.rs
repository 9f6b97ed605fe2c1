//! Moves that bring records nearer to the middles of their groups: a row goes over to another group, two rows change places, or all
//! rows of a group go elsewhere.
//!
//! Groups are looked at in windows of neighbours, in every round between others. What is lowered is the sum of squared distances
//! to the middles, so means get nearer to what they stand for. Every group is judged by the models before a move is made. How
//! long it goes on is counted in looks, never timed.

use rayon::prelude::*;

use super::space::Space;
use crate::improve::{Judge, ModelCheck};

/// A window has about so many groups.
const WINDOW: usize = 96;

/// A group looks for moves among so many of its neighbours.
const NEIGHBOURS: usize = 12;

/// Windows are gone through at most so often before others are made.
const SWEEPS: usize = 6;

/// Rows of two groups are exchanged if they have at most so many pairs, and fewer where not all columns are numbers: promises that need
/// large groups leave little to be gained.
const MOST_PAIRS: usize = 4096;
const MOST_MIXED_PAIRS: usize = 400;

/// Groups of more rows are not dissolved.
const MOST_DISSOLVED: usize = 64;

/// Gains below this are rounding.
const LEAST_GAIN: f64 = 1e-9;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) rounds: usize,
    /// After a round that lowers the sum by no more than this share of it.
    pub(super) least_gain: f64,
    /// Before a round that would take more looks than are left.
    pub(super) looks: u64,
}

/// A group with what is needed to know its sum without looking at its rows again.
#[derive(Clone, Debug)]
struct Group {
    rows: Vec<u32>,
    records: u64,
    /// Sums of coordinates on axes of numbers, and of their squares.
    sums: Vec<f64>,
    squares: f64,
    /// The distances on other axes.
    others: f64,
    middle: Vec<f64>,
}

/// What moves need to know of the table.
pub(super) struct Moves<'m, 'a> {
    pub(super) space: &'m Space<'m>,
    pub(super) check: &'m ModelCheck<'a>,
}

impl Moves<'_, '_> {
    fn records(&self, row: u32) -> u64 {
        self.check.data.weight(row as usize)
    }

    fn weighed(&self, rows: &[u32]) -> Vec<(u32, u64)> {
        rows.iter().map(|&row| (row, self.records(row))).collect()
    }

    fn group(&self, rows: Vec<u32>) -> Group {
        let weighed = self.weighed(&rows);
        let mut sums = vec![0.0; self.space.width()];
        let mut squares = 0.0;
        for &(row, records) in &weighed {
            self.add(&mut sums, &mut squares, row, records as f64);
        }
        let others = if self.space.numeric { 0.0 } else { self.space.qualities(&weighed) };
        let middle = if rows.is_empty() { Vec::new() } else { self.space.middle(&weighed) };
        Group { rows, records: weighed.iter().map(|row| row.1).sum(), sums, squares, others, middle }
    }

    /// Adds so many records of a row to sums; fewer than none takes them away.
    fn add(&self, sums: &mut [f64], squares: &mut f64, row: u32, records: f64) {
        for (axis, &x) in self.space.place(row).iter().enumerate() {
            if self.space.is_number(axis) {
                sums[axis] += x * records;
                *squares += x * x * records;
            }
        }
    }

    /// The sum of squared distances of a group.
    fn sum(&self, group: &Group) -> f64 {
        spread(&group.sums, group.squares, group.records) + group.others
    }

    /// The sum if one row left and another one came.
    fn sum_with(&self, group: &Group, out: Option<u32>, come: Option<u32>) -> (f64, u64) {
        let mut records = group.records;
        let mut square = group.squares;
        // The square of the length of the sum of coordinates, kept up to date axis by axis.
        let (mut length, leaves, comes) =
            (0.0, out.map(|row| (row, self.records(row))), come.map(|row| (row, self.records(row))));
        for axis in 0..self.space.width() {
            if !self.space.is_number(axis) {
                continue;
            }
            let mut sum = group.sums[axis];
            if let Some((row, n)) = leaves {
                let x = self.space.place(row)[axis];
                sum -= x * n as f64;
                square -= x * x * n as f64;
            }
            if let Some((row, n)) = comes {
                let x = self.space.place(row)[axis];
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
            sum += self.space.qualities(&self.weighed(&changed(&group.rows, out, come)));
        }
        (sum, records)
    }

    /// Whether the models admit rows as a group.
    fn admits(&self, rows: &[u32], records: u64) -> bool {
        records >= self.check.least
            && (self.check.only_counts() || self.check.admits(&mut Judge::new(self.check), rows, records))
    }

    /// Improves the groups; how many rounds and looks it took.
    pub(super) fn improve(
        &self,
        mut groups: Vec<Vec<u32>>,
        patience: Patience,
        progress: &dyn incrowd_core::Progress,
    ) -> (Vec<Vec<u32>>, u64, u64) {
        let (mut rounds, mut looks, mut last) = (0, 0u64, 0u64);
        let mut before = self.total(&groups);
        progress.step_through("moving", patience.rounds as u64, "rounds");
        for round in 0..patience.rounds {
            if groups.len() < 2 || looks.saturating_add(last) > patience.looks {
                break;
            }
            let windows = self.windows(groups, round);
            let improved: Vec<(Vec<Vec<u32>>, u64)> =
                windows.into_par_iter().map(|window| self.improve_window(window)).collect();
            last = improved.iter().map(|window| window.1).sum();
            looks += last;
            groups = improved.into_iter().flat_map(|window| window.0).collect();
            rounds += 1;
            progress.advance(1);
            let now = self.total(&groups);
            if now >= before * (1.0 - patience.least_gain) {
                break;
            }
            before = now;
        }
        (groups, rounds, looks)
    }

    /// The sum of squared distances of all groups.
    pub(super) fn total(&self, groups: &[Vec<u32>]) -> f64 {
        let sums: Vec<f64> = groups.par_iter().map(|rows| self.sum(&self.group(rows.clone()))).collect();
        sums.iter().sum()
    }

    /// Groups by where their middles are: halved along the widest axis, in every round at another place.
    fn windows(&self, groups: Vec<Vec<u32>>, round: usize) -> Vec<Vec<Group>> {
        let mut groups: Vec<Group> = groups.into_par_iter().map(|rows| self.group(rows)).collect();
        groups.par_sort_unstable_by_key(|group| group.rows[0]);
        let mut windows = Vec::new();
        self.divide(groups, round, 0, &mut windows);
        windows
    }

    fn divide(&self, mut groups: Vec<Group>, round: usize, depth: usize, windows: &mut Vec<Vec<Group>>) {
        if groups.len() <= WINDOW {
            windows.push(groups);
            return;
        }
        let width = self.space.width();
        let length = |axis: usize| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            groups
                .iter()
                .for_each(|group| (lo, hi) = (lo.min(group.middle[axis]), hi.max(group.middle[axis])));
            self.space.length(axis, lo, hi)
        };
        let mut axes: Vec<(f64, usize)> = (0..width).map(|axis| (length(axis), axis)).collect();
        axes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // Other cuts in every round, so that neighbours parted in one meet in the next.
        let axis = axes[if depth == 0 { round % width } else { 0 }].1;
        let share = [0.5, 0.37, 0.63, 0.44, 0.56][round % 5];
        let at = ((groups.len() as f64 * share) as usize).clamp(1, groups.len() - 1);
        let key = |group: &Group| (group.middle[axis], group.rows[0]);
        groups.select_nth_unstable_by(at, |a, b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let second = groups.split_off(at);
        self.divide(groups, round, depth + 1, windows);
        self.divide(second, round, depth + 1, windows);
    }

    /// Moves rows within a window until no move is a gain.
    fn improve_window(&self, groups: Vec<Group>) -> (Vec<Vec<u32>>, u64) {
        let mut looks = 0;
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
                        let gained = self.exchange(&mut window, at, other, &mut looks);
                        moved[at] |= gained;
                        moved[other] |= gained;
                    }
                }
            }
            for at in 0..window.len() {
                self.dissolve(&mut window, at, &mut moved, &mut looks);
            }
            if !moved.contains(&true) {
                break;
            }
        }
        (window.into_iter().map(|group| group.rows).filter(|rows| !rows.is_empty()).collect(), looks)
    }

    fn neighbours(&self, window: &[Group], at: usize) -> Vec<usize> {
        let others = (0..window.len()).filter(|&other| other != at && !window[other].rows.is_empty());
        let mut near: Vec<(f64, usize)> = others
            .map(|other| (self.space.distance(&window[at].middle, &window[other].middle), other))
            .collect();
        let by = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if near.len() > NEIGHBOURS {
            near.select_nth_unstable_by(NEIGHBOURS, by);
            near.truncate(NEIGHBOURS);
        }
        near.sort_by(by);
        near.into_iter().map(|near| near.1).collect()
    }

    /// The best move of a row from one group to the other, or of two rows between them, as long as there is a gain.
    fn exchange(&self, window: &mut [Group], a: usize, b: usize, looks: &mut u64) -> bool {
        let mut gained = false;
        loop {
            let (one, two) = (&window[a], &window[b]);
            let most = if self.space.numeric { MOST_PAIRS } else { MOST_MIXED_PAIRS };
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
                    *looks += 1;
                    let (first, records) = self.sum_with(one, out, back);
                    let (second, others) = self.sum_with(two, back, out);
                    let least = self.check.least;
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

    /// Lets all rows of a group go to its neighbours if that is a gain.
    fn dissolve(&self, window: &mut [Group], at: usize, moved: &mut [bool], looks: &mut u64) {
        if window[at].rows.is_empty() || window[at].rows.len() > MOST_DISSOLVED {
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
            *looks += near.len() as u64;
            let dearer = |&other: &usize| {
                let group = current(other);
                self.sum_with(group, None, Some(row)).0 - self.sum(group)
            };
            let best = near.iter().map(|other| (dearer(other), *other));
            let Some((dearer, to)) = best.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) else {
                return;
            };
            cost += dearer;
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

/// The sum of squared distances to the mean.
fn spread(sums: &[f64], squares: f64, records: u64) -> f64 {
    if records == 0 {
        return 0.0;
    }
    (squares - sums.iter().map(|sum| sum * sum).sum::<f64>() / records as f64).max(0.0)
}

/// Rows of which one left and another one came.
fn changed(rows: &[u32], out: Option<u32>, come: Option<u32>) -> Vec<u32> {
    rows.iter().copied().filter(|&row| Some(row) != out).chain(come).collect()
}
