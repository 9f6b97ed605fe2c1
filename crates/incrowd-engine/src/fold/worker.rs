//! A thread's part of a fold: texts become codes, codes rows, and rows are counted.

use std::sync::Mutex;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::MISSING;
use incrowd_core::represented::read_weight;

use super::columns::RowByRow;
use super::packed::Packed;
use super::{SHARDS, shard_of};
use crate::FoldSpec;
use crate::beside::Look;
use crate::codes::{NumberCodes, TextCodes};
use crate::glance::Glance;
use crate::intern::{Cache, Interner};
use crate::rows::{RowTable, hash_row};
use crate::source::{Place, Records, Trouble, Worker};

/// Rows that are moved to the tables together.
const UNPACKED: usize = 1 << 14;

pub(super) struct FoldWorker<'a> {
    pub(super) dictionaries: &'a [Mutex<Interner>],
    pub(super) shards: &'a [Mutex<RowTable>],
    pub(super) drop_missing: bool,
    pub(super) caches: Vec<Cache>,
    /// By column the highest code that was met.
    pub(super) highest: Vec<u32>,
    /// The rows, as long as they fit into numbers and nobody asks for more than their counts.
    pub(super) packed: Option<Packed>,
    /// The codes of the batch, row by row, and their hashes.
    pub(super) codes: Vec<u32>,
    pub(super) hashes: Vec<u64>,
    /// By column the codes of texts that came as numbers, and of whole numbers.
    pub(super) text_codes: Vec<TextCodes>,
    pub(super) number_codes: Vec<NumberCodes>,
    /// The rows of the batch by shard.
    pub(super) order: Vec<u32>,
    pub(super) read: u64,
    pub(super) dropped: u64,
    pub(super) missing: Vec<u64>,
    /// The position of the first of the texts that count as missing that was met; a null is the empty text.
    pub(super) marker: usize,
    /// What is known of the rows of single records, if that is asked.
    pub(super) follow: Option<Follow<'a>>,
    /// Columns that are glanced at: the first one's slot, and what was seen.
    pub(super) glances: (usize, Vec<Glance>),
    /// Columns that are looked at record by record.
    pub(super) look: Option<Look<'a>>,
    /// How many people the records stand for, if that is asked.
    pub(super) weigh: Option<Weigh<'a>>,
    /// Where the server says how many records a row has, if it sends rows: the slot, and the counts of the batch.
    pub(super) times: Option<(usize, Vec<u64>)>,
    /// How many records, or rows with their counts, came.
    pub(super) came: u64,
    pub(super) spec: &'a FoldSpec,
}

/// How many people records stand for.
pub(super) struct Weigh<'a> {
    pub(super) slot: usize,
    /// For each shard what the records of its rows add up to.
    pub(super) sums: &'a [Mutex<Vec<u64>>],
    pub(super) known: HashMap<Vec<u8>, u64, FixedState>,
    /// What the records of the batch stand for.
    pub(super) batch: Vec<u64>,
}

impl Weigh<'_> {
    /// The weight of a record.
    fn read<R: Records>(&mut self, record: usize, records: &R, spec: &FoldSpec) -> Result<(), Trouble> {
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

/// Follows single records to their rows.
pub(super) struct Follow<'a> {
    /// Where persons are known by number, if a column says whose records they are.
    pub(super) person: Option<(&'a Mutex<Interner>, Cache)>,
    /// The person of each record of the batch.
    pub(super) persons: Vec<u32>,
    /// The row of each record of the batch, as [`packed`].
    pub(super) rows: Vec<u32>,
    /// All records: their rows with their persons, or with the place of their batch.
    pub(super) named: Vec<(u32, u32)>,
    pub(super) placed: Vec<(Place, Vec<u32>)>,
    /// Records that name nobody, those left out included.
    pub(super) unnamed: u64,
}

/// A row of a shard as one number.
fn packed(shard: usize, row: u32) -> u32 {
    row.wrapping_mul(SHARDS as u32) | shard as u32
}

impl Worker for FoldWorker<'_> {
    fn slots(&self, all: usize) -> usize {
        let (first, glances) = &self.glances;
        let done = !glances.is_empty() && glances.iter().all(Glance::is_done);
        // Columns that are looked at record by record come after those that are glanced at.
        if done && *first > 0 && self.look.is_none() { *first } else { all }
    }

    fn visit<R: Records>(&mut self, place: Place, records: &R) -> Result<(), Trouble> {
        let width = self.caches.len();
        let read = records.len();
        if self.number_rows(place, records) {
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
        if let Some(look) = &mut self.look {
            look.at(place, records, |slot| self.codes.iter().skip(slot).step_by(width).copied().collect());
        }
        if let Some(follow) = &mut self.follow {
            follow.name(width, records);
        }
        self.glance(records);
        if self.pack() {
            self.read += read as u64;
            self.came += read as u64;
            return Ok(());
        }
        self.hashes.clear();
        self.weigh.iter_mut().for_each(|weigh| weigh.batch.clear());
        if let Some((slot, times)) = &mut self.times {
            times.clear();
            for record in 0..read {
                let count = records.get(record, *slot).and_then(|text| std::str::from_utf8(text).ok());
                let Some(count) = count.and_then(|text| text.parse().ok()).filter(|count| *count > 0) else {
                    return Err(Trouble { record, says: " came without a count".to_owned(), help: None });
                };
                times.push(count);
            }
        }
        // Most tables lack nothing: then every row stays where it is and is a record.
        let whole =
            width > 0 && self.times.is_none() && self.weigh.is_none() && !self.codes.contains(&MISSING);
        let mut kept = 0;
        let mut all = 0;
        if whole {
            self.hashes.extend(self.codes.chunks_exact(width).map(hash_row));
            (kept, all) = (read, read as u64);
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
            if kept < record {
                self.codes.copy_within(record * width..(record + 1) * width, kept * width);
            }
            if let Some(follow) = &mut self.follow
                && follow.person.is_some()
            {
                follow.persons[kept] = follow.persons[record];
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
        if let Some(follow) = &mut self.follow {
            follow.take(place, kept);
        }
        Ok(())
    }
}

impl Follow<'_> {
    /// The person of each record of a batch; 0 where there is none.
    fn name<R: Records>(&mut self, slot: usize, records: &R) {
        let Some((shared, cache)) = &mut self.person else { return };
        self.persons.clear();
        for record in 0..records.len() {
            let known = records.get(record, slot).map(|text| (cache.get(text), text));
            let code = match known {
                None => MISSING,
                Some((Some(code), _)) => code,
                Some((None, text)) => {
                    let code =
                        shared.lock().expect("no worker panics while it holds the persons").intern(text);
                    cache.put(text, code);
                    code
                }
            };
            self.unnamed += u64::from(code == MISSING);
            self.persons.push(code);
        }
    }

    /// Keeps what is known of the records of a batch.
    fn take(&mut self, place: Place, kept: usize) {
        if self.person.is_some() {
            self.named.extend(self.rows[..kept].iter().copied().zip(self.persons[..kept].iter().copied()));
        } else {
            self.placed.push((place, self.rows[..kept].to_vec()));
        }
    }
}

impl FoldWorker<'_> {
    fn glance<R: Records>(&mut self, records: &R) {
        for (at, glance) in self.glances.1.iter_mut().enumerate() {
            glance.look(self.glances.0 + at, records, &self.spec.missing);
        }
    }

    /// Takes the rows of the batch as numbers, if they fit. If not, all that were taken so far go to the tables.
    pub(super) fn pack(&mut self) -> bool {
        let Some(packed) = &mut self.packed else { return false };
        if !packed.make_room(&self.highest) {
            self.unpack();
            return false;
        }
        for row in self.codes.chunks_exact(self.caches.len()) {
            if row.contains(&MISSING) {
                row.iter().zip(&mut self.missing).for_each(|(code, n)| *n += u64::from(*code == MISSING));
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

    /// Moves the rows that are numbers to the tables.
    pub(super) fn unpack(&mut self) {
        let Some(packed) = self.packed.take() else { return };
        let (layout, run) = packed.into_run();
        let width = self.caches.len();
        // The codes of the batch are still wanted.
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

    /// Adds the batch to the shards, all rows of a shard at once.
    pub(super) fn hand_in(&mut self) {
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
        if let Some(follow) = &mut self.follow {
            follow.rows.resize(self.hashes.len(), 0);
        }
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
            if let Some((_, times)) = &self.times {
                table.add_times(rows, &self.codes, &self.hashes, times);
                continue;
            }
            if let Some(weigh) = &self.weigh {
                let mut sums = weigh.sums[shard].lock().expect("no worker panics while it holds a shard");
                let follow = &mut self.follow;
                table.add(rows, &self.codes, &self.hashes, |record, row| {
                    if let Some(follow) = follow {
                        follow.rows[record as usize] = packed(shard, row);
                    }
                    let row = row as usize;
                    if sums.len() <= row {
                        sums.resize(row + 1, 0);
                    }
                    sums[row] = sums[row].saturating_add(weigh.batch[record as usize]);
                });
                continue;
            }
            match &mut self.follow {
                None => table.add(rows, &self.codes, &self.hashes, |_, _| {}),
                Some(follow) => table.add(rows, &self.codes, &self.hashes, |record, row| {
                    follow.rows[record as usize] = packed(shard, row);
                }),
            }
        }
    }
}
