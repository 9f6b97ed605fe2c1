//! The true count of each query: the number of records of the original that it selects.

use rayon::prelude::*;

use super::super::comparison::{Comparison, Line};
use super::workload::{Query, Side};

/// Number of rows that are tested with all queries before the next rows. Their codes then stay in
/// the first-level cache.
const BLOCK: usize = 4096;

/// Returns the true count of each query.
pub(super) fn counts(comparison: &Comparison, queries: &[Query]) -> Vec<u64> {
    let ranges: Vec<Vec<(usize, u32, u32)>> = queries
        .iter()
        .map(|query| {
            query.sides.iter().map(|&(at, side)| range(&comparison.lines[at], at, side)).collect()
        })
        .collect();
    let values: Vec<Option<(usize, Vec<u32>)>> = queries
        .iter()
        .map(|query| {
            query
                .values
                .as_ref()
                .map(|(at, selected)| (*at, selected.iter().copied().map(mask).collect()))
        })
        .collect();
    let rows = comparison.counts.len();
    let blocks = (0..rows.div_ceil(BLOCK)).into_par_iter();
    let of_block = |mut sums: Vec<u64>, block: usize| {
        let block = block * BLOCK..((block + 1) * BLOCK).min(rows);
        let counts = &comparison.counts[block.clone()];
        let mut selected = vec![0u32; counts.len()];
        for ((ranges, values), sum) in ranges.iter().zip(&values).zip(&mut sums) {
            selected.fill(u32::MAX);
            for &(at, first, count) in ranges {
                let leaves = &comparison.leaves[at][block.clone()];
                for (selected, leaf) in selected.iter_mut().zip(leaves) {
                    // One comparison tests both ends: smaller leaves wrap around.
                    *selected &= mask(leaf.wrapping_sub(first) < count);
                }
            }
            if let Some((at, masks)) = values {
                let leaves = &comparison.leaves[*at][block.clone()];
                for (selected, leaf) in selected.iter_mut().zip(leaves) {
                    *selected &= masks[*leaf as usize];
                }
            }
            *sum += selected.iter().zip(counts).map(|(&s, n)| n & widened(s)).sum::<u64>();
        }
        sums
    };
    let add = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    blocks.fold(|| vec![0; queries.len()], of_block).reduce(|| vec![0; queries.len()], add)
}

/// Returns all bits or none. Masks avoid branches, so the compiler can vectorize the loops.
fn mask(selected: bool) -> u32 {
    u32::from(selected).wrapping_neg()
}

fn widened(mask: u32) -> u64 {
    u64::from(mask & 1).wrapping_neg()
}

/// Returns the column, its first leaf in the range and the number of leaves in the range.
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
