//! True counts: how many records of the original each query selects.

use rayon::prelude::*;

use super::super::comparison::{Comparison, Line};
use super::workload::{Query, Side};

/// Rows that are asked all queries before the next rows are fetched: their codes then stay in the nearest cache.
const BLOCK: usize = 4096;

/// The true count of each query.
pub(super) fn counts(comparison: &Comparison, queries: &[Query]) -> Vec<u64> {
    let ranges: Vec<Vec<(usize, u32, u32)>> = queries
        .iter()
        .map(|query| query.sides.iter().map(|&(at, side)| range(&comparison.lines[at], at, side)).collect())
        .collect();
    let meant: Vec<Option<(usize, Vec<u32>)>> = queries
        .iter()
        .map(|query| {
            query.values.as_ref().map(|(at, meant)| (*at, meant.iter().copied().map(mask).collect()))
        })
        .collect();
    let rows = comparison.weights.len();
    let blocks = (0..rows.div_ceil(BLOCK)).into_par_iter();
    let of_block = |mut sums: Vec<u64>, block: usize| {
        let block = block * BLOCK..((block + 1) * BLOCK).min(rows);
        let weights = &comparison.weights[block.clone()];
        let mut selected = vec![0u32; weights.len()];
        for ((ranges, meant), sum) in ranges.iter().zip(&meant).zip(&mut sums) {
            selected.fill(u32::MAX);
            for &(at, first, count) in ranges {
                let leaves = &comparison.leaves[at][block.clone()];
                for (selected, leaf) in selected.iter_mut().zip(leaves) {
                    *selected &= mask(leaf.wrapping_sub(first) < count);
                }
            }
            if let Some((at, meant)) = meant {
                let leaves = &comparison.leaves[*at][block.clone()];
                for (selected, leaf) in selected.iter_mut().zip(leaves) {
                    *selected &= meant[*leaf as usize];
                }
            }
            *sum += selected.iter().zip(weights).map(|(&s, w)| w & widened(s)).sum::<u64>();
        }
        sums
    };
    let add = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    blocks.fold(|| vec![0; queries.len()], of_block).reduce(|| vec![0; queries.len()], add)
}

/// All bits or none: without a branch, many rows are compared at once.
fn mask(selected: bool) -> u32 {
    u32::from(selected).wrapping_neg()
}

fn widened(mask: u32) -> u64 {
    u64::from(mask & 1).wrapping_neg()
}

/// The first leaf of a side and how many leaves it has.
fn range(line: &Line, at: usize, side: Side) -> (usize, u32, u32) {
    match (side, &line.numbers) {
        (Side::Between(lo, hi), Some(numbers)) => {
            let first = numbers.partition_point(|x| *x < lo) as u32;
            let after = numbers.partition_point(|x| *x <= hi) as u32;
            (at, first, after.saturating_sub(first))
        }
        (Side::Leaves(first, last), _) => (at, first, last - first + 1),
        (Side::Between(..), None) => (at, 0, 0),
    }
}
