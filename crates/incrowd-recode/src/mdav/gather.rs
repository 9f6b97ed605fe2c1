//! Forms groups around distant rows: MDAV with groups of k records, and V-MDAV with groups of k to
//! 2k - 1.
//!
//! MDAV: while 3k records remain, form a group of k records from the row farthest from the mean of
//! the remaining records and its nearest neighbours, then another one from the row farthest from
//! that row. Of the last 2k to 3k - 1 records one more group is formed, and the rest is a group.
//!
//! V-MDAV: form a group from the row farthest from the mean of the table and its nearest
//! neighbours. While the nearest other row is nearer to the group than `gain` times its distance to
//! any other row, it joins too. If fewer than k records remain, each joins the nearest group.
//!
//! The records of a distinct row are equal. If only some of them are needed to fill a group, the
//! others remain for later groups, unless rows must stay whole.

use incrowd_core::{Dataset, Progress};
use rayon::prelude::*;

use super::space::Space;
use super::tree::KdTree;

/// The rows of a group, each with the number of its records that belong to the group.
pub(super) type Members = Vec<(u32, u64)>;

/// The number of records of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// The least number that the models require.
    Fixed,
    /// Up to one less than twice that number.
    Variable { gain: f64 },
}

/// The remaining rows, with the mean of their numbers.
struct Remaining<'s, 'a> {
    space: &'s Space<'a>,
    tree: KdTree<'s, 'a>,
    /// The number of remaining records of each row.
    records: Vec<u64>,
    sum: u64,
    /// The sum of coordinates, for axes of numbers.
    sums: Vec<f64>,
    /// For other axes: the number of records at each leaf.
    counts: Vec<Vec<u64>>,
    whole_rows: bool,
}

impl<'s, 'a> Remaining<'s, 'a> {
    fn new(
        space: &'s Space<'a>,
        data: &Dataset,
        rows: Vec<u32>,
        whole_rows: bool,
    ) -> Remaining<'s, 'a> {
        let greatest = rows.iter().max().map_or(0, |&row| row as usize + 1);
        let mut records = vec![0; greatest];
        rows.iter().for_each(|&row| records[row as usize] = data.weight(row as usize));
        let counts = (0..space.width()).map(|axis| {
            if space.is_number(axis) {
                return Vec::new();
            }
            let mut counts = vec![0; data.quasi()[axis].domain.leaves() as usize];
            rows.iter().for_each(|&row| {
                counts[space.point(row)[axis] as usize] += data.weight(row as usize)
            });
            counts
        });
        let counts: Vec<Vec<u64>> = counts.collect();
        let mut remaining = Remaining {
            space,
            sum: rows.iter().map(|&row| data.weight(row as usize)).sum(),
            tree: KdTree::new(space, rows),
            records,
            sums: Vec::new(),
            counts,
            whole_rows,
        };
        remaining.recompute_sums();
        remaining
    }

    /// Recomputes the sums of coordinates, so that rounding errors do not accumulate.
    fn recompute_sums(&mut self) {
        self.sums = vec![0.0; self.space.width()];
        for row in self.tree.rows() {
            let records = self.records[row as usize] as f64;
            self.sums
                .iter_mut()
                .zip(self.space.point(row))
                .for_each(|(sum, x)| *sum += x * records);
        }
    }

    /// Returns the centre of the remaining records: the mean, or the most frequent leaf for other
    /// axes.
    fn centre(&self) -> Vec<f64> {
        let centre = |axis: usize| match self.space.is_number(axis) {
            true => self.sums[axis] / self.sum as f64,
            false => {
                let most = self.counts[axis].iter().max().copied().unwrap_or(0);
                self.counts[axis].iter().position(|&n| n == most).unwrap_or(0) as f64
            }
        };
        (0..self.space.width()).map(centre).collect()
    }

    /// Removes records of a row.
    fn take(&mut self, row: u32, records: u64) {
        let n = records as f64;
        self.records[row as usize] -= records;
        self.sum -= records;
        for (axis, &x) in self.space.point(row).iter().enumerate() {
            self.sums[axis] -= x * n;
            if let Some(count) =
                self.counts[axis].get_mut(x as usize).filter(|_| !self.space.is_number(axis))
            {
                *count -= records;
            }
        }
        if self.records[row as usize] == 0 && self.tree.remove(row) {
            self.recompute_sums();
        }
    }

    /// Removes a row and its nearest neighbours, at least `least` records in total, and returns
    /// them.
    fn take_group(&mut self, row: u32, least: u64) -> Members {
        let own = self.records[row as usize];
        let mut members = vec![(row, own)];
        self.take(row, own);
        let need = least.saturating_sub(own);
        let point = self.space.point(row);
        let near = self.tree.nearest(point, need, |row| self.records[row as usize]);
        let mut need = need;
        for row in near {
            let own = self.records[row as usize];
            let taken = if self.whole_rows { own } else { own.min(need) };
            members.push((row, taken));
            self.take(row, taken);
            need = need.saturating_sub(taken);
        }
        members
    }

    /// Removes and returns all remaining rows.
    fn rest(&mut self) -> Members {
        let rows = self.tree.rows();
        let rest: Members = rows.into_iter().map(|row| (row, self.records[row as usize])).collect();
        rest.iter().for_each(|&(row, records)| self.take(row, records));
        rest
    }
}

/// Forms groups of at least `least` records, unless the table has fewer. A table of more than
/// `block` distinct rows is divided along its widest axis until no block has more rows, and each
/// block is processed separately.
pub(super) fn gather(
    space: &Space<'_>,
    data: &Dataset,
    least: u64,
    size: Size,
    whole_rows: bool,
    block: usize,
    progress: &dyn Progress,
) -> Vec<Members> {
    let mut blocks = Vec::new();
    halve(space, data, (0..data.rows() as u32).collect(), block, least, &mut blocks);
    let groups = |rows| gather_rows(space, data, rows, least, size, whole_rows, progress);
    blocks.into_par_iter().map(groups).collect::<Vec<_>>().concat()
}

/// Divides rows along the widest axis while a block has more than `block` rows and both halves have
/// records for several groups.
fn halve(
    space: &Space<'_>,
    data: &Dataset,
    mut rows: Vec<u32>,
    block: usize,
    least: u64,
    blocks: &mut Vec<Vec<u32>>,
) {
    let enough =
        |rows: &[u32]| rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>() >= 3 * least;
    if rows.len() > block.max(1) {
        let length = |axis: usize| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            rows.iter()
                .map(|&row| space.point(row)[axis])
                .for_each(|x| (lo, hi) = (lo.min(x), hi.max(x)));
            space.length(axis, lo, hi)
        };
        let lengths: Vec<f64> = (0..space.width()).map(length).collect();
        let widest =
            (0..space.width()).max_by(|&a, &b| lengths[a].total_cmp(&lengths[b]).then(b.cmp(&a)));
        let (axis, middle) = (widest.unwrap_or(0), rows.len() / 2);
        rows.select_nth_unstable_by(middle, |&a, &b| {
            space.point(a)[axis].total_cmp(&space.point(b)[axis]).then(a.cmp(&b))
        });
        let (first, second) = rows.split_at(middle);
        if enough(first) && enough(second) {
            let (mut first, mut second) = (first.to_vec(), second.to_vec());
            first.sort_unstable();
            second.sort_unstable();
            halve(space, data, first, block, least, blocks);
            halve(space, data, second, block, least, blocks);
            return;
        }
        rows.sort_unstable();
    }
    blocks.push(rows);
}

fn gather_rows(
    space: &Space<'_>,
    data: &Dataset,
    rows: Vec<u32>,
    least: u64,
    size: Size,
    whole_rows: bool,
    progress: &dyn Progress,
) -> Vec<Members> {
    let mut remaining = Remaining::new(space, data, rows, whole_rows);
    let mut groups = Vec::new();
    let mut reported = remaining.sum;
    let mut report = |remaining: &Remaining<'_, '_>| {
        progress.advance(reported - remaining.sum);
        reported = remaining.sum;
    };
    match size {
        Size::Fixed => {
            while remaining.sum >= 3 * least {
                let Some(far) = remaining.tree.farthest(&remaining.centre()) else { break };
                groups.push(remaining.take_group(far, least));
                if remaining.sum >= 2 * least
                    && let Some(opposite) = remaining.tree.farthest(space.point(far))
                {
                    groups.push(remaining.take_group(opposite, least));
                }
                report(&remaining);
            }
            if remaining.sum >= 2 * least
                && let Some(far) = remaining.tree.farthest(&remaining.centre())
            {
                groups.push(remaining.take_group(far, least));
            }
        }
        Size::Variable { gain } => {
            let centre = remaining.centre();
            while remaining.sum >= least
                && let Some(far) = remaining.tree.farthest(&centre)
            {
                let mut group = remaining.take_group(far, least);
                extend(&mut remaining, &mut group, least, gain);
                groups.push(group);
                report(&remaining);
            }
        }
    }
    let rest = remaining.rest();
    report(&remaining);
    if rest.iter().map(|row| row.1).sum::<u64>() >= least || groups.is_empty() {
        groups.extend((!rest.is_empty()).then_some(rest));
    } else {
        join_nearest(space, &mut groups, rest);
    }
    groups
}

/// Adds rows to a group that are nearer to it than to any other row.
fn extend(remaining: &mut Remaining<'_, '_>, group: &mut Members, least: u64, gain: f64) {
    let space = remaining.space;
    while remaining.tree.len() > 1 {
        let size: u64 = group.iter().map(|row| row.1).sum();
        let nearest = |&(row, _): &(u32, u64)| {
            let near = *remaining.tree.nearest(space.point(row), 1, |_| 1).first()?;
            Some((space.distance(space.point(row), space.point(near)), near))
        };
        let found =
            group.iter().filter_map(nearest).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((near, row)) = found else { return };
        let own = remaining.records[row as usize];
        if own != 1 || size + own >= 2 * least {
            // Records of one row have no distance from each other, so the rule does not apply.
            return;
        }
        let point = space.point(row);
        let others = remaining.tree.nearest(point, 2, |_| 1);
        let Some(&other) = others.iter().find(|&&other| other != row) else { return };
        if near.sqrt() >= gain * space.distance(point, space.point(other)).sqrt() {
            return;
        }
        group.push((row, own));
        remaining.take(row, own);
    }
}

/// Adds the last rows to the groups with the nearest centres.
fn join_nearest(space: &Space<'_>, groups: &mut [Members], rest: Members) {
    let centres: Vec<Vec<f64>> = groups.iter().map(|group| space.centre(group)).collect();
    for (row, records) in rest {
        let distance = |group: &usize| space.distance(space.point(row), &centres[*group]);
        let nearest = (0..groups.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(group) = nearest {
            groups[group].push((row, records));
        }
    }
}
