//! The tables an adversary has, read as far as the attacks need them.

use std::path::{Path, PathBuf};

use incrowd_core::{ColumnSpec, Error, Folded, Progress, Result};
use incrowd_engine::{Embedded, Engine, FoldSpec, Options};

use crate::job::{Job, RoleName};
use crate::release::delimiter;
use crate::setup;
use crate::verify::{manifest_of, named, with_manifest};

/// How tables are read.
pub(super) struct Reading<'a> {
    pub(super) job: &'a Job,
    pub(super) progress: &'a dyn Progress,
}

/// A table of plain values.
pub(super) struct Other {
    pub(super) table: Folded,
    /// How many columns it has beside those that were read.
    pub(super) further: usize,
}

/// Another release.
pub(super) struct Second {
    pub(super) table: Folded,
    pub(super) specs: Vec<ColumnSpec>,
}

/// How the cells of a quasi-identifier are to be read.
pub(super) fn spec_of(job: &Job, name: &str) -> ColumnSpec {
    job.columns.iter().find(|(n, _)| n == name).map(|(_, column)| column.spec.clone()).unwrap_or_default()
}

impl Reading<'_> {
    /// The release: texts only, nothing counts as missing.
    pub(super) fn release(
        &self,
        path: &Path,
        quasi: &[&str],
        sensitive: &[&str],
        ours: bool,
    ) -> Result<Folded> {
        let mut options = setup::options(&self.job.input)?;
        if ours && options.delimiter.is_none() {
            // What incrowd wrote need not be sniffed.
            options.delimiter = Some(delimiter(path));
        }
        let mut engine = Embedded::open(&[path.to_owned()], &options)?;
        self.published(&mut engine, quasi.iter().chain(sensitive).copied())
    }

    pub(super) fn published<'b>(
        &self,
        engine: &mut Embedded,
        columns: impl Iterator<Item = &'b str>,
    ) -> Result<Folded> {
        let columns = columns.map(str::to_owned).collect();
        let folded = engine.fold(&FoldSpec { columns, ..FoldSpec::default() }, self.progress)?;
        if folded.records() == 0 { Err(Error::input("the release has no records")) } else { Ok(folded) }
    }

    /// A table of plain values: the quasi-identifiers it has, and those of `also` it has.
    pub(super) fn table(
        &self,
        paths: &[PathBuf],
        what: &str,
        quasi: &[&str],
        also: &[&str],
    ) -> Result<Other> {
        let mut engine = Embedded::open(paths, &Options::default())?;
        let known = engine.columns().to_vec();
        let has = |name: &&&str| known.iter().any(|column| column == **name);
        if quasi.iter().filter(has).count() == 0 {
            return Err(Error::input(format!("the {what} has none of the quasi-identifiers")).help(format!(
                "columns are joined by name; the quasi-identifiers are {}",
                quasi.join(", ")
            )));
        }
        let columns: Vec<String> =
            quasi.iter().chain(also).filter(has).map(|name| (*name).to_owned()).collect();
        let further = known.len() - columns.len();
        let spec = FoldSpec { columns, missing: self.job.input.missing.clone(), ..FoldSpec::default() };
        let table = engine.fold(&spec, self.progress)?;
        if table.records() == 0 {
            return Err(Error::input(format!("the {what} has no records")));
        }
        Ok(Other { table, further })
    }

    /// Another release. Its roles are those of its own manifest, else those of the first release.
    pub(super) fn second(&self, path: &Path, quasi: &[&str], sensitive: &[&str]) -> Result<Second> {
        let manifest = manifest_of(path, &Job::default())?;
        let delimiter = manifest.is_some().then(|| delimiter(path));
        let options = Options { delimiter, ..Options::default() };
        let mut engine = Embedded::open(&[path.to_owned()], &options)?;
        let known = engine.columns().to_vec();
        let own = manifest.map(|manifest| with_manifest(&Job::default(), &manifest)).transpose()?;
        let (theirs, private) = match &own {
            Some(job) => (named(job, RoleName::Quasi), named(job, RoleName::Sensitive)),
            None => (quasi.to_vec(), sensitive.to_vec()),
        };
        let has = |name: &&str| known.iter().any(|column| column == name);
        let theirs: Vec<&str> = theirs.into_iter().filter(has).collect();
        let private: Vec<&str> = private.into_iter().filter(has).collect();
        let table = self.published(&mut engine, theirs.iter().chain(&private).copied())?;
        Ok(Second { table, specs: theirs.iter().map(|name| spec_of(self.job, name)).collect() })
    }
}
