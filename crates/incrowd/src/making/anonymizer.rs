//! The entry point for making releases: a job, an observer of its progress, and the place of the
//! release.

use std::borrow::Cow;

use incrowd_core::{Error, Progress, Result, Silent};
use incrowd_engine::{Embedded, Engine, FileStore, Location, MemoryStore, PostgresStore, Store};

use crate::job::reading::open_input;
use crate::job::{Job, Output};
use crate::making::pipeline::{Released, Report, anonymize_with_insight};
use crate::reporting::report;
use crate::work::stoppable;

/// Makes a verified release of a table.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::{Anonymizer, Job};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-anonymizer-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// # let release = dir.join("patients.release.csv");
/// let table = "name,age,zip,disease\nAnn,34,02139,flu\nBob,36,02139,cold\nCyd,38,02141,flu\n\
///              Dan,51,02140,flu\nEve,55,02141,none\nFay,58,02141,none\nGus,61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let job = Job::of_file(&people)
///     .quasi(["age", "zip"])
///     .sensitive(["disease"])
///     .k(3)
///     .output(&release);
/// let report = Anonymizer::new(job).run()?;
/// assert_eq!(report.tables, [release.clone()]);
/// assert_eq!(report.dropped_columns, ["name"]);
/// assert_eq!(report.manifest.models[0].holds, Some(true));
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
///
/// A program that shows progress implements [`Progress`]:
///
/// ```
/// struct Printer;
///
/// impl incrowd::Progress for Printer {
///     fn step(&self, name: &str, _: Option<u64>) {
///         eprintln!("{name}");
///     }
///     fn advance(&self, _: u64) {}
/// }
///
/// let job = incrowd::Job::of_file("no-such-file.csv").quasi(["age"]).k(3).output("release.csv");
/// let result = incrowd::Anonymizer::new(&job).progress(&Printer).run();
/// assert!(result.is_err());
/// ```
#[derive(Clone)]
#[must_use = "an anonymizer does nothing until it is run"]
pub struct Anonymizer<'a> {
    job: Cow<'a, Job>,
    progress: &'a dyn Progress,
}

incrowd_core::opaque_debug!(Anonymizer<'_> { job });

impl From<Job> for Cow<'_, Job> {
    fn from(job: Job) -> Self {
        Cow::Owned(job)
    }
}

impl<'a> From<&'a Job> for Cow<'a, Job> {
    fn from(job: &'a Job) -> Self {
        Cow::Borrowed(job)
    }
}

impl<'a> Anonymizer<'a> {
    /// Creates an anonymizer for a job, given by value or by reference. Progress is not reported.
    pub fn new(job: impl Into<Cow<'a, Job>>) -> Anonymizer<'a> {
        Anonymizer { job: job.into(), progress: &Silent }
    }

    /// Sets the receiver of progress reports.
    pub fn progress(self, progress: &'a dyn Progress) -> Anonymizer<'a> {
        Anonymizer { progress, ..self }
    }

    /// Makes a release, verifies the bytes to be published, and publishes them with their manifest.
    /// On an error nothing is published and no staged file remains.
    ///
    /// Reports are made from the published release. If a report fails, the release stays.
    /// If [`Watch::stop`](crate::work::Watch::stop) is called meanwhile, the error has the fault
    /// [`Fault::Stopped`](crate::Fault::Stopped).
    pub fn run(&self) -> Result<Report> {
        stoppable(|| self.run_to_end())
    }

    fn run_to_end(&self) -> Result<Report> {
        let job = &*self.job;
        let pages = report::targets(job)?;
        let store: Box<dyn Store> = match job.output.as_ref().map(|output| &output.path) {
            Some(Location::Database(_)) => PostgresStore::new().map_err(|e| e.at("output.path"))?,
            _ => Box::new(FileStore::default()),
        };
        let mut engine = Embedded::with_store(open_input(&job.input)?, store);
        let report = anonymize_with_insight(&mut engine, job, None, self.progress)?;
        self.progress.published(&report.path().to_string());
        stoppable(|| report::write_pages(job, &pages, self.progress)).map_err(|e| {
            e.help("the release and its manifest are in place; only the report is missing")
        })?;
        self.progress.reported();
        Ok(report)
    }

    /// Makes a release in memory and verifies its serialized bytes. The job needs no output path.
    pub fn run_in_memory(&self) -> Result<Released> {
        let job = with_output_in_memory(&self.job);
        let store = MemoryStore::new();
        let mut engine = Embedded::new(open_input(&job.input)?, store.clone());
        let report = stoppable(|| anonymize_with_insight(&mut engine, &job, None, self.progress))?;
        let (tables, _) = store.released().ok_or_else(|| Error::bug("nothing was published"))?;
        Ok(Released { tables, report })
    }

    /// Runs the whole pipeline with any engine.
    pub fn run_with(&self, engine: &mut dyn Engine) -> Result<Report> {
        stoppable(|| anonymize_with_insight(engine, &self.job, None, self.progress))
    }
}

/// Returns the job for a release in memory.
pub(crate) fn with_output_in_memory(job: &Job) -> Job {
    let mut job = job.clone();
    let path = "release.arrow".into();
    let output = job.output.get_or_insert_with(|| Output { path, ..Output::default() });
    // Formulas exist in text only.
    output.csv_safe = false;
    job
}
