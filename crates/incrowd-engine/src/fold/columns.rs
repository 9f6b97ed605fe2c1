//! Codes the cells of a batch, column by column. The codes are written through the [`Codes`] trait:
//! [row by row](RowByRow), or directly into [bit-packed rows](super::numbers).

use arrow_array::{Array, StringViewArray};
use incrowd_core::MISSING;

use super::worker::FoldWorker;
use crate::codes::UNKNOWN;
use crate::intern::Short;
use crate::source::{CodedCells, Records, WholeCells};

/// The number of records whose cells are processed together.
const NEAR: usize = 1 << 10;

/// The number of records at the front of a batch whose texts are looked up one by one. After them,
/// all texts of the dictionary may be known.
const FRONT: usize = 1 << 11;
/// The minimum number of records per text for which it pays to check whether all texts are known.
const LISTED: usize = 8;

/// The bytes that a distinct text occupies in addition to its own bytes, and the number of copies
/// of it, when a release is made. The copies are in the dictionary, in the folded table, in the
/// column's domain, in the labels and in the table that is read back. Measured on tables with a
/// million distinct texts.
const PER_TEXT: usize = 448;
const COPIES: usize = 5;

/// Receives the codes of a batch.
pub(super) trait Codes {
    /// Writes the codes of a column, beginning at record `first`.
    fn put(&mut self, slot: usize, first: usize, codes: impl Iterator<Item = u32>);

    /// Writes cells that are indices into a list of codes. The list must not contain the code of a
    /// missing value. Indices outside the list are missing cells. Returns the number of missing
    /// cells.
    fn put_listed(&mut self, slot: usize, first: usize, places: &[u32], list: &[u32]) -> u64 {
        let mut others = 0;
        let code = |&place: &u32| {
            list.get(place as usize).copied().unwrap_or_else(|| {
                others += 1;
                MISSING
            })
        };
        self.put(slot, first, places.iter().map(code));
        others
    }
}

/// Writes the codes in row-major order.
pub(super) struct RowByRow<'a> {
    pub(super) codes: &'a mut [u32],
    pub(super) width: usize,
}

impl Codes for RowByRow<'_> {
    #[inline]
    fn put(&mut self, slot: usize, first: usize, codes: impl Iterator<Item = u32>) {
        let rows = self.codes.chunks_exact_mut(self.width).skip(first);
        rows.zip(codes).for_each(|(row, code)| row[slot] = code);
    }
}

impl FoldWorker<'_> {
    /// Codes all cells of a batch.
    pub(super) fn code<R: Records>(&mut self, records: &R, to: &mut impl Codes) {
        let width = self.caches.len();
        let mut texts = Vec::with_capacity(width);
        for slot in 0..width {
            if let Some(cells) = records.whole(slot) {
                self.number(slot, cells, to);
            } else if let Some(views) = records.views(slot) {
                self.view(slot, views, to);
            } else if !records.coded(slot).is_some_and(|cells| self.translate(slot, cells, to)) {
                texts.push(slot);
            }
        }
        // The loop goes column by column, which helps branch prediction. It processes few records
        // at once, so that their text stays in the processor's cache.
        let mut near = [MISSING; NEAR];
        for first in (0..records.len()).step_by(NEAR) {
            let near = &mut near[..NEAR.min(records.len() - first)];
            for &slot in &texts {
                self.read(slot, first, records, near);
                to.put(slot, first, near.iter().copied());
            }
        }
    }

    /// Codes the texts of a column, beginning at record `first`.
    fn read<R: Records>(&mut self, slot: usize, first: usize, records: &R, codes: &mut [u32]) {
        for (record, code) in (first..).zip(codes) {
            *code = match records.cell(record, slot) {
                None => self.null(),
                Some((text, short)) => match self.caches[slot].find(text, short) {
                    // A missing value is looked up each time, because the fold reports the first
                    // missing-value text that occurs.
                    None | Some(MISSING) => self.learn(slot, text),
                    Some(code) => code,
                },
            };
        }
    }

    /// Codes dictionary-encoded cells: each text is looked up once. Returns whether the cells were
    /// coded. They are not if the dictionary is too large.
    fn translate(&mut self, slot: usize, cells: CodedCells<'_>, to: &mut impl Codes) -> bool {
        let mut known = std::mem::take(&mut self.text_codes[slot]);
        let codes = known.of(cells.texts, cells.codes.len());
        let found = codes.is_some();
        if let Some(codes) = codes {
            let (front, rest) = cells.codes.split_at(cells.codes.len().min(FRONT));
            for (first, places) in [(0, front), (front.len(), rest)] {
                // By now most texts of the dictionary have a code.
                let listed = codes.len() <= places.len() / LISTED
                    && codes.iter().all(|code| ![UNKNOWN, MISSING].contains(code));
                if listed {
                    if to.put_listed(slot, first, places, codes) > 0 {
                        self.null();
                    }
                    continue;
                }
                let code = |&place: &u32| match codes.get_mut(place as usize) {
                    Some(code) if *code != UNKNOWN => *code,
                    Some(code) => {
                        *code = self.learn_once(slot, cells.texts.value(place as usize).as_bytes());
                        *code
                    }
                    // A null has no text.
                    None => self.null(),
                };
                to.put(slot, first, places.iter().map(code));
            }
        }
        self.text_codes[slot] = known;
        found
    }

    /// Codes integer cells: each integer is formatted and looked up once.
    fn number(&mut self, slot: usize, cells: WholeCells<'_>, to: &mut impl Codes) {
        let mut known = std::mem::take(&mut self.number_codes[slot]);
        let code = |(record, &number): (usize, &i64)| {
            if cells.nulls.is_some_and(|nulls| nulls.is_null(record)) {
                return self.null();
            }
            let mut code = known.get(number);
            if code == UNKNOWN {
                code = self.learn(slot, number.to_string().as_bytes());
                known.put(number, code);
            }
            code
        };
        to.put(slot, 0, cells.values.iter().enumerate().map(code));
        self.number_codes[slot] = known;
    }

    /// Codes Arrow string views. A view contains short texts inline.
    fn view(&mut self, slot: usize, cells: &StringViewArray, to: &mut impl Codes) {
        let code = |(record, &view): (usize, &u128)| {
            if cells.is_null(record) {
                return self.null();
            }
            let short = Short::of_view(view);
            match short.and_then(|short| self.caches[slot].find_short(short)) {
                // A missing value is looked up each time, as in `read`.
                None | Some(MISSING) => self.learn(slot, cells.value(record).as_bytes()),
                Some(code) => code,
            }
        };
        to.put(slot, 0, cells.views().iter().enumerate().map(code));
    }

    /// The code of a null, which counts as the empty text.
    #[cold]
    fn null(&mut self) -> u32 {
        let empty =
            self.spec.missing.iter().position(String::is_empty).unwrap_or(self.spec.missing.len());
        self.marker = self.marker.min(empty);
        MISSING
    }

    /// The code of a text.
    #[cold]
    fn learn(&mut self, slot: usize, text: &[u8]) -> u32 {
        match self.caches[slot].get(text) {
            Some(MISSING) => {
                let marker = self.spec.missing.iter().position(|m| m.as_bytes() == text);
                match marker {
                    Some(marker) => self.marker = self.marker.min(marker),
                    None => return self.null(),
                }
                MISSING
            }
            Some(code) => code,
            None => self.ask(slot, text),
        }
    }

    /// The code of a text that will not be looked up again. A long text is not added to the cache.
    #[cold]
    fn learn_once(&mut self, slot: usize, text: &[u8]) -> u32 {
        let is_long = Short::of(text).is_none();
        if is_long && !self.spec.missing.iter().any(|missing| missing.as_bytes() == text) {
            return self.intern(slot, text);
        }
        self.learn(slot, text)
    }

    #[cold]
    fn ask(&mut self, slot: usize, text: &[u8]) -> u32 {
        let code = self.intern(slot, text);
        if self.remembered > 0 {
            self.caches[slot].put(text, code);
            self.remembered -= 1;
        }
        code
    }

    fn intern(&mut self, slot: usize, text: &[u8]) -> u32 {
        let dictionary = self.dictionaries[slot].lock();
        let mut dictionary = dictionary.expect("no worker panics while it holds a dictionary");
        let before = dictionary.len();
        let code = dictionary.intern(text);
        if dictionary.len() > before {
            self.added += (PER_TEXT + COPIES * text.len()) as u64;
        }
        self.highest[slot] = self.highest[slot].max(code);
        code
    }
}
