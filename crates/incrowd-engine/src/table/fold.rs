//! Folding: reduces the records of a coded table to distinct rows with counts.
//!
//! The codes of a record are packed into 64 bits, so that rows are sorted and compared as integers.
//! Columns that do not fit together are folded one after the other: the rows of the first columns
//! are numbered, and their numbers are packed with the next columns.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::represented::read_weight;
use incrowd_core::{
    Error, Folded, FoldedColumn, FoldedPersons, Layout, MISSING, PackedRows, Progress, Result,
};
use rayon::prelude::*;

use super::block::CellBlock;
use super::read::{Reading, TableSpec};
use super::{CodedTable, TableColumn};
use crate::database::Sending;
use crate::record_values::{ExaminedColumns, RecordValues};
use crate::remote::Remote;
use crate::source::{Place, Source, too_large};
use crate::{FoldSpec, Sent};

/// The number of blocks whose rows are sorted together.
const TOGETHER: usize = 16;
/// Rows are not sorted before encoding unless at least this many records share a row on average.
const REPEATS: usize = 2;
/// The approximate number of records of a shard, and the maximum number of shards.
const SHARD: usize = 1 << 15;
const MOST_SHARDS: usize = 1 << 12;

/// The bytes of a distinct row: copies of its codes when a release is made, and data in addition to
/// them. Measured on tables with a million distinct rows.
const COPIES: usize = 4;
const PER_ROW: usize = 320;

/// The bytes of a record while it is folded: its key, its count and its position, and those of its
/// row in the hash tables and lists of the shard, if no other record has the same row.
const PER_FOLDED: u64 = 64;
/// The bytes of the row numbers of a record, if its columns are folded in several steps: those of
/// the step before, and those of the step.
const PER_STEP: u64 = 8;

/// The result of a fold.
pub(crate) struct FoldResult {
    pub(crate) folded: Folded,
    /// The table with its kept columns, if a release needs them.
    pub(crate) table: Option<CodedTable>,
    /// The digest of the files, if the source computes one.
    pub(crate) digest: Option<String>,
    /// The columns that were examined record by record.
    pub(crate) record_values: RecordValues,
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
        return fold_remote(source, remote.as_ref(), spec, examine, progress);
    }
    let is_examined = !examine.columns.is_empty();
    let kept = if is_examined { examine.columns } else { &spec.passthrough };
    let needs_rows = spec.person.is_some()
        || spec.weight.is_some()
        || !spec.passthrough.is_empty()
        || written.is_some();
    let table_spec = TableSpec {
        kept,
        shortens: is_examined,
        folded: &spec.columns,
        missing: &spec.missing,
        drop_missing: spec.drop_missing,
        person: spec.person.as_ref(),
        weight: spec.weight.as_ref(),
        repeating: &spec.repeating,
        people: &spec.people,
        rows: needs_rows,
        packed: spec.packed,
        ..TableSpec::new(keeping.directory, keeping.memory)
    };
    // A database can send distinct rows if no per-record data is needed.
    let sending = sending(source, spec, kept.is_empty() && spec.people.is_empty() && !needs_rows)?;
    let (mut table, reading) = CodedTable::read(source, &table_spec, sending, progress)?;
    let mut folded = Folded {
        read: reading.read,
        dropped_missing: reading.dropped,
        missing: reading.missing.clone(),
        marker: spec.missing.get(reading.marker).cloned(),
        repeating: reading.repeating.clone(),
        repeated: reading.repeated,
        decimal: source.decimal().unwrap_or_default(),
        ..Folded::default()
    };
    let sent =
        source.relation().map(|_| Sent { rows: reading.came, grouped: sending == Sending::Groups });
    let columns: Vec<usize> = table.folded(&table_spec).collect();
    let budget = FoldBudget { allowance: source.allowance(), used: reading.memory };
    table.fold_rows(&columns, &table_spec, sending, budget, &mut folded)?;
    if folded.records() != reading.read - reading.dropped {
        return Err(Error::bug("the fold lost records"));
    }
    if !budget.holds(folded.rows(), spec.columns.len()) {
        return Err(too_large());
    }
    if spec.weight.is_some() {
        folded.represented = Some(table.weights_by_row(&table_spec, &folded)?);
    }
    if spec.person.is_some() {
        folded.persons = Some(table.number_persons(&table_spec, &folded, &reading, source)?);
    }
    folded.columns = table.take_folded(&table_spec, source);
    let Reading { scan, .. } = reading;
    if let Some(written) = written {
        table.set_persons(written.numbers, folded.read, |place| scan.number(place, 0))?;
        written.complete(&table, &mut folded);
    }
    let mut record_values = RecordValues::default();
    if is_examined {
        record_values = examined(&table, examine.counts_only, |place| scan.number(place, 0))?;
        let persons = written.filter(|written| written.weights.is_none());
        record_values.persons = persons.map(|written| written.numbers.to_vec());
    }
    let table = (!spec.passthrough.is_empty() && !is_examined).then_some(table);
    Ok(FoldResult { folded, table, digest: scan.digest, record_values, sent })
}

/// Reads a source once, and folds several sets of its columns, each separately. No record is
/// dropped. The results have no more than columns, rows and the number of records read.
pub(crate) fn fold_each(
    source: &Source,
    sets: &[Vec<String>],
    missing: &[String],
    keeping: Keeping<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Folded>> {
    let mut names: Vec<String> = sets.concat();
    names.sort_unstable();
    names.dedup();
    let at = |name: &String| names.binary_search(name).expect("each name of a set is in the list");
    let folded = &names;
    let spec = TableSpec { folded, missing, ..TableSpec::new(keeping.directory, keeping.memory) };
    let (mut table, reading) = CodedTable::read(source, &spec, Sending::Records, progress)?;
    let mut memory = reading.memory;
    let mut all = Vec::with_capacity(sets.len());
    for set in sets {
        let mut folded = Folded { read: reading.read, ..Folded::default() };
        let columns: Vec<usize> = set.iter().map(at).collect();
        let budget = FoldBudget { allowance: source.allowance(), used: memory };
        table.fold_rows(&columns, &spec, Sending::Records, budget, &mut folded)?;
        memory = memory.saturating_add(folded.rows() as u64 * per_row(set.len()));
        if memory > source.allowance() {
            return Err(too_large());
        }
        all.push(folded);
    }
    let columns = table.take_folded(&spec, source);
    for (folded, set) in all.iter_mut().zip(sets) {
        folded.columns = set.iter().map(|name| columns[at(name)].clone()).collect();
    }
    Ok(all)
}

/// Whether a database sends records or distinct rows with counts.
fn sending(source: &Source, spec: &FoldSpec, rows_suffice: bool) -> Result<Sending> {
    let columns = spec.columns.iter().map(|name| source.position(name));
    let columns = columns.collect::<Result<Vec<usize>>>()?;
    Ok(match source.relation() {
        Some(relation) if rows_suffice && relation.shall_group(&columns)? => Sending::Groups,
        _ => Sending::Records,
    })
}

/// Folds a table of a system that counts its records itself.
fn fold_remote(
    source: &Source,
    remote: &dyn Remote,
    spec: &FoldSpec,
    examine: ExaminedColumns<'_>,
    progress: &dyn Progress,
) -> Result<FoldResult> {
    for name in spec.columns.iter().chain(&spec.repeating).chain(examine.columns) {
        source.position(name)?;
    }
    let (folded, record_values) = crate::remote::fold(remote, spec, examine, progress)?;
    let digest = Some(remote.digest()?);
    Ok(FoldResult { folded, table: None, digest, record_values, sent: None })
}

/// The memory that a fold may use.
#[derive(Clone, Copy, Debug)]
struct FoldBudget {
    /// The limit, which is `u64::MAX` for plain text, and the bytes that are already used.
    allowance: u64,
    used: u64,
}

impl FoldBudget {
    /// Whether the memory suffices for this many distinct rows of `width` columns.
    fn holds(&self, rows: usize, width: usize) -> bool {
        let bytes = (rows as u64).saturating_mul(per_row(width));
        self.used.saturating_add(bytes) <= self.allowance
    }

    /// The number of records that can be folded together. Without a limit, these are all of them.
    fn together(&self) -> usize {
        let left = self.allowance.saturating_sub(self.used) / PER_FOLDED;
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}

/// The estimated bytes of a distinct row.
fn per_row(width: usize) -> u64 {
    (COPIES * width * size_of::<u32>() + PER_ROW) as u64
}

impl WrittenRecords<'_> {
    /// Adds the persons or the sampling weights of each row to a fold of the written table.
    fn complete(&self, table: &CodedTable, folded: &mut Folded) {
        let by_row = in_rows(&folded.weights, self.numbers.len(), table.rows_and_persons());
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
    table: &CodedTable,
    counts_only: bool,
    number: impl Fn(Place) -> u64,
) -> Result<RecordValues> {
    Ok(match counts_only {
        false => RecordValues { table: table.columns(number)?, ..RecordValues::default() },
        true => RecordValues {
            table: table.columns_without_codes(),
            once: Some(table.unique_values()?),
            ..RecordValues::default()
        },
    })
}

impl CodedTable {
    /// The folded columns.
    fn folded(&self, spec: &TableSpec<'_>) -> std::ops::Range<usize> {
        self.kept..self.kept + spec.folded.len()
    }

    /// Counts the distinct rows of these columns, and stores the row of each record if these are
    /// needed.
    fn fold_rows(
        &mut self,
        columns: &[usize],
        spec: &TableSpec<'_>,
        sending: Sending,
        budget: FoldBudget,
        folded: &mut Folded,
    ) -> Result<()> {
        if columns.is_empty() {
            // All records are equal.
            let heads = self.blocks.heads.iter_mut();
            heads.for_each(|head| head.rows = vec![0; if spec.rows { head.records } else { 0 }]);
            let records = self.records() as u64;
            folded.weights = if records > 0 { vec![records] } else { Vec::new() };
            self.has_rows = spec.rows;
            return Ok(());
        }
        let counts = (sending == Sending::Groups).then(|| self.columns.len() - 1);
        let highest = |column: &usize| self.columns[*column].dictionary.len();
        let steps = steps(&columns.iter().map(highest).collect::<Vec<_>>());
        if let ([(_, layout)], true, false) = (steps.as_slice(), spec.packed, spec.rows) {
            folded.packed = self.pack(columns, layout.clone(), counts, budget)?;
            if folded.packed.is_some() {
                return Ok(());
            }
            // Packed rows may repeat, so distinct rows may fit where packed rows do not.
        }
        let mut budget = budget;
        if steps.len() > 1 && !spec.rows {
            budget.used = budget.used.saturating_add(self.records() as u64 * PER_STEP);
            if budget.used > budget.allowance {
                return Err(too_large());
            }
        }
        // The codes of the distinct rows of the columns before a step, row by row.
        let (mut before, mut width) = (Vec::new(), 0);
        let mut numbers: Option<Vec<Vec<u32>>> = None;
        let last = steps.len() - 1;
        for (at, (range, layout)) in steps.into_iter().enumerate() {
            let own = &columns[range];
            // The numbers of the rows before are the first column of the layout.
            let layout = match &numbers {
                Some(_) => layout_after(folded.weights.len() as u32, &layout),
                None => layout,
            };
            let keys = Keys { columns: own, layout: &layout, numbers: numbers.as_deref(), counts };
            let rows = self.distinct_rows(&keys, at < last || spec.rows, budget)?;
            let mut all = vec![0; rows.keys.len() * (width + own.len())];
            let with_numbers = usize::from(numbers.is_some());
            let mut codes = vec![0; layout.width()];
            for (row, &key) in all.chunks_exact_mut(width + own.len()).zip(&rows.keys) {
                layout.unpack(key, &mut codes);
                if with_numbers > 0 {
                    let start = codes[0] as usize * width;
                    row[..width].copy_from_slice(&before[start..start + width]);
                }
                row[width..].copy_from_slice(&codes[with_numbers..]);
            }
            (before, width) = (all, width + own.len());
            (folded.weights, numbers) = (rows.counts, Some(rows.of_records));
        }
        folded.codes = before;
        if spec.rows {
            let numbers = numbers.unwrap_or_default();
            self.blocks.heads.iter_mut().zip(numbers).for_each(|(head, rows)| head.rows = rows);
            self.has_rows = true;
        }
        Ok(())
    }

    /// Packs the rows of all records. Equal rows are merged where that pays. `None` if the packed
    /// rows do not fit.
    fn pack(
        &self,
        columns: &[usize],
        layout: Layout,
        counts: Option<usize>,
        budget: FoldBudget,
    ) -> Result<Option<PackedRows>> {
        let keys = Keys { columns, layout: &layout, numbers: None, counts };
        let part = |blocks: &[usize], is_sorted: bool| -> Result<(Vec<u64>, Vec<u64>)> {
            let (mut all, mut times) = (Vec::new(), Vec::new());
            for &block in blocks {
                let (own, counts) = self.keys(block, &keys)?;
                all.extend(own);
                times.extend(counts);
            }
            Ok(if is_sorted { distinct(all, &times) } else { (all, times) })
        };
        let blocks: Vec<usize> = (0..self.blocks.heads.len()).collect();
        let mut parts = blocks.chunks(TOGETHER);
        let Some(first) = parts.next() else {
            return Ok(Some(PackedRows { layout, parts: Vec::new() }));
        };
        // Whether sorting pays is decided once, by the first part.
        let records: usize = first.iter().map(|block| self.blocks.heads[*block].records).sum();
        let first = part(first, true)?;
        let is_sorted = first.0.len() * REPEATS <= records;
        if !is_sorted && !budget.holds(self.records(), columns.len()) {
            return Ok(None);
        }
        let packed = AtomicUsize::new(first.0.len());
        let has_room = || budget.holds(packed.load(Ordering::Relaxed), columns.len());
        let rest: Vec<&[usize]> = parts.collect();
        let rest = rest.into_par_iter().map(|blocks: &[usize]| -> Result<(Vec<u64>, Vec<u64>)> {
            // The rows are dropped if they do not fit, so no more of them are made.
            if !has_room() {
                return Ok((Vec::new(), Vec::new()));
            }
            let own = part(blocks, is_sorted)?;
            packed.fetch_add(own.0.len(), Ordering::Relaxed);
            Ok(own)
        });
        let rest = rest.collect::<Result<Vec<(Vec<u64>, Vec<u64>)>>>()?;
        if !has_room() {
            return Ok(None);
        }
        let mut parts = vec![first];
        parts.extend(rest);
        Ok(Some(PackedRows { layout, parts }))
    }

    /// The packed rows of the records of a block, and their counts. Empty counts mean one record
    /// per row.
    fn keys(&self, block: usize, keys: &Keys<'_>) -> Result<(Vec<u64>, Vec<u64>)> {
        let cells = self.block(block)?;
        let mut rows = vec![0; self.blocks.heads[block].records];
        let places = keys.layout.places();
        let (own, places) = places.split_at(usize::from(keys.numbers.is_some()));
        if let (Some(numbers), [(shift, _)]) = (keys.numbers, own) {
            let add = |(row, number): (&mut u64, &u32)| *row |= u64::from(*number) << shift;
            rows.iter_mut().zip(&numbers[block]).for_each(add);
        }
        for (&column, &(shift, _)) in keys.columns.iter().zip(places) {
            cells[column].or_into(&mut rows, shift);
        }
        let counts = keys.counts.map(|column| self.counts(column, &cells[column]));
        Ok((rows, counts.unwrap_or_default()))
    }

    /// The counts in a column.
    fn counts(&self, column: usize, cells: &CellBlock) -> Vec<u64> {
        let dictionary = &self.columns[column].dictionary;
        let count = |code| {
            let text = dictionary.text(code).and_then(|text| std::str::from_utf8(text).ok());
            text.and_then(|text| text.parse().ok()).unwrap_or(0)
        };
        let known: Vec<u64> = (0..=dictionary.len()).map(count).collect();
        cells.codes().map(|code| known[code as usize]).collect()
    }

    /// Counts the distinct rows, and with `of_records` numbers the row of each record. If not all
    /// records fit at once, they are folded in portions: a small compressed file may have
    /// hundreds of millions of equal records.
    fn distinct_rows(
        &self,
        keys: &Keys<'_>,
        of_records: bool,
        budget: FoldBudget,
    ) -> Result<DistinctRows> {
        let sizes: Vec<usize> = self.blocks.heads.iter().map(|head| head.records).collect();
        let portions = portions(&sizes, budget.together());
        if portions.len() <= 1 {
            return self.rows_of_blocks(0..sizes.len(), keys, of_records);
        }
        let mut all = MergedRows::default();
        for blocks in portions {
            all.add(self.rows_of_blocks(blocks, keys, of_records)?);
            // Later steps have no fewer rows.
            if !budget.holds(all.rows.keys.len(), keys.columns.len()) {
                return Err(too_large());
            }
        }
        Ok(all.rows)
    }

    /// Counts the distinct rows of some blocks, and with `of_records` numbers the row of each
    /// record.
    ///
    /// The records of each block are distributed to shards by their hash. A shard has so few rows
    /// that its hash table stays in the processor's cache.
    fn rows_of_blocks(
        &self,
        blocks: Range<usize>,
        keys: &Keys<'_>,
        of_records: bool,
    ) -> Result<DistinctRows> {
        let records: usize = self.blocks.heads[blocks.clone()].iter().map(|own| own.records).sum();
        let shards = (records / SHARD).next_power_of_two().clamp(1, MOST_SHARDS);
        let sharded = blocks.into_par_iter().map(|block| {
            let (keys, counts) = self.keys(block, keys)?;
            Ok(ShardedKeys::new(&keys, &counts, shards))
        });
        let sharded: Vec<ShardedKeys> = sharded.collect::<Result<_>>()?;
        let of_shard = (0..shards).into_par_iter().map(|shard| {
            let mut table: HashMap<u64, u32, FixedState> = HashMap::default();
            let mut rows = ShardRows::default();
            for block in &sharded {
                let own = block.ends[shard]..block.ends[shard + 1];
                if of_records {
                    rows.starts.push(rows.of_records.len());
                }
                for at in own {
                    let key = block.keys[at];
                    let row = *table.entry(key).or_insert_with(|| {
                        rows.keys.push(key);
                        rows.counts.push(0);
                        rows.keys.len() as u32 - 1
                    });
                    rows.counts[row as usize] += block.counts.get(at).copied().unwrap_or(1);
                    if of_records {
                        rows.of_records.push(row);
                    }
                }
            }
            rows
        });
        let of_shard: Vec<ShardRows> = of_shard.collect();
        let mut all = DistinctRows::default();
        let mut first = Vec::with_capacity(shards);
        for own in &of_shard {
            first.push(all.keys.len() as u32);
            all.keys.extend_from_slice(&own.keys);
            all.counts.extend_from_slice(&own.counts);
        }
        if all.keys.len() > u32::MAX as usize {
            return Err(Error::resources("the table has too many distinct rows"));
        }
        if of_records {
            let of_block = |(block, own): (usize, &ShardedKeys)| {
                let mut rows = vec![0; own.keys.len()];
                for (shard, shard_rows) in of_shard.iter().enumerate() {
                    let positions = &own.positions[own.ends[shard]..own.ends[shard + 1]];
                    let numbers = &shard_rows.of_records[shard_rows.starts[block]..];
                    for (&position, number) in positions.iter().zip(numbers) {
                        rows[usize::from(position)] = first[shard] + number;
                    }
                }
                rows
            };
            all.of_records = sharded.par_iter().enumerate().map(of_block).collect();
        }
        Ok(all)
    }

    /// The sum of the sampling weights of the records of each row.
    fn weights_by_row(&self, spec: &TableSpec<'_>, folded: &Folded) -> Result<Vec<u64>> {
        let column = self.folded(spec).end + usize::from(spec.person.is_some());
        let dictionary = &self.columns[column].dictionary;
        let weight = |code| {
            let text = dictionary.text(code).and_then(|text| std::str::from_utf8(text).ok());
            text.and_then(read_weight).unwrap_or(0)
        };
        let known: Vec<u64> = (0..=dictionary.len()).map(weight).collect();
        let mut sums = vec![0u64; folded.weights.len()];
        self.each_block(|head, own, cells| {
            if own == column {
                for (&row, code) in head.rows.iter().zip(cells.codes()) {
                    let sum = &mut sums[row as usize];
                    *sum = sum.saturating_add(known[code as usize]);
                }
            }
        })?;
        Ok(sums)
    }

    /// Takes the texts of the folded columns, and removes all columns but the kept ones.
    fn take_folded(&mut self, spec: &TableSpec<'_>, source: &Source) -> Vec<FoldedColumn> {
        let range = self.folded(spec);
        let column = |TableColumn { name, dictionary, .. }: TableColumn| {
            let mut texts = dictionary.texts();
            source.spell_numbers(&mut texts);
            FoldedColumn { name, texts }
        };
        let mut others = self.columns.split_off(self.kept);
        others.truncate(range.len());
        self.drop_folded();
        others.into_iter().map(column).collect()
    }

    /// Assigns codes to persons from 0 on: first the named persons, then one per record without a
    /// name.
    fn number_persons(
        &mut self,
        spec: &TableSpec<'_>,
        folded: &Folded,
        reading: &Reading,
        source: &Source,
    ) -> Result<FoldedPersons> {
        let column = self.folded(spec).end;
        let named = &self.columns[column].dictionary;
        // Names are compared once per distinct text, not once per record.
        let (same, spellings) = named.same_keys(source.decimal().unwrap_or_default());
        let (names, mut unnamed) = (named.len(), 0);
        let mut persons: Vec<Vec<u32>> = Vec::with_capacity(self.blocks.heads.len());
        self.each_block(|_, own, cells| {
            if own != column {
                return;
            }
            let person = |person: u32| match (person, &same.first) {
                (MISSING, _) => {
                    unnamed += 1;
                    names + unnamed - 1
                }
                (person, Some(first)) => first[person as usize - 1],
                (person, None) => person - 1,
            };
            persons.push(cells.codes().map(person).collect());
        })?;
        self.blocks.heads.iter_mut().zip(persons).for_each(|(head, own)| head.persons = own);
        self.has_persons = true;
        let kept = folded.weights.iter().sum::<u64>() as usize;
        let by_row = in_rows(&folded.weights, kept, self.rows_and_persons());
        Ok(FoldedPersons {
            read: u64::from(names) + reading.unnamed - same.repeated,
            unnamed: u64::from(unnamed),
            spellings,
            ..FoldedPersons::of_codes(by_row, &folded.weights)
        })
    }
}

/// Divides columns with these highest codes into ranges whose rows fit into 64 bits, each with its
/// layout. All but the first leave room for the number of a row.
fn steps(highest: &[u32]) -> Vec<(std::ops::Range<usize>, Layout)> {
    let mut steps = Vec::new();
    let mut start = 0;
    while start < highest.len() || steps.is_empty() {
        let bits = if start == 0 { u64::BITS } else { u32::BITS };
        let fits = |end: &usize| {
            Layout::new(&highest[start..*end]).filter(|layout| layout.total() <= bits)
        };
        let ends = (start..=highest.len()).rev();
        // A single column always fits.
        let (end, layout) = ends
            .filter_map(|end| Some((end, fits(&end)?)))
            .next()
            .unwrap_or((start, Layout::empty(0)));
        steps.push((start..end, layout));
        start = end;
    }
    steps
}

/// A layout with an additional first column for the numbers of `rows` rows.
fn layout_after(rows: u32, layout: &Layout) -> Layout {
    let highest: Vec<u32> = std::iter::once(rows.saturating_sub(1))
        .chain(layout.places().iter().map(|(_, mask)| *mask as u32))
        .collect();
    Layout::new(&highest).expect("a number and a step fit into 64 bits")
}

/// Sorts rows and merges equal ones. Empty counts mean one record per row.
fn distinct(mut keys: Vec<u64>, counts: &[u64]) -> (Vec<u64>, Vec<u64>) {
    if !counts.is_empty() {
        let mut pairs: Vec<(u64, u64)> = keys.into_iter().zip(counts.iter().copied()).collect();
        pairs.sort_unstable();
        let same = pairs.chunk_by(|a, b| a.0 == b.0);
        return same.map(|own| (own[0].0, own.iter().map(|(_, n)| n).sum::<u64>())).unzip();
    }
    keys.sort_unstable();
    let same = keys.chunk_by(|a, b| a == b);
    same.map(|own| (own[0], own.len() as u64)).unzip()
}

/// The columns of packed rows.
#[derive(Clone, Copy)]
struct Keys<'a> {
    columns: &'a [usize],
    layout: &'a Layout,
    /// The values of an additional first column, block by block.
    numbers: Option<&'a [Vec<u32>]>,
    /// The column with the counts of the records, if they are not 1.
    counts: Option<usize>,
}

/// Distinct rows, their numbers of records, and the row of each record, block by block.
#[derive(Default)]
struct DistinctRows {
    keys: Vec<u64>,
    counts: Vec<u64>,
    of_records: Vec<Vec<u32>>,
}

/// The distinct rows of several portions of a table.
#[derive(Default)]
struct MergedRows {
    rows: DistinctRows,
    /// The row of each key.
    known: HashMap<u64, u32, FixedState>,
}

impl MergedRows {
    /// Adds the rows of the next blocks.
    fn add(&mut self, portion: DistinctRows) {
        let MergedRows { rows, known } = self;
        let mut of_portion = Vec::with_capacity(portion.keys.len());
        for (key, count) in portion.keys.into_iter().zip(portion.counts) {
            let row = *known.entry(key).or_insert_with(|| {
                rows.keys.push(key);
                rows.counts.push(0);
                rows.keys.len() as u32 - 1
            });
            rows.counts[row as usize] += count;
            of_portion.push(row);
        }
        rows.of_records.extend(portion.of_records.into_iter().map(|mut numbers| {
            numbers.iter_mut().for_each(|number| *number = of_portion[*number as usize]);
            numbers
        }));
    }
}

/// Divides blocks with these numbers of records into portions of up to `most` records. A portion
/// has at least as many blocks as there are sorted together, so that small blocks do not make many
/// portions.
fn portions(sizes: &[usize], most: usize) -> Vec<Range<usize>> {
    let mut portions = Vec::new();
    let (mut start, mut records) = (0, 0usize);
    for (block, &size) in sizes.iter().enumerate() {
        if block - start >= TOGETHER && records.saturating_add(size) > most {
            portions.push(start..block);
            (start, records) = (block, 0);
        }
        records = records.saturating_add(size);
    }
    if start < sizes.len() {
        portions.push(start..sizes.len());
    }
    portions
}

/// The distinct rows of a shard. `of_records` has the rows of the shard's records, and `starts` the
/// position of each block in it.
#[derive(Default)]
struct ShardRows {
    keys: Vec<u64>,
    counts: Vec<u64>,
    of_records: Vec<u32>,
    starts: Vec<usize>,
}

/// The packed rows of a block, sorted by shard.
struct ShardedKeys {
    /// The start of each shard, and the end of the last one.
    ends: Vec<usize>,
    keys: Vec<u64>,
    /// Empty if each row is one record.
    counts: Vec<u64>,
    /// The position of each record in the block.
    positions: Vec<u16>,
}

impl ShardedKeys {
    /// Sorts the rows of a block by counting.
    fn new(keys: &[u64], counts: &[u64], shards: usize) -> ShardedKeys {
        let mut ends = vec![0; shards + 1];
        keys.iter().for_each(|&key| ends[shard_of(key, shards) + 1] += 1);
        (0..shards).for_each(|shard| ends[shard + 1] += ends[shard]);
        let mut next = ends.clone();
        let mut sorted = ShardedKeys {
            ends,
            keys: vec![0; keys.len()],
            counts: vec![0; counts.len()],
            positions: vec![0; keys.len()],
        };
        for (position, &key) in keys.iter().enumerate() {
            let at = &mut next[shard_of(key, shards)];
            sorted.keys[*at] = key;
            // A block has at most 65,536 records.
            sorted.positions[*at] = position as u16;
            if let Some(count) = counts.get(position) {
                sorted.counts[*at] = *count;
            }
            *at += 1;
        }
        sorted
    }
}

/// Selects one of `shards` shards by the middle bits of a product, which depend on most bits of the
/// key. The number of shards is a power of two.
#[inline]
fn shard_of(key: u64, shards: usize) -> usize {
    ((key ^ key >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (shards - 1)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_records_of_a_source_without_a_limit_are_folded_together() {
        let budget = FoldBudget { allowance: u64::MAX, used: 1 << 40 };
        assert!(budget.together() > 1 << 40 && budget.holds(usize::MAX >> 16, 100));
        let sizes = vec![1 << 16; 1000];
        assert_eq!(portions(&sizes, budget.together()).len(), 1);
        let full = FoldBudget { allowance: 10, used: 11 };
        assert_eq!((full.together(), full.holds(0, 1)), (0, false));
        assert_eq!(portions(&sizes[..40], full.together()), vec![0..16, 16..32, 32..40]);
        assert!(portions(&[], full.together()).is_empty());
    }

    proptest! {
        #[test]
        fn portions_cover_all_blocks_and_keep_the_limit(
            sizes in prop::collection::vec(0usize..50, 0..100),
            most in 0usize..2000,
        ) {
            let portions = portions(&sizes, most);
            let covered: Vec<usize> = portions.iter().cloned().flatten().collect();
            prop_assert_eq!(covered, (0..sizes.len()).collect::<Vec<_>>());
            for (at, blocks) in portions.iter().enumerate() {
                prop_assert!(blocks.len() >= TOGETHER || at + 1 == portions.len());
                let records: usize = sizes[blocks.clone()].iter().sum();
                prop_assert!(records <= most || blocks.len() <= TOGETHER);
            }
        }

        /// The keys of the records, by portion and block, folded portion by portion.
        #[test]
        fn portions_fold_like_one_table(
            keys in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(0u64..9, 0..20), 0..4),
                0..5,
            ),
        ) {
            let mut merged = MergedRows::default();
            for blocks in &keys {
                let mut portion = DistinctRows::default();
                for block in blocks {
                    let mut numbers = Vec::new();
                    for &key in block {
                        let known = portion.keys.iter().position(|own| *own == key);
                        let row = known.unwrap_or(portion.keys.len());
                        if known.is_none() {
                            portion.keys.push(key);
                            portion.counts.push(0);
                        }
                        portion.counts[row] += 1;
                        numbers.push(row as u32);
                    }
                    portion.of_records.push(numbers);
                }
                merged.add(portion);
            }
            let blocks: Vec<Vec<u64>> = keys.concat();
            let mut expected = std::collections::BTreeMap::new();
            blocks.iter().flatten().for_each(|key| *expected.entry(*key).or_insert(0u64) += 1);
            let DistinctRows { keys, counts, of_records } = merged.rows;
            let of_record = |row: &u32| keys[*row as usize];
            let read = |rows: &Vec<u32>| rows.iter().map(of_record).collect::<Vec<u64>>();
            prop_assert_eq!(of_records.iter().map(read).collect::<Vec<_>>(), blocks);
            prop_assert_eq!(keys.len(), expected.len());
            let counted: std::collections::BTreeMap<u64, u64> =
                keys.iter().copied().zip(counts.iter().copied()).collect();
            prop_assert_eq!(counted, expected);
        }

        /// Whatever the number of codes, every column is in one step, and each step fits.
        #[test]
        fn steps_cover_all_columns(highest in prop::collection::vec(any::<u32>(), 0..9)) {
            let steps = steps(&highest);
            let covered: Vec<usize> = steps.iter().flat_map(|(range, _)| range.clone()).collect();
            prop_assert_eq!(covered, (0..highest.len()).collect::<Vec<_>>());
            for (range, layout) in steps.iter().skip(1) {
                prop_assert!(!range.is_empty());
                prop_assert!(layout_after(u32::MAX, layout).total() <= u64::BITS);
            }
        }

        #[test]
        fn distinct_rows_count_like_a_map(
            rows in prop::collection::vec((0u64..9, 1u64..4), 0..60),
            is_counted in any::<bool>(),
        ) {
            let keys: Vec<u64> = rows.iter().map(|(key, _)| *key).collect();
            let counts: Vec<u64> = rows.iter().map(|(_, n)| if is_counted { *n } else { 1 }).collect();
            let mut expected = std::collections::BTreeMap::new();
            keys.iter().zip(&counts).for_each(|(key, n)| *expected.entry(*key).or_insert(0) += n);
            let given = if is_counted { counts.as_slice() } else { &[] };
            let (keys, counts) = distinct(keys, given);
            prop_assert_eq!(&keys, &expected.keys().copied().collect::<Vec<u64>>());
            prop_assert_eq!(counts, expected.into_values().collect::<Vec<u64>>());
            let sharded = ShardedKeys::new(&keys, &[], 4);
            prop_assert!(sharded.keys.iter().zip(&sharded.positions).all(|(key, at)| keys[usize::from(*at)] == *key));
            for shard in 0..4 {
                let own = &sharded.keys[sharded.ends[shard]..sharded.ends[shard + 1]];
                prop_assert!(own.iter().all(|key| shard_of(*key, 4) == shard));
            }
        }
    }
}
