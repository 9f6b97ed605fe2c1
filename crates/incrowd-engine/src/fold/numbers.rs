//! Codes a batch directly into bit-packed rows. Each column writes its codes into the bits that the
//! [layout](incrowd_core::Layout) assigns to it, without an intermediate row of codes. If a code
//! does not fit, the whole batch is discarded and read again row by row, which widens the layout.

use incrowd_core::MISSING;

use super::columns::Codes;
use super::worker::FoldWorker;
use crate::source::Records;

/// The bit-packed rows of a batch.
struct Numbers<'a> {
    rows: &'a mut [u64],
    /// For each column the shift of its bits, and the mask of its bits after the right shift.
    places: &'a [(u32, u64)],
    /// For each column the bitwise OR of all its codes.
    met: Vec<u32>,
    /// For each column the number of records with a missing value.
    missing: Vec<u64>,
    /// The codes of a column, shifted to their position.
    list: Vec<u64>,
}

impl Numbers<'_> {
    /// Whether all codes fit. A bit outside the mask means that a code was too large.
    fn fit(&self) -> bool {
        self.met.iter().zip(self.places).all(|(&met, (_, mask))| u64::from(met) & !mask == 0)
    }
}

impl Codes for Numbers<'_> {
    #[inline]
    fn put(&mut self, slot: usize, first: usize, codes: impl Iterator<Item = u32>) {
        let (shift, _) = self.places[slot];
        let (mut met, mut missing) = (0, 0);
        for (row, code) in self.rows[first..].iter_mut().zip(codes) {
            *row |= u64::from(code) << shift;
            met |= code;
            missing += u64::from(code == MISSING);
        }
        self.met[slot] |= met;
        self.missing[slot] += missing;
    }

    fn put_listed(&mut self, slot: usize, first: usize, places: &[u32], list: &[u32]) -> u64 {
        let (shift, _) = self.places[slot];
        // Each code of the list is shifted once, so that a record costs one lookup. The list may
        // contain codes that no record of this batch has. They occurred in earlier records, so the
        // layout has bits for them, and adding them to `met` changes nothing.
        self.list.clear();
        self.list.extend(list.iter().map(|&code| u64::from(code) << shift));
        self.met[slot] |= list.iter().fold(0, |met, code| met | code);
        let mut others = 0;
        for (row, &place) in self.rows[first..].iter_mut().zip(places) {
            match self.list.get(place as usize) {
                Some(code) => *row |= code,
                None => others += 1,
            }
        }
        self.missing[slot] += others;
        others
    }
}

impl FoldWorker<'_> {
    /// Packs the rows of a batch. Returns `false`, and adds no rows, if a code does not fit into
    /// the layout.
    pub(super) fn number_rows<R: Records>(&mut self, records: &R) -> bool {
        let Some(mut packed) = self.packed.take() else { return false };
        let (width, before) = (packed.layout.width(), packed.fresh.len());
        let places = packed.layout.places();
        packed.fresh.resize(before + records.len(), 0);
        let (met, missing) = (vec![0; width], vec![0; width]);
        let rows = &mut packed.fresh[before..];
        let mut numbers = Numbers { rows, places: &places, met, missing, list: Vec::new() };
        self.code(records, &mut numbers);
        let fit = numbers.fit();
        let missing = numbers.missing;
        if fit {
            self.missing.iter_mut().zip(&missing).for_each(|(sum, n)| *sum += n);
            if self.drop_missing {
                let lacking = places.iter().zip(&missing).filter(|(_, n)| **n > 0);
                let lacking: Vec<(u32, u64)> = lacking.map(|(place, _)| *place).collect();
                self.dropped += packed.drop_missing(before, &lacking);
            }
            packed.tidy();
        } else {
            packed.fresh.truncate(before);
        }
        self.packed = Some(packed);
        fit
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::RowByRow;
    use super::*;
    use incrowd_core::Layout;
    use proptest::prelude::*;

    const WIDTH: usize = 3;

    proptest! {
        /// The reference is the row-by-row path. A layout for codes up to 15 may be too narrow.
        #[test]
        fn numbers_are_the_rows_packed(
            lists in prop::collection::vec(prop::collection::vec(prop_oneof![9 => 1u32..16, 1 => 16u32..40], 1..6), WIDTH),
            places in prop::collection::vec([0u32..7, 0u32..7, 0u32..7], 1..80),
            (cut, by_list) in (0usize..80, prop::collection::vec(any::<bool>(), WIDTH)),
        ) {
            let layout = Layout::new(&[15; WIDTH]).unwrap();
            let fits = lists.iter().flatten().all(|code| *code < 16);
            let cut = cut.min(places.len());
            let (mut codes, mut rows) = (vec![MISSING; places.len() * WIDTH], vec![0; places.len()]);
            let of = layout.places();
            let mut numbers = Numbers {
                rows: &mut rows, places: &of, met: vec![0; WIDTH], missing: vec![0; WIDTH], list: Vec::new(),
            };
            let mut twin = RowByRow { codes: &mut codes, width: WIDTH };
            for slot in 0..WIDTH {
                let own: Vec<u32> = places.iter().map(|row| row[slot]).collect();
                let code = |place: &u32| lists[slot].get(*place as usize).copied().unwrap_or(MISSING);
                for (first, places) in [(0, &own[..cut]), (cut, &own[cut..])] {
                    let others = places.iter().filter(|place| **place as usize >= lists[slot].len()).count();
                    twin.put(slot, first, places.iter().map(code));
                    if by_list[slot] {
                        prop_assert_eq!(numbers.put_listed(slot, first, places, &lists[slot]), others as u64);
                        prop_assert_eq!(twin.put_listed(slot, first, places, &lists[slot]), others as u64);
                    } else {
                        numbers.put(slot, first, places.iter().map(code));
                    }
                }
                let missing = own.iter().filter(|place| code(place) == MISSING).count();
                prop_assert_eq!(numbers.missing[slot], missing as u64);
            }
            if fits {
                prop_assert!(numbers.fit());
                let expected: Vec<u64> = codes.chunks_exact(WIDTH).map(|row| layout.pack(row)).collect();
                prop_assert_eq!(rows, expected);
            } else if codes.iter().any(|code| *code > 15) {
                prop_assert!(!numbers.fit());
            }
        }
    }
}
