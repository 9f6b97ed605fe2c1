//! The treatment of rows that grew into no group.

use incrowd_core::Progress;

use super::growing::{GrowingGroup, GrowthContext};
use super::priced_column::PricedCell;

/// The greatest number of groups that are tried for a row.
const MAX_TRIED: usize = 64;

/// Adds each row to the group with the least increase of the loss and merges further groups until
/// the models admit the union. Returns the rows for which not even the union of all groups is
/// admitted.
pub(super) fn merge(
    context: &GrowthContext<'_>,
    groups: &mut Vec<GrowingGroup>,
    rows: &[u32],
    progress: &dyn Progress,
) -> Vec<u32> {
    let mut removed = Vec::new();
    let cover = |a: &[PricedCell], b: &[PricedCell]| -> Vec<PricedCell> {
        context.columns.iter().zip(a).zip(b).map(|((column, &a), &b)| column.union(a, b)).collect()
    };
    // Merging changes the groups, but not what all of them cover.
    let mut covered: Option<Vec<PricedCell>> = None;
    for group in groups.iter() {
        covered =
            Some(covered.map_or_else(|| group.cells.clone(), |cells| cover(&cells, &group.cells)));
    }
    for &row in rows {
        progress.advance(1);
        let mut union = context.single(row);
        let widest = covered
            .as_ref()
            .map_or_else(|| union.cells.clone(), |cells| cover(cells, &union.cells));
        let mut left: Vec<usize> = (0..groups.len()).collect();
        let mut used: Vec<usize> = Vec::new();
        let admitted = loop {
            // When the cells cannot become wider, a dead corner remains.
            let dead = context.is_dead(&union.cells);
            if dead && union.cells == widest {
                break false;
            }
            let cheapest =
                left.iter().enumerate().map(|(at, &g)| (increase(context, &union, &groups[g]), at));
            let Some((_, at)) = cheapest.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            else {
                break false;
            };
            let group = left.remove(at);
            union = context.merged(&union, &groups[group]);
            used.push(group);
            if !context.is_dead(&union.cells) && context.admits(&union) {
                break true;
            }
        };
        if !admitted {
            removed.push(row);
            continue;
        }
        used.sort_unstable();
        used.iter().rev().for_each(|&group| drop(groups.remove(group)));
        groups.push(union);
        covered = Some(widest);
    }
    removed
}

/// Returns the increase of the loss of all records if two groups are merged.
fn increase(context: &GrowthContext<'_>, a: &GrowingGroup, b: &GrowingGroup) -> f64 {
    let cells = context.columns.iter().zip(&a.cells).zip(&b.cells);
    let loss: f64 = cells.map(|((column, &a), &b)| column.union(a, b).loss).sum();
    let (n, m) = (a.summary.records as f64, b.summary.records as f64);
    loss * (n + m) - a.loss() * n - b.loss() * m
}

/// Adds each row to the cheapest group that is still admitted with it. Returns the rows for which
/// there is none, or for which that costs more than suppression.
pub(super) fn join(
    context: &GrowthContext<'_>,
    groups: &mut [GrowingGroup],
    rows: &[u32],
    progress: &dyn Progress,
) -> Vec<u32> {
    let mut removed = Vec::new();
    let mut losses: Vec<f64> = groups.iter().map(GrowingGroup::loss).collect();
    for &row in rows {
        progress.advance(1);
        let (codes, count) =
            (context.data.quasi_codes(row as usize), context.data.weight(row as usize) as f64);
        let most = context.columns.len() as f64 * count;
        let mut offers: Vec<(f64, usize)> = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let records = group.summary.records as f64;
            // Every further cell adds to the loss, so the sum may stop as soon as it exceeds the
            // limit.
            let limit = (most + losses[at] * records) / (records + count);
            let mut loss = 0.0;
            for ((column, &cell), &code) in context.columns.iter().zip(&group.cells).zip(codes) {
                loss += column.loss_with(cell, code);
                if loss > limit {
                    break;
                }
            }
            if loss <= limit {
                offers.push((loss * (records + count) - losses[at] * records, at));
            }
        }
        let mut found = None;
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if offers.len() > MAX_TRIED {
            offers.select_nth_unstable_by(MAX_TRIED, order);
            offers.truncate(MAX_TRIED);
        }
        offers.sort_by(order);
        for &(_, at) in &offers {
            let cells = context.cells_with(&groups[at].cells, codes);
            if context.admits_with(&groups[at], row, &cells) {
                found = Some(at);
                break;
            }
        }
        match found {
            Some(at) => {
                context.add(&mut groups[at], row);
                losses[at] = groups[at].loss();
            }
            None => removed.push(row),
        }
    }
    removed
}
