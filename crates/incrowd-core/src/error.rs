//! The error type. Errors are classified by who must act.

use std::fmt;

use crate::number::{parse_date, parse_number};

/// The result type of fallible functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause of an error, which determines who must act. See the example of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The table or a hierarchy file is invalid.
    Input,
    /// The job is invalid.
    Job,
    /// The job is valid, but no release of this table can satisfy the privacy models.
    Unsatisfiable,
    /// Disk, memory or permissions.
    Resources,
    /// The caller stopped the work.
    Stopped,
    /// A bug in incrowd; the release is not published.
    Bug,
}

/// An error: a full sentence, and a solution if one is known.
///
/// Messages name columns, rows, files and parameters. They never contain a cell of the table:
/// errors end up in tickets.
///
/// ```
/// use incrowd_core::Fault;
/// use incrowd_core::model::PrivacyModel;
///
/// let error = PrivacyModel::new("l-diversty", []).unwrap_err();
/// assert_eq!(error.fault(), Fault::Job);
/// assert_eq!(error.message(), "there is no model `l-diversty`");
/// assert!(error.advice().unwrap().contains("l-diversity"));
/// ```
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

    /// An invalid table or hierarchy file.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Fault::Input, message)
    }

    /// An invalid job.
    pub fn job(message: impl Into<String>) -> Self {
        Self::new(Fault::Job, message)
    }

    /// No release satisfies the privacy models.
    pub fn unsatisfiable(message: impl Into<String>) -> Self {
        Self::new(Fault::Unsatisfiable, message)
    }

    /// A resource of the machine is not available.
    pub fn resources(message: impl Into<String>) -> Self {
        Self::new(Fault::Resources, message)
    }

    /// The caller stopped the work.
    pub fn stopped() -> Self {
        Self::new(Fault::Stopped, "the work was stopped")
    }

    /// A bug in incrowd.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Fault::Bug, message)
    }

    /// Adds a solution.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the most similar word of `known`, or the list of them.
    #[must_use]
    pub fn help_near<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        match near_miss(word, known.iter().copied()) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => self,
            None => self.help(format!("known names: {}", known.join(", "))),
        }
    }

    /// Adds the most similar column name of a table, never the list of names. `sure`: the first
    /// line of the table seems to contain column names. Otherwise it may be a record, and its texts
    /// must not be printed.
    #[must_use]
    pub fn help_column<'a>(
        self,
        word: &str,
        columns: impl IntoIterator<Item = &'a str>,
        sure: bool,
    ) -> Self {
        let columns: Vec<&str> = columns.into_iter().collect();
        let names = sure && columns.iter().all(|column| looks_like_a_name(column));
        if let Some(near) = near_miss(word, columns).filter(|_| names) {
            return self.help(format!("did you mean `{near}`?"));
        }
        self.help("the first line of a table names its columns: does the file have a header?")
    }

    /// Sets the key of the job file that the error is about, for example `columns.zip.hierarchy`.
    #[must_use]
    pub fn at(mut self, key: impl Into<String>) -> Self {
        self.key.get_or_insert_with(|| key.into());
        self
    }

    /// Prefixes the key with the section of the job file: `k` within `models.0` is `models.0.k`.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        self.key = Some(self.key.map_or_else(|| part.to_owned(), |key| format!("{part}.{key}")));
        self
    }

    /// The cause of the error.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The message, a full sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The solution, if one is known.
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

/// Whether a text may be the name of a column: not a number, not a date, one short line.
pub fn looks_like_a_name(text: &str) -> bool {
    text.len() <= 200
        && !text.contains(['\n', '\r'])
        && parse_number(text).is_none()
        && parse_date(text).is_none()
}

/// The word of `known` that is similar enough to `word` to be a likely correction.
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate)
        })
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
    fn column_names_are_printed_only_if_they_are_not_cells() {
        let help = |columns: &[&str], sure| {
            Error::job("x")
                .help_column("agee", columns.iter().copied(), sure)
                .advice()
                .unwrap()
                .to_owned()
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
