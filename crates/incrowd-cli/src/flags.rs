//! Flags that are keys of a job. The list of keys defines them. This module turns them into flags
//! of a command and applies the given flags on top of the job file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use incrowd::job::keys::{Command, Flag, Form, Key, Kind, Section, flags_of};
use incrowd::job::{Job, JobBuilder, JobFile, Provenance, Table};
use incrowd::{Error, Judging, JudgingBuilder, Setting, Value};

use crate::failure::Failure;
use crate::print::OutputMode;

/// The given flags of a command, in the order of the list of keys.
#[derive(Clone, Debug)]
pub(crate) struct Keys<const COMMAND: usize> {
    /// The job file.
    pub(crate) job: Option<PathBuf>,
    given: Vec<(&'static Key, &'static Flag, Vec<OsString>)>,
    notes: Vec<String>,
}

impl<const COMMAND: usize> Keys<COMMAND> {
    fn flags() -> impl Iterator<Item = (&'static Key, &'static Flag)> {
        flags_of(Command::ALL[COMMAND]).filter(|(_, flag)| flag.form != Form::Argument)
    }

    /// Returns whether the command reads a job file. `profile` needs none, `init` writes one.
    fn takes_job() -> bool {
        !matches!(Command::ALL[COMMAND], Command::Profile | Command::Init)
    }

    /// Returns whether a flag of the key was given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.given.iter().any(|(given, ..)| given.title() == key)
    }

    /// Reads the job file, if there is one, replaces its input by the given tables, and applies the
    /// flags.
    pub(crate) fn builder(&self, inputs: &[PathBuf]) -> Result<JobBuilder, Failure> {
        let is_job = |path: &Path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let (jobs, tables): (Vec<PathBuf>, Vec<PathBuf>) =
            inputs.iter().cloned().partition(|path| Self::takes_job() && is_job(path));
        let mut builder = match jobs.iter().chain(&self.job).collect::<Vec<_>>().as_slice() {
            [] => JobBuilder::default(),
            [job] => JobBuilder::read(job)?,
            _ => return Err(Error::job("more than one job file is given").into()),
        };
        builder.tables(&tables)?;
        self.on(builder, |_| true)
    }

    /// Applies the given flags of the wanted keys.
    pub(crate) fn on(
        &self,
        mut builder: JobBuilder,
        wanted: impl Fn(&Key) -> bool,
    ) -> Result<JobBuilder, Failure> {
        for (key, flag, words) in self.given.iter().filter(|(key, ..)| wanted(key)) {
            builder.flag(key, flag, words)?;
        }
        Ok(builder)
    }

    /// Returns the job that makes a release of these tables.
    pub(crate) fn making(&self, inputs: &[PathBuf], mode: OutputMode) -> Result<JobFile, Failure> {
        let mut file = self.builder(inputs)?.finish()?;
        crate::streams::resolve(&mut file.job.input.paths)?;
        self.notes.iter().chain(&file.notes).for_each(|note| mode.note(note));
        incrowd::front_end::unauthenticated_by_job(&file.job)
            .iter()
            .for_each(|text| mode.warn(text));
        Ok(file)
    }

    /// Returns the request to judge a release.
    pub(crate) fn judging(
        &self,
        release: &Path,
        original: Option<&PathBuf>,
        mode: OutputMode,
    ) -> Result<(Judging, Provenance), Failure> {
        let mut builder = JudgingBuilder::new(Table::file(release));
        self.job.iter().for_each(|path| builder.job(path));
        original.into_iter().for_each(|path| builder.original(Table::file(path)));
        for (key, flag, words) in &self.given {
            builder.setting(Setting::Flag(key, flag, words.clone()));
        }
        let file = builder.finish()?;
        self.notes.iter().chain(&file.notes).for_each(|note| mode.note(note));
        file.warnings.iter().for_each(|text| mode.warn(text));
        Ok((file.judging, file.provenance))
    }
}

/// Returns the path of the release for display.
pub(crate) fn release_of(judging: &Judging) -> String {
    judging.release.paths.first().map(ToString::to_string).unwrap_or_default()
}

/// Reads parameters of plain-k-anonymity, `p=0.8,d=0.85,on=age`.
pub(crate) fn outlier_params(text: &str) -> Result<Vec<(String, Value)>, Failure> {
    let flag = |flag: &Flag| Flag {
        long: "outliers",
        short: None,
        form: Form::Named("plain-k-anonymity:"),
        ..*flag
    };
    let mut job = of_word(Section::Models, flag, text)?;
    Ok(job.models.pop().map(|model| model.params).unwrap_or_default())
}

/// Reads `r-suppression:l=6,on=disease`.
pub(crate) fn suppression(text: &str) -> Result<(String, Vec<(String, Value)>), Failure> {
    let method = of_word(Section::Suppression, |flag| *flag, text)?.suppression.unwrap_or_default();
    Ok((method.name, method.params))
}

/// Reads the value of a flag of `[section] name` into an otherwise empty job.
fn of_word(section: Section, flag: impl Fn(&Flag) -> Flag, text: &str) -> Result<Job, Failure> {
    let mut builder = JobBuilder::default();
    if let Some((key, first)) = section.key("name").and_then(|key| Some((key, key.flags.first()?)))
    {
        builder.flag(key, &flag(first), &[text.into()])?;
    }
    Ok(builder.finish()?.job)
}

fn arg(key: &Key, flag: &'static Flag) -> Arg {
    let mut help = flag.about.unwrap_or(key.about).to_owned();
    if let (Kind::Choice(words), false) = (key.kind, matches!(flag.form, Form::Columns(_))) {
        help += &format!(" ({})", words.join(", "));
    }
    if key.section == Section::Algorithm && key.kind == Kind::Card && flag.about.is_none() {
        let names: Vec<&str> =
            incrowd::front_end::recode::ALGORITHMS.iter().map(|card| card.name).collect();
        help += &format!(" ({})", names.join(", "));
    }
    if !key.default.is_empty() && flag.about.is_none() && flag.form != Form::Yes {
        let shown = key.default.iter().map(|word| if word.is_empty() { "empty" } else { word });
        help += &format!(" [default: {}]", shown.collect::<Vec<_>>().join(", "));
    }
    let action = match (flag.form, key.kind.is_list()) {
        (Form::Yes, _) => ArgAction::SetTrue,
        (Form::Value, false) => ArgAction::Set,
        (Form::Named(_), _) if key.section != Section::Models || flag.short.is_some() => {
            ArgAction::Set
        }
        _ => ArgAction::Append,
    };
    let hint = hint(key, flag);
    let arg =
        Arg::new(flag.long).long(flag.long).action(action).help_heading(key.section.heading());
    let arg = match flag.form {
        Form::Yes => arg,
        _ => arg.value_name(flag.value).value_hint(hint).value_parser(ValueParser::os_string()),
    };
    let arg = match (key.more, flag.about) {
        ("", _) | (_, Some(_)) => arg,
        (more, None) => arg.long_help(format!("{help}\n\n{more}")),
    };
    let arg = if let Some(short) = flag.short { arg.short(short) } else { arg };
    arg.help(help).aliases(flag.alias.iter().copied())
}

fn hint(key: &Key, flag: &Flag) -> ValueHint {
    match key.kind {
        _ if flag.form != Form::Value => ValueHint::Unknown,
        Kind::File | Kind::Files => ValueHint::FilePath,
        Kind::Directory => ValueHint::DirPath,
        _ => ValueHint::Unknown,
    }
}

impl<const COMMAND: usize> clap::Args for Keys<COMMAND> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let job = Arg::new("job").long("job").short('j').value_name("FILE").help("The job file");
        let job = job
            .help_heading("Job")
            .value_hint(ValueHint::FilePath)
            .value_parser(ValueParser::path_buf());
        let command = if Self::takes_job() { command.arg(job) } else { command };
        Self::flags().fold(command, |command, (key, flag)| {
            let old = |old: &&'static str| {
                let hidden = Arg::new(*old).long(*old).hide(true).action(ArgAction::Append);
                hidden.value_hint(hint(key, flag)).value_parser(ValueParser::os_string())
            };
            command.arg(arg(key, flag)).args(flag.old.iter().map(old))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<const COMMAND: usize> clap::FromArgMatches for Keys<COMMAND> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let job = if Self::takes_job() { matches.get_one::<PathBuf>("job").cloned() } else { None };
        let mut keys = Keys { job, given: Vec::new(), notes: Vec::new() };
        for (key, flag) in Self::flags() {
            let mut words: Vec<OsString> = match flag.form {
                Form::Yes if matches.get_flag(flag.long) => vec!["true".into()],
                Form::Yes => Vec::new(),
                _ => matches.get_many(flag.long).into_iter().flatten().cloned().collect(),
            };
            for old in flag.old {
                let typed = matches.get_many::<OsString>(old).into_iter().flatten().cloned();
                let before = words.len();
                words.extend(typed);
                if words.len() > before {
                    keys.notes.push(format!("`--{old}` is now called `--{}`", flag.long));
                }
            }
            if !words.is_empty() {
                keys.given.push((key, flag, words));
            }
        }
        Ok(keys)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
