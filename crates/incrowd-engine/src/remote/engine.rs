//! The engine for tables of another system.

use std::sync::Arc;

use incrowd_core::{Error, Folded, Plan, Progress, Result};

use super::counted::Counted;
use super::parts::{Parting, RemoteParts, Surveyed};
use super::{Asked, Remote, RemoteStore, refuse_people, slots};
use crate::embedded::published_type;
use crate::record_values::ExaminedColumns;
use crate::source::{Batches, Source};
use crate::store::Places;
use crate::{Engine, FoldSpec, Output, PartitionedEngine, ReadBack, Receipt, Shape};

/// An engine that delegates counting and writing to another system.
#[derive(Debug)]
pub struct RemoteEngine {
    pub(super) remote: Arc<dyn Remote>,
    source: Source,
    pub(super) store: Box<dyn RemoteStore>,
    /// The last fold, if the other system keeps its rows.
    pub(super) last: Option<Counted>,
    shapes: Vec<Shape>,
    /// The number of claimed places for tables.
    pub(super) places: usize,
    /// The state of planning in parts, if the table is planned in parts.
    pub(super) parting: Option<Parting>,
}

impl RemoteEngine {
    /// Makes an engine for a table and a store of another system.
    pub fn new(remote: Arc<dyn Remote>, store: Box<dyn RemoteStore>) -> Result<RemoteEngine> {
        let source = Source::of_batches(&Batches::remote(remote.clone()))?;
        Ok(RemoteEngine {
            remote,
            source,
            store,
            last: None,
            shapes: Vec::new(),
            places: 0,
            parting: None,
        })
    }

    pub(super) fn name(&self) -> &str {
        self.remote.name()
    }

    pub(super) fn repeating(&self, spec: &FoldSpec) -> Result<Vec<String>> {
        self.remote.repeating(&spec.repeating, &spec.missing)
    }

    /// Checks that each record is either published or suppressed.
    fn adds_up(&self, receipt: Receipt, records: u64) -> Result<()> {
        match receipt.published + receipt.suppressed == records {
            true => Ok(()),
            false => Err(Error::bug(format!(
                "{} records were published and {} suppressed of {records}",
                receipt.published, receipt.suppressed,
            ))),
        }
    }
}

impl Engine for RemoteEngine {
    fn columns(&self) -> &[String] {
        self.source.columns()
    }

    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        refuse_people(self.remote.as_ref(), spec)?;
        progress.step("counting", None);
        // With persons or sampling weights, the other system must keep the rows, as for passthrough
        // columns. The written table is verified with them.
        let asked = Asked::of(spec);
        let keeps = !spec.passthrough.is_empty() || !matches!(asked, Asked::Nothing);
        let rows = match keeps {
            true => self.store.count_and_keep(&spec.columns, asked)?,
            false => self.remote.count(&spec.columns)?,
        };
        progress.step("reading", None);
        let mut counted = match asked {
            Asked::Persons(_) => Counted::with_persons(self.remote.name(), rows, spec, progress)?,
            Asked::Weights(..) => Counted::with_weights(self.remote.name(), rows, spec, progress)?,
            Asked::Nothing => Counted::new(self.remote.name(), rows, spec, progress)?,
        };
        if !spec.repeating.is_empty() {
            progress.step("counting", None);
            counted.folded.repeating = self.remote.repeating(&spec.repeating, &spec.missing)?;
        }
        let folded = counted.folded.clone();
        // Only the mapping of rows is needed later. The plan has the texts.
        counted.folded = Folded::default();
        self.last = keeps.then_some(counted);
        Ok(folded)
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn partitioned(&mut self) -> Option<&mut dyn PartitionedEngine> {
        Some(self)
    }

    /// The other system does not order records, so they have no position.
    fn locate(&self, _: &str, _: &str) -> Result<Option<String>> {
        Ok(None)
    }

    fn begin(&mut self, places: &Places) -> Result<()> {
        self.places = places.tables.len();
        self.store.begin(places)
    }

    fn stage(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
        progress: &dyn Progress,
    ) -> Result<Receipt> {
        if table >= self.places {
            return Err(Error::bug("a table was staged for which no place was claimed"));
        }
        progress.step("writing", None);
        let types = output.columns.iter();
        let types = types.map(|(name, content)| published_type(&self.source, name, *content, plan));
        let types = types.collect::<Result<Vec<_>>>()?;
        let (remote, receipt) = slots::tables(plan, output, &types, self.last.as_ref())?;
        self.adds_up(receipt, plan.dataset().records())?;
        self.shapes.resize_with(self.shapes.len().max(table + 1), Shape::default);
        self.shapes[table] = output.shape.clone();
        if let Some(parting) = &mut self.parting {
            parting.receipt.published += receipt.published;
            parting.receipt.suppressed += receipt.suppressed;
            if parting.alone.is_some() {
                parting.plan = Some(remote);
                return Ok(receipt);
            }
            let parts =
                self.store.parts().ok_or_else(|| Error::bug("this system does not part tables"))?;
            parts.keep(&remote)?;
            return Ok(receipt);
        }
        let written = self.store.stage(table, &remote)?;
        if written != receipt.published {
            return Err(Error::resources(format!(
                "{written} records were written where {} should be: nothing was published",
                receipt.published
            )));
        }
        Ok(receipt)
    }

    fn read_back(
        &self,
        table: usize,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let source = Source::of_batches(&Batches::remote(self.store.open(table)?))?;
        let shape = self.shapes.get(table).cloned().unwrap_or_default();
        source.read_shaped(columns, &shape, examined, progress)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        (self.last, self.places) = (None, 0);
        self.store.publish(manifest)
    }

    fn discard(&mut self) {
        (self.last, self.places) = (None, 0);
        self.store.discard();
    }
}

impl Drop for RemoteEngine {
    fn drop(&mut self) {
        if self.places > 0 {
            self.store.discard();
        }
    }
}

impl PartitionedEngine for RemoteEngine {
    fn survey(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Option<Surveyed>> {
        RemoteEngine::survey(self, spec, progress)
    }

    fn divide(
        &mut self,
        leaves: &[Vec<u32>],
        sizes: &[u32],
        least: u64,
        progress: &dyn Progress,
    ) -> Result<(usize, u64)> {
        RemoteEngine::divide(self, leaves, sizes, least, progress)
    }

    fn fold_part(&mut self, part: usize) -> Result<Folded> {
        self.part(part)
    }

    fn has_workers(&mut self) -> Result<bool> {
        self.store.parts().map_or(Ok(false), RemoteParts::has_workers)
    }

    fn plan_on_workers(&mut self, marker: Option<&str>) -> Result<()> {
        RemoteEngine::plan_on_workers(self, marker)
    }

    fn take_planned(&mut self, part: usize) -> Result<String> {
        RemoteEngine::take_planned(self, part)
    }

    fn write_parts(&mut self) -> Result<Receipt> {
        RemoteEngine::write_parts(self)
    }
}
