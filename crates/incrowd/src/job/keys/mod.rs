//! Every key of a job, once: its name and place, what it takes, what it is by default, a sentence for people, its flags, and
//! how it is set. The reader of job files, the command line and its help, and `docs/job-file.md` are made from [`KEYS`].
//!
//! Models, algorithms and suppression methods bring parameters of their own; those stand on their cards.

mod columns;
mod compare;
mod input;
mod list;
mod output;
mod promises;

pub use list::KEYS;

use incrowd_core::{Param, ParamKind};

use super::builder::JobBuilder;
use super::given::{Entry, Read};
use super::{ColumnJob, RoleName};

/// A key of a job.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The part of the job it stands in.
    pub section: Section,
    /// Its name in a job file.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is if not given: nothing, one value, or the values of a list.
    pub default: &'static [&'static str],
    /// One sentence for people.
    pub about: &'static str,
    /// What else there is to know.
    pub more: &'static str,
    /// How it could look, if its section cannot do without it.
    pub required: Option<&'static str>,
    /// The roles of the columns it may be given of; empty for what is not about a column.
    pub roles: &'static [RoleName],
    /// How it is given on a command line.
    pub flags: &'static [Flag],
    /// Former names, which still work.
    pub old: &'static [&'static str],
    /// Former words for its values, and the present ones.
    pub old_words: &'static [(&'static str, &'static str)],
    pub(super) set: Set,
}

/// How a value becomes part of a job.
#[derive(Clone, Copy, Debug)]
pub(super) enum Set {
    Job(fn(&mut JobBuilder, &Entry<'_>) -> Read<()>),
    Column(fn(&mut ColumnJob, &Entry<'_>) -> Read<()>),
}

/// What a key takes.
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
    /// Paths of files, which may be patterns.
    Files,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number from 0 to 1.
    Share,
    /// A list of numbers from 0 to 1.
    Shares,
    /// A number from 0 on.
    Number,
    /// A whole number from this on.
    Count(u64),
    /// A list of such numbers.
    Counts(u64),
    /// Yes or no.
    Flag,
    /// A single character, or `tab`.
    Character,
    /// Two numbers, the lower one first.
    Range,
    /// How values are generalized.
    Hierarchy,
    /// Lists of values by category.
    Categories,
    /// The name of a model, an algorithm or a method, whose parameters stand beside it.
    Card,
    /// A list of names with parameters, `NAME:PARAM=VALUE,…`.
    Cards,
}

impl Kind {
    /// What parts the items of a list in one word of the command line.
    pub(super) fn separators(self) -> &'static [char] {
        match self {
            Kind::Texts | Kind::Shares | Kind::Counts(_) => &[','],
            Kind::Range => &[':', ','],
            _ => &[],
        }
    }

    /// Whether several values may be given.
    pub fn is_list(self) -> bool {
        matches!(self, Kind::Texts | Kind::Files | Kind::Shares | Kind::Counts(_) | Kind::Range | Kind::Cards)
    }

    /// Whether a word of the command line may be a list or a table in TOML.
    pub(super) fn takes_toml(self) -> bool {
        !matches!(self, Kind::File | Kind::Files | Kind::Directory)
    }
}

/// How a key is given on a command line.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The name after the two dashes; empty for an argument.
    pub long: &'static str,
    /// The letter after one dash.
    pub short: Option<char>,
    /// What the value is called in help.
    pub value: &'static str,
    /// How the value is written.
    pub form: Form,
    /// A sentence of its own, if the key has several flags.
    pub about: Option<&'static str>,
    /// The commands that have it.
    pub on: &'static [Command],
    /// Other spellings.
    pub alias: &'static [&'static str],
    /// Former names, which still work.
    pub old: &'static [&'static str],
}

impl Flag {
    /// As it is called in messages: `-o`, `--kind`, or the name of the argument.
    pub fn name(&self) -> String {
        match (self.short, self.long) {
            (Some(short), _) => format!("-{short}"),
            (None, "") => self.value.to_owned(),
            (None, long) => format!("--{long}"),
        }
    }
}

/// How the value of a flag is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As in a job file; items of a list are parted by commas.
    Value,
    /// There is none: the flag says yes.
    Yes,
    /// It is an argument without a flag.
    Argument,
    /// `COLUMN=VALUE`, once for each column.
    PerColumn,
    /// Names of columns, which get this value.
    Columns(&'static str),
    /// `COLUMN:NAME=VALUE,…`, once for each category.
    Category,
    /// `NAME:PARAM=VALUE,…`, after this beginning.
    Named(&'static str),
    /// `PARAM=VALUE`, once for each.
    Param,
}

/// The commands that take keys of a job.
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
    /// All of them.
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

/// The parts of a job.
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

    /// The name of the table.
    pub fn name(self) -> &'static str {
        Section::ALL[self as usize].0
    }

    /// The heading its flags have in help.
    pub fn heading(self) -> &'static str {
        match self {
            Section::Input => "Reading",
            Section::Output | Section::Algorithm => "Making",
            Section::Columns => "Columns",
            Section::Models | Section::Population => "Promises",
            Section::External => "External table",
            Section::Suppression => "Skewed sensitive values",
            Section::Compare => "Sweep",
        }
    }

    /// Its keys, in the order of the list.
    pub fn keys(self) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(move |key| key.section == self)
    }

    /// The key of that name, present or former.
    pub fn key(self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name || key.old.contains(&name))
    }

    /// Whether it has keys beside those listed: the parameters of what it names.
    pub fn is_open(self) -> bool {
        matches!(self, Section::Models | Section::Algorithm | Section::Suppression)
    }

    /// The parameters of what is called `name` there.
    pub fn params(self, name: &str) -> &'static [Param] {
        use incrowd_recode::{ALGORITHMS, suppression::SUPPRESSIONS};
        let found = match self {
            Section::Models => incrowd_core::model::MODELS.iter().find(|c| c.name == name).map(|c| c.params),
            Section::Suppression => SUPPRESSIONS.iter().find(|c| c.name == name).map(|c| c.params),
            Section::Algorithm => ALGORITHMS.iter().find(|c| c.name == name).map(|c| c.params),
            _ => None,
        };
        found.unwrap_or(&[])
    }
}

impl Key {
    /// The key as messages write it, `[output] path`.
    pub fn title(&self) -> String {
        match self.section {
            Section::Models => format!("[[models]] {}", self.name),
            section => format!("[{}] {}", section.name(), self.name),
        }
    }
}

/// The flags of a command, each with its key, in the order of the list.
pub fn flags_of(command: Command) -> impl Iterator<Item = (&'static Key, &'static Flag)> {
    let flags = KEYS.iter().flat_map(|key| key.flags.iter().map(move |flag| (key, flag)));
    flags.filter(move |(_, flag)| flag.on.contains(&command))
}

/// The key that a message means by `[output] path`.
pub fn titled(title: &str) -> Option<&'static Key> {
    let (section, name) = title.trim_start_matches('[').split_once("] ")?;
    let (_, section) = Section::ALL.iter().find(|(known, _)| *known == section.trim_end_matches(']'))?;
    section.key(name)
}

/// The kind of a parameter; what nobody declares is told from the word.
pub(super) fn param_kind(params: &[Param], name: &str) -> ParamKind {
    params.iter().find(|param| param.name == name).map_or(ParamKind::Flag, |param| param.kind)
}
