//! Canonical order of rows.
//!
//! The row numbers of a fold depend on the order of the input and on threads. Algorithms break ties
//! by row number, so rows are sorted by their codes before any algorithm uses them. Rows with equal
//! codes, for example two spellings of one number, are merged.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

/// Low bits of a key that hold the row number; the other bits hold the row's codes.
const ROW_BITS: u32 = 32;
const CODE_BITS: u32 = u128::BITS - ROW_BITS;

/// Rows sorted by their codes.
pub(crate) struct Canonical {
    /// The codes, row by row.
    pub(crate) codes: Vec<u32>,
    /// The number of records of each row.
    pub(crate) counts: Vec<u64>,
    /// For each row of the fold, its new row.
    pub(crate) of_fold: Vec<u32>,
}

/// Sorts the rows and merges equal ones. `sizes` holds the number of codes per column.
pub(crate) fn canonical(mut codes: Vec<u32>, counts: Vec<u64>, sizes: &[u32]) -> Canonical {
    let width = sizes.len();
    if width == 0 {
        let of_fold = vec![0; counts.len()];
        let counts = if counts.is_empty() { counts } else { vec![counts.iter().sum()] };
        return Canonical { codes, counts, of_fold };
    }
    let key = Key::new(sizes);
    let mut keys: Vec<u128> = codes
        .par_chunks_exact(width)
        .enumerate()
        .map(|(row, codes)| key.pack(codes, row as u32))
        .collect();
    keys.par_sort_unstable();
    let rest = |key_of: u128| {
        let start = row_of(key_of) * width;
        &codes[start + key.bits.len()..start + width]
    };
    if key.bits.len() < width {
        // Sort rows that differ only in columns that did not fit into the key.
        keys.chunk_by_mut(|a, b| a >> ROW_BITS == b >> ROW_BITS)
            .filter(|alike| alike.len() > 1)
            .for_each(|alike| alike.sort_unstable_by(|&a, &b| rest(a).cmp(rest(b))));
    }
    // Each task handles one range of keys: it finds the first row of each run of equal rows and
    // sums the record counts of the run.
    let alike = |a: u128, b: u128| a >> ROW_BITS == b >> ROW_BITS && rest(a) == rest(b);
    let is_new = |at: usize| at == 0 || !alike(keys[at - 1], keys[at]);
    let length = keys.len().div_ceil(rayon::current_num_threads()).max(1 << 14);
    let starts: Vec<usize> = (0..keys.len()).step_by(length).collect();
    let range = |start: usize| start..(start + length).min(keys.len());
    let news: Vec<usize> =
        starts.par_iter().map(|&start| range(start).filter(|&at| is_new(at)).count()).collect();
    let befores = news.iter().scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n)));
    let befores: Vec<usize> = befores.collect();
    let of_fold: Vec<AtomicU32> = keys.par_iter().map(|_| AtomicU32::new(0)).collect();
    let parts: Vec<(Vec<u128>, Vec<u64>)> = starts
        .par_iter()
        .zip(&befores)
        .map(|(&start, &before)| {
            let (mut own, mut sums): (Vec<u128>, Vec<u64>) = (Vec::new(), Vec::new());
            // A run that begins in the previous range is counted there.
            let mut at = range(start).find(|&at| is_new(at)).unwrap_or(keys.len());
            while at < keys.len() && (at < range(start).end || !is_new(at)) {
                if is_new(at) {
                    own.push(keys[at]);
                    sums.push(0);
                }
                let row = row_of(keys[at]);
                if let Some(sum) = sums.last_mut() {
                    *sum += counts[row];
                }
                of_fold[row].store((before + sums.len() - 1) as u32, Ordering::Relaxed);
                at += 1;
            }
            (own, sums)
        })
        .collect();
    let of_fold: Vec<u32> = of_fold.into_iter().map(AtomicU32::into_inner).collect();
    let mut summed: Vec<u64> = Vec::with_capacity(news.iter().sum());
    let mut kept: Vec<u128> = Vec::with_capacity(news.iter().sum());
    for (own, sums) in parts {
        kept.extend(own);
        summed.extend(sums);
    }
    let keys = kept;
    if key.bits.len() == width {
        // The keys contain all codes, so the codes can be overwritten.
        codes.truncate(keys.len() * width);
        codes.par_chunks_exact_mut(width).zip(&keys).for_each(|(row, &own)| key.unpack(own, row));
    } else {
        let row = |&own: &u128| codes[row_of(own) * width..][..width].iter().copied();
        codes = keys.iter().flat_map(row).collect();
    }
    Canonical { codes, counts: summed, of_fold }
}

/// The row number in a key.
fn row_of(key: u128) -> usize {
    key as u32 as usize
}

/// The bit layout of a key: the codes of the first columns.
struct Key {
    /// The number of bits of each of these columns.
    bits: Vec<u32>,
}

impl Key {
    /// The layout with as many columns as fit.
    fn new(sizes: &[u32]) -> Key {
        let mut room = CODE_BITS;
        let bits = sizes.iter().map(|size| u32::BITS - size.saturating_sub(1).leading_zeros());
        let fits = bits.take_while(|bits| {
            let fits = *bits <= room;
            room = room.saturating_sub(*bits);
            fits
        });
        Key { bits: fits.collect() }
    }

    fn pack(&self, codes: &[u32], row: u32) -> u128 {
        let packed = codes
            .iter()
            .zip(&self.bits)
            .fold(0u128, |key, (&code, bits)| key << bits | u128::from(code));
        packed << ROW_BITS | u128::from(row)
    }

    fn unpack(&self, key: u128, codes: &mut [u32]) {
        let mut packed = key >> ROW_BITS;
        for (code, &bits) in codes.iter_mut().zip(&self.bits).rev() {
            *code = (packed & ((1 << bits) - 1)) as u32;
            packed >>= bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Compares with a map from rows to counts.
    fn check(rows: &[Vec<u32>], sizes: &[u32]) -> Result<(), TestCaseError> {
        let counts: Vec<u64> = (1..=rows.len() as u64).collect();
        let mut expected: BTreeMap<&[u32], u64> = BTreeMap::new();
        rows.iter().zip(&counts).for_each(|(row, n)| *expected.entry(row).or_insert(0) += n);
        let made = canonical(rows.concat(), counts, sizes);
        prop_assert_eq!(&made.codes, &expected.keys().copied().collect::<Vec<_>>().concat());
        prop_assert_eq!(&made.counts, &expected.values().copied().collect::<Vec<_>>());
        for (row, at) in rows.iter().zip(made.of_fold) {
            prop_assert_eq!(
                &made.codes[at as usize * sizes.len()..][..sizes.len()],
                row.as_slice()
            );
        }
        Ok(())
    }

    proptest! {
        /// Enough rows for several threads, most of them equal.
        #[test]
        fn runs_across_ranges_are_counted_once(rows in prop::collection::vec(0u32..3, 1..200)) {
            let row = |at: usize| vec![rows[at % rows.len()], at as u32 / 40_000];
            let rows: Vec<Vec<u32>> = (0..50_000).map(row).collect();
            check(&rows, &[3, 2])?;
        }

        #[test]
        fn rows_are_sorted_by_their_codes(
            rows in prop::collection::vec(prop::collection::vec(0u32..5, 3), 0..200),
        ) {
            check(&rows, &[5, 5, 5])?;
        }

        /// Columns with so many codes that only two of the four fit into a key.
        #[test]
        fn columns_that_do_not_fit_into_the_key_are_compared(
            rows in prop::collection::vec(prop::collection::vec(0u32..3, 4), 0..200),
        ) {
            check(&rows, &[u32::MAX, 1 << 31, u32::MAX, 3])?;
        }
    }

    #[test]
    fn a_table_without_columns_is_one_row() {
        let made = canonical(Vec::new(), vec![2, 3], &[]);
        assert_eq!((made.counts, made.of_fold), (vec![5], vec![0, 0]));
    }
}
