//! Bit-packed rows.
//!
//! Most columns of a table about people have few distinct values, so the codes of a whole row often
//! fit into 64 bits. Integers are sorted and counted faster than slices of codes.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::folded::Folded;

/// The bit layout of a packed row. Packed rows compare like the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Bits per column, first column in the highest bits.
    bits: Vec<u32>,
}

impl Layout {
    /// The layout for columns with these highest codes, if it fits into 64 bits.
    pub fn new(highest: &[u32]) -> Option<Layout> {
        Layout { bits: highest.iter().map(|code| u32::BITS - code.leading_zeros()).collect() }
            .fitting()
    }

    /// The layout of `width` columns in which only code 0 occurs.
    pub fn empty(width: usize) -> Layout {
        Layout { bits: vec![0; width] }
    }

    fn fitting(self) -> Option<Layout> {
        (self.total() <= u64::BITS).then_some(self)
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.bits.len()
    }

    /// The number of bits of a row.
    pub fn total(&self) -> u32 {
        self.bits.iter().sum()
    }

    /// Whether codes up to these fit.
    pub fn holds(&self, highest: &[u32]) -> bool {
        highest.iter().zip(&self.bits).all(|(code, bits)| u32::BITS - code.leading_zeros() <= *bits)
    }

    /// The layout that holds the rows of both, if it fits into 64 bits.
    pub fn with(&self, other: &Layout) -> Option<Layout> {
        Layout { bits: self.bits.iter().zip(&other.bits).map(|(a, b)| *a.max(b)).collect() }
            .fitting()
    }

    /// Packs a row.
    #[inline]
    pub fn pack(&self, codes: &[u32]) -> u64 {
        codes.iter().zip(&self.bits).fold(0, |key, (&code, &bits)| key << bits | u64::from(code))
    }

    /// Unpacks a row.
    #[inline]
    pub fn unpack(&self, mut key: u64, codes: &mut [u32]) {
        for (code, &bits) in codes.iter_mut().zip(&self.bits).rev() {
            *code = (key & !(!0 << bits)) as u32;
            key >>= bits;
        }
    }

    /// The shift and the mask of each column: its code is `key >> shift & mask`.
    pub fn places(&self) -> Vec<(u32, u64)> {
        let mut after = self.total();
        let place = |&bits: &u32| {
            after -= bits;
            // A shift by 64 would overflow. It occurs only for a column without bits, whose mask is
            // 0.
            (after.min(u64::BITS - 1), !(!0u64 << bits))
        };
        self.bits.iter().map(place).collect()
    }
}

/// Bit-packed rows. Rows may repeat.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedRows {
    /// The bit layout.
    pub layout: Layout,
    /// Blocks of packed rows and their record counts. Empty counts mean one record per row.
    pub parts: Vec<(Vec<u64>, Vec<u64>)>,
}

crate::opaque_debug!(PackedRows { rows: |rows| rows.rows() });

/// Number of rows per parallel task.
const BLOCK: usize = 1 << 16;

impl PackedRows {
    /// The number of rows, repetitions included.
    pub fn rows(&self) -> usize {
        self.parts.iter().map(|(keys, _)| keys.len()).sum()
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        let records = |(keys, counts): &(Vec<u64>, Vec<u64>)| match counts.is_empty() {
            true => keys.len() as u64,
            false => counts.iter().sum(),
        };
        self.parts.iter().map(records).sum()
    }

    /// Splits the rows and their counts into blocks.
    fn blocks(&self) -> Vec<(&[u64], &[u64])> {
        let mut blocks = Vec::new();
        for (keys, counts) in &self.parts {
            // Empty counts mean one record per row.
            let counts = counts.chunks(BLOCK).chain(std::iter::repeat(&[][..]));
            blocks.extend(keys.chunks(BLOCK).zip(counts));
        }
        blocks
    }

    /// The number of records per code, by column. `sizes` holds the number of codes per column.
    pub(crate) fn counts(&self, sizes: &[usize]) -> Vec<Vec<u64>> {
        let none = || sizes.iter().map(|&size| vec![0u64; size]).collect::<Vec<Vec<u64>>>();
        let places = self.layout.places();
        let count = |blocks: &[(&[u64], &[u64])]| {
            let mut sums = none();
            for (keys, counts) in blocks {
                for (at, &key) in keys.iter().enumerate() {
                    let records = counts.get(at).copied().unwrap_or(1);
                    for (sums, &(shift, mask)) in sums.iter_mut().zip(&places) {
                        sums[(key >> shift & mask) as usize] += records;
                    }
                }
            }
            sums
        };
        let add = |mut sums: Vec<Vec<u64>>, more: Vec<Vec<u64>>| {
            for (sums, more) in sums.iter_mut().zip(more) {
                sums.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
            }
            sums
        };
        // One chunk per thread, because every task allocates all counts.
        let blocks = self.blocks();
        let share = blocks.len().div_ceil(rayon::current_num_threads()).max(1);
        blocks.par_chunks(share).map(count).reduce_with(add).unwrap_or_else(none)
    }

    /// Replaces the codes, sorts the rows and merges equal ones. Returns their codes, row by row,
    /// and their record counts. `maps` holds the new code of each code, `highest` the highest new
    /// code, by column. Returns `None` if the new codes do not fit.
    pub(crate) fn recoded(
        &self,
        maps: &[Vec<u32>],
        highest: &[u32],
    ) -> Option<(Vec<u32>, Vec<u64>)> {
        let layout = Layout::new(highest)?;
        let most = self.parts.iter().flat_map(|(_, counts)| counts).copied().max().unwrap_or(1);
        let bits = u64::BITS - most.leading_zeros();
        let places: Vec<_> =
            self.layout.places().into_iter().zip(layout.places()).zip(maps).collect();
        let recode = |key: u64| {
            places.iter().fold(0, |own, (((shift, mask), (to, _)), map)| {
                own | u64::from(map[(key >> shift & mask) as usize]) << to
            })
        };
        // If a row and its count fit into 64 bits together, half as many bytes are sorted.
        Some(match layout.total() + bits <= u64::BITS {
            true => self.recoded_as::<u64>(recode, &layout, bits),
            false => self.recoded_as::<u128>(recode, &layout, u64::BITS),
        })
    }

    fn recoded_as<N: CountedKey>(
        &self,
        recode: impl Fn(u64) -> u64 + Sync,
        layout: &Layout,
        bits: u32,
    ) -> (Vec<u32>, Vec<u64>) {
        let mut all = vec![N::default(); self.rows()];
        let mut rest = all.as_mut_slice();
        for (keys, counts) in &self.parts {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(keys.len());
            rest = after;
            own.par_chunks_mut(BLOCK).zip(keys.par_chunks(BLOCK)).enumerate().for_each(
                |(block, (own, keys))| {
                    let counts = counts.get(block * BLOCK..).unwrap_or_default();
                    for (at, (own, &key)) in own.iter_mut().zip(keys).enumerate() {
                        *own = N::new(recode(key), counts.get(at).copied().unwrap_or(1), bits);
                    }
                },
            );
        }
        merge_equal(&sorted(all, bits), layout, bits)
    }

    /// The rows as plain codes, sorted, each once.
    #[must_use]
    pub fn unpacked(&self) -> (Vec<u32>, Vec<u64>) {
        self.recoded_as::<u128>(|key| key, &self.layout, u64::BITS)
    }
}

/// Sorts rows. Returns sorted pieces; equal rows are in one piece. Every thread sorts a share, then
/// merges one range of keys from all shares.
fn sorted<N: CountedKey>(mut all: Vec<N>, bits: u32) -> Vec<Vec<N>> {
    let threads = rayon::current_num_threads();
    let share = all.len().div_ceil(threads).max(BLOCK);
    all.par_chunks_mut(share).for_each(<[N]>::sort_unstable);
    let shares: Vec<&[N]> = all.chunks(share).collect();
    let [first, others @ ..] = &shares[..] else { return Vec::new() };
    if others.is_empty() {
        return vec![all];
    }
    let pieces = PIECES * threads;
    let mut cuts: Vec<u64> =
        (1..pieces).map(|piece| first[first.len() * piece / pieces].key(bits)).collect();
    cuts.dedup();
    let places = |own: &&[N]| -> Vec<usize> {
        let inner = cuts.iter().map(|&cut| own.partition_point(|row| row.key(bits) < cut));
        std::iter::once(0).chain(inner).chain([own.len()]).collect()
    };
    let places: Vec<Vec<usize>> = shares.iter().map(places).collect();
    let merge = |piece: usize| {
        let parts = shares.iter().zip(&places).map(|(own, at)| &own[at[piece]..at[piece + 1]]);
        merged(&parts.collect::<Vec<_>>())
    };
    (0..=cuts.len()).into_par_iter().map(merge).collect()
}

/// Pieces per thread; more than one, to balance the load.
const PIECES: usize = 8;

/// Merges sorted slices, recursively by halves.
fn merged<N: CountedKey>(parts: &[&[N]]) -> Vec<N> {
    let (front, back) = match parts {
        [] => return Vec::new(),
        [one] => return one.to_vec(),
        [a, b] => (Cow::Borrowed(*a), Cow::Borrowed(*b)),
        more => {
            let (front, back) = more.split_at(more.len() / 2);
            (Cow::Owned(merged(front)), Cow::Owned(merged(back)))
        }
    };
    let mut all = Vec::with_capacity(front.len() + back.len());
    let (mut a, mut b) = (0, 0);
    while a < front.len() && b < back.len() {
        // The order is unpredictable, so the loop body has no branches.
        let (own, other) = (front[a], back[b]);
        let first = own <= other;
        all.push(own.min(other));
        a += usize::from(first);
        b += usize::from(!first);
    }
    all.extend_from_slice(&front[a..]);
    all.extend_from_slice(&back[b..]);
    all
}

/// Merges equal rows: returns their codes and record counts. No row is in two pieces.
fn merge_equal<N: CountedKey>(
    pieces: &[Vec<N>],
    layout: &Layout,
    bits: u32,
) -> (Vec<u32>, Vec<u64>) {
    let changes =
        |own: &Vec<N>| own.windows(2).filter(|pair| pair[0].key(bits) != pair[1].key(bits)).count();
    let count = |own: &Vec<N>| changes(own) + usize::from(!own.is_empty());
    let rows: Vec<usize> = pieces.par_iter().map(count).collect();
    let (total, width) = (rows.iter().sum::<usize>(), layout.width());
    let (mut codes, mut counts) = (vec![0; total * width], vec![0; total]);
    let (mut all_codes, mut all_counts) = (&mut codes[..], &mut counts[..]);
    let places = pieces.iter().zip(rows).map(|(own, rows)| {
        let codes = all_codes.split_off_mut(..rows * width).unwrap_or_default();
        (own, codes, all_counts.split_off_mut(..rows).unwrap_or_default())
    });
    let columns = layout.places();
    places.collect::<Vec<_>>().into_par_iter().for_each(|(own, codes, counts)| {
        let mut numbers = own.iter().peekable();
        for (row, count) in codes.chunks_exact_mut(width.max(1)).zip(counts) {
            let Some(first) = numbers.next() else { break };
            let key = first.key(bits);
            *count = first.count(bits);
            while let Some(again) = numbers.next_if(|next| next.key(bits) == key) {
                *count += again.count(bits);
            }
            for (code, (shift, mask)) in row.iter_mut().zip(&columns) {
                *code = (key >> shift & mask) as u32;
            }
        }
    });
    (codes, counts)
}

/// A packed row and its record count in one integer. The count is in the lowest bits.
trait CountedKey: Copy + Ord + Default + Send + Sync {
    fn new(key: u64, count: u64, bits: u32) -> Self;
    fn key(self, bits: u32) -> u64;
    fn count(self, bits: u32) -> u64;
}

impl CountedKey for u64 {
    #[inline]
    fn new(key: u64, count: u64, bits: u32) -> u64 {
        key.unbounded_shl(bits) | count
    }

    #[inline]
    fn key(self, bits: u32) -> u64 {
        self.unbounded_shr(bits)
    }

    #[inline]
    fn count(self, bits: u32) -> u64 {
        self & !u64::MAX.unbounded_shl(bits)
    }
}

impl CountedKey for u128 {
    #[inline]
    fn new(key: u64, count: u64, bits: u32) -> u128 {
        u128::from(key) << bits | u128::from(count)
    }

    #[inline]
    fn key(self, bits: u32) -> u64 {
        (self >> bits) as u64
    }

    #[inline]
    fn count(self, _: u32) -> u64 {
        self as u64
    }
}

impl Folded {
    /// The table with plain rows, each once.
    #[must_use]
    pub fn unpacked(mut self) -> Folded {
        if let Some(rows) = self.packed.take() {
            (self.codes, self.weights) = rows.unpacked();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Compares with a map from rows to counts.
    fn check(parts: Vec<Vec<(Vec<u32>, u64)>>, maps: &[Vec<u32>]) -> Result<(), TestCaseError> {
        let width = maps.len();
        let highest: Vec<u32> = maps.iter().map(|map| map.len() as u32 - 1).collect();
        let layout = Layout::new(&highest).unwrap();
        let mut expected: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        let mut plain: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        let mut counts: Vec<Vec<u64>> = maps.iter().map(|map| vec![0; map.len()]).collect();
        let mut packed = PackedRows { layout: layout.clone(), parts: Vec::new() };
        for (at, part) in parts.iter().enumerate() {
            // Every second part has one record per row.
            let records = |n: u64| if at % 2 == 0 { n } else { 1 };
            for (row, n) in part {
                let other = row.iter().zip(maps).map(|(&code, map)| map[code as usize]).collect();
                *expected.entry(other).or_default() += records(*n);
                *plain.entry(row.clone()).or_default() += records(*n);
                counts
                    .iter_mut()
                    .zip(row)
                    .for_each(|(counts, &code)| counts[code as usize] += records(*n));
            }
            let own = part.iter().map(|(_, n)| *n).filter(|_| at % 2 == 0).collect();
            packed.parts.push((part.iter().map(|(row, _)| layout.pack(row)).collect(), own));
        }
        prop_assert_eq!(packed.records(), expected.values().sum::<u64>());
        let sizes: Vec<usize> = maps.iter().map(Vec::len).collect();
        prop_assert_eq!(packed.counts(&sizes), counts);
        let spelled = |(codes, counts): (Vec<u32>, Vec<u64>)| -> Vec<(Vec<u32>, u64)> {
            codes.chunks_exact(width).map(<[u32]>::to_vec).zip(counts).collect()
        };
        let most: Vec<u32> =
            maps.iter().map(|map| map.iter().copied().max().unwrap_or(0)).collect();
        let made = packed.recoded(maps, &most).unwrap();
        prop_assert_eq!(spelled(made), expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(spelled(packed.unpacked()), plain.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    fn rows() -> impl Strategy<Value = Vec<Vec<(Vec<u32>, u64)>>> {
        let row =
            (prop::collection::vec(0u32..5, 3), prop_oneof![1u64..4, Just(u64::from(u32::MAX))]);
        prop::collection::vec(prop::collection::vec(row, 0..60), 1..5)
    }

    proptest! {
        /// Codes that are merged, codes whose order changes, and columns that become constant.
        #[test]
        fn rows_are_sorted_and_distinct(
            parts in rows(),
            maps in prop::collection::vec(prop::collection::vec(0u32..9, 5), 3),
        ) {
            check(parts, &maps)?;
        }

        /// Rows so wide that the count does not fit into the same 64 bits.
        #[test]
        fn counts_may_need_128_bits(parts in rows(), narrow in 0usize..3) {
            let mut maps = vec![vec![0, u32::MAX, 7, u32::MAX >> 1, 2]; 3];
            maps[narrow] = vec![0; 5];
            check(parts, &maps)?;
        }

        /// Enough rows for several threads, most of them equal.
        #[test]
        fn equal_rows_of_threads_are_merged(codes in prop::collection::vec(0u32..3, 1..50)) {
            let row = |at: usize| (vec![codes[at % codes.len()], at as u32 / 120_000], 1);
            let rows: Vec<(Vec<u32>, u64)> = (0..150_000).map(row).collect();
            check(vec![rows], &[vec![2, 0, 1], vec![1, 0]])?;
        }
    }

    #[test]
    fn codes_that_do_not_fit_are_refused() {
        let layout = Layout::new(&[1, 1, 1]).unwrap();
        let rows = PackedRows { layout, parts: vec![(vec![5], Vec::new())] };
        assert!(
            rows.recoded(&[vec![0, 1], vec![0, 1], vec![0, 1]], &[u32::MAX, u32::MAX, 1]).is_none()
        );
        assert_eq!(rows.unpacked(), (vec![1, 0, 1], vec![1]));
    }
}
