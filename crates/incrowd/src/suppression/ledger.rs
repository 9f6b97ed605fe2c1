//! Which tables were released before, and how: a file of digests beside the key.
//!
//! Two releases of one table that withhold different records tell together what neither tells alone. The digest is of the
//! sensitive column alone, its values with their counts, because that is what decides: the same people with other
//! quasi-identifiers are the same table here. It is keyed, so that nobody without the key can try out tables on the ledger.
//!
//! A release is noted twice: before it is put in place, with the name of the journal that does so, and when it is there. If the
//! second note is missing, the run was killed, and the journal tells what became of the release: it is completed or taken back
//! before anything is answered, and if it is gone without the second note, there never was a release.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use incrowd_engine::Note;
use serde_json::{Value as Json, json};

use super::keys::{Before, Noted, ledger_of};

/// The ledger, locked while a release is made.
#[derive(Debug)]
pub(super) struct Ledger {
    file: File,
    path: PathBuf,
}

impl Ledger {
    /// The ledger beside a key.
    pub(super) fn open(key: &Path) -> Result<Ledger> {
        let path = ledger_of(key);
        let failed = |e: std::io::Error| {
            Error::resources(format!("the ledger `{}` cannot be used: {e}", path.display()))
        };
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Ledger { file, path })
    }

    fn entries(&mut self) -> Result<Vec<Json>> {
        let mut text = String::new();
        let failed = |e: std::io::Error| {
            Error::resources(format!("the ledger `{}` cannot be read: {e}", self.path.display()))
        };
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.file.read_to_string(&mut text).map_err(failed)?;
        // Half a line was never finished: the release it would tell of was not put in place.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            self.file.set_len(whole as u64).map_err(failed)?;
            text.truncate(whole);
        }
        let broken = |line: usize| {
            Error::resources(format!("the ledger `{}` is damaged in line {}", self.path.display(), line + 1))
                .help("without it nobody can tell which tables were released before; mend it or move it away")
        };
        let entry = |(i, line): (usize, &str)| serde_json::from_str(line).map_err(|_| broken(i));
        text.lines().enumerate().map(entry).collect()
    }

    /// The releases that were made, or may have been.
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
            // Of a directory that is away nobody can tell; then rather a release too many than one too few.
            let is_gone = |journal: PathBuf| journal.parent().is_some_and(Path::is_dir) && !journal.exists();
            is_open(entry, &entries) && journal(entry).is_some_and(is_gone)
        };
        let made = |entry: &&Json| entry["done"].is_null() && !never_made(entry);
        Ok(entries.iter().filter(made).cloned().collect())
    }

    /// Whether and how a table was released.
    pub(super) fn before(&mut self, table: &str, how: &Json) -> Result<Before> {
        let releases = self.releases()?;
        let same: Vec<&Json> = releases.iter().filter(|entry| entry["table"] == table).collect();
        Ok(match same.iter().all(|entry| entry["how"] == *how) {
            _ if same.is_empty() => Before::Never,
            true => Before::Alike,
            false => Before::Otherwise,
        })
    }

    /// Notes a release. If a journal puts it in place, the answer is to be noted together with that.
    pub(super) fn note(&mut self, release: &Noted<'_>, journal: Option<&Path>) -> Result<Option<Note>> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = since.map_or(0, |time| time.as_secs());
        let Noted { table, how, release, again } = release;
        let mut entry =
            json!({ "table": table, "how": how, "release": release, "time": seconds, "again": again });
        let mut done = None;
        // A path that is not text cannot be found again, so the release counts at once.
        let journal =
            journal.map(std::path::absolute).and_then(|path| path.ok()?.to_str().map(str::to_owned));
        if let Some(journal) = journal {
            let id = format!("{:032x}", rand::random::<u128>());
            (entry["id"], entry["journal"]) = (json!(id), json!(journal));
            done = Some(Note { path: self.path.clone(), line: json!({ "done": id }).to_string() });
        }
        Note { path: self.path.clone(), line: entry.to_string() }.add()?;
        Ok(done)
    }
}

/// Whether a release was about to be put in place, and nobody noted that it was.
fn is_open(entry: &Json, entries: &[Json]) -> bool {
    entry["journal"].is_string() && !entries.iter().any(|other| other["done"] == entry["id"])
}

fn journal(entry: &Json) -> Option<PathBuf> {
    entry["journal"].as_str().map(PathBuf::from)
}
