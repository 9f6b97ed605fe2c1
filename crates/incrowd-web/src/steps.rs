//! The work of each step; each calls one function of the library.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use incrowd::front_end::core::MissingCells;
use incrowd::front_end::{Mark, Target};
use incrowd::job::{CompareJob, Job};
use incrowd::profile::Profile;
use incrowd::work::{Failed, Watch, caught};
use incrowd::{
    Ask, AttackReport, AttackRequest, Audience, CompareRequest, Comparison, Error, Fault, Insight,
    Judging, Location, Measurement, MemoryRelease, ProfileOptions, Progress, Report,
};
use toml::Value;

use crate::app::App;
use crate::demo;
use crate::document::Document;
use crate::open::{Inspection, Opened, Origin};
use crate::tasks::{Key, Kind, Task};

/// The result of a task.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Inspected(Arc<Inspection>),
    Uniqueness(Arc<Profile>),
    Release(Arc<Release>),
    Alternatives(Arc<Vec<Alternative>>),
    Checked(Arc<Checked>),
    Compared(Arc<Comparison>),
    Published(Arc<Published>),
    #[cfg(test)]
    Nothing,
}

/// A release in memory with its report.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) report: Report,
    pub(crate) insight: Option<Insight>,
    pub(crate) held: MemoryRelease,
    pub(crate) job: Job,
    /// The duration in seconds.
    pub(crate) seconds: f64,
}

/// The result with another k.
#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) k: u64,
    /// Loss and number of groups, or why there is no such release.
    pub(crate) outcome: Result<(f64, u64), String>,
}

/// The results of attacks and measures.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) attacks: AttackReport,
    pub(crate) measured: Option<Measurement>,
    /// The error of the measurement.
    pub(crate) unmeasured: Option<String>,
    /// Whether persons are counted instead of records.
    pub(crate) persons: bool,
    /// Whether a missing cell matches any value.
    pub(crate) any: bool,
}

/// The written files.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) dir: PathBuf,
    pub(crate) files: Vec<(File, PathBuf)>,
    /// A warning about journals that were not executed.
    pub(crate) journals: Option<String>,
}

/// The kind of a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    Release,
    Manifest,
    Public,
    Owner,
    Job,
    Table,
}

impl File {
    pub(crate) const ALL: [(&'static str, File); 6] = [
        ("release", File::Release),
        ("manifest", File::Manifest),
        ("public", File::Public),
        ("owner", File::Owner),
        ("job", File::Job),
        ("table", File::Table),
    ];

    pub(crate) fn name(self) -> &'static str {
        File::ALL.iter().find(|(_, file)| *file == self).map_or("", |(name, _)| name)
    }
}

/// The values of k that are tried in addition to that of the job.
const OTHER_K: [u64; 5] = [2, 5, 10, 25, 50];

/// Starts the work for a table and a job, or returns the task if it exists.
pub(crate) fn ask(app: &App, table: &Arc<Opened>, job: &str, kind: Kind) -> Option<Arc<Task>> {
    let key = Key { table: table.id.clone(), job: job.to_owned(), kind };
    let own = table.clone();
    if kind == Kind::Inspect {
        let work = move |watch: &Watch| {
            let inspected = caught(|| Ok(own.inspect(watch)?));
            // An unreadable upload is removed. A stopped task may be restarted and keeps its
            // upload.
            if matches!(inspected, Err(Failed::Error(_))) {
                own.discard();
            }
            inspected.map(|inspection| Answer::Inspected(Arc::new(inspection)))
        };
        return Some(app.tasks.ask(&Key { job: String::new(), ..key }, work));
    }
    let document = table.job(job)?;
    let dir = app.dir.path().to_owned();
    let work = move |watch: &Watch| match kind {
        Kind::Uniqueness => uniqueness(&own, &document, watch),
        Kind::Quick => match own.quick_job(&document) {
            Some(job) => release(&own, job?, watch),
            None => release(&own, own.read(&document)?, watch),
        },
        Kind::Release => release(&own, own.read(&document)?, watch),
        Kind::Alternatives => alternatives(&own, &document, watch),
        Kind::Compare => compare(&own, &document, &dir, watch),
        Kind::Publish => publish(&own, &document, watch),
        Kind::Inspect | Kind::Check => Err(Error::bug("this task is started elsewhere").into()),
    };
    Some(app.tasks.ask(&key, work))
}

/// Starts to attack and measure a release.
pub(crate) fn ask_check(
    app: &App,
    table: &Arc<Opened>,
    job: &str,
    release: Arc<Release>,
) -> Arc<Task> {
    let key = Key { table: table.id.clone(), job: job.to_owned(), kind: Kind::Check };
    app.tasks.ask(&key, move |watch| check(&release, watch))
}

fn uniqueness(table: &Opened, document: &Document, watch: &Watch) -> Result<Answer, Failed> {
    use incrowd::job::RoleName;
    let input =
        document.read(&table.base).map_or_else(|_| table.input.clone(), |file| file.job.input);
    let input = incrowd::job::Input {
        paths: table.input.paths.clone(),
        memory: table.input.memory.clone(),
        weight: None,
        person: None,
        ..input
    };
    let quasi = document.in_role(RoleName::Quasi).into_iter().map(str::to_owned).collect();
    // Unpublished columns do not make records unique.
    let published =
        |column: &&str| !matches!(document.role(column), RoleName::Identifier | RoleName::Drop);
    let columns: Vec<String> =
        document.columns().into_iter().filter(published).map(str::to_owned).collect();
    if columns.is_empty() {
        return Err(Error::job("no column would be published")
            .help("give some columns another role")
            .into());
    }
    let options = ProfileOptions { input, quasi, columns, ..ProfileOptions::default() };
    Ok(Answer::Uniqueness(Arc::new(options.progress(watch).run()?)))
}

fn release(table: &Opened, job: Job, watch: &Watch) -> Result<Answer, Failed> {
    let began = Instant::now();
    let (released, insight) = table.open.progress(watch).anonymize(&job)?;
    let held =
        MemoryRelease { tables: released.tables, manifest: released.report.manifest.clone() };
    let seconds = began.elapsed().as_secs_f64();
    Ok(Answer::Release(Arc::new(Release { report: released.report, insight, held, job, seconds })))
}

fn alternatives(table: &Opened, document: &Document, watch: &Watch) -> Result<Answer, Failed> {
    let own = document.k().map(|(_, k)| k);
    let mut all: Vec<u64> = OTHER_K.into_iter().chain(own).collect();
    all.sort_unstable();
    all.dedup();
    let mut tried = Vec::new();
    for k in all {
        watch.step("trying other k", None);
        let with_k = document.with_k(k);
        let job = table.quick_job(&with_k).unwrap_or_else(|| table.read(&with_k))?;
        let outcome = match table.open.progress(watch).anonymize(&job) {
            Ok((released, _)) => {
                let manifest = &released.report.manifest;
                Ok((manifest.metrics.ncp(), manifest.groups))
            }
            Err(error) if error.fault() == Fault::Stopped => return Err(Failed::Stopped),
            Err(error) => Err(error.to_string()),
        };
        tried.push(Alternative { k, outcome });
    }
    Ok(Answer::Alternatives(Arc::new(tried)))
}

fn check(release: &Release, watch: &Watch) -> Result<Answer, Failed> {
    let judging = Judging::of_memory(release.held.clone(), &release.job)
        .with_original(release.job.input.clone());
    let attacks = judging.progress(watch).attack(&AttackRequest::default())?;
    let (measured, unmeasured) = match judging.progress(watch).measure(Some(&Ask::default())) {
        Ok(measured) => (Some(measured), None),
        Err(error) if error.fault() == Fault::Stopped => return Err(Failed::Stopped),
        Err(error) => (None, Some(error.to_string())),
    };
    let persons = release.job.input.person.is_some();
    let any = release.job.algorithm.missing_cells == MissingCells::Any;
    Ok(Answer::Checked(Arc::new(Checked { attacks, measured, unmeasured, persons, any })))
}

fn compare(
    table: &Opened,
    document: &Document,
    dir: &Path,
    watch: &Watch,
) -> Result<Answer, Failed> {
    let mut job = table.read(document)?;
    job.compare = Some(CompareJob::default());
    let failed = |e| Error::resources(format!("cannot create a private directory: {e}"));
    let dir = tempfile::tempdir_in(dir).map_err(failed)?;
    let compared = CompareRequest::new(job, dir.path()).progress(watch).run()?;
    match compared.complete() {
        true => Ok(Answer::Compared(Arc::new(compared))),
        false => Err(Failed::Stopped),
    }
}

/// Returns a path of the section `[output]`.
fn output(document: &Document, key: &str) -> Option<PathBuf> {
    document.get_text(&["output", key]).map(PathBuf::from)
}

/// The beginning of the job files that are written here.
const JOB_BEGINS: &str = "# A job of `incrowd serve`.";

/// Returns the job file that is written next to the release.
pub(crate) fn job_text(
    table: &Opened,
    inspection: Option<&Inspection>,
    document: &Document,
) -> String {
    let mut own = document.clone();
    for key in ["path", "report", "owner_report"] {
        let name = output(document, key)
            .and_then(|path| path.file_name().map(|n| n.to_string_lossy().into_owned()));
        own.put(&["output", key], name.map(Value::from));
    }
    let remarks = |column: &str| {
        let known = inspection.and_then(|inspection| inspection.column(column));
        let proposal = known.map(|known| &known.proposal);
        proposal
            .filter(|known| known.role == document.role(column))
            .map(|known| known.reason.clone())
            .into_iter()
            .collect()
    };
    let hint = match table.origin {
        Origin::Path => "",
        Origin::Upload | Origin::Demo => "# Put the table into the directory of this file.\n",
        Origin::Memory => "# Add the path of the table to [input]: path = \"table.csv\".\n",
    };
    let name = job_name(&output(document, "path").unwrap_or_default());
    format!(
        "{JOB_BEGINS} To make the same release again: incrowd anonymize {name}\n{hint}\n{}",
        own.render(&remarks)
    )
}

/// Returns the name of the job file of a release.
pub(crate) fn job_name(release: &Path) -> String {
    let name = release.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split(".release.").next().unwrap_or(&name);
    format!("{stem}.job.toml")
}

fn publish(table: &Opened, document: &Document, watch: &Watch) -> Result<Answer, Failed> {
    let mut job = document.read(&table.base)?.job;
    (job.input.paths, job.input.memory) = (table.input.paths.clone(), table.input.memory.clone());
    let path = output(document, "path").filter(|path| path.is_absolute());
    let path = path.ok_or_else(|| {
        Error::job("no folder is given").help("enter the path of a folder: /home/me/release")
    })?;
    let dir = path.parent().unwrap_or(Path::new("")).to_owned();
    // The job file must not replace an input or another output.
    let job_path = dir.join(job_name(&path));
    let mut claim = incrowd::front_end::Claim::default();
    claim.read_input(&job.input);
    let target: Target = claim.writes(&job_path, "the job file", "job")?;
    let replace = job.output.as_ref().is_some_and(|output| output.replace);
    incrowd::front_end::check_file(&job_path, Mark::Begins(JOB_BEGINS), replace)?;
    let demo = matches!(table.origin, Origin::Demo).then(|| dir.join(demo::NAME));
    if let (Some(to), Some(from)) = (&demo, table.input.paths.first().and_then(Location::file)) {
        // An equal file from an earlier demo may be replaced.
        let same = matches!((std::fs::read(to), std::fs::read(from)), (Ok(a), Ok(b)) if a == b);
        incrowd::front_end::check_file(to, Mark::None, replace || same)?;
    }
    let journals = incrowd::front_end::unauthenticated_by_job(&job);
    let report = incrowd::Anonymizer::new(&job).progress(watch).run()?;
    let mut files = vec![(File::Release, path), (File::Manifest, report.manifest_path.clone())];
    files.extend(report.tables.iter().skip(1).map(|path| (File::Release, path.clone())));
    files.extend(output(document, "report").map(|path| (File::Public, path)));
    files.extend(output(document, "owner_report").map(|path| (File::Owner, path)));
    incrowd::front_end::write_file(
        &target,
        job_text(table, None, document).as_bytes(),
        Audience::Owner,
    )?;
    files.push((File::Job, job_path));
    if let (Some(to), Some(from)) = (demo, table.input.paths.first().and_then(Location::file)) {
        let bytes = std::fs::read(from)
            .map_err(|e| Error::resources(format!("cannot read the demo: {e}")))?;
        incrowd::front_end::write_file(&Target::decide(&to)?, &bytes, Audience::Everybody)?;
        files.push((File::Table, to));
    }
    Ok(Answer::Published(Arc::new(Published { dir, files, journals })))
}
