//! A table that somebody has already: Arrow record batches in memory, or what another system holds.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use crate::remote::Remote;

/// Records that are handed out at a time. One large batch would otherwise keep a single thread busy.
const SLICE: usize = 1 << 15;

/// Record batches of one schema. Copying it copies no cell.
#[derive(Clone)]
pub struct Batches {
    name: String,
    schema: SchemaRef,
    batches: Arc<Vec<RecordBatch>>,
    /// Where each slice begins: its batch, and the record there.
    slices: Arc<Vec<(usize, usize)>>,
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
        let (batches, slices) = (Arc::new(batches), Arc::new(slices));
        Ok(Batches { name: name.to_owned(), schema, batches, slices, remote: None })
    }

    /// A table that another system holds and counts.
    pub fn remote(remote: Arc<dyn Remote>) -> Batches {
        let (name, schema) = (remote.name().to_owned(), remote.schema());
        Batches { name, schema, batches: Arc::default(), slices: Arc::default(), remote: Some(remote) }
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

    pub(crate) fn slice(&self, slice: usize) -> RecordBatch {
        let (batch, start) = self.slices[slice];
        let batch = &self.batches[batch];
        batch.slice(start, SLICE.min(batch.num_rows() - start))
    }
}
