//! The definition of every key of a job: name, section, type, default, description, flags, and
//! effect. The parser of job files, the command line with its help, and `docs/job-file.md` are
//! derived from [`KEYS`].
//!
//! The parameters of models, algorithms and suppression methods are defined on their cards.

mod columns;
mod compare;
mod input;
mod list;
mod models;
mod output;

pub use list::KEYS;

use incrowd_core::{Param, ParamKind};

use super::builder::JobBuilder;
use super::given::{Entry, Read};
use super::{ColumnJob, RoleName};

/// A key of a job.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The section of the job.
    pub section: Section,
    /// Its name in a job file.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default: no value, one value, or the values of a list.
    pub default: &'static [&'static str],
    /// A description in one sentence.
    pub about: &'static str,
    /// Further description.
    pub more: &'static str,
    /// An example, if its section requires it.
    pub required: Option<&'static str>,
    /// The roles of the columns for which it is allowed; empty if it is not about a column.
    pub roles: &'static [RoleName],
    /// The flags of the command line.
    pub flags: &'static [Flag],
    /// Former names, which still work.
    pub old: &'static [&'static str],
    /// Former names of its values, and the current ones.
    pub old_words: &'static [(&'static str, &'static str)],
    pub(super) set: Set,
}

/// The effect of a value on a job.
#[derive(Clone, Copy, Debug)]
pub(super) enum Set {
    Job(fn(&mut JobBuilder, &Entry<'_>) -> Read<()>),
    Column(fn(&mut ColumnJob, &Entry<'_>) -> Read<()>),
}

/// The type of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// The path of a file.
    File,
    /// The path of a directory.
    Directory,
    /// Paths of files; glob patterns are allowed.
    Files,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number from 0 to 1.
    Share,
    /// A list of numbers from 0 to 1.
    Shares,
    /// A number of at least 0.
    Number,
    /// A whole number of at least this.
    Count(u64),
    /// A list of such numbers.
    Counts(u64),
    /// True or false.
    Flag,
    /// A single character, or `tab`.
    Character,
    /// Two numbers, the lower one first.
    Range,
    /// A hierarchy.
    Hierarchy,
    /// Lists of values by category.
    Categories,
    /// The name of a model, an algorithm or a method. Its parameters are keys of the same section.
    Card,
    /// A list of names with parameters, `NAME:PARAM=VALUE,…`.
    Cards,
}

impl Kind {
    /// Returns the separators of list items in one word of the command line.
    pub(super) fn separators(self) -> &'static [char] {
        match self {
            Kind::Texts | Kind::Shares | Kind::Counts(_) => &[','],
            Kind::Range => &[':', ','],
            _ => &[],
        }
    }

    /// Returns whether several values may be given.
    pub fn is_list(self) -> bool {
        matches!(
            self,
            Kind::Texts | Kind::Files | Kind::Shares | Kind::Counts(_) | Kind::Range | Kind::Cards
        )
    }

    /// Returns whether a word of the command line may be a list or a table in TOML.
    pub(super) fn takes_toml(self) -> bool {
        !matches!(self, Kind::File | Kind::Files | Kind::Directory)
    }
}

/// A flag of the command line for a key.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The name after the two dashes; empty for an argument.
    pub long: &'static str,
    /// The letter after one dash.
    pub short: Option<char>,
    /// The placeholder of the value in help.
    pub value: &'static str,
    /// The notation of the value.
    pub form: Form,
    /// Its own description, if the key has several flags.
    pub about: Option<&'static str>,
    /// The commands that accept it.
    pub on: &'static [Command],
    /// Other spellings.
    pub alias: &'static [&'static str],
    /// Former names, which still work.
    pub old: &'static [&'static str],
}

impl Flag {
    /// Returns its name in messages: `-o`, `--kind`, or the name of the argument.
    pub fn name(&self) -> String {
        match (self.short, self.long) {
            (Some(short), _) => format!("-{short}"),
            (None, "") => self.value.to_owned(),
            (None, long) => format!("--{long}"),
        }
    }
}

/// The notation of the value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As in a job file; items of a list are separated by commas.
    Value,
    /// No value: the flag means `true`.
    Yes,
    /// An argument without a flag.
    Argument,
    /// `COLUMN=VALUE`, once for each column.
    PerColumn,
    /// Names of columns that get this value.
    Columns(&'static str),
    /// `COLUMN:NAME=VALUE,…`, once for each category.
    Category,
    /// `NAME:PARAM=VALUE,…`, with this prefix.
    Named(&'static str),
    /// `PARAM=VALUE`, once for each parameter.
    Param,
}

/// The commands that accept keys of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the commands")]
pub enum Command {
    Anonymize,
    Batches,
    Compare,
    Verify,
    Measure,
    Attack,
    Report,
    Profile,
    Init,
}

impl Command {
    /// All commands.
    pub const ALL: [Command; 9] = [
        Command::Anonymize,
        Command::Batches,
        Command::Compare,
        Command::Verify,
        Command::Measure,
        Command::Attack,
        Command::Report,
        Command::Profile,
        Command::Init,
    ];
}

/// The sections of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the tables")]
pub enum Section {
    Input,
    Output,
    Columns,
    Models,
    Population,
    Algorithm,
    External,
    Suppression,
    Compare,
}

impl Section {
    /// The names of the tables in a job file.
    pub const ALL: [(&'static str, Section); 9] = [
        ("input", Section::Input),
        ("output", Section::Output),
        ("columns", Section::Columns),
        ("models", Section::Models),
        ("population", Section::Population),
        ("algorithm", Section::Algorithm),
        ("external", Section::External),
        ("suppression", Section::Suppression),
        ("compare", Section::Compare),
    ];

    /// Returns its name in a job file.
    pub fn name(self) -> &'static str {
        Section::ALL[self as usize].0
    }

    /// Returns the heading of its flags in help.
    pub fn heading(self) -> &'static str {
        match self {
            Section::Input => "Reading",
            Section::Output | Section::Algorithm => "Making",
            Section::Columns => "Columns",
            Section::Models | Section::Population => "Privacy models",
            Section::External => "External table",
            Section::Suppression => "Skewed sensitive values",
            Section::Compare => "Sweep",
        }
    }

    /// Returns its keys, in the order of the list.
    pub fn keys(self) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(move |key| key.section == self)
    }

    /// Returns the key of that name, current or former.
    pub fn key(self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name || key.old.contains(&name))
    }

    /// Returns whether it also accepts the parameters of a model, an algorithm or a method.
    pub fn is_open(self) -> bool {
        matches!(self, Section::Models | Section::Algorithm | Section::Suppression)
    }

    /// Returns the parameters of the model, algorithm or method `name`.
    pub fn params(self, name: &str) -> &'static [Param] {
        use incrowd_recode::{ALGORITHMS, suppression::SUPPRESSIONS};
        let found = match self {
            Section::Models => {
                incrowd_core::model::MODELS.iter().find(|c| c.name == name).map(|c| c.params)
            }
            Section::Suppression => SUPPRESSIONS.iter().find(|c| c.name == name).map(|c| c.params),
            Section::Algorithm => ALGORITHMS.iter().find(|c| c.name == name).map(|c| c.params),
            _ => None,
        };
        found.unwrap_or(&[])
    }
}

impl Key {
    /// Returns the key in the notation of messages, `[output] path`.
    pub fn title(&self) -> String {
        match self.section {
            Section::Models => format!("[[models]] {}", self.name),
            section => format!("[{}] {}", section.name(), self.name),
        }
    }
}

/// Returns the flags of a command, each with its key, in the order of the list.
pub fn flags_of(command: Command) -> impl Iterator<Item = (&'static Key, &'static Flag)> {
    let flags = KEYS.iter().flat_map(|key| key.flags.iter().map(move |flag| (key, flag)));
    flags.filter(move |(_, flag)| flag.on.contains(&command))
}

/// Returns the key for the notation `[output] path` of messages.
pub fn titled(title: &str) -> Option<&'static Key> {
    let (section, name) = title.trim_start_matches('[').split_once("] ")?;
    let (_, section) =
        Section::ALL.iter().find(|(known, _)| *known == section.trim_end_matches(']'))?;
    section.key(name)
}

/// Returns the type of a parameter. An undeclared one is a flag, whose type is derived from its
/// value.
pub(super) fn param_kind(params: &[Param], name: &str) -> ParamKind {
    params.iter().find(|param| param.name == name).map_or(ParamKind::Flag, |param| param.kind)
}
