//! The working copy of the table: one flat array of rows that is divided by moving rows, so that every pass over a part
//! reads memory in order. Codes take two bytes where every domain allows it, which halves what has to be moved.

use std::ops::Range;
use std::sync::Arc;

use incrowd_core::Dataset;
use rayon::prelude::*;

/// Rows that one thread copies at a time.
const AT_ONCE: usize = 1 << 14;

/// What rows are made of: codes of two or four bytes.
pub(super) trait Unit: Copy + Ord + Default + Send + Sync {
    const MAX: Self;
    /// How many units a number of 32 bits takes.
    const PER_WORD: usize;
    fn of_code(code: u32) -> Self;
    fn code(self) -> u32;
    fn put_word(word: u32, out: &mut [Self]);
    fn word(units: &[Self]) -> u32;
}

impl Unit for u32 {
    const MAX: u32 = u32::MAX;
    const PER_WORD: usize = 1;

    fn of_code(code: u32) -> u32 {
        code
    }

    fn code(self) -> u32 {
        self
    }

    fn put_word(word: u32, out: &mut [u32]) {
        out[0] = word;
    }

    fn word(units: &[u32]) -> u32 {
        units[0]
    }
}

impl Unit for u16 {
    const MAX: u16 = u16::MAX;
    const PER_WORD: usize = 2;

    fn of_code(code: u32) -> u16 {
        code as u16
    }

    fn code(self) -> u32 {
        u32::from(self)
    }

    fn put_word(word: u32, out: &mut [u16]) {
        out[..2].copy_from_slice(&[word as u16, (word >> 16) as u16]);
    }

    fn word(units: &[u16]) -> u32 {
        u32::from(units[0]) | u32::from(units[1]) << 16
    }
}

/// Whether all codes of the table fit two bytes.
pub(super) fn is_narrow(data: &Dataset) -> bool {
    let fits = |leaves: usize| leaves <= usize::from(u16::MAX);
    data.quasi().iter().all(|q| fits(q.domain.leaves() as usize))
        && data.sensitive().iter().all(|s| fits(s.values.len()))
}

/// Where things stand in a row: `codes…, weight, row id, sensitive codes…`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// How many quasi-identifier codes.
    pub(super) width: usize,
    /// How many units in all.
    pub(super) stride: usize,
}

impl Layout {
    #[inline]
    pub(super) fn weight<U: Unit>(&self, row: &[U]) -> u32 {
        U::word(&row[self.width..])
    }

    #[inline]
    pub(super) fn id<U: Unit>(&self, row: &[U]) -> u32 {
        U::word(&row[self.width + U::PER_WORD..])
    }

    pub(super) fn sensitive<'r, U: Unit>(&self, row: &'r [U]) -> &'r [U] {
        &row[self.width + 2 * U::PER_WORD..]
    }
}

/// The rows and room for moving them.
#[derive(Debug, Default)]
pub(super) struct Space<U> {
    pub(super) rows: Vec<U>,
    /// As long as `rows` where rows are to be moved.
    pub(super) spare: Vec<U>,
    pub(super) layout: Layout,
    /// Which rows of the table are one row here with the row before them.
    pub(super) alike: Alike,
}

/// Rows of a table that have the quasi-identifiers of the row before them, one bit each; no bits if that is said of none.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike(Arc<Vec<u64>>);

impl Alike {
    /// If so few rows are that the others are not worth being laid out apart, none is.
    pub(super) fn of(data: &Dataset) -> Alike {
        let is_alike = |row: usize| row > 0 && data.quasi_codes(row) == data.quasi_codes(row - 1);
        let bits = |word: usize| {
            let rows = 64 * word..data.rows().min(64 * (word + 1));
            rows.enumerate().fold(0, |bits, (at, row)| bits | u64::from(is_alike(row)) << at)
        };
        let bits: Vec<u64> =
            (0..data.rows().div_ceil(64)).into_par_iter().with_min_len(1 << 8).map(bits).collect();
        let alike: usize = bits.iter().map(|bits| bits.count_ones() as usize).sum();
        if alike * FEW < data.rows() { Alike::default() } else { Alike(Arc::new(bits)) }
    }

    #[inline]
    pub(super) fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// How many of these rows are not one with the row before; the first of them has a number that 64 divides.
    pub(super) fn apart(&self, rows: Range<usize>) -> usize {
        let bits = self.0.iter().take(rows.end.div_ceil(64)).skip(rows.start / 64);
        rows.len() - bits.map(|bits| bits.count_ones() as usize).sum::<usize>()
    }

    /// A row, and those after it that are alike.
    #[inline]
    pub(super) fn rows(&self, first: u32) -> Range<u32> {
        let mut end = first as usize + 1;
        // Bit by bit up to the end of a word, then on into the next.
        while let Some(bits) = self.0.get(end / 64) {
            let left = 64 - end % 64;
            let ones = (bits >> (end % 64)).trailing_ones() as usize;
            end += ones.min(left);
            if ones < left {
                break;
            }
        }
        first..end as u32
    }
}

/// Rows are put together if one of so many is alike at least.
const FEW: usize = 16;

impl<U: Unit> Space<U> {
    /// The rows with room to move them in.
    pub(super) fn with_spare(mut self) -> Space<U> {
        self.spare = vec![U::default(); self.rows.len()];
        self
    }

    /// The rows once more, so that they can be divided in another way.
    pub(super) fn copy(&self) -> Space<U> {
        let (rows, spare) = (self.rows.clone(), vec![U::default(); self.rows.len()]);
        Space { rows, spare, layout: self.layout, alike: self.alike.clone() }
    }

    /// Copies the table for divisions that look at nothing but quasi-identifiers and the number of records, and never divide
    /// records that are alike.
    pub(super) fn counted(data: &Dataset) -> Space<U> {
        let alike = Alike::of(data);
        if alike.0.is_empty() {
            return Space::load(data, None, false, false);
        }
        let width = data.quasi().len();
        let stride = width + 2 * U::PER_WORD;
        let blocks: Vec<&[u64]> = alike.0.chunks(AT_ONCE / 64).collect();
        let first = |block: usize| block * AT_ONCE;
        let ones = |bits: &[u64]| bits.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
        let of_block = |block: usize| AT_ONCE.min(data.rows() - first(block)) - ones(blocks[block]);
        let lengths: Vec<usize> = (0..blocks.len()).map(of_block).collect();
        let mut rows = vec![U::default(); lengths.iter().sum::<usize>() * stride];
        let mut rest = rows.as_mut_slice();
        let places: Vec<&mut [U]> =
            lengths.iter().map(|length| rest.split_off_mut(..length * stride).unwrap_or_default()).collect();
        places.into_par_iter().enumerate().for_each(|(block, place)| {
            let own = first(block)..data.rows().min(first(block + 1));
            let starts = own.filter(|&row| !alike.has(row));
            for (row, out) in starts.zip(place.chunks_exact_mut(stride)) {
                let (codes, rest) = out.split_at_mut(width);
                codes.iter_mut().zip(data.quasi_codes(row)).for_each(|(to, &code)| *to = U::of_code(code));
                let records = alike.rows(row as u32).map(|row| data.weight(row as usize));
                put_records(records.fold(0, u64::saturating_add), rest);
                U::put_word(row as u32, &mut rest[U::PER_WORD..]);
            }
        });
        Space { rows, spare: Vec::new(), layout: Layout { width, stride }, alike }
    }

    /// Copies the table, or only some rows of it. With `sensitive` the rows carry their sensitive codes, with `sorted` they
    /// are put in canonical order, which matters where ties are divided.
    pub(super) fn load(data: &Dataset, chosen: Option<&[u32]>, sensitive: bool, sorted: bool) -> Space<U> {
        let width = data.quasi().len();
        let stride = width + 2 * U::PER_WORD + if sensitive { data.sensitive().len() } else { 0 };
        let count = chosen.map_or(data.rows(), <[u32]>::len);
        let mut order: Vec<u32> = Vec::new();
        if sorted {
            order.extend((0..count).map(|i| chosen.map_or(i as u32, |chosen| chosen[i])));
            let key = |&row: &u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
            order.sort_by(|a, b| key(a).cmp(&key(b)));
        }
        let row_at = |i: usize| match (order.get(i), chosen) {
            (Some(&row), _) => row as usize,
            (None, Some(chosen)) => chosen[i] as usize,
            (None, None) => i,
        };
        let mut rows = vec![U::default(); count * stride];
        rows.par_chunks_mut(AT_ONCE * stride).enumerate().for_each(|(chunk, rows)| {
            for (i, out) in rows.chunks_exact_mut(stride).enumerate() {
                let row = row_at(chunk * AT_ONCE + i);
                let (codes, rest) = out.split_at_mut(width);
                codes.iter_mut().zip(data.quasi_codes(row)).for_each(|(to, &code)| *to = U::of_code(code));
                put_records(data.weight(row), rest);
                U::put_word(row as u32, &mut rest[U::PER_WORD..]);
                if sensitive {
                    let own = rest[2 * U::PER_WORD..].iter_mut().zip(data.sensitive_codes(row));
                    own.for_each(|(to, &code)| *to = U::of_code(code));
                }
            }
        });
        Space { rows, spare: Vec::new(), layout: Layout { width, stride }, alike: Alike::default() }
    }
}

/// Nothing is lost by capping: a row of four billion records satisfies what any part of it would.
fn put_records<U: Unit>(records: u64, out: &mut [U]) {
    U::put_word(u32::try_from(records).unwrap_or(u32::MAX), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_followed_bit_by_bit(
            bits in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)], 0..4),
        ) {
            let alike = Alike(Arc::new(bits));
            for first in 0..64 * alike.0.len() as u32 + 2 {
                let slow = std::iter::once(first).chain((first + 1..).take_while(|&row| alike.has(row as usize)));
                prop_assert!(alike.rows(first).eq(slow));
            }
        }
    }
}
