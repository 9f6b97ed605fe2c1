//! Converts keyword arguments to a job: keys through the list of keys, models by their names. The
//! other arguments are returned as [`Asked`].

use std::path::{Path, PathBuf};

use incrowd::job::keys::{Command, Flag, Form, Key, Kind, Section, flags_of};
use incrowd::job::{
    Job, JobBuilder, JobFile, Origin, Output, Table, argument_name, model_argument,
};
use incrowd::model::MODELS;
use incrowd::{Batches, Error, Judging, JudgingBuilder, JudgingFile, Location, Setting};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde_json::{Map, Value as Json};

use crate::errors;
use crate::requests::{Takes, requests_of};
use crate::tables::Given;
use crate::work::Finished;

/// The arguments of a function call, by name.
#[derive(Debug)]
pub(crate) struct Arguments {
    command: Command,
    given: Map<String, Json>,
    /// Tables in memory, by argument.
    tables: Vec<(String, Batches)>,
    /// Releases, by argument.
    releases: Vec<(String, Judging)>,
}

/// Returns whether a key names a further table, in addition to the input of the job.
pub(crate) fn takes_table(key: &Key) -> bool {
    key.kind == Kind::Files && matches!(key.section, Section::Population | Section::External)
}

/// Returns whether an argument takes a table.
fn is_table(command: Command, name: &str) -> bool {
    keys_of(command).any(|(key, flag)| takes_table(key) && argument_name(flag) == name)
        || requests_of(command).any(|request| request.takes == Takes::Table && request.name == name)
}

/// Returns whether an argument takes a release.
fn is_release(command: Command, name: &str) -> bool {
    requests_of(command).any(|request| request.takes == Takes::Release && request.name == name)
}

/// The placeholder of a table in memory.
const IN_MEMORY: &str = "a table in memory";

/// The arguments that are not keys of a job.
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

    /// Returns a table in memory or in a file.
    pub(crate) fn any_table(&self, name: &str) -> Result<Option<Table>, Error> {
        match self.tables.iter().find(|(own, _)| own == name) {
            Some((_, batches)) => Ok(Some(Table::in_memory(batches.clone()))),
            None => Ok(self.path(name)?.map(Table::file)),
        }
    }

    /// Returns a release in memory or in a file.
    pub(crate) fn release(&self, name: &str) -> Option<Judging> {
        self.releases.iter().find(|(own, _)| own == name).map(|(_, judging)| judging.clone())
    }
}

/// Returns the arguments of a command that are keys of a job. `table` is the first argument of the
/// function, so a table of a database is part of its address: `postgresql:///clinic?table=people`.
pub(crate) fn keys_of(command: Command) -> impl Iterator<Item = (&'static Key, &'static Flag)> {
    let named = |flag: &Flag| flag.form != Form::Argument && argument_name(flag) != "table";
    flags_of(command).filter(move |(_, flag)| named(flag))
}

/// Returns whether models are arguments of the command, by their names.
pub(crate) fn has_models(command: Command) -> bool {
    keys_of(command)
        .any(|(key, flag)| key.section == Section::Models && flag.form == Form::Named(""))
}

/// Returns whether a flag is the short form of a model: `k`.
fn is_short(flag: &Flag) -> bool {
    matches!(flag.form, Form::Named(beginning) if !beginning.is_empty())
}

impl Arguments {
    /// Converts the arguments. `None` means that an argument is not given.
    pub(crate) fn of(
        py: Python<'_>,
        command: Command,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<Arguments> {
        let (mut read, mut tables, mut releases) = (Map::new(), Vec::new(), Vec::new());
        for (name, value) in given {
            let name: String = name.extract()?;
            if is_release(command, &name) && !value.is_none() {
                releases.push((name.clone(), crate::judged(&value)?.second()));
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

    /// Removes and returns the arguments of some keys.
    pub(crate) fn split_off(&mut self, wanted: impl Fn(&Key) -> bool) -> Arguments {
        let names = keys_of(self.command)
            .filter(|(key, _)| wanted(key))
            .map(|(_, flag)| argument_name(flag));
        let given = names.filter_map(|name| self.take(&name).map(|value| (name, value))).collect();
        Arguments { command: self.command, given, tables: Vec::new(), releases: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Applies the arguments to a job.
    pub(crate) fn apply_to(self, job: Job) -> Result<Job, Finished> {
        let mut builder = JobBuilder::of(job);
        self.apply(&mut builder)?;
        Ok(builder.finish_judging()?.job)
    }

    /// Applies the keys and models, and returns the other arguments.
    fn apply(self, builder: &mut JobBuilder) -> Result<Asked, Finished> {
        let (settings, asked) = self.settings()?;
        for setting in settings {
            setting.apply_to(builder)?;
        }
        Ok(asked)
    }

    /// Returns the keys and models as settings of a job, and the other arguments.
    fn settings(mut self) -> Result<(Vec<Setting>, Asked), Finished> {
        // `hierarchies` is a mapping by column, like `hierarchy`, or the path of a directory.
        if let Some(Json::Object(by_column)) = self.given.get("hierarchies").cloned() {
            self.take("hierarchies");
            let known = self.given.entry("hierarchy").or_insert_with(|| Json::Object(Map::new()));
            known.as_object_mut().into_iter().for_each(|known| known.extend(by_column.clone()));
        }
        let (command, mut settings) = (self.command, Vec::new());
        for (key, flag) in keys_of(command).filter(|(_, flag)| !is_short(flag)) {
            if let Some(value) = self.take(&argument_name(flag)) {
                settings.push(Setting::Argument(key, flag, value));
            }
        }
        if has_models(command) {
            let by_name = MODELS.iter().map(|card| (card.name, model_argument(card.name)));
            for (model, name) in by_name.chain([("k-anonymity", "k".to_owned())]) {
                if let Some(value) = self.take(&name) {
                    settings.push(Setting::Model(model, name, value));
                }
            }
        }
        let mut asked = Map::new();
        for request in requests_of(command) {
            asked.extend(self.take(request.name).map(|value| (request.name.to_owned(), value)));
        }
        // Replaces the placeholders of tables in memory.
        for (key, flag) in keys_of(command).filter(|(key, _)| takes_table(key)) {
            if let Some((_, batches)) =
                self.tables.iter().find(|(name, _)| *name == argument_name(flag))
            {
                settings.push(Setting::Memory(key.section, batches.clone()));
            }
        }
        let asked = Asked { given: asked, tables: self.tables, releases: self.releases };
        match self.given.keys().next() {
            None => Ok((settings, asked)),
            Some(unknown) => {
                let error = Error::job(format!("there is no argument `{unknown}`"));
                let known = names_of(command);
                Err(error.help_near(unknown, known.iter().map(String::as_str)).into())
            }
        }
    }

    /// Returns the job of a release, and whether it is written to files.
    pub(crate) fn making(
        self,
        job: Option<&Path>,
        table: Option<Given>,
    ) -> Result<(JobFile, bool), Finished> {
        let mut builder = start(job)?;
        let files = keys_of(self.command).filter(|(key, _)| {
            key.kind == Kind::File && matches!(key.section, Section::Output | Section::External)
        });
        let side_files: Vec<String> = files.map(|(_, flag)| argument_name(flag)).collect();
        let side_file =
            side_files.into_iter().find(|name| self.given.contains_key(name) && name != "output");
        self.apply(&mut builder)?;
        let mut file = builder.clone().finish_judging()?;
        let to_file = file.provenance.of("output.path") != Origin::Default;
        if to_file {
            // A release in files needs a complete `[output]`.
            file = builder.finish()?;
        } else if let Some(name) = side_file {
            let error = Error::job(format!("`{name}` needs a release in a file"));
            return Err(error.help("give the path of the release with `[output] path`").into());
        } else if let Some(output) = &mut file.job.output {
            // Paths are removed; settings of the cells are kept.
            let (manifest, report, owner_report, sign) = (None, None, None, None);
            let path = "release.arrow".into();
            *output = Output { path, manifest, report, owner_report, sign, ..output.clone() };
        }
        with_table(&mut file.job, table)?;
        Ok((file, to_file))
    }

    /// Returns the job of a release that another system writes to `place`.
    pub(crate) fn making_remote(
        self,
        job: Option<&Path>,
        table: Given,
        place: &str,
    ) -> Result<JobFile, Finished> {
        let mut builder = start(job)?;
        self.apply(&mut builder)?;
        let mut file = builder.finish_judging()?;
        let refuse = |key: &str, what: &str| {
            let error = Error::job(format!("Spark tables do not support {what}"));
            let error = error
                .help("remove the setting, or read the table from files or into memory")
                .at(key);
            Err(Finished::from(file.provenance.locate(error)))
        };
        if file.job.suppression.is_some() {
            return refuse("suppression.name", "a suppression step");
        }
        if file.job.external.as_ref().is_some_and(|external| !external.paths.is_empty()) {
            return refuse("external.path", "an external table");
        }
        let output = file.job.output.take().unwrap_or_default();
        let side_files = [
            ("output.manifest", &output.manifest),
            ("output.report", &output.report),
            ("output.owner_report", &output.owner_report),
        ];
        if let Some((key, _)) = side_files.iter().find(|(_, path)| path.is_some()) {
            return refuse(key, "files next to the release");
        }
        file.job.output =
            Some(Output { path: Location::Remote(place.to_owned()), csv_safe: false, ..output });
        with_table(&mut file.job, Some(table))?;
        Ok(file)
    }

    /// Returns the job of a comparison.
    pub(crate) fn comparing(
        self,
        job: Option<&Path>,
        table: Option<Given>,
    ) -> Result<JobFile, Finished> {
        let mut builder = start(job)?;
        self.apply(&mut builder)?;
        let mut file = builder.finish_judging()?;
        with_table(&mut file.job, table)?;
        Ok(file)
    }

    /// Returns the job of a sequence, without its tables.
    pub(crate) fn publishing(self, job: Option<&Path>) -> Result<(JobFile, Asked), Finished> {
        let mut builder = start(job)?;
        let asked = self.apply(&mut builder)?;
        Ok((builder.finish_judging()?, asked))
    }

    /// Returns the job of a profile: how the table is read.
    pub(crate) fn profiling(self, table: Given) -> Result<(JobFile, Asked), Finished> {
        let mut builder = JobBuilder::default();
        let asked = self.apply(&mut builder)?;
        let mut file = builder.finish_judging()?;
        table.replace(&mut file.job.input);
        Ok((file, asked))
    }

    /// Returns the request to judge a release. If `of_job` is set, the arguments are the settings
    /// of a job.
    pub(crate) fn judging(
        self,
        file: Option<&Path>,
        of_job: bool,
        mut builder: JudgingBuilder,
        original: Option<Given>,
    ) -> Result<(JudgingFile, Asked), Finished> {
        file.into_iter().for_each(|path| builder.job(path));
        original.into_iter().for_each(|table| builder.original(table.table()));
        let (settings, asked) = self.settings()?;
        for setting in settings {
            match of_job {
                true => builder.job_setting(setting),
                false => builder.setting(setting),
            }
        }
        Ok((builder.finish()?, asked))
    }
}

/// Returns the names of all arguments of a command.
pub(crate) fn names_of(command: Command) -> Vec<String> {
    let keys = keys_of(command).map(|(_, flag)| argument_name(flag));
    let models =
        MODELS.iter().filter(|_| has_models(command)).map(|card| model_argument(card.name));
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
        true => {
            let error = Error::job("no table is given");
            Err(error.help("give a DataFrame or the path of a file").into())
        }
        false => Ok(()),
    }
}

/// The largest nesting depth of values.
const DEEPEST: usize = 32;

/// Converts a Python value to JSON: numbers, texts, paths, lists and mappings. Other values are
/// refused.
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
        return Err("expected the path of a table, not a table in memory".to_owned());
    }
    if value.hasattr("__fspath__").map_err(failed)? {
        let path: PathBuf = value.extract().map_err(failed)?;
        let text = path.to_str().ok_or_else(|| "the path is not UTF-8".to_owned())?;
        return Ok(text.into());
    }
    if value.hasattr("keys").map_err(failed)? {
        let mut map = Map::new();
        for item in
            value.call_method0("items").and_then(|items| items.try_iter()).map_err(failed)?
        {
            let (key, below): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                item.and_then(|item| item.extract()).map_err(failed)?;
            let key = key.str().and_then(|key| key.extract::<String>()).map_err(failed)?;
            map.insert(key, json(&below, depth + 1)?);
        }
        return Ok(Json::Object(map));
    }
    // Number types of other libraries.
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
    let kind =
        value.get_type().fully_qualified_name().map(|name| name.to_string()).unwrap_or_default();
    Err(format!("a `{kind}` is neither a number, a text, a list nor a table"))
}

fn real(x: f64) -> Result<Json, String> {
    serde_json::Number::from_f64(x)
        .map(Json::Number)
        .ok_or_else(|| "it must be a finite number".to_owned())
}
