//! What somebody wants to have judged: a release, and what is known of how it was made.
//!
//! A [`Job`] says how a release is made; a [`Judging`] says which release is looked at, and beside what. [`verify`](crate::verify()),
//! [`attack`](crate::attack()), [`measure`](crate::measure()) and [`report`](crate::report()) take one.

use std::path::PathBuf;

use incrowd_core::{MissingCells, Value};
use incrowd_engine::ReleasedTable;

use crate::job::{
    Batches, ColumnJob, ExternalJob, Input, Job, ModelJob, OnMissing, PopulationJob, RoleName, Roles, Table,
};
use crate::manifest::Manifest;

/// A release to be judged. What is left empty is asked of the manifest beside the release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judging {
    /// The published table; of a release of two tables the first.
    pub release: Table,
    /// The manifest, if it does not lie beside the release.
    pub manifest: Option<PathBuf>,
    /// The second table of a release whose manifest does not name it: the sensitive values by group.
    pub values: Option<PathBuf>,
    /// The roles of the columns, and the hierarchies they were generalized along.
    pub columns: Vec<(String, ColumnJob)>,
    /// The texts that counted as missing when the release was made.
    pub missing: Option<Vec<String>>,
    /// What became of records with a missing value.
    pub on_missing: Option<OnMissing>,
    /// What a missing cell matches; if nothing is stated, what the manifest says, or missing cells only.
    pub missing_cells: Option<MissingCells>,
    /// The promises to check; if there are none, those of the manifest.
    pub models: Vec<ModelJob>,
    /// The table the release was made from, for its owner.
    pub original: Option<Input>,
    /// The people the table is a sample of.
    pub population: Option<PopulationJob>,
    /// The external table of a k-join-anonymous release, and the private audit table if there is one.
    pub external: Option<ExternalJob>,
    /// The key that the manifest must be signed with.
    pub check: Option<PathBuf>,
    /// The release itself, if it is in memory with its manifest.
    pub held: Option<Held>,
}

/// A release in memory: its tables, in the manifest's order, and what its manifest says.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The tables as they were verified.
    pub tables: Vec<ReleasedTable>,
    /// The manifest.
    pub manifest: Manifest,
}

impl Judging {
    /// Judges the release in this file by what its manifest says.
    pub fn new(release: impl Into<PathBuf>) -> Judging {
        Judging { release: Table::file(release), ..Judging::default() }
    }

    /// Judges the release of a job beside the table it was made from. Promises are those of the job.
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
            held: None,
        }
    }

    /// Judges a release in memory by what its manifest says, with the hierarchies of the job that made it.
    pub fn of_held(held: Held, job: &Job) -> Judging {
        let missing = (Some(job.input.missing.clone()), Some(job.input.on_missing));
        Judging {
            release: Table::file(held.manifest.release.as_str()),
            columns: job.columns.clone(),
            missing: missing.0,
            on_missing: missing.1,
            population: job.population.clone(),
            external: job.external.clone(),
            held: Some(held),
            ..Judging::default()
        }
    }

    /// Judges a table in memory. Its roles and promises must be stated, for it has no manifest beside it.
    pub fn of_batches(release: Batches) -> Judging {
        Judging { release: Table::in_memory(release), ..Judging::default() }
    }

    /// The same with these columns in a role.
    #[must_use]
    pub fn with_role<'a>(mut self, columns: impl IntoIterator<Item = &'a str>, role: RoleName) -> Judging {
        for name in columns {
            match self.columns.iter_mut().find(|(known, _)| known == name) {
                Some((_, column)) => column.role = role,
                None => self.columns.push((name.to_owned(), ColumnJob { role, ..ColumnJob::default() })),
            }
        }
        self
    }

    /// The same with a promise to check; if none is stated, those of the manifest are.
    #[must_use]
    pub fn model<'a>(mut self, name: &str, params: impl IntoIterator<Item = (&'a str, Value)>) -> Judging {
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.models.push(ModelJob { name: name.to_owned(), params });
        self
    }

    /// The same beside the table the release was made from.
    #[must_use]
    pub fn beside(mut self, original: Input) -> Judging {
        self.original = Some(original);
        self
    }

    /// The roles of the columns and how missing values are read.
    pub fn roles(&self) -> Roles {
        let usual = Input::default();
        Roles {
            columns: self.columns.clone(),
            missing: self.missing.clone().unwrap_or(usual.missing),
            on_missing: self.on_missing.unwrap_or_default(),
        }
    }
}
