//! The ledger: digests of the tables that were released before, in a file next to the key.
//!
//! Two releases of one table that suppress different records reveal more together than each alone.
//! The digest covers only the sensitive column, its values with their counts, because the
//! suppression depends on nothing else: the same people with other quasi-identifiers are the same
//! table here. It is keyed, so that tables cannot be tested against the ledger without the key.
//!
//! A release is recorded twice: before publication, with the name of its journal, and on
//! publication. If the second entry is missing, the run was killed. Its journal is then completed
//! or rolled back before the ledger answers. If the journal is gone and the second entry is
//! missing, the release was never published.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use incrowd_engine::Note;
use serde_json::{Value as Json, json};

use super::keys::{EarlierRelease, Noted, ledger_of};

/// The ledger, locked while a release is made.
#[derive(Debug)]
pub(super) struct Ledger {
    file: File,
    path: PathBuf,
}

impl Ledger {
    /// Opens and locks the ledger of a key.
    pub(super) fn open(key: &Path) -> Result<Ledger> {
        let path = ledger_of(key);
        let failed = |e: std::io::Error| {
            Error::resources(format!("the ledger `{}` cannot be used: {e}", path.display()))
        };
        if std::fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            let why = format!("the ledger `{}` is a link or no regular file", path.display());
            return Err(Error::resources(why).help("put the ledger itself there, not a link to it"));
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Ledger { file, path })
    }

    fn entries(&mut self) -> Result<Vec<Json>> {
        let failed = |e: std::io::Error| {
            Error::resources(format!("the ledger `{}` cannot be read: {e}", self.path.display()))
        };
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut text = incrowd_engine::read_ledger(&mut self.file).map_err(failed)?;
        // An incomplete last line is truncated: its release was not published.
        let whole = incrowd_engine::whole_lines(&text).map_err(failed)?;
        if whole < text.len() {
            self.file.set_len(whole as u64).map_err(failed)?;
            text.truncate(whole);
        }
        let text = String::from_utf8_lossy(&text);
        let broken = |line: usize| {
            let path = self.path.display();
            Error::resources(format!("the ledger `{path}` is damaged in line {}", line + 1))
                .help("without it, earlier releases are unknown; repair it or move it away")
        };
        let entry = |(i, line): (usize, &str)| serde_json::from_str(line).map_err(|_| broken(i));
        text.lines().enumerate().map(entry).collect()
    }

    /// Returns the releases that were published, or may have been.
    fn releases(&mut self) -> Result<Vec<Json>> {
        let mut entries = self.entries()?;
        let journals = |entries: &[Json]| -> Vec<PathBuf> {
            entries.iter().filter(|entry| is_open(entry, entries)).filter_map(journal).collect()
        };
        let interrupted = journals(&entries);
        if !interrupted.is_empty() {
            for journal in interrupted {
                incrowd_engine::recover(journal.parent().unwrap_or(Path::new(".")))?;
            }
            entries = self.entries()?;
        }
        let never_made = |entry: &Json| {
            // If the directory is not available, the release counts as published, to be safe.
            let is_gone =
                |journal: PathBuf| journal.parent().is_some_and(Path::is_dir) && !journal.exists();
            is_open(entry, &entries) && journal(entry).is_some_and(is_gone)
        };
        let made = |entry: &&Json| entry["done"].is_null() && !never_made(entry);
        Ok(entries.iter().filter(made).cloned().collect())
    }

    /// Returns whether and how a table was released.
    pub(super) fn before(&mut self, table: &str, how: &Json) -> Result<EarlierRelease> {
        let releases = self.releases()?;
        let same: Vec<&Json> = releases.iter().filter(|entry| entry["table"] == table).collect();
        Ok(match same.iter().all(|entry| entry["how"] == *how) {
            _ if same.is_empty() => EarlierRelease::None,
            true => EarlierRelease::SameSettings,
            false => EarlierRelease::OtherSettings,
        })
    }

    /// Records a release. If a journal publishes it, returns the note to add on publication.
    pub(super) fn note(
        &mut self,
        release: &Noted<'_>,
        journal: Option<&Path>,
    ) -> Result<Option<Note>> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = since.map_or(0, |time| time.as_secs());
        let Noted { table, how, release, again } = release;
        let mut entry = json!({
            "table": table,
            "how": how,
            "release": release,
            "time": seconds,
            "again": again,
        });
        let mut done = None;
        // A path that is not UTF-8 cannot be stored, so the release counts immediately.
        let journal = journal
            .map(std::path::absolute)
            .and_then(|path| path.ok()?.to_str().map(str::to_owned));
        if let Some(journal) = journal {
            let id = format!("{:032x}", rand::random::<u128>());
            (entry["id"], entry["journal"]) = (json!(id), json!(journal));
            done = Some(Note { path: self.path.clone(), line: json!({ "done": id }).to_string() });
        }
        Note { path: self.path.clone(), line: entry.to_string() }.add()?;
        Ok(done)
    }
}

/// Returns whether a release has no second entry.
fn is_open(entry: &Json, entries: &[Json]) -> bool {
    entry["journal"].is_string() && !entries.iter().any(|other| other["done"] == entry["id"])
}

fn journal(entry: &Json) -> Option<PathBuf> {
    entry["journal"].as_str().map(PathBuf::from)
}
