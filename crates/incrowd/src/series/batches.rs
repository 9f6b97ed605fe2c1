//! Publication of a sequence of batches under the same rules, for example the days or weeks of a
//! register.
//!
//! Paper: `xu2010`, Section 1.1. The smaller a batch, the more often a value is too frequent in it.
//! Every batch is a release of its own, with its own manifest. The report also measures the risk of
//! all releases together: an adversary with the other releases knows which values are common, and
//! guesses the dominant value where records were suppressed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Fault, Progress, Result};
use serde_json::{Value as Json, json};

use crate::job::{Job, Location, Table};
use crate::judging::attack::{AttackRequest, attack};
use crate::judging::request::Judging;
use crate::making::anonymizer::Anonymizer;
use crate::making::pipeline::Report;
use crate::work::stoppable;

/// A table of a sequence.
#[derive(Clone, Debug)]
pub struct BatchTable {
    /// Its name.
    name: String,
    /// The stem of the release's file name.
    stem: String,
    table: Table,
}

impl From<&PathBuf> for BatchTable {
    /// Creates a batch from a file. The name of its release is the file name up to the first dot.
    fn from(path: &PathBuf) -> BatchTable {
        let table = Table::file(path);
        let name = table.paths[0].name();
        let stem = name.split('.').next().unwrap_or_default().to_owned();
        BatchTable { name, stem, table }
    }
}

impl BatchTable {
    /// The paths of its table, if it is not in memory.
    pub(crate) fn paths(&self) -> &[Location] {
        if self.table.memory.is_none() { &self.table.paths } else { &[] }
    }

    /// The path of its release in a directory.
    pub(crate) fn release(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.release.csv", self.stem))
    }

    /// Creates a batch from a table in memory or in files. Its release gets this name, which must
    /// be valid as a file name.
    pub fn named(name: &str, table: Table) -> Result<BatchTable> {
        let odd = |c: char| c.is_control() || r#"/\:*?"<>|"#.contains(c);
        if name.trim().is_empty() || name.starts_with('.') || name.contains(odd) {
            return Err(Error::job(format!(
                "`{}` cannot be the name of a release",
                name.escape_debug()
            ))
            .help("a release is a file called after its table; use letters, digits, `-` and `_`"));
        }
        let memory = table.memory.map(|memory| memory.called(name));
        Ok(BatchTable {
            name: name.to_owned(),
            stem: name.to_owned(),
            table: Table { memory, ..table },
        })
    }
}

/// A request to publish each of several tables under the rules of one job.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use incrowd::job::SuppressionJob;
/// use incrowd::{BatchTable, BatchesRequest, Job, Value};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-batches-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// let weeks = [dir.join("week-1.csv"), dir.join("week-2.csv")];
/// for week in &weeks {
///     std::fs::write(week, "age,disease\n34,flu\n36,cold\n38,gout\n51,flu\n55,cold\n58,gout\n\
///                           61,asthma\n")?;
/// }
/// let mut job = Job::default().quasi(["age"]).sensitive(["disease"]).k(2);
/// job.suppression = Some(SuppressionJob {
///     name: "r-suppression".to_owned(),
///     params: vec![("l".to_owned(), Value::Integer(2))],
///     seed: Some(1),
///     ..SuppressionJob::default()
/// });
/// let tables = weeks.iter().map(BatchTable::from).collect();
/// let report = BatchesRequest::new(job, tables, dir.join("releases")).run()?;
/// assert_eq!(report.published(), 2);
/// assert!(dir.join("releases/week-1.release.csv").exists());
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BatchesRequest {
    /// The rules.
    pub job: Job,
    /// The tables.
    pub tables: Vec<BatchTable>,
    /// The directory of the releases.
    pub directory: PathBuf,
    /// Whether each release is also joined with the previous one, as an adversary could who knows
    /// that people are in both.
    pub same_people: bool,
}

impl BatchesRequest {
    /// Publishes these tables under the rules of the job into this directory.
    pub fn new(job: Job, tables: Vec<BatchTable>, directory: impl Into<PathBuf>) -> BatchesRequest {
        BatchesRequest { job, tables, directory: directory.into(), same_people: false }
    }

    /// Also joins each release with the previous one.
    #[must_use]
    pub fn same_people(self, same_people: bool) -> BatchesRequest {
        BatchesRequest { same_people, ..self }
    }
}

crate::work::long_work! { BatchesRequest:
    /// Publishes the tables. A batch that cannot be published is skipped and reported. Any other
    /// error ends the sequence; published releases stay.
    fn run() -> BatchesReport = batches;
}

/// The result of one batch.
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch {
    /// The name of its table.
    pub name: String,
    /// The release, or the reason why there is none.
    pub outcome: std::result::Result<Box<Report>, Error>,
    /// The path of the release.
    pub release: PathBuf,
    /// The share of people at risk and the greatest risk, if the release is joined with the
    /// previous one.
    pub with_the_last: Option<(f64, f64)>,
}

impl Batch {
    /// Returns whether some value was too frequent; `None` if unknown.
    pub fn skewed(&self) -> Option<bool> {
        match &self.outcome {
            Ok(report) => report.suppression.as_ref().map(|step| step.used.is_some()),
            Err(error) => (error.fault() == Fault::Unsatisfiable).then_some(true),
        }
    }
}

/// The result of a sequence of batches.
#[derive(Debug)]
#[non_exhaustive]
pub struct BatchesReport {
    /// The batches in the order given.
    pub batches: Vec<Batch>,
    /// The expected number of releases whose dominant value an adversary guesses from all other
    /// releases, and the number of releases with suppressed records.
    pub named: (f64, u64),
    /// The design target of the method, 1/l.
    pub target: Option<f64>,
}

fn batches(request: &BatchesRequest, progress: &dyn Progress) -> Result<BatchesReport> {
    let BatchesRequest { job, tables, directory, .. } = request;
    if tables.is_empty() {
        return Err(Error::job("no batches are given").help("name a table for each"));
    }
    if job.suppression.is_none() {
        return Err(Error::job(
            "batches are published with a suppression step, because small tables are skewed",
        )
        .help("add `[suppression] name`, for example r-suppression with l = 6"));
    }
    if job
        .output
        .as_ref()
        .is_some_and(|output| output.report.is_some() || output.owner_report.is_some())
    {
        return Err(Error::job("reports are about one release, and batches have several").help(
            "leave `report` and `owner_report` out, and run incrowd report for each release",
        ));
    }
    for (i, table) in tables.iter().enumerate() {
        if let Some(other) = tables[..i].iter().find(|other| other.stem == table.stem) {
            return Err(Error::job(format!(
                "`{}` and `{}` would have the same release",
                table.name, other.name
            ))
            .help("name the tables differently"));
        }
    }
    let is_new = !directory.exists();
    std::fs::create_dir_all(directory).map_err(|e| {
        Error::resources(format!("cannot make the directory `{}`: {e}", directory.display()))
    })?;
    let made = stoppable(|| one_by_one(request, progress));
    if made.is_err() && is_new {
        // `remove_dir` fails if a release is in the directory, which is intended.
        let _ = std::fs::remove_dir(directory);
    }
    made
}

fn one_by_one(request: &BatchesRequest, progress: &dyn Progress) -> Result<BatchesReport> {
    let BatchesRequest { job, tables, directory, same_people } = request;
    let mut all: Vec<Batch> = Vec::new();
    for batch in tables.iter().cloned() {
        let release = batch.release(directory);
        let BatchTable { name, table, .. } = batch;
        let mut own = job.clone();
        (own.input.paths, own.input.memory) = (table.paths, table.memory);
        own.write_to(release.clone());
        let outcome = match Anonymizer::new(&own).progress(progress).run() {
            Ok(report) => Ok(Box::new(report)),
            Err(error) if error.fault() == Fault::Unsatisfiable => Err(error),
            Err(error) => return Err(error),
        };
        let last =
            all.iter().rev().find(|batch| batch.outcome.is_ok()).map(|batch| batch.release.clone());
        let with_the_last = match (&outcome, last.filter(|_| *same_people)) {
            (Ok(_), Some(last)) => joined(job, &release, &last, progress)?,
            _ => None,
        };
        all.push(Batch { name, outcome, release, with_the_last });
    }
    let named = named(&all);
    let target =
        all.iter().find_map(|b| Some(b.outcome.as_ref().ok()?.suppression.as_ref()?.target()));
    Ok(BatchesReport { batches: all, named, target })
}

/// Returns the share of people at risk and the greatest risk when two releases are joined.
fn joined(
    job: &Job,
    release: &Path,
    last: &Path,
    progress: &dyn Progress,
) -> Result<Option<(f64, f64)>> {
    let judging = Judging { columns: job.columns.clone(), ..Judging::new(release) };
    let request = AttackRequest {
        second: Some(Judging::new(last)),
        only: vec!["intersection".to_owned()],
        ..AttackRequest::default()
    };
    let report = attack(&judging, &request, progress)?;
    Ok(report.attacked.first().map(|attacked| (attacked.finding.share(), attacked.finding.worst)))
}

/// Simulates an adversary with all other releases, who guesses that the dominant value is the
/// published one that is most frequent in them.
fn named(batches: &[Batch]) -> (f64, u64) {
    let step =
        |batch: &Batch| batch.outcome.as_ref().ok().and_then(|report| report.suppression.clone());
    let steps: Vec<_> = batches.iter().filter_map(step).collect();
    let mut pooled: BTreeMap<&str, u64> = BTreeMap::new();
    for (value, _, after) in steps.iter().flat_map(|step| &step.counts.0) {
        *pooled.entry(value).or_insert(0) += after;
    }
    let (mut right, mut skewed) = (0.0, 0);
    for step in steps.iter().filter(|step| step.used.is_some()) {
        skewed += 1;
        let in_others = |value: &str, own: u64| pooled.get(value).copied().unwrap_or(0) - own;
        let counts = || step.counts.0.iter().filter(|(_, _, after)| *after > 0);
        let best = counts().map(|(value, _, after)| in_others(value, *after)).max().unwrap_or(0);
        let most = step.counts.0.iter().map(|(_, before, _)| *before).max().unwrap_or(0);
        let guessed: Vec<bool> = counts()
            .filter(|(value, _, after)| in_others(value, *after) == best)
            .map(|(_, before, _)| *before == most)
            .collect();
        right += guessed.iter().filter(|&&hit| hit).count() as f64 / guessed.len().max(1) as f64;
    }
    (right, skewed)
}

impl BatchesReport {
    /// Returns the number of published batches.
    pub fn published(&self) -> u64 {
        self.batches.iter().filter(|batch| batch.outcome.is_ok()).count() as u64
    }

    /// Returns the number of batches in which some value was too frequent.
    pub fn skewed(&self) -> u64 {
        self.batches.iter().filter(|batch| batch.skewed() == Some(true)).count() as u64
    }

    /// Returns the report as JSON: public results at the top, results for the data owner under
    /// `private`.
    pub fn to_json(&self) -> Json {
        let batch = |batch: &Batch| match &batch.outcome {
            Ok(report) => json!({
                "batch": batch.name,
                "release": Location::File(batch.release.clone()).name(),
                "records": report.records.read - report.records.dropped_missing,
                "published": report.records.published,
                "skewed": batch.skewed(),
                "withheld": report.suppression.as_ref().map(|step| step.suppressed),
                "joined_with_the_last": batch
                    .with_the_last
                    .map(|(share, worst)| json!({ "share": share, "worst": worst })),
            }),
            Err(error) => {
                let why = error.message();
                json!({ "batch": batch.name, "release": null, "skewed": true, "why": why })
            }
        };
        let (right, of) = self.named;
        let guessed = json!({ "right": right, "of": of, "design_target": self.target });
        json!({
            "batches": self.batches.len(),
            "published": self.published(),
            "private": {
                "skewed": self.skewed(),
                "share_skewed": self.skewed() as f64 / self.batches.len().max(1) as f64,
                "dominant_value_named_from_the_other_releases": guessed,
                "batches": self.batches.iter().map(batch).collect::<Vec<_>>(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_named_after_its_table() {
        let file = BatchTable::from(&PathBuf::from("data/2026-01.csv.gz"));
        assert_eq!((file.name.as_str(), file.stem.as_str()), ("2026-01.csv.gz", "2026-01"));
        let named = BatchTable::named("2026.01", Table::default()).unwrap();
        assert_eq!((named.name.as_str(), named.stem.as_str()), ("2026.01", "2026.01"));
        for odd in ["", " ", ".", "..", "a/b", r"a\b", "a\nb", "C:"] {
            assert!(BatchTable::named(odd, Table::default()).is_err(), "{odd:?}");
        }
    }
}
