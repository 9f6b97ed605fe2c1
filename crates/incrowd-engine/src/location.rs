//! Locations of tables, parsed once where a job, a flag or a program states them.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

use crate::database::Address;
use crate::source::Format;
use crate::store::delimiter_of;

/// The location of a table.
///
/// ```
/// use incrowd_engine::Location;
///
/// let people = Location::from("clinic/people.csv");
/// assert_eq!(people.next_to("report.html").to_str(), Some("clinic/people.report.html"));
/// let table = Location::parse("postgresql://host/clinic?table=people").unwrap();
/// assert!(matches!(&table, Location::Database(_)) && table.name() == "people");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// A file. For tables that are read it may also be a directory or a glob pattern.
    File(PathBuf),
    /// A table or a query of a database.
    Database(Address),
    /// A place in a system that writes tables itself, as that system calls it.
    Remote(String),
}

impl Location {
    /// Parses a path or the address of a database. An address with a password is an error.
    pub fn parse(text: impl Into<Location>) -> Result<Location> {
        let location = text.into();
        if let Location::Database(address) = &location {
            address.check()?;
        }
        Ok(location)
    }

    /// The path, if this is the location of files.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Location::File(path) => Some(path),
            _ => None,
        }
    }

    /// The format of a file, by its name.
    pub fn format(&self) -> Result<Format> {
        match self {
            Location::File(path) => Format::of_path(path),
            other => Err(Error::job(format!("`{other}` is not a file"))),
        }
    }

    /// Whether this is a file of delimited text, by its name.
    pub fn is_text(&self) -> bool {
        matches!(self.format(), Ok(Format::Csv(_)))
    }

    /// The delimiter of a text file of this name.
    pub fn delimiter(&self) -> u8 {
        self.file().map_or(b',', delimiter_of)
    }

    /// The name of the table without its directory or database.
    pub fn name(&self) -> String {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        match self {
            Location::File(path) => last(path),
            Location::Database(address) => address.name(),
            Location::Remote(place) => last(Path::new(place)),
        }
        .unwrap_or_default()
    }

    /// The name of a release without the extensions of its format: `people` for
    /// `people.release.csv`.
    pub fn stem(&self) -> String {
        let name = self.name();
        if let Location::Database(_) = self {
            let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
            return name.chars().map(plain).collect();
        }
        let mut stem = name.as_str();
        for extension in [".gz", ".zst"] {
            stem = stem.strip_suffix(extension).unwrap_or(stem);
        }
        stem = stem.rsplit_once('.').map_or(stem, |(before, _)| before);
        stem.strip_suffix(".release").unwrap_or(stem).to_owned()
    }

    /// The path of a file that belongs to a release: `people.report.html` for
    /// `people.release.csv`. For a table of a database, the file is in the working directory.
    pub fn next_to(&self, ending: &str) -> PathBuf {
        let name = format!("{}.{ending}", self.stem());
        match self {
            Location::File(path) => path.with_file_name(name),
            Location::Database(_) => PathBuf::from(name),
            Location::Remote(place) => Path::new(place).with_file_name(name),
        }
    }

    /// The location of a further table of a release: `people.st.csv` for `people.csv`, and the
    /// table `people_st` for `people`.
    #[must_use]
    pub fn with_suffix(&self, suffix: &str) -> Location {
        let name = self.name();
        let (stem, extension) = match self {
            Location::Database(_) => match name.trim_end().strip_suffix('"') {
                Some(stem) => (stem, "\""),
                None => (name.trim_end(), ""),
            },
            _ => name.split_at(
                name.find(".csv").or(name.find(".tsv")).or(name.rfind('.')).unwrap_or(name.len()),
            ),
        };
        let mark = if let Location::Database(_) = self { '_' } else { '.' };
        self.with_name(&format!("{stem}{mark}{suffix}{extension}"))
    }

    /// The location of another table in the same directory or database.
    #[must_use]
    pub fn with_name(&self, name: &str) -> Location {
        match self {
            Location::File(path) => Location::File(path.with_file_name(name)),
            Location::Database(address) => Location::Database(address.with_table(name)),
            Location::Remote(place) => {
                let path = Path::new(place).with_file_name(name);
                Location::Remote(path.to_string_lossy().into_owned())
            }
        }
    }

    /// The location of a table or a query in this database. It is an error if this is not the
    /// address of a database, or if it already states a table or a query.
    pub fn locate(&self, table: Option<&str>, query: Option<&str>) -> Result<Location> {
        match self {
            Location::Database(address) => address.locate(table, query).map(Location::Database),
            _ => Err(Error::job("only a database has tables")
                .help("write postgresql://user@host/database as path")),
        }
    }
}

impl Default for Location {
    fn default() -> Location {
        Location::File(PathBuf::new())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Database(address) => address.fmt(f),
            Location::Remote(place) => place.fmt(f),
        }
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Location {
        match path.to_str().and_then(Address::parse) {
            Some(address) => Location::Database(address),
            None => Location::File(path),
        }
    }
}

/// Conversions by way of a path.
macro_rules! from {
    ($($text:ty),*) => {
        $(impl From<$text> for Location {
            fn from(text: $text) -> Location {
                PathBuf::from(text).into()
            }
        })*
    };
}
from!(&str, &OsStr, &Path, &PathBuf, String, OsString);

impl From<&Location> for Location {
    fn from(location: &Location) -> Location {
        location.clone()
    }
}

/// The location as a path, as a job file states it.
impl From<&Location> for PathBuf {
    fn from(location: &Location) -> PathBuf {
        match location {
            Location::File(path) => path.clone(),
            other => other.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_parsed_once() {
        for file in ["people.csv", "postgres.csv", "a:b@c.csv", "people.csv?table=x", ""] {
            assert_eq!(Location::from(file), Location::File(file.into()));
        }
        let table = "postgresql://h/d?sslmode=require&table=people";
        assert!(matches!(Location::from(table), Location::Database(_)));
        assert_eq!(PathBuf::from(&Location::from(table)), Path::new(table));
        assert!(Location::parse("postgres://me:hunter2@h/d").is_err());
        let error = Location::from("people.csv").locate(None, Some("select 1")).unwrap_err();
        assert_eq!(error.message(), "only a database has tables");
    }

    #[test]
    fn further_tables_are_next_to_the_first() {
        for (first, second) in [
            ("a/people.csv.gz", "a/people.st.csv.gz"),
            ("people.parquet", "people.st.parquet"),
            ("postgresql://h/d?table=care.people", "postgresql://h/d?table=care.people_st"),
            (
                "postgresql:///d?table=%22My%20people%22",
                "postgresql:///d?table=%22My%20people_st%22",
            ),
        ] {
            assert_eq!(Location::from(first).with_suffix("st").to_string(), second);
        }
        let remote = Location::Remote("/data/people".to_owned());
        assert_eq!(remote.with_suffix("st"), Location::Remote("/data/people.st".to_owned()));
        assert_eq!(remote.next_to("release.json"), Path::new("/data/people.release.json"));
    }
}
