//! Folding: from records to distinct rows with multiplicities, all threads at once.
//!
//! Workers turn texts into codes with the help of shared dictionaries. Rows that fit into a number are [sorted](packed). Others are
//! added to shared tables, and so are those of single records that somebody follows. There are many tables, chosen by the row's
//! hash, so that workers seldom wait for each other and each visit finds its table in the cache.

mod columns;
mod numbers;
mod packed;
mod worker;

use std::sync::Mutex;

use hashbrown::HashMap;
use incrowd_core::{Error, Folded, FoldedColumn, FoldedPersons, MISSING, PackedRows, Progress, Result};
use rayon::prelude::*;

use crate::beside::{Beside, Looked, Seen};
use crate::codes::{NumberCodes, TextCodes};
use crate::database::Sending;
use crate::glance::Glance;
use crate::intern::{Cache, Interner};
use crate::rows::{RowTable, hash_row};
use crate::source::{Place, Source};
use crate::{FoldSpec, Sent};
use packed::Packed;
use worker::{FoldWorker, Follow, Weigh};

const SHARDS: usize = 64;

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
