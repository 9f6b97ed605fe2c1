//! Texts to numbers.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use incrowd_core::MISSING;
use std::hash::{BuildHasher, Hasher};

/// Distinct texts in order of first appearance. Code 0 is the missing value.
pub(crate) struct Interner {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    ends: Vec<usize>,
    hasher: FixedState,
}

// Cells must not reach logs.
impl std::fmt::Debug for Interner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interner").field("texts", &self.ends.len()).finish_non_exhaustive()
    }
}

impl Interner {
    pub(crate) fn new() -> Interner {
        Interner { table: HashTable::new(), bytes: Vec::new(), ends: vec![0], hasher: FixedState::default() }
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
        self.table.find(self.hash(text), |&code| self.at(code) == text).copied()
    }

    pub(crate) fn intern(&mut self, text: &[u8]) -> u32 {
        if let Some(code) = self.get(text) {
            return code;
        }
        let code = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        let rehash = |&c: &u32| hash(hasher, &bytes[ends[c as usize - 1]..ends[c as usize]]);
        self.table.insert_unique(hash(hasher, text), code, rehash);
        code
    }

    /// How many texts there are, the missing value not counted.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32 - 1
    }

    /// The texts by code, one after the other.
    pub(crate) fn into_texts(self) -> incrowd_core::PackedTexts {
        let mut texts = incrowd_core::PackedTexts::new();
        let starts = self.ends.iter();
        for (&start, &end) in starts.zip(&self.ends[1..]) {
            texts.push(&String::from_utf8_lossy(&self.bytes[start..end]));
        }
        texts
    }

    /// The texts by code; that of the missing value is empty.
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

/// A worker's own copy of what it has seen of a shared interner, so that it rarely has to ask. Nearly all cells of a table
/// about people are short; up to sixteen bytes are compared as two words, without following a pointer.
pub(crate) struct Cache {
    short: HashTable<Short>,
    long: HashTable<Long>,
    bytes: Vec<u8>,
    hasher: FixedState,
}

#[derive(Clone, Copy)]
struct Short {
    words: (u64, u64),
    length: u32,
    code: u32,
}

#[derive(Clone, Copy)]
struct Long {
    start: u32,
    length: u32,
    code: u32,
}

/// The bytes of a short text as two words that, with the length, determine it.
#[inline]
fn words(text: &[u8]) -> Option<(u64, u64)> {
    let four = |at: usize| text[at..].first_chunk().map(|c| u64::from(u32::from_le_bytes(*c)));
    let eight = |at: usize| text[at..].first_chunk().map(|c| u64::from_le_bytes(*c));
    match text.len() {
        0 => Some((0, 0)),
        n @ 1..=3 => {
            let byte = |i: usize| u64::from(text[i]);
            Some((byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16, 0))
        }
        n @ 4..=7 => Some((four(0)?, four(n - 4)?)),
        n @ 8..=16 => Some((eight(0)?, eight(n - 8)?)),
        _ => None,
    }
}

#[inline]
fn hash_words((a, b): (u64, u64), length: u32) -> u64 {
    let product =
        u128::from(a ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(b ^ 0x8bb8_4b93_962e_acc9 ^ u64::from(length));
    (product as u64) ^ ((product >> 64) as u64)
}

impl Cache {
    /// Knows from the start that the texts in `missing` are missing.
    pub(crate) fn new(missing: &[String]) -> Cache {
        let (short, long) = (HashTable::new(), HashTable::new());
        let mut cache = Cache { short, long, bytes: Vec::new(), hasher: FixedState::default() };
        missing.iter().for_each(|text| cache.put(text.as_bytes(), MISSING));
        cache
    }

    #[inline]
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        let length = text.len() as u32;
        if let Some(words) = words(text) {
            let same = |e: &Short| e.words == words && e.length == length;
            return self.short.find(hash_words(words, length), same).map(|e| e.code);
        }
        let same = |e: &Long| &self.bytes[e.start as usize..(e.start + e.length) as usize] == text;
        self.long.find(hash(&self.hasher, text), same).map(|e| e.code)
    }

    pub(crate) fn put(&mut self, text: &[u8], code: u32) {
        let length = text.len() as u32;
        if let Some(words) = words(text) {
            let entry = Short { words, length, code };
            self.short.insert_unique(hash_words(words, length), entry, |e| hash_words(e.words, e.length));
            return;
        }
        // A column with gigabytes of distinct text is not worth copying; the shared interner still knows it.
        if self.bytes.len() + text.len() > u32::MAX as usize {
            return;
        }
        let entry = Long { start: self.bytes.len() as u32, length, code };
        self.bytes.extend_from_slice(text);
        let (bytes, hasher) = (&self.bytes, &self.hasher);
        let rehash = |e: &Long| hash(hasher, &bytes[e.start as usize..(e.start + e.length) as usize]);
        self.long.insert_unique(hash(hasher, text), entry, rehash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Texts over two letters, so that many differ in a single byte at any position.
        #[test]
        fn cache_and_interner_tell_texts_apart(texts in prop::collection::vec("[ab]{0,20}", 1..60)) {
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
    }
}
