//! The tables an adversary has beside a release, read as far as the attacks need them.

use std::path::Path;

use incrowd_core::{ColumnSpec, Error, Folded, Progress, Result};
use incrowd_engine::FoldSpec;

use crate::case::Case;
use crate::job::Table;
use crate::judging::Judging;
use crate::reading::open;

/// How tables are read.
pub(super) struct Reading<'a> {
    pub(super) case: &'a Case,
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

impl Reading<'_> {
    /// A table of plain values: the quasi-identifiers it has, and those of `also` it has.
    pub(super) fn table(&self, table: &Table, what: &str, also: &[&str]) -> Result<Other> {
        let source = open(table)?;
        let quasi = self.case.reading.quasi_names();
        let has = |name: &&&str| source.columns().iter().any(|column| column == **name);
        if quasi.iter().filter(has).count() == 0 {
            return Err(Error::input(format!("the {what} has none of the quasi-identifiers")).help(format!(
                "columns are joined by name; the quasi-identifiers are {}",
                quasi.join(", ")
            )));
        }
        let columns: Vec<String> =
            quasi.iter().chain(also).filter(has).map(|name| (*name).to_owned()).collect();
        let further = source.columns().len() - columns.len();
        let missing = self.case.reading.missing.clone();
        let table = source.fold(&FoldSpec { columns, missing, ..FoldSpec::default() }, self.progress)?;
        if table.records() == 0 {
            return Err(Error::input(format!("the {what} has no records")));
        }
        Ok(Other { table, further })
    }

    /// Another release. Its roles are those of its own manifest, else those of the first release.
    pub(super) fn second(&self, path: &Path) -> Result<Second> {
        let theirs = Case::open(&Judging::new(path))?;
        let own = &self.case.reading;
        let reading = if theirs.manifest.is_some() { &theirs.reading } else { own };
        let source = crate::reading::open_release(&theirs.judging.release, theirs.manifest.as_ref())?;
        let has = |name: &&str| source.columns().iter().any(|column| column == name);
        let quasi: Vec<&str> = reading.quasi_names().into_iter().filter(has).collect();
        let values = reading.sensitive_names().into_iter().filter(has);
        let columns = quasi.iter().copied().chain(values).map(str::to_owned).collect();
        let mut table = source.fold(&FoldSpec { columns, ..FoldSpec::default() }, self.progress)?;
        if theirs.manifest.as_ref().is_some_and(|manifest| manifest.job.csv_safe) {
            incrowd_engine::read_formulas(&mut table);
        }
        if table.records() == 0 {
            return Err(Error::input("the second release has no records"));
        }
        let spec = |name: &&str| {
            let known = own.quasi.iter().find(|(own, _)| own == name);
            known.map(|(_, spec)| spec.clone()).unwrap_or_default()
        };
        Ok(Second { specs: quasi.iter().map(spec).collect(), table })
    }
}
