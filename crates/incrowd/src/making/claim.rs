//! The files that a command reads and writes. No output may overwrite an input or another output.

use std::path::{Path, PathBuf};

use incrowd_core::{Error, HierarchySpec, Result};
use incrowd_engine::{FileId, Location, Source, Target};

use crate::job::{ColumnJob, Input, Job};
use crate::judging::request::Judging;
use crate::making::suppression;

/// All files of a command.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    reads: Vec<Location>,
    writes: Vec<Location>,
}

/// Returns whether two locations are one table. Hard links have different canonical paths.
fn is_same(a: &Location, b: &Location) -> bool {
    match (a, b) {
        (Location::File(a), Location::File(b)) => {
            let places = (place(a), place(b));
            (places.0.is_some() && places.0 == places.1)
                || FileId::at(a).is_some_and(|own| FileId::at(b) == Some(own))
        }
        (a, b) => a == b,
    }
}

/// Returns the canonical path.
fn place(path: &Path) -> Option<PathBuf> {
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
        claim.reads_all(&job.file);
        if let Some(asked) = &job.suppression {
            claim.reads_all(suppression::private_files(asked));
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
        match &judging.manifest {
            Some(manifest) => self.reads(manifest),
            None => {
                let files = judging.release.paths.iter().filter(|path| path.file().is_some());
                self.reads_all(files.map(crate::manifest::default_path));
            }
        }
        self.reads_all(&judging.values);
        self.reads_all(&judging.check);
        self.read_columns(&judging.columns);
        judging.original.iter().for_each(|original| self.read_input(original));
        self.read_others(judging.population.iter().flat_map(|population| &population.paths));
        self.read_others(judging.external.iter().flat_map(|external| &external.paths));
        self.reads_all(judging.external.iter().filter_map(|external| external.audit.as_ref()));
    }

    /// Adds a file or a table that is read.
    pub fn reads(&mut self, location: impl Into<Location>) {
        self.reads.push(location.into());
    }

    fn reads_all(&mut self, locations: impl IntoIterator<Item: Into<Location>>) {
        self.reads.extend(locations.into_iter().map(Into::into));
    }

    /// Adds the files of a table that are read. Its paths may be glob patterns.
    pub fn read_input(&mut self, input: &Input) {
        if input.memory.is_none() {
            self.read_others(&input.paths);
        }
    }

    /// Adds tables whose paths may be glob patterns.
    fn read_others<'a>(&mut self, locations: impl IntoIterator<Item = &'a Location>) {
        for location in locations {
            match location {
                Location::File(path) => match Source::matching(std::slice::from_ref(path)) {
                    Ok(files) => self.reads_all(files),
                    Err(_) => self.reads(path),
                },
                other => self.reads(other),
            }
        }
    }

    fn read_columns(&mut self, columns: &[(String, ColumnJob)]) {
        self.reads_all(columns.iter().filter_map(|(_, column)| match &column.spec.hierarchy {
            Some(HierarchySpec::Arx { name, .. }) => Some(PathBuf::from(name)),
            Some(HierarchySpec::Nested(tree)) => Some(PathBuf::from(tree.name())),
            _ => None,
        }));
    }

    /// Claims a file to be written. Fails if it would overwrite an input or another output, or if
    /// the path is not a file. `what` names it in messages, `key` in a job.
    pub fn writes(&mut self, path: &Path, what: &str, key: &str) -> Result<Target> {
        self.takes(&Location::File(path.to_owned()), what, key)?;
        Target::decide(path).map_err(|e| e.at(key))
    }

    /// Claims an output that need not be a file.
    pub(crate) fn takes(&mut self, location: &Location, what: &str, key: &str) -> Result<()> {
        let taken = |others: &[Location]| others.iter().any(|other| is_same(other, location));
        let help = "give it a name of its own";
        if taken(&self.reads) {
            let kind = if let Location::Database(_) = location { "table" } else { "file" };
            return Err(Error::job(format!("{what} would overwrite a {kind} that is read"))
                .help(help)
                .at(key));
        }
        if taken(&self.writes) {
            let message = format!("{what} would overwrite another output of the same run");
            return Err(Error::job(message).help(help).at(key));
        }
        self.writes.push(location.clone());
        Ok(())
    }
}
