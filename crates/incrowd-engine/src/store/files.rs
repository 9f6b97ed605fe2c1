//! Releases in files. Each file is staged next to its target. A journal makes the replacement of
//! all files atomic.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use incrowd_core::text::thousands;
use incrowd_core::{Error, Result};

use super::{Dialect, Escape, Existing, Occupied, Places, Staging, Store, TableColumn};
use crate::location::Location;
use crate::pending::{Note, Pending, Target, write_failed};
use crate::source::{Encoding, Format, Options, Source, digest};

/// A store of files.
#[derive(Debug, Default)]
pub struct FileStore {
    /// The staged tables, followed by the staged manifest.
    pending: Vec<Pending>,
    /// Lines to append to other files after the publication.
    notes: Vec<Note>,
    /// Path of the journal. It lists the staged files and their targets during the publication.
    journal: PathBuf,
    spill: PathBuf,
    csv_safe: Vec<bool>,
    dialect: Dialect,
    /// Stamps of the targets when they were claimed. `None` if the release may replace any file.
    stamps: Option<Vec<Option<Stamp>>>,
    /// Journals beside the targets that this user's key does not authenticate.
    unauthenticated: Vec<PathBuf>,
    /// Threads that flush large tables to disk while the tables are read back.
    flushing: Mutex<Vec<Flushing>>,
}

type Flushing = JoinHandle<Result<()>>;

/// Tables of at least this many bytes are flushed early.
const LARGE: u64 = 16 << 20;

/// File metadata that detect a change without reading the contents.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Stamp {
    /// The stamp of the file at a path, after following links. `None` if there is no file.
    fn of(path: &Path) -> Option<Stamp> {
        let found = std::fs::metadata(path).ok()?;
        Some(Stamp {
            bytes: found.len(),
            modified: found.modified().ok(),
            #[cfg(unix)]
            inode: (
                std::os::unix::fs::MetadataExt::dev(&found),
                std::os::unix::fs::MetadataExt::ino(&found),
            ),
        })
    }
}

/// A file larger than this is not a manifest.
const LARGEST_MANIFEST: u64 = 64 << 20;

/// Reads a file that may be a manifest.
pub(crate) fn read_manifest_file(path: &Path) -> Option<Vec<u8>> {
    let small = std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() <= LARGEST_MANIFEST);
    small.then(|| std::fs::read(path).ok()).flatten()
}

/// The existing file at the target of a table, if there is one. Its digest is computed only if
/// `known` is set, that is, if there is a manifest to compare it with.
pub(crate) fn existing_file(table: Option<usize>, path: &Path, known: bool) -> Option<Existing> {
    let bytes = std::fs::metadata(path).ok()?.len();
    let shown = format!("the file `{}` ({} bytes)", path.display(), thousands(bytes));
    Some(Existing { table, shown, digest: known.then(|| digest(&path.into()).ok()).flatten() })
}

impl FileStore {
    fn flushing(&self) -> MutexGuard<'_, Vec<Flushing>> {
        self.flushing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Flushes a large table to disk in the background. An error is reported at publication,
    /// because the operating system reports it only once.
    fn flush(&self, pending: &Pending) -> Result<()> {
        let mut flushing = self.flushing();
        if pending.bytes() >= LARGE {
            let writer = pending.writer()?;
            let failed = pending.target().to_owned();
            let flush = move || writer.flush_to_disk().map_err(|e| write_failed(&failed, &e));
            // If no thread can be started, the file is flushed at publication.
            flushing.extend(
                std::thread::Builder::new().name("incrowd flush".to_owned()).spawn(flush).ok(),
            );
        }
        Ok(())
    }

    fn table(&self, table: usize) -> Result<&Pending> {
        let tables = self.pending.len().saturating_sub(1);
        let found = self.pending[..tables].get(table);
        found.ok_or_else(|| Error::bug("a table was staged for which no place was claimed"))
    }
}

/// Recovers interrupted publications in all target directories of a release. Returns the journals
/// that were not executed because this user's key does not authenticate them.
fn recover_places(places: &Places) -> Result<Vec<PathBuf>> {
    let mut unauthenticated = Vec::new();
    let mut directories: Vec<PathBuf> = Vec::new();
    let files = places.tables.iter().filter_map(Location::file);
    for path in files.chain([places.manifest.as_path()]) {
        // For a link, the directory of the linked file is used.
        let place = Target::decide(path)?.path().parent().map(Path::to_owned).unwrap_or_default();
        let place = if place.as_os_str().is_empty() { PathBuf::from(".") } else { place };
        if !directories.contains(&place) {
            unauthenticated.extend(crate::pending::recover(&place)?.unauthenticated);
            directories.push(place);
        }
    }
    Ok(unauthenticated)
}

/// The delimiter for a text file with this name.
pub fn delimiter_of(path: &Path) -> u8 {
    let name = path.to_string_lossy().to_lowercase();
    let tabs = name.trim_end_matches(".gz").trim_end_matches(".zst").ends_with(".tsv");
    if tabs { b'\t' } else { b',' }
}

/// Opens a staged file in the same way as a published one.
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
    Ok(Source::open(&[pending.path().to_owned()], &options)?.of_our_own())
}

impl Store for FileStore {
    fn begin(&mut self, places: &Places) -> Result<()> {
        self.discard();
        let keys = || places.keys.iter().copied().chain(std::iter::repeat("output.path"));
        for (table, key) in places.tables.iter().zip(keys()) {
            table.format().map_err(|e| e.at(key))?;
        }
        self.unauthenticated = recover_places(places)?;
        for (i, (table, key)) in places.tables.iter().zip(keys()).enumerate() {
            let file = table.file().ok_or_else(|| Error::bug("a table is not in a file"))?;
            let pending = Pending::create(file).map_err(|e| e.at(key))?;
            self.pending.push(if places.private.contains(&i) {
                pending.private()
            } else {
                pending
            });
        }
        self.pending.push(Pending::create(&places.manifest).map_err(|e| e.at("output.manifest"))?);
        self.journal = self.pending[0].journal();
        // The targets are locked for other runs of this program from here on.
        let stamps = || self.pending.iter().map(|pending| Stamp::of(pending.target())).collect();
        self.stamps = (!places.replace).then(stamps);
        let is_safe = |(i, table): (usize, &Location)| {
            places.csv_safe && !places.private.contains(&i) && table.is_text()
        };
        self.dialect = places.dialect;
        self.csv_safe = places.tables.iter().enumerate().map(is_safe).collect();
        let first = places.tables.first().and_then(Location::file);
        let directory =
            first.unwrap_or(&places.manifest).parent().filter(|p| !p.as_os_str().is_empty());
        self.spill = directory.unwrap_or(Path::new(".")).to_owned();
        Ok(())
    }

    fn occupied(&self) -> Result<Occupied> {
        let Some((manifest, tables)) = self.pending.split_last() else {
            return Ok(Occupied::default());
        };
        let bytes = read_manifest_file(manifest.target());
        let table = |(i, pending): (usize, &Pending)| {
            existing_file(Some(i), pending.target(), bytes.is_some())
        };
        let mut existing: Vec<Existing> = tables.iter().enumerate().filter_map(table).collect();
        existing.extend(existing_file(None, manifest.target(), false));
        let unauthenticated = self.unauthenticated.clone();
        Ok(Occupied { existing, manifest_file: bytes.clone(), manifest: bytes, unauthenticated })
    }

    fn stage(&mut self, table: usize, _: &[TableColumn]) -> Result<Staging> {
        let pending = self.table(table)?;
        let target = pending.target().to_owned();
        let format = Format::of_path(&target)?;
        let writer = Box::new(pending.writer()?);
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
        for (pending, stamp) in self.pending.iter().zip(self.stamps.iter().flatten()) {
            if Stamp::of(pending.target()) != *stamp {
                let shown = pending.target().display();
                return Err(Error::resources(format!(
                    "`{shown}` was changed while the release was made"
                ))
                .help("nothing was published; look at the file, and make the release again"));
            }
        }
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
            tables: vec![table.clone().into()],
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
