//! Where the tables of a release can be read: under way, before anybody else can see them, or published.

use std::path::PathBuf;

use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Beside, Engine, Format, ReadBack, Shape, Source, read_formulas};

use crate::job::Table;
use crate::judging::Held;
use crate::manifest::{FileEntry, Manifest};
use crate::reading::{open_beside, open_release};

/// Tables of a release by what they hold.
pub(crate) trait Shelf {
    /// Whether there is a table with that content.
    fn has(&self, content: &str) -> bool;

    /// Reads columns of a table: texts only, nothing counts as missing.
    fn read(&self, content: &str, columns: &[String], progress: &dyn Progress) -> Result<ReadBack> {
        self.read_beside(content, columns, Beside::default(), progress)
    }

    /// The same with further columns looked at record by record.
    fn read_beside(
        &self,
        content: &str,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack>;

    /// All columns of a table.
    fn columns(&self, content: &str) -> Result<Vec<String>>;
}

/// Tables under way.
pub(crate) struct StagedShelf<'a> {
    pub(crate) engine: &'a dyn Engine,
    /// What each staged table holds.
    pub(crate) contents: Vec<&'static str>,
}

impl StagedShelf<'_> {
    fn position(&self, content: &str) -> Result<usize> {
        let found = self.contents.iter().position(|own| *own == content);
        found.ok_or_else(|| Error::bug("a table was read back that was not staged"))
    }
}

impl Shelf for StagedShelf<'_> {
    fn has(&self, content: &str) -> bool {
        self.contents.contains(&content)
    }

    fn read_beside(
        &self,
        content: &str,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        self.engine.read_back(self.position(content)?, columns, beside, progress)
    }

    fn columns(&self, content: &str) -> Result<Vec<String>> {
        Ok(self.read(content, &[], &incrowd_core::Silent)?.columns)
    }
}

/// Tables that somebody published.
#[derive(Debug)]
pub(crate) struct PublishedShelf<'a> {
    /// The first table.
    pub(crate) release: &'a Table,
    /// What the manifest calls it, if there is one.
    pub(crate) manifest: Option<&'a Manifest>,
    /// The table of sensitive values, if somebody says where it is.
    pub(crate) values: Option<&'a PathBuf>,
    /// The tables themselves, if they are in memory.
    pub(crate) held: Option<&'a Held>,
    /// The label of a missing value.
    pub(crate) missing: &'a str,
}

impl PublishedShelf<'_> {
    fn entry(&self, content: &str) -> Option<&FileEntry> {
        self.manifest?.file(content)
    }

    /// What the table holds that everything else is found beside.
    pub(crate) fn first(&self) -> &str {
        let first = self.manifest.and_then(|manifest| manifest.files.first());
        first.map_or("release", |first| &first.content)
    }

    /// Whether a table is the one that everything else is found beside.
    fn is_first(&self, content: &str) -> bool {
        let first = self.manifest.and_then(|manifest| manifest.files.first());
        match first {
            Some(first) => first.content == content,
            None => ["release", "jat", "qit"].contains(&content),
        }
    }

    /// Whether a table was written as text.
    fn is_text(&self, content: &str) -> bool {
        let named = self.entry(content).map(|entry| PathBuf::from(&entry.name));
        let path = named.or_else(|| self.release.paths.first().cloned());
        path.is_some_and(|path| matches!(Format::of_path(&path), Ok(Format::Csv(_))))
    }

    fn open(&self, content: &str) -> Result<Source> {
        if let Some(held) = self.held {
            let named = self.entry(content).map_or(held.manifest.release.as_str(), |entry| &entry.name);
            let table = held.tables.iter().find(|table| table.name() == named);
            return table.ok_or_else(|| Error::input("the manifest names no such table"))?.source();
        }
        if self.is_first(content) {
            return open_release(self.release, self.manifest);
        }
        if let Some(path) = self.values {
            return open_beside(path, self.manifest);
        }
        let (Some(entry), [path]) = (self.entry(content), self.release.paths.as_slice()) else {
            return Err(Error::input("the manifest names no second table"));
        };
        let beside = match incrowd_engine::is_database(path) {
            true => incrowd_engine::with_table(path, &entry.name),
            false => path.with_file_name(&entry.name),
        };
        open_beside(&beside, self.manifest)
    }
}

impl Shelf for PublishedShelf<'_> {
    fn has(&self, content: &str) -> bool {
        self.is_first(content) || self.values.is_some() || self.entry(content).is_some()
    }

    fn read_beside(
        &self,
        content: &str,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let shape = self.manifest.map(|manifest| manifest.job.shape(self.missing)).unwrap_or_default();
        let shape = if self.is_first(content) { shape } else { Shape::default() };
        let mut read = self.open(content)?.read_shaped(columns, &shape, beside, progress)?;
        if self.manifest.is_some_and(|manifest| manifest.job.csv_safe) && self.is_text(content) {
            read_formulas(&mut read.folded);
        }
        Ok(read)
    }

    fn columns(&self, content: &str) -> Result<Vec<String>> {
        Ok(self.open(content)?.columns().to_vec())
    }
}
