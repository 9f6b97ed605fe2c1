//! The main job, from a table to a verified release.

use std::path::PathBuf;

use incrowd_audit::{Alone, Verification};
use incrowd_core::audience::{Audience, Fact};
use incrowd_core::metric::Tally;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{
    Embedded, Engine, FileStore, MemoryStore, PostgresStore, ReleasedTable, Sent, Store, is_database,
};
use incrowd_recode::{Outcome, Reported};
use serde_json::{Value as Json, json};

use crate::as_it_is;
use crate::checked::CheckedJob;
use crate::in_parts;
use crate::insight::Insight;
use crate::job::{Job, Output};
use crate::make::{Made, Records, make};
use crate::manifest::{AlgorithmEntry, FORMAT, FileEntry, JobEntry, Manifest, Metrics, ModelEntry};
use crate::manifest::{PERSONS, PersonsEntry, RecordsEntry, SigningKey, WrittenEntry, file_name, parameters};
use crate::publication::joined::JoinReport;
use crate::publication::{Publication, TablePlace};
use crate::reading::{open_input, resolve_columns};
use crate::release::{Release, Verified};
use crate::suppression::{FileKeys, SuppressionReport};

/// What happened, for the person who asked. The manifest in it is public; the rest is for the owner of the data.
#[derive(Debug)]
pub struct Report {
    /// The manifest as written.
    pub manifest: Manifest,
    /// Where it is.
    pub manifest_path: PathBuf,
    /// The tables of the release in their places; those that are not for the public are in no manifest.
    pub tables: Vec<PathBuf>,
    /// How many records went where.
    pub records: Records,
    /// How many distinct rows the records folded into.
    pub distinct_rows: u64,
    /// What verification found on the written bytes.
    pub verification: Verification,
    /// What the release cost.
    pub tally: Tally,
    /// Columns that were left out because the job does not name them.
    pub dropped_columns: Vec<String>,
    /// What a person should know, in words.
    pub warnings: Vec<String>,
    /// How many records have a missing value, by column, where there are any.
    pub missing: Vec<(String, u64)>,
    /// How many records name no person, where persons are counted: each counts as one.
    pub unnamed: u64,
    /// What else the algorithm knows.
    pub algorithm_report: Reported,
    /// What only the publisher can know of a release with people of an external table.
    pub joined: Option<JoinReport>,
    /// What was withheld before anything else.
    pub suppression: Option<SuppressionReport>,
    /// Who is alone in what is published as it is, if anything is.
    pub alone: Option<Alone>,
    /// What the database sent, if the table lies in one.
    pub sent: Option<Sent>,
    pub(crate) publication: &'static dyn Publication,
}

/// A release in memory.
#[derive(Debug)]
pub struct Released {
    /// Its tables; the first one is the release, or the one in which people are looked for.
    pub tables: Vec<ReleasedTable>,
    /// What happened.
    pub report: Report,
}

/// Makes a release, verifies it on the bytes to be published, and puts it in place with its manifest. On any error nothing
/// is put in place and nothing is left behind.
///
/// Pages about the release are made from the release in its place; if one of them cannot be made, the release stays.
pub fn anonymize(job: &Job, progress: &dyn Progress) -> Result<Report> {
    let pages = crate::report::targets(job)?;
    let in_database = job.output.as_ref().is_some_and(|output| is_database(&output.path));
    let store: Box<dyn Store> = match in_database {
        true => PostgresStore::new().map_err(|e| e.at("output.path"))?,
        false => Box::new(FileStore::default()),
    };
    let mut engine = Embedded::with_store(open_input(&job.input)?, store);
    let report = anonymize_with(&mut engine, job, progress)?;
    crate::report::write_pages(job, &pages, progress)
        .map_err(|e| e.help("the release and its manifest are in place; only the report is missing"))?;
    Ok(report)
}

/// Makes a release in memory, verified on its serialized bytes. The job need not say where it goes.
pub fn anonymize_in_memory(job: &Job, progress: &dyn Progress) -> Result<Released> {
    let mut job = job.clone();
    job.output.get_or_insert_with(|| Output { path: PathBuf::from("release.arrow"), ..Output::default() });
    // Formulas are a matter of text.
    job.output.iter_mut().for_each(|output| output.csv_safe = false);
    let store = MemoryStore::new();
    let mut engine = Embedded::new(open_input(&job.input)?, store.clone());
    let report = anonymize_with(&mut engine, &job, progress)?;
    let (tables, _) = store.released().ok_or_else(|| Error::bug("nothing was published"))?;
    Ok(Released { tables, report })
}

/// The whole way with any engine.
pub fn anonymize_with(engine: &mut dyn Engine, job: &Job, progress: &dyn Progress) -> Result<Report> {
    anonymize_looking(engine, job, None, progress)
}

/// The same, with what the owner sees of the release while it is made.
pub(crate) fn anonymize_looking(
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
    let (tables, mut places) = job.places()?;
    places.dialect = job.dialect(engine.source())?;
    engine.begin(&places)?;
    let signing = job.job.output.as_ref().and_then(|output| output.sign.as_deref());
    let signing = signing.map(SigningKey::read_or_make).transpose().map_err(|e| e.at("output.sign"))?;
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
    manifest.job.written = WrittenEntry::of(places.dialect, &made.shape);
    manifest.seal(signing.as_ref())?;
    if let Some(withholding) = &made.withholding {
        release.note(|journal| withholding.note(&keys, &manifest.digest, journal))?;
    }
    let verified = release.publish(&manifest)?;
    let records = records(&made, &verified);
    let mut warnings = job.warnings.clone();
    warnings.extend(crate::guarantee::misfits(&made.domains, &job.reading()));
    warnings.extend(made.repeating.iter().map(|name| {
        format!(
            "identifier `{name}` occurs in several records, and k records need not be k people; if it tells persons apart, \
             count them with `[input] person`"
        )
    }));
    warnings.extend(verified.alone.iter().flat_map(as_it_is::warnings));
    warnings.extend(made.joined.iter().flat_map(|joined| joined.warnings.clone()));
    Ok(Report {
        manifest,
        manifest_path: places.manifest,
        tables: places.tables,
        records,
        distinct_rows: made.distinct_rows,
        verification: verified.verification,
        tally: verified.tally,
        dropped_columns: job.dropped.clone(),
        warnings,
        missing: made.missing,
        unnamed: made.persons.as_ref().map_or(0, |persons| persons.unnamed),
        algorithm_report: made.algorithm_report,
        joined: made.joined,
        suppression: verified.suppression,
        alone: verified.alone,
        sent,
        publication: job.publication,
    })
}

fn records(made: &Made, verified: &Verified) -> Records {
    let in_table = verified.files.first().map_or(0, |file| file.records);
    let withheld = made.withholding.as_ref().map_or(0, |held| held.total());
    Records {
        read: made.read,
        dropped_missing: made.dropped_missing,
        suppressed: verified.absent + made.starred + withheld,
        published: made.microdata.unwrap_or(in_table - made.starred),
    }
}

/// How many persons went where, if they were asked for.
fn persons(made: &Made, verification: &Verification) -> Option<PersonsEntry> {
    let own = made.persons.as_ref()?;
    // Where nobody has several records, a record is a person.
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

/// What everybody is told of a release.
fn manifest(job: &CheckedJob, made: &Made, verified: &Verified, tables: &[TablePlace]) -> Manifest {
    let Records { read, dropped_missing, suppressed, published } = records(made, verified);
    let suppression = made.withholding.as_ref().map(|held| held.entry());
    let test = suppression.as_ref().is_some_and(|step| step.test);
    let files = tables.iter().filter(|table| table.public).zip(&verified.files);
    let mut manifest = Manifest {
        incrowd: env!("CARGO_PKG_VERSION").to_owned(),
        format: FORMAT,
        release: tables.first().map(|table| file_name(&table.path)).unwrap_or_default(),
        publication: job.publication.name().to_owned(),
        job: JobEntry::new(job, &made.schema),
        records: RecordsEntry { published, ..RecordsEntry::default() },
        unit: made.persons.as_ref().map(|_| PERSONS.to_owned()),
        persons: persons(made, &verified.verification),
        groups: verified.verification.groups,
        models: ModelEntry::all(&verified.verification),
        metrics: Metrics::of(&verified.tally),
        algorithm: AlgorithmEntry {
            name: job.method.card.name.to_owned(),
            // A seed helps nobody but whoever wants to know who stood where.
            params: parameters(&job.method.params, &["seed"]),
            levels: made.levels.clone(),
            taken: made.algorithm_report.as_ref().and_then(|report| report.taken()).map(str::to_owned),
        },
        digest: verified.files.first().map(|file| file.digest.clone()).unwrap_or_default(),
        sensitive_groups: None,
        files: files
            .map(|(table, file)| FileEntry {
                content: file.content.to_owned(),
                name: file_name(&table.path),
                records: file.records,
                digest: file.digest.clone(),
            })
            .collect(),
        suppression,
        test: test.then(|| "made with a stated seed: whoever has it can tell what was withheld".to_owned()),
        ..Manifest::default()
    };
    let (all, without) =
        (manifest.persons, |entry: PersonsEntry| PersonsEntry { read: None, dropped: None, ..entry });
    manifest.records.dropped_missing = Some(dropped_missing);
    // The size of the table would tell how many records were withheld.
    if Audience::decide(Fact::SizeOfTheTable, manifest.withheld_in_secret()).is_everybody() {
        (manifest.records.read, manifest.records.suppressed) = (Some(read), Some(suppressed));
    } else {
        manifest.persons = all.map(without);
    }
    job.publication.describe(&mut manifest, job, verified);
    manifest
}

impl Report {
    /// Where the first table of the release is.
    pub(crate) fn path(&self) -> std::path::Display<'_> {
        self.tables.first().unwrap_or(&self.manifest_path).display()
    }

    /// What became of the records, as the algorithm's report puts itself beside it.
    pub fn outcome(&self) -> Outcome {
        let Records { suppressed, published, .. } = self.records;
        Outcome { records: published + suppressed, suppressed }
    }

    /// The manifest, and under `private` what else is known and not meant for the public.
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
        if let Some(found) = &self.alone {
            answer["private"]["singling_out"] = as_it_is::to_json(found);
        }
        if let Some(found) = &self.verification.persons {
            answer["private"]["persons"] =
                json!({ "dominance": found.dominance, "without_a_name": self.unnamed });
        }
        answer
    }
}
