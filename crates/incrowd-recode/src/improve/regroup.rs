//! Neighbouring groups are put together and grouped anew, from the outside inwards; what comes out is kept where it costs less.
//!
//! The idea is the greedy k-member clustering of `byun2007`: a group begins with the row that is farthest from the one before, and
//! takes the row that makes it least dearer until the models admit it. What is left over in the end joins the group that takes
//! it for least.

use super::LEAST_GAIN;
use super::check::ModelCheck;
use super::movable::MovableGroup;
use super::shape::Shapes;

/// Groups are put together until they have so many rows.
const ROWS: usize = 512;

/// A group for which so many rows were not enough is given up.
const MOST_ROWS: usize = 256;

/// The groups, those grouped anew that cost less then.
pub(super) fn regroup<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    groups: Vec<Vec<u32>>,
    looks: &mut u64,
) -> Vec<Vec<u32>> {
    let mut all = Vec::with_capacity(groups.len());
    let (mut pool, mut rows): (Vec<Vec<u32>>, usize) = (Vec::new(), 0);
    let mut flush = |pool: Vec<Vec<u32>>, looks: &mut u64| all.extend(anew(check, shapes, pool, looks));
    for group in groups {
        if rows > 0 && rows + group.len() > ROWS {
            flush(std::mem::take(&mut pool), looks);
            rows = 0;
        }
        rows += group.len();
        pool.push(group);
    }
    flush(pool, looks);
    all
}

/// These groups, or others of the same rows if those cost less.
fn anew<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    groups: Vec<Vec<u32>>,
    looks: &mut u64,
) -> Vec<Vec<u32>> {
    let rows = groups.iter().map(Vec::len).sum::<usize>();
    if groups.len() < 2 || rows > ROWS {
        return groups;
    }
    let price = |rows: &Vec<u32>| {
        let records: u64 = rows.iter().map(|&row| check.data.weight(row as usize)).sum();
        shapes.price(&shapes.of(rows.iter().copied())) * records as f32
    };
    let have: f32 = groups.iter().map(price).sum();
    if have <= LEAST_GAIN {
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
    while !rows.is_empty() {
        *looks += rows.len() as u64;
        let far = |row: u32| shapes.price_with(&last, row, f32::INFINITY).unwrap_or(0.0);
        let mut seed = (0, -1.0);
        for (at, &row) in rows.iter().enumerate() {
            let far = far(row);
            if far > seed.1 {
                seed = (at, far);
            }
        }
        let row = rows.swap_remove(seed.0);
        let mut group = MovableGroup::new(check, shapes, vec![row]);
        while !group.is_admitted(check) {
            if rows.is_empty() || group.rows.len() >= MOST_ROWS {
                break;
            }
            *looks += rows.len() as u64;
            let picky = group.records() >= check.least;
            let at = next(check, shapes, &group, &rows, picky).or_else(|| {
                next(check, shapes, &group, &rows, false)
            });
            let Some(at) = at else { break };
            let row = rows.swap_remove(at);
            group.push(check, shapes, row);
        }
        last.clone_from(&group.shape);
        if group.is_admitted(check) {
            cost += group.cost();
            if cost >= limit {
                return None;
            }
            groups.push(group);
        } else {
            rest.append(&mut group.rows);
        }
    }
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

/// Where the row is that makes the group least dear; with `picky` of those with which the models admit it.
fn next<'a>(
    check: &ModelCheck<'a>,
    shapes: &Shapes<'_>,
    group: &MovableGroup<'a>,
    rows: &[u32],
    picky: bool,
) -> Option<usize> {
    let mut best: Option<(f32, usize)> = None;
    for (at, &row) in rows.iter().enumerate() {
        let most = best.map_or(f32::INFINITY, |best| best.0);
        if let Some(price) = shapes.price_with(&group.shape, row, most)
            && price < most
            && (!picky || group.takes(check, row))
        {
            best = Some((price, at));
        }
    }
    best.map(|best| best.1)
}
