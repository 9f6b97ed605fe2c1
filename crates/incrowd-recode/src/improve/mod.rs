//! Improving: small moves that make any valid partition cheaper, be it Mondrian's or that of a climb.
//!
//! A row goes over to another group that can take it for less than its own group saves; a group dissolves if its rows cost less
//! elsewhere; neighbouring groups are put together and grouped anew. Every group is judged by the models before a move is made,
//! and nothing ever gets dearer.
//!
//! Groups are looked at in windows of neighbours, in every round between others. How long it goes on is counted in looks at a row
//! beside a group, not in seconds, so that the same table always gives the same groups, whatever the threads and the machine.

mod check;
mod edges;
mod faces;
mod judge;
mod metric;
mod movable;
mod regroup;
mod shape;
mod window;

use std::time::Instant;

use incrowd_core::{Dataset, Partition, Progress, Result, RowId};
use rayon::prelude::*;

pub(crate) use check::ModelCheck;
pub(crate) use judge::Judge;
pub use metric::Metric;
pub(crate) use movable::MovableGroup;
pub(crate) use shape::Shapes;
use window::Window;

/// A window has at most so many rows, and fewer the more rows there are, so that a round takes about the same time.
pub(crate) const WINDOW_ROWS: usize = 2048;
const FEWEST_ROWS: usize = 128;
const ROWS_SQUARED: usize = 1 << 28;

/// Groups of windows with fewer rows are not grouped anew.
const REGROUPED_ROWS: usize = 256;

/// A window has at least so many groups.
const FEWEST_GROUPS: usize = 16;

/// Gains below this are rounding.
const LEAST_GAIN: f32 = 1e-3;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// After so many rounds.
    pub(crate) rounds: usize,
    /// After a round that lowers the loss by no more than this share of it.
    pub(crate) least_gain: f64,
    /// The gains of so many rounds count together, against as many times that share: neighbours are others in every round, and a
    /// round that gains little may come before one that gains much.
    pub(crate) together: usize,
    /// Before a round that would take more looks than are left, if that is limited.
    pub(crate) looks: u64,
    /// In so many rounds neighbouring groups are grouped anew. The first is for groups that come in an order in which
    /// neighbours are alike.
    pub(crate) regroupings: usize,
    /// Windows have at most so many rows.
    pub(crate) window: usize,
    /// After so many seconds, if that is limited.
    pub(crate) seconds: Option<f64>,
}

impl Patience {
    /// Whether the last rounds gained too little; `costs` are those before the first round and after every one.
    fn is_over(&self, costs: &[f64]) -> bool {
        let (Some(now), Some(before)) = (costs.last(), costs.iter().rev().nth(self.together)) else {
            return false;
        };
        self.least_gain > 0.0 && *now >= before * (1.0 - self.together as f64 * self.least_gain)
    }
}

/// The groups afterwards.
#[derive(Debug)]
pub(crate) struct Improved {
    pub(crate) groups: Vec<Vec<u32>>,
    pub(crate) rounds: u64,
    /// Looks at a row beside a group.
    pub(crate) looks: u64,
    pub(crate) out_of_time: bool,
}

/// What all cells of these groups cost, and of records that are in none.
pub(crate) fn cost(shapes: &Shapes<'_>, data: &Dataset, groups: &[Vec<u32>]) -> f64 {
    let of_group = |rows: &Vec<u32>| {
        let records: u64 = rows.iter().map(|&row| data.weight(row as usize)).sum();
        (f64::from(shapes.price(&shapes.of(rows.iter().copied()))) * records as f64, records)
    };
    let costs: Vec<(f64, u64)> = groups.par_iter().map(of_group).collect();
    let published: u64 = costs.iter().map(|cost| cost.1).sum();
    let lost = data.records().saturating_sub(published);
    costs.iter().map(|cost| cost.0).sum::<f64>() + f64::from(shapes.most) * lost as f64
}

/// The rows of each group of a partition.
pub(crate) fn members(data: &Dataset, partition: &Partition) -> Vec<Vec<u32>> {
    let mut groups = vec![Vec::new(); partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            groups[group.index()].push(row as u32);
        }
    }
    groups
}

/// The groups as a partition, in the order of their first rows.
pub(crate) fn partition(data: &Dataset, shapes: &Shapes<'_>, mut groups: Vec<Vec<u32>>) -> Result<Partition> {
    groups.par_iter_mut().for_each(|rows| rows.sort_unstable());
    groups.par_sort_unstable_by_key(|rows| rows[0]);
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    for rows in &groups {
        let spans = shapes.spans(&shapes.of(rows.iter().copied()));
        partition.add(&spans, rows.iter().map(|&row| RowId(row)))?;
    }
    Ok(partition)
}

/// Improves the groups by moves between neighbours, in every round between others.
pub(crate) fn improve(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    mut groups: Vec<Vec<u32>>,
    patience: Patience,
    progress: &dyn Progress,
) -> Improved {
    let began = Instant::now();
    let late = || patience.seconds.is_some_and(|seconds| began.elapsed().as_secs_f64() > seconds);
    let mut costs = vec![cost(shapes, check.data, &groups)];
    let cells = check.data.records() as f64 * f64::from(shapes.most);
    let (mut rounds, mut looks, mut last) = (0, 0u64, 0u64);
    if patience.rounds > 0 {
        progress.step_through("moving", patience.rounds as u64, "rounds");
    }
    for round in 0..patience.rounds {
        if late() || looks.saturating_add(last) > patience.looks {
            break;
        }
        let in_order = round == 0 && patience.regroupings > 0;
        let most = window_rows(check.data.rows()).min(patience.window);
        let windows = windows(most, if in_order { groups } else { sorted(check, groups, round) });
        let regroup = round < patience.regroupings && most >= REGROUPED_ROWS;
        let improved = |groups: Vec<Vec<u32>>| {
            if late() {
                return (groups, 0);
            }
            // A round may take seconds: whoever is told to stop need not wait for its end.
            progress.advance(0);
            let mut looks = 0;
            let groups = if regroup { regroup::regroup(check, shapes, groups, &mut looks) } else { groups };
            let (groups, moving) = Window::new(check, shapes, groups).improve();
            (groups, looks + moving)
        };
        let improved: Vec<(Vec<Vec<u32>>, u64)> = windows.into_par_iter().map(improved).collect();
        last = improved.iter().map(|window| window.1).sum();
        looks += last;
        groups = improved.into_iter().flat_map(|window| window.0).collect();
        rounds += 1;
        let now = cost(shapes, check.data, &groups);
        progress.advance(1);
        progress.note(&format!("loss so far {:.4}", now / cells));
        costs.push(now);
        if patience.is_over(&costs) {
            break;
        }
    }
    Improved { groups, rounds, looks, out_of_time: late() }
}

/// The rows of a window.
fn window_rows(rows: usize) -> usize {
    (ROWS_SQUARED / rows.max(1)).clamp(FEWEST_ROWS, WINDOW_ROWS)
}

/// The groups in windows of at most so many rows.
fn windows(most: usize, groups: Vec<Vec<u32>>) -> Vec<Vec<Vec<u32>>> {
    let mut windows: Vec<Vec<Vec<u32>>> = Vec::new();
    let (mut window, mut rows): (Vec<Vec<u32>>, usize) = Default::default();
    for group in groups {
        if rows + group.len() > most && window.len() >= FEWEST_GROUPS {
            windows.push(std::mem::take(&mut window));
            rows = 0;
        }
        rows += group.len();
        window.push(group);
    }
    windows.push(window);
    windows
}

/// The groups so that neighbours agree in the columns that come first in the order of the round.
fn sorted(check: &ModelCheck<'_>, mut groups: Vec<Vec<u32>>, round: usize) -> Vec<Vec<u32>> {
    let columns = check.data.quasi().len();
    let step = stride(columns, round);
    let key = |rows: &Vec<u32>| -> (Vec<u32>, u32) {
        let codes = check.data.quasi_codes(rows[(round / columns) % rows.len()] as usize);
        ((0..columns).map(|i| codes[(i * step + round) % columns]).collect(), rows[0])
    };
    groups.par_sort_by_cached_key(key);
    groups
}

/// A step through the columns that reaches all of them, another one every few sweeps.
fn stride(columns: usize, sweep: usize) -> usize {
    let coprime = |step: &usize| (2..=*step).all(|d| !step.is_multiple_of(d) || !columns.is_multiple_of(d));
    let steps: Vec<usize> = (1..=columns.max(1)).filter(coprime).collect();
    steps[(sweep / columns.max(1)) % steps.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_gains_little_may_come_before_one_that_gains_much() {
        let one = Patience {
            rounds: 9,
            least_gain: 0.01,
            together: 1,
            looks: u64::MAX,
            regroupings: 0,
            window: WINDOW_ROWS,
            seconds: None,
        };
        assert!(!one.is_over(&[100.0]));
        assert!(!one.is_over(&[100.0, 98.9]));
        assert!(one.is_over(&[100.0, 90.0, 89.9]));
        let three = Patience { together: 3, ..one };
        assert!(!three.is_over(&[100.0, 100.0, 100.0]), "three rounds there must be");
        assert!(three.is_over(&[100.0, 99.0, 98.0, 97.5]));
        assert!(!three.is_over(&[100.0, 95.0, 94.9, 94.8]));
        assert!(three.is_over(&[100.0, 95.0, 94.9, 94.8, 94.7]));
        assert!(
            !Patience { least_gain: 0.0, ..one }.is_over(&[100.0, 100.0]),
            "the number of rounds alone decides"
        );
    }
}
