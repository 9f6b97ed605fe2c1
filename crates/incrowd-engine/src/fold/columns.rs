//! The codes of a batch, column by column. Where they are put is somebody else's business: [row by row](RowByRow), or straight into
//! [numbers](super::numbers).

use arrow_array::{Array, StringViewArray};
use incrowd_core::MISSING;

use super::worker::FoldWorker;
use crate::codes::UNKNOWN;
use crate::intern::Short;
use crate::source::{CodedCells, Records, WholeCells};

/// Records whose text is looked at together.
const NEAR: usize = 1 << 10;

/// Records of a batch whose texts are looked up one by one: after them it may be that all are known.
const FRONT: usize = 1 << 11;
/// So many records must there be for each text, so that it is worth asking whether all are known.
const LISTED: usize = 8;

/// Takes the codes of a batch.
pub(super) trait Codes {
    /// The codes of a column from a record on.
    fn put(&mut self, slot: usize, first: usize, codes: impl Iterator<Item = u32>);

    /// The same for cells that are places in a list of codes, none of which is that of a missing value. Returns how many are no such
    /// places: those are missing.
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

/// The codes of a row, then those of the next.
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
    /// The codes of all cells of a batch.
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
        // Column by column, so that the processor learns what to expect, but so few records at once that their text stays near.
        let mut near = [MISSING; NEAR];
        for first in (0..records.len()).step_by(NEAR) {
            let near = &mut near[..NEAR.min(records.len() - first)];
            for &slot in &texts {
                self.read(slot, first, records, near);
                to.put(slot, first, near.iter().copied());
            }
        }
    }

    /// The codes of a column's texts from a record on.
    fn read<R: Records>(&mut self, slot: usize, first: usize, records: &R, codes: &mut [u32]) {
        for (record, code) in (first..).zip(codes) {
            *code = match records.cell(record, slot) {
                None => self.null(),
                Some((text, short)) => match self.caches[slot].find(text, short) {
                    // Which text says that it is missing is looked up each time: the first of them is told.
                    None | Some(MISSING) => self.learn(slot, text),
                    Some(code) => code,
                },
            };
        }
    }

    /// Cells that came as numbers of texts: each text is looked up once. Whether that was worth it.
    fn translate(&mut self, slot: usize, cells: CodedCells<'_>, to: &mut impl Codes) -> bool {
        let mut known = std::mem::take(&mut self.text_codes[slot]);
        let codes = known.of(cells.texts, cells.codes.len());
        let found = codes.is_some();
        if let Some(codes) = codes {
            let (front, rest) = cells.codes.split_at(cells.codes.len().min(FRONT));
            for (first, places) in [(0, front), (front.len(), rest)] {
                // Most texts were met by then.
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
                    // There is no text.
                    None => self.null(),
                };
                to.put(slot, first, places.iter().map(code));
            }
        }
        self.text_codes[slot] = known;
        found
    }

    /// Cells that are whole numbers: each number is spelled and looked up once.
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

    /// Cells that came as views, which hold short texts themselves.
    fn view(&mut self, slot: usize, cells: &StringViewArray, to: &mut impl Codes) {
        let code = |(record, &view): (usize, &u128)| {
            if cells.is_null(record) {
                return self.null();
            }
            let short = Short::of_view(view);
            match short.and_then(|short| self.caches[slot].find_short(short)) {
                // As above.
                None | Some(MISSING) => self.learn(slot, cells.value(record).as_bytes()),
                Some(code) => code,
            }
        };
        to.put(slot, 0, cells.views().iter().enumerate().map(code));
    }

    /// A null is the empty text.
    #[cold]
    fn null(&mut self) -> u32 {
        let empty = self.spec.missing.iter().position(String::is_empty).unwrap_or(self.spec.missing.len());
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

    /// The same of a text about which nobody will ask again: a long one is not kept in the cache.
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
        self.caches[slot].put(text, code);
        code
    }

    fn intern(&mut self, slot: usize, text: &[u8]) -> u32 {
        let dictionary = self.dictionaries[slot].lock();
        let code = dictionary.expect("no worker panics while it holds a dictionary").intern(text);
        self.highest[slot] = self.highest[slot].max(code);
        code
    }
}
