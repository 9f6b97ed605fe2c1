//! One error type, sorted by who must act.

use std::fmt;

use crate::number::{parse_date, parse_number};

/// What every fallible function of incrowd returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who must act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The table or a hierarchy file is not what it should be.
    Input,
    /// The job asks for something that has no meaning.
    Job,
    /// The job has a meaning, but no release of this table can keep the promise.
    Unsatisfiable,
    /// Disk, memory or permission.
    Resources,
    /// incrowd itself is wrong; the release is withheld.
    Bug,
}

/// A whole sentence about what went wrong, and if we know it, what would work.
///
/// Messages name columns, rows, files and parameters. They never contain a cell of the table: errors end up in
/// tickets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    fault: Fault,
    message: String,
    help: Option<String>,
    key: Option<String>,
}

impl Error {
    fn new(fault: Fault, message: impl Into<String>) -> Self {
        Error { fault, message: message.into(), help: None, key: None }
    }

    /// The table or a hierarchy file is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Fault::Input, message)
    }

    /// The job is wrong.
    pub fn job(message: impl Into<String>) -> Self {
        Self::new(Fault::Job, message)
    }

    /// No release can keep the promise.
    pub fn unsatisfiable(message: impl Into<String>) -> Self {
        Self::new(Fault::Unsatisfiable, message)
    }

    /// The machine did not allow it.
    pub fn resources(message: impl Into<String>) -> Self {
        Self::new(Fault::Resources, message)
    }

    /// incrowd is wrong.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Fault::Bug, message)
    }

    /// Adds what would work.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the near miss among `known`, or the list of them.
    #[must_use]
    pub fn help_near<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        match near_miss(word, known.iter().copied()) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => self,
            None => self.help(format!("known are: {}", known.join(", "))),
        }
    }

    /// Adds the near miss among the columns of a table, never the list of them. `sure` says that the first line seems to name
    /// columns; else it may be somebody's record, and what looks like a cell is never told.
    #[must_use]
    pub fn help_column<'a>(self, word: &str, columns: impl IntoIterator<Item = &'a str>, sure: bool) -> Self {
        let columns: Vec<&str> = columns.into_iter().collect();
        let names = sure && columns.iter().all(|column| looks_like_a_name(column));
        if let Some(near) = near_miss(word, columns).filter(|_| names) {
            return self.help(format!("did you mean `{near}`?"));
        }
        self.help("the first line of a table names its columns: does the file have a header?")
    }

    /// Says which key of the job file the error is about, for example `columns.zip.hierarchy`.
    #[must_use]
    pub fn at(mut self, key: impl Into<String>) -> Self {
        self.key.get_or_insert_with(|| key.into());
        self
    }

    /// Says in which part of the job file the key lies: `k` within `models.0` is `models.0.k`.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        self.key = Some(self.key.map_or_else(|| part.to_owned(), |key| format!("{part}.{key}")));
        self
    }

    /// Who must act.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What would work.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The key of the job file the error is about.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Whether a text may be the name of a column: no number, no date, one short line.
pub fn looks_like_a_name(text: &str) -> bool {
    text.len() <= 200
        && !text.contains(['\n', '\r'])
        && parse_number(text).is_none()
        && parse_date(text).is_none()
}

/// The word of `known` that `word` was probably meant to be.
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= 1 + candidate.chars().count().min(word.chars().count()) / 4
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_only_if_they_are_no_cells() {
        let help = |columns: &[&str], sure| {
            Error::job("x").help_column("agee", columns.iter().copied(), sure).advice().unwrap().to_owned()
        };
        assert_eq!(help(&["age", "city"], true), "did you mean `age`?");
        assert!(!help(&["size", "city"], true).contains("city"));
        for (columns, sure) in
            [(["age", "city"], false), (["age", "31"], true), (["age", "2021-03-05"], true)]
        {
            assert!(help(&columns, sure).contains("header"), "{columns:?}");
        }
    }

    #[test]
    fn suggests_the_near_miss_only() {
        assert_eq!(near_miss("hierachy", ["hierarchy", "role", "kind"]), Some("hierarchy"));
        assert_eq!(near_miss("Age", ["age", "sex"]), Some("age"));
        assert_eq!(near_miss("colour", ["age", "sex"]), None);
    }
}
