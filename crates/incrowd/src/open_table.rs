//! A table that is released again and again while somebody tries out what to promise. What was folded once is kept in memory, so
//! that another k does not read the table again. A release is made, read back and judged as any other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use incrowd_core::{Error, Folded, Plan, Progress, Result};
use incrowd_engine::{
    Beside, Embedded, Engine, FoldSpec, MemoryStore, Note, Output, Places, ReadBack, Receipt, Source,
};

use crate::insight::Insight;
use crate::job::{self, Job, Table};
use crate::pipeline::{Released, anonymize_looking};
use crate::reading::open_input;

/// How many folds are kept: a table has a new one when its roles change.
const KEPT: usize = 4;
/// Tables with more distinct rows than this are read again.
const MOST_ROWS: usize = 20_000_000;

/// What a fold was made of: where, how and when.
#[derive(PartialEq)]
struct Made {
    table: Table,
    spec: FoldSpec,
    files: Vec<(PathBuf, u64, Option<SystemTime>)>,
}

/// A table that stays open.
#[derive(Default)]
pub struct OpenTable {
    folds: Mutex<Vec<(Made, Arc<Folded>)>>,
}

// Cells must not reach logs.
impl std::fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTable").finish_non_exhaustive()
    }
}

impl OpenTable {
    /// Nothing is read until a release is asked for.
    pub fn new() -> OpenTable {
        OpenTable::default()
    }

    /// Makes a release in memory, verified on its serialized bytes, and says what the owner sees of it.
    pub fn anonymize(&self, job: &Job, progress: &dyn Progress) -> Result<(Released, Option<Insight>)> {
        let mut job = job.clone();
        let output = || job::Output { path: PathBuf::from("release.arrow"), ..job::Output::default() };
        job.output.get_or_insert_with(output);
        // Formulas are a matter of text.
        job.output.iter_mut().for_each(|output| output.csv_safe = false);
        let store = MemoryStore::new();
        let inner = Embedded::new(open_input(&job.input)?, store.clone());
        let mut engine = Remembering { inner, open: self, table: job.input.table() };
        let mut insight = None;
        let report = anonymize_looking(&mut engine, &job, Some(&mut insight), progress)?;
        let (tables, _) = store.released().ok_or_else(|| Error::bug("nothing was published"))?;
        Ok((Released { tables, report }, insight))
    }

    /// How many folds are in memory.
    pub fn kept(&self) -> usize {
        self.folds.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn find(&self, made: &Made) -> Option<Arc<Folded>> {
        let mut folds = self.folds.lock().unwrap_or_else(PoisonError::into_inner);
        let at = folds.iter().position(|(known, _)| known == made)?;
        let found = folds.remove(at);
        let folded = found.1.clone();
        folds.push(found);
        Some(folded)
    }

    fn keep(&self, made: Made, folded: &Folded) {
        if folded.rows() > MOST_ROWS {
            return;
        }
        let mut folds = self.folds.lock().unwrap_or_else(PoisonError::into_inner);
        if folds.len() == KEPT {
            folds.remove(0);
        }
        folds.push((made, Arc::new(folded.clone())));
    }
}

/// An engine that folds no table twice.
struct Remembering<'a> {
    inner: Embedded,
    open: &'a OpenTable,
    table: Table,
}

impl Engine for Remembering<'_> {
    fn columns(&self) -> &[String] {
        self.inner.columns()
    }

    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        // Who reads the records again needs to know which of them became which row.
        // Whether a table of a database was changed nobody can tell.
        if spec.replay || self.inner.source().files().any(incrowd_engine::is_database) {
            return self.inner.fold(spec, progress);
        }
        let made = Made { table: self.table.clone(), spec: spec.clone(), files: stamps(self.inner.source()) };
        if let Some(folded) = self.open.find(&made) {
            return Ok((*folded).clone());
        }
        let folded = self.inner.fold(spec, progress)?;
        self.open.keep(made, &folded);
        Ok(folded)
    }

    fn sent(&self) -> Option<incrowd_engine::Sent> {
        self.inner.sent()
    }

    fn source(&self) -> &Source {
        self.inner.source()
    }

    fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        self.inner.locate(column, text)
    }

    fn begin(&mut self, places: &Places) -> Result<()> {
        self.inner.begin(places)
    }

    fn stage(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
        progress: &dyn Progress,
    ) -> Result<Receipt> {
        self.inner.stage(table, plan, output, progress)
    }

    fn read_back(
        &self,
        table: usize,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        self.inner.read_back(table, columns, beside, progress)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        self.inner.publish(manifest)
    }

    fn journal(&self) -> Option<&Path> {
        self.inner.journal()
    }

    fn note(&mut self, note: Note) -> Result<()> {
        self.inner.note(note)
    }

    fn discard(&mut self) {
        self.inner.discard();
    }
}

/// By these a changed file is noticed.
fn stamps(source: &Source) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let stamp = |path: &Path| {
        let seen = std::fs::metadata(path).ok();
        let size = seen.as_ref().map_or(0, std::fs::Metadata::len);
        (path.to_owned(), size, seen.and_then(|seen| seen.modified().ok()))
    };
    source.files().map(stamp).collect()
}
