//! A table that somebody opened, with the jobs that were made for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use incrowd::job::{AlgorithmJob, Input, Job, JobError, Output};
use incrowd::profile::{InitOptions, Profile, as_quasi};
use incrowd::{Batches, Error, Glimpse, OpenTable, Progress, Result, Source};
use toml::Value;

use crate::document::Document;
use crate::guard::secret;

/// Where a table came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A path on this machine.
    Path,
    /// The browser sent it.
    Upload,
    /// People who do not exist.
    Demo,
    /// A program has it in memory.
    Memory,
}

/// A table that somebody opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) id: String,
    /// What it is called.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// Where it is.
    pub(crate) input: Input,
    /// What relative paths of its jobs are relative to.
    pub(crate) base: PathBuf,
    /// What was folded of it.
    pub(crate) open: OpenTable,
    jobs: Mutex<HashMap<String, Arc<Document>>>,
}

/// What is known of a table once it was looked at.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) profile: Profile,
    pub(crate) glimpses: Vec<Glimpse>,
    /// The first job, as a profile proposes it.
    pub(crate) first: String,
}

/// The k that a first job has.
const USUAL_K: u64 = 10;
/// More jobs are not kept for a table.
const MOST_JOBS: usize = 10_000;

impl Opened {
    fn new(name: String, origin: Origin, input: Input, base: PathBuf) -> Opened {
        let id = secret()[..12].to_owned();
        Opened { id, name, origin, input, base, open: OpenTable::new(), jobs: Mutex::default() }
    }

    /// A table at a path on this machine.
    pub(crate) fn by_path(path: &Path) -> Result<Opened> {
        let path = absolute(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let base = path.parent().unwrap_or(Path::new("/")).to_owned();
        Opened::checked(name, Origin::Path, path, base)
    }

    /// A table that lies in a private directory.
    pub(crate) fn private(path: &Path, origin: Origin) -> Result<Opened> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let base = path.parent().unwrap_or(Path::new("/")).to_owned();
        Opened::checked(name, origin, path.to_owned(), base)
    }

    fn checked(name: String, origin: Origin, path: PathBuf, base: PathBuf) -> Result<Opened> {
        // What is no table is told now.
        Source::open(std::slice::from_ref(&path), &incrowd::Options::default())?;
        let input = Input { paths: vec![path], ..Input::default() };
        Ok(Opened::new(name, origin, input, base))
    }

    /// A table that a program has.
    pub(crate) fn in_memory(batches: Batches) -> Opened {
        let input = Input { memory: Some(batches), ..Input::default() };
        let base = std::env::current_dir().unwrap_or_default();
        Opened::new("table".to_owned(), Origin::Memory, input, base)
    }

    /// Keeps a job and tells its name.
    pub(crate) fn keep(&self, job: Document) -> String {
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

    /// Looks at the table and drafts its first job.
    pub(crate) fn look(&self, progress: &dyn Progress) -> Result<Looked> {
        let glimpses = incrowd::glimpse(&self.input, progress)?;
        // A group cannot have more records than the table.
        let records = glimpses.first().map_or(0, |column| column.records);
        let options = |k| InitOptions {
            input: self.input.clone(),
            k,
            job: self.base.join("job.toml"),
            ..InitOptions::default()
        };
        let k = USUAL_K.min((records / 4).max(2));
        let (text, profile) = match incrowd::profile::init(&options(k), progress) {
            Ok(draft) => (draft.text, draft.profile),
            // No role is sure, or the table is tiny: whoever looks at it decides.
            Err(error) if error.fault() == incrowd::Fault::Job => {
                let options = incrowd::ProfileOptions {
                    input: self.input.clone(),
                    most: Some(2),
                    ..Default::default()
                };
                (String::new(), incrowd::profile(&options, progress)?)
            }
            Err(error) => return Err(error),
        };
        let mut document = Document::parse(&text).unwrap_or_else(|| plain(&profile, k));
        if text.is_empty() {
            document = plain(&profile, k);
        }
        let path = match self.origin {
            Origin::Path => self.input.paths.first().map(|path| path.display().to_string()),
            Origin::Upload | Origin::Demo => Some(self.name.clone()),
            Origin::Memory => None,
        };
        document.put(&["input", "path"], path.map(Value::from));
        document.put(&["output", "path"], Some(Value::from(self.release_name())));
        let first = self.keep(document);
        Ok(Looked { profile, glimpses, first })
    }

    /// What a release of it is called.
    pub(crate) fn release_name(&self) -> String {
        let name = self.name.trim_end_matches(".gz").trim_end_matches(".zst");
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "csv"));
        let known =
            ["csv", "tsv", "txt", "parquet", "arrow", "feather"].contains(&extension.to_lowercase().as_str());
        format!("{stem}.release.{}", if known { extension } else { "csv" })
    }

    /// The job of a document, about this table and for a release in memory.
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

    /// The same made in a hurry, if that is not how it is made anyway.
    pub(crate) fn hurried(&self, document: &Document) -> Option<std::result::Result<Job, JobError>> {
        let thorough = document.algorithm() == "auto";
        let hurried = |job: Job| Job {
            algorithm: AlgorithmJob {
                name: "mondrian".to_owned(),
                params: Vec::new(),
                bound: false,
                ..job.algorithm.clone()
            },
            ..job
        };
        thorough.then(|| self.read(document).map(hurried))
    }
}

impl Looked {
    /// What the profile says of a column.
    pub(crate) fn column(&self, name: &str) -> Option<&incrowd::profile::ColumnProfile> {
        self.profile.columns.iter().find(|column| column.name == name)
    }

    pub(crate) fn glimpse(&self, name: &str) -> Option<&Glimpse> {
        self.glimpses.iter().find(|column| column.name == name)
    }

    /// How a column is generalized that is made a quasi-identifier.
    pub(crate) fn as_quasi(&self, name: &str) -> Option<Value> {
        let text = format!("x = {}", as_quasi(self.column(name)?));
        text.parse::<toml::Table>().ok()?.remove("x")
    }
}

/// A job with the roles of a profile, where nothing better could be drafted.
fn plain(profile: &Profile, k: u64) -> Document {
    let role = |role| {
        let known = incrowd::job::RoleName::ALL.iter().find(|(_, known)| *known == role);
        known.map_or("drop", |(name, _)| name)
    };
    let mut document =
        Document::parse("[input]\n[output]\n[columns]\n").unwrap_or_else(|| unreachable!("it is TOML"));
    for column in &profile.columns {
        document.put(&["columns", &column.name], Some(Value::from(role(column.proposal.role))));
    }
    document.with_k(k)
}

/// A path that somebody typed, `~` being home.
fn absolute(path: &Path) -> Result<PathBuf> {
    let home = |rest: &Path| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(rest));
    let path = path.strip_prefix("~").ok().and_then(home).unwrap_or_else(|| path.to_owned());
    std::path::absolute(&path).map_err(|_| Error::input("that is no path").help("type the path of a file"))
}
