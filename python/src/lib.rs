//! The compiled module of the Python package `incrowd`. Tables arrive as Arrow capsules, arguments
//! become a job through the list of keys, work runs without the interpreter lock, and answers are
//! returned as JSON.
//!
//! The public functions and result classes are in `incrowd/`, next to this directory.

mod arguments;
mod errors;
mod release;
mod requests;
mod serving;
mod signatures;
mod spark;
mod tables;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use incrowd::front_end::core::Taxonomy;
use incrowd::front_end::{Claim, Mark, Target};
use incrowd::hierarchy::{HierarchySpec, arx, lint};
use incrowd::job::JobFile;
use incrowd::job::keys::{Command, Section};
use incrowd::{
    AttackRequest, Audience, BatchesRequest, CompareRequest, Error, Judging, JudgingBuilder,
    ReleasePersons,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value as Json;

use arguments::{Arguments, Asked};
use release::Release;
use tables::{Given, Sequence};
use work::{Finished, run};

/// An answer as JSON, and its warnings.
type Answer = (String, Vec<String>);

/// Makes a release.
#[pyfunction]
fn anonymize(
    py: Python<'_>,
    table: Option<Given>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Release, Vec<String>)> {
    let arguments = Arguments::of(py, Command::Anonymize, arguments)?;
    run(py, progress, move |progress| {
        let (file, to_file) = arguments.making(job.as_deref(), table)?;
        let JobFile { job, provenance, notes } = file;
        let locate = |error| provenance.locate(error);
        let journals = incrowd::front_end::unauthenticated_by_job(&job);
        let (release, warnings) = match to_file {
            true => Release::in_files(
                incrowd::Anonymizer::new(&job).progress(progress).run().map_err(locate)?,
                job,
            ),
            false => Release::in_memory(
                incrowd::Anonymizer::new(&job)
                    .progress(progress)
                    .run_in_memory()
                    .map_err(locate)?,
                job,
            ),
        };
        Ok((release, notes.into_iter().chain(journals).chain(warnings).collect()))
    })
}

/// Verifies the privacy models of a release.
#[pyfunction]
fn verify(
    py: Python<'_>,
    release: Bound<'_, PyAny>,
    original: Option<Given>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    of_job: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    judge(
        py,
        Command::Verify,
        &release,
        original,
        arguments,
        (job, of_job),
        progress,
        |judging, asked, progress| {
            judging.check = asked.path("check")?;
            let checked = judging.progress(progress).verify()?;
            let unread = checked.verification.unread.iter().map(|(column, records)| {
                format!(
                    "column `{column}`: the cells of {records} records cover no person of the \
                 population; if that is unexpected, give the kinds and hierarchies the release was \
                 made with"
                )
            });
            let warnings = checked.from_original.iter().flat_map(|found| found.warnings.clone());
            let behind = match &checked.persons {
                ReleasePersons::Unknown(why) => Some(errors::with_arguments(why)),
                ReleasePersons::NotRequested | ReleasePersons::Known => None,
            };
            let unsealed = checked.manifest_unsealed.then(|| {
                "the manifest does not contain its own digest: changes to it cannot be detected"
                    .to_owned()
            });
            let warnings = unread.chain(behind).chain(warnings).chain(unsealed);
            Ok((checked.to_json().to_string(), warnings.collect()))
        },
    )
}

/// Measures the information loss of a release.
#[pyfunction]
fn measure(
    py: Python<'_>,
    original: Given,
    release: Bound<'_, PyAny>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    of_job: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let original = Some(original);
    judge(
        py,
        Command::Measure,
        &release,
        original,
        arguments,
        (job, of_job),
        progress,
        |judging, asked, progress| {
            let measured = judging.progress(progress).measure(Some(&asked.measures()?))?;
            Ok((measured.to_json().to_string(), Vec::new()))
        },
    )
}

/// Runs attacks on a release.
#[pyfunction]
fn attack(
    py: Python<'_>,
    release: Bound<'_, PyAny>,
    original: Option<Given>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    of_job: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let counts_known = original.is_some();
    let file = job.clone();
    judge(
        py,
        Command::Attack,
        &release,
        original,
        arguments,
        (job, of_job),
        progress,
        move |judging, asked, progress| {
            let request = AttackRequest { counts_known, ..asked.attacks()? };
            if counts_known && request.original_size.is_some() {
                return Err(Error::job("`original` and `original_size` cannot be given together"));
            }
            // Checked before any work: the file must not replace an input.
            let details = asked.path("details")?.map(|path| -> Result<Target, Error> {
                let mut claim = Claim::of_judging(judging);
                request.second.iter().for_each(|second| claim.judges(second));
                let external = request.external.iter().flat_map(|table| &table.paths);
                external.for_each(|path| claim.reads(path));
                file.iter().for_each(|path| claim.reads(path));
                let target = claim.writes(&path, "the details", "details")?;
                incrowd::front_end::check_file(&path, Mark::None, asked.flag("replace")?)?;
                Ok(target)
            });
            let details = details.transpose()?;
            let report = judging.progress(progress).attack(&request)?;
            let mut answer = report.to_json();
            in_arguments(&mut answer);
            if let Some(target) = &details {
                incrowd::front_end::write_file(target, &report.details(), Audience::Owner)?;
            }
            let journals = incrowd::front_end::unauthenticated_by_attack(&request).into_iter();
            let details = incrowd::front_end::unauthenticated_beside(asked.path("details")?);
            Ok((answer.to_string(), journals.chain(details).collect()))
        },
    )
}

/// Replaces job keys in the texts of an answer by argument names.
fn in_arguments(answer: &mut Json) {
    match answer {
        Json::Object(map) => {
            for (name, value) in map {
                match value {
                    Json::String(text) if name == "why" => *text = errors::with_arguments(text),
                    Json::Array(notes) if name == "notes" => {
                        let texts = notes.iter_mut().filter(|note| note.is_string());
                        texts.for_each(|note| {
                            *note = errors::with_arguments(note.as_str().unwrap_or_default()).into()
                        });
                    }
                    below => in_arguments(below),
                }
            }
        }
        Json::Array(all) => all.iter_mut().for_each(in_arguments),
        _ => {}
    }
}

/// Returns the reports of a release: the public page, and the owner's page if there is an original.
#[pyfunction]
fn report(
    py: Python<'_>,
    release: Bound<'_, PyAny>,
    original: Option<Given>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    of_job: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    judge(
        py,
        Command::Report,
        &release,
        original,
        arguments,
        (job, of_job),
        progress,
        |judging, asked, progress| {
            let pages = judging.progress(progress).report(&asked.measures()?)?;
            let answer = serde_json::json!({
                "public": pages.public, "owner": pages.owner, "holds": pages.decision.answer(),
            });
            Ok((answer.to_string(), Vec::new()))
        },
    )
}

/// Judges a release. The pair is the job file, and whether the arguments are the settings of a job,
/// which describe the original.
#[allow(clippy::too_many_arguments, reason = "they are those of the functions above")]
fn judge(
    py: Python<'_>,
    command: Command,
    release: &Bound<'_, PyAny>,
    original: Option<Given>,
    arguments: &Bound<'_, PyDict>,
    (job, of_job): (Option<PathBuf>, bool),
    progress: Option<Py<PyAny>>,
    judge: impl FnOnce(&mut Judging, &Asked, &dyn incrowd::Progress) -> Result<Answer, Error>
    + Send
    + 'static,
) -> PyResult<Answer> {
    let arguments = Arguments::of(py, command, arguments)?;
    let release = judged(release)?;
    run(py, progress, move |progress| {
        let (mut file, asked) = arguments.judging(job.as_deref(), of_job, release, original)?;
        let answer = judge(&mut file.judging, &asked, progress);
        let (answer, mut warnings) = answer.map_err(|error| file.provenance.locate(error))?;
        // Two files of a request may be in one directory.
        warnings.retain(|text| !file.warnings.contains(text));
        Ok((answer, file.notes.into_iter().chain(file.warnings).chain(warnings).collect()))
    })
}

/// Returns the request to judge a release of this package or any other table.
fn judged(release: &Bound<'_, PyAny>) -> PyResult<JudgingBuilder> {
    match release.cast::<Release>() {
        Ok(release) => Ok(release.get().judging()),
        Err(_) => release.extract().map(|table: Given| JudgingBuilder::new(table.table())),
    }
}

/// Profiles a table.
#[pyfunction]
fn profile(
    py: Python<'_>,
    table: Given,
    arguments: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let mut arguments = Arguments::of(py, Command::Profile, arguments)?;
    // Column settings are for the distances between outliers. They are applied after the profile,
    // because columns get their roles from it.
    let of_columns = arguments.split_off(|key| {
        key.section == Section::Columns
            || key.section == Section::Input && key.name == "hierarchies"
    });
    run(py, progress, move |progress| {
        let (JobFile { job, provenance, notes }, asked) = arguments.profiling(table)?;
        let locate = |error| provenance.locate(error);
        let outliers = asked.outliers()?;
        if outliers.is_none() && !of_columns.is_empty() {
            let error = Error::job("hierarchies are used only for the distances between outliers");
            return Err(error
                .help("also give `outliers`, for example {\"on\": \"income\"}")
                .into());
        }
        let options = asked.profile(job.input.clone())?;
        let journals = incrowd::front_end::unauthenticated_by_job(&job);
        let profile = options.progress(progress).run().map_err(locate)?;
        let mut answer = profile.to_json();
        if let Some(params) = outliers {
            let job = of_columns.apply_to(requests::outlier_job(job, &profile, &params))?;
            let outliers = incrowd::OutlierRequest::new(job, params)
                .progress(progress)
                .run()
                .map_err(locate)?;
            answer["private"]["outliers"] = outliers.to_json();
        }
        Ok((answer.to_string(), notes.into_iter().chain(journals).collect()))
    })
}

/// Compares algorithms, models and parameters. Returns the answer and its page.
#[pyfunction]
fn compare(
    py: Python<'_>,
    table: Option<Given>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, Vec<String>)> {
    let arguments = Arguments::of(py, Command::Compare, arguments)?;
    run(py, progress, move |progress| {
        let JobFile { mut job, provenance, notes } = arguments.comparing(job.as_deref(), table)?;
        let sweep = job.compare.get_or_insert_default().clone();
        // Results are kept for a later run only in a given directory.
        let own = tempfile::tempdir()
            .map_err(|e| Error::resources(format!("cannot create a directory: {e}")))?;
        let dir = match sweep.dir {
            Some(_) if job.input.memory.is_some() => {
                let error = Error::job("results of a table in memory are not kept for a later run");
                return Err(error.help("remove `output`, or give the path of the table").into());
            }
            Some(dir) => dir,
            None => own.path().to_owned(),
        };
        let mut journals: Vec<String> =
            incrowd::front_end::unauthenticated_by_job(&job).into_iter().collect();
        journals.extend(incrowd::front_end::unauthenticated_beside([&dir.join("comparison.csv")]));
        journals.dedup();
        let request = CompareRequest::new(job, &dir).threads(sweep.threads);
        let compared =
            request.progress(progress).run().map_err(|error| provenance.locate(error))?;
        let page = std::fs::read_to_string(dir.join("comparison.html"));
        let page = page.map_err(|e| Error::resources(format!("the page cannot be read: {e}")))?;
        let notes = notes.into_iter().chain(journals).collect();
        Ok((compared.to_json().to_string(), page, notes))
    })
}

/// Publishes a sequence of tables with one job.
#[pyfunction]
fn batches(
    py: Python<'_>,
    tables: Sequence,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let arguments = Arguments::of(py, Command::Batches, arguments)?;
    run(py, progress, move |progress| {
        let (JobFile { job, provenance, notes }, asked) = arguments.publishing(job.as_deref())?;
        let dir = asked.path("dir")?.unwrap_or_else(|| PathBuf::from("releases"));
        let mut journals: Vec<String> =
            incrowd::front_end::unauthenticated_by_job(&job).into_iter().collect();
        journals.extend(incrowd::front_end::unauthenticated_by_batches(&tables.0, &dir));
        journals.dedup();
        let request =
            BatchesRequest::new(job, tables.0, dir).same_people(asked.flag("same_people")?);
        let report = request.progress(progress).run().map_err(|error| provenance.locate(error))?;
        Ok((report.to_json().to_string(), notes.into_iter().chain(journals).collect()))
    })
}

/// Explains a model, algorithm, metric or attack, or lists all of them without a name.
#[pyfunction]
fn explain(py: Python<'_>, name: Option<&str>) -> PyResult<String> {
    let entries = incrowd::explain::entries();
    let Some(name) = name else {
        let all: Vec<Json> = entries.iter().map(signatures::entry).collect();
        return Ok(Json::from(all).to_string());
    };
    let is_named = |entry: &&incrowd::explain::Entry| {
        let plain = |text: &str| text.replace([' ', '_'], "-");
        plain(entry.name) == plain(name)
    };
    match entries.iter().find(is_named) {
        Some(entry) => Ok(signatures::entry(entry).to_string()),
        None => {
            let error = Error::job(format!("there is nothing called `{name}`"));
            let error = error.help_near(name, entries.iter().map(|entry| entry.name));
            Err(errors::raise(py, error.into()))
        }
    }
}

/// Returns for each value of a column its labels at every level of a hierarchy, the value first.
#[pyfunction]
fn levels(
    py: Python<'_>,
    table: Given,
    column: String,
    hierarchy: &Bound<'_, PyAny>,
) -> PyResult<Vec<Vec<String>>> {
    hierarchy_of(py, table, column, hierarchy, None, |taxonomy, spec, values| {
        let labels = |value: &&str| {
            let code = taxonomy.code(value).or_else(|| taxonomy.code(&spec.canonical(value)?))?;
            let label = |level| taxonomy.label(taxonomy.at_level(code, level)).to_owned();
            Some(
                std::iter::once((*value).to_owned())
                    .chain((0..=taxonomy.height()).map(label))
                    .collect(),
            )
        };
        values.iter().map(labels).collect()
    })
}

/// Builds the hierarchy of a column from its values and evaluates `ask` on it.
fn hierarchy_of<T: Send + 'static>(
    py: Python<'_>,
    table: Given,
    column: String,
    hierarchy: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    ask: impl FnOnce(&Taxonomy, &HierarchySpec, &[&str]) -> Option<T> + Send + 'static,
) -> PyResult<T> {
    let given = PyDict::new(py);
    given.set_item("quasi", [column.as_str()])?;
    let of_column = PyDict::new(py);
    of_column.set_item(column.as_str(), hierarchy)?;
    given.set_item("hierarchy", of_column)?;
    let arguments = Arguments::of(py, Command::Anonymize, &given)?;
    let (answer, journals) = run(py, progress, move |progress| {
        let (file, _) = arguments.making(None, Some(table))?;
        let journals = incrowd::front_end::unauthenticated_by_job(&file.job);
        let spec = file.job.column(&column).and_then(|column| column.spec.hierarchy.clone());
        let spec = spec.ok_or_else(|| Error::job("no hierarchy is given"))?;
        let counted = file.job.input.progress(progress).column_counts(&column)?;
        let values: Vec<&str> = counted.iter().map(|(value, _)| value.as_str()).collect();
        let counts: Vec<u64> = counted.iter().map(|(_, records)| *records).collect();
        let taxonomy = spec.build_counted(&column, &values, Some(&counts), None)?;
        let known = values.iter().copied().filter(|value| spec.canonical(value).is_none());
        let absent = lint::missing_values(&taxonomy, known);
        let answer = if absent > 0 { None } else { ask(&taxonomy, &spec, &values) };
        let answer = answer.ok_or_else(|| {
            Error::input(format!("column `{column}` has values that are not in its hierarchy"))
        });
        Ok((answer?, journals))
    })?;
    journals.iter().try_for_each(|text| errors::warn(py, text))?;
    Ok(answer)
}

/// Returns the hierarchy of a column as an ARX-style file: one line per value.
#[pyfunction]
fn hierarchy(
    py: Python<'_>,
    table: Given,
    column: String,
    kind: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    hierarchy_of(py, table, column, kind, progress, |taxonomy, _, _| Some(arx::write(taxonomy)))
}

/// Checks a hierarchy file and returns the findings as JSON.
#[pyfunction]
#[pyo3(name = "lint")]
fn lint_file(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let lint_lines = || -> incrowd::Result<Json> {
        let spec = incrowd::job::hierarchy_from_path(&path)?;
        let (findings, lines) = match &spec {
            HierarchySpec::Arx { name, text } => {
                let lines = arx::lines(name, text)?;
                (lint::lint(&lines), lines.len())
            }
            _ => (Vec::new(), 0),
        };
        let is_error = |finding: &&lint::Finding| finding.severity == lint::Severity::Error;
        let to_json = |finding: &lint::Finding| {
            let severity = if is_error(&finding) { "error" } else { "warning" };
            serde_json::json!({
                "severity": severity, "line": finding.line, "message": finding.message,
            })
        };
        let errors = findings.iter().filter(is_error).count();
        let all: Vec<Json> = findings.iter().map(to_json).collect();
        Ok(serde_json::json!({ "lines": lines, "errors": errors, "findings": all }))
    };
    lint_lines().map(|json| json.to_string()).map_err(|error| errors::raise(py, error.into()))
}

/// Writes a job file for a table.
#[pyfunction]
fn init(
    py: Python<'_>,
    tables: Vec<PathBuf>,
    arguments: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    let arguments = Arguments::of(py, Command::Init, arguments)?;
    run(py, progress, move |progress| {
        let (file, asked) = arguments.profiling(Given::Files(tables))?;
        let journals = incrowd::front_end::unauthenticated_by_job(&file.job);
        let options = asked.init(file.job)?;
        let beside = incrowd::front_end::unauthenticated_beside([&options.job]);
        let beside = beside.filter(|text| journals.as_ref() != Some(text));
        if options.job.exists() && !asked.flag("force")? {
            let error = Error::job(format!("`{}` already exists", options.job.display()));
            return Err(error
                .help("choose another file with `output`, or replace it with `force=True`")
                .into());
        }
        let mut claim = Claim::default();
        claim.read_input(&options.input);
        let target = claim.writes(&options.job, "the job file", "output")?;
        let draft = options.progress(progress).run().map_err(|e| file.provenance.locate(e))?;
        incrowd::front_end::write_file(&target, draft.text.as_bytes(), Audience::Everybody)?;
        let unsure =
            draft.profile.columns.iter().filter(|c| !c.proposal.sure).map(|c| c.name.clone());
        let unsure: Vec<String> = unsure.collect();
        let doubts = (!unsure.is_empty()).then(|| {
            let columns = unsure.join(", ");
            format!("uncertain roles: {columns}; comments in the file explain why")
        });
        let answer =
            serde_json::json!({ "job": options.job, "release": draft.release, "text": draft.text });
        let notes = file.notes.into_iter().chain(journals).chain(beside).chain(doubts);
        Ok((answer.to_string(), notes.collect()))
    })
}

/// Writes a page. Only its owner can read a private page.
#[pyfunction]
fn write_page(
    py: Python<'_>,
    path: PathBuf,
    text: &str,
    private: bool,
    replace: bool,
) -> PyResult<()> {
    let readers = if private { Audience::Owner } else { Audience::Everybody };
    let write = || {
        let target = Target::decide(&path)?;
        if !replace && path.exists() {
            return Err(Error::job(format!("`{}` already exists", path.display()))
                .help("choose another file, or replace it with `replace=True`"));
        }
        incrowd::front_end::write_file(&target, text.as_bytes(), readers)
    };
    write().map_err(|error| errors::raise(py, error.into()))
}

/// Returns a valid job file as JSON.
#[pyfunction]
fn read_job(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = || -> Result<Json, Finished> {
        let file = incrowd::job::read(&path)?;
        let table: toml::Table = file
            .provenance
            .text
            .trim_start_matches('\u{feff}')
            .parse()
            .map_err(|_| Error::bug("a parsed job file is not TOML"))?;
        serde_json::to_value(table).map_err(|_| Error::bug("a job file is not JSON").into())
    };
    match read() {
        Ok(json) => Ok(json.to_string()),
        Err(finished) => Err(work::raise(finished, py)),
    }
}

/// Returns the keyword arguments of every function, for the generator.
#[pyfunction]
#[pyo3(name = "signatures")]
fn all_signatures() -> String {
    signatures::all().to_string()
}

/// Runs the command line and returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| incrowd_cli::run_command(arguments));
    (0..=u8::MAX).find(|n| ExitCode::from(*n) == code).unwrap_or(2)
}

/// Removes the staged files of interrupted runs.
#[pyfunction]
fn abandon_all() {
    incrowd::front_end::abandon_all();
}

#[pymodule]
fn _incrowd(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Release>()?;
    module.add_class::<spark::Stream>()?;
    module.add_function(wrap_pyfunction!(spark::spark_anonymize, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_plan_part, module)?)?;
    module.add_function(wrap_pyfunction!(spark::digest_each, module)?)?;
    module.add_function(wrap_pyfunction!(spark::put_directory, module)?)?;
    module.add_function(wrap_pyfunction!(spark::digest, module)?)?;
    module.add_function(wrap_pyfunction!(spark::job_places, module)?)?;
    module.add_function(wrap_pyfunction!(anonymize, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(attack, module)?)?;
    module.add_function(wrap_pyfunction!(report, module)?)?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(batches, module)?)?;
    module.add_function(wrap_pyfunction!(levels, module)?)?;
    module.add_function(wrap_pyfunction!(hierarchy, module)?)?;
    module.add_function(wrap_pyfunction!(lint_file, module)?)?;
    module.add_function(wrap_pyfunction!(init, module)?)?;
    module.add_function(wrap_pyfunction!(write_page, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(read_job, module)?)?;
    module.add_function(wrap_pyfunction!(all_signatures, module)?)?;
    module.add_function(wrap_pyfunction!(serving::serve, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(abandon_all, module)?)
}
