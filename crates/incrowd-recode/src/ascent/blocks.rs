//! The classes of rows at the levels of a few columns at a time, so that a combination of levels of all columns is put together
//! from two or three parts, and rows that cannot have company in one part are not looked at in the whole.

use std::ops::Range;

use rayon::prelude::*;

use super::levels::PricedLevels;
use crate::improve::ModelCheck;

/// A row without company in a part has none in the whole.
pub(super) const ALONE: u32 = u32::MAX;

/// The classes may take this many bytes.
const MOST_BYTES: usize = 256 << 20;

/// Classes are counted again when so much of the rows is left that they were counted for.
const STALE: f64 = 0.3;

/// A few columns that stand side by side.
#[derive(Debug)]
struct Block {
    columns: Range<usize>,
    /// By combination of the columns' levels.
    parts: Vec<Option<Part>>,
}

/// The rows' classes at one combination of a block's levels.
#[derive(Debug)]
pub(super) struct Part {
    /// By row; [`ALONE`] if its class is too small or lacks values.
    pub(super) classes: Vec<u32>,
    /// How many classes there are.
    pub(super) count: u64,
    /// The rows whose class is large enough, in order.
    pub(super) crowded: Vec<u32>,
    /// For how many rows they were counted.
    rows: usize,
}

/// All columns, in blocks.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    column_levels: &'a [PricedLevels],
    blocks: Vec<Block>,
}

/// The columns in blocks, as even as can be by the number of combinations of levels.
pub(super) fn divided(column_levels: &[PricedLevels], count: usize) -> Vec<Range<usize>> {
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
                let parts = column_levels[columns.clone()].iter().map(|s| s.terms.len()).product();
                Block { columns, parts: (0..parts).map(|_| None).collect() }
            };
            divided(column_levels, count).into_iter().map(block).collect()
        };
        let bytes = |blocks: &[Block]| blocks.iter().map(|b| b.parts.len()).sum::<usize>() * rows * 8;
        let mut blocks = blocks_of(2);
        for count in 3..=column_levels.len() {
            if bytes(&blocks) <= MOST_BYTES {
                break;
            }
            blocks = blocks_of(count);
        }
        Blocks { column_levels, blocks }
    }

    /// Which part of each block a combination of levels consists of.
    fn parts_of(&self, node: &[u8]) -> Vec<usize> {
        let part = |block: &Block| {
            block
                .columns
                .clone()
                .fold(0, |part, c| part * self.column_levels[c].terms.len() + usize::from(node[c]))
        };
        self.blocks.iter().map(part).collect()
    }

    /// Makes sure that the parts of these combinations are there and not stale.
    pub(super) fn prepare(&mut self, check: &ModelCheck<'_>, nodes: &[Vec<u8>], rest: &[u32]) {
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for node in nodes {
            for (block, part) in self.parts_of(node).into_iter().enumerate() {
                let old = &self.blocks[block].parts[part];
                if old.as_ref().is_none_or(|old| (rest.len() as f64) < STALE * old.rows as f64) {
                    wanted.push((block, part));
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let made: Vec<Part> =
            wanted.par_iter().map(|&(block, part)| self.count(check, block, part, rest)).collect();
        for ((block, part), made) in wanted.into_iter().zip(made) {
            self.blocks[block].parts[part] = Some(made);
        }
    }

    fn count(&self, check: &ModelCheck<'_>, block: usize, part: usize, rest: &[u32]) -> Part {
        let columns = self.blocks[block].columns.clone();
        let mut level = part;
        let mut terms: Vec<&[u64]> = Vec::with_capacity(columns.len());
        for column in columns.clone().rev() {
            let levels = &self.column_levels[column].terms;
            terms.push(&levels[level % levels.len()]);
            level /= levels.len();
        }
        terms.reverse();
        let key = |row: u32| {
            let codes = &check.data.quasi_codes(row as usize)[columns.clone()];
            codes.iter().zip(&terms).fold(0u64, |key, (&code, terms)| key.wrapping_add(terms[code as usize]))
        };
        let mut known = Numbered::new();
        let mut classes = vec![ALONE; check.data.rows()];
        let seen = check.presences();
        let (mut records, mut values): (Vec<u64>, Vec<u64>) = Default::default();
        for &row in rest {
            let next = records.len() as u32;
            let class = known.number(key(row));
            if class == next {
                records.push(0);
                values.resize(records.len() * seen, 0);
            }
            let at = class as usize;
            records[at] += check.data.weight(row as usize);
            check.see_values(&mut values[at * seen..(at + 1) * seen], row);
            classes[row as usize] = class;
        }
        let mut count = 0;
        let renamed: Vec<u32> = records
            .iter()
            .enumerate()
            .map(|(class, &records)| {
                let large =
                    records >= check.least && check.has_values(&values[class * seen..(class + 1) * seen]);
                count += u32::from(large);
                if large { count - 1 } else { ALONE }
            })
            .collect();
        let mut crowded = Vec::new();
        for &row in rest {
            let class = &mut classes[row as usize];
            *class = renamed[*class as usize];
            if *class != ALONE {
                crowded.push(row);
            }
        }
        Part { classes, count: u64::from(count), crowded, rows: rest.len() }
    }

    /// The parts of a combination of levels that was prepared.
    pub(super) fn parts(&self, node: &[u8]) -> Vec<&Part> {
        let parts = self.parts_of(node);
        self.blocks.iter().zip(parts).filter_map(|(block, part)| block.parts[part].as_ref()).collect()
    }
}

/// Numbers keys, which are mixed already, in the order in which they come.
#[derive(Debug)]
pub(super) struct Numbered {
    /// Each key with its number, at the first free place from the one its last bits say.
    places: Vec<(u64, u32)>,
    count: u32,
}

impl Numbered {
    pub(super) fn new() -> Numbered {
        Numbered { places: vec![(0, ALONE); 1 << 10], count: 0 }
    }

    /// The number of a key.
    pub(super) fn number(&mut self, key: u64) -> u32 {
        let at = self.place(key);
        if self.places[at].1 != ALONE {
            return self.places[at].1;
        }
        self.places[at] = (key, self.count);
        self.count += 1;
        if self.count as usize > self.places.len() / 2 {
            let more = vec![(0, ALONE); 4 * self.places.len()];
            for known in std::mem::replace(&mut self.places, more) {
                if known.1 != ALONE {
                    let at = self.place(known.0);
                    self.places[at] = known;
                }
            }
        }
        self.count - 1
    }

    fn place(&self, key: u64) -> usize {
        let last = self.places.len() - 1;
        let mut at = key as usize & last;
        while self.places[at].1 != ALONE && self.places[at].0 != key {
            at = (at + 1) & last;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Also where many keys end in the same bits, and where the places are too few at first.
        #[test]
        fn keys_are_numbered_in_the_order_in_which_they_come(
            keys in prop::collection::vec((0u64..1500, 0u32..2), 0..3000),
        ) {
            let (mut numbered, mut known) = (Numbered::new(), Vec::new());
            for (key, shift) in keys {
                let key = key << (9 * shift);
                let number = known.iter().position(|other| *other == key).unwrap_or(known.len());
                if number == known.len() {
                    known.push(key);
                }
                prop_assert_eq!(numbered.number(key), number as u32);
            }
        }
    }
}
