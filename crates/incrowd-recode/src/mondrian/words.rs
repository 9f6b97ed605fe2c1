//! The working copy of a table where only records are counted. A row consists of a few 16-bit words
//! with one or two codes per word, so that moving a row is cheap. The order of a word is the order
//! of its upper code. A left shift removes the upper code; then the order is that of the lower
//! code. So the bounds of all codes are computed with the minimum and maximum of words.

use incrowd_core::Dataset;
use rayon::prelude::*;

use super::space::Alike;

/// The number of rows of the table that one thread copies at a time. It is a multiple of 64.
const AT_ONCE: usize = if cfg!(test) { 64 } else { 1 << 14 };

/// The number of 16-bit units after the words: two for the number of records, and two for the row's
/// index.
pub(super) const AFTER: usize = 4;

/// A row: its words, then its number of records, then its index.
pub(super) type Row<const S: usize> = [u16; S];

pub(super) fn records<const S: usize>(row: &Row<S>) -> u32 {
    u32::from(row[S - 4]) | u32::from(row[S - 3]) << 16
}

pub(super) fn id<const S: usize>(row: &Row<S>) -> u32 {
    u32::from(row[S - 2]) | u32::from(row[S - 1]) << 16
}

/// The position of a line's code in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The index of the word, the right shift of the word, and the mask after that shift.
    word: usize,
    shift: u32,
    mask: u16,
    /// The index of the lane in [`Bounds`], and the right shift of a lane's value. The first lanes
    /// have the words themselves, for upper codes. The other lanes have words shifted to the left,
    /// for lower codes.
    lane: usize,
    lane_shift: u32,
}

impl Field {
    #[inline]
    pub(super) fn code<const S: usize>(self, row: &Row<S>) -> u32 {
        u32::from((row[self.word] >> self.shift) & self.mask)
    }

    fn put<const S: usize>(self, code: u32, row: &mut Row<S>) {
        row[self.word] |= (code as u16) << self.shift;
    }
}

/// Assigns lines to `words` words, if they fit. Lines with the most values have their own word. The
/// others share a word in pairs: the widest with the narrowest.
fn fields(leaves: &[u32], words: usize) -> Option<Vec<Field>> {
    let bits: Vec<u32> =
        leaves.iter().map(|&n| (u32::BITS - n.saturating_sub(1).leading_zeros()).max(1)).collect();
    let mut lines: Vec<usize> = (0..leaves.len()).collect();
    lines.sort_by_key(|&line| std::cmp::Reverse(bits[line]));
    let pairs = lines.len().saturating_sub(words);
    let (alone, paired) = lines.split_at_checked(lines.len().checked_sub(2 * pairs)?)?;
    let first = |word: usize| Field { word, shift: 0, mask: u16::MAX, lane: word, lane_shift: 0 };
    let mut fields = vec![first(0); leaves.len()];
    alone.iter().enumerate().for_each(|(word, &line)| fields[line] = first(word));
    for (pair, (&upper, &lower)) in
        paired[..pairs].iter().zip(paired[pairs..].iter().rev()).enumerate()
    {
        let (word, bits, of_upper) = (alone.len() + pair, bits[lower], bits[upper]);
        let lane_shift = u16::BITS.checked_sub(bits).filter(|&left| left >= of_upper)?;
        fields[upper] = Field { shift: bits, lane_shift: bits, ..first(word) };
        fields[lower] =
            Field { mask: (1 << bits) - 1, lane: words + word, lane_shift, ..first(word) };
    }
    bits.iter().all(|&bits| bits <= u16::BITS).then_some(fields)
}

/// For each lane, the factor of its word. Multiplication by a power of two is a left shift that
/// removes the upper code.
fn factors<const L: usize>(fields: &[Field], words: usize) -> [u16; L] {
    let mut factors = [0; L];
    factors[..words].fill(1);
    fields.iter().filter(|f| f.lane >= words).for_each(|f| factors[f.lane] = 1 << f.lane_shift);
    factors
}

/// The minimum and maximum of each lane over some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds<const L: usize> {
    lo: [u16; L],
    hi: [u16; L],
}

impl<const L: usize> Bounds<L> {
    pub(super) const NONE: Bounds<L> = Bounds { lo: [u16::MAX; L], hi: [0; L] };

    /// The least and the greatest code of a line.
    #[inline]
    pub(super) fn span(&self, field: Field) -> (u32, u32) {
        let code = |lanes: &[u16; L]| u32::from(lanes[field.lane] >> field.lane_shift);
        (code(&self.lo), code(&self.hi))
    }

    pub(super) fn with(mut self, other: Bounds<L>) -> Bounds<L> {
        for lane in 0..L {
            self.lo[lane] = self.lo[lane].min(other.lo[lane]);
            self.hi[lane] = self.hi[lane].max(other.hi[lane]);
        }
        self
    }
}

/// Rows of `S` units whose words have `L` lanes.
#[derive(Clone, Debug)]
pub(super) struct Words<const S: usize, const L: usize> {
    pub(super) rows: Vec<Row<S>>,
    /// The position of each line's code.
    pub(super) fields: Vec<Field>,
    /// For each lane, the factor of its word.
    factors: [u16; L],
    /// Whether the rows are sorted by their codes, with the first line as the most significant.
    pub(super) is_sorted: bool,
    pub(super) alike: Alike,
}

impl<const S: usize, const L: usize> Words<S, L> {
    const COUNT: usize = S - AFTER;

    /// Copies a table, if its codes fit. Rows with equal codes become one row.
    pub(super) fn load(data: &Dataset) -> Option<Words<S, L>> {
        let leaves: Vec<u32> = data.quasi().iter().map(|quasi| quasi.domain.leaves()).collect();
        let fields = fields(&leaves, Self::COUNT)?;
        let factors = factors(&fields, Self::COUNT);
        let alike = Alike::of(data);
        let blocks = data.rows().div_ceil(AT_ONCE);
        let of_block = |block: usize| block * AT_ONCE..data.rows().min((block + 1) * AT_ONCE);
        let lengths: Vec<usize> = (0..blocks).map(|block| alike.apart(of_block(block))).collect();
        let mut rows = vec![[0; S]; lengths.iter().sum()];
        let mut rest = rows.as_mut_slice();
        let places: Vec<&mut [Row<S>]> = lengths
            .iter()
            .map(|&length| rest.split_off_mut(..length).unwrap_or_default())
            .collect();
        let sorted = places.into_par_iter().enumerate().map(|(block, place)| {
            let starts = of_block(block).filter(|&row| !alike.has(row));
            let mut is_sorted = true;
            for (row, out) in starts.zip(place) {
                let codes = data.quasi_codes(row);
                is_sorted &= row == 0 || data.quasi_codes(row - 1) <= codes;
                fields.iter().zip(codes).for_each(|(field, &code)| field.put(code, out));
                let records = alike.rows(row as u32).map(|row| data.weight(row as usize));
                // The cap does no harm: a row of four billion records satisfies any realistic
                // minimum.
                let records =
                    u32::try_from(records.fold(0, u64::saturating_add)).unwrap_or(u32::MAX);
                let number = row as u32;
                let after =
                    [records as u16, (records >> 16) as u16, number as u16, (number >> 16) as u16];
                out[Self::COUNT..].copy_from_slice(&after);
            }
            is_sorted
        });
        let is_sorted = sorted.reduce(|| true, |a, b| a && b);
        Some(Words { rows, fields, factors, is_sorted, alike })
    }

    /// The bounds of some rows.
    pub(super) fn bounds(&self, rows: &[Row<S>]) -> Bounds<L> {
        let Bounds { mut lo, mut hi } = Bounds::NONE;
        for row in rows {
            for lane in 0..L {
                // The loop has no branches, so that the compiler can vectorize it.
                let word = row[lane % Self::COUNT].wrapping_mul(self.factors[lane]);
                lo[lane] = lo[lane].min(word);
                hi[lane] = hi[lane].max(word);
            }
        }
        Bounds { lo, hi }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_lines_share_a_word_with_narrow_ones() {
        let of = |leaves: &[u32], words| {
            let fields = fields(leaves, words)?;
            Some(
                fields
                    .iter()
                    .map(|field| (field.word, field.shift, field.mask))
                    .collect::<Vec<_>>(),
            )
        };
        // 2, 10 and 6 bits: the second line has its own word.
        assert_eq!(of(&[4, 900, 41], 2), Some(vec![(1, 0, 3), (0, 0, u16::MAX), (1, 2, u16::MAX)]));
        assert_eq!(of(&[60_000, 60_000], 2), Some(vec![(0, 0, u16::MAX), (1, 0, u16::MAX)]));
        assert_eq!(of(&[60_000, 2], 1), None);
        assert_eq!(of(&[2, 2, 2], 1), None);
        assert_eq!(of(&[70_000], 1), None);
    }

    proptest! {
        /// Codes can be read back from the words, and the bounds are those of the codes.
        #[test]
        fn words_hold_codes(
            leaves in prop::collection::vec(1u32..256, 1..9),
            draws in prop::collection::vec(prop::collection::vec(any::<u32>(), 8), 1..20),
        ) {
            let Some(fields) = fields(&leaves, 4) else { return Ok(()) };
            let codes: Vec<Vec<u32>> = draws.iter().map(|draw| {
                draw.iter().zip(&leaves).map(|(draw, leaves)| draw % leaves).collect()
            }).collect();
            let rows = codes.iter().map(|codes| {
                let mut row = [0; 8];
                fields.iter().zip(codes).for_each(|(field, &code)| field.put(code, &mut row));
                row
            });
            let rows: Vec<Row<8>> = rows.collect();
            let words =
                Words::<8, 8> { rows, factors: factors(&fields, 4), fields, is_sorted: false, alike: Alike::default() };
            let bounds = words.bounds(&words.rows);
            for (line, &field) in words.fields.iter().enumerate() {
                let own: Vec<u32> = codes.iter().map(|codes| codes[line]).collect();
                prop_assert_eq!(&own, &words.rows.iter().map(|row| field.code(row)).collect::<Vec<_>>());
                prop_assert_eq!(Some(bounds.span(field).0), own.iter().copied().min());
                prop_assert_eq!(Some(bounds.span(field).1), own.iter().copied().max());
            }
        }
    }
}
