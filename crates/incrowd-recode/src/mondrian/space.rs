//! The working copy of the table: one flat array of rows that is divided by moving rows, so that every pass over a part
//! reads memory in order. Codes take two bytes where every domain allows it, which halves what has to be moved.

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
}

impl<U: Unit> Space<U> {
    /// The rows with room to move them in.
    pub(super) fn with_spare(mut self) -> Space<U> {
        self.spare = vec![U::default(); self.rows.len()];
        self
    }

    /// The rows once more, so that they can be divided in another way.
    pub(super) fn copy(&self) -> Space<U> {
        Space { rows: self.rows.clone(), spare: vec![U::default(); self.rows.len()], layout: self.layout }
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
                // Nothing is lost by capping: a row of four billion records satisfies what any part of it would.
                U::put_word(u32::try_from(data.weight(row)).unwrap_or(u32::MAX), rest);
                U::put_word(row as u32, &mut rest[U::PER_WORD..]);
                if sensitive {
                    let own = rest[2 * U::PER_WORD..].iter_mut().zip(data.sensitive_codes(row));
                    own.for_each(|(to, &code)| *to = U::of_code(code));
                }
            }
        });
        Space { rows, spare: Vec::new(), layout: Layout { width, stride } }
    }
}
