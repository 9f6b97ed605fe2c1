//! The table `[external]`: people of another table, for k-join-anonymity.

use std::path::PathBuf;

use super::{Batches, Table};

/// Whose people stand beside those of the table, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalJob {
    /// The files, which may be patterns.
    pub paths: Vec<PathBuf>,
    /// The table itself, if it is in memory and not in files.
    pub memory: Option<Batches>,
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

impl ExternalJob {
    /// The table alone.
    pub fn table(&self) -> Table {
        Table { paths: self.paths.clone(), memory: self.memory.clone(), ..Table::default() }
    }

    /// Whether there is a table.
    pub fn is_given(&self) -> bool {
        !self.paths.is_empty() || self.memory.is_some()
    }
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
        [("table", OnConflict::Microdata), ("external", OnConflict::External), ("error", OnConflict::Error)];
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
