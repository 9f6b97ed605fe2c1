//! The text of a job file and the places of its keys.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use incrowd_core::Error;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::Job;
use super::files;
use super::reader::{Refused, Table};
use super::sections;

/// A job and the file it was written in.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// What it says.
    pub job: Job,
    /// Where it says so.
    pub source: JobSource,
}

/// The text of a job file, and where in it each key is.
#[derive(Clone, Debug)]
pub struct JobSource {
    /// The name of the file, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    spans: BTreeMap<String, Range<usize>>,
}

impl JobSource {
    /// The bytes that say `key`, for example `columns.zip.hierarchy` or `models.0.k`: key and value if they fit on a
    /// line, else the key; of a table its header. A key that is not in the file is looked for where it would have to
    /// be: `models.0.k` in `models.0`, and that in `models`. A dot in a column's name is written like any other.
    pub fn span(&self, key: &str) -> Option<Range<usize>> {
        let mut key = key;
        loop {
            if let Some(span) = self.spans.get(key) {
                return Some(span.clone());
            }
            key = key.rsplit_once('.')?.0;
        }
    }

    /// Adds the place to an error that says which [key](Error::key) it is about.
    pub fn locate(&self, error: Error) -> JobError {
        let span = error.key().and_then(|key| self.span(key));
        let place = |span| Place { file: self.name.clone(), text: self.text.clone(), span };
        JobError { place: span.map(place).map(Box::new), error }
    }
}

/// An error about a job, and where in its file the cause is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    /// What is wrong.
    pub error: Error,
    /// Where, if it is in the file.
    pub place: Option<Box<Place>>,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for JobError {}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        JobError { error, place: None }
    }
}

/// A place in a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The bytes meant.
    pub span: Range<usize>,
}

impl Place {
    /// Line and column of the first byte, both counted from 1, the column in characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = self.text.get(..self.span.start).unwrap_or(&self.text);
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        (before.matches('\n').count() + 1, line.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}

/// Reads a job file. Relative paths in it are relative to the file.
pub fn read(path: &Path) -> Result<JobFile, JobError> {
    let name = path.display().to_string();
    let text = files::read_text(path)
        .map_err(|why| Error::job(format!("job file `{name}` cannot be read: {why}")))?;
    let mut file = parse(&name, &text, path.parent().unwrap_or(Path::new("")))?;
    file.job.file = Some(path.to_owned());
    Ok(file)
}

/// Reads the text of a job file. Relative paths in it are relative to `base`; the hierarchy files it names are read.
///
/// ```
/// let text = r#"
/// [columns]
/// age = "quasi"
/// zip = { role = "quasi", hierarchy = { mask = {} } }
/// disease = "sensitive"
///
/// [[models]]
/// name = "k-anonymity"
/// k = 3
/// "#;
/// let file = incrowd::job::parse("patients.toml", text, ".".as_ref())?;
/// assert_eq!(file.job.models[0].name, "k-anonymity");
/// assert_eq!(file.source.span("models.0.k").map(|span| &text[span]), Some("k = 3"));
/// # Ok::<(), incrowd::job::JobError>(())
/// ```
pub fn parse(name: &str, text: &str, base: &Path) -> Result<JobFile, JobError> {
    let fail = |error, span: Option<Range<usize>>| {
        let place = |span| Place { file: name.to_owned(), text: text.to_owned(), span };
        JobError { error, place: span.map(place).map(Box::new) }
    };
    let document = DeTable::parse(text).map_err(|e| {
        fail(Error::job(format!("job file `{name}` is not valid TOML: {}", e.message())), e.span())
    })?;
    let job = sections::job(&Table::root(document.get_ref()), base)
        .map_err(|Refused { error, span }| fail(error, Some(span)))?;
    let mut spans = BTreeMap::new();
    collect(document.get_ref(), "", text, &mut spans);
    Ok(JobFile { job, source: JobSource { name: name.to_owned(), text: text.to_owned(), spans } })
}

/// Notes the place of everything below `table`. The path of a name with a dot may be that of another key too, as of a
/// column `a.role` beside a column `a`; the first one keeps it.
fn collect(table: &DeTable<'_>, path: &str, text: &str, spans: &mut BTreeMap<String, Range<usize>>) {
    for (key, value) in table {
        let path =
            if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
        spans.entry(path.clone()).or_insert_with(|| entry_span(key, value, text));
        match value.get_ref() {
            DeValue::Table(below) => collect(below, &path, text, spans),
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let path = format!("{path}.{i}");
                    spans.entry(path.clone()).or_insert_with(|| item.span());
                    if let DeValue::Table(below) = item.get_ref() {
                        collect(below, &path, text, spans);
                    }
                }
            }
            _ => {}
        }
    }
}

fn entry_span(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>, text: &str) -> Range<usize> {
    let (key, value) = (key.span(), value.span());
    let whole = key.start.min(value.start)..key.end.max(value.end);
    if text.get(whole.clone()).is_some_and(|entry| !entry.contains('\n')) { whole } else { key }
}

#[cfg(test)]
mod tests {
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
        let source = parse("job.toml", TEXT, Path::new("")).unwrap().source;
        source.span(key).map(|span| &TEXT[span])
    }

    #[test]
    fn keys_have_places() {
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
    fn absent_keys_have_the_place_they_would_be_in() {
        assert_eq!(span("models.0.c"), Some("[[models]]"));
        assert_eq!(span("models.1.l.m"), Some("[[models]]"));
        assert_eq!(span("columns.marital.status.kind"), span("columns.marital.status"));
        assert_eq!(span("columns.income"), Some("[columns]"));
        assert_eq!(span("output.path"), None);
        let source = parse("job.toml", TEXT, Path::new("")).unwrap().source;
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
        assert_eq!(error.to_string(), "job file `no/such.toml` cannot be read: there is no such file");
        assert_eq!(error.place, None);
    }
}
