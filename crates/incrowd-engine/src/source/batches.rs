//! A table that somebody has already: Arrow record batches in memory, or what another system holds.

use std::sync::{Arc, OnceLock};

use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use crate::remote::Remote;

/// Records that are handed out at a time. One large batch would otherwise keep a single thread busy.
const SLICE: usize = 1 << 15;

/// So many records for each text of a dictionary, and its texts are kept.
const SHARED: usize = 4;

/// Record batches of one schema. Copying it copies no cell.
#[derive(Clone)]
pub struct Batches {
    name: String,
    schema: SchemaRef,
    batches: Arc<Vec<RecordBatch>>,
    /// Where each slice begins: its batch, and the record there.
    slices: Arc<Vec<(usize, usize)>>,
    /// For each batch and column the texts of its dictionary, made when they are first asked for.
    dictionaries: Arc<Vec<OnceLock<Option<StringArray>>>>,
    /// The table itself, if another system holds it. Then there are no batches.
    remote: Option<Arc<dyn Remote>>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("records", &self.records()).finish_non_exhaustive()
    }
}

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
    /// A table of these batches, all of which must have the schema. `name` is what messages call it.
    pub fn new(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Batches> {
        if let Some(odd) = batches.iter().position(|batch| batch.schema() != schema) {
            return Err(Error::input(format!(
                "batch {} of `{name}` has another schema than the table",
                odd + 1
            )));
        }
        let starts =
            |(i, batch): (usize, &RecordBatch)| (0..batch.num_rows()).step_by(SLICE).map(move |at| (i, at));
        let slices = batches.iter().enumerate().flat_map(starts).collect();
        let dictionaries = (0..batches.len() * schema.fields().len()).map(|_| OnceLock::new()).collect();
        let (batches, slices, dictionaries) = (Arc::new(batches), Arc::new(slices), Arc::new(dictionaries));
        Ok(Batches { name: name.to_owned(), schema, batches, slices, dictionaries, remote: None })
    }

    /// A table that another system holds and counts.
    pub fn remote(remote: Arc<dyn Remote>) -> Batches {
        let (name, schema) = (remote.name().to_owned(), remote.schema());
        let (batches, slices, dictionaries) = <_>::default();
        Batches { name, schema, batches, slices, dictionaries, remote: Some(remote) }
    }

    /// The same under another name.
    #[must_use]
    pub fn called(self, name: &str) -> Batches {
        Batches { name: name.to_owned(), ..self }
    }

    /// The system that holds it, if it is not in memory.
    pub(crate) fn held_by(&self) -> Option<&Arc<dyn Remote>> {
        self.remote.as_ref()
    }

    /// What messages call the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its columns and their types.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// How many records it has.
    pub fn records(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// How many bytes its cells take.
    pub(crate) fn bytes(&self) -> u64 {
        let columns = self.batches.iter().flat_map(|batch| batch.columns());
        columns.map(|column| column.get_array_memory_size() as u64).sum()
    }

    /// How many slices its records are handed out in.
    pub(crate) fn slices(&self) -> usize {
        self.slices.len()
    }

    /// The texts of the values of a column's dictionary, as `text` makes them. All slices of a batch share them, unless there are
    /// nearly as many of them as records.
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
        self.dictionaries[batch * self.schema.fields().len() + column].get_or_init(|| text(values)).clone()
    }

    pub(crate) fn slice(&self, slice: usize) -> RecordBatch {
        let (batch, start) = self.slices[slice];
        let batch = &self.batches[batch];
        batch.slice(start, SLICE.min(batch.num_rows() - start))
    }
}
