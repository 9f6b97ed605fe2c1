//! Merges neighbouring groups and partitions their rows again. The result replaces the groups if it
//! costs less.
//!
//! The method is the greedy k-member clustering of `byun2007`: a group starts with the row that is
//! farthest from the previous group. It takes the row that increases its price least until the
//! models admit it. Remaining rows join the group with the smallest increase of the loss.

use super::LEAST_GAIN;
use super::check::ModelCheck;
use super::movable::MovableGroup;
use super::shape::Shapes;

/// If models depend on more than the number of records, groups with more rows on average are not
/// regrouped, because each check takes long.
const MAX_CHECKED_ROWS: usize = 48;

/// A group that is not admitted with this many rows is given up.
const MAX_ROWS: usize = 256;

/// Returns a cheaper grouping of the rows, or the given groups if none is found.
pub(super) fn regroup<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    groups: Vec<Vec<u32>>,
    comparisons: &mut u64,
) -> Vec<Vec<u32>> {
    let price = |rows: &Vec<u32>| {
        let records: u64 = rows.iter().map(|&row| check.data.weight(row as usize)).sum();
        shapes.price(&shapes.of(rows.iter().copied())) * records as f32
    };
    let have: f32 = groups.iter().map(price).sum();
    let rows = groups.iter().map(Vec::len).sum::<usize>();
    let large = !check.needs_only_records() && rows > MAX_CHECKED_ROWS * groups.len();
    if groups.len() < 2 || have <= LEAST_GAIN || large {
        return groups;
    }
    match clustered(check, shapes, groups.concat(), have - LEAST_GAIN, comparisons) {
        Some(better) => better.into_iter().map(|group| group.rows).collect(),
        None => groups,
    }
}

/// Returns groups of these rows with a total cost below `limit`.
fn clustered<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    mut rows: Vec<u32>,
    limit: f32,
    comparisons: &mut u64,
) -> Option<Vec<MovableGroup<'a>>> {
    rows.sort_unstable();
    let mut groups: Vec<MovableGroup<'a>> = Vec::new();
    let mut rest: Vec<u32> = Vec::new();
    let mut cost = 0.0;
    // The first group starts with the row that is farthest from the first row.
    let mut last = shapes.of(rows.first().copied());
    let mut unassigned = Unassigned { bounds: vec![0.0; rows.len()], rows, comparisons: 0 };
    while !unassigned.rows.is_empty() {
        let seed = unassigned.farthest(shapes, &last);
        let mut group = MovableGroup::new(check, shapes, vec![unassigned.take(seed)]);
        unassigned.bounds.fill(0.0);
        while !group.is_admitted(check) && group.rows.len() < MAX_ROWS {
            let admitted_only = !check.needs_only_records() && group.records() >= check.min_records;
            let at = unassigned.nearest(check, shapes, &group, admitted_only);
            let at = if admitted_only {
                at.or_else(|| unassigned.nearest(check, shapes, &group, false))
            } else {
                at
            };
            let Some(at) = at else { break };
            group.push(check, shapes, unassigned.take(at));
        }
        last.clone_from(&group.shape);
        if group.is_admitted(check) {
            cost += group.cost();
            if cost >= limit {
                *comparisons += unassigned.comparisons;
                return None;
            }
            groups.push(group);
        } else {
            rest.append(&mut group.rows);
        }
    }
    *comparisons += unassigned.comparisons;
    for row in rest {
        let count = check.data.weight(row as usize);
        let mut best: Option<(f32, usize)> = None;
        *comparisons += groups.len() as u64;
        for (to, group) in groups.iter().enumerate() {
            let limit = best.map_or(limit - cost, |best| best.0);
            if let Some(extra) = group.extra_cost_with(shapes, row, count, limit)
                && extra < limit
                && group.admits_with(check, row)
            {
                best = Some((extra, to));
            }
        }
        let (extra, to) = best?;
        cost += extra;
        groups[to].push(check, shapes, row);
    }
    (cost < limit).then_some(groups)
}

/// The rows that are in no group yet.
struct Unassigned {
    rows: Vec<u32>,
    /// Lower bounds of the price of the current group with each of them. A group only grows, so a
    /// price that was computed earlier is still a lower bound.
    bounds: Vec<f32>,
    comparisons: u64,
}

impl Unassigned {
    fn take(&mut self, at: usize) -> u32 {
        self.bounds.swap_remove(at);
        self.rows.swap_remove(at)
    }

    /// Returns the index of the row that is farthest from a group.
    fn farthest(&mut self, shapes: &Shapes<'_>, shape: &[u32]) -> usize {
        self.comparisons += self.rows.len() as u64;
        let mut best = (-1.0, 0);
        for (at, &row) in self.rows.iter().enumerate() {
            let far = shapes.lower_bound_with(shape, row, f32::INFINITY);
            if far > best.0 {
                best = (far, at);
            }
        }
        best.1
    }

    /// Returns the index of the row that increases the group's price least. With `admitted_only`,
    /// only rows with which the models admit the group are considered.
    fn nearest<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        shapes: &Shapes<'_>,
        group: &MovableGroup<'a>,
        admitted_only: bool,
    ) -> Option<usize> {
        let mut best: Option<(f32, usize)> = None;
        for (at, &row) in self.rows.iter().enumerate() {
            let most = best.map_or(f32::INFINITY, |best| best.0);
            if self.bounds[at] >= most {
                continue;
            }
            self.comparisons += 1;
            let price = shapes.lower_bound_with(&group.shape, row, most);
            self.bounds[at] = price;
            if price < most && (!admitted_only || group.admits_with(check, row)) {
                best = Some((price, at));
            }
        }
        best.map(|best| best.1)
    }
}
