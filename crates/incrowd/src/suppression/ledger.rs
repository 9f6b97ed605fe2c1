//! Which tables were released before, and how: a file of digests beside the key.
//!
//! Two releases of one table that withhold different records tell together what neither tells alone. The digest is of the
//! sensitive column alone, its values with their counts, because that is what decides: the same people with other
//! quasi-identifiers are the same table here. It is keyed, so that nobody without the key can try out tables on the ledger.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use serde_json::{Value as Json, json};

use super::keys::{Before, ledger_of};

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
        let broken = |line: usize| {
            Error::resources(format!("the ledger `{}` is damaged in line {}", self.path.display(), line + 1))
                .help("without it nobody can tell which tables were released before; mend it or move it away")
        };
        let entry = |(i, line): (usize, &str)| serde_json::from_str(line).map_err(|_| broken(i));
        text.lines().enumerate().map(entry).collect()
    }

    /// Whether and how a table was released.
    pub(super) fn before(&mut self, table: &str, how: &Json) -> Result<Before> {
        let entries = self.entries()?;
        let same: Vec<&Json> = entries.iter().filter(|entry| entry["table"] == table).collect();
        Ok(match same.iter().all(|entry| entry["how"] == *how) {
            _ if same.is_empty() => Before::Never,
            true => Before::Alike,
            false => Before::Otherwise,
        })
    }

    /// Notes a release.
    pub(super) fn note(&mut self, table: &str, how: &Json, release: &str, again: bool) -> Result<()> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = since.map_or(0, |time| time.as_secs());
        let entry =
            json!({ "table": table, "how": how, "release": release, "time": seconds, "again": again });
        let written =
            self.file.write_all(format!("{entry}\n").as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|e| {
            Error::resources(format!("the ledger `{}` cannot be written: {e}", self.path.display()))
        })
    }
}
