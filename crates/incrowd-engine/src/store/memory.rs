//! Releases in memory: Arrow files that are never on a disk. They are read back from their bytes as any other release is.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use super::{Dialect, Escape, Places, Staging, Store, TableColumn};
use crate::sink::arrow::coded;
use crate::source::{Batches, Format, Source};

/// A published table in memory: the bytes of an Arrow file.
#[derive(Clone, PartialEq)]
pub struct ReleasedTable {
    name: String,
    bytes: Buffer,
}

// Cells must not reach logs.
impl std::fmt::Debug for ReleasedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleasedTable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ReleasedTable {
    /// What the manifest calls the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes that were verified.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same as record batches.
    pub fn batches(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let reader = self.reader()?;
        let schema = reader.schema();
        let damaged = |e| Error::bug(format!("a release in memory cannot be read: {e}"));
        Ok((schema, reader.collect::<std::result::Result<_, _>>().map_err(damaged)?))
    }

    /// The same one batch after another: the texts of a batch are spelled out when it is asked for.
    pub fn reader(&self) -> Result<impl RecordBatchReader + Send + use<>> {
        let table = self.table()?;
        let (schema, next) = (coded::plain_schema(&table.schema()), 0..table.slices());
        let plain = schema.clone();
        let batches = next.map(move |slice| coded::plain(&table.slice(slice), &plain));
        Ok(RecordBatchIterator::new(batches, schema))
    }

    /// The bytes as a table to read, digest included.
    pub fn source(&self) -> Result<Source> {
        Source::of_bytes(&self.name, &self.bytes)
    }

    /// The same as a table that can be judged. No cell is copied.
    pub fn table(&self) -> Result<Batches> {
        Source::batches_in(&self.name, &self.bytes)
    }
}

/// A file under way whose bytes are in memory.
#[derive(Clone, Debug, Default)]
struct UnderWay(Arc<Mutex<Vec<u8>>>);

impl UnderWay {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for UnderWay {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct Table {
    name: String,
    under_way: UnderWay,
    /// Set when the table is read back: from then on nobody can write to it.
    staged: Mutex<Option<Buffer>>,
}

impl Table {
    fn bytes(&self) -> Buffer {
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        staged.get_or_insert_with(|| Buffer::from_vec(std::mem::take(&mut *self.under_way.bytes()))).clone()
    }
}

/// A release that was put in place.
type Released = Option<(Vec<ReleasedTable>, Vec<u8>)>;

/// A store in memory. A copy of it gives access to what is published.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    tables: Arc<Mutex<Vec<Table>>>,
    released: Arc<Mutex<Released>>,
    spill: PathBuf,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore { spill: std::env::temp_dir(), ..MemoryStore::default() }
    }

    fn tables(&self) -> MutexGuard<'_, Vec<Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables of the release and the bytes of its manifest, once it is published.
    pub fn released(&self) -> Option<(Vec<ReleasedTable>, Vec<u8>)> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn unclaimed() -> Error {
    Error::bug("a table was staged for which no place was claimed")
}

impl Store for MemoryStore {
    fn begin(&mut self, places: &Places) -> Result<()> {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let table =
            |path| Table { name: name(path), under_way: UnderWay::default(), staged: Mutex::new(None) };
        *self.tables() = places.tables.iter().map(table).collect();
        Ok(())
    }

    fn stage(&mut self, table: usize, _: &[TableColumn]) -> Result<Staging> {
        let tables = self.tables();
        let table = tables.get(table).ok_or_else(unclaimed)?;
        let target = PathBuf::from(&table.name);
        Ok(Staging {
            writer: Box::new(table.under_way.clone()),
            format: Format::Arrow,
            target,
            csv_safe: false,
            dialect: Dialect::default(),
            escape: Escape::Quotes,
            in_codes: true,
        })
    }

    fn open(&self, table: usize) -> Result<Source> {
        let tables = self.tables();
        let table = tables.get(table).ok_or_else(unclaimed)?;
        Source::of_bytes(&table.name, &table.bytes())
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        let tables: Vec<ReleasedTable> = self
            .tables()
            .drain(..)
            .map(|table| ReleasedTable { bytes: table.bytes(), name: table.name })
            .collect();
        *self.released.lock().unwrap_or_else(PoisonError::into_inner) = Some((tables, manifest.to_vec()));
        Ok(())
    }

    fn discard(&mut self) {
        self.tables().clear();
    }

    fn spill(&self) -> &Path {
        &self.spill
    }
}
