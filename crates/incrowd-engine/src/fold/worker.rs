//! One thread of a fold: it translates texts into codes, makes rows of codes and counts the rows.

use std::sync::Mutex;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::MISSING;
use incrowd_core::represented::read_weight;

use super::columns::RowByRow;
use super::packed::Packed;
use super::{SHARDS, Shared, Slots, shard_of};
use crate::FoldSpec;
use crate::coder::ColumnCoder;
use crate::codes::{NumberCodes, TextCodes};
use crate::database::Sending;
use crate::glance::Glance;
use crate::intern::{Cache, Interner};
use crate::records::{RecordStore, RecordWriter};
use crate::rows::{RowTable, hash_row};
use crate::source::{Place, Records, Source, Trouble, Worker};

/// The bytes that publishing needs for each record with a sampling weight.
const PER_WEIGHED: u64 = 8;

/// The number of rows that are moved to the hash tables together.
const UNPACKED: usize = 1 << 14;

pub(super) struct FoldWorker<'a> {
    pub(super) dictionaries: &'a [Mutex<Interner>],
    pub(super) shards: &'a [Mutex<RowTable>],
    pub(super) drop_missing: bool,
    pub(super) caches: Vec<Cache>,
    /// The highest code of each column so far.
    pub(super) highest: Vec<u32>,
    /// The bit-packed rows. `None` if rows do not fit into 64 bits or if more than their counts is
    /// needed.
    pub(super) packed: Option<Packed>,
    /// The codes of the batch, row by row, and the hashes of its rows.
    pub(super) codes: Vec<u32>,
    pub(super) hashes: Vec<u64>,
    /// For each column, the codes of dictionary-encoded texts and of integers.
    pub(super) text_codes: Vec<TextCodes>,
    pub(super) number_codes: Vec<NumberCodes>,
    /// The rows of the batch, sorted by shard.
    pub(super) order: Vec<u32>,
    pub(super) read: u64,
    pub(super) dropped: u64,
    pub(super) missing: Vec<u64>,
    /// The lowest index into the list of missing-value texts that occurred. A null counts as the
    /// empty text.
    pub(super) marker: usize,
    /// For each record of the batch its row as [`shard_row`], if rows are stored.
    pub(super) rows: Vec<u32>,
    needs_rows: bool,
    /// Per-record data that is kept for writing.
    pub(super) keep: Option<Keep<'a>>,
    /// Columns to check for repeated values. Their slots begin at `first_glance`.
    pub(super) glances: Vec<Glance>,
    first_glance: usize,
    /// The sampling weights of the records, if the fold has a weight column.
    pub(super) weigh: Option<Weigh<'a>>,
    /// The slot in which a database sends the count of a row, and the counts of the batch. `None`
    /// if the database sends records.
    pub(super) times: Option<(usize, Vec<u64>)>,
    /// The number of records received, or of rows if they came with counts.
    pub(super) came: u64,
    /// The number of texts that the caches of all columns may still add.
    pub(super) remembered: usize,
    /// The bytes that this worker added to shared dictionaries and tables.
    pub(super) added: u64,
    pub(super) spec: &'a FoldSpec,
}

impl<'a> FoldWorker<'a> {
    pub(super) fn new(
        source: &Source,
        spec: &'a FoldSpec,
        slots: &Slots,
        shared: &'a Shared,
        store: &'a RecordStore<'a>,
        sending: Sending,
    ) -> FoldWorker<'a> {
        let (width, cached) = (slots.width, source.remembered());
        // Rows can be packed if no record needs the index of its row.
        let counts_suffice = width > 0
            && !store.needs_rows()
            && spec.weight.is_none()
            && sending == Sending::Records;
        FoldWorker {
            dictionaries: &shared.dictionaries,
            shards: &shared.shards,
            drop_missing: spec.drop_missing,
            caches: (0..width).map(|_| Cache::new(&spec.missing)).collect(),
            highest: vec![0; width],
            packed: counts_suffice.then(|| Packed::new(width)),
            codes: Vec::new(),
            hashes: Vec::new(),
            text_codes: (0..width).map(|_| TextCodes::default()).collect(),
            number_codes: (0..width).map(|_| NumberCodes::default()).collect(),
            order: Vec::new(),
            read: 0,
            dropped: 0,
            missing: vec![0; width],
            marker: spec.missing.len(),
            rows: Vec::new(),
            needs_rows: store.needs_rows(),
            keep: store.is_needed().then(|| Keep {
                writer: store.writer(&slots.stored, cached),
                person: slots
                    .person
                    .map(|slot| (slot, ColumnCoder::new(&shared.named, &spec.missing, cached))),
                persons: Vec::new(),
                picked: Vec::new(),
                unnamed: 0,
            }),
            glances: slots.glance.iter().map(|_| Glance::default()).collect(),
            first_glance: slots.first_glance,
            weigh: slots.weight.map(|slot| Weigh {
                slot,
                sums: &shared.sums,
                known: HashMap::default(),
                batch: Vec::new(),
            }),
            times: (sending == Sending::Groups).then(|| (slots.wanted.len(), Vec::new())),
            came: 0,
            remembered: cached,
            added: 0,
            spec,
        }
    }
}

/// Sampling weights of records.
pub(super) struct Weigh<'a> {
    pub(super) slot: usize,
    /// For each shard, the sum of the sampling weights of each row.
    pub(super) sums: &'a [Mutex<Vec<u64>>],
    pub(super) known: HashMap<Vec<u8>, u64, FixedState>,
    /// The sampling weights of the records of the batch.
    pub(super) batch: Vec<u64>,
}

impl Weigh<'_> {
    /// The sampling weight of a record.
    fn read<R: Records>(
        &mut self,
        record: usize,
        records: &R,
        spec: &FoldSpec,
    ) -> Result<(), Trouble> {
        let text = records.get(record, self.slot).unwrap_or_default();
        if let Some(&weight) = self.known.get(text) {
            self.batch.push(weight);
            return Ok(());
        }
        let missing = spec.missing.iter().any(|marker| marker.as_bytes() == text);
        let weight = std::str::from_utf8(text).ok().filter(|_| !missing).and_then(read_weight);
        let Some(weight) = weight else {
            let column = spec.weight.as_deref().unwrap_or_default();
            let says = format!(" has no weight of at least 1 in column `{column}`");
            let help =
                "every record stands for itself and perhaps for others; leave such records out of the table"
                    .to_owned();
            return Err(Trouble { record, says, help: Some(help) });
        };
        self.known.insert(text.to_vec(), weight);
        self.batch.push(weight);
        Ok(())
    }
}

/// Per-record data that goes to the [store](crate::records).
pub(super) struct Keep<'a> {
    pub(super) writer: RecordWriter<'a>,
    /// The slot of the person column and its coder, if there is one.
    pub(super) person: Option<(usize, ColumnCoder<'a>)>,
    /// The person codes of the batch.
    pub(super) persons: Vec<u32>,
    /// The positions of the records of the batch that are not dropped.
    pub(super) picked: Vec<u32>,
    /// The number of records without a person, including dropped records.
    pub(super) unnamed: u64,
}

impl Keep<'_> {
    /// Codes the persons of a batch.
    fn code_persons<R: Records>(&mut self, records: &R) {
        self.picked.clear();
        self.persons.clear();
        if let Some((slot, coder)) = &mut self.person {
            coder.code(records, *slot, &mut self.persons);
            let unnamed = self.persons.iter().filter(|person| **person == MISSING).count();
            self.unnamed += unnamed as u64;
        }
    }

    /// Stores the records of a batch that are not dropped.
    fn store<R: Records>(
        &mut self,
        place: Place,
        records: &R,
        rows: &[u32],
    ) -> Result<(), Trouble> {
        if self.person.is_some() {
            for (at, &record) in self.picked.iter().enumerate() {
                self.persons[at] = self.persons[record as usize];
            }
        }
        self.writer.append(place, records, &self.picked, rows, &self.persons).map_err(|error| {
            let says = format!(" could not be kept in a temporary file: {error}");
            Trouble { record: 0, says, help: None }
        })
    }

    fn memory(&self) -> u64 {
        let persons = self.person.as_ref().map_or(0, |(_, coder)| coder.added());
        self.writer.memory() + persons
    }
}

/// Combines a shard and a row in it into one number. The shard is in the lowest bits.
pub(super) fn shard_row(shard: usize, row: u32) -> u32 {
    row.wrapping_mul(SHARDS as u32) | shard as u32
}

impl Worker for FoldWorker<'_> {
    fn slots(&self, all: usize) -> usize {
        let done = !self.glances.is_empty() && self.glances.iter().all(Glance::is_done);
        if done && self.first_glance > 0 { self.first_glance } else { all }
    }

    fn visit<R: Records>(&mut self, place: Place, records: &R) -> Result<(), Trouble> {
        let width = self.caches.len();
        let read = records.len();
        if self.number_rows(records) {
            self.store_all(place, records)?;
            self.glance(records);
            self.read += read as u64;
            self.came += read as u64;
            return Ok(());
        }
        let mut codes = std::mem::take(&mut self.codes);
        codes.clear();
        codes.resize(read * width, MISSING);
        self.code(records, &mut RowByRow { codes: &mut codes, width });
        self.codes = codes;
        if let Some(keep) = &mut self.keep {
            keep.code_persons(records);
        }
        self.glance(records);
        if self.pack() {
            self.store_all(place, records)?;
            self.read += read as u64;
            self.came += read as u64;
            return Ok(());
        }
        self.hashes.clear();
        self.weigh.iter_mut().for_each(|weigh| weigh.batch.clear());
        if let Some((slot, times)) = &mut self.times {
            times.clear();
            for record in 0..read {
                let count =
                    records.get(record, *slot).and_then(|text| std::str::from_utf8(text).ok());
                let Some(count) =
                    count.and_then(|text| text.parse().ok()).filter(|count| *count > 0)
                else {
                    return Err(Trouble {
                        record,
                        says: " came without a count".to_owned(),
                        help: None,
                    });
                };
                times.push(count);
            }
        }
        // Most tables have no missing values. Then the rows stay in place, and each row is one
        // record.
        let whole = width > 0
            && self.times.is_none()
            && self.weigh.is_none()
            && !self.codes.contains(&MISSING);
        let mut kept = 0;
        let mut all = 0;
        if whole {
            self.hashes.extend(self.codes.chunks_exact(width).map(hash_row));
            (kept, all) = (read, read as u64);
            self.keep.iter_mut().for_each(|keep| keep.picked.extend(0..read as u32));
        }
        for record in if whole { 0..0 } else { 0..read } {
            let records_of = self.times.as_ref().map_or(1, |(_, times)| times[record]);
            all += records_of;
            let row = &self.codes[record * width..(record + 1) * width];
            let mut lacks = false;
            for (code, missing) in row.iter().zip(&mut self.missing) {
                let absent = *code == MISSING;
                *missing += if absent { records_of } else { 0 };
                lacks |= absent;
            }
            if lacks && self.drop_missing {
                self.dropped += records_of;
                continue;
            }
            self.hashes.push(hash_row(row));
            if let Some(weigh) = &mut self.weigh {
                weigh.read(record, records, self.spec)?;
            }
            // Dropped rows leave gaps, which later rows fill.
            if kept < record {
                self.codes.copy_within(record * width..(record + 1) * width, kept * width);
            }
            if let Some(keep) = &mut self.keep {
                keep.picked.push(record as u32);
            }
            if let Some((_, times)) = &mut self.times {
                times[kept] = records_of;
            }
            kept += 1;
        }
        self.codes.truncate(kept * width);
        self.read += all;
        self.came += read as u64;
        self.hand_in();
        if let Some(keep) = &mut self.keep {
            keep.store(place, records, &self.rows)?;
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        let row = RowTable::per_row(self.caches.len());
        let packed = self.packed.as_ref().map_or(0, |packed| packed.memory(row));
        let kept = self.keep.as_ref().map_or(0, Keep::memory);
        // With sampling weights, the row of each published record is stored.
        let weighed = if self.weigh.is_some() { self.came * PER_WEIGHED } else { 0 };
        self.added + packed + kept + weighed
    }
}

impl FoldWorker<'_> {
    fn glance<R: Records>(&mut self, records: &R) {
        for (at, glance) in self.glances.iter_mut().enumerate() {
            glance.look(self.first_glance + at, records, &self.spec.missing);
        }
    }

    /// Stores all records of a batch whose rows are packed. No record of such a batch is dropped.
    fn store_all<R: Records>(&mut self, place: Place, records: &R) -> Result<(), Trouble> {
        let Some(keep) = &mut self.keep else { return Ok(()) };
        keep.picked.clear();
        keep.picked.extend(0..records.len() as u32);
        keep.store(place, records, &[])
    }

    /// Packs the rows of the batch. If a row does not fit into 64 bits, all packed rows are moved
    /// to the hash tables, and the result is `false`.
    pub(super) fn pack(&mut self) -> bool {
        let Some(packed) = &mut self.packed else { return false };
        if !packed.make_room(&self.highest) {
            self.unpack();
            return false;
        }
        for row in self.codes.chunks_exact(self.caches.len()) {
            if row.contains(&MISSING) {
                row.iter()
                    .zip(&mut self.missing)
                    .for_each(|(code, n)| *n += u64::from(*code == MISSING));
                if self.drop_missing {
                    self.dropped += 1;
                    continue;
                }
            }
            packed.add(packed.layout.pack(row));
        }
        packed.tidy();
        true
    }

    /// Moves the packed rows to the hash tables.
    pub(super) fn unpack(&mut self) {
        let Some(packed) = self.packed.take() else { return };
        let (layout, run) = packed.into_run();
        let width = self.caches.len();
        // The loop below overwrites these fields. The caller still needs the batch's values.
        let codes = std::mem::take(&mut self.codes);
        let times = self.times.take();
        for (keys, counts) in run.keys.chunks(UNPACKED).zip(run.counts.chunks(UNPACKED)) {
            self.codes.resize(keys.len() * width, MISSING);
            let rows = self.codes.chunks_exact_mut(width);
            rows.zip(keys).for_each(|(row, &key)| layout.unpack(key, row));
            self.hashes.clear();
            self.hashes.extend(self.codes.chunks_exact(width).map(hash_row));
            self.times = Some((0, counts.to_vec()));
            self.hand_in();
        }
        (self.codes, self.times) = (codes, times);
    }

    /// Adds the batch to the shards. Each shard is locked once and gets all of its rows.
    pub(super) fn hand_in(&mut self) {
        // Counting sort of the rows by shard: `starts` and `ends` are the bounds of each shard in
        // `order`.
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
        let per_row = RowTable::per_row(self.caches.len());
        let needs_rows = self.needs_rows;
        self.rows.resize(if needs_rows { self.hashes.len() } else { 0 }, 0);
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
            let mut table =
                self.shards[shard].lock().expect("no worker panics while it holds a shard");
            let before = table.len();
            if let Some((_, times)) = &self.times {
                table.add_times(rows, &self.codes, &self.hashes, times);
                self.added += (table.len() - before) as u64 * per_row;
                continue;
            }
            if let Some(weigh) = &self.weigh {
                // Lock order: the table of a shard, then the sums of the same shard.
                let mut sums =
                    weigh.sums[shard].lock().expect("no worker panics while it holds a shard");
                let of_records = &mut self.rows;
                table.add(rows, &self.codes, &self.hashes, |record, row| {
                    if needs_rows {
                        of_records[record as usize] = shard_row(shard, row);
                    }
                    let row = row as usize;
                    if sums.len() <= row {
                        sums.resize(row + 1, 0);
                    }
                    sums[row] = sums[row].saturating_add(weigh.batch[record as usize]);
                });
                self.added += (table.len() - before) as u64 * per_row;
                continue;
            }
            let of_records = &mut self.rows;
            match needs_rows {
                false => table.add(rows, &self.codes, &self.hashes, |_, _| {}),
                true => table.add(rows, &self.codes, &self.hashes, |record, row| {
                    of_records[record as usize] = shard_row(shard, row);
                }),
            }
            self.added += (table.len() - before) as u64 * per_row;
        }
    }
}
