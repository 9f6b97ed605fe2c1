//! Keyword arguments become a job: those that are keys through the table of keys, promises by their names, the rest are asked
//! for by whoever needs them.

use std::path::{Path, PathBuf};

use incrowd::job::keys::{Command, Flag, Form, Key, Kind, Section, flags_of};
use incrowd::job::{
    ExternalJob, Job, JobBuilder, JobFile, Origin, Output, Provenance, Table, argument_name, promise_name,
};
use incrowd::model::MODELS;
use incrowd::{Batches, Error, Judging};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde_json::{Map, Value as Json};

use crate::requests::{Takes, requests_of};
use crate::tables::Given;
use crate::work::Finished;
use crate::{Judged, errors};

/// What was given to a function, by argument.
#[derive(Debug)]
pub(crate) struct Arguments {
    command: Command,
    given: Map<String, Json>,
    /// Tables in memory, by the argument they were given for.
    tables: Vec<(String, Batches)>,
    /// Releases, likewise.
    releases: Vec<(String, Judging)>,
}

/// Whether a key names a table beside the one the job is about.
pub(crate) fn takes_table(key: &Key) -> bool {
    key.kind == Kind::Files && matches!(key.section, Section::Population | Section::External)
}

/// Whether an argument takes a table, be it of a key or asked for by a function alone.
fn is_table(command: Command, name: &str) -> bool {
    keys_of(command).any(|(key, flag)| takes_table(key) && argument_name(flag) == name)
        || requests_of(command).any(|request| request.takes == Takes::Table && request.name == name)
}

/// Whether an argument takes a release.
fn is_release(command: Command, name: &str) -> bool {
    requests_of(command).any(|request| request.takes == Takes::Release && request.name == name)
}

/// What stands for a table in memory until it takes its place.
const IN_MEMORY: &str = "a table in memory";

/// Those arguments that are no keys of a job.
#[derive(Debug)]
pub(crate) struct Asked {
    given: Map<String, Json>,
    tables: Vec<(String, Batches)>,
    releases: Vec<(String, Judging)>,
}

impl Asked {
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.given.get(name)
    }

    /// A table, in memory or in a file.
    pub(crate) fn any_table(&self, name: &str) -> Result<Option<Table>, Error> {
        match self.tables.iter().find(|(own, _)| own == name) {
            Some((_, batches)) => Ok(Some(Table::in_memory(batches.clone()))),
            None => Ok(self.path(name)?.map(Table::file)),
        }
    }

    /// A release, in memory or in a file.
    pub(crate) fn release(&self, name: &str) -> Option<Judging> {
        self.releases.iter().find(|(own, _)| own == name).map(|(_, judging)| judging.clone())
    }
}

/// The arguments of a command that are keys of a job. The table is the first argument, so that of a database is named in its
/// address: `postgresql:///clinic?table=people`.
pub(crate) fn keys_of(command: Command) -> impl Iterator<Item = (&'static Key, &'static Flag)> {
    let named = |flag: &Flag| flag.form != Form::Argument && argument_name(flag) != "table";
    flags_of(command).filter(move |(_, flag)| named(flag))
}

/// Whether models are promised by their names.
pub(crate) fn promises(command: Command) -> bool {
    keys_of(command).any(|(key, flag)| key.section == Section::Models && flag.form == Form::Named(""))
}

/// Short for a promise: `k`.
fn is_short(flag: &Flag) -> bool {
    matches!(flag.form, Form::Named(beginning) if !beginning.is_empty())
}

impl Arguments {
    /// Reads the arguments; those that are `None` were not given.
    pub(crate) fn of(py: Python<'_>, command: Command, given: &Bound<'_, PyDict>) -> PyResult<Arguments> {
        let (mut read, mut tables, mut releases) = (Map::new(), Vec::new(), Vec::new());
        for (name, value) in given {
            let name: String = name.extract()?;
            if is_release(command, &name) && !value.is_none() {
                releases.push((name.clone(), Judged::of(&value)?.judging().0));
                read.insert(name, IN_MEMORY.into());
                continue;
            }
            if is_table(command, &name) && value.hasattr("__arrow_c_stream__")? {
                if let Given::Memory(batches) = value.extract()? {
                    tables.push((name.clone(), batches));
                    read.insert(name, IN_MEMORY.into());
                }
                continue;
            }
            if !value.is_none() {
                let value = json(&value, 0).map_err(|why| {
                    errors::raise(py, Error::job(format!("`{name}` cannot be read: {why}")).into())
                })?;
                read.insert(name, value);
            }
        }
        Ok(Arguments { command, given: read, tables, releases })
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        self.given.shift_remove(name)
    }

    /// Takes those of some keys apart.
    pub(crate) fn apart(&mut self, wanted: impl Fn(&Key) -> bool) -> Arguments {
        let names = keys_of(self.command).filter(|(key, _)| wanted(key)).map(|(_, flag)| argument_name(flag));
        let given = names.filter_map(|name| self.take(&name).map(|value| (name, value))).collect();
        Arguments { command: self.command, given, tables: Vec::new(), releases: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Adds what is said to a job.
    pub(crate) fn on_top(self, job: Job) -> Result<Job, Finished> {
        let mut builder = JobBuilder::of(job);
        self.on(&mut builder)?;
        Ok(builder.finish_judging()?.job)
    }

    /// Adds what is said of keys and promises, and returns the rest.
    fn on(mut self, builder: &mut JobBuilder) -> Result<Asked, Finished> {
        // Hierarchies by column are what `hierarchy` says; a path is the directory where they lie.
        if let Some(Json::Object(by_column)) = self.given.get("hierarchies").cloned() {
            self.take("hierarchies");
            let known = self.given.entry("hierarchy").or_insert_with(|| Json::Object(Map::new()));
            known.as_object_mut().into_iter().for_each(|known| known.extend(by_column.clone()));
        }
        for (key, flag) in keys_of(self.command).filter(|(_, flag)| !is_short(flag)) {
            if let Some(value) = self.take(&argument_name(flag)) {
                builder.argument(key, flag, &value)?;
            }
        }
        if promises(self.command) {
            for card in MODELS {
                let name = promise_name(card.name);
                if let Some(value) = self.take(&name) {
                    builder.promise(card.name, &name, &value)?;
                }
            }
            if let Some(k) = self.take("k") {
                builder.promise("k-anonymity", "k", &k)?;
            }
        }
        let (command, mut asked) = (self.command, Map::new());
        for request in requests_of(command) {
            asked.extend(self.take(request.name).map(|value| (request.name.to_owned(), value)));
        }
        // What was read as a path is the table itself.
        for (key, flag) in keys_of(command).filter(|(key, _)| takes_table(key)) {
            if let Some((_, batches)) = self.tables.iter().find(|(name, _)| *name == argument_name(flag)) {
                builder.in_memory(key.section, batches.clone());
            }
        }
        match self.given.keys().next() {
            None => Ok(Asked { given: asked, tables: self.tables, releases: self.releases }),
            Some(unknown) => {
                let error = Error::job(format!("there is no argument `{unknown}`"));
                let known = names_of(command);
                Err(error.help_near(unknown, known.iter().map(String::as_str)).into())
            }
        }
    }

    /// The job that makes a release, and whether it goes to files.
    pub(crate) fn making(
        self,
        job: Option<&Path>,
        table: Option<Given>,
    ) -> Result<(JobFile, bool), Finished> {
        let mut builder = start(job)?;
        let files = keys_of(self.command).filter(|(key, _)| {
            key.kind == Kind::File && matches!(key.section, Section::Output | Section::External)
        });
        let beside: Vec<String> = files.map(|(_, flag)| argument_name(flag)).collect();
        let beside = beside.into_iter().find(|name| self.given.contains_key(name) && name != "output");
        self.on(&mut builder)?;
        let mut file = builder.clone().finish_judging()?;
        let to_file = file.provenance.of("output.path") != Origin::Default;
        if to_file {
            // What is written must be told in full.
            file = builder.finish()?;
        } else if let Some(name) = beside {
            let error = Error::job(format!("`{name}` is a file beside a release in files"));
            return Err(error.help("say where the release goes with `[output] path`").into());
        } else if let Some(output) = &mut file.job.output {
            // What says where files go is left out, what says how cells look is kept.
            let (manifest, report, owner_report, sign) = (None, None, None, None);
            let path = "release.arrow".into();
            *output = Output { path, manifest, report, owner_report, sign, ..output.clone() };
        }
        with_table(&mut file.job, table)?;
        Ok((file, to_file))
    }

    /// The job that makes a release which goes to another system, to `place` there.
    pub(crate) fn making_elsewhere(
        self,
        job: Option<&Path>,
        table: Given,
        place: PathBuf,
    ) -> Result<JobFile, Finished> {
        let mut builder = start(job)?;
        self.on(&mut builder)?;
        let mut file = builder.finish_judging()?;
        let refuse = |key: &str, what: &str| {
            let error = Error::job(format!("{what} where Spark holds the table"));
            let error = error.help("leave it out, or read the table from files or into memory").at(key);
            Err(Finished::from(file.provenance.locate(error)))
        };
        if file.job.suppression.is_some() {
            return refuse("suppression.name", "records cannot be withheld in secret");
        }
        if file.job.external.as_ref().is_some_and(|external| !external.paths.is_empty()) {
            return refuse("external.path", "an external table cannot be joined");
        }
        let output = file.job.output.take().unwrap_or_default();
        let beside = [
            ("output.manifest", &output.manifest),
            ("output.report", &output.report),
            ("output.owner_report", &output.owner_report),
        ];
        if let Some((key, _)) = beside.iter().find(|(_, path)| path.is_some()) {
            return refuse(key, "no file beside the release is written");
        }
        file.job.output = Some(Output { path: place, csv_safe: false, ..output });
        with_table(&mut file.job, Some(table))?;
        Ok(file)
    }

    /// The job of a comparison.
    pub(crate) fn comparing(self, job: Option<&Path>, table: Option<Given>) -> Result<JobFile, Finished> {
        let mut builder = start(job)?;
        self.on(&mut builder)?;
        let mut file = builder.finish_judging()?;
        with_table(&mut file.job, table)?;
        Ok(file)
    }

    /// The job of a sequence, whose tables stand apart.
    pub(crate) fn publishing(self, job: Option<&Path>) -> Result<(JobFile, Asked), Finished> {
        let mut builder = start(job)?;
        let asked = self.on(&mut builder)?;
        Ok((builder.finish_judging()?, asked))
    }

    /// How a table is read.
    pub(crate) fn looking(self, table: Given) -> Result<(JobFile, Asked), Finished> {
        let mut builder = JobBuilder::default();
        let asked = self.on(&mut builder)?;
        let mut file = builder.finish_judging()?;
        table.replace(&mut file.job.input);
        Ok((file, asked))
    }

    /// How a release is judged: by a job file, or by what is stated; without roles by its manifest.
    pub(crate) fn judging(
        mut self,
        file: Option<&Path>,
        release: Judged,
        original: Option<Given>,
    ) -> Result<(Judging, About, Asked), Finished> {
        let has_roles =
            keys_of(self.command).any(|(key, flag)| key.name == "role" && self.given.contains_key(flag.long));
        let (mut judging, person) = release.judging();
        self.reading(&mut judging)?;
        let mut builder = match file {
            Some(path) => JobBuilder::read(path)?,
            None if has_roles => JobBuilder::default(),
            None => {
                // A release of ours knows them, and its hierarchies too.
                if judging.columns.is_empty() {
                    judging.manifest = self.given.get("manifest").and_then(Json::as_str).map(Into::into);
                    judging = incrowd::with_roles_of_manifest(&judging)?;
                }
                JobBuilder::of(Job { columns: judging.columns.clone(), ..Job::default() })
            }
        };
        let asked = self.on(&mut builder)?;
        let JobFile { job, provenance, notes } = builder.finish_judging()?;
        let said = |key: &str| file.is_some() || provenance.of(key) != Origin::Default;
        if said("input.missing") {
            judging.missing = Some(job.input.missing.clone());
        }
        if said("input.on_missing") {
            judging.on_missing = Some(job.input.on_missing);
        }
        if said("algorithm.missing_cells") {
            judging.missing_cells = Some(job.algorithm.missing_cells);
        }
        (judging.columns, judging.models) = (job.columns, job.models);
        judging.manifest = job.output.and_then(|output| output.manifest).or(judging.manifest);
        judging.population = job.population.or(judging.population);
        if let Some(external) = job.external {
            judging.values = external.sensitive.clone().filter(|_| file.is_none());
            judging.external = Some(external).filter(ExternalJob::is_given);
        }
        let mut input = job.input;
        input.missing = judging.missing.clone().unwrap_or(input.missing);
        input.on_missing = judging.on_missing.unwrap_or(input.on_missing);
        input.person = input.person.or(person);
        judging.original = match original {
            Some(original) => {
                original.replace(&mut input);
                Some(input)
            }
            // A job file may have come without its table.
            None => Some(input).filter(|input| !input.paths.is_empty() && input.paths.iter().all(is_there)),
        };
        Ok((judging, About { provenance, notes }, asked))
    }

    /// How the release is read; of the original that says nothing.
    fn reading(&mut self, judging: &mut Judging) -> Result<(), Finished> {
        let mut builder = JobBuilder::default();
        for (key, flag) in keys_of(self.command) {
            if ["[input] delimiter", "[input] format"].contains(&key.title().as_str())
                && let Some(value) = self.take(&argument_name(flag))
            {
                builder.argument(key, flag, &value)?;
            }
        }
        let input = builder.finish_judging()?.job.input;
        (judging.release.delimiter, judging.release.format) = (input.delimiter, input.format);
        Ok(())
    }
}

/// Where what was said of a judgement came from, and what a person should know of that.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) provenance: Provenance,
    pub(crate) notes: Vec<String>,
}

fn is_there(path: &PathBuf) -> bool {
    incrowd::Source::matching(std::slice::from_ref(path))
        .is_ok_and(|all| all.iter().all(|file| file.exists()))
}

/// The names of all arguments of a command.
pub(crate) fn names_of(command: Command) -> Vec<String> {
    let keys = keys_of(command).map(|(_, flag)| argument_name(flag));
    let models = MODELS.iter().filter(|_| promises(command)).map(|card| promise_name(card.name));
    keys.chain(models).chain(requests_of(command).map(|request| request.name.to_owned())).collect()
}

fn start(job: Option<&Path>) -> Result<JobBuilder, Finished> {
    Ok(job.map_or_else(|| Ok(JobBuilder::default()), JobBuilder::read)?)
}

fn with_table(job: &mut Job, table: Option<Given>) -> Result<(), Finished> {
    if let Some(table) = table {
        table.replace(&mut job.input);
    }
    match job.input.memory.is_none() && job.input.paths.is_empty() {
        true => Err(Error::job("which table?").help("give a DataFrame or the path of a file").into()),
        false => Ok(()),
    }
}

/// How deep values are nested at most.
const DEEPEST: usize = 32;

/// A value of Python as JSON. What is neither a number nor a text nor made of such is a path, or refused.
fn json(value: &Bound<'_, PyAny>, depth: usize) -> Result<Json, String> {
    let failed = |e: PyErr| e.to_string();
    if depth > DEEPEST {
        return Err("it is nested too deeply".to_owned());
    }
    if value.is_none() {
        return Ok(Json::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str().map_err(failed)?.into());
    }
    if value.cast::<PyInt>().is_ok() {
        let whole: Result<i64, _> = value.extract();
        return whole.map(Json::from).map_err(|_| "the number has too many digits".to_owned());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return real(number.value());
    }
    if value.hasattr("__arrow_c_stream__").map_err(failed)? {
        return Err("it takes the path of a table, not a table in memory".to_owned());
    }
    if value.hasattr("__fspath__").map_err(failed)? {
        let path: PathBuf = value.extract().map_err(failed)?;
        let text = path.to_str().ok_or_else(|| "the path is not UTF-8".to_owned())?;
        return Ok(text.into());
    }
    if value.hasattr("keys").map_err(failed)? {
        let mut map = Map::new();
        for item in value.call_method0("items").and_then(|items| items.try_iter()).map_err(failed)? {
            let (key, below): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                item.and_then(|item| item.extract()).map_err(failed)?;
            let key = key.str().and_then(|key| key.extract::<String>()).map_err(failed)?;
            map.insert(key, json(&below, depth + 1)?);
        }
        return Ok(Json::Object(map));
    }
    // Numbers of other libraries.
    if value.hasattr("__index__").map_err(failed)? {
        return value.extract::<i64>().map(Json::from).map_err(failed);
    }
    if value.hasattr("__float__").map_err(failed)? {
        return real(value.extract().map_err(failed)?);
    }
    if let Ok(items) = value.try_iter() {
        let items = items.map(|item| json(&item.map_err(failed)?, depth + 1));
        return items.collect::<Result<Vec<_>, _>>().map(Json::from);
    }
    let kind = value.get_type().fully_qualified_name().map(|name| name.to_string()).unwrap_or_default();
    Err(format!("a `{kind}` is neither a number, a text, a list nor a table"))
}

fn real(x: f64) -> Result<Json, String> {
    serde_json::Number::from_f64(x).map(Json::Number).ok_or_else(|| "it must be a finite number".to_owned())
}
