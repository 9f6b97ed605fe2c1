//! The cells of groups, bit-packed. Records are in random order, so each access to a group is a
//! random memory access. A smaller table has fewer cache misses.

use incrowd_core::GroupId;
use rayon::prelude::*;

/// The number of groups that a thread packs at once.
const CHUNK: usize = 1 << 12;

/// The cells of all groups, several per word.
#[derive(Debug)]
pub(crate) struct GroupCells {
    words: Vec<u64>,
    of_group: usize,
    /// For each column its word, its shift in the word, and the mask of its bits after the right
    /// shift.
    places: Vec<(usize, u32, u64)>,
}

impl GroupCells {
    /// Packs cells in row-major order, with `width` cells per group.
    pub(crate) fn new(cells: &[u32], width: usize) -> GroupCells {
        let highest = |chunk: &[u32]| {
            let mut highest = vec![0; width];
            for group in chunk.chunks_exact(width) {
                highest
                    .iter_mut()
                    .zip(group)
                    .for_each(|(highest, cell)| *highest = *cell.max(highest));
            }
            highest
        };
        let both = |a: Vec<u32>, b: Vec<u32>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
        let chunks = cells.par_chunks(CHUNK * width.max(1));
        let highest: Vec<u32> = chunks.clone().map(highest).reduce(|| vec![0; width], both);
        let (mut places, mut word, mut used) = (Vec::with_capacity(width), 0, 0);
        for highest in highest {
            let bits = u32::BITS - highest.leading_zeros();
            if used + bits > u64::BITS {
                (word, used) = (word + 1, 0);
            }
            // A column with only zeros has no bits. If it follows a full word, its shift would be
            // 64, so the shift is capped. The mask is 0 in any case.
            places.push((word, used.min(u64::BITS - 1), !(!0 << bits)));
            used += bits;
        }
        let of_group = word + 1;
        let mut words = vec![0; cells.len() / width.max(1) * of_group];
        words.par_chunks_mut(CHUNK * of_group).zip(chunks).for_each(|(words, cells)| {
            for (words, cells) in words.chunks_exact_mut(of_group).zip(cells.chunks_exact(width)) {
                for (&(word, shift, _), &cell) in places.iter().zip(cells) {
                    words[word] |= u64::from(cell) << shift;
                }
            }
        });
        GroupCells { words, of_group, places }
    }

    /// Appends the cells of a column for these groups.
    #[inline]
    pub(crate) fn extend(
        &self,
        column: usize,
        groups: impl Iterator<Item = GroupId>,
        out: &mut Vec<u32>,
    ) {
        let (word, shift, bits) = self.places[column];
        out.extend(groups.map(|group| {
            (self.words[group.index() * self.of_group + word] >> shift & bits) as u32
        }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_group_has_the_cells_it_was_given(
            highest in prop::collection::vec(
                prop_oneof![Just(0u32), 0..9u32, 0..70_000u32, Just(u32::MAX)],
                1..9,
            ),
            shares in prop::collection::vec(0.0..=1.0f64, 0..80),
        ) {
            let width = highest.len();
            let number = |(share, highest): (&f64, &u32)| (share * f64::from(*highest)) as u32;
            let groups = shares.chunks_exact(width);
            let cells: Vec<u32> =
                groups.flat_map(|own| own.iter().zip(&highest).map(number)).collect();
            let packed = GroupCells::new(&cells, width);
            prop_assert!(packed.of_group <= width);
            for column in 0..width {
                let mut out = Vec::new();
                packed.extend(column, (0..(cells.len() / width) as u32).map(GroupId), &mut out);
                let expected: Vec<u32> =
                    cells.chunks_exact(width).map(|group| group[column]).collect();
                prop_assert_eq!(out, expected);
            }
        }

        #[test]
        fn many_groups_are_packed_by_many_threads(groups in 4_000u32..9_000) {
            let cells: Vec<u32> =
                (0..groups).flat_map(|group| [group, group % 3, u32::MAX - group]).collect();
            let packed = GroupCells::new(&cells, 3);
            for column in 0..3 {
                let mut out = Vec::new();
                packed.extend(column, (0..groups).map(GroupId), &mut out);
                let expected: Vec<u32> =
                    cells.chunks_exact(3).map(|group| group[column]).collect();
                prop_assert_eq!(out, expected);
            }
        }
    }
}
