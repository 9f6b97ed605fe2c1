//! Kinds of publications: one table, two linked tables (Anatomy), two joined tables (k-join-anonymity).
//!
//! A publication knows its tables, how they are made, staged, read back, judged, measured and attacked. Everything else works
//! on what a publication answers and never asks which kind it is. A new kind is one module and one line in [`PUBLICATIONS`].

pub(crate) mod anatomy;
pub(crate) mod joined;
mod one_table;
mod plain;
mod shelf;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use incrowd_audit::attack::Adversary;
use incrowd_audit::joined::Failure;
use incrowd_audit::{Verification, tally, utility};
use incrowd_core::dataset::Quasi;
use incrowd_core::metric::Tally;
use incrowd_core::model::Promise;
use incrowd_core::text::Block;
use incrowd_core::{ColumnSpec, Dataset, Error, Folded, MissingCells, Progress, Result};
use incrowd_engine::{Beside, Engine, Seen};

pub(crate) use shelf::{PublishedShelf, Shelf, StagedShelf};

use crate::case::Case;
use crate::checked::CheckedJob;
use crate::from_original::FromOriginal;
use crate::job::Job;
use crate::judging::Judging;
use crate::make::{Made, Material};
use crate::manifest::Manifest;
use crate::measure::{Measured, Measuring};
use crate::pipeline::Report;
use crate::reading::Reading;
use crate::release::Verified;
use crate::summary;
use crate::suppression::{Keys, SuppressionReport};

/// Every kind of publication. The first one that claims a job makes it.
pub(crate) const PUBLICATIONS: &[&dyn Publication] =
    &[&joined::Joined, &anatomy::Anatomy, &one_table::OneTable];

/// A table of a publication and its place.
#[derive(Clone, Debug)]
pub(crate) struct TablePlace {
    pub(crate) path: PathBuf,
    /// The key of the job that says where it goes.
    pub(crate) key: &'static str,
    /// What a message calls it.
    pub(crate) what: &'static str,
    /// Whether it may be published; a private one appears at the same moment and is in no manifest.
    pub(crate) public: bool,
}

/// The tables of a release as a reader has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// Quasi-identifiers first; then the sensitive columns, or the label that links the other table.
    pub(crate) people: Folded,
    /// How many quasi-identifiers there are.
    pub(crate) quasi: usize,
    /// The sensitive values where they stand in a table of their own: the label, then the values.
    pub(crate) values: Option<Folded>,
    /// What was read, in the order of the publication's tables.
    pub(crate) files: Vec<ReadFile>,
    /// What was seen of columns that are published as they are, where they stand in the first table.
    pub(crate) seen: Seen,
}

impl Tables {
    /// The table in which sensitive values stand.
    pub(crate) fn with_values(&self) -> &Folded {
        self.values.as_ref().unwrap_or(&self.people)
    }

    /// The digest of the first table.
    pub(crate) fn digest(&self) -> &str {
        self.files.first().map_or("", |file| &file.digest)
    }
}

/// A file of a release as it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadFile {
    pub(crate) content: &'static str,
    pub(crate) records: u64,
    pub(crate) digest: String,
    pub(crate) columns: Vec<String>,
}

/// What a release is judged beside, where a promise asks for it.
#[derive(Clone, Copy, Default)]
pub(crate) struct References<'a> {
    /// The people the table is a sample of.
    pub(crate) population: Option<&'a Folded>,
    /// The table the release was made from.
    pub(crate) original: Option<&'a Dataset>,
}

/// Promises about a published table.
pub(crate) struct Asked<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) promises: &'a [Promise],
    /// Whether somebody states them of this table, and not the making or the manifest of the release.
    pub(crate) stated: bool,
    /// What a missing cell matches.
    pub(crate) missing_cells: MissingCells,
    pub(crate) references: References<'a>,
}

/// What the tables say about themselves.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// Every promise.
    pub(crate) verification: Verification,
    /// The promises judged once more on the groups of sensitive values, where those have groups of their own.
    pub(crate) on_values: Option<Verification>,
    /// The rules of the publication that were checked, if it has any.
    pub(crate) rules: Option<&'static str>,
    /// Rules that are broken.
    pub(crate) failures: Vec<Failure>,
}

impl Judged {
    /// The first thing that does not hold, in words.
    pub(crate) fn broken(&self) -> Option<String> {
        let on_values = self.on_values.iter().flat_map(|v| &v.judgements).filter(|j| !j.unknown);
        let own = self.verification.judgements.iter();
        let failure = self.failures.first().map(ToString::to_string);
        failure.or_else(|| own.chain(on_values).find(|j| !j.holds).map(|j| j.title.clone()))
    }
}

/// What the adversaries of a release see of it.
pub(crate) struct Views {
    /// The table in which people are looked for, and how its quasi-identifiers are read.
    pub(crate) people: Folded,
    pub(crate) quasi: Vec<ColumnSpec>,
    /// The table in which values are looked for, if it is another one.
    pub(crate) values: Option<(Folded, Vec<ColumnSpec>)>,
    /// What was seen of columns that are published as they are, where they stand in the first table.
    pub(crate) seen: Seen,
}

/// One kind of publication.
pub(crate) trait Publication: Debug + Sync {
    /// Its name in a manifest.
    fn name(&self) -> &'static str;

    /// How its tables hang together, which decides what can be measured of them.
    fn layout(&self) -> utility::Layout;

    /// The first lines of what is said about a release: its tables.
    fn headline(&self, report: &Report) -> Vec<Block> {
        summary::of_one_table(report)
    }

    /// Whether ranges and sets can be shown in other ways than as labels.
    fn shapes(&self) -> bool {
        false
    }

    /// Whether a job asks for it.
    fn claims(&self, job: &Job) -> bool;

    /// Changes a job into what it means for this publication; what a person should know about that, in words.
    fn prepare(&self, job: &mut Job, columns: &[String]) -> Result<Vec<String>> {
        let _ = (job, columns);
        Ok(Vec::new())
    }

    /// What it is called where it assumes that nobody has several records.
    fn one_record_each(&self) -> Option<&'static str> {
        None
    }

    /// Refuses what cannot be published this way.
    fn check(&self, job: &CheckedJob) -> Result<()> {
        let _ = job;
        Ok(())
    }

    /// The tables of a release whose first one is `release`.
    fn tables(&self, job: &CheckedJob, release: &Path) -> Result<Vec<TablePlace>>;

    /// Reads what the release is made of.
    fn gather<'e>(
        &self,
        engine: &'e mut dyn Engine,
        keys: &'e dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'e>>;

    /// Makes the release in memory. No file, no clock.
    fn make(&self, material: Material<'_>, job: &CheckedJob, progress: &dyn Progress) -> Result<Made>;

    /// Brings what is to be judged into the order of this publication.
    fn arrange(&self, judging: &mut Judging) -> Result<()> {
        let _ = judging;
        Ok(())
    }

    /// Reads its tables back; the sensitive columns only if they are looked at. Where sensitive values stand in the first table,
    /// columns `beside` are looked at record by record.
    fn read_back(
        &self,
        reading: &Reading,
        shelf: &dyn Shelf,
        with_sensitive: bool,
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<Tables>;

    /// What the cells of the tables lost on these lines.
    fn tally(&self, tables: &Tables, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
        tally(&tables.people, domains, suppressed)
    }

    /// Judges the tables by themselves: the rules of the publication and every promise.
    fn judge(&self, tables: Tables, asked: &Asked<'_>, progress: &dyn Progress) -> Result<Judged>;

    /// Adds what a suppression step means for this publication.
    fn advise(&self, step: &mut SuppressionReport) {
        let _ = step;
    }

    /// The error about a release that was just made and does not keep a promise.
    fn broken(&self, job: &CheckedJob, promise: &str) -> Error {
        let _ = job;
        Error::bug(format!("the release does not keep {promise}: it was not put in place"))
    }

    /// Adds to a manifest what belongs to this publication.
    fn describe(&self, manifest: &mut Manifest, job: &CheckedJob, verified: &Verified) {
        let _ = (manifest, job, verified);
    }

    /// Asks whether the release can be one of the table the case names, if it names one and there is something to ask.
    fn compare_with_original(
        &self,
        case: &Case,
        tables: &Tables,
        progress: &dyn Progress,
    ) -> Result<Option<FromOriginal>>;

    /// Measures what the release cost beside its original.
    fn measure(&self, measuring: &mut Measuring<'_>, progress: &dyn Progress) -> Result<Measured>;

    /// What adversaries look at.
    fn views(&self, case: &Case, progress: &dyn Progress) -> Result<Views>;

    /// Gives an adversary what belongs to this publication.
    fn inform<'a>(&self, case: &Case, views: &'a Views, adversary: &mut Adversary<'a>) {
        let _ = (case, views, adversary);
    }
}

/// The publication a job asks for.
pub(crate) fn of_job(job: &Job) -> &'static dyn Publication {
    PUBLICATIONS.iter().copied().find(|kind| kind.claims(job)).unwrap_or(&one_table::OneTable)
}

/// The publication a manifest tells of; a table without one is one table.
pub(crate) fn of_manifest(manifest: Option<&Manifest>) -> Result<&'static dyn Publication> {
    let Some(manifest) = manifest else { return Ok(&one_table::OneTable) };
    let found = PUBLICATIONS.iter().copied().find(|kind| kind.name() == manifest.publication);
    found.ok_or_else(|| {
        Error::input(format!(
            "the manifest tells of a publication `{}` this version does not know",
            manifest.publication
        ))
    })
}
