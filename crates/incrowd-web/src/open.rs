//! An open table and its jobs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use incrowd::job::{AlgorithmJob, Input, Job, JobError, Output};
use incrowd::profile::{InitOptions, Profile, as_quasi};
use incrowd::{Batches, Error, Glimpse, Location, OpenTable, Progress, Result, Source};
use tempfile::TempDir;
use toml::Value;

use crate::document::Document;
use crate::guard::secret;

/// The origin of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A path on this machine.
    Path,
    /// Uploaded by the browser.
    Upload,
    /// The synthetic table of the demo.
    Demo,
    /// In memory, passed by a program.
    Memory,
}

/// An open table.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) id: String,
    /// The displayed name.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) input: Input,
    /// The directory that relative paths of its jobs refer to.
    pub(crate) base: PathBuf,
    /// A warning about journals next to the table that this user's key does not authenticate.
    pub(crate) journals: Option<String>,
    /// The cached folds.
    pub(crate) open: OpenTable,
    jobs: Mutex<HashMap<String, Arc<Document>>>,
    /// The private directory of an upload or of the demo. It is removed when this is dropped.
    dir: Mutex<Option<TempDir>>,
    /// Whether the table could not be read and its directory was removed.
    discarded: AtomicBool,
}

/// The profile of a table and its first job.
#[derive(Debug)]
pub(crate) struct Inspection {
    pub(crate) profile: Profile,
    pub(crate) glimpses: Vec<Glimpse>,
    /// The id of the first job, which the profile proposes.
    pub(crate) first: String,
}

/// The k of a first job.
const DEFAULT_K: u64 = 10;
/// The largest number of jobs kept for a table.
const MOST_JOBS: usize = 10_000;

impl Opened {
    fn new(name: String, origin: Origin, input: Input, base: PathBuf) -> Opened {
        let id = secret()[..12].to_owned();
        let (open, jobs, dir) = (OpenTable::new(), Mutex::default(), Mutex::default());
        let discarded = AtomicBool::new(false);
        let journals = incrowd::front_end::unauthenticated_beside(
            input.paths.iter().filter_map(Location::file),
        );
        Opened { id, name, origin, input, base, journals, open, jobs, dir, discarded }
    }

    /// Opens a table at a path on this machine.
    pub(crate) fn by_path(path: &Path) -> Result<Opened> {
        let path = absolute(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let base = path.parent().unwrap_or(Path::new("/")).to_owned();
        Opened::checked(name, Origin::Path, path, base)
    }

    /// Opens a table in a private directory, which is removed with it, or at once on an error.
    pub(crate) fn private(dir: TempDir, name: String, origin: Origin) -> Result<Opened> {
        let (path, base) = (dir.path().join(&name), dir.path().to_owned());
        let opened = Opened::checked(name, origin, path, base)?;
        Ok(Opened { dir: Mutex::new(Some(dir)), ..opened })
    }

    /// Removes the private directory of a table that cannot be read. The table itself is removed
    /// when another is opened; until then its page shows the error.
    pub(crate) fn discard(&self) {
        drop(self.dir.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.discarded.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_discarded(&self) -> bool {
        self.discarded.load(Ordering::Relaxed)
    }

    fn checked(name: String, origin: Origin, path: PathBuf, base: PathBuf) -> Result<Opened> {
        // Reports files that are not tables.
        Source::open(std::slice::from_ref(&path), &incrowd::Options::default())?;
        let input = Input { paths: vec![path.into()], ..Input::default() };
        Ok(Opened::new(name, origin, input, base))
    }

    /// Opens a table in memory.
    pub(crate) fn in_memory(batches: Batches) -> Opened {
        let input = Input { memory: Some(batches), ..Input::default() };
        let base = std::env::current_dir().unwrap_or_default();
        Opened::new("table".to_owned(), Origin::Memory, input, base)
    }

    /// Stores a job and returns its id.
    pub(crate) fn add_job(&self, job: Document) -> String {
        let id = job.id();
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.len() >= MOST_JOBS {
            jobs.clear();
        }
        jobs.insert(id.clone(), Arc::new(job));
        id
    }

    pub(crate) fn job(&self, id: &str) -> Option<Arc<Document>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Profiles the table and drafts its first job.
    pub(crate) fn inspect(&self, progress: &dyn Progress) -> Result<Inspection> {
        let glimpses = self.input.progress(progress).glimpse()?;
        // A group cannot have more records than the table.
        let records = glimpses.first().map_or(0, |column| column.records);
        let options = |k| InitOptions {
            input: self.input.clone(),
            k,
            job: self.base.join("job.toml"),
            ..InitOptions::default()
        };
        let k = DEFAULT_K.min((records / 4).max(2));
        let (text, profile) = match options(k).progress(progress).run() {
            Ok(draft) => (draft.text, draft.profile),
            // No role is certain, or the table is tiny: the user decides.
            Err(error) if error.fault() == incrowd::Fault::Job => {
                let options = incrowd::ProfileOptions {
                    input: self.input.clone(),
                    most: Some(2),
                    ..Default::default()
                };
                (String::new(), options.progress(progress).run()?)
            }
            Err(error) => return Err(error),
        };
        let mut document = Document::parse(&text).unwrap_or_else(|| plain(&profile, k));
        if text.is_empty() {
            document = plain(&profile, k);
        }
        let path = match self.origin {
            Origin::Path => self.input.paths.first().map(ToString::to_string),
            Origin::Upload | Origin::Demo => Some(self.name.clone()),
            Origin::Memory => None,
        };
        document.put(&["input", "path"], path.map(Value::from));
        document.put(&["output", "path"], Some(Value::from(self.release_name())));
        let first = self.add_job(document);
        Ok(Inspection { profile, glimpses, first })
    }

    /// Returns the default file name of a release.
    pub(crate) fn release_name(&self) -> String {
        let name = self.name.trim_end_matches(".gz").trim_end_matches(".zst");
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "csv"));
        let known = ["csv", "tsv", "txt", "parquet", "arrow", "feather"]
            .contains(&extension.to_lowercase().as_str());
        format!("{stem}.release.{}", if known { extension } else { "csv" })
    }

    /// Parses a document as a job that reads this table and makes a release in memory.
    pub(crate) fn read(&self, document: &Document) -> std::result::Result<Job, JobError> {
        let mut job = document.read(&self.base)?.job;
        (job.input.paths, job.input.memory) = (self.input.paths.clone(), self.input.memory.clone());
        if let Some(output) = &mut job.output {
            let (manifest, report, owner_report, sign) = (None, None, None, None);
            let path = "release.arrow".into();
            *output = Output { path, manifest, report, owner_report, sign, ..output.clone() };
        }
        Ok(job)
    }

    /// Returns the job with a fast algorithm, if it uses the slow algorithm `auto`.
    pub(crate) fn quick_job(
        &self,
        document: &Document,
    ) -> Option<std::result::Result<Job, JobError>> {
        let slow = document.algorithm() == "auto";
        let quick = |job: Job| Job {
            algorithm: AlgorithmJob {
                name: "mondrian".to_owned(),
                params: Vec::new(),
                bound: false,
                ..job.algorithm.clone()
            },
            ..job
        };
        slow.then(|| self.read(document).map(quick))
    }
}

impl Inspection {
    /// Returns the profile of a column.
    pub(crate) fn column(&self, name: &str) -> Option<&incrowd::profile::ColumnProfile> {
        self.profile.columns.iter().find(|column| column.name == name)
    }

    pub(crate) fn glimpse(&self, name: &str) -> Option<&Glimpse> {
        self.glimpses.iter().find(|column| column.name == name)
    }

    /// Returns the proposed entry of a column as a quasi-identifier.
    pub(crate) fn as_quasi(&self, name: &str) -> Option<Value> {
        let text = format!("x = {}", as_quasi(self.column(name)?));
        text.parse::<toml::Table>().ok()?.remove("x")
    }
}

/// Returns a job with the roles of a profile, for tables without a drafted job.
fn plain(profile: &Profile, k: u64) -> Document {
    let role = |role| {
        let known = incrowd::job::RoleName::ALL.iter().find(|(_, known)| *known == role);
        known.map_or("drop", |(name, _)| name)
    };
    let mut document = Document::parse("[input]\n[output]\n[columns]\n")
        .unwrap_or_else(|| unreachable!("valid TOML"));
    for column in &profile.columns {
        document.put(&["columns", &column.name], Some(Value::from(role(column.proposal.role))));
    }
    document.with_k(k)
}

/// Returns an absolute path; `~` is the home directory.
fn absolute(path: &Path) -> Result<PathBuf> {
    let home = |rest: &Path| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(rest));
    let path = path.strip_prefix("~").ok().and_then(home).unwrap_or_else(|| path.to_owned());
    std::path::absolute(&path)
        .map_err(|_| Error::input("this is not a path").help("enter the path of a file"))
}
