//! Gathering groups around far rows: MDAV with groups of k records, and V-MDAV with groups of k to 2k - 1.
//!
//! MDAV: as long as there are 3k records, take the row farthest from the mean of all that are left with its nearest neighbours, k
//! records in all; then the row farthest from that one with its neighbours. Of the last 2k to 3k - 1 records one more group is
//! taken, and the rest is a group.
//!
//! V-MDAV: take the row farthest from the mean of the table with its nearest neighbours; as long as the nearest other row is
//! nearer to the group than `gain` times its distance to any other row, it joins too. Fewer than k records at the end join the
//! groups next to them.
//!
//! The records of a distinct row are alike. Where only some of them are needed to fill a group, the others stay for later ones,
//! unless rows must stay whole.

use incrowd_core::{Dataset, Progress};
use rayon::prelude::*;

use super::space::Space;
use super::tree::Tree;

/// Rows of a group, with how many of their records belong to it.
pub(super) type Members = Vec<(u32, u64)>;

/// How many records a group has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// As many as the promises need.
    Fixed,
    /// Up to one less than twice as many.
    Variable { gain: f64 },
}

/// Rows that are left, with the mean of their numbers.
struct Left<'s, 'a> {
    space: &'s Space<'a>,
    tree: Tree<'s, 'a>,
    /// Records that are left of each row.
    records: Vec<u64>,
    sum: u64,
    /// The sum of coordinates, on axes of numbers.
    sums: Vec<f64>,
    /// On other axes the records at each leaf.
    counts: Vec<Vec<u64>>,
    whole_rows: bool,
}

impl<'s, 'a> Left<'s, 'a> {
    fn new(space: &'s Space<'a>, data: &Dataset, rows: Vec<u32>, whole_rows: bool) -> Left<'s, 'a> {
        let greatest = rows.iter().max().map_or(0, |&row| row as usize + 1);
        let mut records = vec![0; greatest];
        rows.iter().for_each(|&row| records[row as usize] = data.weight(row as usize));
        let counts = (0..space.width()).map(|axis| {
            if space.is_number(axis) {
                return Vec::new();
            }
            let mut counts = vec![0; data.quasi()[axis].domain.leaves() as usize];
            rows.iter().for_each(|&row| counts[space.place(row)[axis] as usize] += data.weight(row as usize));
            counts
        });
        let counts: Vec<Vec<u64>> = counts.collect();
        let mut left = Left {
            space,
            sum: rows.iter().map(|&row| data.weight(row as usize)).sum(),
            tree: Tree::new(space, rows),
            records,
            sums: Vec::new(),
            counts,
            whole_rows,
        };
        left.add_up();
        left
    }

    /// Adds up coordinates anew, so that rounding does not grow.
    fn add_up(&mut self) {
        self.sums = vec![0.0; self.space.width()];
        for row in self.tree.rows() {
            let records = self.records[row as usize] as f64;
            self.sums.iter_mut().zip(self.space.place(row)).for_each(|(sum, x)| *sum += x * records);
        }
    }

    /// The middle of all records that are left: means, and the most frequent leaf on other axes.
    fn middle(&self) -> Vec<f64> {
        let middle = |axis: usize| match self.space.is_number(axis) {
            true => self.sums[axis] / self.sum as f64,
            false => {
                let most = self.counts[axis].iter().max().copied().unwrap_or(0);
                self.counts[axis].iter().position(|&n| n == most).unwrap_or(0) as f64
            }
        };
        (0..self.space.width()).map(middle).collect()
    }

    /// Takes records of a row.
    fn take(&mut self, row: u32, records: u64) {
        let n = records as f64;
        self.records[row as usize] -= records;
        self.sum -= records;
        for (axis, &x) in self.space.place(row).iter().enumerate() {
            self.sums[axis] -= x * n;
            if let Some(count) = self.counts[axis].get_mut(x as usize).filter(|_| !self.space.is_number(axis))
            {
                *count -= records;
            }
        }
        if self.records[row as usize] == 0 && self.tree.remove(row) {
            self.add_up();
        }
    }

    /// A row with its nearest neighbours, `least` records in all.
    fn around(&mut self, row: u32, least: u64) -> Members {
        let own = self.records[row as usize];
        let mut members = vec![(row, own)];
        self.take(row, own);
        let need = least.saturating_sub(own);
        let place = self.space.place(row);
        let near = self.tree.nearest(place, need, |row| self.records[row as usize]);
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

    /// All that is left.
    fn rest(&mut self) -> Members {
        let rows = self.tree.rows();
        let rest: Members = rows.into_iter().map(|row| (row, self.records[row as usize])).collect();
        rest.iter().for_each(|&(row, records)| self.take(row, records));
        rest
    }
}

/// Groups of at least `least` records, unless the table has fewer. A table of more than `block` distinct rows is halved along the widest
/// axis until no part has more, and each part is gathered by itself.
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

/// Halves rows along the widest axis while a part has more than `block`, and both halves have records for several groups.
fn halve(
    space: &Space<'_>,
    data: &Dataset,
    mut rows: Vec<u32>,
    block: usize,
    least: u64,
    blocks: &mut Vec<Vec<u32>>,
) {
    let enough = |rows: &[u32]| rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>() >= 3 * least;
    if rows.len() > block.max(1) {
        let length = |axis: usize| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            rows.iter().map(|&row| space.place(row)[axis]).for_each(|x| (lo, hi) = (lo.min(x), hi.max(x)));
            space.length(axis, lo, hi)
        };
        let lengths: Vec<f64> = (0..space.width()).map(length).collect();
        let widest = (0..space.width()).max_by(|&a, &b| lengths[a].total_cmp(&lengths[b]).then(b.cmp(&a)));
        let (axis, middle) = (widest.unwrap_or(0), rows.len() / 2);
        rows.select_nth_unstable_by(middle, |&a, &b| {
            space.place(a)[axis].total_cmp(&space.place(b)[axis]).then(a.cmp(&b))
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
    let mut left = Left::new(space, data, rows, whole_rows);
    let mut groups = Vec::new();
    let mut told = left.sum;
    let mut tell = |left: &Left<'_, '_>| {
        progress.advance(told - left.sum);
        told = left.sum;
    };
    match size {
        Size::Fixed => {
            while left.sum >= 3 * least {
                let Some(far) = left.tree.farthest(&left.middle()) else { break };
                groups.push(left.around(far, least));
                if left.sum >= 2 * least
                    && let Some(opposite) = left.tree.farthest(space.place(far))
                {
                    groups.push(left.around(opposite, least));
                }
                tell(&left);
            }
            if left.sum >= 2 * least
                && let Some(far) = left.tree.farthest(&left.middle())
            {
                groups.push(left.around(far, least));
            }
        }
        Size::Variable { gain } => {
            let middle = left.middle();
            while left.sum >= least
                && let Some(far) = left.tree.farthest(&middle)
            {
                let mut group = left.around(far, least);
                extend(&mut left, &mut group, least, gain);
                groups.push(group);
                tell(&left);
            }
        }
    }
    let rest = left.rest();
    tell(&left);
    if rest.iter().map(|row| row.1).sum::<u64>() >= least || groups.is_empty() {
        groups.extend((!rest.is_empty()).then_some(rest));
    } else {
        join_nearest(space, &mut groups, rest);
    }
    groups
}

/// Lets rows join a group that are nearer to it than to any other row.
fn extend(left: &mut Left<'_, '_>, group: &mut Members, least: u64, gain: f64) {
    let space = left.space;
    while left.tree.len() > 1 {
        let size: u64 = group.iter().map(|row| row.1).sum();
        let nearest = |&(row, _): &(u32, u64)| {
            let near = *left.tree.nearest(space.place(row), 1, |_| 1).first()?;
            Some((space.distance(space.place(row), space.place(near)), near))
        };
        let found = group.iter().filter_map(nearest).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((near, row)) = found else { return };
        let own = left.records[row as usize];
        if own != 1 || size + own >= 2 * least {
            // Records of the same row are no distance away from each other.
            return;
        }
        let place = space.place(row);
        let others = left.tree.nearest(place, 2, |_| 1);
        let Some(&other) = others.iter().find(|&&other| other != row) else { return };
        if near.sqrt() >= gain * space.distance(place, space.place(other)).sqrt() {
            return;
        }
        group.push((row, own));
        left.take(row, own);
    }
}

/// The few rows that are left go to the groups whose middles are nearest.
fn join_nearest(space: &Space<'_>, groups: &mut [Members], rest: Members) {
    let middles: Vec<Vec<f64>> = groups.iter().map(|group| space.middle(group)).collect();
    for (row, records) in rest {
        let apart = |group: &usize| space.distance(space.place(row), &middles[*group]);
        let nearest = (0..groups.len()).min_by(|a, b| apart(a).total_cmp(&apart(b)));
        if let Some(group) = nearest {
            groups[group].push((row, records));
        }
    }
}
