//! Folds [bit-packed rows](incrowd_core::packed): sorts them and counts equal rows. This needs no
//! hash lookups and so no random memory access. Each worker has its own rows, which are merged at
//! the end. Rows that do not fit into 64 bits go to the [hash tables](crate::rows::RowTable).

use incrowd_core::{Layout, MISSING, PackedRows};
use rayon::prelude::*;

/// Rows are sorted once at least max(`GATHERED`, `TIMES` × distinct rows) are buffered. Early
/// sorting is useless where hardly any rows are equal.
const GATHERED: usize = 1 << 20;
const TIMES: usize = 8;

/// Distinct rows in ascending order, with their counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) keys: Vec<u64>,
    pub(crate) counts: Vec<u64>,
}

impl Run {
    /// Counts equal rows of a sorted list.
    fn of(sorted: &[u64]) -> Run {
        let Some(&first) = sorted.first() else { return Run::default() };
        let changes = sorted.iter().zip(&sorted[1..]).filter(|(a, b)| a != b).count();
        let mut run = Run { keys: vec![first; changes + 1], counts: vec![0; changes + 1] };
        let (mut last, mut at) = (first, 0);
        for &key in sorted {
            // The positions where rows change are unpredictable, so this loop uses arithmetic in
            // place of a branch.
            at += usize::from(key != last);
            last = key;
            run.keys[at] = key;
            run.counts[at] += 1;
        }
        run
    }

    fn part(&self, range: std::ops::Range<usize>) -> Part<'_> {
        Part { keys: &self.keys[range.clone()], counts: &self.counts[range] }
    }
}

/// A slice of a run.
#[derive(Clone, Copy)]
struct Part<'a> {
    keys: &'a [u64],
    counts: &'a [u64],
}

impl Part<'_> {
    /// Merges two sorted slices. Equal rows become one row, and their counts are added.
    fn merge(self, other: Part<'_>) -> Run {
        let most = self.keys.len() + other.keys.len();
        let mut run = Run { keys: Vec::with_capacity(most), counts: Vec::with_capacity(most) };
        let (mut a, mut b) = (0, 0);
        while a < self.keys.len() && b < other.keys.len() {
            let (own, their) = (self.keys[a], other.keys[b]);
            // The order of the two keys is unpredictable, so this loop uses arithmetic in place of
            // a branch.
            let (first, second) = (own <= their, their <= own);
            let count =
                if first { self.counts[a] } else { 0 } + if second { other.counts[b] } else { 0 };
            run.keys.push(own.min(their));
            run.counts.push(count);
            a += usize::from(first);
            b += usize::from(second);
        }
        run.keys.extend_from_slice(&self.keys[a..]);
        run.counts.extend_from_slice(&self.counts[a..]);
        run.keys.extend_from_slice(&other.keys[b..]);
        run.counts.extend_from_slice(&other.counts[b..]);
        run
    }
}

/// The bit-packed rows of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) layout: Layout,
    run: Run,
    /// Unsorted rows that were added since the last sort.
    pub(crate) fresh: Vec<u64>,
}

impl Packed {
    /// Makes an empty set of rows with `width` columns.
    pub(crate) fn new(width: usize) -> Packed {
        Packed { layout: Layout::empty(width), run: Run::default(), fresh: Vec::new() }
    }

    /// Widens the layout for codes up to `highest`. Returns `false` if 64 bits do not suffice.
    pub(crate) fn make_room(&mut self, highest: &[u32]) -> bool {
        if self.layout.holds(highest) {
            return true;
        }
        let wider = Layout::new(highest).and_then(|needed| self.layout.with(&needed));
        wider.is_some_and(|layout| {
            self.lay_out(layout);
            true
        })
    }

    fn lay_out(&mut self, layout: Layout) {
        if self.layout != layout {
            self.layout.repack(&mut self.run.keys, &layout);
            self.layout.repack(&mut self.fresh, &layout);
            self.layout = layout;
        }
    }

    /// Adds a record with this row.
    #[inline]
    pub(crate) fn add(&mut self, key: u64) {
        self.fresh.push(key);
    }

    /// Removes the unsorted rows from index `from` on that have a missing value in one of `places`.
    /// Returns their number.
    pub(crate) fn drop_missing(&mut self, from: usize, places: &[(u32, u64)]) -> u64 {
        let before = self.fresh.len();
        if !places.is_empty() {
            let mut kept = from;
            for row in from..before {
                let key = self.fresh[row];
                let whole =
                    places.iter().all(|&(shift, mask)| key >> shift & mask != u64::from(MISSING));
                // Every key is written, and `kept` advances only past complete rows. This avoids a
                // branch.
                self.fresh[kept] = key;
                kept += usize::from(whole);
            }
            self.fresh.truncate(kept);
        }
        (before - self.fresh.len()) as u64
    }

    /// Sorts the buffered rows if there are enough of them. Workers call this regularly.
    pub(crate) fn tidy(&mut self) {
        if self.fresh.len() >= GATHERED.max(TIMES * self.run.keys.len()) {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.fresh.sort_unstable();
        let fresh = Run::of(&self.fresh);
        self.fresh.clear();
        if self.run.keys.is_empty() {
            self.run = fresh;
        } else {
            self.run = self.run.part(0..self.run.keys.len()).merge(fresh.part(0..fresh.keys.len()));
        }
    }

    /// The memory use in bytes, if a distinct row takes `row` bytes. Unsorted rows are not counted,
    /// because they may be equal to others.
    pub(crate) fn memory(&self, row: u64) -> u64 {
        (self.run.keys.len() as u64).saturating_mul(row)
    }

    /// All rows, sorted, with equal rows merged.
    pub(crate) fn into_run(mut self) -> (Layout, Run) {
        self.settle();
        (self.layout, self.run)
    }
}

/// Gives all workers a common layout. Returns `None` if there is none that fits into 64 bits.
fn lay_out_alike(parts: &mut [Packed]) -> Option<Layout> {
    let first = parts.first()?.layout.clone();
    let layout = parts.iter().try_fold(first, |all, part| all.with(&part.layout))?;
    parts.par_iter_mut().for_each(|part| part.lay_out(layout.clone()));
    Some(layout)
}

/// The rows of all workers, which may repeat. Returns `None`, and leaves `parts` in place, if there
/// is no common layout.
pub(super) fn numbers_of(parts: &mut Vec<Packed>) -> Option<PackedRows> {
    let layout = lay_out_alike(parts)?;
    let parts = std::mem::take(parts).into_iter();
    let parts = parts.flat_map(|own| [(own.run.keys, own.run.counts), (own.fresh, Vec::new())]);
    Some(PackedRows { layout, parts: parts.filter(|(keys, _)| !keys.is_empty()).collect() })
}

/// The codes of the distinct rows of all workers, row by row, and their counts. Returns `None`, and
/// leaves `parts` in place, if there is no common layout.
pub(super) fn rows_of(parts: &mut Vec<Packed>) -> Option<(Vec<u32>, Vec<u64>)> {
    let layout = lay_out_alike(parts)?;
    let runs: Vec<Run> =
        std::mem::take(parts).into_par_iter().map(|part| part.into_run().1).collect();
    let runs = merged(&runs);
    let width = layout.width();
    let rows = runs.iter().map(|run| run.keys.len()).sum();
    let (mut codes, mut weights) = (vec![0; rows * width], vec![0; rows]);
    let (mut all_codes, mut all_weights) = (&mut codes[..], &mut weights[..]);
    let places = runs.into_iter().map(|run| {
        let own = all_codes.split_off_mut(..run.keys.len() * width).unwrap_or_default();
        let records = all_weights.split_off_mut(..run.keys.len()).unwrap_or_default();
        (run, own, records)
    });
    places.collect::<Vec<_>>().into_par_iter().for_each(|(run, codes, weights)| {
        codes
            .chunks_exact_mut(width)
            .zip(&run.keys)
            .for_each(|(row, &key)| layout.unpack(key, row));
        weights.copy_from_slice(&run.counts);
    });
    Some((codes, weights))
}

/// The number of pieces per thread, for load balancing.
const PIECES: usize = 4;

/// Merges runs. The result is a list of runs whose keys ascend from run to run.
fn merged(runs: &[Run]) -> Vec<Run> {
    let Some(longest) = runs.iter().max_by_key(|run| run.keys.len()) else { return Vec::new() };
    let pieces = (rayon::current_num_threads() * PIECES).min(longest.keys.len());
    // The cuts divide the longest run into pieces of equal length.
    let mut cuts: Vec<u64> =
        (1..pieces).map(|piece| longest.keys[longest.keys.len() * piece / pieces]).collect();
    cuts.dedup();
    let places = |run: &Run| -> Vec<usize> {
        let inner = cuts.iter().map(|cut| run.keys.partition_point(|key| key < cut));
        std::iter::once(0).chain(inner).chain([run.keys.len()]).collect()
    };
    let places: Vec<Vec<usize>> = runs.iter().map(places).collect();
    (0..=cuts.len())
        .into_par_iter()
        .map(|piece| {
            let parts =
                runs.iter().zip(&places).map(|(run, at)| run.part(at[piece]..at[piece + 1]));
            tree(&parts.collect::<Vec<_>>())
        })
        .collect()
}

/// Merges slices recursively: each half of the list first.
fn tree(parts: &[Part<'_>]) -> Run {
    match parts {
        [] => Run::default(),
        [one] => Run { keys: one.keys.to_vec(), counts: one.counts.to_vec() },
        [a, b] => a.merge(*b),
        more => {
            let (front, back) = more.split_at(more.len() / 2);
            let (front, back) = (tree(front), tree(back));
            front.part(0..front.keys.len()).merge(back.part(0..back.keys.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Rows = Vec<Vec<u32>>;

    /// Folds the rows of several workers and compares the result with a map.
    fn check(workers: &[Rows], width: usize) -> Result<(), TestCaseError> {
        let mut expected: BTreeMap<&[u32], u64> = BTreeMap::new();
        workers.iter().flatten().for_each(|row| *expected.entry(row).or_insert(0) += 1);
        let mut parts = Vec::new();
        for rows in workers {
            let mut packed = Packed::new(width);
            let mut highest = vec![0; width];
            for row in rows {
                highest.iter_mut().zip(row).for_each(|(most, code)| *most = (*most).max(*code));
                prop_assert!(packed.make_room(&highest));
                packed.add(packed.layout.pack(row));
                if row[0] % 3 == 0 {
                    packed.settle();
                }
            }
            parts.push(packed);
        }
        let numbers = numbers_of(&mut parts.clone()).unwrap();
        let (codes, weights) = rows_of(&mut parts).unwrap();
        prop_assert_eq!(numbers.unpacked(), (codes.clone(), weights.clone()));
        let found: Vec<(Vec<u32>, u64)> =
            codes.chunks_exact(width).map(<[u32]>::to_vec).zip(weights).collect();
        let expected: Vec<(Vec<u32>, u64)> =
            expected.into_iter().map(|(row, n)| (row.to_vec(), n)).collect();
        prop_assert_eq!(found, expected);
        Ok(())
    }

    proptest! {
        /// Layouts grow while rows are added, and differ between workers.
        #[test]
        fn counts_like_a_map(workers in prop::collection::vec(prop::collection::vec(prop::collection::vec(0u32..9, 3), 0..60), 1..6)) {
            check(&workers, 3)?;
        }

        #[test]
        fn a_single_column_may_take_any_code(rows in prop::collection::vec(prop_oneof![0u32..4, any::<u32>()], 1..80)) {
            check(&[rows.iter().map(|&code| vec![code]).collect()], 1)?;
        }

        /// The codes use all 64 bits.
        #[test]
        fn rows_may_fill_the_number(rows in prop::collection::vec((any::<u32>(), any::<u32>()), 1..80)) {
            check(&[rows.iter().map(|&(a, b)| vec![a, 0, b]).collect()], 3)?;
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_refused_and_the_others_stay() {
        let mut packed = Packed::new(3);
        assert!(packed.make_room(&[7, 7, 7]));
        packed.add(packed.layout.pack(&[1, 2, 3]));
        assert!(!packed.make_room(&[u32::MAX, u32::MAX, 1]));
        let (layout, run) = packed.into_run();
        let mut row = [0; 3];
        layout.unpack(run.keys[0], &mut row);
        assert_eq!((row, run.counts), ([1, 2, 3], vec![1]));
        // Each of them fits alone, but they have no common layout.
        let wide = |highest: &[u32]| {
            let mut packed = Packed::new(3);
            assert!(packed.make_room(highest));
            packed
        };
        let mut parts = vec![wide(&[u32::MAX, 9, 1]), wide(&[1, u32::MAX, u32::MAX >> 3])];
        assert!(rows_of(&mut parts).is_none());
        assert!(numbers_of(&mut parts).is_none());
        assert_eq!(parts.len(), 2);
    }
}
