//! Classes of rows at the levels of a few columns.
//!
//! The columns are divided into blocks. The classes at a combination of levels of all columns are
//! the combinations of two or three classes of blocks. A row whose class in one block is too small
//! has too small a class in all columns, so it is skipped.

use std::ops::Range;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::levels::PricedLevels;
use crate::improve::ModelCheck;

/// The row's class is too small or lacks required values.
pub(super) const NO_CLASS: u32 = u32::MAX;

/// The greatest size of all classes in bytes.
const MAX_BYTES: usize = 256 << 20;

/// Classes are counted again when less than this share of the rows remains.
const STALE: f64 = 0.3;

/// A few adjacent columns.
#[derive(Debug)]
struct Block {
    columns: Range<usize>,
    /// The classes by combination of the columns' levels, once they are needed.
    classes: Vec<Option<BlockClasses>>,
}

/// The classes of rows at one combination of a block's levels.
#[derive(Debug)]
pub(super) struct BlockClasses {
    /// By row; [`NO_CLASS`] if its class is too small or lacks required values.
    pub(super) classes: Vec<u32>,
    /// The number of classes.
    pub(super) count: u64,
    /// The rows whose class is large enough, in order.
    pub(super) large_class_rows: Vec<u32>,
    /// The number of rows that were counted.
    rows: usize,
}

/// All columns, divided into blocks.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    column_levels: &'a [PricedLevels],
    blocks: Vec<Block>,
}

/// Divides the columns into `count` blocks with about equal numbers of combinations of levels.
pub(super) fn column_blocks(column_levels: &[PricedLevels], count: usize) -> Vec<Range<usize>> {
    let levels: Vec<f64> = column_levels.iter().map(|s| (s.terms.len() as f64).ln()).collect();
    let share = levels.iter().sum::<f64>() / count as f64;
    let (mut blocks, mut start, mut sum): (Vec<Range<usize>>, usize, f64) = Default::default();
    for (column, ln) in levels.iter().enumerate() {
        sum += ln;
        if sum >= share * (blocks.len() + 1) as f64 - 1e-9 || column + 1 == column_levels.len() {
            blocks.push(start..column + 1);
            start = column + 1;
        }
    }
    blocks
}

impl<'a> Blocks<'a> {
    pub(super) fn new(column_levels: &'a [PricedLevels], rows: usize) -> Blocks<'a> {
        let blocks_of = |count: usize| -> Vec<Block> {
            let block = |columns: Range<usize>| {
                let nodes = column_levels[columns.clone()].iter().map(|s| s.terms.len()).product();
                Block { columns, classes: (0..nodes).map(|_| None).collect() }
            };
            column_blocks(column_levels, count).into_iter().map(block).collect()
        };
        let bytes =
            |blocks: &[Block]| blocks.iter().map(|b| b.classes.len()).sum::<usize>() * rows * 8;
        let mut blocks = blocks_of(2);
        for count in 3..=column_levels.len() {
            if bytes(&blocks) <= MAX_BYTES {
                break;
            }
            blocks = blocks_of(count);
        }
        Blocks { column_levels, blocks }
    }

    /// Returns the index of a combination of levels within each block.
    fn block_nodes(&self, node: &[u8]) -> Vec<usize> {
        let index = |block: &Block| {
            let levels = |c: usize| self.column_levels[c].terms.len();
            block.columns.clone().fold(0, |index, c| index * levels(c) + usize::from(node[c]))
        };
        self.blocks.iter().map(index).collect()
    }

    /// Computes the classes of these combinations that are missing or stale.
    pub(super) fn prepare(&mut self, check: &ModelCheck<'_>, nodes: &[Vec<u8>], rest: &[u32]) {
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for node in nodes {
            for (block, index) in self.block_nodes(node).into_iter().enumerate() {
                let old = &self.blocks[block].classes[index];
                if old.as_ref().is_none_or(|old| (rest.len() as f64) < STALE * old.rows as f64) {
                    wanted.push((block, index));
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let made: Vec<BlockClasses> = wanted
            .par_iter()
            .map(|&(block, index)| self.count(check, block, index, rest))
            .collect();
        for ((block, index), made) in wanted.into_iter().zip(made) {
            self.blocks[block].classes[index] = Some(made);
        }
    }

    fn count(
        &self,
        check: &ModelCheck<'_>,
        block: usize,
        index: usize,
        rest: &[u32],
    ) -> BlockClasses {
        let columns = self.blocks[block].columns.clone();
        let mut level = index;
        let mut terms: Vec<&[u64]> = Vec::with_capacity(columns.len());
        for column in columns.clone().rev() {
            let levels = &self.column_levels[column].terms;
            terms.push(&levels[level % levels.len()]);
            level /= levels.len();
        }
        terms.reverse();
        let key = |row: u32| {
            let codes = &check.data.quasi_codes(row as usize)[columns.clone()];
            codes
                .iter()
                .zip(&terms)
                .fold(0u64, |key, (&code, terms)| key.wrapping_add(terms[code as usize]))
        };
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut classes = vec![NO_CLASS; check.data.rows()];
        let words = check.presence_words();
        let (mut records, mut values): (Vec<u64>, Vec<u64>) = Default::default();
        for &row in rest {
            let next = records.len() as u32;
            let class = *known.entry(key(row)).or_insert(next);
            if class == next {
                records.push(0);
                values.resize(records.len() * words, 0);
            }
            let at = class as usize;
            records[at] += check.data.weight(row as usize);
            check.add_values(&mut values[at * words..(at + 1) * words], row);
            classes[row as usize] = class;
        }
        let mut count = 0;
        let renamed: Vec<u32> = records
            .iter()
            .enumerate()
            .map(|(class, &records)| {
                let large = records >= check.min_records
                    && check.has_required_values(&values[class * words..(class + 1) * words]);
                count += u32::from(large);
                if large { count - 1 } else { NO_CLASS }
            })
            .collect();
        let mut large_class_rows = Vec::new();
        for &row in rest {
            let class = &mut classes[row as usize];
            *class = renamed[*class as usize];
            if *class != NO_CLASS {
                large_class_rows.push(row);
            }
        }
        BlockClasses { classes, count: u64::from(count), large_class_rows, rows: rest.len() }
    }

    /// Returns the classes of each block at a combination of levels that was prepared.
    pub(super) fn at(&self, node: &[u8]) -> Vec<&BlockClasses> {
        let nodes = self.blocks.iter().zip(self.block_nodes(node));
        nodes.filter_map(|(block, index)| block.classes[index].as_ref()).collect()
    }
}
