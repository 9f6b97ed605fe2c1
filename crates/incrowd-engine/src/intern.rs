//! String interner: maps byte strings to dense `u32` codes.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{MISSING, SameKeys, Spellings};
use std::hash::{BuildHasher, Hasher};

use crate::table::{SMALL_DICTIONARY, SMALL_TEXTS};

/// The bytes that a text occupies in addition to its own bytes.
const PER_TEXT: usize = 64;

/// Distinct texts in order of first appearance. Code 0 is the missing value.
pub(crate) struct Interner {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    /// The end of each text in `bytes`.
    ends: Vec<usize>,
    hasher: FixedState,
}

incrowd_core::opaque_debug!(Interner { texts: |interner| interner.ends.len() });

impl Interner {
    pub(crate) fn new() -> Interner {
        Interner {
            table: HashTable::new(),
            bytes: Vec::new(),
            ends: vec![0],
            hasher: FixedState::default(),
        }
    }

    #[inline]
    fn hash(&self, text: &[u8]) -> u64 {
        hash(&self.hasher, text)
    }

    #[inline]
    fn at(&self, code: u32) -> &[u8] {
        let code = code as usize;
        &self.bytes[self.ends[code - 1]..self.ends[code]]
    }

    #[inline]
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        self.find(self.hash(text), text)
    }

    #[inline]
    fn find(&self, hash: u64, text: &[u8]) -> Option<u32> {
        self.table.find(hash, |&code| self.at(code) == text).copied()
    }

    pub(crate) fn intern(&mut self, text: &[u8]) -> u32 {
        let own = self.hash(text);
        if let Some(code) = self.find(own, text) {
            return code;
        }
        let code = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        let rehash = |&c: &u32| hash(hasher, &bytes[ends[c as usize - 1]..ends[c as usize]]);
        self.table.insert_unique(own, code, rehash);
        code
    }

    /// The text of a code; `None` for the missing value.
    pub(crate) fn text(&self, code: u32) -> Option<&[u8]> {
        (code != MISSING).then(|| self.at(code))
    }

    /// Whether the table of a column with this dictionary certainly has codes only. That does not
    /// depend on the threads that filled it.
    pub(crate) fn is_small(&self) -> bool {
        self.len() <= SMALL_DICTIONARY && self.bytes.len() <= SMALL_TEXTS
    }

    /// The approximate memory use in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (self.bytes.len() + self.ends.len() * PER_TEXT) as u64
    }

    /// Finds texts that are different spellings of one value, and counts them. Texts are identified
    /// by their codes minus 1.
    pub(crate) fn same_keys(&self, mark: DecimalMark) -> (SameKeys, Spellings) {
        let text = |number: u32| String::from_utf8_lossy(self.at(number + 1));
        let find = |key: &str| self.get(key.as_bytes()).map(|code| code - 1);
        let same = SameKeys::of(self.len() as usize, mark, text, find);
        let spellings = Spellings::of(&same, self.len() as usize, text);
        (same, spellings)
    }

    /// The number of texts without the missing value.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32 - 1
    }

    /// The concatenated bytes of all texts, and their ends. The text of code `i` is between ends `i
    /// - 1` and `i`.
    pub(crate) fn into_bytes(self) -> (Vec<u8>, Vec<usize>) {
        (self.bytes, self.ends)
    }

    /// The texts by code, concatenated.
    pub(crate) fn into_texts(self) -> incrowd_core::PackedTexts {
        let mut texts = incrowd_core::PackedTexts::new();
        let starts = self.ends.iter();
        for (&start, &end) in starts.zip(&self.ends[1..]) {
            texts.push(&String::from_utf8_lossy(&self.bytes[start..end]));
        }
        texts
    }

    /// The texts by code. The text of the missing value is empty.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |code: usize| {
            String::from_utf8_lossy(&self.bytes[self.ends[code - 1]..self.ends[code]]).into_owned()
        };
        std::iter::once(String::new()).chain((1..self.ends.len()).map(text)).collect()
    }
}

#[inline]
fn hash(state: &FixedState, text: &[u8]) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write(text);
    hasher.finish()
}

/// A text of at most sixteen bytes, as a number padded with zeros, and its length. Nearly all cells
/// of a table about people are that short. They are compared without following a pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Short {
    /// The first eight bytes, and the last eight.
    words: [u64; 2],
    length: u32,
}

/// For each length, the mask of the bytes that belong to a text.
const KEPT: [u128; 17] = {
    let mut kept = [0; 17];
    let mut length = 1;
    while length <= 16 {
        kept[length] = u128::MAX >> (128 - 8 * length);
        length += 1;
    }
    kept
};

impl Short {
    #[inline]
    fn new(bytes: u128, length: usize) -> Short {
        Short { words: [bytes as u64, (bytes >> 64) as u64], length: length as u32 }
    }

    #[inline]
    pub(crate) fn of(text: &[u8]) -> Option<Short> {
        let four = |at: usize| {
            text[at..].first_chunk().map(|c| u128::from(u32::from_le_bytes(*c)) << (8 * at))
        };
        let eight = |at: usize| {
            text[at..].first_chunk().map(|c| u128::from(u64::from_le_bytes(*c)) << (8 * at))
        };
        let byte = |at: usize| u128::from(text[at]) << (8 * at);
        // Two reads may overlap. The overlapping bytes are equal, so OR combines them.
        let bytes = match text.len() {
            0 => 0,
            n @ 1..=3 => byte(0) | byte(n / 2) | byte(n - 1),
            n @ 4..=7 => four(0)? | four(n - 4)?,
            n @ 8..=16 => eight(0)? | eight(n - 8)?,
            _ => return None,
        };
        Some(Short::new(bytes, text.len()))
    }

    /// The text at a position in other bytes. Lengths of texts are unpredictable, so there is no
    /// branch on the length except whether the text is short.
    #[inline]
    pub(crate) fn at(bytes: &[u8], start: usize, length: usize) -> Option<Short> {
        let kept = KEPT.get(length)?;
        match bytes[start..].first_chunk::<16>() {
            Some(sixteen) => Some(Short::new(u128::from_le_bytes(*sixteen) & kept, length)),
            None => Short::of(&bytes[start..start + length]),
        }
    }

    /// The text of an Arrow string view, if it is inline: four bytes of length, then up to twelve
    /// bytes of text.
    #[inline]
    pub(crate) fn of_view(view: u128) -> Option<Short> {
        let length = view as u32 as usize;
        (length <= 12).then(|| Short::new(view >> 32 & KEPT[length], length))
    }

    #[inline]
    fn hash(self) -> u64 {
        let [a, b] = self.words;
        let b = b ^ 0x8bb8_4b93_962e_acc9 ^ u64::from(self.length);
        // Folded multiplication: the upper and the lower half of the 128-bit product are combined.
        let product = u128::from(a ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    }
}

/// A worker's copy of the shared interner's texts that it has used, so that it rarely needs the
/// lock.
pub(crate) struct Cache {
    short: Shorts,
    long: HashTable<Long>,
    bytes: Vec<u8>,
    hasher: FixedState,
}

#[derive(Clone, Copy)]
struct Long {
    start: u32,
    length: u32,
    code: u32,
}

/// Hash table of short texts with open addressing. Nearly every lookup accesses memory once.
struct Shorts {
    slots: Vec<Slot>,
    used: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    words: [u64; 2],
    length: u32,
    code: u32,
}

impl Slot {
    /// An empty slot has a length that no text has.
    const EMPTY: Slot = Slot { words: [0, 0], length: u32::MAX, code: 0 };

    #[inline]
    fn is_empty(&self) -> bool {
        self.length == u32::MAX
    }

    fn text(&self) -> Short {
        Short { words: self.words, length: self.length }
    }
}

impl Shorts {
    fn new() -> Shorts {
        // The first table is small, because a file may have many columns.
        Shorts { slots: vec![Slot::EMPTY; 8], used: 0 }
    }

    /// The index of the slot that has a text, or of the empty slot where it would be inserted.
    #[inline]
    fn place(&self, text: Short) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = text.hash() as usize & mask;
        loop {
            let own = &self.slots[at];
            // `&` in place of `&&` avoids a branch. The length distinguishes texts with trailing
            // zero bytes.
            if own.is_empty() || ((own.words == text.words) & (own.length == text.length)) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn get(&self, text: Short) -> Option<u32> {
        let own = &self.slots[self.place(text)];
        (!own.is_empty()).then_some(own.code)
    }

    fn put(&mut self, text: Short, code: u32) {
        // At most a quarter of the slots is used. A second probe costs more than a larger table.
        if 4 * (self.used + 1) > self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![Slot::EMPTY; 2 * old.len()];
            for own in old.into_iter().filter(|own| !own.is_empty()) {
                let at = self.place(own.text());
                self.slots[at] = own;
            }
        }
        let at = self.place(text);
        self.used += usize::from(self.slots[at].is_empty());
        self.slots[at] = Slot { words: text.words, length: text.length, code };
    }
}

impl Cache {
    /// Makes a cache that knows the texts in `missing` as missing values.
    pub(crate) fn new(missing: &[String]) -> Cache {
        let (short, long) = (Shorts::new(), HashTable::new());
        let mut cache = Cache { short, long, bytes: Vec::new(), hasher: FixedState::default() };
        missing.iter().for_each(|text| cache.put(text.as_bytes(), MISSING));
        cache
    }

    #[inline]
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        self.find(text, Short::of(text))
    }

    /// The code of a text, with its short form if it has one.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], short: Option<Short>) -> Option<u32> {
        match short {
            Some(short) => self.short.get(short),
            None => self.find_long(text),
        }
    }

    /// The code of a short text.
    #[inline]
    pub(crate) fn find_short(&self, text: Short) -> Option<u32> {
        self.short.get(text)
    }

    fn find_long(&self, text: &[u8]) -> Option<u32> {
        let same = |e: &Long| &self.bytes[e.start as usize..(e.start + e.length) as usize] == text;
        self.long.find(hash(&self.hasher, text), same).map(|e| e.code)
    }

    /// The bytes of all texts that are not short.
    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn put(&mut self, text: &[u8], code: u32) {
        if let Some(short) = Short::of(text) {
            return self.short.put(short, code);
        }
        // A column with gigabytes of distinct texts is not copied. The shared interner still has
        // the texts.
        if self.bytes.len() + text.len() > u32::MAX as usize {
            return;
        }
        let entry = Long { start: self.bytes.len() as u32, length: text.len() as u32, code };
        self.bytes.extend_from_slice(text);
        let (bytes, hasher) = (&self.bytes, &self.hasher);
        let rehash =
            |e: &Long| hash(hasher, &bytes[e.start as usize..(e.start + e.length) as usize]);
        self.long.insert_unique(hash(hasher, text), entry, rehash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Texts over two letters: many differ in a single byte at any position.
        #[test]
        fn cache_and_interner_distinguish_texts(texts in prop::collection::vec("[ab]{0,20}", 1..60)) {
            let mut interner = Interner::new();
            let mut cache = Cache::new(&["?".to_owned()]);
            for text in &texts {
                let known = interner.get(text.as_bytes());
                let code = interner.intern(text.as_bytes());
                prop_assert!(known.is_none_or(|k| k == code));
                match cache.get(text.as_bytes()) {
                    Some(cached) => prop_assert_eq!(cached, code),
                    None => cache.put(text.as_bytes(), code),
                }
                prop_assert_eq!(&interner.texts()[code as usize], text);
            }
            prop_assert_eq!(cache.get(b"?"), Some(MISSING));
        }

        /// The short form does not depend on the position of a text or on the bytes after it.
        #[test]
        fn a_short_text_does_not_depend_on_its_position(
            text in prop::collection::vec(0u8..3, 0..20),
            after in prop::collection::vec(0u8..3, 0..20),
        ) {
            let mut padded = vec![7; 3];
            padded.extend(&text);
            padded.extend(after);
            let there = Short::at(&padded, 3, text.len());
            prop_assert_eq!(there.is_some(), text.len() <= 16);
            prop_assert!(there == Short::of(&text));
            let letters: String = text.iter().map(|n| char::from(b'a' + n)).collect();
            let views = arrow_array::StringViewArray::from_iter_values([&letters]);
            let expected = Short::of(letters.as_bytes()).filter(|_| text.len() <= 12);
            prop_assert!(Short::of_view(views.views()[0]) == expected);
            if let Some(there) = there {
                let bytes: Vec<u8> =
                    there.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                prop_assert_eq!(&bytes[..text.len()], &text[..]);
                prop_assert!(bytes[text.len()..].iter().all(|byte| *byte == 0));
            }
        }
    }
}
