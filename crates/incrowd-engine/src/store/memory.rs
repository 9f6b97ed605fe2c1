//! Releases in memory as Arrow files that are never written to disk. They are read back from their
//! bytes, as other releases are.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use super::{Dialect, Escape, Places, Staging, Store, TableColumn};
use crate::location::Location;
use crate::sink::arrow::coded;
use crate::source::{Batches, Format, Source};

/// A published table in memory: the bytes of an Arrow file.
#[derive(Clone, PartialEq)]
pub struct ReleasedTable {
    name: String,
    bytes: Buffer,
}

incrowd_core::opaque_debug!(ReleasedTable { name });

impl ReleasedTable {
    /// Name of the table in the manifest.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The verified bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Decodes the table into record batches.
    pub fn batches(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let reader = self.reader()?;
        let schema = reader.schema();
        let damaged = |e| Error::bug(format!("a release in memory cannot be read: {e}"));
        Ok((schema, reader.collect::<std::result::Result<_, _>>().map_err(damaged)?))
    }

    /// Iterates over the record batches. Texts are decoded from their dictionaries batch by batch.
    pub fn reader(&self) -> Result<impl RecordBatchReader + Send + use<>> {
        let table = self.table()?;
        let (schema, next) = (coded::plain_schema(&table.schema()), 0..table.slices());
        let plain = schema.clone();
        let batches = next.map(move |slice| coded::plain(&table.slice(slice), &plain));
        Ok(RecordBatchIterator::new(batches, schema))
    }

    /// Opens the bytes as a source with a digest.
    pub fn source(&self) -> Result<Source> {
        Source::of_bytes(&self.name, &self.bytes)
    }

    /// The table as batches, for an assessment of the release. No cell is copied.
    pub fn table(&self) -> Result<Batches> {
        Source::batches_in(&self.name, &self.bytes)
    }
}

/// Writer to a buffer in memory, which several handles share.
#[derive(Clone, Debug, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for SharedBuffer {
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
    buffer: SharedBuffer,
    /// The final bytes. Set when the table is read back; later writes are not possible.
    staged: Mutex<Option<Buffer>>,
}

impl Table {
    fn bytes(&self) -> Buffer {
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        staged
            .get_or_insert_with(|| Buffer::from_vec(std::mem::take(&mut *self.buffer.bytes())))
            .clone()
    }
}

/// A published release.
type Released = Option<(Vec<ReleasedTable>, Vec<u8>)>;

/// A store in memory. A clone gives access to the same published release.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    tables: Arc<Mutex<Vec<Table>>>,
    released: Arc<Mutex<Released>>,
    spill: PathBuf,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore { spill: std::env::temp_dir(), ..MemoryStore::default() }
    }

    fn tables(&self) -> MutexGuard<'_, Vec<Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables and the manifest of the release, after it was published.
    pub fn released(&self) -> Option<(Vec<ReleasedTable>, Vec<u8>)> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn unclaimed() -> Error {
    Error::bug("a table was staged for which no place was claimed")
}

impl Store for MemoryStore {
    fn begin(&mut self, places: &Places) -> Result<()> {
        let table = |location: &Location| Table {
            name: location.name(),
            buffer: SharedBuffer::default(),
            staged: Mutex::new(None),
        };
        *self.tables() = places.tables.iter().map(table).collect();
        Ok(())
    }

    fn stage(&mut self, table: usize, _: &[TableColumn]) -> Result<Staging> {
        let tables = self.tables();
        let table = tables.get(table).ok_or_else(unclaimed)?;
        let target = PathBuf::from(&table.name);
        Ok(Staging {
            writer: Box::new(table.buffer.clone()),
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
        *self.released.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((tables, manifest.to_vec()));
        Ok(())
    }

    fn discard(&mut self) {
        self.tables().clear();
    }

    fn spill(&self) -> &Path {
        &self.spill
    }
}
