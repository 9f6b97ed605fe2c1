//! Dictionary coding of the cells of one column.
//!
//! All threads share the dictionary of a column. Each thread has a [`ColumnCoder`] with a cache of
//! earlier lookups, so that it rarely needs the lock.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::RwLock;

use arrow_array::{Array, StringViewArray};
use incrowd_core::MISSING;

use super::codes::{NumberCodes, TextCodes, UNKNOWN};
use crate::intern::{Cache, Interner, Short};
use crate::join::identity::is_missing_identifier;
use crate::source::{CodedCells, Records, WholeCells};

/// Texts longer than this number of bytes may be shortened.
pub(crate) const LONGEST: usize = 96;

/// Bytes of a shortened text before its digest.
const PREFIX: usize = 60;

/// The maximum number of texts of a column in a thread's cache. A column with more distinct texts
/// has few repetitions, so that a cache does not help.
const MOST_CACHED: usize = 1 << 20;

/// A column whose dictionary is larger than this, in texts or in bytes, may have texts in place of
/// codes. The cache of a thread has at most as many bytes of texts.
pub(crate) const SMALL_DICTIONARY: u32 = 1 << 16;
pub(crate) const SMALL_TEXTS: usize = 16 << 20;

/// The bytes that a distinct text of a folded column occupies in addition to its own bytes, and the
/// number of copies of it, when a release is made. The copies are in the dictionary, in the folded
/// table, in the column's domain, in the labels and in the table that is read back. Measured on
/// tables with a million distinct texts.
const PER_FOLDED_TEXT: usize = 448;
const COPIES: usize = 5;

/// How a column is coded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coding<'a> {
    /// Texts that mean a missing value. A null always does.
    pub(crate) missing: &'a [String],
    /// Whether every [spelling](is_missing_identifier) of such a text is missing. This is decided
    /// before a text is added to the dictionary, not once per record.
    pub(crate) is_person: bool,
    /// Whether texts longer than [`LONGEST`] are replaced by a prefix and a digest. Different texts
    /// stay different, and long texts do not fill the memory.
    pub(crate) shortens: bool,
    /// Whether the column is folded, so that each distinct text is copied later.
    pub(crate) is_folded: bool,
}

/// One thread's access to the dictionary of a column.
pub(crate) struct ColumnCoder<'a> {
    dictionary: &'a RwLock<Interner>,
    coding: Coding<'a>,
    cache: Cache,
    /// The number of texts that the cache may still add.
    room: usize,
    /// The codes of the last Arrow dictionary, and the codes of integers.
    text_codes: TextCodes,
    number_codes: NumberCodes,
    /// The lowest index into the list of missing-value texts that occurred. A null counts as the
    /// empty text.
    marker: usize,
    /// The bytes added to the dictionary, and copies made of them later.
    added: u64,
    /// The number of coded cells, and the number of texts that this coder added to the dictionary.
    cells: u64,
    new: u64,
    /// Whether the dictionary of all threads was large when this coder last added a text.
    is_large: bool,
}

impl<'a> ColumnCoder<'a> {
    /// Makes a coder. Its cache has at most `cached` texts.
    pub(crate) fn new(
        dictionary: &'a RwLock<Interner>,
        coding: Coding<'a>,
        cached: usize,
    ) -> ColumnCoder<'a> {
        ColumnCoder {
            dictionary,
            coding,
            cache: Cache::new(coding.missing),
            room: cached.min(MOST_CACHED),
            text_codes: TextCodes::default(),
            number_codes: NumberCodes::default(),
            marker: coding.missing.len(),
            added: 0,
            cells: 0,
            new: 0,
            is_large: false,
        }
    }

    /// The bytes that this coder has added to the dictionary, with copies made of them later.
    pub(crate) fn added(&self) -> u64 {
        self.added
    }

    /// The lowest index into the list of missing-value texts that occurred, or its length.
    pub(crate) fn marker(&self) -> usize {
        self.marker
    }

    /// Whether the dictionary is large, and so few cells repeat that it would be larger and slower
    /// than the texts.
    pub(crate) fn is_useless(&self) -> bool {
        self.is_large && 4 * self.new > self.cells
    }

    /// Appends the codes of all cells of a slot. Returns `false`, and appends nothing, if the cells
    /// must be read as [texts](ColumnCoder::code_texts).
    pub(crate) fn code<R: Records>(
        &mut self,
        records: &R,
        slot: usize,
        out: &mut Vec<u32>,
    ) -> bool {
        out.reserve(records.len());
        if let Some(cells) = records.whole(slot) {
            self.code_numbers(cells, out);
        } else if let Some(cells) = records.views(slot) {
            self.code_views(cells, out);
        } else if !records.coded(slot).is_some_and(|cells| self.code_dictionary(cells, out)) {
            return false;
        }
        self.cells += records.len() as u64;
        true
    }

    /// Codes integer cells: each integer is formatted and looked up once.
    fn code_numbers(&mut self, cells: WholeCells<'_>, out: &mut Vec<u32>) {
        let mut known = std::mem::take(&mut self.number_codes);
        for (record, &number) in cells.values.iter().enumerate() {
            if cells.nulls.is_some_and(|nulls| nulls.is_null(record)) {
                out.push(self.null());
                continue;
            }
            let mut code = known.get(number);
            if code == UNKNOWN {
                code = self.look_up(number.to_string().as_bytes());
                known.put(number, code);
            }
            out.push(code);
        }
        self.number_codes = known;
    }

    /// Codes Arrow string views. A view contains short texts inline.
    fn code_views(&mut self, cells: &StringViewArray, out: &mut Vec<u32>) {
        for (record, &view) in cells.views().iter().enumerate() {
            if cells.is_null(record) {
                out.push(self.null());
                continue;
            }
            let short = Short::of_view(view);
            out.push(match short.and_then(|short| self.cache.find_short(short)) {
                // A missing value is looked up each time, to note its text.
                None | Some(MISSING) => self.look_up(cells.value(record).as_bytes()),
                Some(code) => code,
            });
        }
    }

    /// Codes dictionary-encoded cells: each text is looked up once. Returns `false` if the
    /// dictionary is too large for that.
    fn code_dictionary(&mut self, cells: CodedCells<'_>, out: &mut Vec<u32>) -> bool {
        let mut known = std::mem::take(&mut self.text_codes);
        let codes = known.of(cells.texts, cells.codes.len());
        let is_coded = codes.is_some();
        if let Some(codes) = codes {
            let code = |&place: &u32| match codes.get_mut(place as usize) {
                Some(code) if *code != UNKNOWN => *code,
                Some(code) => {
                    *code = self.look_up_once(cells.texts.value(place as usize).as_bytes());
                    *code
                }
                // A null has no text.
                None => self.null(),
            };
            out.extend(cells.codes.iter().map(code));
        }
        self.text_codes = known;
        is_coded
    }

    /// Appends the codes of the texts of some records.
    pub(crate) fn code_texts<R: Records>(
        &mut self,
        records: &R,
        slot: usize,
        range: Range<usize>,
        out: &mut Vec<u32>,
    ) {
        self.cells += range.len() as u64;
        for record in range {
            out.push(match records.cell(record, slot) {
                None => self.null(),
                Some((text, short)) => match short.and_then(|short| self.cache.find_short(short)) {
                    // A missing value is looked up each time, to note its text.
                    None | Some(MISSING) => self.look_up(text),
                    Some(code) => code,
                },
            });
        }
    }

    /// The code of a null, which counts as the empty text.
    #[cold]
    fn null(&mut self) -> u32 {
        let missing = self.coding.missing;
        let empty = missing.iter().position(String::is_empty).unwrap_or(missing.len());
        self.marker = self.marker.min(empty);
        MISSING
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        if self.coding.shortens && text.len() > LONGEST {
            return self.look_up_exact(&shortened(text), true);
        }
        self.look_up_exact(text, true)
    }

    /// The code of a text that will not be looked up again. A long text is not added to the cache.
    fn look_up_once(&mut self, text: &[u8]) -> u32 {
        match Short::of(text) {
            None if !self.coding.shortens => self.look_up_exact(text, false),
            _ => self.look_up(text),
        }
    }

    fn look_up_exact(&mut self, text: &[u8], is_cached: bool) -> u32 {
        match self.cache.get(text) {
            Some(MISSING) => {
                let marker = self.coding.missing.iter().position(|own| own.as_bytes() == text);
                self.marker = self.marker.min(marker.unwrap_or(self.coding.missing.len()));
                return MISSING;
            }
            Some(code) => return code,
            None => {}
        }
        let missing = self.coding.missing;
        // Threads that look up known texts do not wait for each other.
        let no_panic = "no thread panics while it holds a dictionary";
        let known = self.dictionary.read().expect(no_panic).get(text);
        let code = known.unwrap_or_else(|| {
            // A missing identifier is never added to the dictionary.
            if self.coding.is_person && is_missing_identifier(text, missing) {
                return MISSING;
            }
            let mut shared = self.dictionary.write().expect(no_panic);
            let before = (shared.memory(), shared.len());
            let code = shared.intern(text);
            // Another thread may have added the text in between.
            if shared.len() > before.1 {
                self.new += 1;
                self.is_large = !shared.is_small();
                self.added += match self.coding.is_folded {
                    true => (PER_FOLDED_TEXT + COPIES * text.len()) as u64,
                    false => shared.memory() - before.0,
                };
            }
            code
        });
        self.remember(text, code, is_cached);
        code
    }

    /// Adds a text to the cache, if there is room.
    fn remember(&mut self, text: &[u8], code: u32, is_cached: bool) {
        if self.room > 0 && is_cached && self.cache.text_bytes() + text.len() <= SMALL_TEXTS {
            self.cache.put(text, code);
            self.room -= 1;
        }
    }
}

/// A long text as a prefix and a digest. Other texts are returned unchanged.
pub(crate) fn shortened(text: &[u8]) -> Cow<'_, [u8]> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    // A cut within a UTF-8 character would make the text invalid. Continuation bytes are
    // 0b10xxxxxx.
    let end = (0..=PREFIX).rev().find(|&end| text[end] & 0xC0 != 0x80).unwrap_or(0);
    let mut short = text[..end].to_vec();
    let digest = blake3::hash(text).to_hex();
    short.extend_from_slice(" …".as_bytes());
    short.extend_from_slice(&digest.as_bytes()[..32]);
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_stay_different_and_become_short() {
        let long = "ä".repeat(400);
        let (one, other) = (format!("{long}1"), format!("{long}2"));
        let (one, other) = (shortened(one.as_bytes()), shortened(other.as_bytes()));
        assert_ne!(one, other);
        assert!(one.len() <= LONGEST + 4 && std::str::from_utf8(&one).is_ok());
        assert_eq!(shortened(b"short").as_ref(), b"short");
    }
}
