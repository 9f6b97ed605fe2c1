//! A table that is released repeatedly while the user tries out models. Folds are kept in memory,
//! so that another k does not read the table again. Each release is made, read back and verified
//! like any other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use incrowd_core::{Error, Folded, Plan, Progress, Result};
use incrowd_engine::{
    Embedded, Engine, ExaminedColumns, FoldSpec, MemoryStore, Note, Output, Places, ReadBack,
    Receipt, Source,
};

use crate::job::reading::open_input;
use crate::job::{Job, Table};
use crate::making::anonymizer::with_output_in_memory;
use crate::making::pipeline::{Released, anonymize_with_insight};
use crate::reporting::insight::Insight;

/// The maximum number of kept folds. A change of roles needs a new fold.
const KEPT: usize = 4;
/// Folds with more distinct rows than this are not kept.
const MOST_ROWS: usize = 20_000_000;

/// The key of a fold: table, specification, and size and time of its files.
#[derive(PartialEq)]
struct FoldKey {
    table: Table,
    spec: FoldSpec,
    files: Vec<(PathBuf, u64, Option<SystemTime>)>,
}

/// A table with its kept folds.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::{Job, OpenTable};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-open-table-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let job = Job::of_file(&people).quasi(["age", "zip"]).sensitive(["disease"]);
/// let open = OpenTable::new();
/// for k in [2, 3] {
///     let (released, _) = open.anonymize(&job.clone().k(k))?;
///     assert!(released.report.manifest.groups <= 7 / u64::from(k));
/// }
/// assert_eq!(open.kept(), 1);
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct OpenTable {
    folds: Mutex<Vec<(FoldKey, Arc<Folded>)>>,
}

incrowd_core::opaque_debug!(OpenTable);

impl OpenTable {
    /// Creates it. Nothing is read until a release is requested.
    pub fn new() -> OpenTable {
        OpenTable::default()
    }

    fn release(&self, job: &Job, progress: &dyn Progress) -> Result<(Released, Option<Insight>)> {
        let job = with_output_in_memory(job);
        let store = MemoryStore::new();
        let inner = Embedded::new(open_input(&job.input)?, store.clone());
        let mut engine = CachingEngine { inner, open: self, table: job.input.table() };
        let mut insight = None;
        let report = anonymize_with_insight(&mut engine, &job, Some(&mut insight), progress)?;
        let (tables, _) = store.released().ok_or_else(|| Error::bug("nothing was published"))?;
        Ok((Released { tables, report }, insight))
    }

    /// Returns the number of kept folds.
    pub fn kept(&self) -> usize {
        self.folds.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn find(&self, key: &FoldKey) -> Option<Arc<Folded>> {
        let mut folds = self.folds.lock().unwrap_or_else(PoisonError::into_inner);
        let at = folds.iter().position(|(known, _)| known == key)?;
        // The fold moves to the end: the least recently used one is dropped first.
        let found = folds.remove(at);
        let folded = found.1.clone();
        folds.push(found);
        Some(folded)
    }

    fn keep(&self, key: FoldKey, folded: &Folded) {
        if folded.rows() > MOST_ROWS {
            return;
        }
        let mut folds = self.folds.lock().unwrap_or_else(PoisonError::into_inner);
        if folds.len() == KEPT {
            folds.remove(0);
        }
        folds.push((key, Arc::new(folded.clone())));
    }
}

crate::work::long_work! { OpenTable:
    /// Makes a release in memory, verified on its serialized bytes, and the owner's preview of it.
    fn anonymize(job: &Job) -> (Released, Option<Insight>) = OpenTable::release;
}

/// An engine that reuses the folds of an [`OpenTable`].
struct CachingEngine<'a> {
    inner: Embedded,
    open: &'a OpenTable,
    table: Table,
}

impl Engine for CachingEngine<'_> {
    fn columns(&self) -> &[String] {
        self.inner.columns()
    }

    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        // Cells of passthrough columns stay with the engine that has read them.
        // Whether a table of a database was changed nobody can tell.
        if !spec.passthrough.is_empty() || self.inner.source().is_in_database() {
            return self.inner.fold(spec, progress);
        }
        let key = FoldKey {
            table: self.table.clone(),
            spec: spec.clone(),
            files: stamps(self.inner.source()),
        };
        if let Some(folded) = self.open.find(&key) {
            return Ok((*folded).clone());
        }
        let folded = self.inner.fold(spec, progress)?;
        self.open.keep(key, &folded);
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
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        self.inner.read_back(table, columns, examined, progress)
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

/// Returns size and modification time of the files, by which changes are detected.
fn stamps(source: &Source) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let stamp = |path: &Path| {
        let metadata = std::fs::metadata(path).ok();
        let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
        (path.to_owned(), size, metadata.and_then(|metadata| metadata.modified().ok()))
    };
    source.files().map(stamp).collect()
}
