//! Access to the tables of a release, staged or published.

use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Engine, ExaminedColumns, Location, ReadBack, Shape, Source, read_formulas};

use crate::job::Table;
use crate::job::reading::{open_beside, open_release};
use crate::judging::request::MemoryRelease;
use crate::manifest::{FileEntry, Manifest};

/// The content of a table of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableContent {
    /// The records, in the only table of a release.
    Release,
    /// Anatomy: the records without their sensitive values, with the number of their group.
    QuasiIdentifiers,
    /// Anatomy: the frequency of each sensitive value in each group.
    SensitiveCounts,
    /// k-join-anonymity: the people of both tables in boxes.
    Boxes,
    /// k-join-anonymity: the sensitive values of the table's own people by sensitive group.
    SensitiveValues,
    /// k-join-anonymity: the group of each person. It is private and in no manifest.
    Audit,
}

impl TableContent {
    /// Every content.
    pub const ALL: [TableContent; 6] = [
        TableContent::Release,
        TableContent::QuasiIdentifiers,
        TableContent::SensitiveCounts,
        TableContent::Boxes,
        TableContent::SensitiveValues,
        TableContent::Audit,
    ];

    /// Returns its name in a manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            TableContent::Release => "release",
            TableContent::QuasiIdentifiers => "qit",
            TableContent::SensitiveCounts => "st",
            TableContent::Boxes => "jat",
            TableContent::SensitiveValues => "si",
            TableContent::Audit => "audit",
        }
    }

    /// Returns the content of that name.
    fn named(name: &str) -> Option<TableContent> {
        TableContent::ALL.into_iter().find(|content| content.as_str() == name)
    }

    /// Returns whether a release with such a table has it as its first table.
    fn is_first(self) -> bool {
        matches!(self, TableContent::Release | TableContent::QuasiIdentifiers | TableContent::Boxes)
    }
}

/// The tables of a release, by content.
pub(crate) trait ReleaseTables {
    /// Returns whether there is a table with that content.
    fn has(&self, content: TableContent) -> bool;

    /// Reads columns of a table as texts. No text counts as missing.
    fn read(
        &self,
        content: TableContent,
        columns: &[String],
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        self.read_examined(content, columns, ExaminedColumns::default(), progress)
    }

    /// Reads columns of a table; the columns `examined` are read record by record.
    fn read_examined(
        &self,
        content: TableContent,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack>;
}

/// Staged tables.
pub(crate) struct StagedTables<'a> {
    pub(crate) engine: &'a dyn Engine,
    /// The content of each staged table.
    pub(crate) contents: Vec<TableContent>,
}

impl StagedTables<'_> {
    fn position(&self, content: TableContent) -> Result<usize> {
        let found = self.contents.iter().position(|&own| own == content);
        found.ok_or_else(|| Error::bug("a table was read back that was not staged"))
    }
}

impl ReleaseTables for StagedTables<'_> {
    fn has(&self, content: TableContent) -> bool {
        self.contents.contains(&content)
    }

    fn read_examined(
        &self,
        content: TableContent,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        self.engine.read_back(self.position(content)?, columns, examined, progress)
    }
}

/// Published tables.
#[derive(Debug)]
pub(crate) struct PublishedTables<'a> {
    /// The first table.
    pub(crate) release: &'a Table,
    /// The manifest, if there is one.
    pub(crate) manifest: Option<&'a Manifest>,
    /// The path of the table of sensitive values, if it is given.
    pub(crate) values: Option<&'a Location>,
    /// The release, if it is in memory.
    pub(crate) in_memory: Option<&'a MemoryRelease>,
    /// The label of a missing value.
    pub(crate) missing: &'a str,
}

impl PublishedTables<'_> {
    fn entry(&self, content: TableContent) -> Option<&FileEntry> {
        self.manifest?.file(content)
    }

    /// Returns the content of the first table. The paths of the others are relative to it.
    pub(crate) fn first(&self) -> Result<TableContent> {
        let first = self.manifest.and_then(|manifest| manifest.files.first());
        let Some(first) = first else { return Ok(TableContent::Release) };
        TableContent::named(&first.content).ok_or_else(|| {
            Error::input(format!(
                "the manifest names a table `{}` that this version does not know",
                first.content
            ))
        })
    }

    /// Returns whether a table is the first one.
    fn is_first(&self, content: TableContent) -> bool {
        let first = self.manifest.and_then(|manifest| manifest.files.first());
        match first {
            Some(first) => first.content == content.as_str(),
            None => content.is_first(),
        }
    }

    /// Returns whether a table was written as text.
    fn is_text(&self, content: TableContent) -> bool {
        let named = self.entry(content).map(|entry| Location::File((&entry.name).into()));
        let path = named.or_else(|| self.release.paths.first().cloned());
        path.is_some_and(|path| path.is_text())
    }

    /// Returns all columns of a table.
    pub(crate) fn columns(&self, content: TableContent) -> Result<Vec<String>> {
        Ok(self.open(content)?.columns().to_vec())
    }

    fn open(&self, content: TableContent) -> Result<Source> {
        if let Some(release) = self.in_memory {
            let named =
                self.entry(content).map_or(release.manifest.release.as_str(), |entry| &entry.name);
            let table = release.tables.iter().find(|table| table.name() == named);
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
        open_beside(&path.with_name(&entry.name), self.manifest)
    }
}

impl ReleaseTables for PublishedTables<'_> {
    fn has(&self, content: TableContent) -> bool {
        self.is_first(content) || self.values.is_some() || self.entry(content).is_some()
    }

    fn read_examined(
        &self,
        content: TableContent,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let shape =
            self.manifest.map(|manifest| manifest.job.shape(self.missing)).unwrap_or_default();
        let shape = if self.is_first(content) { shape } else { Shape::default() };
        let mut read = self.open(content)?.read_shaped(columns, &shape, examined, progress)?;
        if self.manifest.is_some_and(|manifest| manifest.job.csv_safe) && self.is_text(content) {
            read_formulas(&mut read.folded);
        }
        Ok(read)
    }
}
