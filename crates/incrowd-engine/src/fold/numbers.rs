//! A batch straight into numbers: every column adds its codes where the [layout](incrowd_core::Layout) has them, and no row is ever
//! written out code by code. If a code turns out to have no room, nothing is taken of the batch, and it is read again row by row,
//! which makes room.

use incrowd_core::MISSING;

use super::columns::Codes;
use super::worker::FoldWorker;
use crate::source::{Place, Records};

/// The rows of a batch as numbers.
struct Numbers<'a> {
    rows: &'a mut [u64],
    /// For each column where its bits begin, and which those are once they are moved there.
    places: &'a [(u32, u64)],
    /// For each column all bits that its codes have.
    met: Vec<u32>,
    /// For each column how many records lack it.
    missing: Vec<u64>,
}

impl Numbers<'_> {
    /// Whether all codes had room.
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
}

impl FoldWorker<'_> {
    /// Takes the rows of a batch as numbers, if there is room for all their codes already.
    pub(super) fn number_rows<R: Records>(&mut self, place: Place, records: &R) -> bool {
        let Some(mut packed) = self.packed.take() else { return false };
        let (width, before) = (packed.layout.width(), packed.fresh.len());
        let places = packed.layout.places();
        packed.fresh.resize(before + records.len(), 0);
        let (met, missing) = (vec![0; width], vec![0; width]);
        let mut numbers = Numbers { rows: &mut packed.fresh[before..], places: &places, met, missing };
        self.code(records, &mut numbers);
        let fit = numbers.fit();
        let missing = numbers.missing;
        if fit {
            if let Some(look) = &mut self.look {
                let rows = &packed.fresh[before..];
                look.at(place, records, |slot| {
                    let (shift, mask) = places[slot];
                    rows.iter().map(|row| (row >> shift & mask) as u32).collect()
                });
            }
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
