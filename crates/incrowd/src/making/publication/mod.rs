//! Kinds of publications: one table, two linked tables (Anatomy), two joined tables
//! (k-join-anonymity).
//!
//! A publication defines its tables and how they are made, staged, read back, verified, measured
//! and attacked. All other code calls the trait and never tests for a concrete kind. A new kind is
//! one module and one line in [`PUBLICATIONS`].

pub(crate) mod anatomy;
pub(crate) mod joined;
pub(crate) mod one_table;
mod plain;
mod release_tables;

use std::fmt::Debug;

use incrowd_audit::attack::Adversary;
use incrowd_audit::joined::Failure;
use incrowd_audit::{Verification, tally, utility};
use incrowd_core::dataset::Quasi;
use incrowd_core::metric::Tally;
use incrowd_core::model::PrivacyModel;
use incrowd_core::text::Block;
use incrowd_core::{ColumnSpec, Dataset, Error, Folded, MissingCells, Progress, Result};
use incrowd_engine::{Engine, ExaminedColumns, Location, RecordValues};

pub use release_tables::TableContent;
pub(crate) use release_tables::{PublishedTables, ReleaseTables, StagedTables};

use crate::job::Job;
use crate::job::reading::Reading;
use crate::judging::case::Case;
use crate::judging::from_original::FromOriginal;
use crate::judging::measure::{Measured, Measuring};
use crate::judging::request::Judging;
use crate::making::checked::CheckedJob;
use crate::making::make::{Made, Material};
use crate::making::pipeline::Report;
use crate::making::release::Verified;
use crate::making::suppression::{Keys, SuppressionReport};
use crate::manifest::Manifest;
use crate::reporting::summary;

/// Every kind of publication. A job gets the first one that claims it.
pub(crate) const PUBLICATIONS: &[&dyn Publication] =
    &[&joined::Joined, &anatomy::Anatomy, &one_table::OneTable];

/// A table of a publication and its location.
#[derive(Clone, Debug)]
pub(crate) struct TablePlace {
    pub(crate) path: Location,
    /// The job key of the path.
    pub(crate) key: &'static str,
    /// The name of the table in messages.
    pub(crate) what: &'static str,
    /// Whether it may be published. A private table is published at the same moment, to the owner's
    /// path only, and is not listed in the manifest.
    pub(crate) public: bool,
    /// The columns of a private table. No manifest has its digest, so an older one at the same path
    /// is recognized by its columns.
    pub(crate) columns: &'static [&'static str],
}

/// The tables of a release, read back from the published bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// Quasi-identifiers first; then the sensitive columns, or the group label that links the other
    /// table.
    pub(crate) people: Folded,
    /// The number of quasi-identifiers.
    pub(crate) quasi: usize,
    /// The table of sensitive values, if it is separate: the group label, then the values.
    pub(crate) values: Option<Folded>,
    /// The files, in the order of the publication's tables.
    pub(crate) files: Vec<ReadFile>,
    /// The unmodified columns of the first table.
    pub(crate) record_values: RecordValues,
}

impl Tables {
    /// Returns the table that contains the sensitive values.
    pub(crate) fn with_values(&self) -> &Folded {
        self.values.as_ref().unwrap_or(&self.people)
    }

    /// Returns the digest of the first table.
    pub(crate) fn digest(&self) -> &str {
        self.files.first().map_or("", |file| &file.digest)
    }
}

/// A file of a release that was read back.
#[derive(Clone, Debug)]
pub(crate) struct ReadFile {
    pub(crate) content: TableContent,
    pub(crate) records: u64,
    pub(crate) digest: String,
    pub(crate) columns: Vec<String>,
}

/// Tables that some models need for verification.
#[derive(Clone, Copy, Default)]
pub(crate) struct References<'a> {
    /// The population from which the table is a sample.
    pub(crate) population: Option<&'a Folded>,
    /// The original table.
    pub(crate) original: Option<&'a Dataset>,
}

/// Models to verify on a published table.
pub(crate) struct Asked<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) privacy_models: &'a [PrivacyModel],
    /// Whether the caller stated the models. Otherwise they come from the job or the manifest of
    /// the release.
    pub(crate) stated: bool,
    /// The values that a missing cell matches.
    pub(crate) missing_cells: MissingCells,
    pub(crate) references: References<'a>,
}

/// The result of verifying the tables of a release.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// The result for every model.
    pub(crate) verification: Verification,
    /// The results on the groups of sensitive values, if these have groups of their own.
    pub(crate) on_values: Option<Verification>,
    /// The names of the publication's rules that were checked, if it has any.
    pub(crate) rules: Option<&'static str>,
    /// The violated rules.
    pub(crate) failures: Vec<Failure>,
}

impl Judged {
    /// Returns the first violated rule or model, in words.
    pub(crate) fn broken(&self) -> Option<String> {
        let on_values = self.on_values.iter().flat_map(|v| &v.judgements).filter(|j| !j.unknown);
        let own = self.verification.judgements.iter();
        let failure = self.failures.first().map(ToString::to_string);
        failure.or_else(|| own.chain(on_values).find(|j| !j.holds).map(|j| j.title.clone()))
    }
}

/// The tables that adversaries attack.
pub(crate) struct Views {
    /// The table in which persons are looked up, and the column specifications of its
    /// quasi-identifiers.
    pub(crate) people: Folded,
    pub(crate) quasi: Vec<ColumnSpec>,
    /// The table in which values are looked up, if it is another one.
    pub(crate) values: Option<(Folded, Vec<ColumnSpec>)>,
    /// The unmodified columns of the first table.
    pub(crate) record_values: RecordValues,
}

/// One kind of publication.
pub(crate) trait Publication: Debug + Sync {
    /// Returns its name in a manifest.
    fn name(&self) -> &'static str;

    /// Returns how its tables are related, which decides which utility measures apply.
    fn layout(&self) -> utility::Layout;

    /// Returns whether a published record has its quasi-identifiers and its sensitive values in the
    /// same table. Such a release can be made in parts, and made again from the original by its
    /// manifest alone.
    fn has_whole_records(&self) -> bool {
        self.layout() == utility::Layout::OneTable
    }

    /// Returns the first lines of the summary of a release: its tables.
    fn headline(&self, report: &Report) -> Vec<Block> {
        summary::of_one_table(report)
    }

    /// Returns whether ranges and sets can be published in other forms than labels.
    fn shapes(&self) -> bool {
        false
    }

    /// Returns whether a job asks for this kind.
    fn claims(&self, job: &Job) -> bool;

    /// Adapts a job to this kind of publication. Returns warnings.
    fn prepare(&self, job: &mut Job, columns: &[String]) -> Result<Vec<String>> {
        let _ = (job, columns);
        Ok(Vec::new())
    }

    /// Returns its name if it assumes one record per person.
    fn one_record_each(&self) -> Option<&'static str> {
        None
    }

    /// Refuses jobs that cannot be published this way.
    fn check(&self, job: &CheckedJob) -> Result<()> {
        let _ = job;
        Ok(())
    }

    /// Returns the tables of a release whose first table has the path `release`.
    fn tables(&self, job: &CheckedJob, release: &Location) -> Result<Vec<TablePlace>>;

    /// Reads the input of the release.
    fn gather<'e>(
        &self,
        engine: &'e mut dyn Engine,
        keys: &'e dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'e>>;

    /// Makes the release in memory. It accesses no file and no clock.
    fn make(
        &self,
        material: Material<'_>,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Made>;

    /// Adapts the request to the tables of this publication.
    fn arrange(&self, judging: &mut Judging) -> Result<()> {
        let _ = judging;
        Ok(())
    }

    /// Reads its tables back; the sensitive columns only if `with_sensitive` is set. If the first
    /// table contains the sensitive values, the columns `examined` are read record by record.
    fn read_back(
        &self,
        reading: &Reading,
        release: &dyn ReleaseTables,
        with_sensitive: bool,
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<Tables>;

    /// Computes the information loss of the cells on these domains.
    fn tally(&self, tables: &Tables, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
        tally(&tables.people, domains, suppressed)
    }

    /// Verifies the tables: the rules of the publication and every model.
    fn judge(&self, tables: Tables, asked: &Asked<'_>, progress: &dyn Progress) -> Result<Judged>;

    /// Adds the consequences of a suppression step for this publication.
    fn advise(&self, step: &mut SuppressionReport) {
        let _ = step;
    }

    /// Returns the error about a new release that violates a model.
    fn broken(&self, job: &CheckedJob, privacy_model: &str) -> Error {
        let _ = job;
        Error::bug(format!("the release does not keep {privacy_model}: it was not published"))
    }

    /// Adds the entries of this publication to a manifest.
    fn describe(&self, manifest: &mut Manifest, job: &CheckedJob, verified: &Verified) {
        let _ = (manifest, job, verified);
    }

    /// Checks whether the release can come from the original table of the case. `None` if there is
    /// no original or nothing to check.
    fn compare_with_original(
        &self,
        case: &Case,
        tables: &Tables,
        progress: &dyn Progress,
    ) -> Result<Option<FromOriginal>>;

    /// Measures the information loss against the original.
    fn measure(&self, measuring: &mut Measuring<'_>, progress: &dyn Progress) -> Result<Measured>;

    /// Returns the tables that adversaries attack.
    fn views(&self, case: &Case, progress: &dyn Progress) -> Result<Views>;

    /// Adds the background knowledge that is specific to this publication.
    fn inform<'a>(&self, case: &Case, views: &'a Views, adversary: &mut Adversary<'a>) {
        let _ = (case, views, adversary);
    }
}

/// Returns the publication that a job asks for.
pub(crate) fn of_job(job: &Job) -> &'static dyn Publication {
    PUBLICATIONS.iter().copied().find(|kind| kind.claims(job)).unwrap_or(&one_table::OneTable)
}

/// Returns the publication that a manifest names; without a manifest, one table.
pub(crate) fn of_manifest(manifest: Option<&Manifest>) -> Result<&'static dyn Publication> {
    let Some(manifest) = manifest else { return Ok(&one_table::OneTable) };
    let found = PUBLICATIONS.iter().copied().find(|kind| kind.name() == manifest.publication);
    found.ok_or_else(|| {
        Error::input(format!(
            "the manifest names a publication `{}` that this version does not know",
            manifest.publication
        ))
    })
}
