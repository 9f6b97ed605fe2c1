//! The coded table: every column that is needed, as a dictionary and one code per record.
//!
//! The input is read [once](read) into this table. [Folding](fold), writing and verifying work on
//! it. Threads append records to blocks. The id of a record is the index of its block times
//! [`BLOCK`], plus its position in the block. Cells of full blocks stay in memory up to a limit.
//! Further blocks go to an unnamed temporary file, which the system removes when this process ends.

pub(crate) mod assign;
mod block;
mod coder;
mod codes;
pub(crate) mod fold;
mod read;
mod repeating;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use incrowd_core::{CodedColumn, Columnar, Error, PackedTexts, Result, numerals};
use rayon::prelude::*;

use crate::intern::Interner;
use crate::pending::write_failed;
use crate::source::{Place, Source};
use block::CellBlock;
pub(crate) use coder::{SMALL_DICTIONARY, SMALL_TEXTS};
pub(crate) use fold::{Keeping, WrittenRecords};
pub(crate) use read::TableSpec;

/// The maximum number of records of a block.
const BLOCK: usize = 1 << 16;
/// The approximate number of text bytes at which a block with fewer records is full.
const BLOCK_TEXT: usize = 16 << 20;
/// The default limit for bytes of cells in memory. Further cells go to a temporary file.
pub(crate) const MEMORY: u64 = 1 << 30;

/// A dictionary larger than this is not copied for writing.
const LARGE_DICTIONARY: u64 = 1 << 30;

/// The records of all blocks.
#[derive(Debug, Default)]
struct Blocks {
    heads: Vec<Head>,
    cells: Vec<BlockCells>,
    /// The bytes of cells in memory, and in the file.
    memory: u64,
    spilled: u64,
    file: Option<Mutex<File>>,
}

/// A block without its cells.
#[derive(Debug, Default)]
struct Head {
    records: usize,
    /// The row and the person of each record. Empty unless they are needed.
    rows: Vec<u32>,
    persons: Vec<u32>,
    /// The origin of the records: batches, and the number of records of each.
    places: Vec<(Place, usize)>,
}

/// The cells of all columns in one block.
#[derive(Debug)]
enum BlockCells {
    Memory(Vec<CellBlock>),
    /// The offset of the block in the temporary file.
    Spilled(u64),
}

impl Blocks {
    /// Adds a block. Cells beyond the limit for memory go to the file.
    fn add(
        &mut self,
        head: Head,
        cells: Vec<CellBlock>,
        limit: u64,
        directory: &Path,
    ) -> io::Result<()> {
        let memory: u64 = cells.iter().map(CellBlock::memory).sum();
        if self.heads.len() >= u32::MAX as usize / BLOCK {
            return Err(io::Error::other("there are too many records"));
        }
        self.heads.push(head);
        if self.memory + memory <= limit {
            self.memory += memory;
            self.cells.push(BlockCells::Memory(cells));
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(Mutex::new(tempfile::tempfile_in(directory)?));
        }
        let mut bytes = Vec::with_capacity(memory as usize + 64 * cells.len());
        cells.iter().try_for_each(|cells| cells.write(&mut bytes))?;
        let file = self.file.as_mut().expect("it was just created");
        let file = file.get_mut().expect("no thread panics while it holds the file");
        // Another thread may have read before, so the position is not the end.
        file.seek(SeekFrom::Start(self.spilled))?;
        file.write_all(&bytes)?;
        self.cells.push(BlockCells::Spilled(self.spilled));
        self.spilled += bytes.len() as u64;
        Ok(())
    }
}

/// A column of a coded table.
#[derive(Debug)]
struct TableColumn {
    name: String,
    dictionary: Interner,
    /// Whether some blocks have texts in place of codes.
    is_text: bool,
}

/// A table that was read.
#[derive(Debug)]
pub(crate) struct CodedTable {
    /// The kept columns, and until the table is folded, further columns after them.
    columns: Vec<TableColumn>,
    kept: usize,
    has_rows: bool,
    has_persons: bool,
    directory: PathBuf,
    limit: u64,
    blocks: Blocks,
}

impl CodedTable {
    /// The position of a passthrough column.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.columns[..self.kept].iter().position(|own| own.name == name)
    }

    /// The dictionary of a column, if all of its cells are codes in memory and it is not large.
    pub(crate) fn dictionary(&self, column: usize) -> Option<&Interner> {
        let TableColumn { dictionary, is_text, .. } = &self.columns[column];
        let is_usable = !is_text && self.blocks.spilled == 0;
        (is_usable && dictionary.memory() < LARGE_DICTIONARY).then_some(dictionary)
    }

    /// Like [`CodedTable::dictionary`], but only if the dictionary is small. How a column of a typed
    /// file is encoded follows from that, so it must not depend on threads.
    pub(crate) fn small_dictionary(&self, column: usize) -> Option<&Interner> {
        self.dictionary(column).filter(|dictionary| dictionary.is_small())
    }

    /// The mean length of a record's passthrough cells in bytes, estimated from the cells in
    /// memory.
    pub(crate) fn mean_length(&self) -> usize {
        let length = |(cells, column): (&CellBlock, &TableColumn)| -> u64 {
            match cells {
                CellBlock::Texts(texts) => texts.bytes() as u64,
                cells => {
                    let text = |code| column.dictionary.text(code).map_or(0, <[u8]>::len) as u64;
                    cells.codes().map(text).sum()
                }
            }
        };
        let block = |(cells, head): (&BlockCells, &Head)| match cells {
            BlockCells::Spilled(_) => (0, 0),
            BlockCells::Memory(columns) => {
                (columns.iter().zip(&self.columns).map(length).sum(), head.records as u64)
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

    /// The columns with their numbers of codes, but without the codes of the records.
    pub(crate) fn columns_without_codes(&self) -> Columnar {
        Columnar { columns: self.with_codes(self.columns.iter().map(|_| Vec::new())), records: 0 }
    }

    fn with_codes(&self, codes: impl Iterator<Item = Vec<u32>>) -> Vec<CodedColumn> {
        let column = |(column, codes): (&TableColumn, Vec<u32>)| CodedColumn {
            name: column.name.clone(),
            texts: PackedTexts::unnamed(column.dictionary.len() as usize + 1),
            codes,
        };
        self.columns.iter().zip(codes).map(column).collect()
    }

    /// The texts of the columns by code. Numbers have a decimal point.
    pub(crate) fn into_texts(self, source: &Source) -> Vec<PackedTexts> {
        let mark = source.decimal();
        let texts = |column: TableColumn| {
            let texts = column.dictionary.into_texts();
            let is_marked = |mark| texts.iter().any(|(_, text)| numerals::is_marked(text, mark));
            if !mark.is_some_and(is_marked) {
                return texts;
            }
            let mut all: Vec<String> =
                (0..texts.codes() as u32).map(|code| texts.get(code).to_owned()).collect();
            source.spell_numbers(&mut all);
            let mut texts = PackedTexts::new();
            all.iter().skip(1).for_each(|text| {
                texts.push(text);
            });
            texts
        };
        self.columns.into_iter().map(texts).collect()
    }

    /// The codes of all columns in the order of the table, without the texts. `number` maps a place
    /// to its index in the table.
    pub(crate) fn columns(&self, number: impl Fn(Place) -> u64) -> Result<Columnar> {
        let records = self.records();
        let mut codes: Vec<Vec<u32>> = self.columns.iter().map(|_| vec![0; records]).collect();
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
        let counts = |own: &TableColumn| vec![0u32; own.dictionary.len() as usize + 1];
        let mut counts: Vec<Vec<u32>> = self.columns.iter().map(counts).collect();
        self.each_block(|_, column, cells| {
            for code in cells.codes() {
                let count = &mut counts[column][code as usize];
                *count = count.saturating_add(1);
            }
        })?;
        let unique = |counts: &Vec<u32>| counts.iter().filter(|n| **n == 1).count() as u64;
        Ok(counts.iter().map(unique).collect())
    }

    /// Calls `visit` for every block and column.
    fn each_block(&self, mut visit: impl FnMut(&Head, usize, &CellBlock)) -> Result<()> {
        for (block, head) in self.blocks.heads.iter().enumerate() {
            let cells = self.block(block)?;
            cells.iter().enumerate().for_each(|(column, cells)| visit(head, column, cells));
        }
        Ok(())
    }

    /// The cells of a block, by column.
    fn block(&self, block: usize) -> Result<Cow<'_, [CellBlock]>> {
        Ok(match &self.blocks.cells[block] {
            BlockCells::Memory(columns) => Cow::Borrowed(columns),
            BlockCells::Spilled(at) => {
                let cells = self.read_spilled(*at);
                Cow::Owned(cells.map_err(|e| write_failed(&self.directory, &e))?)
            }
        })
    }

    /// Removes all columns but the kept ones.
    fn drop_folded(&mut self) {
        self.columns.truncate(self.kept);
        self.blocks.memory = 0;
        for cells in &mut self.blocks.cells {
            if let BlockCells::Memory(columns) = cells {
                columns.truncate(self.kept);
                self.blocks.memory += columns.iter().map(CellBlock::memory).sum::<u64>();
            }
        }
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
            let cells = self.read_spilled(at).map_err(|e| write_failed(&self.directory, &e))?;
            let columns = cells.iter().map(|cells| cells.picked(&positions)).collect();
            loaded[block] = LoadedBlock { positions, columns };
        }
        Ok(StoredCells { records: self, loaded })
    }

    fn read_spilled(&self, at: u64) -> io::Result<Vec<CellBlock>> {
        let file = self.blocks.file.as_ref();
        let file = file.ok_or_else(|| io::Error::other("there is no file of spilled records"))?;
        let mut file = file.lock().expect("no thread panics while it holds the file");
        file.seek(SeekFrom::Start(at))?;
        let mut reader = io::BufReader::with_capacity(1 << 20, &mut *file);
        let reader: &mut dyn Read = &mut reader;
        self.columns.iter().map(|_| CellBlock::read(&mut &mut *reader)).collect()
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
    records: &'a CodedTable,
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
            StoredCell::Code(code) => self.records.columns[column].dictionary.text(code),
            StoredCell::Text(text) => Some(text),
            StoredCell::Null => None,
        }
    }

    /// The texts of all passthrough columns of a record.
    pub(crate) fn texts(&self, id: u32) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.records.columns.len()).map(move |column| self.text(id, column))
    }
}

/// Reports that per-record data cannot be stored.
pub(crate) fn not_stored(error: &io::Error) -> Error {
    Error::resources(format!("records could not be kept in a temporary file: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use incrowd_core::Silent;

    use super::*;
    use crate::database::Sending;
    use crate::source::Batches;

    /// Stores a column whose values all differ, or are null. Every third record is dropped.
    fn stored(records: usize, memory: u64, directory: &Path) -> (Vec<Option<String>>, CodedTable) {
        let cells: Vec<Option<String>> =
            (0..records).map(|n| (n % 7 > 0).then(|| format!("value {n}"))).collect();
        let text = |column: &str| Field::new(column, DataType::Utf8, true);
        let schema = Arc::new(Schema::new(vec![text("all"), text("dropped")]));
        let (mut batches, mut kept) = (Vec::new(), Vec::new());
        for batch in cells.chunks(5_000) {
            let lacks = |n: usize| (!n.is_multiple_of(3)).then_some("a");
            kept.extend(
                (0..batch.len()).filter(|n| !n.is_multiple_of(3)).map(|n| batch[n].clone()),
            );
            let all: StringArray = batch.iter().map(Option::as_deref).collect();
            let dropped: StringArray = (0..batch.len()).map(lacks).collect();
            let columns: Vec<ArrayRef> = vec![Arc::new(all), Arc::new(dropped)];
            batches.push(RecordBatch::try_new(schema.clone(), columns).unwrap());
        }
        let source = Source::of_batches(&Batches::new("table", schema, batches).unwrap()).unwrap();
        let names = ["all".to_owned(), "dropped".to_owned()];
        let spec = TableSpec {
            kept: &names[..1],
            folded: &names[1..],
            drop_missing: true,
            ..TableSpec::new(directory, memory)
        };
        let (mut table, reading) =
            CodedTable::read(&source, &spec, Sending::Records, &Silent).unwrap();
        assert_eq!(reading.dropped, (records - kept.len()) as u64);
        table.columns.truncate(1);
        table.drop_folded();
        (kept, table)
    }

    /// Codes, then texts once nearly all values differ; in memory, in part, or all in the file.
    #[test]
    fn cells_are_those_that_were_appended() {
        let directory = tempfile::tempdir().unwrap();
        for (records, memory) in [(3_000, 0), (200_000, u64::MAX), (200_000, 700_000), (200_000, 0)]
        {
            let (expected, stored) = stored(records, memory, directory.path());
            assert_eq!(stored.columns[0].is_text, records > 3_000);
            assert_eq!(stored.walks() > 1, memory < u64::MAX);
            assert_eq!(stored.blocks.file.is_some(), memory < u64::MAX);
            let all: Vec<u32> = (0..stored.blocks.heads.len())
                .flat_map(|block| {
                    let first = (block * BLOCK) as u32;
                    first..first + stored.blocks.heads[block].records as u32
                })
                .collect();
            assert_eq!(all.len(), expected.len());
            // Half of the records, and then the others, as walks load them.
            let mut found = Vec::new();
            for half in 0..2 {
                let ids: Vec<u32> = all.iter().copied().filter(|id| id % 2 == half).collect();
                let cells = stored.cells(|| ids.clone()).unwrap();
                let text = |id: u32| {
                    cells.text(id, 0).map(|own| String::from_utf8_lossy(own).into_owned())
                };
                found.extend(ids.iter().map(|id| text(*id)));
            }
            // The threads decide on the order.
            let mut expected = expected;
            found.sort();
            expected.sort();
            assert!(found == expected);
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the file has no name");
    }

    /// Reads one column of texts.
    fn table_of(texts: impl Iterator<Item = String>, memory: u64, to: &Path) -> Result<CodedTable> {
        let schema = Arc::new(Schema::new(vec![Field::new("note", DataType::Utf8, false)]));
        let texts: Vec<String> = texts.collect();
        let batch = |texts: &[String]| {
            let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
            RecordBatch::try_new(schema.clone(), vec![array]).unwrap()
        };
        let batches = texts.chunks(64).map(batch).collect();
        let source =
            Source::of_batches(&Batches::new("table", schema.clone(), batches).unwrap()).unwrap();
        let names = ["note".to_owned()];
        let spec = TableSpec { kept: &names, ..TableSpec::new(to, memory) };
        Ok(CodedTable::read(&source, &spec, Sending::Records, &Silent)?.0)
    }

    /// A few hundred long texts fill the memory as well as many short ones.
    #[test]
    fn long_texts_that_differ_are_kept_as_texts() {
        let directory = tempfile::tempdir().unwrap();
        let long = "x".repeat(60_000);
        let texts = (0..1_600).map(|n| format!("{n}{long}"));
        let table = table_of(texts, u64::MAX, directory.path()).unwrap();
        assert!(table.columns[0].is_text);
        // At most two limits of each thread, because a block is completed first.
        assert!(table.columns[0].dictionary.memory() < 3 * SMALL_TEXTS as u64);
        assert_eq!(table.records(), 1_600);
        let repeated = (0..1_600).map(|n| format!("{}{long}", n % 9));
        let table = table_of(repeated, u64::MAX, directory.path()).unwrap();
        assert!(!table.columns[0].is_text && table.columns[0].dictionary.len() == 9);
    }

    /// Threads decide when a column has texts in place of codes. Only small dictionaries are
    /// written as such, because the bytes of a file must not depend on threads.
    #[test]
    fn a_large_dictionary_is_not_written_to_typed_files() {
        let directory = tempfile::tempdir().unwrap();
        for (distinct, is_small) in [(60_000, true), (70_000, false)] {
            let texts = (0..5 * distinct).map(|n| (n % distinct).to_string());
            let table = table_of(texts, u64::MAX, directory.path()).unwrap();
            assert_eq!(table.small_dictionary(0).is_some(), is_small);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_no_fault_of_the_input() {
        let texts = (0..200_000).map(|n| n.to_string());
        let error = table_of(texts, 0, Path::new("/no/such/directory")).unwrap_err();
        assert_eq!(error.fault(), incrowd_core::Fault::Resources);
    }
}
