//! Neighbouring groups are put together and grouped anew, from the outside inwards; what comes out is kept where it costs less.
//!
//! The idea is the greedy k-member clustering of `byun2007`: a group begins with the row that is farthest from the one before, and
//! takes the row that makes it least dearer until the models admit it. What is left over in the end joins the group that takes
//! it for least.

use super::LEAST_GAIN;
use super::check::ModelCheck;
use super::movable::MovableGroup;
use super::shape::Shapes;

/// Groups that have more rows in the mean are left as they are if models look at more than the number of records.
const MOST_JUDGED: usize = 48;

/// A group for which so many rows were not enough is given up.
const MOST_ROWS: usize = 256;

/// These groups, or others of the same rows if those cost less.
pub(super) fn regroup<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    groups: Vec<Vec<u32>>,
    looks: &mut u64,
) -> Vec<Vec<u32>> {
    let price = |rows: &Vec<u32>| {
        let records: u64 = rows.iter().map(|&row| check.data.weight(row as usize)).sum();
        shapes.price(&shapes.of(rows.iter().copied())) * records as f32
    };
    let have: f32 = groups.iter().map(price).sum();
    let rows = groups.iter().map(Vec::len).sum::<usize>();
    let large = !check.only_counts() && rows > MOST_JUDGED * groups.len();
    if groups.len() < 2 || have <= LEAST_GAIN || large {
        return groups;
    }
    match clustered(check, shapes, groups.concat(), have - LEAST_GAIN, looks) {
        Some(better) => better.into_iter().map(|group| group.rows).collect(),
        None => groups,
    }
}

/// Groups of these rows that cost less than `limit` together.
fn clustered<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    mut rows: Vec<u32>,
    limit: f32,
    looks: &mut u64,
) -> Option<Vec<MovableGroup<'a>>> {
    rows.sort_unstable();
    let mut groups: Vec<MovableGroup<'a>> = Vec::new();
    let mut rest: Vec<u32> = Vec::new();
    let mut cost = 0.0;
    // A corner to begin with: the row that is farthest from the first.
    let mut last = shapes.of(rows.first().copied());
    let mut loose = Loose { at_least: vec![0.0; rows.len()], rows, looks: 0 };
    while !loose.rows.is_empty() {
        let seed = loose.farthest(shapes, &last);
        let mut group = MovableGroup::new(check, shapes, vec![loose.take(seed)]);
        loose.at_least.fill(0.0);
        while !group.is_admitted(check) && group.rows.len() < MOST_ROWS {
            let picky = !check.only_counts() && group.records() >= check.least;
            let at = loose.nearest(check, shapes, &group, picky);
            let at = if picky { at.or_else(|| loose.nearest(check, shapes, &group, false)) } else { at };
            let Some(at) = at else { break };
            group.push(check, shapes, loose.take(at));
        }
        last.clone_from(&group.shape);
        if group.is_admitted(check) {
            cost += group.cost();
            if cost >= limit {
                *looks += loose.looks;
                return None;
            }
            groups.push(group);
        } else {
            rest.append(&mut group.rows);
        }
    }
    *looks += loose.looks;
    for row in rest {
        let weight = check.data.weight(row as usize);
        let mut best: Option<(f32, usize)> = None;
        *looks += groups.len() as u64;
        for (to, group) in groups.iter().enumerate() {
            let most = best.map_or(limit - cost, |best| best.0);
            if let Some(dearer) = group.dearer_with(shapes, row, weight, most)
                && dearer < most
                && group.takes(check, row)
            {
                best = Some((dearer, to));
            }
        }
        let (dearer, to) = best?;
        cost += dearer;
        groups[to].push(check, shapes, row);
    }
    (cost < limit).then_some(groups)
}

/// Rows that are in no group yet.
struct Loose {
    rows: Vec<u32>,
    /// What the group costs at least with each of them. A group only grows, so what it cost before it does still.
    at_least: Vec<f32>,
    looks: u64,
}

impl Loose {
    fn take(&mut self, at: usize) -> u32 {
        self.at_least.swap_remove(at);
        self.rows.swap_remove(at)
    }

    /// The row that is farthest from a group.
    fn farthest(&mut self, shapes: &Shapes<'_>, shape: &[u32]) -> usize {
        self.looks += self.rows.len() as u64;
        let mut best = (-1.0, 0);
        for (at, &row) in self.rows.iter().enumerate() {
            let far = shapes.at_least_with(shape, row, f32::INFINITY);
            if far > best.0 {
                best = (far, at);
            }
        }
        best.1
    }

    /// Where the row is that makes the group least dear; with `picky` of those with which the models admit it.
    fn nearest<'a>(
        &mut self,
        check: &ModelCheck<'a>,
        shapes: &Shapes<'_>,
        group: &MovableGroup<'a>,
        picky: bool,
    ) -> Option<usize> {
        let mut best: Option<(f32, usize)> = None;
        for (at, &row) in self.rows.iter().enumerate() {
            let most = best.map_or(f32::INFINITY, |best| best.0);
            if self.at_least[at] >= most {
                continue;
            }
            self.looks += 1;
            let price = shapes.at_least_with(&group.shape, row, most);
            self.at_least[at] = price;
            if price < most && (!picky || group.takes(check, row)) {
                best = Some((price, at));
            }
        }
        best.map(|best| best.1)
    }
}
