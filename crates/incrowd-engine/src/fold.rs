//! Folding: from records to distinct rows with multiplicities, all threads at once.
//!
//! Workers turn texts into codes with the help of shared dictionaries, then add their rows to shared tables. There are
//! many tables, chosen by the row's hash, so that workers seldom wait for each other and each visit finds its table in
//! the cache.

use std::sync::Mutex;

use arrow_array::Array;
use incrowd_core::{Folded, FoldedColumn, MISSING, Progress, Result};

use crate::FoldSpec;
use crate::cells::NO_TEXT;
use crate::intern::{Cache, Interner};
use crate::rows::{RowTable, hash_row};
use crate::source::{CodedCells, Place, Records, Source, Trouble, Worker};

const SHARDS: usize = 64;
/// A text that was not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// The distinct rows of a table, findable by their codes.
#[derive(Debug)]
pub(crate) struct RowIndex {
    dictionaries: Vec<Interner>,
    shards: Vec<RowTable>,
    /// The number of rows in the shards before each.
    before: Vec<u32>,
    width: usize,
    missing: Vec<String>,
}

/// Bits that the tables themselves do not use.
#[inline]
fn shard_of(hash: u64) -> usize {
    (hash >> 8) as usize % SHARDS
}

struct FoldWorker<'a> {
    dictionaries: &'a [Mutex<Interner>],
    shards: &'a [Mutex<RowTable>],
    drop_missing: bool,
    caches: Vec<Cache>,
    /// The codes of the batch, row by row, and their hashes.
    codes: Vec<u32>,
    hashes: Vec<u64>,
    /// The codes of texts that came as numbers.
    translated: Vec<u32>,
    /// The rows of the batch by shard.
    order: Vec<u32>,
    read: u64,
    dropped: u64,
    missing: Vec<u64>,
}

impl Worker for FoldWorker<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        let width = self.caches.len();
        let read = records.len();
        self.codes.clear();
        self.codes.resize(read * width, MISSING);
        // Column by column, so that one dictionary at a time is in the cache.
        for slot in 0..width {
            if let Some(cells) = records.coded(slot).filter(|cells| cells.texts.len() <= 2 * read) {
                self.translate(slot, cells);
                continue;
            }
            for record in 0..read {
                let Some(text) = records.get(record, slot) else { continue };
                self.codes[record * width + slot] = match self.caches[slot].get(text) {
                    Some(code) => code,
                    None => self.ask(slot, text),
                };
            }
        }
        self.hashes.clear();
        let mut kept = 0;
        for record in 0..read {
            let row = &self.codes[record * width..(record + 1) * width];
            let mut lacks = false;
            for (code, missing) in row.iter().zip(&mut self.missing) {
                let absent = *code == MISSING;
                *missing += u64::from(absent);
                lacks |= absent;
            }
            if lacks && self.drop_missing {
                self.dropped += 1;
                continue;
            }
            self.hashes.push(hash_row(row));
            self.codes.copy_within(record * width..(record + 1) * width, kept * width);
            kept += 1;
        }
        self.codes.truncate(kept * width);
        self.read += read as u64;
        self.hand_in();
        Ok(())
    }
}

impl FoldWorker<'_> {
    /// Cells that came as numbers of texts: each text is looked up once.
    fn translate(&mut self, slot: usize, cells: CodedCells<'_>) {
        let width = self.caches.len();
        self.translated.clear();
        self.translated.resize(cells.texts.len(), UNKNOWN);
        for (record, &place) in cells.codes.iter().enumerate() {
            if place == NO_TEXT {
                continue;
            }
            let mut code = self.translated[place as usize];
            if code == UNKNOWN {
                let text = cells.texts.value(place as usize).as_bytes();
                code = match self.caches[slot].get(text) {
                    Some(code) => code,
                    None => self.ask(slot, text),
                };
                self.translated[place as usize] = code;
            }
            self.codes[record * width + slot] = code;
        }
    }

    #[cold]
    fn ask(&mut self, slot: usize, text: &[u8]) -> u32 {
        let code = self.dictionaries[slot]
            .lock()
            .expect("no worker panics while it holds a dictionary")
            .intern(text);
        self.caches[slot].put(text, code);
        code
    }

    /// Adds the batch to the shards, all rows of a shard at once.
    fn hand_in(&mut self) {
        let mut ends = [0u32; SHARDS];
        for &hash in &self.hashes {
            ends[shard_of(hash)] += 1;
        }
        let mut sum = 0;
        let mut next = [0u32; SHARDS];
        for (shard, end) in ends.iter_mut().enumerate() {
            next[shard] = sum;
            sum += *end;
            *end = sum;
        }
        let starts = next;
        self.order.clear();
        self.order.resize(self.hashes.len(), 0);
        for (row, &hash) in self.hashes.iter().enumerate() {
            let shard = shard_of(hash);
            self.order[next[shard] as usize] = row as u32;
            next[shard] += 1;
        }
        for shard in 0..SHARDS {
            let rows = &self.order[starts[shard] as usize..ends[shard] as usize];
            if rows.is_empty() {
                continue;
            }
            let mut table = self.shards[shard].lock().expect("no worker panics while it holds a shard");
            table.add(rows, &self.codes, &self.hashes);
        }
    }
}

/// A fold, the index to find rows again if it was asked for, and the digest of the files if the source computes one.
pub(crate) struct FoldResult {
    pub(crate) folded: Folded,
    pub(crate) index: Option<RowIndex>,
    pub(crate) digest: Option<String>,
}

/// Folds a source.
pub(crate) fn fold(source: &Source, spec: &FoldSpec, progress: &dyn Progress) -> Result<FoldResult> {
    let wanted: Vec<usize> = spec.columns.iter().map(|name| source.position(name)).collect::<Result<_>>()?;
    let width = wanted.len();
    let dictionaries: Vec<Mutex<Interner>> = wanted.iter().map(|_| Mutex::new(Interner::new())).collect();
    let shards: Vec<Mutex<RowTable>> = (0..SHARDS).map(|_| Mutex::new(RowTable::new(width))).collect();
    let worker = || FoldWorker {
        dictionaries: &dictionaries,
        shards: &shards,
        drop_missing: spec.drop_missing,
        caches: wanted.iter().map(|_| Cache::new(&spec.missing)).collect(),
        codes: Vec::new(),
        hashes: Vec::new(),
        translated: Vec::new(),
        order: Vec::new(),
        read: 0,
        dropped: 0,
        missing: vec![0; width],
    };
    // A restart after a line break inside quotes must find the shared tables empty.
    let scan = source.scan(&wanted, worker, progress, || {
        dictionaries.iter().for_each(|d| *d.lock().expect("no worker is left") = Interner::new());
        shards.iter().for_each(|s| *s.lock().expect("no worker is left") = RowTable::new(width));
    })?;
    let mut folded = Folded { missing: vec![0; width], ..Folded::default() };
    for worker in &scan.workers {
        folded.read += worker.read;
        folded.dropped_missing += worker.dropped;
        folded.missing.iter_mut().zip(&worker.missing).for_each(|(sum, n)| *sum += n);
    }
    let digest = scan.digest.clone();
    drop(scan);
    let unlock = "no worker is left";
    let dictionaries: Vec<Interner> =
        dictionaries.into_iter().map(|d| d.into_inner().expect(unlock)).collect();
    let mut shards: Vec<RowTable> = shards.into_iter().map(|s| s.into_inner().expect(unlock)).collect();
    folded.columns = spec
        .columns
        .iter()
        .zip(&dictionaries)
        .map(|(name, dictionary)| FoldedColumn { name: name.clone(), texts: dictionary.texts() })
        .collect();
    let rows: usize = shards.iter().map(|shard| shard.len()).sum();
    folded.codes.reserve_exact(rows * width);
    folded.weights.reserve_exact(rows);
    let mut before = Vec::with_capacity(SHARDS);
    for shard in &mut shards {
        before.push(folded.weights.len() as u32);
        folded.codes.extend_from_slice(shard.keys());
        folded.weights.append(&mut shard.take_counts());
        if !spec.replay {
            *shard = RowTable::new(width);
        }
    }
    let index =
        spec.replay.then(|| RowIndex { dictionaries, shards, before, width, missing: spec.missing.clone() });
    Ok(FoldResult { folded, index, digest })
}

impl RowIndex {
    /// How many columns a row has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The code of a text; `None` if the fold has not met it.
    #[inline]
    pub(crate) fn code(&self, slot: usize, text: Option<&[u8]>) -> Option<u32> {
        let Some(text) = text else { return Some(MISSING) };
        // The dictionary is asked first: it answers for nearly every cell.
        self.dictionaries[slot]
            .get(text)
            .or_else(|| self.missing.iter().any(|m| m.as_bytes() == text).then_some(MISSING))
    }

    /// The number of a row.
    #[inline]
    pub(crate) fn row(&self, codes: &[u32]) -> Option<u32> {
        let hash = hash_row(codes);
        let shard = shard_of(hash);
        self.shards[shard].find(codes, hash).map(|i| self.before[shard] + i)
    }
}
