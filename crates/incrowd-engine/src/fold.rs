//! Folding: from records to distinct rows with multiplicities, all threads at once.
//!
//! Workers turn texts into codes with the help of shared dictionaries. Rows that fit into a number are [sorted](packed). Others are
//! added to shared tables, and so are those of single records that somebody follows. There are many tables, chosen by the row's
//! hash, so that workers seldom wait for each other and each visit finds its table in the cache.

mod columns;
mod packed;

use std::sync::Mutex;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::represented::read_weight;
use incrowd_core::{Error, Folded, FoldedColumn, FoldedPersons, MISSING, PackedRows, Progress, Result};
use rayon::prelude::*;

use crate::beside::{Beside, Look, Looked, Seen};
use crate::codes::{NumberCodes, TextCodes};
use crate::database::Sending;
use crate::glance::Glance;
use crate::intern::{Cache, Interner};
use crate::rows::{RowTable, hash_row};
use crate::source::{Place, Records, Source, Trouble, Worker};
use crate::{FoldSpec, Sent};
use packed::Packed;

const SHARDS: usize = 64;
/// Rows that are moved to the tables together.
const UNPACKED: usize = 1 << 14;
/// Records whose text is looked at together.
const NEAR: usize = 1 << 10;

/// The distinct rows of a table, findable by their codes.
#[derive(Debug)]
pub(crate) struct RowIndex {
    dictionaries: Vec<Interner>,
    shards: Vec<RowTable>,
    /// The number of rows in the shards before each.
    before: Vec<u32>,
    width: usize,
    missing: Vec<String>,
    /// The persons, if they were asked for.
    persons: Option<Interner>,
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
    /// By column the highest code that was met.
    highest: Vec<u32>,
    /// The rows, as long as they fit into numbers and nobody asks for more than their counts.
    packed: Option<Packed>,
    /// The codes of the batch, row by row, and their hashes.
    codes: Vec<u32>,
    hashes: Vec<u64>,
    /// By column the codes of texts that came as numbers, and of whole numbers.
    text_codes: Vec<TextCodes>,
    number_codes: Vec<NumberCodes>,
    /// The rows of the batch by shard.
    order: Vec<u32>,
    read: u64,
    dropped: u64,
    missing: Vec<u64>,
    /// The position of the first of the texts that count as missing that was met; a null is the empty text.
    marker: usize,
    /// What is known of the rows of single records, if that is asked.
    follow: Option<Follow<'a>>,
    /// Columns that are glanced at: the first one's slot, and what was seen.
    glances: (usize, Vec<Glance>),
    /// Columns that are looked at record by record.
    look: Option<Look<'a>>,
    /// How many people the records stand for, if that is asked.
    weigh: Option<Weigh<'a>>,
    /// Where the server says how many records a row has, if it sends rows: the slot, and the counts of the batch.
    times: Option<(usize, Vec<u64>)>,
    /// How many records, or rows with their counts, came.
    came: u64,
    spec: &'a FoldSpec,
}

/// How many people records stand for.
struct Weigh<'a> {
    slot: usize,
    /// For each shard what the records of its rows add up to.
    sums: &'a [Mutex<Vec<u64>>],
    known: HashMap<Vec<u8>, u64, FixedState>,
    /// What the records of the batch stand for.
    batch: Vec<u64>,
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
struct Follow<'a> {
    /// Where persons are known by number, if a column says whose records they are.
    person: Option<(&'a Mutex<Interner>, Cache)>,
    /// The person of each record of the batch.
    persons: Vec<u32>,
    /// The row of each record of the batch, as [`packed`].
    rows: Vec<u32>,
    /// All records: their rows with their persons, or with the place of their batch.
    named: Vec<(u32, u32)>,
    placed: Vec<(Place, Vec<u32>)>,
    /// Records that name nobody, those left out included.
    unnamed: u64,
}

/// A row of a shard as one number.
fn packed(shard: usize, row: u32) -> u32 {
    row.wrapping_mul(SHARDS as u32) | shard as u32
}

impl Worker for FoldWorker<'_> {
    fn visit<R: Records>(&mut self, place: Place, records: &R) -> Result<(), Trouble> {
        let width = self.caches.len();
        let read = records.len();
        self.codes.clear();
        self.codes.resize(read * width, MISSING);
        let empty = self.spec.missing.iter().position(String::is_empty).unwrap_or(self.spec.missing.len());
        let mut texts = Vec::with_capacity(width);
        for slot in 0..width {
            if let Some(cells) = records.whole(slot) {
                self.number(slot, cells);
            } else if let Some(views) = records.views(slot) {
                self.view(slot, views);
            } else if !records.coded(slot).is_some_and(|cells| self.translate(slot, cells)) {
                texts.push(slot);
            }
        }
        // Column by column, so that the processor learns what to expect, but so few records at once that their text stays near.
        for first in (0..read).step_by(NEAR) {
            for &slot in &texts {
                for record in first..read.min(first + NEAR) {
                    let Some((text, short)) = records.cell(record, slot) else {
                        self.marker = self.marker.min(empty);
                        continue;
                    };
                    self.codes[record * width + slot] = match self.caches[slot].find(text, short) {
                        Some(MISSING) => {
                            let marker = self.spec.missing.iter().position(|m| m.as_bytes() == text);
                            self.marker = self.marker.min(marker.unwrap_or(empty));
                            MISSING
                        }
                        Some(code) => code,
                        None => self.ask(slot, text),
                    };
                }
            }
        }
        if let Some(look) = &mut self.look {
            look.at(place, records, &self.codes, width);
        }
        if let Some(follow) = &mut self.follow {
            follow.name(width, records);
        }
        for (at, glance) in self.glances.1.iter_mut().enumerate() {
            glance.look(self.glances.0 + at, records, &self.spec.missing);
        }
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
    /// Takes the rows of the batch as numbers, if they fit. If not, all that were taken so far go to the tables.
    fn pack(&mut self) -> bool {
        let Some(packed) = &mut self.packed else { return false };
        if !packed.make_room(&self.highest) {
            self.unpack();
            return false;
        }
        packed.expect(self.codes.len() / self.caches.len());
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
    fn unpack(&mut self) {
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

/// A fold, the index to find rows again if it was asked for, and the digest of the files if the source computes one.
pub(crate) struct FoldResult {
    pub(crate) folded: Folded,
    pub(crate) index: Option<RowIndex>,
    pub(crate) digest: Option<String>,
    pub(crate) seen: Seen,
    /// What a database sent, if it is one.
    pub(crate) sent: Option<Sent>,
}

/// Folds a source.
pub(crate) fn fold(source: &Source, spec: &FoldSpec, progress: &dyn Progress) -> Result<FoldResult> {
    fold_with(source, spec, Told::default(), Beside::default(), progress)
}

/// What somebody knows of the records of a source who did not read it there.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told<'a> {
    /// The persons of its records, one after another, or the rows they were made of.
    pub(crate) numbers: Option<&'a [u32]>,
    /// How many people so many records of a row stand for, if the numbers are rows.
    pub(crate) weights: Option<&'a dyn Fn(u32, u64) -> u64>,
}

/// Folds a source, with what somebody knows of its records.
/// Columns `beside` are looked at record by record; then no record may be left out.
pub(crate) fn fold_with(
    source: &Source,
    spec: &FoldSpec,
    told: Told<'_>,
    beside: Beside<'_>,
    progress: &dyn Progress,
) -> Result<FoldResult> {
    if let Some(remote) = source.remote() {
        for name in spec.columns.iter().chain(&spec.glance).chain(beside.columns) {
            source.position(name)?;
        }
        let (folded, seen) = crate::remote::fold(remote.as_ref(), spec, beside, progress)?;
        let digest = Some(remote.digest()?);
        return Ok(FoldResult { folded, index: None, digest, seen, sent: None });
    }
    let mut wanted: Vec<usize> =
        spec.columns.iter().map(|name| source.position(name)).collect::<Result<_>>()?;
    let width = wanted.len();
    let named = Mutex::new(Interner::new());
    if let Some(person) = &spec.person {
        wanted.push(source.position(person)?);
    }
    let persons = told.numbers;
    let weighed = wanted.len();
    if let Some(weight) = &spec.weight {
        wanted.push(source.position(weight)?);
    }
    let sums: Vec<Mutex<Vec<u64>>> = (0..SHARDS).map(|_| Mutex::default()).collect();
    let relation = source.relation();
    // A database tells which identifiers repeat without sending them.
    let glance: &[String] = if relation.is_some() { &[] } else { &spec.glance };
    let glanced = wanted.len();
    for name in glance {
        wanted.push(source.position(name)?);
    }
    let looked = Looked::new(beside, &spec.columns, wanted.len());
    for name in &looked.read {
        wanted.push(source.position(name)?);
    }
    // Whatever looks at single records needs them all.
    let rows_do = wanted.len() == width && told.numbers.is_none();
    let sending = match relation {
        Some(relation) if rows_do && relation.shall_group(&wanted)? => Sending::Groups,
        _ => Sending::Records,
    };
    let counted = wanted.len();
    // Whether nobody asks for more than how many records have each row.
    let counts_do = width > 0
        && !spec.replay
        && told.numbers.is_none()
        && spec.person.is_none()
        && spec.weight.is_none()
        && sending == Sending::Records;
    let dictionaries: Vec<Mutex<Interner>> = (0..width).map(|_| Mutex::new(Interner::new())).collect();
    let shards: Vec<Mutex<RowTable>> = (0..SHARDS).map(|_| Mutex::new(RowTable::new(width))).collect();
    let worker = || FoldWorker {
        dictionaries: &dictionaries,
        shards: &shards,
        drop_missing: spec.drop_missing,
        caches: (0..width).map(|_| Cache::new(&spec.missing)).collect(),
        highest: vec![0; width],
        packed: counts_do.then(|| Packed::new(width)),
        codes: Vec::new(),
        hashes: Vec::new(),
        text_codes: (0..width).map(|_| TextCodes::default()).collect(),
        number_codes: (0..width).map(|_| NumberCodes::default()).collect(),
        order: Vec::new(),
        read: 0,
        dropped: 0,
        missing: vec![0; width],
        marker: spec.missing.len(),
        follow: (spec.person.is_some() || persons.is_some()).then(|| Follow {
            person: spec.person.as_ref().map(|_| (&named, Cache::new(&spec.missing))),
            persons: Vec::new(),
            rows: Vec::new(),
            named: Vec::new(),
            placed: Vec::new(),
            unnamed: 0,
        }),
        glances: (glanced, glance.iter().map(|_| Glance::default()).collect()),
        look: looked.worker(),
        weigh: spec.weight.as_ref().map(|_| Weigh {
            slot: weighed,
            sums: &sums,
            known: HashMap::default(),
            batch: Vec::new(),
        }),
        times: (sending == Sending::Groups).then(|| (counted, Vec::new())),
        came: 0,
        spec,
    };
    // A restart after a line break inside quotes must find the shared tables empty.
    let mut scan = source.scan_sent(&wanted, sending, worker, progress, || {
        dictionaries.iter().for_each(|d| *d.lock().expect("no worker is left") = Interner::new());
        shards.iter().for_each(|s| *s.lock().expect("no worker is left") = RowTable::new(width));
        *named.lock().expect("no worker is left") = Interner::new();
        looked.reset();
        sums.iter().for_each(|s| s.lock().expect("no worker is left").clear());
    })?;
    let packed = packed_rows(&mut scan.workers, spec.packed);
    let mut folded = Folded { missing: vec![0; width], ..Folded::default() };
    for worker in &scan.workers {
        folded.read += worker.read;
        folded.dropped_missing += worker.dropped;
        folded.missing.iter_mut().zip(&worker.missing).for_each(|(sum, n)| *sum += n);
    }
    let sent = relation.map(|_| Sent {
        rows: scan.workers.iter().map(|worker| worker.came).sum(),
        grouped: sending == Sending::Groups,
    });
    let marker = scan.workers.iter().map(|worker| worker.marker).min().unwrap_or(spec.missing.len());
    folded.marker = spec.missing.get(marker).cloned();
    let digest = scan.digest.clone();
    let mut unnamed = 0;
    let mut followed: Vec<(u32, u32)> = Vec::new();
    let mut placed: Vec<(u64, Vec<u32>)> = Vec::new();
    let number = |place: Place| scan.number(place, 0);
    let firsts: Vec<Vec<u64>> = scan
        .workers
        .iter()
        .map(|w| w.follow.iter().flat_map(|f| f.placed.iter().map(|(at, _)| number(*at))).collect())
        .collect();
    let looks = scan.workers.iter().flat_map(|w| &w.look).flat_map(|look| &look.batches);
    let mut batch_firsts: Vec<u64> = looks.map(|(at, _)| number(*at)).collect();
    let (mut batches, mut counts) = (Vec::with_capacity(batch_firsts.len()), Vec::new());
    let mut batch_firsts = batch_firsts.drain(..);
    let mut glances: Vec<Vec<Glance>> = glance.iter().map(|_| Vec::new()).collect();
    for (worker, firsts) in scan.workers.into_iter().zip(firsts) {
        glances.iter_mut().zip(worker.glances.1).for_each(|(all, own)| all.push(own));
        if let Some(look) = worker.look {
            counts.push(look.counts);
            batches.extend(look.batches.into_iter().filter_map(|(_, own)| Some((batch_firsts.next()?, own))));
        }
        let Some(follow) = worker.follow else { continue };
        unnamed += follow.unnamed;
        if followed.is_empty() {
            followed = follow.named;
        } else {
            followed.extend(follow.named);
        }
        placed.extend(firsts.into_iter().zip(follow.placed.into_iter().map(|(_, rows)| rows)));
    }
    let repeating =
        glance.iter().zip(glances).filter_map(|(name, parts)| Glance::repeats(parts).then(|| name.clone()));
    folded.repeating = repeating.collect();
    if let Some(relation) = relation {
        for name in &spec.glance {
            let (records, different) = relation.repeats(source.position(name)?, &spec.missing)?;
            if Glance::tells_apart(records, different) {
                folded.repeating.push(name.clone());
            }
        }
    }
    if let Some(persons) = persons {
        if persons.len() as u64 != folded.read {
            return Err(Error::bug("another number of records was read than of persons kept"));
        }
        for (first, rows) in placed {
            followed.extend(rows.into_iter().zip(persons[first as usize..].iter().copied()));
        }
    }
    let unlock = "no worker is left";
    let dictionaries: Vec<Interner> =
        dictionaries.into_iter().map(|d| d.into_inner().expect(unlock)).collect();
    let own: Vec<usize> = dictionaries.iter().map(|dictionary| dictionary.len() as usize + 1).collect();
    let seen = looked.gather(batches, counts, &own);
    let mut shards: Vec<RowTable> = shards.into_iter().map(|s| s.into_inner().expect(unlock)).collect();
    folded.columns = spec
        .columns
        .iter()
        .zip(&dictionaries)
        .map(|(name, dictionary)| {
            let mut texts = dictionary.texts();
            source.spell_numbers(&mut texts);
            FoldedColumn { name: name.clone(), texts }
        })
        .collect();
    let sizes: Vec<usize> = shards.iter().map(RowTable::len).collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut before = Vec::with_capacity(SHARDS);
    let mut rows = 0;
    for &size in &sizes {
        before.push(rows as u32);
        rows += size;
    }
    match packed {
        Some(Packing::Numbers(rows)) => folded.packed = Some(rows),
        Some(Packing::Rows(codes, weights)) => (folded.codes, folded.weights) = (codes, weights),
        None => (folded.codes, folded.weights) = tabled_rows(&mut shards, width, spec.replay),
    }
    if spec.weight.is_some() {
        let mut represented = Vec::with_capacity(rows);
        for (own, shard) in sums.into_iter().zip(&sizes) {
            let mut own = own.into_inner().expect(unlock);
            own.resize(*shard, 0);
            represented.append(&mut own);
        }
        folded.represented = Some(represented);
    }
    let named = named.into_inner().expect(unlock);
    if spec.person.is_some() || persons.is_some() {
        if largest > 1 << (u32::BITS - SHARDS.trailing_zeros()) {
            return Err(Error::resources("the table has too many distinct rows to count persons"));
        }
        let by_row = in_rows(&folded.weights, &before, followed);
        if let Some(weights) = told.weights {
            folded.represented = Some(weigh_rows(by_row, &folded.weights, weights));
            return Ok(FoldResult { folded, index: None, digest, seen, sent });
        }
        folded.persons = Some(if persons.is_some() {
            FoldedPersons::of_codes(by_row, &folded.weights)
        } else {
            name_persons(by_row, &folded.weights, named.len(), unnamed)
        });
    }
    let persons = spec.person.as_ref().map(|_| named);
    let missing = spec.missing.clone();
    let index = spec.replay.then(|| RowIndex { dictionaries, shards, before, width, missing, persons });
    Ok(FoldResult { folded, index, digest, seen, sent })
}

/// What rows that are numbers become.
enum Packing {
    Numbers(PackedRows),
    /// Their codes and how many records have each.
    Rows(Vec<u32>, Vec<u64>),
}

/// All rows, if they are numbers, as such if that is asked for. Otherwise all of them are moved to the tables.
fn packed_rows(workers: &mut [FoldWorker<'_>], numbers: bool) -> Option<Packing> {
    if workers.iter().all(|worker| worker.packed.is_some()) {
        let mut parts = workers.iter_mut().filter_map(|worker| worker.packed.take()).collect();
        let rows = match numbers {
            true => packed::numbers_of(&mut parts).map(Packing::Numbers),
            false => packed::rows_of(&mut parts).map(|(codes, weights)| Packing::Rows(codes, weights)),
        };
        if rows.is_some() {
            return rows;
        }
        workers.iter_mut().zip(parts).for_each(|(worker, own)| worker.packed = Some(own));
    }
    workers.par_iter_mut().for_each(FoldWorker::unpack);
    None
}

/// The codes of the rows in the tables and how many records have each. The tables are emptied unless they are kept.
fn tabled_rows(shards: &mut [RowTable], width: usize, keep: bool) -> (Vec<u32>, Vec<u64>) {
    let rows = shards.iter().map(RowTable::len).sum();
    let (mut all_codes, mut all_weights) = (vec![0; rows * width], vec![0; rows]);
    let (mut codes, mut weights) = (&mut all_codes[..], &mut all_weights[..]);
    let places = shards.iter_mut().map(|shard| {
        let rows = shard.len();
        let own = codes.split_off_mut(..rows * width).unwrap_or_default();
        (shard, own, weights.split_off_mut(..rows).unwrap_or_default())
    });
    places.collect::<Vec<_>>().into_par_iter().for_each(|(shard, codes, weights)| {
        codes.copy_from_slice(shard.keys());
        weights.copy_from_slice(&shard.take_counts());
        if !keep {
            *shard = RowTable::new(width);
        }
    });
    (all_codes, all_weights)
}

/// What was followed of each record, in the order of the rows.
fn in_rows(weights: &[u64], before: &[u32], followed: Vec<(u32, u32)>) -> Vec<u32> {
    let mut next = Vec::with_capacity(weights.len());
    let mut start = 0usize;
    for &records in weights {
        next.push(start);
        start += records as usize;
    }
    let mut by_row = vec![0; followed.len()];
    for (row, person) in followed {
        let place = &mut next[(before[row as usize % SHARDS] + row / SHARDS as u32) as usize];
        by_row[*place] = person;
        *place += 1;
    }
    by_row
}

/// How many people the records of each row stand for, which were made of other rows: `by_row` lists those, record by record.
fn weigh_rows(mut by_row: Vec<u32>, weights: &[u64], represented: &dyn Fn(u32, u64) -> u64) -> Vec<u64> {
    let mut rest = by_row.as_mut_slice();
    let sum = |&records: &u64| {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(records as usize);
        rest = after;
        own.sort_unstable();
        let parts = own.chunk_by(|a, b| a == b).map(|same| represented(same[0], same.len() as u64));
        parts.fold(0, u64::saturating_add)
    };
    weights.iter().map(sum).collect()
}

/// Persons by number, from 0 on: those with a name, of whom there are `named`, then the records that name nobody. Of the latter
/// `unnamed` were read.
pub(crate) fn name_persons(mut codes: Vec<u32>, weights: &[u64], named: u32, unnamed: u64) -> FoldedPersons {
    let mut fresh = 0;
    for code in &mut codes {
        *code = if *code == MISSING {
            fresh += 1;
            named + fresh - 1
        } else {
            *code - 1
        };
    }
    let read = u64::from(named) + unnamed;
    FoldedPersons { read, unnamed: u64::from(fresh), ..FoldedPersons::of_codes(codes, weights) }
}

impl RowIndex {
    /// The number of a record's person, from 0 on; records that name nobody are counted on from `unnamed`. `None` if the fold
    /// has not met the person.
    pub(crate) fn person(&self, text: Option<&[u8]>, unnamed: &std::sync::atomic::AtomicU32) -> Option<u32> {
        let persons = self.persons.as_ref()?;
        let known = text.and_then(|text| persons.get(text));
        let nobody = text.is_none_or(|text| self.missing.iter().any(|m| m.as_bytes() == text));
        match known {
            Some(code) => Some(code - 1),
            None if nobody => {
                let fresh = unnamed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Some(persons.len() + fresh)
            }
            None => None,
        }
    }

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
