//! The pipeline from an input table to a verified release.

use std::path::PathBuf;

use incrowd_audit::{UniqueRecords, Verification};
use incrowd_core::audience::{Audience, Fact};
use incrowd_core::metric::Tally;
use incrowd_core::{Progress, Result, Spellings};
use incrowd_engine::{Engine, ReleasedTable, Sent};
use incrowd_recode::{Outcome, Reported};
use serde_json::{Value as Json, json};

use crate::job::reading::resolve_columns;
use crate::job::{Job, Numbers};
use crate::judging::unmodified;
use crate::making::checked::CheckedJob;
use crate::making::in_parts;
use crate::making::make::{Made, Records, make};
use crate::making::publication::joined::JoinReport;
use crate::making::publication::{Publication, TablePlace};
use crate::making::release::{Release, Verified};
use crate::making::suppression::{FileKeys, SuppressionReport};
use crate::manifest::{AlgorithmEntry, FORMAT, FileEntry, JobEntry, Manifest, Metrics, ModelEntry};
use crate::manifest::{PERSONS, PersonsEntry, RecordsEntry, SigningKey, WrittenEntry, parameters};
use crate::reporting::insight::Insight;

/// The result of a job. The manifest is public; all other fields are for the data owner.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// # let dir = std::env::temp_dir().join(format!("incrowd-report-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let job = incrowd::Job::of_file(&people)
///     .quasi(["age", "zip"])
///     .sensitive(["disease"])
///     .k(3)
///     .output(dir.join("patients.release.csv"));
/// let report = incrowd::Anonymizer::new(job).run()?;
///
/// assert_eq!((report.records.read, report.records.published), (7, 7));
/// assert!(report.verification.smallest_group >= 3);
/// assert_eq!(report.manifest.models[0].holds, Some(true));
/// println!("NCP {:.3}", report.manifest.metrics.ncp());
/// for warning in &report.warnings {
///     println!("warning: {warning}");
/// }
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The manifest as written.
    pub manifest: Manifest,
    /// The path of the manifest.
    pub manifest_path: PathBuf,
    /// The paths of the tables of the release. Private tables are not listed in the manifest.
    pub tables: Vec<PathBuf>,
    /// The numbers of records read, suppressed and published.
    pub records: Records,
    /// The number of distinct rows.
    pub distinct_rows: u64,
    /// The verification of the written bytes.
    pub verification: Verification,
    /// The information loss of the release.
    pub tally: Tally,
    /// Columns that are not published because the job does not name them.
    pub dropped_columns: Vec<String>,
    /// Warnings, each a sentence.
    pub warnings: Vec<String>,
    /// The number of missing values by column, for columns with any.
    pub missing: Vec<(String, u64)>,
    /// The number of records without a person identifier. Each counts as one person.
    pub unnamed: u64,
    /// The algorithm's own report.
    pub algorithm_report: Reported,
    /// Private data about a release with an external table.
    pub joined: Option<JoinReport>,
    /// The suppression step before the algorithm.
    pub suppression: Option<SuppressionReport>,
    /// Unique records on unmodified columns, if there are such columns.
    pub unique_records: Option<UniqueRecords>,
    /// The number of rows that the database sent, if the table is in a database.
    pub sent: Option<Sent>,
    pub(crate) publication: &'static dyn Publication,
}

/// A release in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct Released {
    /// The tables. The first one contains the quasi-identifiers.
    pub tables: Vec<ReleasedTable>,
    /// The result of the job.
    pub report: Report,
}

/// Runs the whole pipeline and stores the owner's view of the release in `insight`.
pub(crate) fn anonymize_with_insight(
    engine: &mut dyn Engine,
    job: &Job,
    insight: Option<&mut Option<Insight>>,
    progress: &dyn Progress,
) -> Result<Report> {
    let mut job = job.clone();
    resolve_columns(&mut job.columns, &job.input.missing, engine.source(), progress)?;
    let job = CheckedJob::for_table(&job, engine.columns(), engine.source().is_named())?;
    let released = release(engine, &job, insight, progress);
    released.inspect_err(|_| engine.discard())
}

fn release(
    engine: &mut dyn Engine,
    job: &CheckedJob,
    insight: Option<&mut Option<Insight>>,
    progress: &dyn Progress,
) -> Result<Report> {
    let (tables, mut places, pages) = job.places()?;
    places.dialect = job.dialect(engine.source())?;
    engine.begin(&places)?;
    let mut replaced = crate::making::replacing::check(&engine.occupied()?, &places, &tables)?;
    replaced.extend(pages);
    let signing = job.job.output.as_ref().and_then(|output| output.sign.as_deref());
    let signing =
        signing.map(SigningKey::read_or_make).transpose().map_err(|e| e.at("output.sign"))?;
    let keys = FileKeys::new(job.job.suppression.as_ref());
    let (made, release, sent) = match in_parts::stage(engine, &keys, job, progress)? {
        Some((made, staged)) => {
            let sent = engine.sent();
            (made, Release::of_staged(engine, staged), sent)
        }
        None => {
            let material = job.publication.gather(engine, &keys, job, progress)?;
            let mut made = make(material, job, progress)?;
            let sent = engine.sent();
            if let Some(insight) = insight {
                *insight = Insight::of(&made);
            }
            let release = Release::stage(&mut made, engine, progress)?;
            (made, release, sent)
        }
    };
    let mut release = release.verify(&made, job, progress)?;
    progress.step("publishing", None);
    let mut manifest = manifest(job, &made, &release.state, &tables);
    manifest.job.written = WrittenEntry::of(places.dialect, &made.generalized.shape);
    manifest.seal(signing.as_ref())?;
    if let Some(step) = &made.suppression {
        release.note(|journal| step.note(&keys, &manifest.digest, journal))?;
    }
    let verified = release.publish(&manifest)?;
    let records = records(&made, &verified);
    let warnings = warnings(job, &made, &verified, replaced);
    Ok(Report {
        manifest,
        manifest_path: places.manifest,
        tables: places.tables.iter().map(PathBuf::from).collect(),
        records,
        distinct_rows: made.distinct_rows,
        verification: verified.verification,
        tally: verified.tally,
        dropped_columns: job.dropped.clone(),
        warnings,
        missing: made.input.missing,
        unnamed: made.input.persons.as_ref().map_or(0, |persons| persons.unnamed),
        algorithm_report: made.generalized.algorithm_report,
        joined: made.joined.map(|joined| joined.report),
        suppression: verified.suppression,
        unique_records: verified.unique_records,
        sent,
        publication: job.publication,
    })
}

/// Returns everything that the publisher must know about the release.
fn warnings(
    job: &CheckedJob,
    made: &Made,
    verified: &Verified,
    replaced: Vec<String>,
) -> Vec<String> {
    let mut warnings = job.warnings.clone();
    warnings.extend(replaced);
    warnings.extend(crate::judging::guarantee::misfits(&made.domains, &job.reading()));
    warnings.extend(made.generalized.means.iter().flat_map(|means| means.warnings(&made.domains)));
    warnings.extend(crate::judging::guarantee::too_many_digits(&made.domains, &job.reading()));
    if job.job.output.as_ref().is_some_and(|output| output.numbers == Numbers::Mean) {
        warnings.extend(crate::judging::guarantee::without_means(&made.domains, &job.reading()));
    }
    let column = |(name, own): &(String, Spellings)| own.warnings(name, "value", "values");
    warnings.extend(made.input.spellings.iter().flat_map(column));
    if let (Some(persons), Some(name)) = (&made.input.persons, &job.job.input.person) {
        warnings.extend(persons.spellings.warnings(name, "person", "persons"));
    }
    warnings.extend(made.input.repeating.iter().map(|name| {
        format!(
            "identifier `{name}` occurs in several records, and k records need not be k people; \
             if it identifies persons, \
             count them with `[input] person`"
        )
    }));
    warnings.extend(verified.unique_records.iter().flat_map(unmodified::warnings));
    warnings.extend(made.joined.iter().flat_map(|joined| joined.report.warnings.clone()));
    warnings
}

fn records(made: &Made, verified: &Verified) -> Records {
    let in_table = verified.files.first().map_or(0, |file| file.records);
    let suppressed = made.suppression.as_ref().map_or(0, |step| step.total());
    let starred = made.generalized.starred;
    Records {
        read: made.input.read,
        dropped_missing: made.input.dropped_missing,
        suppressed: verified.absent + starred + suppressed,
        published: made.joined.as_ref().map_or(in_table - starred, |joined| joined.records),
    }
}

/// Returns the numbers of persons, if models count persons.
fn persons(made: &Made, verification: &Verification) -> Option<PersonsEntry> {
    let own = made.input.persons.as_ref()?;
    // If no person has several records, a record is a person.
    let found = verification.persons;
    let published = found.map_or(verification.records, |found| found.published);
    Some(PersonsEntry {
        read: Some(own.read),
        dropped: Some(own.read.saturating_sub(published)),
        published,
        smallest_group: found.map_or(verification.smallest_group, |found| found.smallest_group),
        smallest_group_records: verification.smallest_group,
    })
}

/// Builds the public manifest of a release.
fn manifest(job: &CheckedJob, made: &Made, verified: &Verified, tables: &[TablePlace]) -> Manifest {
    let Records { read, dropped_missing, suppressed, published } = records(made, verified);
    let suppression = made.suppression.as_ref().map(|step| step.entry());
    let test = suppression.as_ref().is_some_and(|step| step.test);
    let files = tables.iter().filter(|table| table.public).zip(&verified.files);
    let mut manifest = Manifest {
        incrowd: env!("CARGO_PKG_VERSION").to_owned(),
        format: FORMAT,
        release: tables.first().map(|table| table.path.name()).unwrap_or_default(),
        publication: job.publication.name().to_owned(),
        job: JobEntry::new(job, &made.schema),
        records: RecordsEntry { published, ..RecordsEntry::default() },
        unit: made.input.persons.as_ref().map(|_| PERSONS.to_owned()),
        persons: persons(made, &verified.verification),
        groups: verified.verification.groups,
        models: ModelEntry::all(&verified.verification),
        metrics: Metrics::of(&verified.tally),
        algorithm: AlgorithmEntry {
            name: job.method.card.name.to_owned(),
            // A seed could help to reconstruct which record was in which group.
            params: parameters(&job.method.params, &["seed"]),
            levels: made.generalized.levels.clone(),
            taken: made
                .generalized
                .algorithm_report
                .as_ref()
                .and_then(|report| report.taken())
                .map(str::to_owned),
        },
        digest: verified.files.first().map(|file| file.digest.clone()).unwrap_or_default(),
        sensitive_groups: None,
        files: files
            .map(|(table, file)| FileEntry {
                content: file.content.as_str().to_owned(),
                name: table.path.name(),
                records: file.records,
                digest: file.digest.clone(),
            })
            .collect(),
        suppression,
        test: test.then(|| {
            "made with a fixed seed: anyone who knows it can infer what was suppressed".to_owned()
        }),
        ..Manifest::default()
    };
    let (all, without) = (manifest.persons, |entry: PersonsEntry| PersonsEntry {
        read: None,
        dropped: None,
        ..entry
    });
    manifest.records.dropped_missing = Some(dropped_missing);
    // The size of the table would reveal how many records were suppressed.
    if Audience::decide(Fact::SizeOfTheTable, manifest.hides_suppression()).is_everybody() {
        (manifest.records.read, manifest.records.suppressed) = (Some(read), Some(suppressed));
    } else {
        manifest.persons = all.map(without);
    }
    job.publication.describe(&mut manifest, job, verified);
    manifest
}

impl Report {
    /// Returns the path of the first table of the release.
    pub(crate) fn path(&self) -> std::path::Display<'_> {
        self.tables.first().unwrap_or(&self.manifest_path).display()
    }

    /// Returns the numbers of records for the algorithm's report.
    pub fn outcome(&self) -> Outcome {
        let Records { suppressed, published, .. } = self.records;
        Outcome { records: published + suppressed, suppressed }
    }

    /// Returns the manifest as JSON; the key `private` contains data for the owner only.
    pub fn to_json(&self) -> Json {
        let mut answer = self.manifest.to_json();
        if let Some(report) = &self.algorithm_report {
            answer["private"][report.name()] = report.to_json();
        }
        if let Some(suppression) = &self.suppression {
            answer["private"]["suppression"] = suppression.to_json();
            let Records { read, dropped_missing, suppressed, published } = self.records;
            answer["private"]["records"] = json!({
                "read": read,
                "dropped_missing": dropped_missing,
                "suppressed": suppressed,
                "published": published,
            });
        }
        if let Some(joined) = &self.joined {
            answer["private"]["join"] = joined.to_json();
        }
        if let Some(sent) = &self.sent {
            answer["private"]["database"] = json!({ "sent": sent.rows, "grouped": sent.grouped });
        }
        if let Some(found) = &self.unique_records {
            answer["private"]["singling_out"] = unmodified::to_json(found);
        }
        if let Some(found) = &self.verification.persons {
            answer["private"]["persons"] =
                json!({ "dominance": found.dominance, "without_a_name": self.unnamed });
        }
        answer
    }
}
