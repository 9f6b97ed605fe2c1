//! Local search that lowers the loss of a valid partition.
//!
//! There are three moves. A row moves to another group if that costs less than its own group saves.
//! A group is dissolved if its rows cost less in other groups. Neighbouring groups are merged and
//! partitioned again. The models check every changed group before a move, and no move increases the
//! loss.
//!
//! Moves happen within windows of neighbouring groups. Each round sorts the groups differently, so
//! that neighbours change. The work is limited by the number of comparisons of a row with a group,
//! not by time, so that the result does not depend on the machine or the number of threads.

mod check;
mod edges;
mod group_costs;
mod group_state;
mod metric;
mod movable;
mod regroup;
mod shape;
mod window;

use std::time::Instant;

use incrowd_core::{Dataset, Partition, Progress, Result, RowId};
use rayon::prelude::*;

pub(crate) use check::ModelCheck;
pub(crate) use group_state::GroupState;
pub use metric::Metric;
pub(crate) use movable::MovableGroup;
pub(crate) use shape::Shapes;
use window::Window;

/// The greatest number of rows of a window. Windows are smaller in larger tables, so that the time
/// of a round does not grow with the square of the number of rows.
pub(crate) const WINDOW_ROWS: usize = 2048;
const MIN_WINDOW_ROWS: usize = 128;
const ROWS_SQUARED: usize = 1 << 28;

/// Windows with fewer rows are not regrouped.
const MIN_REGROUPED_ROWS: usize = 256;

/// The least number of groups of a window.
const MIN_GROUPS: usize = 16;

/// Smaller gains may be rounding errors.
const LEAST_GAIN: f32 = 1e-3;

/// The conditions under which the search stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopRule {
    /// The greatest number of rounds.
    pub(crate) rounds: usize,
    /// Stop if a round lowers the loss by no more than this share.
    pub(crate) least_gain: f64,
    /// The number of rounds over which the gain is measured, against as many times `least_gain`.
    /// Neighbours change in every round, so a small gain may be followed by a large one.
    pub(crate) gain_rounds: usize,
    /// Stop before a round that would exceed this number of comparisons, estimated by the last
    /// round.
    pub(crate) comparisons: u64,
    /// The number of first rounds in which neighbouring groups are regrouped. If it is positive,
    /// the groups must be given in an order in which neighbours are similar.
    pub(crate) regroupings: usize,
    /// The greatest number of rows of a window.
    pub(crate) window: usize,
    /// A limit of the time in seconds, if there is one.
    pub(crate) seconds: Option<f64>,
}

impl StopRule {
    /// Returns whether the last rounds gained too little. `costs` contains the initial cost and the
    /// cost after every round.
    fn is_over(&self, costs: &[f64]) -> bool {
        let (Some(now), Some(before)) = (costs.last(), costs.iter().rev().nth(self.gain_rounds))
        else {
            return false;
        };
        self.least_gain > 0.0 && *now >= before * (1.0 - self.gain_rounds as f64 * self.least_gain)
    }
}

/// The result of the search.
#[derive(Debug)]
pub(crate) struct Improved {
    pub(crate) groups: Vec<Vec<u32>>,
    pub(crate) rounds: u64,
    /// The number of comparisons of a row with a group.
    pub(crate) comparisons: u64,
    pub(crate) out_of_time: bool,
}

/// Returns the loss of all cells of these groups and of the records that are in no group.
pub(crate) fn cost(shapes: &Shapes<'_>, data: &Dataset, groups: &[Vec<u32>]) -> f64 {
    let of_group = |rows: &Vec<u32>| {
        let records: u64 = rows.iter().map(|&row| data.weight(row as usize)).sum();
        (f64::from(shapes.price(&shapes.of(rows.iter().copied()))) * records as f64, records)
    };
    let costs: Vec<(f64, u64)> = groups.par_iter().map(of_group).collect();
    let published: u64 = costs.iter().map(|cost| cost.1).sum();
    let suppressed = data.records().saturating_sub(published);
    costs.iter().map(|cost| cost.0).sum::<f64>() + f64::from(shapes.max_price) * suppressed as f64
}

/// Creates a partition of these groups, in the order of their first rows.
pub(crate) fn partition(
    data: &Dataset,
    shapes: &Shapes<'_>,
    mut groups: Vec<Vec<u32>>,
) -> Result<Partition> {
    groups.par_iter_mut().for_each(|rows| rows.sort_unstable());
    groups.par_sort_unstable_by_key(|rows| rows[0]);
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    for rows in &groups {
        let spans = shapes.spans(&shapes.of(rows.iter().copied()));
        partition.add(&spans, rows.iter().map(|&row| RowId(row)))?;
    }
    Ok(partition)
}

/// Improves the groups by moves between neighbours.
pub(crate) fn improve(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    mut groups: Vec<Vec<u32>>,
    stop: StopRule,
    progress: &dyn Progress,
) -> Improved {
    let began = Instant::now();
    let late = || stop.seconds.is_some_and(|seconds| began.elapsed().as_secs_f64() > seconds);
    let mut costs = vec![cost(shapes, check.data, &groups)];
    let cells = check.data.records() as f64 * f64::from(shapes.max_price);
    let (mut rounds, mut comparisons, mut last) = (0, 0u64, 0u64);
    if stop.rounds > 0 {
        progress.step_through("moving", stop.rounds as u64, "rounds");
    }
    for round in 0..stop.rounds {
        if late() || comparisons.saturating_add(last) > stop.comparisons {
            break;
        }
        let keep_order = round == 0 && stop.regroupings > 0;
        let most = window_rows(check.data.rows()).min(stop.window);
        let groups_in_order = if keep_order { groups } else { sorted(check, groups, round) };
        let windows = windows(most, groups_in_order);
        let regroup = round < stop.regroupings && most >= MIN_REGROUPED_ROWS;
        let improved = |groups: Vec<Vec<u32>>| {
            if late() {
                return (groups, 0);
            }
            // A round may take seconds. This call lets a user cancel within a round.
            progress.advance(0);
            let mut comparisons = 0;
            let groups = if regroup {
                regroup::regroup(check, shapes, groups, &mut comparisons)
            } else {
                groups
            };
            let (groups, moving) = Window::new(check, shapes, groups).improve();
            (groups, comparisons + moving)
        };
        let improved: Vec<(Vec<Vec<u32>>, u64)> = windows.into_par_iter().map(improved).collect();
        last = improved.iter().map(|window| window.1).sum();
        comparisons += last;
        groups = improved.into_iter().flat_map(|window| window.0).collect();
        rounds += 1;
        let now = cost(shapes, check.data, &groups);
        progress.advance(1);
        progress.note(&format!("loss so far {:.4}", now / cells));
        costs.push(now);
        if stop.is_over(&costs) {
            break;
        }
    }
    Improved { groups, rounds, comparisons, out_of_time: late() }
}

/// Returns the greatest number of rows of a window.
fn window_rows(rows: usize) -> usize {
    (ROWS_SQUARED / rows.max(1)).clamp(MIN_WINDOW_ROWS, WINDOW_ROWS)
}

/// Divides the groups into windows of at most `most` rows, but at least [`MIN_GROUPS`] groups.
fn windows(most: usize, groups: Vec<Vec<u32>>) -> Vec<Vec<Vec<u32>>> {
    let mut windows: Vec<Vec<Vec<u32>>> = Vec::new();
    let (mut window, mut rows): (Vec<Vec<u32>>, usize) = Default::default();
    for group in groups {
        if rows + group.len() > most && window.len() >= MIN_GROUPS {
            windows.push(std::mem::take(&mut window));
            rows = 0;
        }
        rows += group.len();
        window.push(group);
    }
    windows.push(window);
    windows
}

/// Sorts the groups by a different order of the columns in every round.
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

/// Returns a step that is coprime to the number of columns, so that stepping visits all of them.
/// The step changes after each `columns` rounds.
fn stride(columns: usize, sweep: usize) -> usize {
    let coprime =
        |step: &usize| (2..=*step).all(|d| !step.is_multiple_of(d) || !columns.is_multiple_of(d));
    let steps: Vec<usize> = (1..=columns.max(1)).filter(coprime).collect();
    steps[(sweep / columns.max(1)) % steps.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_measured_over_several_rounds() {
        let one = StopRule {
            rounds: 9,
            least_gain: 0.01,
            gain_rounds: 1,
            comparisons: u64::MAX,
            regroupings: 0,
            window: WINDOW_ROWS,
            seconds: None,
        };
        assert!(!one.is_over(&[100.0]));
        assert!(!one.is_over(&[100.0, 98.9]));
        assert!(one.is_over(&[100.0, 90.0, 89.9]));
        let three = StopRule { gain_rounds: 3, ..one };
        assert!(!three.is_over(&[100.0, 100.0, 100.0]), "fewer than three rounds");
        assert!(three.is_over(&[100.0, 99.0, 98.0, 97.5]));
        assert!(!three.is_over(&[100.0, 95.0, 94.9, 94.8]));
        assert!(three.is_over(&[100.0, 95.0, 94.9, 94.8, 94.7]));
        assert!(
            !StopRule { least_gain: 0.0, ..one }.is_over(&[100.0, 100.0]),
            "only the number of rounds limits the search"
        );
    }
}
