//! The manifest answers: which guarantees does a release have, how much information did it lose,
//! and what is its digest? It is public, so it contains no paths, no seeds and no data about a
//! single group.
//!
//! Only this module writes and reads manifests. The tests keep samples of every [`FORMAT`] ever
//! written.

mod columns;
mod intervals;
mod ordered;
mod recipe;
mod seal;

use std::path::{Path, PathBuf};

use incrowd_audit::{Judgement, Verification};
use incrowd_core::metric::{METRICS, Tally};
use incrowd_core::{Error, Param, Params, Result, Value};
use incrowd_engine::Location;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use columns::{
    CategoryEntry, ColumnEntry, ExternalEntry, JobEntry, MissingCellsEntry, WrittenEntry,
};
pub use intervals::RegularIntervals;
pub use ordered::{Ordered, Parameter};
pub use recipe::Recipe;
pub(crate) use seal::SigningKey;

use crate::job::ModelJob;
use crate::making::publication::TableContent;

/// The format that is written. Format 1 had no number. The number increases when an older reader
/// would misinterpret a file.
pub const FORMAT: u32 = 2;

/// The public description of a release.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use incrowd::{Anonymizer, Job, Manifest, manifest_path};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-manifest-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let (people, release) = (dir.join("patients.csv"), dir.join("patients.release.csv"));
/// std::fs::write(&people, "age,zip\n34,02139\n36,02139\n51,02140\n58,02141\n")?;
/// Anonymizer::new(Job::of_file(&people).quasi(["age", "zip"]).k(2).output(&release)).run()?;
///
/// let manifest = Manifest::parse(&std::fs::read(manifest_path(&release.into()))?)?;
/// assert_eq!((manifest.models[0].name.as_str(), manifest.records.published), ("k-anonymity", 4));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The version of incrowd that made the release.
    pub incrowd: String,
    /// The format of the manifest.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The name of the release's first file.
    #[serde(default)]
    pub release: String,
    /// The kind of publication.
    #[serde(default)]
    pub publication: String,
    /// The settings that readers of the release need.
    pub job: JobEntry,
    /// The numbers of records read, suppressed and published.
    pub records: RecordsEntry,
    /// The unit that models count, if not records: `persons`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The numbers of persons, if models count persons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persons: Option<PersonsEntry>,
    /// The number of groups in the release.
    pub groups: u64,
    /// The models, verified on the written bytes.
    pub models: Vec<ModelEntry>,
    /// The information loss.
    pub metrics: Metrics,
    /// The algorithm and its options.
    pub algorithm: AlgorithmEntry,
    /// The digest of the first file.
    pub digest: String,
    /// The groups of sensitive values, if these are in a separate table with groups of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive_groups: Option<SensitiveGroups>,
    /// The files, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileEntry>,
    /// The method of the suppression step. It does not reveal whether records were suppressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression: Option<SuppressionEntry>,
    /// The reason why this release is a test and must not be published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The digest of all other entries of the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_digest: Option<String>,
    /// The digest signed with a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The digest of the entries when they were read.
    #[serde(skip)]
    pub(crate) content: Option<String>,
}

fn first_format() -> u32 {
    1
}

/// The numbers of records. A count that would reveal a secret is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsEntry {
    /// Records read from the input.
    #[serde(default)]
    pub read: Option<u64>,
    /// Records dropped because of a missing value.
    #[serde(default)]
    pub dropped_missing: Option<u64>,
    /// Records suppressed to satisfy a model.
    #[serde(default)]
    pub suppressed: Option<u64>,
    /// Published.
    pub published: u64,
    /// Records of people who are in both tables, if there is an external table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<u64>,
}

impl RecordsEntry {
    /// Returns the counts that are present, each with its name in words.
    pub(crate) fn present(&self) -> Vec<(String, u64)> {
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

/// The numbers of persons. A count that would reveal a secret is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonsEntry {
    /// Persons read from the input. A record without a person identifier counts as one person.
    #[serde(default)]
    pub read: Option<u64>,
    /// Persons without any published record.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// Persons with at least one published record.
    pub published: u64,
    /// The number of persons in the smallest group.
    pub smallest_group: u64,
    /// The number of records in the group with the fewest records, which may be another one.
    pub smallest_group_records: u64,
}

/// The value of [`Manifest::unit`] if models count persons.
pub(crate) const PERSONS: &str = "persons";

/// A model and the result of its verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// The model's name.
    pub name: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: Ordered<Parameter>,
    /// Whether it holds; `None` if only categories are published and the model is about values.
    pub holds: Option<bool>,
    /// The distance of the worst group from the threshold.
    pub margin: Option<f64>,
    /// The measured quantity.
    pub measured: Measured,
}

/// A quantity that a model measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name, for example `smallest group`.
    pub what: String,
    /// The value of the worst group.
    pub have: Option<f64>,
    /// The required value.
    pub need: Option<f64>,
}

impl Manifest {
    /// Returns the counts that are present, each with its name in words.
    pub(crate) fn counts(&self) -> Vec<(String, u64)> {
        let mut all = self.records.present();
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

    /// Returns whether models count persons.
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
            holds: judgement.decision().answer(),
            margin: number(judgement.margin),
            measured: Measured {
                what: judgement.measures.to_owned(),
                have: number(judgement.have),
                need: number(judgement.need),
            },
        }
    }

    /// Returns all judgements of a verification.
    pub(crate) fn all(verification: &Verification) -> Vec<ModelEntry> {
        verification.judgements.iter().map(ModelEntry::of).collect()
    }

    /// Returns the model as a job entry.
    pub(crate) fn model(&self) -> Result<ModelJob> {
        let Some(card) = incrowd_core::model::MODELS.iter().find(|card| card.name == self.name)
        else {
            return Err(Error::input(format!(
                "the manifest names a model `{}` this version does not know",
                self.name
            )));
        };
        Ok(ModelJob { name: self.name.clone(), params: given(&self.params, card.params) })
    }
}

/// Returns the parameters that are listed in `known`, as job values.
pub(crate) fn given(params: &Ordered<Parameter>, known: &[Param]) -> Vec<(String, Value)> {
    let known = known.iter().filter_map(|p| Some((p, params.get(p.name)?)));
    known.map(|(p, value)| (p.name.to_owned(), value.of_kind(p.kind))).collect()
}

/// Returns the published parameters: all but those named in `except`.
pub(crate) fn parameters(params: &Params, except: &[&str]) -> Ordered<Parameter> {
    let params = params.iter().filter(|(name, _)| !except.contains(name));
    params.map(|(name, value)| (name.to_owned(), Parameter(value.clone()))).collect()
}

/// The information loss of a release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Every metric on the list.
    #[serde(flatten)]
    pub all: Ordered<Option<f64>>,
    /// The normalized certainty penalty by column.
    #[serde(default)]
    pub ncp_by_column: Ordered<Option<f64>>,
}

impl Metrics {
    /// Computes all metrics of a tally.
    pub fn of(tally: &Tally) -> Metrics {
        let number = |x: f64| Some(x).filter(|x| x.is_finite());
        let mut all: Ordered<Option<f64>> = METRICS
            .iter()
            .map(|metric| (metric.name.to_owned(), number((metric.measure)(tally))))
            .collect();
        let loss = all.get("information_loss").copied().flatten().unwrap_or(0.0);
        let per_column = loss / tally.columns.len().max(1) as f64;
        all.0.push(("information_loss_per_column".to_owned(), number(per_column)));
        let column =
            |c: &incrowd_core::metric::ColumnTally| (c.name.clone(), number(tally.column_ncp(c)));
        Metrics { ncp_by_column: tally.columns.iter().map(column).collect(), all }
    }

    /// Returns the metric of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.all.get(name).copied().flatten()
    }

    /// Returns the normalized certainty penalty: the average share of a column's domain that a cell
    /// covers.
    pub fn ncp(&self) -> f64 {
        self.get("ncp").unwrap_or(f64::NAN)
    }

    /// Returns the information loss per column.
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
    /// The published level of each quasi-identifier, if all cells of a column have the same level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Ordered<u32>>,
    /// The algorithm that was chosen, if `name` chooses among several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
}

/// The groups of sensitive values and their models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitiveGroups {
    /// The number of groups.
    pub groups: u64,
    /// The models.
    pub models: Vec<ModelEntry>,
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The content, for example `jat`.
    pub content: String,
    /// The file name; the file is in the same directory as the first one.
    pub name: String,
    /// The number of records.
    pub records: u64,
    /// The digest of its bytes.
    pub digest: String,
}

/// The method of the suppression step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuppressionEntry {
    /// The method.
    pub name: String,
    /// The sensitive column.
    pub on: String,
    /// The parameters of the method.
    #[serde(flatten)]
    pub params: Ordered<Parameter>,
    /// The conditions that were checked on the written bytes.
    pub conditions_checked: Vec<String>,
    /// The design target of the method.
    pub design_target: String,
    /// The meaning of that target for a reader.
    pub means: String,
    /// Whether the random draws used a fixed seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test: bool,
}

impl SuppressionEntry {
    /// Returns a boolean parameter; `false` if it is absent.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.params.get(name).is_some_and(|p| p.0 == Value::Flag(true))
    }

    /// Returns an integer parameter.
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
        // Messages of `serde_json` may quote the content, so they are not shown.
        let unreadable = |e: serde_json::Error| {
            let what = match e.classify() {
                serde_json::error::Category::Data => {
                    "something is missing there or of another kind"
                }
                serde_json::error::Category::Eof => "it ends too early",
                _ => "it is not JSON",
            };
            Error::input(format!(
                "it is not a manifest of incrowd: {what} (line {}, column {})",
                e.line(),
                e.column()
            ))
        };
        // The format number is read first: the rest of an unknown format cannot be parsed.
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
            manifest.publication =
                match (manifest.publication.as_str(), manifest.algorithm.name.as_str()) {
                    ("", "anatomy") => "anatomy".to_owned(),
                    ("", _) => "one table".to_owned(),
                    (stated, _) => stated.to_owned(),
                };
        }
        Ok(manifest)
    }

    /// Serializes the manifest.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|e| Error::bug(format!("the manifest: {e}")))?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns the manifest as JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the file with that content.
    pub(crate) fn file(&self, content: TableContent) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.content == content.as_str())
    }

    /// Returns whether records were suppressed and their number is secret. Then no comparison with
    /// the original may be published: it would reveal the number.
    pub fn hides_suppression(&self) -> bool {
        self.suppression.as_ref().is_some_and(|step| !step.flag("publish_size"))
    }
}

/// Returns the default path of a manifest, next to the release: `people.csv` and
/// `people.release.csv` both have `people.release.json`.
pub fn default_path(release: &Location) -> PathBuf {
    release.next_to("release.json")
}

/// The name of the manifest inside a release that is a directory. Readers of tables skip names that
/// begin with an underscore.
pub const WITHIN: &str = "_incrowd.release.json";

/// Returns the default path of a new manifest: next to a file, inside a release that another system
/// writes. Empty for a database.
pub(crate) fn path_of(release: &Location) -> PathBuf {
    match release {
        Location::File(_) => default_path(release),
        // The database stores the manifest.
        Location::Database(_) => PathBuf::new(),
        Location::Remote(place) => Path::new(place).join(WITHIN),
    }
}

/// Returns the path at which the manifest of a published release is expected.
pub(crate) fn find(release: &Location) -> PathBuf {
    let within = release.file().map(|release| release.join(WITHIN));
    within.filter(|path| path.is_file()).unwrap_or_else(|| default_path(release))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_path_is_next_to_the_release() {
        for (release, manifest) in [
            ("a/people.csv", "a/people.release.json"),
            ("people.release.csv", "people.release.json"),
            ("people.release.csv.gz", "people.release.json"),
            ("people.parquet", "people.release.json"),
        ] {
            assert_eq!(default_path(&release.into()), Path::new(manifest));
        }
    }

    #[test]
    fn an_unknown_format_is_refused_with_its_number() {
        let error = Manifest::parse(br#"{ "format": 9, "anything": [] }"#).unwrap_err();
        assert!(error.message().contains("format 9"), "{error}");
        assert!(Manifest::parse(b"[]").unwrap_err().message().contains("not a manifest"));
    }
}
