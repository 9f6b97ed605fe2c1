//! Folding: reduces records to distinct rows with counts, in parallel.
//!
//! Workers translate texts into codes with shared dictionaries. Rows that fit into 64 bits are
//! bit-packed and [sorted](packed). Other rows are added to shared hash tables, and so are all rows
//! if per-record data is needed. The row's hash selects one of many tables. Many tables reduce lock
//! contention, and each of them fits into the processor's cache.

mod columns;
mod numbers;
mod packed;
mod worker;

use std::path::Path;
use std::sync::Mutex;

use incrowd_core::{
    Error, Folded, FoldedColumn, FoldedPersons, MISSING, PackedRows, Progress, Result,
};
use rayon::prelude::*;

use crate::database::Sending;
use crate::glance::Glance;
use crate::intern::Interner;
use crate::record_values::{ExaminedColumns, RecordValues};
use crate::records::{RecordStore, Stored, StoredRecords, not_stored};
use crate::rows::RowTable;
use crate::source::{Place, Source};
use crate::{FoldSpec, Sent};
use worker::FoldWorker;

const SHARDS: usize = 64;

/// Selects a shard by bits of the hash that the hash tables do not use.
#[inline]
fn shard_of(hash: u64) -> usize {
    (hash >> 8) as usize % SHARDS
}

/// The result of a fold.
pub(crate) struct FoldResult {
    pub(crate) folded: Folded,
    /// Per-record data, if a release needs it.
    pub(crate) records: Option<StoredRecords>,
    /// The digest of the files, if the source computes one.
    pub(crate) digest: Option<String>,
    /// The columns that were examined record by record.
    pub(crate) seen: RecordValues,
    /// The amount of data that a database sent, if the source is a database.
    pub(crate) sent: Option<Sent>,
}

/// Storage of per-record data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping<'a> {
    /// Upper limit for the bytes of cells in memory. Further cells go to an unnamed temporary file.
    pub(crate) memory: u64,
    /// The directory of that file.
    pub(crate) directory: &'a Path,
}

/// Per-record data that the writer of a table recorded, in the order of the records.
#[derive(Clone, Copy)]
pub(crate) struct WrittenRecords<'a> {
    /// The person of each record, or the row index that it was made of.
    pub(crate) numbers: &'a [u32],
    /// The sampling weight of a number of records of a row, if `numbers` are row indices.
    pub(crate) weights: Option<&'a dyn Fn(u32, u64) -> u64>,
}

/// Folds a source.
pub(crate) fn fold(
    source: &Source,
    spec: &FoldSpec,
    keeping: Keeping<'_>,
    progress: &dyn Progress,
) -> Result<FoldResult> {
    fold_with(source, spec, None, ExaminedColumns::default(), keeping, progress)
}

/// Folds a source, with the per-record data that its writer recorded. Columns to examine record by
/// record are coded in the same pass. In that case no record may be dropped.
pub(crate) fn fold_with(
    source: &Source,
    spec: &FoldSpec,
    written: Option<WrittenRecords<'_>>,
    examine: ExaminedColumns<'_>,
    keeping: Keeping<'_>,
    progress: &dyn Progress,
) -> Result<FoldResult> {
    if let Some(remote) = source.remote() {
        for name in spec.columns.iter().chain(&spec.glance).chain(examine.columns) {
            source.position(name)?;
        }
        let (folded, seen) = crate::remote::fold(remote.as_ref(), spec, examine, progress)?;
        let digest = Some(remote.digest()?);
        return Ok(FoldResult { folded, records: None, digest, seen, sent: None });
    }
    let codes_only = !examine.columns.is_empty();
    let store = RecordStore::new(Stored {
        columns: if codes_only { examine.columns } else { &spec.passthrough },
        codes_only,
        rows: spec.person.is_some() || !spec.passthrough.is_empty() || written.is_some(),
        persons: spec.person.is_some(),
        memory: keeping.memory,
        directory: keeping.directory,
    });
    let slots = Slots::new(source, spec, store.columns())?;
    let shared = Shared::new(slots.width);
    let sending = slots.sending(source, spec, &store)?;
    // A database computes which identifiers repeat without sending them.
    let relation = source.relation();
    let worker = || FoldWorker::new(source, spec, &slots, &shared, &store, sending);
    let scan = source.scan_sent(&slots.wanted, sending, worker, progress)?;
    let (mut workers, scan) = scan.into_workers();
    let mut folded = totals(&workers, spec);
    let sent = relation.map(|_| Sent {
        rows: workers.iter().map(|worker| worker.came).sum(),
        grouped: sending == Sending::Groups,
    });
    let packed = packed_rows(&mut workers, spec.packed);
    let mut unnamed = 0;
    let mut glances: Vec<Vec<Glance>> = slots.glance.iter().map(|_| Vec::new()).collect();
    for mut worker in workers {
        glances.iter_mut().zip(worker.glances).for_each(|(all, own)| all.push(own));
        if let Some(keep) = &mut worker.keep {
            unnamed += keep.unnamed;
            keep.writer.seal().map_err(|error| not_stored(&error))?;
        }
    }
    folded.repeating = repeating(source, spec, &slots, glances)?;
    let is_needed = store.is_needed();
    let mut records = store.finish();
    let Shared { dictionaries, shards, sums, named } = shared;
    folded.columns = folded_columns(source, spec, dictionaries);
    let mut shards: Vec<RowTable> = shards.into_iter().map(unlocked).collect();
    let numbering = Numbering::new(&shards, records.has_rows())?;
    match packed {
        Some(Packing::Numbers(rows)) => folded.packed = Some(rows),
        Some(Packing::Rows(codes, counts)) => (folded.codes, folded.weights) = (codes, counts),
        None => (folded.codes, folded.weights) = tabled_rows(&mut shards, slots.width),
    }
    folded.represented = spec.weight.as_ref().map(|_| numbering.in_order(sums));
    records.renumber_rows(|row| numbering.number(row));
    if spec.person.is_some() {
        let named = unlocked(named);
        folded.persons = Some(number_persons(&mut records, &folded, &named, unnamed, source));
    }
    if let Some(written) = written {
        records.set_persons(written.numbers, folded.read, |place| scan.number(place, 0))?;
        written.complete(&records, &mut folded);
    }
    let mut seen = RecordValues::default();
    if codes_only {
        seen = examined(&records, examine.counts_only, |place| scan.number(place, 0))?;
        let persons = written.filter(|written| written.weights.is_none());
        seen.persons = persons.map(|written| written.numbers.to_vec());
    }
    let records = (is_needed && !codes_only).then_some(records);
    Ok(FoldResult { folded, records, digest: scan.digest, seen, sent })
}

impl WrittenRecords<'_> {
    /// Adds the persons or the sampling weights of each row to a fold of the written table.
    fn complete(&self, records: &StoredRecords, folded: &mut Folded) {
        let by_row = in_rows(&folded.weights, self.numbers.len(), records.rows_and_persons());
        match self.weights {
            Some(weights) => {
                folded.represented = Some(weigh_rows(by_row, &folded.weights, weights));
            }
            None => folded.persons = Some(FoldedPersons::of_codes(by_row, &folded.weights)),
        }
    }
}

/// The values of the examined columns, or the number of unique ones.
fn examined(
    records: &StoredRecords,
    counts_only: bool,
    number: impl Fn(Place) -> u64,
) -> Result<RecordValues> {
    Ok(match counts_only {
        false => RecordValues { table: records.columns(number)?, ..RecordValues::default() },
        true => RecordValues {
            table: records.columns_without_codes(),
            once: Some(records.unique_values()?),
            ..RecordValues::default()
        },
    })
}

/// The columns that a scan reads, and their uses.
struct Slots {
    /// Positions of the columns in the source. The folded columns come first.
    wanted: Vec<usize>,
    /// The number of folded columns.
    width: usize,
    person: Option<usize>,
    weight: Option<usize>,
    /// The slots of the columns whose cells are stored.
    stored: Vec<usize>,
    /// Columns to check for repeated values. They have the last slots, from `first_glance` on.
    glance: Vec<String>,
    first_glance: usize,
}

impl Slots {
    fn new(source: &Source, spec: &FoldSpec, stored: &[String]) -> Result<Slots> {
        let mut wanted: Vec<usize> =
            spec.columns.iter().map(|name| source.position(name)).collect::<Result<_>>()?;
        let width = wanted.len();
        // A column that has several uses is read once.
        let mut slot = |name: &String| -> Result<usize> {
            let position = source.position(name)?;
            Ok(wanted.iter().position(|own| *own == position).unwrap_or_else(|| {
                wanted.push(position);
                wanted.len() - 1
            }))
        };
        let person = spec.person.as_ref().map(&mut slot).transpose()?;
        let weight = spec.weight.as_ref().map(&mut slot).transpose()?;
        let stored = stored.iter().map(&mut slot).collect::<Result<Vec<_>>>()?;
        let first_glance = wanted.len();
        let glance = if source.relation().is_some() { Vec::new() } else { spec.glance.clone() };
        for name in &glance {
            wanted.push(source.position(name)?);
        }
        Ok(Slots { wanted, width, person, weight, stored, glance, first_glance })
    }

    /// Selects the rows that a database should send. It sends distinct rows if no per-record data
    /// is needed.
    fn sending(
        &self,
        source: &Source,
        spec: &FoldSpec,
        store: &RecordStore<'_>,
    ) -> Result<Sending> {
        let rows_suffice =
            self.wanted.len() == self.width && !store.is_needed() && spec.weight.is_none();
        Ok(match source.relation() {
            Some(relation) if rows_suffice && relation.shall_group(&self.wanted)? => {
                Sending::Groups
            }
            _ => Sending::Records,
        })
    }
}

/// Tables that all threads of a fold share.
struct Shared {
    /// The dictionaries of the folded columns.
    dictionaries: Vec<Mutex<Interner>>,
    /// Distinct rows, sharded by their hash.
    shards: Vec<Mutex<RowTable>>,
    /// For each shard, the sampling weights of its rows.
    sums: Vec<Mutex<Vec<u64>>>,
    /// The dictionary of persons.
    named: Mutex<Interner>,
}

impl Shared {
    fn new(width: usize) -> Shared {
        Shared {
            dictionaries: (0..width).map(|_| Mutex::new(Interner::new())).collect(),
            shards: (0..SHARDS).map(|_| Mutex::new(RowTable::new(width))).collect(),
            sums: (0..SHARDS).map(|_| Mutex::default()).collect(),
            named: Mutex::new(Interner::new()),
        }
    }
}

fn unlocked<T>(own: Mutex<T>) -> T {
    own.into_inner().expect("no thread is left")
}

/// Sums the records that were read, were dropped or have missing values.
fn totals(workers: &[FoldWorker<'_>], spec: &FoldSpec) -> Folded {
    let mut folded = Folded { missing: vec![0; spec.columns.len()], ..Folded::default() };
    for worker in workers {
        folded.read += worker.read;
        folded.dropped_missing += worker.dropped;
        folded.missing.iter_mut().zip(&worker.missing).for_each(|(sum, n)| *sum += n);
    }
    let marker = workers.iter().map(|worker| worker.marker).min();
    folded.marker = marker.and_then(|marker| spec.missing.get(marker)).cloned();
    folded
}

/// The columns whose values repeat like those of a person column with several records per person.
fn repeating(
    source: &Source,
    spec: &FoldSpec,
    slots: &Slots,
    glances: Vec<Vec<Glance>>,
) -> Result<Vec<String>> {
    let glanced = slots.glance.iter().zip(glances);
    let glanced = glanced.filter_map(|(name, parts)| Glance::repeats(parts).then(|| name.clone()));
    let mut repeating: Vec<String> = glanced.collect();
    if let Some(relation) = source.relation() {
        for name in &spec.glance {
            let (records, different) = relation.repeats(source.position(name)?, &spec.missing)?;
            if Glance::tells_apart(records, different) {
                repeating.push(name.clone());
            }
        }
    }
    Ok(repeating)
}

fn folded_columns(
    source: &Source,
    spec: &FoldSpec,
    dictionaries: Vec<Mutex<Interner>>,
) -> Vec<FoldedColumn> {
    let column = |(name, dictionary): (&String, Mutex<Interner>)| {
        let mut texts = unlocked(dictionary).texts();
        source.spell_numbers(&mut texts);
        FoldedColumn { name: name.clone(), texts }
    };
    spec.columns.iter().zip(dictionaries).map(column).collect()
}

/// Maps a shard and a row in it to a row index of the whole table.
struct Numbering {
    sizes: Vec<usize>,
    /// For each shard, the number of rows in the shards before it.
    before: Vec<u32>,
}

impl Numbering {
    fn new(shards: &[RowTable], is_needed: bool) -> Result<Numbering> {
        let sizes: Vec<usize> = shards.iter().map(RowTable::len).collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        // `worker::shard_row` has the shard in its lowest bits, so a row index in a shard must fit
        // into the other bits.
        if is_needed && largest > 1 << (u32::BITS - SHARDS.trailing_zeros()) {
            let why = "the table has too many distinct rows to follow single records";
            return Err(Error::resources(why));
        }
        let mut rows = 0;
        let before = sizes.iter().map(|size| {
            rows += *size as u32;
            rows - *size as u32
        });
        Ok(Numbering { before: before.collect(), sizes })
    }

    /// Joins the lists that the shards have for their rows.
    fn in_order(&self, of_shards: Vec<Mutex<Vec<u64>>>) -> Vec<u64> {
        let lists = of_shards.into_iter().zip(&self.sizes).flat_map(|(own, rows)| {
            let mut own = unlocked(own);
            own.resize(*rows, 0);
            own
        });
        lists.collect()
    }

    /// The row index of the whole table for a worker's [`worker::shard_row`].
    fn number(&self, row: u32) -> u32 {
        self.before[row as usize % SHARDS] + row / SHARDS as u32
    }
}

/// Assigns codes to persons from 0 on: first the named persons, then one per record without a name.
/// `unnamed` is the number of records without a name that were read, including dropped records.
fn number_persons(
    records: &mut StoredRecords,
    folded: &Folded,
    named: &Interner,
    unnamed: u64,
    source: &Source,
) -> FoldedPersons {
    // Names are compared once per distinct text, not once per record.
    let (same, spellings) = named.same_keys(source.decimal().unwrap_or_default());
    let mut fresh = 0;
    records.renumber_persons(|person| match (person, &same.first) {
        (MISSING, _) => {
            fresh += 1;
            named.len() + fresh - 1
        }
        (person, Some(first)) => first[person as usize - 1],
        (person, None) => person - 1,
    });
    let kept = folded.weights.iter().sum::<u64>() as usize;
    let by_row = in_rows(&folded.weights, kept, records.rows_and_persons());
    FoldedPersons {
        read: u64::from(named.len()) + unnamed - same.repeated,
        unnamed: u64::from(fresh),
        spellings,
        ..FoldedPersons::of_codes(by_row, &folded.weights)
    }
}

/// The result of folding bit-packed rows.
enum Packing {
    Numbers(PackedRows),
    /// The codes of the distinct rows, and their counts.
    Rows(Vec<u32>, Vec<u64>),
}

/// Takes the rows of all workers if all of them are bit-packed. `numbers` selects packed rows as
/// the result. Otherwise all rows are moved to the hash tables, and the result is `None`.
fn packed_rows(workers: &mut [FoldWorker<'_>], numbers: bool) -> Option<Packing> {
    if workers.iter().all(|worker| worker.packed.is_some()) {
        let mut parts = workers.iter_mut().filter_map(|worker| worker.packed.take()).collect();
        let rows = match numbers {
            true => packed::numbers_of(&mut parts).map(Packing::Numbers),
            false => {
                packed::rows_of(&mut parts).map(|(codes, weights)| Packing::Rows(codes, weights))
            }
        };
        if rows.is_some() {
            return rows;
        }
        workers.iter_mut().zip(parts).for_each(|(worker, own)| worker.packed = Some(own));
    }
    workers.par_iter_mut().for_each(FoldWorker::unpack);
    None
}

/// Takes the codes and the counts of the rows in the hash tables. The tables are emptied.
fn tabled_rows(shards: &mut [RowTable], width: usize) -> (Vec<u32>, Vec<u64>) {
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
        *shard = RowTable::new(width);
    });
    (all_codes, all_weights)
}

/// Sorts per-record numbers by row. `numbers` has the row and the number of each of the `records`
/// records.
fn in_rows(counts: &[u64], records: usize, numbers: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut next = Vec::with_capacity(counts.len());
    let mut start = 0usize;
    for &records in counts {
        next.push(start);
        start += records as usize;
    }
    let mut by_row = vec![0; records];
    for (row, number) in numbers {
        let place = &mut next[row as usize];
        by_row[*place] = number;
        *place += 1;
    }
    by_row
}

/// The sampling weight of each row of a table whose records were made of the rows of another table.
/// `by_row` has those source rows, record by record.
fn weigh_rows(
    mut by_row: Vec<u32>,
    weights: &[u64],
    represented: &dyn Fn(u32, u64) -> u64,
) -> Vec<u64> {
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
