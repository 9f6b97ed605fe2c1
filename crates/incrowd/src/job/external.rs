//! The section `[external]`: a table of further people, for k-join-anonymity.

use std::path::PathBuf;

use super::{Batches, Location, Table};

/// The external table and its treatment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalJob {
    /// The locations of the files, which may be glob patterns, or of tables of a database.
    pub paths: Vec<Location>,
    /// The table in memory, if it is not in files.
    pub memory: Option<Batches>,
    /// The column that identifies a person, in both tables.
    pub id: String,
    /// The grouping method of the join.
    pub method: JoinMethod,
    /// The values that are used if the tables disagree about a person.
    pub on_conflict: OnConflict,
    /// Whether surplus external people are removed.
    pub trim: Trim,
    /// The location of the release's second table, with the sensitive values. `None`: next to the
    /// first.
    pub sensitive: Option<Location>,
    /// The path of the private audit table, if one is wanted.
    pub audit: Option<PathBuf>,
}

impl ExternalJob {
    /// Returns the external table as a table.
    pub fn table(&self) -> Table {
        Table { paths: self.paths.clone(), memory: self.memory.clone(), ..Table::default() }
    }

    /// Returns whether there is a table.
    pub fn is_given(&self) -> bool {
        !self.paths.is_empty() || self.memory.is_some()
    }
}

/// The grouping method of the join of microdata and external table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinMethod {
    /// All people at once.
    Direct,
    /// The microdata first, then each group with the external people in its box.
    #[default]
    Refinement,
}

impl JoinMethod {
    /// The names in a job file.
    pub const ALL: [(&'static str, JoinMethod); 2] =
        [("direct", JoinMethod::Direct), ("refinement", JoinMethod::Refinement)];
}

/// The values that are used if the tables disagree about a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Those of the microdata.
    #[default]
    Microdata,
    /// Those of the external table.
    External,
    /// A disagreement is an error.
    Error,
}

impl OnConflict {
    /// The names in a job file.
    pub const ALL: [(&'static str, OnConflict); 3] = [
        ("table", OnConflict::Microdata),
        ("external", OnConflict::External),
        ("error", OnConflict::Error),
    ];
}

/// Whether surplus external people are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trim {
    /// They are kept.
    #[default]
    Off,
    /// They are removed where that shrinks a box most.
    Greedy,
}

impl Trim {
    /// The names in a job file.
    pub const ALL: [(&'static str, Trim); 2] = [("off", Trim::Off), ("greedy", Trim::Greedy)];
}
