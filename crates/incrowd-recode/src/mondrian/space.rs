//! The working copy of the table: one flat array of rows. A division moves rows, so that every pass
//! over a part reads contiguous memory. Codes take two bytes if all domains allow it, which halves
//! the memory traffic.

use std::ops::Range;
use std::sync::Arc;

use incrowd_core::Dataset;
use rayon::prelude::*;

/// The number of rows that one task copies.
const CHUNK_ROWS: usize = 1 << 14;

/// The unit of storage of a row: two or four bytes.
pub(super) trait Unit: Copy + Ord + Default + Send + Sync {
    const MAX: Self;
    /// The number of units of a 32-bit number.
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

/// Returns whether all codes of the table fit into two bytes.
pub(super) fn is_narrow(data: &Dataset) -> bool {
    let fits = |leaves: usize| leaves <= usize::from(u16::MAX);
    data.quasi().iter().all(|q| fits(q.domain.leaves() as usize))
        && data.sensitive().iter().all(|s| fits(s.values.len()))
}

/// The layout of a row: `codes…, count, row id, sensitive codes…`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// The number of quasi-identifiers.
    pub(super) width: usize,
    /// The number of units of a row.
    pub(super) stride: usize,
}

impl Layout {
    #[inline]
    pub(super) fn count<U: Unit>(&self, row: &[U]) -> u32 {
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

/// The rows, and a buffer for moving them.
#[derive(Debug, Default)]
pub(super) struct WorkingRows<U> {
    pub(super) rows: Vec<U>,
    /// Of the same length as `rows` if rows are to be moved, else empty.
    pub(super) spare: Vec<U>,
    pub(super) layout: Layout,
    /// Rows of the table that are merged with the row before them.
    pub(super) alike: Alike,
}

/// A bit per row of a table: whether it has the quasi-identifiers of the row before it. Empty if no
/// rows are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike(Arc<Vec<u64>>);

impl Alike {
    /// Compares all rows. The result is empty if merging would save little.
    fn of(data: &Dataset) -> Alike {
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
    fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// Returns a row and the rows after it that are merged with it.
    #[inline]
    pub(super) fn rows(&self, first: u32) -> Range<u32> {
        let mut end = first as usize + 1;
        // Each step counts the ones up to the end of a 64-bit word.
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

/// Rows are merged if at least one in this many repeats the row before it.
const FEW: usize = 16;

impl<U: Unit> WorkingRows<U> {
    /// Allocates the buffer for moving rows.
    pub(super) fn with_spare(mut self) -> WorkingRows<U> {
        self.spare = vec![U::default(); self.rows.len()];
        self
    }

    /// Copies the rows for another run.
    pub(super) fn copy(&self) -> WorkingRows<U> {
        let (rows, spare) = (self.rows.clone(), vec![U::default(); self.rows.len()]);
        WorkingRows { rows, spare, layout: self.layout, alike: self.alike.clone() }
    }

    /// Copies the table and merges rows with equal quasi-identifiers. For divisions that depend
    /// only on the quasi-identifiers and the number of records.
    pub(super) fn counted(data: &Dataset) -> WorkingRows<U> {
        let alike = Alike::of(data);
        if alike.0.is_empty() {
            return WorkingRows::load(data, None, false, false);
        }
        let width = data.quasi().len();
        let stride = width + 2 * U::PER_WORD;
        let blocks: Vec<&[u64]> = alike.0.chunks(CHUNK_ROWS / 64).collect();
        let first = |block: usize| block * CHUNK_ROWS;
        let ones = |bits: &[u64]| bits.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
        let of_block =
            |block: usize| CHUNK_ROWS.min(data.rows() - first(block)) - ones(blocks[block]);
        let lengths: Vec<usize> = (0..blocks.len()).map(of_block).collect();
        let mut rows = vec![U::default(); lengths.iter().sum::<usize>() * stride];
        let mut rest = rows.as_mut_slice();
        let places: Vec<&mut [U]> = lengths
            .iter()
            .map(|length| rest.split_off_mut(..length * stride).unwrap_or_default())
            .collect();
        places.into_par_iter().enumerate().for_each(|(block, place)| {
            let own = first(block)..data.rows().min(first(block + 1));
            let starts = own.filter(|&row| !alike.has(row));
            for (row, out) in starts.zip(place.chunks_exact_mut(stride)) {
                let (codes, rest) = out.split_at_mut(width);
                codes
                    .iter_mut()
                    .zip(data.quasi_codes(row))
                    .for_each(|(to, &code)| *to = U::of_code(code));
                let records = alike.rows(row as u32).map(|row| data.weight(row as usize));
                put_records(records.fold(0, u64::saturating_add), rest);
                U::put_word(row as u32, &mut rest[U::PER_WORD..]);
            }
        });
        WorkingRows { rows, spare: Vec::new(), layout: Layout { width, stride }, alike }
    }

    /// Copies the table, or only the rows `chosen`. With `sensitive`, the rows contain their
    /// sensitive codes. With `sorted`, they are in canonical order, which matters if ties are
    /// divided.
    pub(super) fn load(
        data: &Dataset,
        chosen: Option<&[u32]>,
        sensitive: bool,
        sorted: bool,
    ) -> WorkingRows<U> {
        let width = data.quasi().len();
        let stride = width + 2 * U::PER_WORD + if sensitive { data.sensitive().len() } else { 0 };
        let count = chosen.map_or(data.rows(), <[u32]>::len);
        let mut order: Vec<u32> = Vec::new();
        if sorted {
            order.extend((0..count).map(|i| chosen.map_or(i as u32, |chosen| chosen[i])));
            let key =
                |&row: &u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
            order.sort_by(|a, b| key(a).cmp(&key(b)));
        }
        let row_at = |i: usize| match (order.get(i), chosen) {
            (Some(&row), _) => row as usize,
            (None, Some(chosen)) => chosen[i] as usize,
            (None, None) => i,
        };
        let mut rows = vec![U::default(); count * stride];
        rows.par_chunks_mut(CHUNK_ROWS * stride).enumerate().for_each(|(chunk, rows)| {
            for (i, out) in rows.chunks_exact_mut(stride).enumerate() {
                let row = row_at(chunk * CHUNK_ROWS + i);
                let (codes, rest) = out.split_at_mut(width);
                codes
                    .iter_mut()
                    .zip(data.quasi_codes(row))
                    .for_each(|(to, &code)| *to = U::of_code(code));
                put_records(data.weight(row), rest);
                U::put_word(row as u32, &mut rest[U::PER_WORD..]);
                if sensitive {
                    let own = rest[2 * U::PER_WORD..].iter_mut().zip(data.sensitive_codes(row));
                    own.for_each(|(to, &code)| *to = U::of_code(code));
                }
            }
        });
        WorkingRows {
            rows,
            spare: Vec::new(),
            layout: Layout { width, stride },
            alike: Alike::default(),
        }
    }
}

/// Stores a number of records, capped to 32 bits. A row with more records satisfies every threshold
/// below 2³² anyway.
fn put_records<U: Unit>(records: u64, out: &mut [U]) {
    U::put_word(u32::try_from(records).unwrap_or(u32::MAX), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_of_merged_rows_are_found(
            bits in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)], 0..4),
        ) {
            let alike = Alike(Arc::new(bits));
            for first in 0..64 * alike.0.len() as u32 + 2 {
                let rest = (first + 1..).take_while(|&row| alike.has(row as usize));
                let slow = std::iter::once(first).chain(rest);
                prop_assert!(alike.rows(first).eq(slow));
            }
        }
    }
}
