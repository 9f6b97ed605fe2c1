//! Releases in files: each is written beside its place; a journal puts them there, all or none.

use std::io::Write;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

use super::{Dialect, Places, Staging, Store, TableColumn};
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
}

impl FileStore {
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
    Source::open(&[pending.path().to_owned()], &options)
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
        let (writer, format) = (Box::new(pending.writer()?), Format::of_path(&target)?);
        Ok(Staging {
            writer,
            format,
            target,
            csv_safe: self.is_csv_safe(table),
            dialect: self.dialect,
            in_codes: false,
        })
    }

    fn open(&self, table: usize) -> Result<Source> {
        let pending = self.table(table)?;
        open_pending(pending, self.dialect)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        let Some(last) = self.pending.last() else {
            return Err(Error::bug("a release was published for which no place was claimed"));
        };
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
