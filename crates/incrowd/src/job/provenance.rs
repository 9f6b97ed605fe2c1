//! The sources of the values of a job: the bytes of a job file, a flag, or the default.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use incrowd_core::Error;

use super::given::{At, Field, Given, Node, Refused};

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A line of the job file, counted from 1.
    Line(usize),
    /// A flag or argument, such as `-k`.
    Flag(String),
    /// The default; the value was not given.
    Default,
}

/// The sources of all values of a job.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The name of the job file, for messages; empty if there is none.
    pub name: String,
    /// The text of the job file.
    pub text: String,
    places: BTreeMap<String, At>,
}

impl Provenance {
    pub(super) fn of_file(name: &str, text: &str) -> Provenance {
        Provenance { name: name.to_owned(), text: text.to_owned(), places: BTreeMap::new() }
    }

    /// Stores the places of everything below a node. A name with a dot can have the path of another
    /// key, for example a column `a.role` and the role of a column `a`. The first one keeps the
    /// path.
    pub(super) fn collect(&mut self, node: &Node, path: &str) {
        let below =
            |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match &node.given {
            Given::Table(fields) => {
                for field in fields {
                    let at = self.entry_place(field);
                    self.places.entry(below(&field.key)).or_insert(at);
                    self.collect(&field.node, &below(&field.key));
                }
            }
            Given::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.places.entry(below(&i.to_string())).or_insert_with(|| item.at.clone());
                    self.collect(item, &below(&i.to_string()));
                }
            }
            _ => {}
        }
    }

    /// Returns the place of key and value if they are on one line, otherwise that of the key.
    fn entry_place(&self, field: &Field) -> At {
        let (At::File(key), At::File(value)) = (&field.at, &field.node.at) else {
            return field.at.clone();
        };
        let whole = key.start.min(value.start)..key.end.max(value.end);
        let one_line = self.text.get(whole.clone()).is_some_and(|entry| !entry.contains('\n'));
        At::File(if one_line { whole } else { key.clone() })
    }

    /// Stores another place for `key`.
    pub(super) fn put(&mut self, key: &str, at: At) {
        self.places.insert(key.to_owned(), at);
    }

    /// Removes the places of `key` and everything below it.
    pub(super) fn forget(&mut self, key: &str) {
        let below = format!("{key}.");
        self.places.retain(|path, _| path != key && !path.starts_with(&below));
    }

    /// Removes an item of a list, after which `left` items remain. Later items move up.
    pub(super) fn forget_item(&mut self, list: &str, item: usize, left: usize) {
        self.forget(&format!("{list}.{item}"));
        for item in item..left {
            let (from, to) = (format!("{list}.{}", item + 1), format!("{list}.{item}"));
            let is_below = |path: &str| path == from || path.starts_with(&format!("{from}."));
            let moved: Vec<String> =
                self.places.keys().filter(|path| is_below(path)).cloned().collect();
            for path in moved {
                if let Some(at) = self.places.remove(&path) {
                    self.places.insert(format!("{to}{}", &path[from.len()..]), at);
                }
            }
        }
    }

    /// Returns the place of exactly this key.
    pub(super) fn exactly(&self, key: &str) -> Option<&At> {
        self.places.get(key)
    }

    /// Returns the place of `key`, for example `columns.zip.hierarchy` or `models.0.k`. If it was
    /// not given, returns the place of the closest parent: for `models.0.k` that of `models.0`,
    /// then of `models`.
    fn find(&self, key: &str) -> Option<&At> {
        let mut key = key;
        loop {
            if let Some(at) = self.places.get(key) {
                return Some(at);
            }
            key = key.rsplit_once('.')?.0;
        }
    }

    /// Returns the source of the value of a key. The sources of its parents do not count.
    pub fn of(&self, key: &str) -> Origin {
        match self.places.get(key) {
            Some(At::File(span)) => Origin::Line(self.place(span.clone()).line_and_column().0),
            Some(At::Flag(flag)) => Origin::Flag(flag.clone()),
            None => Origin::Default,
        }
    }

    /// Returns the bytes of the job file for `key`: key and value if they are on one line,
    /// otherwise the key; for a table its header. If the key is not in the file, returns those of
    /// its closest parent. A dot in a column's name is not escaped.
    pub fn span(&self, key: &str) -> Option<Range<usize>> {
        match self.find(key)? {
            At::File(span) => Some(span.clone()),
            At::Flag(_) => None,
        }
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place { file: self.name.clone(), text: self.text.clone(), span }
    }

    /// Adds the source to an error that has a [key](Error::key).
    pub fn locate(&self, error: Error) -> JobError {
        match error.key().and_then(|key| self.find(key)).cloned() {
            Some(at) => self.refused(Refused { error, at }),
            None => error.into(),
        }
    }

    pub(super) fn refused(&self, Refused { error, at }: Refused) -> JobError {
        match at {
            At::File(span) => {
                JobError { error, place: Some(Box::new(self.place(span))), flag: None }
            }
            At::Flag(flag) => {
                JobError { error, place: None, flag: Some(flag).filter(|flag| !flag.is_empty()) }
            }
        }
    }
}

/// An error about a job, and the place of its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobError {
    /// The error.
    pub error: Error,
    /// The place in the file, if the cause is there.
    pub place: Option<Box<Place>>,
    /// The flag or argument, if the cause is there.
    pub flag: Option<String>,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for JobError {}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        JobError { error, place: None, flag: None }
    }
}

/// A place in a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The byte range.
    pub span: Range<usize>,
}

impl Place {
    /// Returns line and column of the first byte, both counted from 1, the column in characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = self.text.get(..self.span.start).unwrap_or(&self.text);
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        (before.matches('\n').count() + 1, line.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{parse, read};
    use super::*;

    const TEXT: &str = r#"[columns]
zip = { role = "quasi", hierarchy = "dates" }
"marital.status" = { role = "quasi", hierarchy = { mask = {} } }
country = { role = "quasi", hierarchy = { tree = {
    America = ["USA"],
} } }
[columns.age]
role = "quasi"
domain = [0, 120]

[[models]]
name = "k-anonymity"
k = 10
[[models]]
name = "l-diversity"
"#;

    fn span(key: &str) -> Option<&'static str> {
        let source = parse("job.toml", TEXT, Path::new("")).unwrap().provenance;
        source.span(key).map(|span| &TEXT[span])
    }

    #[test]
    fn given_keys_have_places() {
        for (key, shown) in [
            ("columns", "[columns]"),
            ("columns.zip", "zip = { role = \"quasi\", hierarchy = \"dates\" }"),
            ("columns.zip.hierarchy", "hierarchy = \"dates\""),
            ("columns.marital.status.hierarchy", "hierarchy = { mask = {} }"),
            ("columns.marital.status.hierarchy.mask", "mask = {}"),
            ("columns.country", "country"),
            ("columns.country.hierarchy.tree.America", "America = [\"USA\"]"),
            ("columns.age", "[columns.age]"),
            ("columns.age.domain", "domain = [0, 120]"),
            ("columns.age.domain.1", "120"),
            ("models", "[[models]]"),
            ("models.0.name", "name = \"k-anonymity\""),
            ("models.0.k", "k = 10"),
        ] {
            assert_eq!(span(key), Some(shown), "{key}");
        }
    }

    #[test]
    fn absent_keys_have_the_place_of_their_parent() {
        assert_eq!(span("models.0.c"), Some("[[models]]"));
        assert_eq!(span("models.1.l.m"), Some("[[models]]"));
        assert_eq!(span("columns.marital.status.kind"), span("columns.marital.status"));
        assert_eq!(span("columns.income"), Some("[columns]"));
        assert_eq!(span("output.path"), None);
        let source = parse("job.toml", TEXT, Path::new("")).unwrap().provenance;
        let second = source.locate(Error::job("`l-diversity` needs `l`").within("models.1")).place;
        assert_eq!(second.unwrap().line_and_column(), (14, 1));
        assert_eq!(source.locate(Error::job("nothing to do")).place, None);
    }

    #[test]
    fn byte_order_marks_umlauts_and_carriage_returns_do_not_shift_columns() {
        let error = parse("job.toml", "\u{feff}'ö' = 1", Path::new("")).unwrap_err();
        assert_eq!(error.place.unwrap().line_and_column(), (1, 1));
        let error = parse("job.toml", "[columns]\r\n'äöü' = 1\r\n", Path::new("")).unwrap_err();
        assert_eq!(error.place.unwrap().line_and_column(), (2, 9));
    }

    #[test]
    fn a_job_file_that_cannot_be_read_is_named() {
        let error = read(Path::new("no/such.toml")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "job file `no/such.toml` cannot be read: there is no such file"
        );
        assert_eq!(error.place, None);
    }
}
