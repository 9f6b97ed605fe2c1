//! Groups that break a promise merge with neighbours until none does.
//!
//! Groups are halved along the widest axis until few are left together; within such a handful a group that is not admitted merges
//! with the nearest one. What is still not admitted looks among twice as many groups, and so on up to all.

use super::space::Space;
use crate::improve::{Judge, ModelCheck};

/// So many groups are looked at at once in the beginning.
const HANDFUL: usize = 32;

struct Part {
    rows: Vec<u32>,
    records: u64,
    middle: Vec<f64>,
    admitted: bool,
}

/// Merges groups of rows until the models admit every one.
pub(super) fn merge(space: &Space<'_>, check: &ModelCheck<'_>, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let parts: Vec<Part> = groups.into_iter().map(|rows| part(space, check, rows)).collect();
    if parts.iter().all(|part| part.admitted) {
        return parts.into_iter().map(|part| part.rows).collect();
    }
    halve(space, check, parts).into_iter().map(|part| part.rows).collect()
}

fn part(space: &Space<'_>, check: &ModelCheck<'_>, rows: Vec<u32>) -> Part {
    let weighed: Vec<(u32, u64)> = rows.iter().map(|&row| (row, check.data.weight(row as usize))).collect();
    let records = weighed.iter().map(|row| row.1).sum();
    let admitted = check.admits(&mut Judge::new(check), &rows, records);
    Part { middle: space.middle(&weighed), rows, records, admitted }
}

fn halve(space: &Space<'_>, check: &ModelCheck<'_>, mut parts: Vec<Part>) -> Vec<Part> {
    if parts.len() > HANDFUL {
        let length = |axis: usize| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            parts.iter().for_each(|part| (lo, hi) = (lo.min(part.middle[axis]), hi.max(part.middle[axis])));
            space.length(axis, lo, hi)
        };
        let lengths: Vec<f64> = (0..space.width()).map(length).collect();
        let widest = (0..space.width()).max_by(|&a, &b| lengths[a].total_cmp(&lengths[b]).then(b.cmp(&a)));
        let axis = widest.unwrap_or(0);
        let by = |a: &Part, b: &Part| {
            a.middle[axis].total_cmp(&b.middle[axis]).then_with(|| a.rows[0].cmp(&b.rows[0]))
        };
        let middle = parts.len() / 2;
        parts.select_nth_unstable_by(middle, by);
        let second = parts.split_off(middle);
        parts = halve(space, check, parts);
        parts.extend(halve(space, check, second));
    }
    while parts.len() > 1 {
        let refused = (0..parts.len()).filter(|&i| !parts[i].admitted);
        let Some(smallest) = refused.min_by_key(|&i| (parts[i].records, parts[i].rows[0])) else { break };
        let own = parts.swap_remove(smallest);
        let apart = |part: &Part| space.distance(&own.middle, &part.middle);
        let by = |a: &usize, b: &usize| {
            let (a, b) = (&parts[*a], &parts[*b]);
            apart(a).total_cmp(&apart(b)).then_with(|| a.rows[0].cmp(&b.rows[0]))
        };
        let Some(nearest) = (0..parts.len()).min_by(by) else { break };
        let mut rows = std::mem::take(&mut parts[nearest].rows);
        rows.extend(own.rows);
        rows.sort_unstable();
        parts[nearest] = part(space, check, rows);
    }
    parts
}
