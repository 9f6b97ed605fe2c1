//! Releases in files: each is written beside its place; a journal puts them there, all or none.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use incrowd_core::{Error, Result};

use super::{Dialect, Escape, Places, Staging, Store, TableColumn};
use crate::pending::{Note, Pending, write_failed};
use crate::source::{Encoding, Format, Options, Source};

/// A store of files.
#[derive(Debug, Default)]
pub struct FileStore {
    /// The tables, then the manifest.
    pending: Vec<Pending>,
    /// What is noted elsewhere once they are in place.
    notes: Vec<Note>,
    /// Where it will be said what belongs where.
    journal: PathBuf,
    spill: PathBuf,
    csv_safe: Vec<bool>,
    dialect: Dialect,
    /// Large tables on their way to the disk while they are read back.
    flushing: Mutex<Vec<Flushing>>,
}

type Flushing = JoinHandle<Result<()>>;

/// Tables of so many bytes are sent to the disk early.
const LARGE: u64 = 16 << 20;

impl FileStore {
    fn flushing(&self) -> MutexGuard<'_, Vec<Flushing>> {
        self.flushing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a large table to the disk while others look at it. What goes wrong is said when it is published: the system tells
    /// of it only once.
    fn flush(&self, pending: &Pending) -> Result<()> {
        let mut flushing = self.flushing();
        if pending.bytes() >= LARGE {
            let writer = pending.writer()?;
            let failed = pending.target().to_owned();
            let flush = move || writer.flush_to_disk().map_err(|e| write_failed(&failed, &e));
            // Without another thread it happens later.
            flushing.extend(std::thread::Builder::new().name("incrowd flush".to_owned()).spawn(flush).ok());
        }
        Ok(())
    }

    fn table(&self, table: usize) -> Result<&Pending> {
        let tables = self.pending.len().saturating_sub(1);
        let found = self.pending[..tables].get(table);
        found.ok_or_else(|| Error::bug("a table was staged for which no place was claimed"))
    }
}

/// The delimiter that is written into a file of that name.
pub fn delimiter_of(path: &Path) -> u8 {
    let name = path.to_string_lossy().to_lowercase();
    let tabs = name.trim_end_matches(".gz").trim_end_matches(".zst").ends_with(".tsv");
    if tabs { b'\t' } else { b',' }
}

/// Opens a file under way as a stranger would.
pub(crate) fn open_pending(pending: &Pending, dialect: Dialect) -> Result<Source> {
    let format = Some(Format::of_path(pending.target())?);
    let options = Options {
        format,
        delimiter: Some(dialect.delimiter.unwrap_or_else(|| delimiter_of(pending.target()))),
        decimal: Some(dialect.decimal),
        sheet: None,
        digest: true,
        encoding: Some(Encoding::Utf8),
    };
    let source = Source::open(&[pending.path().to_owned()], &options)?;
    Ok(if pending.went_past() { source.past_the_cache() } else { source })
}

impl Store for FileStore {
    fn begin(&mut self, places: &Places) -> Result<()> {
        self.discard();
        let keys = || places.keys.iter().copied().chain(std::iter::repeat("output.path"));
        for (table, key) in places.tables.iter().zip(keys()) {
            Format::of_path(table).map_err(|e| e.at(key))?;
        }
        for (i, (table, key)) in places.tables.iter().zip(keys()).enumerate() {
            let pending = Pending::create(table).map_err(|e| e.at(key))?;
            self.pending.push(if places.private.contains(&i) { pending.private() } else { pending });
        }
        self.pending.push(Pending::create(&places.manifest).map_err(|e| e.at("output.manifest"))?);
        self.journal = self.pending[0].journal();
        let is_safe = |(i, table): (usize, &PathBuf)| {
            places.csv_safe
                && !places.private.contains(&i)
                && matches!(Format::of_path(table), Ok(Format::Csv(_)))
        };
        self.dialect = places.dialect;
        self.csv_safe = places.tables.iter().enumerate().map(is_safe).collect();
        let first = places.tables.first().unwrap_or(&places.manifest);
        let directory = first.parent().filter(|p| !p.as_os_str().is_empty());
        self.spill = directory.unwrap_or(Path::new(".")).to_owned();
        Ok(())
    }

    fn stage(&mut self, table: usize, _: &[TableColumn]) -> Result<Staging> {
        let pending = self.table(table)?;
        let target = pending.target().to_owned();
        let format = Format::of_path(&target)?;
        // Text is read back from its beginning to its end. Whoever reads a typed file jumps, and finds it in the system's cache.
        let writer = Box::new(match format {
            Format::Csv(_) => pending.large_writer()?,
            Format::Parquet | Format::Arrow => pending.writer()?,
        });
        Ok(Staging {
            writer,
            format,
            target,
            csv_safe: self.is_csv_safe(table),
            dialect: self.dialect,
            escape: Escape::Quotes,
            in_codes: false,
        })
    }

    fn open(&self, table: usize) -> Result<Source> {
        let pending = self.table(table)?;
        self.flush(pending)?;
        open_pending(pending, self.dialect)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        let Some(last) = self.pending.last() else {
            return Err(Error::bug("a release was published for which no place was claimed"));
        };
        for flushing in std::mem::take(&mut *self.flushing()) {
            flushing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        last.writer()?.write_all(manifest).map_err(|e| write_failed(last.target(), &e))?;
        Pending::publish_all(
            std::mem::take(&mut self.pending),
            &std::mem::take(&mut self.notes),
            &self.journal,
        )
    }

    fn journal(&self) -> Option<&Path> {
        (!self.pending.is_empty()).then_some(&self.journal)
    }

    fn note(&mut self, note: Note) -> Result<()> {
        self.notes.push(note);
        Ok(())
    }

    fn discard(&mut self) {
        self.flushing().clear();
        self.pending.clear();
        self.notes.clear();
    }

    fn is_csv_safe(&self, table: usize) -> bool {
        self.csv_safe.get(table).is_some_and(|safe| *safe)
    }

    fn spill(&self) -> &Path {
        &self.spill
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_table_goes_to_the_disk_while_it_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let table = directory.path().join("release.csv");
        let places = Places {
            tables: vec![table.clone()],
            manifest: directory.path().join("release.json"),
            ..Places::default()
        };
        for (lines, early) in [(10, 0), (LARGE as usize / 4, 1)] {
            let mut store = FileStore::default();
            store.begin(&places).unwrap();
            let text = "a,b\n".repeat(lines);
            store.stage(0, &[]).unwrap().writer.write_all(text.as_bytes()).unwrap();
            store.open(0).unwrap();
            assert_eq!(store.flushing().len(), early);
            store.publish(b"{}").unwrap();
            assert_eq!(store.flushing().len(), 0);
            assert_eq!(std::fs::metadata(&table).unwrap().len() as usize, text.len());
        }
    }
}
