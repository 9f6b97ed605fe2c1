//! Whatever draws follow from: the secret key, and what is known of releases that were made with it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use incrowd_engine::Note;
use incrowd_recode::suppression::Secret;
use serde_json::Value as Json;

use super::key;
use super::ledger::Ledger;
use crate::job::SuppressionJob;

/// What a ledger says of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It was not released.
    Never,
    /// It was released in the same way.
    Alike,
    /// It was released in another way.
    Otherwise,
}

/// What is noted of a release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted<'a> {
    /// The digest of the table it was made from.
    pub(crate) table: &'a str,
    /// The method and its parameters.
    pub(crate) how: &'a Json,
    /// The digest of the release.
    pub(crate) release: &'a str,
    /// Whether it was asked for although there was another.
    pub(crate) again: bool,
}

/// A secret and the memory of what was released with it.
pub(crate) trait Keys {
    /// The secret all draws follow from.
    fn secret(&self) -> Result<Secret>;

    /// Whether and how a table was released.
    fn before(&self, table: &str, how: &Json) -> Result<Before>;

    /// Notes a release that is about to be put in place by a journal, if there is one; answers with what is to be noted when
    /// it is there.
    fn note(&self, release: &Noted<'_>, journal: Option<&Path>) -> Result<Option<Note>>;
}

/// Nobody draws.
#[derive(Debug)]
pub(crate) struct NoKeys;

impl Keys for NoKeys {
    fn secret(&self) -> Result<Secret> {
        Err(Error::job("this draws records by a secret key, and there is none here"))
    }

    fn before(&self, _: &str, _: &Json) -> Result<Before> {
        Ok(Before::Never)
    }

    fn note(&self, _: &Noted<'_>, _: Option<&Path>) -> Result<Option<Note>> {
        Ok(None)
    }
}

/// A key in a file with its ledger beside it, or a stated seed that nobody remembers.
#[derive(Debug)]
pub(crate) struct FileKeys {
    asked: SuppressionJob,
    /// Locked from the first question until the release is noted.
    ledger: RefCell<Option<Ledger>>,
}

impl FileKeys {
    /// The key a job asks for, or the user's own.
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

    fn before(&self, table: &str, how: &Json) -> Result<Before> {
        if self.asked.seed.is_some() {
            return Ok(Before::Never);
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

/// The private files of a suppression step: nothing may be written in their place.
pub(crate) fn private_files(asked: &SuppressionJob) -> Vec<PathBuf> {
    if asked.seed.is_some() {
        return Vec::new();
    }
    let key = asked.key.clone().or_else(|| key::default_path().ok());
    key.into_iter().flat_map(|key| [ledger_of(&key), key]).collect()
}

/// The ledger beside a key.
pub(super) fn ledger_of(key: &Path) -> PathBuf {
    let mut name = key.as_os_str().to_owned();
    name.push(".ledger");
    PathBuf::from(name)
}
