//! A request to judge a published release.
//!
//! A [`Job`] describes how a release is made. A [`Judging`] describes which release is examined,
//! and with which references.

use std::path::PathBuf;

use incrowd_core::model::Stated;
use incrowd_core::{MissingCells, Value};
use incrowd_engine::{Location, ReleasedTable};

use crate::job::{
    Batches, ColumnJob, ExternalJob, Input, Job, ModelJob, OnMissing, PopulationJob, RoleName,
    Roles, Table,
};
use crate::manifest::Manifest;

/// A release to be judged. Empty fields are filled in from the manifest.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::{Anonymizer, AttackRequest, Job, Judging};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-judging-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// # let release = dir.join("patients.release.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let job = Job::of_file(&people)
///     .quasi(["age", "zip"])
///     .sensitive(["disease"])
///     .k(3)
///     .output(&release);
/// Anonymizer::new(&job).run()?;
///
/// // A recipient has the release and its manifest.
/// let checked = Judging::new(&release).verify()?;
/// assert!(checked.holds());
/// let attacks = Judging::new(&release).attack(&AttackRequest::default())?;
/// assert!(!attacks.attacked.is_empty());
///
/// // The data owner also has the original.
/// let measured = Judging::of(&job).measure(None)?;
/// assert!(measured.metrics().ncp() < 1.0);
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judging {
    /// The published table; the first one of a release with two tables.
    pub release: Table,
    /// The path of the manifest. `None`: next to the release.
    pub manifest: Option<PathBuf>,
    /// The second table of a release without a manifest: the sensitive values by group.
    pub values: Option<Location>,
    /// The roles of the columns and their hierarchies.
    pub columns: Vec<(String, ColumnJob)>,
    /// The texts that counted as missing when the release was made.
    pub missing: Option<Vec<String>>,
    /// The treatment of records with a missing value.
    pub on_missing: Option<OnMissing>,
    /// The values that a missing cell matches. `None`: as in the manifest; without a manifest,
    /// missing cells only.
    pub missing_cells: Option<MissingCells>,
    /// The models to verify. Empty: those of the manifest.
    pub models: Vec<ModelJob>,
    /// The original table, for the data owner.
    pub original: Option<Input>,
    /// The population from which the table is a sample.
    pub population: Option<PopulationJob>,
    /// The external table of a k-join-anonymous release, and the private audit table if available.
    pub external: Option<ExternalJob>,
    /// The key with which the manifest must be signed.
    pub check: Option<PathBuf>,
    /// The release, if it is in memory with its manifest.
    pub in_memory: Option<MemoryRelease>,
}

/// A release in memory: its manifest, and its tables in the manifest's order.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRelease {
    /// The verified tables.
    pub tables: Vec<ReleasedTable>,
    /// The manifest.
    pub manifest: Manifest,
}

impl Judging {
    /// Judges the release in this file with its manifest.
    pub fn new(release: impl Into<Location>) -> Judging {
        Judging { release: Table::file(release), ..Judging::default() }
    }

    /// Judges the release of a job with the job's models and its original table.
    pub fn of(job: &Job) -> Judging {
        let output = job.output.clone().unwrap_or_default();
        Judging {
            release: Table::file(output.path),
            manifest: output.manifest,
            values: None,
            columns: job.columns.clone(),
            missing: Some(job.input.missing.clone()),
            on_missing: Some(job.input.on_missing),
            missing_cells: Some(job.algorithm.missing_cells),
            models: job.models.clone(),
            original: Some(job.input.clone()),
            population: job.population.clone(),
            external: job.external.clone(),
            check: None,
            in_memory: None,
        }
    }

    /// Judges a release in memory with its manifest and the hierarchies of the job that made it.
    pub fn of_memory(release: MemoryRelease, job: &Job) -> Judging {
        let missing = (Some(job.input.missing.clone()), Some(job.input.on_missing));
        Judging {
            release: Table::file(release.manifest.release.as_str()),
            columns: job.columns.clone(),
            missing: missing.0,
            on_missing: missing.1,
            population: job.population.clone(),
            external: job.external.clone(),
            in_memory: Some(release),
            ..Judging::default()
        }
    }

    /// Judges a table in memory. It has no manifest, so roles and models must be given.
    pub fn of_batches(release: Batches) -> Judging {
        Judging { release: Table::in_memory(release), ..Judging::default() }
    }

    /// Gives these columns a role.
    #[must_use]
    pub fn with_role<'a>(
        mut self,
        columns: impl IntoIterator<Item = &'a str>,
        role: RoleName,
    ) -> Judging {
        for name in columns {
            match self.columns.iter_mut().find(|(known, _)| known == name) {
                Some((_, column)) => column.role = role,
                None => {
                    self.columns.push((name.to_owned(), ColumnJob { role, ..ColumnJob::default() }))
                }
            }
        }
        self
    }

    /// Adds a model to verify; [`model`](incrowd_core::model) has a function for each. Without any,
    /// the models of the manifest are verified.
    #[must_use]
    pub fn with_model(mut self, model: Stated) -> Judging {
        self.models.push(model.into());
        self
    }

    /// Adds a model to verify by its name.
    #[must_use]
    pub fn model<'a>(
        mut self,
        name: &str,
        params: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Judging {
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.models.push(ModelJob { name: name.to_owned(), params });
        self
    }

    /// Sets the original table.
    #[must_use]
    pub fn with_original(mut self, original: Input) -> Judging {
        self.original = Some(original);
        self
    }

    /// Returns the roles of the columns and the treatment of missing values.
    pub fn roles(&self) -> Roles {
        let usual = Input::default();
        Roles {
            columns: self.columns.clone(),
            missing: self.missing.clone().unwrap_or(usual.missing),
            on_missing: self.on_missing.unwrap_or_default(),
        }
    }
}
