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
    fn new(space: &'s Space<'a>, data: &Dataset, whole_rows: bool) -> Left<'s, 'a> {
        let records: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
        let counts = (0..space.width()).map(|axis| match space.is_number(axis) {
            true => Vec::new(),
            false => data.leaf_counts(axis),
        });
        let mut left = Left {
            space,
            tree: Tree::new(space, data.rows()),
            sum: data.records(),
            records,
            sums: Vec::new(),
            counts: counts.collect(),
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

/// Groups of at least `least` records, unless the table has fewer.
pub(super) fn gather(
    space: &Space<'_>,
    data: &Dataset,
    least: u64,
    size: Size,
    whole_rows: bool,
    progress: &dyn Progress,
) -> Vec<Members> {
    let mut left = Left::new(space, data, whole_rows);
    let mut groups = Vec::new();
    let mut told = data.records();
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
