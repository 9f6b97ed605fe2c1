//! The adversary's tables, read as far as the attacks need them.

use incrowd_core::{ColumnSpec, Error, Folded, Progress, Result, SensitiveSpec};
use incrowd_engine::FoldSpec;

use crate::job::Table;
use crate::job::reading::open;
use crate::judging::case::Case;
use crate::judging::request::Judging;
use crate::making::publication::ReleaseTables;

/// Reads the adversary's tables.
pub(super) struct TableReader<'a> {
    pub(super) case: &'a Case,
    pub(super) progress: &'a dyn Progress,
}

/// A table of ungeneralized values.
pub(super) struct Other {
    pub(super) table: Folded,
    /// The number of columns that are not quasi-identifiers of the release.
    pub(super) further: usize,
}

/// A second release.
pub(super) struct Second {
    pub(super) table: Folded,
    pub(super) specs: Vec<ColumnSpec>,
    /// The specifications of its sensitive columns.
    pub(super) sensitive: Vec<(String, SensitiveSpec)>,
    /// The texts that mean a missing value.
    pub(super) missing: Vec<String>,
}

impl Second {
    /// Returns the names of its quasi-identifiers.
    pub(super) fn quasi(&self) -> impl Iterator<Item = &str> {
        self.table.columns[..self.specs.len()].iter().map(|column| column.name.as_str())
    }
}

impl TableReader<'_> {
    /// Reads a table of ungeneralized values: its quasi-identifiers, and its columns among `also`.
    pub(super) fn table(&self, table: &Table, what: &str, also: &[&str]) -> Result<Other> {
        let source = open(table)?;
        let quasi = self.case.reading.quasi_names();
        let has = |name: &&&str| source.columns().iter().any(|column| column == **name);
        if quasi.iter().filter(has).count() == 0 {
            return Err(Error::input(format!("the {what} has none of the quasi-identifiers"))
                .help(format!(
                    "columns are joined by name; the quasi-identifiers are {}",
                    quasi.join(", ")
                )));
        }
        let mut columns: Vec<String> =
            quasi.iter().filter(has).map(|name| (*name).to_owned()).collect();
        let further = source.columns().len() - columns.len();
        for name in also.iter().filter(has) {
            if !columns.iter().any(|known| known == name) {
                columns.push((*name).to_owned());
            }
        }
        let missing = self.case.reading.missing.clone();
        let table =
            source.fold(&FoldSpec { columns, missing, ..FoldSpec::default() }, self.progress)?;
        if table.records() == 0 {
            return Err(Error::input(format!("the {what} has no records")));
        }
        Ok(Other { table, further })
    }

    /// Reads a second release. Its roles are those of its own manifest, otherwise those of the
    /// first release. `people` is set if people are looked up in it; otherwise it is only compared
    /// with the first release.
    pub(super) fn second(&self, judging: &Judging, people: bool) -> Result<Second> {
        let theirs = Case::open(judging)?;
        theirs.need_ranges()?;
        let own = &self.case.reading;
        let stated = theirs.manifest.is_some() || !theirs.reading.quasi.is_empty();
        let reading = if stated { &theirs.reading } else { own };
        let tables = theirs.release_tables();
        let first = tables.first()?;
        let published = tables.columns(first)?;
        // A range may be published as two columns with its bounds.
        let written = theirs.manifest.as_ref().and_then(|manifest| manifest.job.written.as_ref());
        let ends = |name: &&str| {
            written.is_some_and(|written| written.low_high.iter().any(|own| own == name))
        };
        let has = |name: &&str| ends(name) || published.iter().any(|column| column == name);
        let quasi: Vec<&str> = reading.quasi_names().into_iter().filter(has).collect();
        let values = reading.sensitive_names().into_iter().filter(has);
        let columns: Vec<String> = quasi.iter().copied().chain(values).map(str::to_owned).collect();
        let table = tables.read(first, &columns, self.progress)?.folded;
        if table.records() == 0 {
            return Err(Error::input("the second release has no records"));
        }
        let spec = |name: &&str| {
            let of = |reading: &crate::job::reading::Reading| {
                reading.quasi.iter().find(|(known, _)| known == name).map(|(_, spec)| spec.clone())
            };
            match (of(&theirs.reading), of(own)) {
                (Some(theirs), _) if theirs.hierarchy.is_some() => theirs,
                (theirs, own) => own.or(theirs).unwrap_or_default(),
            }
        };
        let specs: Vec<ColumnSpec> = quasi.iter().map(spec).collect();
        let needed = |name: &str| people || own.quasi_names().contains(&name);
        for (name, spec) in quasi.iter().zip(&specs).filter(|(name, _)| needed(name)) {
            let made = theirs.manifest.as_ref().and_then(|manifest| manifest.job.columns.get(name));
            if let (Some(hierarchy), None) =
                (made.and_then(|column| column.hierarchy.as_ref()), &spec.hierarchy)
            {
                return Err(Error::job(format!(
                    "column `{name}` of the second release was generalized along a hierarchy \
                     ({hierarchy}), which is needed to read its cells"
                ))
                .help(
                    "give it as `[columns] hierarchy`, or all of them as `[input] hierarchies`",
                ));
            }
        }
        let (sensitive, missing) = (reading.sensitive.clone(), reading.missing.clone());
        Ok(Second { specs, table, sensitive, missing })
    }
}
