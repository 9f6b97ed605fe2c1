//! The manifest: what a release promises, what it cost, and the digest by which it is recognized. It is public, so it holds
//! neither paths nor seeds nor anything about a single group.
//!
//! This is the only place that writes and reads manifests. The tests keep samples of every [`FORMAT`] that was ever written.

mod columns;
mod intervals;
mod ordered;
mod seal;

use std::path::{Path, PathBuf};

use incrowd_audit::{Judgement, Verification};
use incrowd_core::metric::{METRICS, Tally};
use incrowd_core::{Error, Param, Params, Result, Value};
use incrowd_engine::is_remote;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use columns::{CategoryEntry, ColumnEntry, ExternalEntry, JobEntry, MissingCellsEntry, WrittenEntry};
pub use intervals::RegularIntervals;
pub use ordered::{Ordered, Parameter};
pub(crate) use seal::SigningKey;

use crate::job::ModelJob;

/// The format that is written. Format 1 had no number; a format is counted up when an old reader would misunderstand a file.
pub const FORMAT: u32 = 2;

/// What is said of a release in public.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of incrowd that made the release.
    pub incrowd: String,
    /// The format of the manifest.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The name of the release's first file.
    #[serde(default)]
    pub release: String,
    /// What kind of publication it is.
    #[serde(default)]
    pub publication: String,
    /// How it was made, as far as its readers need to know.
    pub job: JobEntry,
    /// How many records went where.
    pub records: RecordsEntry,
    /// What every promise counts, if not records: `persons`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How many persons went where, if promises count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persons: Option<PersonsEntry>,
    /// How many groups a reader sees.
    pub groups: u64,
    /// The promises, as they were judged on the written bytes.
    pub models: Vec<ModelEntry>,
    /// What it cost.
    pub metrics: Metrics,
    /// The algorithm and its options.
    pub algorithm: AlgorithmEntry,
    /// The digest of the first file.
    pub digest: String,
    /// The groups of sensitive values, where those stand in a table of their own and have groups of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive_groups: Option<SensitiveGroups>,
    /// The files, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileEntry>,
    /// What was withheld before anything else: how, never whether.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression: Option<SuppressionEntry>,
    /// Why this release is a test and must not be published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The digest of all else that is said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_digest: Option<String>,
    /// The digest signed with a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The digest of what is said here now.
    #[serde(skip)]
    pub(crate) content: Option<String>,
}

fn first_format() -> u32 {
    1
}

/// How many records went where; what would tell a secret is not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsEntry {
    /// Read from the input.
    #[serde(default)]
    pub read: Option<u64>,
    /// Left out because a value was missing.
    #[serde(default)]
    pub dropped_missing: Option<u64>,
    /// Left out to keep a promise.
    #[serde(default)]
    pub suppressed: Option<u64>,
    /// Published.
    pub published: u64,
    /// Rows of people of both tables, if there is an external one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<u64>,
}

impl RecordsEntry {
    /// The counts that are told, each with its name in words.
    pub(crate) fn told(&self) -> Vec<(String, u64)> {
        let all = [
            ("read", self.read),
            ("dropped missing", self.dropped_missing),
            ("suppressed", self.suppressed),
            ("published", Some(self.published)),
            ("joined", self.joined),
        ];
        all.into_iter().filter_map(|(name, n)| Some((name.to_owned(), n?))).collect()
    }
}

/// How many persons went where; what would tell a secret is not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonsEntry {
    /// Read from the input. A record that names nobody is a person of its own.
    #[serde(default)]
    pub read: Option<u64>,
    /// Of whom no record is published.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// Of whom some record is published.
    pub published: u64,
    /// How many the smallest group has.
    pub smallest_group: u64,
    /// How many records the smallest group has, which may be another one.
    pub smallest_group_records: u64,
}

/// What promises count, as a manifest says it.
pub(crate) const PERSONS: &str = "persons";

/// A promise as it was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// The model's name.
    pub name: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: Ordered<Parameter>,
    /// Whether it holds; neither where only categories are published and the promise is about values.
    pub holds: Option<bool>,
    /// How far on the safe side the worst group is.
    pub margin: Option<f64>,
    /// What was measured.
    pub measured: Measured,
}

/// What a model measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// In words, for example `smallest group`.
    pub what: String,
    /// What the worst group has.
    pub have: Option<f64>,
    /// What it needs.
    pub need: Option<f64>,
}

impl Manifest {
    /// The counts that are told, each with its name in words.
    pub(crate) fn counts_told(&self) -> Vec<(String, u64)> {
        let mut all = self.records.told();
        if let Some(persons) = &self.persons {
            let counts = [
                ("persons read", persons.read),
                ("persons of whom nothing is published", persons.dropped),
                ("persons published", Some(persons.published)),
                ("persons in the smallest group", Some(persons.smallest_group)),
            ];
            all.extend(counts.into_iter().filter_map(|(name, n)| Some((name.to_owned(), n?))));
        }
        all
    }

    /// Whether promises count persons.
    pub fn by_persons(&self) -> bool {
        self.unit.as_deref() == Some(PERSONS)
    }
}

impl ModelEntry {
    pub(crate) fn of(judgement: &Judgement) -> ModelEntry {
        let number = |x: f64| Some(x).filter(|x| x.is_finite());
        ModelEntry {
            name: judgement.name.to_owned(),
            params: parameters(&judgement.params, &[]),
            holds: (!judgement.unknown).then_some(judgement.holds),
            margin: number(judgement.margin),
            measured: Measured {
                what: judgement.measures.to_owned(),
                have: number(judgement.have),
                need: number(judgement.need),
            },
        }
    }

    /// All judgements of a verification.
    pub(crate) fn all(verification: &Verification) -> Vec<ModelEntry> {
        verification.judgements.iter().map(ModelEntry::of).collect()
    }

    /// The promise as a job states it.
    pub(crate) fn promise(&self) -> Result<ModelJob> {
        let Some(card) = incrowd_core::model::MODELS.iter().find(|card| card.name == self.name) else {
            return Err(Error::input(format!(
                "the manifest names a model `{}` this version does not know",
                self.name
            )));
        };
        Ok(ModelJob { name: self.name.clone(), params: given(&self.params, card.params) })
    }
}

/// The parameters that a list entry knows, as a job would state them.
pub(crate) fn given(params: &Ordered<Parameter>, known: &[Param]) -> Vec<(String, Value)> {
    let known = known.iter().filter_map(|p| Some((p, params.get(p.name)?)));
    known.map(|(p, value)| (p.name.to_owned(), value.of_kind(p.kind))).collect()
}

/// Parameters as they are published, without those named in `except`.
pub(crate) fn parameters(params: &Params, except: &[&str]) -> Ordered<Parameter> {
    let params = params.iter().filter(|(name, _)| !except.contains(name));
    params.map(|(name, value)| (name.to_owned(), Parameter(value.clone()))).collect()
}

/// What a release cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Every metric on the list.
    #[serde(flatten)]
    pub all: Ordered<Option<f64>>,
    /// The penalty by column.
    #[serde(default)]
    pub ncp_by_column: Ordered<Option<f64>>,
}

impl Metrics {
    /// All metrics of a tally.
    pub fn of(tally: &Tally) -> Metrics {
        let number = |x: f64| Some(x).filter(|x| x.is_finite());
        let mut all: Ordered<Option<f64>> =
            METRICS.iter().map(|metric| (metric.name.to_owned(), number((metric.measure)(tally)))).collect();
        let loss = all.get("information_loss").copied().flatten().unwrap_or(0.0);
        let per_column = loss / tally.columns.len().max(1) as f64;
        all.0.push(("information_loss_per_column".to_owned(), number(per_column)));
        let column = |c: &incrowd_core::metric::ColumnTally| (c.name.clone(), number(tally.column_ncp(c)));
        Metrics { ncp_by_column: tally.columns.iter().map(column).collect(), all }
    }

    /// The metric of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.all.get(name).copied().flatten()
    }

    /// The normalized certainty penalty: the share of its range that an average cell leaves open.
    pub fn ncp(&self) -> f64 {
        self.get("ncp").unwrap_or(f64::NAN)
    }

    /// The information loss of an average column.
    pub fn information_loss_per_column(&self) -> f64 {
        self.get("information_loss_per_column").unwrap_or(f64::NAN)
    }
}

/// An algorithm with its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlgorithmEntry {
    /// Its name.
    pub name: String,
    /// Its options.
    #[serde(flatten)]
    pub params: Ordered<Parameter>,
    /// The published level of each quasi-identifier, if every cell of it is at the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Ordered<u32>>,
    /// The way that was taken, if the algorithm chooses among several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
}

/// Sensitive groups and what is promised of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitiveGroups {
    /// How many there are.
    pub groups: u64,
    /// The promises.
    pub models: Vec<ModelEntry>,
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// What it holds, for example `jat`.
    pub content: String,
    /// Its name; it lies beside the first file.
    pub name: String,
    /// How many records it has.
    pub records: u64,
    /// The digest of its bytes.
    pub digest: String,
}

/// How records were withheld, if they had to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuppressionEntry {
    /// The method.
    pub name: String,
    /// The sensitive column.
    pub on: String,
    /// The parameters of the method.
    #[serde(flatten)]
    pub params: Ordered<Parameter>,
    /// What was checked on the written bytes.
    pub conditions_checked: Vec<String>,
    /// What the method aims at.
    pub design_target: String,
    /// What that is worth.
    pub means: String,
    /// Whether the draws followed from a stated seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test: bool,
}

impl SuppressionEntry {
    /// A parameter that is a yes or a no.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.params.get(name).is_some_and(|p| p.0 == Value::Flag(true))
    }

    /// A parameter that is a count.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        match self.params.get(name)?.0 {
            Value::Integer(n) => u64::try_from(n).ok(),
            _ => None,
        }
    }
}

impl Manifest {
    /// Reads a manifest of any format that was ever written.
    pub fn parse(bytes: &[u8]) -> Result<Manifest> {
        // What the reader of JSON says may quote what it read.
        let unreadable = |e: serde_json::Error| {
            let what = match e.classify() {
                serde_json::error::Category::Data => "something is missing there or of another kind",
                serde_json::error::Category::Eof => "it ends too early",
                _ => "it is not JSON",
            };
            Error::input(format!(
                "it is not a manifest of incrowd: {what} (line {}, column {})",
                e.line(),
                e.column()
            ))
        };
        // The number first: of a format that is not known yet nothing else can be said.
        #[derive(Deserialize)]
        struct Numbered {
            #[serde(default = "first_format")]
            format: u32,
        }
        let Numbered { format } = serde_json::from_slice(bytes).map_err(unreadable)?;
        if format > FORMAT {
            return Err(Error::input(format!(
                "it has format {format}, and this version of incrowd reads formats up to {FORMAT}"
            ))
            .help("use a newer version of incrowd"));
        }
        let mut manifest: Manifest = serde_json::from_slice(bytes).map_err(unreadable)?;
        manifest.content = seal::digest(bytes);
        if manifest.format == 1 {
            manifest.publication = match (manifest.publication.as_str(), manifest.algorithm.name.as_str()) {
                ("", "anatomy") => "anatomy".to_owned(),
                ("", _) => "one table".to_owned(),
                (stated, _) => stated.to_owned(),
            };
        }
        Ok(manifest)
    }

    /// The manifest as it is written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|e| Error::bug(format!("the manifest: {e}")))?;
        text.push(b'\n');
        Ok(text)
    }

    /// The manifest as JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The file with that content.
    pub(crate) fn file(&self, content: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.content == content)
    }

    /// Whether records were withheld and how many is not told: then whatever is measured beside the original would tell it.
    pub fn withheld_in_secret(&self) -> bool {
        self.suppression.as_ref().is_some_and(|step| !step.flag("publish_size"))
    }
}

/// The manifest beside a release: `people.csv` and `people.release.csv` both have `people.release.json`.
pub fn default_path(release: &Path) -> PathBuf {
    release.with_file_name(format!("{}.release.json", stem(release)))
}

/// The manifest within a release that is a directory: readers of tables pass over names that begin so.
pub const WITHIN: &str = "_incrowd.release.json";

/// Where the manifest of a release goes, if nobody says: into a release that another system writes, beside any other.
pub(crate) fn path_of(release: &Path) -> PathBuf {
    match is_remote(release) {
        true => release.join(WITHIN),
        false => default_path(release),
    }
}

/// Where the manifest of a published release is looked for.
pub(crate) fn find(release: &Path) -> PathBuf {
    let within = release.join(WITHIN);
    if within.is_file() { within } else { default_path(release) }
}

/// The name of a release without what tells its format.
pub(crate) fn stem(release: &Path) -> String {
    if let Some(table) = incrowd_engine::table_of(release) {
        let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
        return table.chars().map(plain).collect();
    }
    let name = file_name(release);
    let mut stem = name.as_str();
    for extension in [".gz", ".zst"] {
        stem = stem.strip_suffix(extension).unwrap_or(stem);
    }
    stem = stem.rsplit_once('.').map_or(stem, |(before, _)| before);
    stem.strip_suffix(".release").unwrap_or(stem).to_owned()
}

/// The last part of a path: a manifest is public and names no directory.
pub(crate) fn file_name(path: &Path) -> String {
    if let Some(table) = incrowd_engine::table_of(path) {
        return table;
    }
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_lies_beside_the_release() {
        for (release, manifest) in [
            ("a/people.csv", "a/people.release.json"),
            ("people.release.csv", "people.release.json"),
            ("people.release.csv.gz", "people.release.json"),
            ("people.parquet", "people.release.json"),
        ] {
            assert_eq!(default_path(Path::new(release)), Path::new(manifest));
        }
    }

    #[test]
    fn a_format_of_the_future_is_refused_with_its_number() {
        let error = Manifest::parse(br#"{ "format": 9, "anything": [] }"#).unwrap_err();
        assert!(error.message().contains("format 9"), "{error}");
        assert!(Manifest::parse(b"[]").unwrap_err().message().contains("not a manifest"));
    }
}
