//! The files that a command reads and writes. No output may overwrite an input or another output.

use std::path::{Path, PathBuf};

use incrowd_core::{Error, HierarchySpec, Result};
use incrowd_engine::{FileId, Source, Target, is_database, is_remote};

use crate::job::{ColumnJob, Input, Job};
use crate::judging::request::Judging;
use crate::making::suppression;

/// All files of a command.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
}

/// Returns whether two paths are one file. Hard links have different canonical paths.
fn is_same(a: &Path, b: &Path) -> bool {
    let (place_a, place_b) = (place(a), place(b));
    if place_a.is_some() && place_a == place_b {
        return true;
    }
    let id =
        |path: &Path| if is_database(path) || is_remote(path) { None } else { FileId::at(path) };
    id(a).is_some_and(|own| id(b) == Some(own))
}

/// Returns the canonical path.
fn place(path: &Path) -> Option<PathBuf> {
    if is_database(path) || is_remote(path) {
        return Some(path.to_owned());
    }
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    // A file that does not exist yet: its directory is made canonical.
    let absolute = std::path::absolute(path).ok()?;
    match (absolute.parent().and_then(|p| p.canonicalize().ok()), absolute.file_name()) {
        (Some(directory), Some(name)) => Some(directory.join(name)),
        _ => Some(absolute),
    }
}

impl Claim {
    /// Returns the files that making a release of a job reads.
    pub fn of_job(job: &Job) -> Claim {
        let mut claim = Claim::default();
        claim.read_input(&job.input);
        claim.read_columns(&job.columns);
        claim.read_others(job.population.iter().flat_map(|population| &population.paths));
        claim.read_others(job.external.iter().flat_map(|external| &external.paths));
        claim.reads.extend(job.file.clone());
        if let Some(asked) = &job.suppression {
            claim.reads.extend(suppression::private_files(asked));
        }
        claim
    }

    /// Returns the files that judging a release reads.
    pub fn of_judging(judging: &Judging) -> Claim {
        let mut claim = Claim::default();
        claim.judges(judging);
        claim
    }

    /// Adds the files that judging a release reads.
    pub fn judges(&mut self, judging: &Judging) {
        self.read_others(&judging.release.paths);
        let files = judging.release.paths.iter().filter(|path| !is_database(path));
        let beside = files.map(|path| crate::manifest::default_path(path));
        self.reads
            .extend(judging.manifest.clone().map_or_else(|| beside.collect(), |path| vec![path]));
        self.reads.extend(judging.values.clone());
        self.reads.extend(judging.check.clone());
        self.read_columns(&judging.columns);
        judging.original.iter().for_each(|original| self.read_input(original));
        self.read_others(judging.population.iter().flat_map(|population| &population.paths));
        self.read_others(judging.external.iter().flat_map(|external| &external.paths));
        self.reads.extend(judging.external.iter().filter_map(|external| external.audit.clone()));
    }

    /// Adds a file that is read.
    pub fn reads(&mut self, path: impl Into<PathBuf>) {
        self.reads.push(path.into());
    }

    /// Adds the files of a table that are read. Its paths may be glob patterns.
    pub fn read_input(&mut self, input: &Input) {
        if input.memory.is_none() {
            self.read_others(&input.paths);
        }
    }

    /// Adds tables whose paths may be glob patterns.
    fn read_others<'a>(&mut self, paths: impl IntoIterator<Item = &'a PathBuf>) {
        for path in paths {
            match Source::matching(std::slice::from_ref(path)) {
                Ok(files) => self.reads.extend(files),
                Err(_) => self.reads.push(path.clone()),
            }
        }
    }

    fn read_columns(&mut self, columns: &[(String, ColumnJob)]) {
        self.reads.extend(columns.iter().filter_map(|(_, column)| match &column.spec.hierarchy {
            Some(HierarchySpec::Arx { name, .. }) => Some(PathBuf::from(name)),
            Some(HierarchySpec::Nested(tree)) => Some(PathBuf::from(tree.name())),
            _ => None,
        }));
    }

    /// Claims a file to be written. Fails if it would overwrite an input or another output, or if
    /// the path is not a file. `what` names it in messages, `key` in a job.
    pub fn writes(&mut self, path: &Path, what: &str, key: &str) -> Result<Target> {
        self.takes(path, what, key)?;
        Target::decide(path).map_err(|e| e.at(key))
    }

    /// Claims an output that need not be a file.
    pub(crate) fn takes(&mut self, path: &Path, what: &str, key: &str) -> Result<()> {
        let taken = |others: &[PathBuf]| others.iter().any(|other| is_same(other, path));
        let help = "give it a name of its own";
        if taken(&self.reads) {
            let kind = if is_database(path) { "table" } else { "file" };
            return Err(Error::job(format!("{what} would overwrite a {kind} that is read"))
                .help(help)
                .at(key));
        }
        if taken(&self.writes) {
            let message = format!("{what} would overwrite another output of the same run");
            return Err(Error::job(message).help(help).at(key));
        }
        self.writes.push(path.to_owned());
        Ok(())
    }
}
