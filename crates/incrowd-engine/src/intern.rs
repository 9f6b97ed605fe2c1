//! Texts to numbers.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use incrowd_core::MISSING;
use std::hash::{BuildHasher, Hasher};

/// Distinct texts in order of first appearance. Code 0 is the missing value.
#[derive(Debug)]
pub(crate) struct Interner {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    ends: Vec<usize>,
    hasher: FixedState,
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

/// A worker's own copy of what it has seen of a shared interner, so that it rarely has to ask.
#[derive(Debug)]
pub(crate) struct Cache {
    table: HashTable<Entry>,
    bytes: Vec<u8>,
    hasher: FixedState,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    length: u32,
    code: u32,
}

impl Cache {
    /// Knows from the start that the texts in `missing` are missing.
    pub(crate) fn new(missing: &[String]) -> Cache {
        let mut cache = Cache { table: HashTable::new(), bytes: Vec::new(), hasher: FixedState::default() };
        missing.iter().for_each(|text| cache.put(text.as_bytes(), MISSING));
        cache
    }

    #[inline]
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        let same = |e: &Entry| &self.bytes[e.start as usize..(e.start + e.length) as usize] == text;
        self.table.find(hash(&self.hasher, text), same).map(|e| e.code)
    }

    pub(crate) fn put(&mut self, text: &[u8], code: u32) {
        // A column with gigabytes of distinct text is not worth copying; the shared interner still knows it.
        let Ok(start) = u32::try_from(self.bytes.len()) else { return };
        if self.bytes.len() + text.len() > u32::MAX as usize {
            return;
        }
        self.bytes.extend_from_slice(text);
        let entry = Entry { start, length: text.len() as u32, code };
        let (bytes, hasher) = (&self.bytes, &self.hasher);
        let rehash = |e: &Entry| hash(hasher, &bytes[e.start as usize..(e.start + e.length) as usize]);
        self.table.insert_unique(hash(hasher, text), entry, rehash);
    }
}
