//! Reads a source into a [`CodedTable`], on all threads.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::represented::read_weight;
use incrowd_core::{MISSING, Progress, Result};

use super::block::{CellBlock, TextBlock};
use super::coder::{Coding, ColumnCoder};
use super::repeating::RepeatCheck;
use super::{BLOCK, BLOCK_TEXT, Blocks, CodedTable, Head, TableColumn};
use crate::database::Sending;
use crate::intern::Interner;
use crate::join::identity::{Fingerprint, Key, is_missing_identifier, repeated};
use crate::source::{Place, Records, Scan, Source, Trouble, Worker};

/// Records after which the size of the block's texts is checked.
const SEGMENT: usize = 1 << 12;
/// The number of records whose texts are coded together. Their text stays in the processor's cache
/// while the columns are coded one after the other.
const NEAR: usize = 1 << 10;
/// The bytes per record that publishing needs for a row index, a person or a sampling weight: the
/// number itself, and a copy that is sorted by rows.
const PER_NUMBER: u64 = 8;
/// The bytes of a cell whose column is [listed](CodedTable::columns): its code, and copies while
/// sets of columns are searched.
const PER_LISTED: u64 = 12;

/// The columns to read, by their use. A column may have several uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableSpec<'a> {
    /// Columns whose cells are kept as texts, or as codes of their texts.
    pub(crate) kept: &'a [String],
    /// Whether long texts of the kept columns may be shortened, because only their equality
    /// matters.
    pub(crate) shortens: bool,
    /// Columns that are folded.
    pub(crate) folded: &'a [String],
    /// Texts that mean a missing value in kept columns, and in all others.
    pub(crate) missing_in_kept: &'a [String],
    pub(crate) missing: &'a [String],
    /// Whether records with a missing value in a folded column are dropped.
    pub(crate) drop_missing: bool,
    pub(crate) person: Option<&'a String>,
    pub(crate) weight: Option<&'a String>,
    /// Columns to check for repeated values in the first records.
    pub(crate) repeating: &'a [String],
    /// Columns that identify people together.
    pub(crate) people: &'a [String],
    /// Whether the index of each record's row is stored by the fold.
    pub(crate) rows: bool,
    /// Whether the fold may return bit-packed rows, which may repeat.
    pub(crate) packed: bool,
    /// The limit for bytes of cells in memory. Further cells go to an unnamed file in this
    /// directory.
    pub(crate) memory: u64,
    pub(crate) directory: &'a Path,
}

impl<'a> TableSpec<'a> {
    /// Reads no columns.
    pub(crate) fn new(directory: &'a Path, memory: u64) -> TableSpec<'a> {
        TableSpec {
            kept: &[],
            shortens: false,
            folded: &[],
            missing_in_kept: &[],
            missing: &[],
            drop_missing: false,
            person: None,
            weight: None,
            repeating: &[],
            people: &[],
            rows: false,
            packed: false,
            memory,
            directory,
        }
    }
}

/// The result of reading a source, except for the cells.
pub(crate) struct Reading {
    /// Locates records, and has the digest of the source.
    pub(crate) scan: Scan<()>,
    /// The number of records read, and of records dropped because of a missing value.
    pub(crate) read: u64,
    pub(crate) dropped: u64,
    /// The number of records with a missing value, by folded column.
    pub(crate) missing: Vec<u64>,
    /// The lowest index of a missing-value text that occurred, or the number of these texts.
    pub(crate) marker: usize,
    /// The number of records without a person, including dropped records.
    pub(crate) unnamed: u64,
    /// The number of records that were sent, or of distinct rows if a database grouped them.
    pub(crate) came: u64,
    /// The columns whose values repeat like those of a person column.
    pub(crate) repeating: Vec<String>,
    /// The number of kept records of people for whom another record was kept before.
    pub(crate) repeated: u64,
    /// The estimated memory use in bytes.
    pub(crate) memory: u64,
}

/// The data that all threads share.
struct Shared<'a> {
    spec: &'a TableSpec<'a>,
    dictionaries: Vec<RwLock<Interner>>,
    /// Kept columns with many distinct values. Their further blocks have texts in place of codes.
    is_text: Vec<AtomicBool>,
    blocks: Mutex<Blocks>,
    /// The key of the people's digests, and the decimal mark of numbers.
    key: Key,
    mark: DecimalMark,
}

impl Shared<'_> {
    fn add(&self, head: Head, cells: Vec<CellBlock>) -> io::Result<()> {
        let mut blocks = self.blocks.lock().expect("no thread panics while it holds the blocks");
        blocks.add(head, cells, self.spec.memory, self.spec.directory)
    }
}

/// Positions of the columns in a batch. Kept columns come first, then folded columns, then the
/// person, the sampling weight, and the count of a row that a database grouped.
struct Slots {
    /// Positions of the columns in the source.
    wanted: Vec<usize>,
    /// The slot of each column of the table.
    columns: Vec<usize>,
    names: Vec<String>,
    kept: usize,
    folded: usize,
    person: Option<usize>,
    weight: Option<usize>,
    /// The slots of the columns that identify people.
    people: Vec<usize>,
    /// The number of slots before those that only the check for repeated values needs.
    first_repeating: usize,
    /// The slots of the columns to check for repeated values.
    repeating: Vec<usize>,
    /// Whether each record is a distinct row with a count, in the slot after `wanted`.
    grouped: bool,
}

impl Slots {
    fn new(source: &Source, spec: &TableSpec<'_>, sending: Sending) -> Result<Slots> {
        let names = spec.kept.iter().chain(spec.folded).chain(spec.person).chain(spec.weight);
        let mut slots = Slots {
            wanted: Vec::new(),
            columns: Vec::new(),
            names: names.cloned().collect(),
            kept: spec.kept.len(),
            folded: spec.folded.len(),
            person: None,
            weight: None,
            people: Vec::new(),
            first_repeating: 0,
            repeating: Vec::new(),
            grouped: sending == Sending::Groups,
        };
        for name in slots.names.iter().chain(spec.people) {
            slots.columns.push(slot_of(source.position(name)?, &mut slots.wanted));
        }
        slots.people = slots.columns.split_off(slots.names.len());
        let mut next = slots.kept + slots.folded;
        let mut after = |is_there: bool| {
            next += usize::from(is_there);
            is_there.then(|| next - 1)
        };
        slots.person = after(spec.person.is_some());
        slots.weight = after(spec.weight.is_some());
        slots.first_repeating = slots.wanted.len();
        // A database computes which columns repeat without sending them.
        if source.relation().is_none() {
            for name in spec.repeating {
                slots.repeating.push(slot_of(source.position(name)?, &mut slots.wanted));
            }
        }
        if slots.grouped {
            slots.columns.push(slots.wanted.len());
            slots.names.push(String::new());
        }
        Ok(slots)
    }

    /// The folded columns.
    fn folded(&self) -> std::ops::Range<usize> {
        self.kept..self.kept + self.folded
    }
}

/// Returns the slot of a column. A column with several uses is read once, because a reader fills one
/// slot per column.
fn slot_of(position: usize, wanted: &mut Vec<usize>) -> usize {
    wanted.iter().position(|own| *own == position).unwrap_or_else(|| {
        wanted.push(position);
        wanted.len() - 1
    })
}

/// Cells of a column in the block that a thread fills.
enum Filling {
    Codes(Vec<u32>),
    Texts(TextBlock),
}

/// One thread of a reading.
struct TableReader<'a> {
    shared: &'a Shared<'a>,
    slots: &'a Slots,
    coders: Vec<ColumnCoder<'a>>,
    /// The codes of the batch, by column. A column whose block has texts has none.
    codes: Vec<Vec<u32>>,
    /// The block that is filled.
    head: Head,
    filling: Vec<Filling>,
    repeating: Vec<RepeatCheck>,
    /// The person of each kept record, if people are identified.
    people: Vec<Fingerprint>,
    /// The sampling weights that were read before, by text.
    weights: HashSet<Vec<u8>, FixedState>,
    read: u64,
    dropped: u64,
    missing: Vec<u64>,
    unnamed: u64,
    came: u64,
    /// The bytes that this thread has stored.
    stored: u64,
}

impl<'a> TableReader<'a> {
    fn new(source: &Source, shared: &'a Shared<'a>, slots: &'a Slots) -> TableReader<'a> {
        let columns = slots.columns.len();
        let cached = source.remembered() / columns.max(1);
        let coder = |(column, dictionary): (usize, &'a RwLock<Interner>)| {
            let is_kept = column < slots.kept;
            let is_count = slots.grouped && column + 1 == columns;
            let missing = match is_kept {
                true => shared.spec.missing_in_kept,
                false => shared.spec.missing,
            };
            let coding = Coding {
                // A count is never missing, also if its digits are a missing-value text.
                missing: if is_count { &[] } else { missing },
                is_person: slots.person == Some(column),
                shortens: is_kept && shared.spec.shortens,
                is_folded: slots.folded().contains(&column),
            };
            ColumnCoder::new(dictionary, coding, cached)
        };
        TableReader {
            coders: shared.dictionaries.iter().enumerate().map(coder).collect(),
            codes: vec![Vec::new(); columns],
            head: Head::default(),
            filling: (0..columns).map(|_| Filling::Codes(Vec::new())).collect(),
            repeating: slots.repeating.iter().map(|_| RepeatCheck::default()).collect(),
            people: Vec::new(),
            weights: HashSet::default(),
            read: 0,
            dropped: 0,
            missing: vec![0; slots.folded],
            unnamed: 0,
            came: 0,
            stored: 0,
            shared,
            slots,
        }
    }

    /// Codes the columns of a batch.
    fn code<R: Records>(&mut self, records: &R) {
        let mut texts = Vec::with_capacity(self.coders.len());
        for (column, coder) in self.coders.iter_mut().enumerate() {
            self.codes[column].clear();
            if matches!(self.filling[column], Filling::Codes(_))
                && !coder.code(records, self.slots.columns[column], &mut self.codes[column])
            {
                texts.push(column);
            }
        }
        for first in (0..records.len()).step_by(NEAR) {
            let near = first..records.len().min(first + NEAR);
            for &column in &texts {
                let (slot, codes) = (self.slots.columns[column], &mut self.codes[column]);
                self.coders[column].code_texts(records, slot, near.clone(), codes);
            }
        }
        for column in 0..self.slots.kept {
            if !self.shared.spec.shortens && self.coders[column].is_useless() {
                self.shared.is_text[column].store(true, Ordering::Relaxed);
            }
        }
    }

    /// The counts of the rows of a batch that a database grouped.
    fn counts<R: Records>(&self, records: &R) -> Result<Vec<u64>, Trouble> {
        let slot = self.slots.wanted.len();
        let count = |record: usize| {
            let text = records.get(record, slot).and_then(|text| std::str::from_utf8(text).ok());
            let count = text.and_then(|text| text.parse().ok()).filter(|count| *count > 0);
            count.ok_or_else(|| Trouble {
                record,
                message: " has no count".to_owned(),
                help: None,
                error: None,
            })
        };
        (0..records.len()).map(count).collect()
    }

    /// Counts missing values. Returns the records to keep, or `None` if all of them are kept.
    fn keep(&mut self, records: usize, counts: Option<&[u64]>) -> Option<Vec<u32>> {
        let of_record = |record: usize| counts.map_or(1, |counts| counts[record]);
        let folded = self.slots.folded();
        let mut lacks: Vec<bool> = Vec::new();
        for (codes, missing) in self.codes[folded].iter().zip(&mut self.missing) {
            if !codes.contains(&MISSING) {
                continue;
            }
            lacks.resize(records, false);
            for (record, lacks) in lacks.iter_mut().enumerate() {
                if codes[record] == MISSING {
                    *missing += of_record(record);
                    *lacks = true;
                }
            }
        }
        if lacks.is_empty() || !self.shared.spec.drop_missing {
            return None;
        }
        let lost = (0..records).filter(|&record| lacks[record]);
        self.dropped += lost.map(of_record).sum::<u64>();
        Some((0..records as u32).filter(|record| !lacks[*record as usize]).collect())
    }

    /// Checks the sampling weights of the records that are kept.
    fn check_weights<R: Records>(
        &mut self,
        records: &R,
        kept: Option<&[u32]>,
    ) -> Result<(), Trouble> {
        let Some(column) = self.slots.weight else { return Ok(()) };
        let slot = self.slots.columns[column];
        let all = 0..if kept.is_some() { 0 } else { records.len() as u32 };
        for record in kept.unwrap_or_default().iter().copied().chain(all) {
            let record = record as usize;
            let text = records.get(record, slot).unwrap_or_default();
            if self.weights.contains(text) {
                continue;
            }
            let is_missing = self.codes[column][record] == MISSING;
            let text = std::str::from_utf8(text).ok().filter(|_| !is_missing);
            let Some(text) = text.filter(|text| read_weight(text).is_some()) else {
                let name = &self.slots.names[column];
                return Err(Trouble {
                    record,
                    message: format!(" has no weight of at least 1 in column `{name}`"),
                    help: Some("remove such records: a sampling weight is at least 1".to_owned()),
                    error: None,
                });
            };
            self.weights.insert(text.as_bytes().to_vec());
        }
        Ok(())
    }

    /// Adds the people of the records that are kept.
    fn add_people<R: Records>(&mut self, records: &R, kept: Option<&[u32]>) {
        let (Shared { spec, key, mark, .. }, slots) = (self.shared, self.slots);
        if spec.people.is_empty() {
            return;
        }
        let is_missing = |text: &[u8]| is_missing_identifier(text, spec.missing);
        let person = |record: usize| {
            let names = slots.people.iter().map(|&slot| records.get(record, slot));
            key.fingerprint_of_all(names.map(|name| name.filter(|text| !is_missing(text))), *mark)
        };
        match kept {
            Some(kept) => self.people.extend(kept.iter().map(|&record| person(record as usize))),
            None => self.people.extend((0..records.len()).map(person)),
        }
    }

    /// Appends the records of a batch that are kept.
    fn append<R: Records>(
        &mut self,
        place: Place,
        records: &R,
        kept: Option<&[u32]>,
    ) -> io::Result<()> {
        let (mut done, end) = (0, kept.map_or(records.len(), <[u32]>::len));
        while done < end {
            // A batch may fill several blocks. After a few records the size of the texts is checked.
            let room = (BLOCK - self.head.records).min(SEGMENT);
            let now = done..end.min(done + room);
            let before = place.before + done as u64;
            self.head.places.push((Place { before, ..place }, now.len()));
            self.head.records += now.len();
            done = now.end;
            let mut text = 0;
            for (column, filling) in self.filling.iter_mut().enumerate() {
                let codes = &self.codes[column];
                match (filling, kept) {
                    (Filling::Codes(own), None) => own.extend_from_slice(&codes[now.clone()]),
                    (Filling::Codes(own), Some(kept)) => {
                        own.extend(kept[now.clone()].iter().map(|&record| codes[record as usize]));
                    }
                    (Filling::Texts(own), _) => {
                        for at in now.clone() {
                            let record = kept.map_or(at, |kept| kept[at] as usize);
                            own.push(records.get(record, self.slots.columns[column]))?;
                        }
                        text += own.bytes();
                    }
                }
            }
            if self.head.records == BLOCK || text > BLOCK_TEXT || self.must_change() {
                self.seal()?;
            }
        }
        Ok(())
    }

    /// Whether a column has codes in this block although its next block will have texts.
    fn must_change(&self) -> bool {
        let mut columns = self.filling.iter().zip(&self.shared.is_text);
        columns.any(|(own, is_text)| {
            matches!(own, Filling::Codes(_)) && is_text.load(Ordering::Relaxed)
        })
    }

    /// Moves the current block to the table, full or not.
    fn seal(&mut self) -> io::Result<()> {
        if self.head.records == 0 {
            return Ok(());
        }
        let mut cells = Vec::with_capacity(self.filling.len());
        for (column, filling) in self.filling.iter_mut().enumerate() {
            let is_text = &self.shared.is_text[column];
            cells.push(match filling {
                Filling::Codes(codes) => {
                    let block = CellBlock::of_codes(codes);
                    codes.clear();
                    block
                }
                Filling::Texts(texts) => CellBlock::Texts(std::mem::take(texts)),
            });
            if is_text.load(Ordering::Relaxed) && matches!(filling, Filling::Codes(_)) {
                *filling = Filling::Texts(TextBlock::default());
            }
        }
        self.stored += cells.iter().map(CellBlock::memory).sum::<u64>();
        let head = std::mem::take(&mut self.head);
        self.stored += head.records as u64 * self.per_record();
        self.shared.add(head, cells)
    }

    /// The bytes of a record in addition to its cells.
    fn per_record(&self) -> u64 {
        let spec = self.shared.spec;
        let numbers = [spec.rows, spec.person.is_some(), spec.weight.is_some()];
        let numbers = numbers.into_iter().filter(|is_stored| *is_stored).count() as u64;
        let listed = if spec.shortens { spec.kept.len() as u64 } else { 0 };
        PER_NUMBER * numbers + PER_LISTED * listed
    }
}

impl Worker for TableReader<'_> {
    fn slots(&self, all: usize) -> usize {
        let done = !self.repeating.is_empty() && self.repeating.iter().all(RepeatCheck::is_done);
        if done && self.slots.first_repeating > 0 { self.slots.first_repeating } else { all }
    }

    fn visit<R: Records>(&mut self, place: Place, records: &R) -> Result<(), Trouble> {
        self.code(records);
        for (check, &slot) in self.repeating.iter_mut().zip(&self.slots.repeating) {
            check.add(slot, records, self.shared.spec.missing);
        }
        let counts = self.slots.grouped.then(|| self.counts(records)).transpose()?;
        self.read += counts.as_ref().map_or(records.len() as u64, |counts| counts.iter().sum());
        self.came += records.len() as u64;
        if let Some(person) = self.slots.person {
            let unnamed = self.codes[person].iter().filter(|code| **code == MISSING).count();
            self.unnamed += unnamed as u64;
        }
        let kept = self.keep(records.len(), counts.as_deref());
        self.check_weights(records, kept.as_deref())?;
        self.add_people(records, kept.as_deref());
        let appended = self.append(place, records, kept.as_deref());
        appended.map_err(|error| Trouble::of_error(super::not_stored(&error)))
    }

    fn memory(&self) -> u64 {
        let added: u64 = self.coders.iter().map(ColumnCoder::added).sum();
        // The digests are copied when those of all threads are combined.
        let people = (2 * self.people.len() * size_of::<Fingerprint>()) as u64;
        self.stored + added + people + self.head.records as u64 * self.per_record()
    }
}

impl CodedTable {
    /// Reads a source once.
    pub(crate) fn read(
        source: &Source,
        spec: &TableSpec<'_>,
        sending: Sending,
        progress: &dyn Progress,
    ) -> Result<(CodedTable, Reading)> {
        let slots = Slots::new(source, spec, sending)?;
        let columns = slots.columns.len();
        let shared = Shared {
            spec,
            dictionaries: (0..columns).map(|_| RwLock::new(Interner::new())).collect(),
            is_text: (0..columns).map(|_| AtomicBool::new(false)).collect(),
            blocks: Mutex::default(),
            key: Key::new(),
            mark: source.decimal().unwrap_or_default(),
        };
        let worker = || TableReader::new(source, &shared, &slots);
        let scan = source.scan_sent(&slots.wanted, sending, worker, progress)?;
        let (mut workers, scan) = scan.into_workers();
        for worker in &mut workers {
            worker.seal().map_err(|error| super::not_stored(&error))?;
        }
        let sum = |of: fn(&TableReader<'_>) -> u64| workers.iter().map(of).sum::<u64>();
        let folded_coders = |worker: &TableReader<'_>| -> usize {
            let markers = worker.coders[slots.folded()].iter().map(ColumnCoder::marker);
            markers.min().unwrap_or(spec.missing.len())
        };
        let mut missing = vec![0; slots.folded];
        for worker in &workers {
            missing.iter_mut().zip(&worker.missing).for_each(|(sum, n)| *sum += n);
        }
        let mut reading = Reading {
            scan,
            read: sum(|worker| worker.read),
            dropped: sum(|worker| worker.dropped),
            missing,
            marker: workers.iter().map(folded_coders).min().unwrap_or(spec.missing.len()),
            unnamed: sum(|worker| worker.unnamed),
            came: sum(|worker| worker.came),
            repeating: Vec::new(),
            repeated: 0,
            memory: sum(|worker| worker.memory()),
        };
        let mut checks: Vec<Vec<RepeatCheck>> =
            slots.repeating.iter().map(|_| Vec::new()).collect();
        let mut people = Vec::new();
        for worker in workers {
            people.extend(worker.people);
            checks.iter_mut().zip(worker.repeating).for_each(|(all, own)| all.push(own));
        }
        reading.repeated = repeated(people);
        let repeating = spec.repeating.iter().zip(checks);
        reading.repeating = repeating
            .filter_map(|(name, checks)| RepeatCheck::repeats(checks).then(|| name.clone()))
            .collect();
        if let Some(relation) = source.relation() {
            for name in spec.repeating {
                let (records, different) =
                    relation.repeats(source.position(name)?, spec.missing)?;
                if RepeatCheck::is_person_like(records, different) {
                    reading.repeating.push(name.clone());
                }
            }
        }
        let unlocked = |own: RwLock<Interner>| own.into_inner().expect("no thread is left");
        let own = slots.names.into_iter().zip(shared.dictionaries).zip(shared.is_text);
        let own = own.map(|((name, dictionary), is_text)| TableColumn {
            name,
            dictionary: unlocked(dictionary),
            is_text: is_text.into_inner(),
        });
        let table = CodedTable {
            columns: own.collect(),
            kept: slots.kept,
            has_rows: false,
            has_persons: false,
            directory: spec.directory.to_owned(),
            limit: spec.memory,
            blocks: shared.blocks.into_inner().expect("no thread is left"),
        };
        Ok((table, reading))
    }
}
