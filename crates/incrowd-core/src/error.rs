//! One error type, sorted by who must act.

use std::fmt;

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
    fn suggests_the_near_miss_only() {
        assert_eq!(near_miss("hierachy", ["hierarchy", "role", "kind"]), Some("hierarchy"));
        assert_eq!(near_miss("Age", ["age", "sex"]), Some("age"));
        assert_eq!(near_miss("colour", ["age", "sex"]), None);
    }
}
