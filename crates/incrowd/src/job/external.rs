//! The table `[external]`: people of another table, for k-join-anonymity.

use std::path::{Path, PathBuf};

use incrowd_core::Error;

use super::files;
use super::reader::{Read, Table};
use super::sections::paths;

/// Whose people stand beside those of the table, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalJob {
    /// The files, which may be patterns.
    pub paths: Vec<PathBuf>,
    /// The column that names a person, in both tables.
    pub id: String,
    /// How the join is grouped.
    pub method: JoinMethod,
    /// Which values count if the tables do not agree about a person.
    pub on_conflict: OnConflict,
    /// Whether surplus external people are left out.
    pub trim: Trim,
    /// The second table of the release, with the sensitive values, if not beside the first.
    pub sensitive: Option<PathBuf>,
    /// Where the private audit table goes, if one is wanted.
    pub audit: Option<PathBuf>,
}

/// How the join of microdata and external table is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinMethod {
    /// As it is.
    Direct,
    /// The microdata first, then each group among the external people in its box.
    #[default]
    Refinement,
}

impl JoinMethod {
    /// The names in a job file.
    pub const ALL: [(&'static str, JoinMethod); 2] =
        [("direct", JoinMethod::Direct), ("refinement", JoinMethod::Refinement)];
}

/// Which values count if the tables do not agree about a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Those of the microdata.
    #[default]
    Microdata,
    /// Those of the external table.
    External,
    /// It is an error.
    Error,
}

impl OnConflict {
    /// The names in a job file.
    pub const ALL: [(&'static str, OnConflict); 3] =
        [("mt", OnConflict::Microdata), ("pd", OnConflict::External), ("error", OnConflict::Error)];
}

/// Whether surplus external people are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trim {
    /// They stay.
    #[default]
    Off,
    /// They leave where that makes a box shrink most.
    Greedy,
}

impl Trim {
    /// The names in a job file.
    pub const ALL: [(&'static str, Trim); 2] = [("off", Trim::Off), ("greedy", Trim::Greedy)];
}

/// Reads the table.
pub(super) fn external(table: &Table<'_>, base: &Path) -> Read<ExternalJob> {
    table.only(&["path", "id", "method", "on_conflict", "trim", "sensitive", "audit"])?;
    let mut external = ExternalJob {
        paths: paths(table.need("path", "path = \"voters.csv\"")?, base)?,
        id: table
            .need("id", "id = \"ssn\", the column that names a person in both tables")?
            .text()?
            .to_owned(),
        ..ExternalJob::default()
    };
    if external.id.is_empty() {
        let entry = table.need("id", "id = \"ssn\"")?;
        return Err(entry.refuse(Error::job("`id` names no column")));
    }
    if let Some(entry) = table.get("method") {
        external.method = entry.choice(&JoinMethod::ALL)?;
    }
    if let Some(entry) = table.get("on_conflict") {
        external.on_conflict = entry.choice(&OnConflict::ALL)?;
    }
    if let Some(entry) = table.get("trim") {
        external.trim = entry.choice(&Trim::ALL)?;
    }
    external.sensitive = table.get("sensitive").map(|entry| files::path(entry, base)).transpose()?;
    external.audit = table.get("audit").map(|entry| files::path(entry, base)).transpose()?;
    Ok(external)
}
