//! Columns whose cells come as numbers or as views: their codes, column by column.

use arrow_array::{Array, StringViewArray};
use incrowd_core::MISSING;

use super::worker::FoldWorker;
use crate::cells::NO_TEXT;
use crate::codes::UNKNOWN;
use crate::intern::Short;
use crate::source::{CodedCells, WholeCells};

impl FoldWorker<'_> {
    /// Cells that came as numbers of texts: each text is looked up once. Whether that was worth it.
    pub(super) fn translate(&mut self, slot: usize, cells: CodedCells<'_>) -> bool {
        let mut known = std::mem::take(&mut self.text_codes[slot]);
        let codes = known.of(cells.texts, cells.codes.len());
        let found = codes.is_some();
        if let Some(codes) = codes {
            let width = self.caches.len();
            for (record, &place) in cells.codes.iter().enumerate() {
                if place == NO_TEXT {
                    self.note_null();
                    continue;
                }
                let mut code = codes[place as usize];
                if code == UNKNOWN {
                    code = self.learn(slot, cells.texts.value(place as usize).as_bytes());
                    codes[place as usize] = code;
                }
                self.codes[record * width + slot] = code;
            }
        }
        self.text_codes[slot] = known;
        found
    }

    /// Cells that are whole numbers: each number is spelled and looked up once.
    pub(super) fn number(&mut self, slot: usize, cells: WholeCells<'_>) {
        let mut known = std::mem::take(&mut self.number_codes[slot]);
        let width = self.caches.len();
        for (record, &number) in cells.values.iter().enumerate() {
            if cells.nulls.is_some_and(|nulls| nulls.is_null(record)) {
                self.note_null();
                continue;
            }
            let mut code = known.get(number);
            if code == UNKNOWN {
                code = self.learn(slot, number.to_string().as_bytes());
                known.put(number, code);
            }
            self.codes[record * width + slot] = code;
        }
        self.number_codes[slot] = known;
    }

    /// Cells that came as views, which hold short texts themselves.
    pub(super) fn view(&mut self, slot: usize, cells: &StringViewArray) {
        let width = self.caches.len();
        for (record, &view) in cells.views().iter().enumerate() {
            if cells.is_null(record) {
                self.note_null();
                continue;
            }
            let short = Short::of_view(view);
            let known = short.and_then(|short| self.caches[slot].find_short(short));
            self.codes[record * width + slot] = match known {
                // Which text says that it is missing is looked up each time: the first of them is told.
                None | Some(MISSING) => self.learn(slot, cells.value(record).as_bytes()),
                Some(code) => code,
            };
        }
    }

    /// A null is the empty text.
    pub(super) fn note_null(&mut self) {
        let empty = self.spec.missing.iter().position(String::is_empty).unwrap_or(self.spec.missing.len());
        self.marker = self.marker.min(empty);
    }

    /// The code of a text.
    pub(super) fn learn(&mut self, slot: usize, text: &[u8]) -> u32 {
        match self.caches[slot].get(text) {
            Some(MISSING) => {
                let marker = self.spec.missing.iter().position(|m| m.as_bytes() == text);
                match marker {
                    Some(marker) => self.marker = self.marker.min(marker),
                    None => self.note_null(),
                }
                MISSING
            }
            Some(code) => code,
            None => self.ask(slot, text),
        }
    }

    #[cold]
    pub(super) fn ask(&mut self, slot: usize, text: &[u8]) -> u32 {
        let code = self.dictionaries[slot]
            .lock()
            .expect("no worker panics while it holds a dictionary")
            .intern(text);
        self.caches[slot].put(text, code);
        self.highest[slot] = self.highest[slot].max(code);
        code
    }
}
