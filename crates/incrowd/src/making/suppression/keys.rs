//! The source of random draws: the secret key, and the record of releases made with it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use incrowd_engine::Note;
use incrowd_recode::suppression::Secret;
use serde_json::Value as Json;

use super::key;
use super::ledger::Ledger;
use crate::job::SuppressionJob;

/// The ledger's answer about a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlierRelease {
    /// It was not released.
    None,
    /// It was released with the same settings.
    SameSettings,
    /// It was released with other settings.
    OtherSettings,
}

/// The ledger's entry for a release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted<'a> {
    /// The digest of the original table.
    pub(crate) table: &'a str,
    /// The method and its parameters.
    pub(crate) how: &'a Json,
    /// The digest of the release.
    pub(crate) release: &'a str,
    /// Whether a second release was explicitly allowed.
    pub(crate) again: bool,
}

/// A secret and the record of releases made with it.
pub(crate) trait Keys {
    /// Returns the secret for all draws.
    fn secret(&self) -> Result<Secret>;

    /// Returns whether and how a table was released.
    fn before(&self, table: &str, how: &Json) -> Result<EarlierRelease>;

    /// Records a release that is about to be published, by a journal if there is one. Returns the
    /// note to add on publication.
    fn note(&self, release: &Noted<'_>, journal: Option<&Path>) -> Result<Option<Note>>;
}

/// No key. Draws are refused.
#[derive(Debug)]
pub(crate) struct NoKeys;

impl Keys for NoKeys {
    fn secret(&self) -> Result<Secret> {
        Err(Error::job("this draws records by a secret key, and there is none here"))
    }

    fn before(&self, _: &str, _: &Json) -> Result<EarlierRelease> {
        Ok(EarlierRelease::None)
    }

    fn note(&self, _: &Noted<'_>, _: Option<&Path>) -> Result<Option<Note>> {
        Ok(None)
    }
}

/// A key in a file with its ledger next to it, or a fixed seed without a ledger.
#[derive(Debug)]
pub(crate) struct FileKeys {
    asked: SuppressionJob,
    /// Locked from the first query until the release is recorded.
    ledger: RefCell<Option<Ledger>>,
}

impl FileKeys {
    /// Returns the key of a job, or the user's own.
    pub(crate) fn new(asked: Option<&SuppressionJob>) -> FileKeys {
        FileKeys { asked: asked.cloned().unwrap_or_default(), ledger: RefCell::new(None) }
    }

    fn path(&self) -> Result<PathBuf> {
        self.asked.key.clone().map_or_else(key::default_path, Ok)
    }
}

impl Keys for FileKeys {
    fn secret(&self) -> Result<Secret> {
        match self.asked.seed {
            Some(seed) => Ok(Secret::of_seed(seed)),
            None => key::read_or_make(&self.path()?).map_err(|e| e.at("suppression.key")),
        }
    }

    fn before(&self, table: &str, how: &Json) -> Result<EarlierRelease> {
        if self.asked.seed.is_some() {
            return Ok(EarlierRelease::None);
        }
        let mut ledger = Ledger::open(&self.path()?).map_err(|e| e.at("suppression.key"))?;
        let before = ledger.before(table, how);
        *self.ledger.borrow_mut() = Some(ledger);
        before
    }

    fn note(&self, release: &Noted<'_>, journal: Option<&Path>) -> Result<Option<Note>> {
        match &mut *self.ledger.borrow_mut() {
            Some(ledger) => ledger.note(release, journal),
            None => Ok(None),
        }
    }
}

/// Returns the private files of a suppression step. No output may overwrite them.
pub(crate) fn private_files(asked: &SuppressionJob) -> Vec<PathBuf> {
    if asked.seed.is_some() {
        return Vec::new();
    }
    let key = asked.key.clone().or_else(|| key::default_path().ok());
    key.into_iter().flat_map(|key| [ledger_of(&key), key]).collect()
}

/// Returns the path of the ledger of a key.
pub(super) fn ledger_of(key: &Path) -> PathBuf {
    let mut name = key.as_os_str().to_owned();
    name.push(".ledger");
    PathBuf::from(name)
}
