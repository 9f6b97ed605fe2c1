//! Tables that are not read from files: Arrow record batches in memory, or a table in another
//! system.

use std::sync::{Arc, OnceLock};

use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use crate::remote::Remote;

/// Maximum number of records per slice. Without it, one large batch would occupy a single thread.
const SLICE: usize = 1 << 15;

/// The texts of a dictionary are cached if it has at least this number of records per value.
const SHARED: usize = 4;

/// And if its texts take no more than this number of bytes per record.
const MOST_CACHED: usize = 16;

/// Record batches of one schema. A clone does not copy cells.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
///
/// let age: ArrayRef = Arc::new(Int64Array::from(vec![34, 36, 38, 51, 55, 58, 61]));
/// let patients = RecordBatch::try_from_iter([("age", age)])?;
/// let table = incrowd_engine::Batches::new("patients", patients.schema(), vec![patients])?;
/// assert_eq!((table.name(), table.records()), ("patients", 7));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Batches {
    name: String,
    schema: SchemaRef,
    batches: Arc<Vec<RecordBatch>>,
    /// Start of each slice: index of the batch, and index of the first record in it.
    slices: Arc<Vec<(usize, usize)>>,
    /// Dictionary texts for each batch and column, computed on first use.
    dictionaries: Arc<Vec<OnceLock<Option<StringArray>>>>,
    /// The table in another system, if there is one. Then `batches` is empty.
    remote: Option<Arc<dyn Remote>>,
}

incrowd_core::opaque_debug!(Batches { records: |batches| batches.records() });

impl PartialEq for Batches {
    fn eq(&self, other: &Batches) -> bool {
        let same = match (&self.remote, &other.remote) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => self.batches == other.batches,
            _ => false,
        };
        same && self.schema == other.schema
    }
}

impl Batches {
    /// Creates a table from batches. Every batch must have the schema. `name` is used in messages.
    pub fn new(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Batches> {
        if let Some(odd) = batches.iter().position(|batch| batch.schema() != schema) {
            return Err(Error::input(format!(
                "batch {} of `{name}` has another schema than the table",
                odd + 1
            )));
        }
        let mut slices = Vec::new();
        for (i, batch) in batches.iter().enumerate() {
            let starts = super::arrow::slice_starts(name, batch, SLICE)?;
            slices.extend(starts.into_iter().map(|at| (i, at)));
        }
        let dictionaries =
            (0..batches.len() * schema.fields().len()).map(|_| OnceLock::new()).collect();
        let (batches, slices, dictionaries) =
            (Arc::new(batches), Arc::new(slices), Arc::new(dictionaries));
        Ok(Batches { name: name.to_owned(), schema, batches, slices, dictionaries, remote: None })
    }

    /// Creates a table whose records are stored and counted by another system.
    pub fn remote(remote: Arc<dyn Remote>) -> Batches {
        let (name, schema) = (remote.name().to_owned(), remote.schema());
        let (batches, slices, dictionaries) = <_>::default();
        Batches { name, schema, batches, slices, dictionaries, remote: Some(remote) }
    }

    /// Replaces the name of the table.
    #[must_use]
    pub fn called(self, name: &str) -> Batches {
        Batches { name: name.to_owned(), ..self }
    }

    /// The system that stores the table, if the table is not in memory.
    pub(crate) fn held_by(&self) -> Option<&Arc<dyn Remote>> {
        self.remote.as_ref()
    }

    /// Name of the table in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Columns and their types.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// Size of the cells in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let columns = self.batches.iter().flat_map(|batch| batch.columns());
        columns.map(|column| column.get_array_memory_size() as u64).sum()
    }

    /// Number of slices.
    pub(crate) fn slices(&self) -> usize {
        self.slices.len()
    }

    /// Texts of a column's dictionary values, as returned by `text`. The slices of a batch share
    /// them, unless there are nearly as many texts as records.
    pub(crate) fn texts(
        &self,
        slice: usize,
        column: usize,
        values: &dyn Array,
        text: impl FnOnce(&dyn Array) -> Option<StringArray>,
    ) -> Option<StringArray> {
        let (batch, _) = self.slices[slice];
        if values.len() > self.batches[batch].num_rows() / SHARED {
            return text(values);
        }
        let cache = &self.dictionaries[batch * self.schema.fields().len() + column];
        if let Some(texts) = cache.get() {
            return texts.clone();
        }
        let texts = text(values);
        // Many small batches can share a dictionary of long texts, which each of them would store.
        let most = MOST_CACHED * self.batches[batch].num_rows();
        let fits = |texts: &StringArray| texts.value_data().len() <= most;
        if texts.as_ref().is_none_or(fits) {
            // Another thread may have stored the same texts.
            cache.set(texts.clone()).ok();
        }
        texts
    }

    pub(crate) fn slice(&self, slice: usize) -> RecordBatch {
        let (batch, start) = self.slices[slice];
        // A slice ends where the next one of its batch begins.
        let next = self.slices.get(slice + 1).filter(|(next, _)| *next == batch);
        let batch = &self.batches[batch];
        batch.slice(start, next.map_or(batch.num_rows(), |(_, next)| *next) - start)
    }
}
