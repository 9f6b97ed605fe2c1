//! Dictionary coding of the cells of one column.
//!
//! All threads share the dictionary of a column. Each thread has a [`ColumnCoder`] with a cache of
//! earlier lookups, so that it rarely needs the lock.

use std::borrow::Cow;
use std::sync::Mutex;

use incrowd_core::MISSING;

use crate::cells::NO_TEXT;
use crate::codes::{NumberCodes, TextCodes, UNKNOWN};
use crate::intern::{Cache, Interner};
use crate::source::Records;

/// Texts longer than this number of bytes may be shortened.
pub(crate) const LONGEST: usize = 96;

/// Bytes of a shortened text before its digest.
const PREFIX: usize = 60;

/// The maximum number of texts of a column in a thread's cache. A column with more distinct texts
/// has few repetitions, so that a cache does not help.
const MOST_CACHED: usize = 1 << 18;

/// One thread's access to the dictionary of a column.
pub(crate) struct ColumnCoder<'a> {
    dictionary: &'a Mutex<Interner>,
    cache: Cache,
    /// The number of texts that the cache may still add.
    room: usize,
    /// The codes of the last Arrow dictionary, and the codes of integers.
    text_codes: TextCodes,
    number_codes: NumberCodes,
    /// Whether texts longer than [`LONGEST`] are replaced by a prefix and a digest.
    shortens: bool,
    /// The bytes added to the dictionary.
    added: u64,
    /// The number of coded cells, and the number of those that were not in the cache.
    cells: u64,
    misses: u64,
}

impl<'a> ColumnCoder<'a> {
    /// Makes a coder. The texts in `missing` are missing values. The cache has at most `cached`
    /// texts.
    pub(crate) fn new(
        dictionary: &'a Mutex<Interner>,
        missing: &[String],
        cached: usize,
    ) -> ColumnCoder<'a> {
        ColumnCoder {
            dictionary,
            cache: Cache::new(missing),
            room: cached.min(MOST_CACHED),
            text_codes: TextCodes::default(),
            number_codes: NumberCodes::default(),
            shortens: false,
            added: 0,
            cells: 0,
            misses: 0,
        }
    }

    /// Makes the coder shorten long texts to a prefix and a digest. Different texts stay different,
    /// and long texts do not fill the memory.
    pub(crate) fn shortening(self) -> ColumnCoder<'a> {
        ColumnCoder { shortens: true, ..self }
    }

    /// The bytes that this coder has added to the dictionary.
    pub(crate) fn added(&self) -> u64 {
        self.added
    }

    /// Whether so few cells repeat that the dictionary would be larger and slower than the texts.
    pub(crate) fn is_useless(&self) -> bool {
        self.misses > 1 << 14 && 4 * self.misses > self.cells
    }

    /// Appends the codes of all cells of a slot. A null is [`MISSING`].
    pub(crate) fn code<R: Records>(&mut self, records: &R, slot: usize, out: &mut Vec<u32>) {
        self.cells += records.len() as u64;
        out.reserve(records.len());
        if let Some(cells) = records.whole(slot) {
            let mut known = std::mem::take(&mut self.number_codes);
            for (record, &number) in cells.values.iter().enumerate() {
                if cells.nulls.is_some_and(|nulls| nulls.is_null(record)) {
                    out.push(MISSING);
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
            return;
        }
        if let Some(cells) = records.coded(slot) {
            let mut known = std::mem::take(&mut self.text_codes);
            let codes = known.of(cells.texts, cells.codes.len());
            let is_worth_it = codes.is_some();
            if let Some(codes) = codes {
                for &place in cells.codes {
                    let Some(known) = codes.get_mut(place as usize) else {
                        debug_assert_eq!(place, NO_TEXT);
                        out.push(MISSING);
                        continue;
                    };
                    if *known == UNKNOWN {
                        *known = self.look_up(cells.texts.value(place as usize).as_bytes());
                    }
                    out.push(*known);
                }
            }
            self.text_codes = known;
            if is_worth_it {
                return;
            }
        }
        for record in 0..records.len() {
            out.push(match records.cell(record, slot) {
                None => MISSING,
                Some((text, short)) => {
                    let known = short.and_then(|short| self.cache.find_short(short));
                    known.unwrap_or_else(|| self.look_up(text))
                }
            });
        }
    }

    #[inline]
    fn look_up(&mut self, text: &[u8]) -> u32 {
        if self.shortens && text.len() > LONGEST {
            return self.look_up_exact(&shortened(text));
        }
        self.look_up_exact(text)
    }

    fn look_up_exact(&mut self, text: &[u8]) -> u32 {
        if let Some(code) = self.cache.get(text) {
            return code;
        }
        self.misses += 1;
        let shared = self.dictionary.lock();
        let mut shared = shared.expect("no thread panics while it holds a dictionary");
        let before = shared.memory();
        let code = shared.intern(text);
        self.added += shared.memory() - before;
        if self.room > 0 {
            self.cache.put(text, code);
            self.room -= 1;
        }
        code
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
