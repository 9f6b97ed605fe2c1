//! Releases in memory: Arrow files that are never on a disk. They are read back from their bytes as any other release is.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use super::{Dialect, Places, Staging, Store};
use crate::source::{Batches, Format, Source};

/// A published table in memory: the bytes of an Arrow file.
#[derive(Clone, PartialEq)]
pub struct ReleasedTable {
    name: String,
    bytes: Arc<[u8]>,
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
        let damaged = |e| Error::bug(format!("a release in memory cannot be read: {e}"));
        let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(self.bytes.clone()), None);
        let reader = reader.map_err(damaged)?;
        let schema = reader.schema();
        Ok((schema, reader.collect::<std::result::Result<_, _>>().map_err(damaged)?))
    }

    /// The bytes as a table to read, digest included.
    pub fn source(&self) -> Result<Source> {
        Source::of_bytes(&self.name, &self.bytes)
    }

    /// The same as a table that can be judged.
    pub fn table(&self) -> Result<Batches> {
        let (schema, batches) = self.batches()?;
        Batches::new(&self.name, schema, batches)
    }
}

/// A file under way whose bytes are in memory.
#[derive(Clone, Debug, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Buffer {
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
    under_way: Buffer,
    /// Set when the table is read back: from then on nobody can write to it.
    staged: Mutex<Option<Arc<[u8]>>>,
}

impl Table {
    fn bytes(&self) -> Arc<[u8]> {
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        staged.get_or_insert_with(|| Arc::from(std::mem::take(&mut *self.under_way.bytes()))).clone()
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
        let table = |path| Table { name: name(path), under_way: Buffer::default(), staged: Mutex::new(None) };
        *self.tables() = places.tables.iter().map(table).collect();
        Ok(())
    }

    fn stage(&mut self, table: usize) -> Result<Staging> {
        let tables = self.tables();
        let table = tables.get(table).ok_or_else(unclaimed)?;
        let target = PathBuf::from(&table.name);
        Ok(Staging {
            writer: Box::new(table.under_way.clone()),
            format: Format::Arrow,
            target,
            csv_safe: false,
            dialect: Dialect::default(),
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
