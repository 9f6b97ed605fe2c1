//! Per-record data of a table, stored while the table is read: the folded row of each record, its
//! person, and its cells in columns that are needed record by record. The input is read once, and
//! the release is written from this data.
//!
//! Threads append records to blocks. The id of a record is the index of its block times [`BLOCK`],
//! plus its position in the block. Cells of full blocks stay in memory up to a limit. Further
//! blocks go to an unnamed temporary file, which the system removes when this process ends. Rows
//! and persons always stay in memory.

pub(crate) mod assign;
pub(crate) mod block;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use incrowd_core::{CodedColumn, Columnar, Error, PackedTexts, Result};
use rayon::prelude::*;

use crate::coder::ColumnCoder;
use crate::intern::Interner;
use crate::pending::write_failed;
use crate::source::{Place, Records};
use block::{CellBlock, TextBlock};

/// The maximum number of records of a block.
const BLOCK: usize = 1 << 16;
/// The approximate number of text bytes at which a block with fewer records is full.
const BLOCK_TEXT: usize = 16 << 20;
/// Records after which the size of the block's texts is checked.
const SEGMENT: usize = 1 << 12;
/// The default limit for bytes of cells in memory. Further cells go to a temporary file.
pub(crate) const MEMORY: u64 = 1 << 30;

/// A dictionary larger than this is not copied for writing.
const LARGE_DICTIONARY: u64 = 1 << 30;

/// The data that is stored for each record.
#[derive(Clone, Debug)]
pub(crate) struct Stored<'a> {
    /// Columns whose cells are stored.
    pub(crate) columns: &'a [String],
    /// Whether only codes are needed. Then long texts are shortened, and no text is stored.
    pub(crate) codes_only: bool,
    /// Whether rows and persons are stored.
    pub(crate) rows: bool,
    pub(crate) persons: bool,
    /// The limit for bytes of cells in memory. Further cells go to a file in this directory.
    pub(crate) memory: u64,
    pub(crate) directory: &'a Path,
}

/// The data of all records, shared by the threads that read a table.
#[derive(Debug)]
pub(crate) struct RecordStore<'a> {
    stored: Stored<'a>,
    dictionaries: Vec<Mutex<Interner>>,
    /// Columns with many distinct values. Their further blocks have texts in place of codes.
    is_text: Vec<AtomicBool>,
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Default)]
struct Blocks {
    heads: Vec<Head>,
    cells: Vec<BlockCells>,
    /// The bytes of cells in memory, and in the file.
    memory: u64,
    spilled: u64,
    file: Option<File>,
}

/// A block without its cells.
#[derive(Debug, Default)]
struct Head {
    records: usize,
    /// Empty unless rows or persons are stored.
    rows: Vec<u32>,
    persons: Vec<u32>,
    /// The origin of the records: batches, and the number of records of each.
    places: Vec<(Place, usize)>,
}

/// The cells of all stored columns in one block.
#[derive(Debug)]
enum BlockCells {
    Memory(Vec<CellBlock>),
    /// The offset of the block in the temporary file.
    Spilled(u64),
}

impl<'a> RecordStore<'a> {
    pub(crate) fn new(stored: Stored<'a>) -> RecordStore<'a> {
        RecordStore {
            dictionaries: stored.columns.iter().map(|_| Mutex::new(Interner::new())).collect(),
            is_text: stored.columns.iter().map(|_| AtomicBool::new(false)).collect(),
            blocks: Mutex::default(),
            stored,
        }
    }

    /// Makes a writer for one thread. `slots` has for each column its slot in a batch.
    pub(crate) fn writer(&self, slots: &[usize], cached: usize) -> RecordWriter<'_> {
        let columns = self.dictionaries.len();
        let coder = |dictionary| {
            let coder = ColumnCoder::new(dictionary, &[], cached / columns.max(1));
            if self.stored.codes_only { coder.shortening() } else { coder }
        };
        RecordWriter {
            store: self,
            slots: slots.to_vec(),
            coders: self.dictionaries.iter().map(coder).collect(),
            head: Head::default(),
            columns: (0..columns).map(|_| Column::Codes(Vec::new())).collect(),
            codes: vec![Vec::new(); columns],
            kept: 0,
        }
    }

    /// The columns whose cells are stored.
    pub(crate) fn columns(&self) -> &[String] {
        self.stored.columns
    }

    /// Whether any per-record data is stored.
    pub(crate) fn is_needed(&self) -> bool {
        self.needs_rows() || !self.stored.columns.is_empty()
    }

    /// Whether the row of each record is stored.
    pub(crate) fn needs_rows(&self) -> bool {
        self.stored.rows
    }

    fn add(&self, head: Head, cells: Vec<CellBlock>) -> io::Result<()> {
        let memory: u64 = cells.iter().map(CellBlock::memory).sum();
        let mut blocks = self.blocks.lock().expect("no thread panics while it holds the blocks");
        let blocks = &mut *blocks;
        if blocks.heads.len() >= u32::MAX as usize / BLOCK {
            return Err(io::Error::other("there are too many records"));
        }
        blocks.heads.push(head);
        if blocks.memory + memory <= self.stored.memory {
            blocks.memory += memory;
            blocks.cells.push(BlockCells::Memory(cells));
            return Ok(());
        }
        let file = match &mut blocks.file {
            Some(file) => file,
            None => blocks.file.insert(tempfile::tempfile_in(self.stored.directory)?),
        };
        blocks.cells.push(BlockCells::Spilled(blocks.spilled));
        let mut bytes = Vec::with_capacity(memory as usize + 64 * cells.len());
        cells.iter().try_for_each(|cells| cells.write(&mut bytes))?;
        blocks.spilled += bytes.len() as u64;
        file.write_all(&bytes)
    }

    /// The stored data, after all threads are done.
    pub(crate) fn finish(self) -> StoredRecords {
        let unlock = |own: Mutex<Interner>| own.into_inner().expect("no thread is left");
        StoredRecords {
            names: self.stored.columns.to_vec(),
            dictionaries: self.dictionaries.into_iter().map(unlock).collect(),
            is_text: self.is_text.into_iter().map(AtomicBool::into_inner).collect(),
            has_rows: self.stored.rows,
            has_persons: self.stored.persons,
            directory: self.stored.directory.to_owned(),
            limit: self.stored.memory,
            blocks: self.blocks.into_inner().expect("no thread is left"),
        }
    }
}

/// Cells of a column in the block that a thread fills.
enum Column {
    Codes(Vec<u32>),
    Texts(TextBlock),
}

/// One thread's access to a [`RecordStore`].
pub(crate) struct RecordWriter<'a> {
    store: &'a RecordStore<'a>,
    slots: Vec<usize>,
    coders: Vec<ColumnCoder<'a>>,
    /// The block that is filled.
    head: Head,
    columns: Vec<Column>,
    /// The codes of the batch, by column. A column with texts has none.
    codes: Vec<Vec<u32>>,
    /// The bytes that this thread has stored.
    kept: u64,
}

impl RecordWriter<'_> {
    /// Appends records of a batch: those in `picked`, with their rows and persons if these are
    /// stored.
    pub(crate) fn append<R: Records>(
        &mut self,
        place: Place,
        records: &R,
        picked: &[u32],
        rows: &[u32],
        persons: &[u32],
    ) -> io::Result<()> {
        for (at, coder) in self.coders.iter_mut().enumerate() {
            self.codes[at].clear();
            if matches!(self.columns[at], Column::Codes(_)) {
                coder.code(records, self.slots[at], &mut self.codes[at]);
                if !self.store.stored.codes_only && coder.is_useless() {
                    self.store.is_text[at].store(true, Ordering::Relaxed);
                }
            }
        }
        let mut done = 0;
        while done < picked.len() {
            // A batch may fill several blocks. After a few records the size of the texts is checked.
            let room = (BLOCK - self.head.records).min(SEGMENT);
            let now = done..picked.len().min(done + room);
            self.head
                .places
                .push((Place { before: place.before + done as u64, ..place }, now.len()));
            self.head.records += now.len();
            if self.store.stored.rows {
                self.head.rows.extend_from_slice(&rows[now.clone()]);
            }
            if self.store.stored.persons {
                self.head.persons.extend_from_slice(&persons[now.clone()]);
            }
            done = now.end;
            let mut text = 0;
            for (at, column) in self.columns.iter_mut().enumerate() {
                let picked = picked[now.clone()].iter().map(|&record| record as usize);
                match column {
                    Column::Codes(codes) => {
                        codes.extend(picked.map(|record| self.codes[at][record]))
                    }
                    Column::Texts(texts) => {
                        for record in picked {
                            texts.push(records.get(record, self.slots[at]))?;
                        }
                        text += texts.bytes();
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
        let changes = |(column, is_text): (&Column, &AtomicBool)| {
            matches!(column, Column::Codes(_)) && is_text.load(Ordering::Relaxed)
        };
        self.columns.iter().zip(&self.store.is_text).any(changes)
    }

    /// Moves the current block to the store, full or not.
    pub(crate) fn seal(&mut self) -> io::Result<()> {
        if self.head.records == 0 {
            return Ok(());
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        for (column, is_text) in self.columns.iter_mut().zip(&self.store.is_text) {
            let next = match is_text.load(Ordering::Relaxed) {
                true => Column::Texts(TextBlock::default()),
                false => Column::Codes(Vec::with_capacity(BLOCK)),
            };
            cells.push(match std::mem::replace(column, next) {
                Column::Codes(codes) => CellBlock::of_codes(&codes),
                Column::Texts(texts) => CellBlock::Texts(texts),
            });
        }
        self.kept += cells.iter().map(CellBlock::memory).sum::<u64>();
        let head = std::mem::take(&mut self.head);
        self.kept += head.records as u64 * self.per_record();
        self.store.add(head, cells)
    }

    /// The bytes of a record in addition to its cells: its row and its person, each of them twice
    /// because a copy is sorted by rows.
    fn per_record(&self) -> u64 {
        8 * (u64::from(self.store.stored.rows) + u64::from(self.store.stored.persons))
    }

    /// Bytes this thread has stored and added to dictionaries.
    pub(crate) fn memory(&self) -> u64 {
        let added: u64 = self.coders.iter().map(ColumnCoder::added).sum();
        self.kept + added + self.head.records as u64 * self.per_record()
    }
}

/// The data of all records of a table that was read.
#[derive(Debug)]
pub(crate) struct StoredRecords {
    names: Vec<String>,
    dictionaries: Vec<Interner>,
    is_text: Vec<bool>,
    has_rows: bool,
    has_persons: bool,
    directory: PathBuf,
    limit: u64,
    blocks: Blocks,
}

impl StoredRecords {
    /// The position of a passthrough column.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// The dictionary of a column, if all of its cells are codes in memory and it is not large.
    pub(crate) fn dictionary(&self, column: usize) -> Option<&Interner> {
        let dictionary = &self.dictionaries[column];
        let is_usable = !self.is_text[column] && self.blocks.spilled == 0;
        (is_usable && dictionary.memory() < LARGE_DICTIONARY).then_some(dictionary)
    }

    /// The mean length of a record's passthrough cells in bytes, estimated from the cells in
    /// memory.
    pub(crate) fn mean_length(&self) -> usize {
        let length = |(cells, dictionary): (&CellBlock, &Interner)| -> u64 {
            match cells {
                CellBlock::Texts(texts) => texts.bytes() as u64,
                cells => {
                    let codes = cells.codes();
                    codes.map(|code| dictionary.text(code).map_or(0, <[u8]>::len) as u64).sum()
                }
            }
        };
        let block = |(cells, head): (&BlockCells, &Head)| match cells {
            BlockCells::Spilled(_) => (0, 0),
            BlockCells::Memory(columns) => {
                (columns.iter().zip(&self.dictionaries).map(length).sum(), head.records as u64)
            }
        };
        let blocks = self.blocks.cells.par_iter().zip(&self.blocks.heads).map(block);
        let (bytes, records) = blocks.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        (bytes / records.max(1)) as usize
    }

    /// Ids of all records with their rows, block by block.
    pub(crate) fn rows(&self) -> impl IndexedParallelIterator<Item = (u32, &[u32])> {
        let blocks = self.blocks.heads.par_iter().enumerate();
        blocks.map(|(block, head)| ((block * BLOCK) as u32, head.rows.as_slice()))
    }

    /// Replaces row numbers by others.
    pub(crate) fn renumber_rows(&mut self, row: impl Fn(u32) -> u32 + Sync) {
        let rows = self.blocks.heads.par_iter_mut().flat_map(|head| &mut head.rows);
        rows.for_each(|own| *own = row(*own));
    }

    /// Replaces person numbers by others.
    pub(crate) fn renumber_persons(&mut self, mut person: impl FnMut(u32) -> u32) {
        let persons = self.blocks.heads.iter_mut().flat_map(|head| &mut head.persons);
        persons.for_each(|own| *own = person(*own));
    }

    /// Sets the persons from a list in the order of the table. `number` maps a place to its index
    /// in the list. `read` records were read, and the list must have as many.
    pub(crate) fn set_persons(
        &mut self,
        persons: &[u32],
        read: u64,
        number: impl Fn(Place) -> u64 + Sync,
    ) -> Result<()> {
        if persons.len() as u64 != read {
            return Err(Error::bug("another number of records was read than was written"));
        }
        self.has_persons = true;
        self.blocks.heads.par_iter_mut().for_each(|head| {
            for &(place, records) in &head.places {
                let first = number(place) as usize;
                head.persons.extend_from_slice(&persons[first..first + records]);
            }
        });
        Ok(())
    }

    /// Each record's row and person.
    pub(crate) fn rows_and_persons(&self) -> impl Iterator<Item = (u32, u32)> {
        let heads = self.blocks.heads.iter();
        heads.flat_map(|head| head.rows.iter().copied().zip(head.persons.iter().copied()))
    }

    /// The person of a record, if persons are stored.
    pub(crate) fn person(&self, id: u32) -> Option<u32> {
        let (block, position) = place(id);
        self.has_persons.then(|| self.blocks.heads[block].persons[position])
    }

    /// Whether the row of each record is stored.
    pub(crate) fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// The columns with their numbers of codes, but without the codes of the records.
    pub(crate) fn columns_without_codes(&self) -> Columnar {
        Columnar { columns: self.with_codes(self.names.iter().map(|_| Vec::new())), records: 0 }
    }

    fn with_codes(&self, codes: impl Iterator<Item = Vec<u32>>) -> Vec<CodedColumn> {
        let columns = self.names.iter().zip(&self.dictionaries).zip(codes);
        let column = |((name, dictionary), codes): ((&String, &Interner), Vec<u32>)| CodedColumn {
            name: name.clone(),
            texts: PackedTexts::unnamed(dictionary.len() as usize + 1),
            codes,
        };
        columns.map(column).collect()
    }

    /// The codes of all columns in the order of the table, without the texts. `number` maps a place
    /// to its index in the table.
    pub(crate) fn columns(&self, number: impl Fn(Place) -> u64) -> Result<Columnar> {
        let records = self.records();
        let mut codes: Vec<Vec<u32>> = self.names.iter().map(|_| vec![0; records]).collect();
        self.each_block(|head, column, cells| {
            let mut own = cells.codes();
            for &(place, records) in &head.places {
                let first = number(place) as usize;
                let codes = codes[column][first..first + records].iter_mut();
                codes.zip(own.by_ref()).for_each(|(code, own)| *code = own);
            }
        })?;
        Ok(Columnar { columns: self.with_codes(codes.into_iter()), records })
    }

    /// For each column the number of values that occur once.
    pub(crate) fn unique_values(&self) -> Result<Vec<u64>> {
        let counts = |own: &Interner| vec![0u32; own.len() as usize + 1];
        let mut counts: Vec<Vec<u32>> = self.dictionaries.iter().map(counts).collect();
        self.each_block(|_, column, cells| {
            for code in cells.codes() {
                let count = &mut counts[column][code as usize];
                *count = count.saturating_add(1);
            }
        })?;
        let unique = |counts: &Vec<u32>| counts.iter().filter(|n| **n == 1).count() as u64;
        Ok(counts.iter().map(unique).collect())
    }

    fn each_block(&self, mut visit: impl FnMut(&Head, usize, &CellBlock)) -> Result<()> {
        for (head, block) in self.blocks.heads.iter().zip(&self.blocks.cells) {
            let read;
            let columns = match block {
                BlockCells::Memory(columns) => columns,
                BlockCells::Spilled(at) => {
                    read = self.read(*at).map_err(|e| write_failed(&self.directory, &e))?;
                    &read
                }
            };
            columns.iter().enumerate().for_each(|(column, cells)| visit(head, column, cells));
        }
        Ok(())
    }

    fn records(&self) -> usize {
        self.blocks.heads.iter().map(|head| head.records).sum()
    }

    /// The number of passes over the records that keeps the loaded cells below the memory limit.
    pub(crate) fn walks(&self) -> u64 {
        match self.blocks.spilled {
            0 => 1,
            spilled => (self.blocks.memory + spilled).div_ceil(self.limit.max(1)),
        }
    }

    /// The limit for bytes of cells that are loaded at once.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The approximate number of bytes per record that loading takes. 0 if all cells are in memory.
    pub(crate) fn spilled_bytes_per_record(&self) -> u64 {
        match self.blocks.spilled {
            0 => 0,
            spilled => (self.blocks.memory + spilled).div_ceil(self.records().max(1) as u64),
        }
    }

    /// Access to the cells of some records. If all cells are in memory, `ids` is not called.
    pub(crate) fn cells(&self, ids: impl FnOnce() -> Vec<u32>) -> Result<StoredCells<'_>> {
        if self.blocks.spilled == 0 {
            return Ok(StoredCells { records: self, loaded: Vec::new() });
        }
        let mut ids = ids();
        ids.par_sort_unstable();
        let mut loaded: Vec<LoadedBlock> =
            self.blocks.heads.iter().map(|_| LoadedBlock::default()).collect();
        for ids in ids.chunk_by(|a, b| place(*a).0 == place(*b).0) {
            let (block, _) = place(ids[0]);
            let BlockCells::Spilled(at) = self.blocks.cells[block] else { continue };
            let positions: Vec<u16> = ids.iter().map(|id| place(*id).1 as u16).collect();
            let cells = self.read(at).map_err(|e| write_failed(&self.directory, &e))?;
            let columns = cells.iter().map(|cells| cells.picked(&positions)).collect();
            loaded[block] = LoadedBlock { positions, columns };
        }
        Ok(StoredCells { records: self, loaded })
    }

    fn read(&self, at: u64) -> io::Result<Vec<CellBlock>> {
        let Some(mut file) = self.blocks.file.as_ref() else {
            return Err(io::Error::other("there is no file of spilled records"));
        };
        file.seek(SeekFrom::Start(at))?;
        let mut reader = io::BufReader::with_capacity(1 << 20, file);
        let reader: &mut dyn Read = &mut reader;
        self.names.iter().map(|_| CellBlock::read(&mut &mut *reader)).collect()
    }
}

/// The block index and the position of a record.
#[inline]
fn place(id: u32) -> (usize, usize) {
    (id as usize / BLOCK, id as usize % BLOCK)
}

/// Loaded cells of a block in the temporary file.
#[derive(Debug, Default)]
struct LoadedBlock {
    /// The positions of the records in the block, sorted.
    positions: Vec<u16>,
    columns: Vec<CellBlock>,
}

/// Access to the cells of records that are in memory.
#[derive(Debug)]
pub(crate) struct StoredCells<'a> {
    records: &'a StoredRecords,
    loaded: Vec<LoadedBlock>,
}

/// A cell of a passthrough column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredCell<'a> {
    /// Code of the column's dictionary.
    Code(u32),
    Text(&'a [u8]),
    Null,
}

impl StoredCells<'_> {
    /// The cell of a record.
    #[inline]
    pub(crate) fn get(&self, id: u32, column: usize) -> StoredCell<'_> {
        let (block, position) = place(id);
        let (cells, position) = match &self.records.blocks.cells[block] {
            BlockCells::Memory(columns) => (&columns[column], position),
            BlockCells::Spilled(_) => {
                let loaded = &self.loaded[block];
                let found = loaded.positions.binary_search(&(position as u16));
                (&loaded.columns[column], found.expect("the record was loaded"))
            }
        };
        match (cells.code(position), cells) {
            (Some(code), _) => StoredCell::Code(code),
            (None, CellBlock::Texts(texts)) => {
                texts.get(position).map_or(StoredCell::Null, StoredCell::Text)
            }
            (None, _) => StoredCell::Null,
        }
    }

    /// The text of a cell.
    pub(crate) fn text(&self, id: u32, column: usize) -> Option<&[u8]> {
        match self.get(id, column) {
            StoredCell::Code(code) => self.records.dictionaries[column].text(code),
            StoredCell::Text(text) => Some(text),
            StoredCell::Null => None,
        }
    }

    /// The texts of all passthrough columns of a record.
    pub(crate) fn texts(&self, id: u32) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.records.names.len()).map(move |column| self.text(id, column))
    }
}

/// Reports that per-record data cannot be stored.
pub(crate) fn not_stored(error: &io::Error) -> Error {
    Error::resources(format!("records could not be kept in a temporary file: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch with one column.
    struct Cells(Vec<Option<String>>);

    impl Records for Cells {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn get(&self, record: usize, _: usize) -> Option<&[u8]> {
            self.0[record].as_ref().map(|text| text.as_bytes())
        }
    }

    /// Stores a column whose values all differ, or are null. Every third record is dropped.
    fn stored(
        records: usize,
        memory: u64,
        directory: &Path,
    ) -> (Vec<Option<String>>, StoredRecords) {
        let cells: Vec<Option<String>> =
            (0..records).map(|n| (n % 7 > 0).then(|| format!("value {n}"))).collect();
        let columns = ["all".to_owned()];
        let store = RecordStore::new(Stored {
            columns: &columns,
            codes_only: false,
            rows: true,
            persons: false,
            memory,
            directory,
        });
        let mut writer = store.writer(&[0], usize::MAX);
        let mut kept = Vec::new();
        for (unit, batch) in cells.chunks(5_000).enumerate() {
            let picked: Vec<u32> = (0..batch.len() as u32).filter(|n| n % 3 > 0).collect();
            kept.extend(picked.iter().map(|&n| batch[n as usize].clone()));
            let place = Place { unit: unit as u64, before: 0 };
            writer.append(place, &Cells(batch.to_vec()), &picked, &picked, &[]).unwrap();
        }
        writer.seal().unwrap();
        drop(writer);
        (kept, store.finish())
    }

    /// Codes, then texts once nearly all values differ; in memory, in part, or all in the file.
    #[test]
    fn cells_are_those_that_were_appended() {
        let directory = tempfile::tempdir().unwrap();
        for (records, memory) in [(3_000, 0), (200_000, u64::MAX), (200_000, 700_000), (200_000, 0)]
        {
            let (expected, stored) = stored(records, memory, directory.path());
            assert_eq!(stored.is_text[0], records > 3_000);
            assert_eq!(stored.walks() > 1, memory < u64::MAX);
            assert_eq!(stored.blocks.file.is_some(), memory < u64::MAX);
            let all: Vec<u32> = (0..stored.blocks.heads.len())
                .flat_map(|block| {
                    let first = (block * BLOCK) as u32;
                    first..first + stored.blocks.heads[block].records as u32
                })
                .collect();
            assert_eq!(all.len(), expected.len());
            // Some of the records, as one walk loads them.
            let ids: Vec<u32> = all.iter().copied().filter(|id| id % 5 == 1).collect();
            let cells = stored.cells(|| ids.clone()).unwrap();
            for (&id, expected) in all.iter().zip(&expected).filter(|(id, _)| *id % 5 == 1) {
                assert!(cells.text(id, 0) == expected.as_ref().map(|text| text.as_bytes()));
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the file has no name");
    }
}
