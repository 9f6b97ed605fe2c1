//! Merges groups that violate a model with their neighbours.
//!
//! The groups are divided along the widest axis into small sets. Within a set, a group that is not
//! admitted merges with the nearest one. Groups that are still not admitted merge within sets of
//! twice the size, and so on up to all groups.

use super::space::Space;
use crate::improve::{GroupState, ModelCheck};

/// The greatest number of groups of the smallest sets.
const MAX_CANDIDATES: usize = 32;

struct MergedGroup {
    rows: Vec<u32>,
    records: u64,
    centre: Vec<f64>,
    admitted: bool,
}

/// Merges groups of rows until the models admit all of them.
pub(super) fn merge(
    space: &Space<'_>,
    check: &ModelCheck<'_>,
    groups: Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let groups: Vec<MergedGroup> =
        groups.into_iter().map(|rows| merged_group(space, check, rows)).collect();
    if groups.iter().all(|group| group.admitted) {
        return groups.into_iter().map(|group| group.rows).collect();
    }
    merge_near(space, check, groups).into_iter().map(|group| group.rows).collect()
}

fn merged_group(space: &Space<'_>, check: &ModelCheck<'_>, rows: Vec<u32>) -> MergedGroup {
    let counted: Vec<(u32, u64)> =
        rows.iter().map(|&row| (row, check.data.weight(row as usize))).collect();
    let records = counted.iter().map(|row| row.1).sum();
    let admitted = check.admits(&mut GroupState::new(check), &rows, records);
    MergedGroup { centre: space.centre(&counted), rows, records, admitted }
}

fn merge_near(
    space: &Space<'_>,
    check: &ModelCheck<'_>,
    mut groups: Vec<MergedGroup>,
) -> Vec<MergedGroup> {
    if groups.len() > MAX_CANDIDATES {
        let length = |axis: usize| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            groups.iter().for_each(|group| {
                (lo, hi) = (lo.min(group.centre[axis]), hi.max(group.centre[axis]))
            });
            space.length(axis, lo, hi)
        };
        let lengths: Vec<f64> = (0..space.width()).map(length).collect();
        let widest =
            (0..space.width()).max_by(|&a, &b| lengths[a].total_cmp(&lengths[b]).then(b.cmp(&a)));
        let axis = widest.unwrap_or(0);
        let by = |a: &MergedGroup, b: &MergedGroup| {
            a.centre[axis].total_cmp(&b.centre[axis]).then_with(|| a.rows[0].cmp(&b.rows[0]))
        };
        let middle = groups.len() / 2;
        groups.select_nth_unstable_by(middle, by);
        let second = groups.split_off(middle);
        groups = merge_near(space, check, groups);
        groups.extend(merge_near(space, check, second));
    }
    while groups.len() > 1 {
        let refused = (0..groups.len()).filter(|&i| !groups[i].admitted);
        let Some(smallest) = refused.min_by_key(|&i| (groups[i].records, groups[i].rows[0])) else {
            break;
        };
        let own = groups.swap_remove(smallest);
        let distance = |group: &MergedGroup| space.distance(&own.centre, &group.centre);
        let by = |a: &usize, b: &usize| {
            let (a, b) = (&groups[*a], &groups[*b]);
            distance(a).total_cmp(&distance(b)).then_with(|| a.rows[0].cmp(&b.rows[0]))
        };
        let Some(nearest) = (0..groups.len()).min_by(by) else { break };
        let mut rows = std::mem::take(&mut groups[nearest].rows);
        rows.extend(own.rows);
        rows.sort_unstable();
        groups[nearest] = merged_group(space, check, rows);
    }
    groups
}
