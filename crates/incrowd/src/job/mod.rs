//! What somebody asks for: a table, the roles of its columns, promises and an algorithm.
//!
//! A [`Job`] is written as a TOML file, which [`read`] and [`parse`] understand, put together from a file and flags by a
//! [`JobBuilder`], or filled in by a program. [`keys`] lists everything that can be said. Spelling and types are checked, and
//! the [`Provenance`] of every key is kept, so that errors found later can tell it too. Whether models and algorithms of these
//! names exist, and take these parameters, is for their lists to say.

mod arguments;
mod builder;
mod external;
mod files;
mod given;
mod hierarchy;
pub mod keys;
#[cfg(test)]
mod page;
mod provenance;
mod quotable;
#[cfg(test)]
mod tests;
mod whole;
mod words;

pub use arguments::{argument_name, main_param, promise_name};
pub use builder::{JobBuilder, JobFile, parse, read};
pub use external::{ExternalJob, JoinMethod, OnConflict, Trim};
pub use hierarchy::{SHORT as SHORT_HIERARCHIES, hierarchy_from_path, hierarchy_from_word};
pub use provenance::{JobError, Origin, Place, Provenance};
pub use whole::beside;

use std::path::PathBuf;

pub use incrowd_core::numerals::DecimalMark;
pub use incrowd_core::{Categories, MissingCells, Publish};
use incrowd_core::{ColumnSpec, HierarchySpec, Value};
pub use incrowd_engine::{Batches, Encoding, Order};
pub use incrowd_recode::ungrouped::Suppressed;

/// Everything a job file can say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Where the table is and how to read it.
    pub input: Input,
    /// Where the release goes.
    pub output: Option<Output>,
    /// The columns that were named, in the order written.
    pub columns: Vec<(String, ColumnJob)>,
    /// The promises; all must hold.
    pub models: Vec<ModelJob>,
    /// How the release is made.
    pub algorithm: AlgorithmJob,
    /// The people the table is a sample of, for models and attacks that ask.
    pub population: Option<PopulationJob>,
    /// People of another table who stand beside those of the table: the release is then k-join-anonymous.
    pub external: Option<ExternalJob>,
    /// What is withheld before anything else, because a sensitive value is too frequent.
    pub suppression: Option<SuppressionJob>,
    /// What a comparison sweeps. Making a release needs none.
    pub compare: Option<CompareJob>,
    /// The file the job was read from, if it was: no output may take its place.
    pub file: Option<PathBuf>,
}

impl Job {
    /// A job about the table in this file.
    pub fn of_file(path: impl Into<PathBuf>) -> Job {
        let mut job = Job::default();
        job.input.paths = vec![path.into()];
        job
    }

    /// A job about a table in memory.
    pub fn of_batches(table: Batches) -> Job {
        let mut job = Job::default();
        job.input.memory = Some(table);
        job
    }

    /// The job with these columns as quasi-identifiers.
    #[must_use]
    pub fn quasi<'a>(self, columns: impl IntoIterator<Item = &'a str>) -> Job {
        self.with_role(columns, RoleName::Quasi)
    }

    /// The job with these columns as sensitive ones.
    #[must_use]
    pub fn sensitive<'a>(self, columns: impl IntoIterator<Item = &'a str>) -> Job {
        self.with_role(columns, RoleName::Sensitive)
    }

    /// The job with these columns in a role.
    #[must_use]
    pub fn with_role<'a>(mut self, columns: impl IntoIterator<Item = &'a str>, role: RoleName) -> Job {
        columns.into_iter().for_each(|column| self.set_role(column, role));
        self
    }

    /// The job that says of these columns, which are published as they are, that nobody else can know their values.
    #[must_use]
    pub fn unlinkable<'a>(mut self, columns: impl IntoIterator<Item = &'a str>) -> Job {
        columns.into_iter().for_each(|column| self.column_mut(column).linkable = Some(false));
        self
    }

    /// The job with a hierarchy for a column.
    #[must_use]
    pub fn hierarchy(mut self, column: &str, hierarchy: HierarchySpec) -> Job {
        self.column_mut(column).spec.hierarchy = Some(hierarchy);
        self
    }

    /// The job that promises k-anonymity too.
    #[must_use]
    pub fn k(self, k: u32) -> Job {
        self.model("k-anonymity", [("k", Value::Integer(i64::from(k)))])
    }

    /// The job that promises a model too.
    #[must_use]
    pub fn model<'a>(mut self, name: &str, params: impl IntoIterator<Item = (&'a str, Value)>) -> Job {
        self.promise(name, params);
        self
    }

    /// The job with its release in this file.
    #[must_use]
    pub fn output(mut self, path: impl Into<PathBuf>) -> Job {
        self.write_to(path);
        self
    }

    /// The roles of the columns and how missing values are read.
    pub fn roles(&self) -> Roles {
        Roles {
            columns: self.columns.clone(),
            missing: self.input.missing.clone(),
            on_missing: self.input.on_missing,
        }
    }

    /// The column of that name, added as one to [drop](RoleName::Drop) if the job does not name it yet.
    pub fn column_mut(&mut self, name: &str) -> &mut ColumnJob {
        let at = self.columns.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.columns.push((name.to_owned(), ColumnJob::default()));
            self.columns.len() - 1
        });
        &mut self.columns[at].1
    }
}

impl Job {
    /// The column of that name, if the job names it.
    pub fn column(&self, name: &str) -> Option<&ColumnJob> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
    }

    /// Gives a column a role.
    pub fn set_role(&mut self, column: &str, role: RoleName) {
        self.column_mut(column).role = role;
    }

    /// Adds a promise.
    pub fn promise<'a>(&mut self, name: &str, params: impl IntoIterator<Item = (&'a str, Value)>) {
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.models.push(ModelJob { name: name.to_owned(), params });
    }

    /// Says where the release goes.
    pub fn write_to(&mut self, path: impl Into<PathBuf>) {
        let path = path.into();
        match &mut self.output {
            Some(output) => output.path = path,
            None => self.output = Some(Output { path, ..Output::default() }),
        }
    }
}

/// A table and how it is read: files, or batches in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The files, which may be patterns.
    pub paths: Vec<PathBuf>,
    /// The table itself, if it is in memory.
    pub memory: Option<Batches>,
    /// What separates the cells of a csv file, if that is not to be guessed.
    pub delimiter: Option<u8>,
    /// The name of its format, if that is not to be told from the file's first bytes.
    pub format: Option<String>,
    /// How the characters of a csv file are written, if that is not to be told from its first bytes.
    pub encoding: Option<Encoding>,
    /// What stands before the fractions of its numbers, if that is not to be told from its cells.
    pub decimal: Option<DecimalMark>,
    /// The sheet of an Excel file that has several.
    pub sheet: Option<String>,
}

impl From<PathBuf> for Table {
    fn from(path: PathBuf) -> Table {
        Table::file(path)
    }
}

impl Table {
    /// The table in one file.
    pub fn file(path: impl Into<PathBuf>) -> Table {
        Table { paths: vec![path.into()], ..Table::default() }
    }

    /// A table in memory.
    pub fn in_memory(table: Batches) -> Table {
        Table { memory: Some(table), ..Table::default() }
    }
}

/// The roles of columns, and how missing values are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roles {
    /// The columns that were named, in the order written.
    pub columns: Vec<(String, ColumnJob)>,
    /// The texts that count as missing.
    pub missing: Vec<String>,
    /// What becomes of records with a missing value.
    pub on_missing: OnMissing,
}

impl Roles {
    /// The column of that name, if it is named.
    pub fn column(&self, name: &str) -> Option<&ColumnJob> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
    }

    /// The names of the columns in a role.
    pub fn named(&self, role: RoleName) -> Vec<&str> {
        self.columns.iter().filter(|(_, c)| c.role == role).map(|(name, _)| name.as_str()).collect()
    }
}

/// The word for a meaning in a list of words.
pub(crate) fn word<T: PartialEq>(words: &[(&'static str, T)], meaning: T) -> &'static str {
    words.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| word)
}

/// The table `[input]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The files, which may be patterns such as `part-*.csv`. Empty if the job leaves them to the command line.
    pub paths: Vec<PathBuf>,
    /// The table itself, if it is in memory and not in files.
    pub memory: Option<Batches>,
    /// The texts that count as missing.
    pub missing: Vec<String>,
    /// What becomes of records with a missing value.
    pub on_missing: OnMissing,
    /// What becomes of columns the job does not name.
    pub default_role: DefaultRole,
    /// What separates the cells of a csv file, if that is not to be guessed.
    pub delimiter: Option<u8>,
    /// The name of its format, if that is not to be told from the file's first bytes.
    pub format: Option<String>,
    /// How the characters of a csv file are written, if that is not to be told from its first bytes.
    pub encoding: Option<Encoding>,
    /// What stands before the fractions of its numbers, if that is not to be told from its cells.
    pub decimal: Option<DecimalMark>,
    /// The sheet of an Excel file that has several.
    pub sheet: Option<String>,
    /// The table, if `paths` is a database and does not name it. A job that was read has it there.
    pub table: Option<String>,
    /// The query whose answer is read in place of a table, likewise.
    pub query: Option<String>,
    /// The column that says whose record it is. Then every promise counts persons.
    pub person: Option<String>,
    /// The column that says how many people of the population a record stands for. It is not published.
    pub weight: Option<String>,
}

impl Input {
    /// The table without what is said of its missing values.
    pub fn table(&self) -> Table {
        Table {
            paths: self.paths.clone(),
            memory: self.memory.clone(),
            delimiter: self.delimiter,
            format: self.format.clone(),
            encoding: self.encoding,
            decimal: self.decimal,
            sheet: self.sheet.clone(),
        }
    }

    /// What the table is called in a report.
    pub(crate) fn name(&self) -> Option<String> {
        let memory = self.memory.as_ref().map(|batches| batches.name().to_owned());
        memory.or_else(|| self.paths.first().map(|path| crate::manifest::file_name(path)))
    }
}

impl Default for Input {
    fn default() -> Self {
        Input {
            paths: Vec::new(),
            memory: None,
            missing: ["", "?", "NA"].map(str::to_owned).to_vec(),
            on_missing: OnMissing::default(),
            default_role: DefaultRole::default(),
            delimiter: None,
            format: None,
            encoding: None,
            decimal: None,
            sheet: None,
            table: None,
            query: None,
            person: None,
            weight: None,
        }
    }
}

/// What becomes of records with a missing value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissing {
    /// They are not published.
    #[default]
    Drop,
    /// Missing is a value of its own.
    Keep,
}

impl OnMissing {
    /// The names in a job file.
    pub const ALL: [(&'static str, OnMissing); 2] = [("drop", OnMissing::Drop), ("keep", OnMissing::Keep)];
}

/// What becomes of columns the job does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultRole {
    /// They are not published.
    #[default]
    Drop,
    /// They are published as they are.
    Passthrough,
}

impl DefaultRole {
    /// The names in a job file.
    pub const ALL: [(&'static str, DefaultRole); 2] =
        [("drop", DefaultRole::Drop), ("passthrough", DefaultRole::Passthrough)];
}

/// The table `[output]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The release; its extension tells the format.
    pub path: PathBuf,
    /// The table, if `path` is a database and does not name it. A job that was read has it there.
    pub table: Option<String>,
    /// The manifest, if not beside the release.
    pub manifest: Option<PathBuf>,
    /// The order of the records.
    pub order: Order,
    /// The page about the release that may be published, if one is wanted.
    pub report: Option<PathBuf>,
    /// The page about the release that is for the data owner only, if one is wanted.
    pub owner_report: Option<PathBuf>,
    /// Whether cells of text are written so that no spreadsheet takes them for formulas.
    pub csv_safe: bool,
    /// The key the manifest is signed with, if it shall be; made if it is not there.
    pub sign: Option<PathBuf>,
    /// What is published of sampling weights.
    pub publish_weight: PublishWeight,
    /// The name of its format, if it goes to standard output, of which no name tells it.
    pub format: Option<String>,
    /// What separates the cells of text, if not what separates those of the input.
    pub delimiter: Option<u8>,
    /// What stands before the fractions of numbers in text, if not what does in the input.
    pub decimal: Option<DecimalMark>,
    /// How a missing value that is kept is written in text, if not as in the input.
    pub missing: Option<String>,
    /// How ranges of numbers are published.
    pub numbers: Numbers,
    /// How sets are published in formats that have lists.
    pub sets: Sets,
}

/// What is published of sampling weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublishWeight {
    /// Nothing.
    #[default]
    No,
    /// The mean of each group, in a column with the name of the weight.
    GroupMean,
}

impl PublishWeight {
    /// The names in a job file.
    pub const ALL: [(&'static str, PublishWeight); 2] =
        [("no", PublishWeight::No), ("group-mean", PublishWeight::GroupMean)];
}

/// How ranges of numbers are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// As text, `[20, 40]`.
    #[default]
    Range,
    /// As two columns of numbers, `age_low` and `age_high`.
    LowHigh,
    /// As the mean of the group.
    Mean,
}

impl Numbers {
    /// The names in a job file.
    pub const ALL: [(&'static str, Numbers); 3] =
        [("range", Numbers::Range), ("low-high", Numbers::LowHigh), ("mean", Numbers::Mean)];
}

/// How sets are published in formats that have lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sets {
    /// As text, `{Mexico, Peru}`.
    #[default]
    Text,
    /// As lists.
    List,
}

impl Sets {
    /// The names in a job file.
    pub const ALL: [(&'static str, Sets); 2] = [("text", Sets::Text), ("list", Sets::List)];
}

/// An entry of `[columns]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnJob {
    /// What the column is to the release.
    pub role: RoleName,
    /// How it may be generalized, if the role is [`RoleName::Quasi`]; of a sensitive column kind and hierarchy say how its
    /// values relate to each other.
    pub spec: ColumnSpec,
    /// The categories of a sensitive column, most sensitive first.
    pub categories: Option<Categories>,
    /// What is published of a sensitive column, if not what its models suggest.
    pub publish: Option<Publish>,
    /// `Some(false)` if nobody else can know the values of a column that is published as it is.
    pub linkable: Option<bool>,
    /// The share of its cells that may be missing, where single cells are left out.
    pub max_missing: Option<f64>,
}

/// The roles by name; [`incrowd_core::Role`] is what they become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoleName {
    /// Names a person.
    Identifier,
    /// Could be linked with other sources.
    Quasi,
    /// Must not be learned about a person.
    Sensitive,
    /// Published as it is.
    Passthrough,
    /// Not published.
    #[default]
    Drop,
}

impl RoleName {
    /// The names in a job file.
    pub const ALL: [(&'static str, RoleName); 5] = [
        ("identifier", RoleName::Identifier),
        ("quasi", RoleName::Quasi),
        ("sensitive", RoleName::Sensitive),
        ("passthrough", RoleName::Passthrough),
        ("drop", RoleName::Drop),
    ];
}

/// An entry of `[[models]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelJob {
    /// The model's name.
    pub name: String,
    /// Its parameters as given, in the order written.
    pub params: Vec<(String, Value)>,
}

/// The table `[population]`: microdata with the quasi-identifiers of the people the table is a sample of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PopulationJob {
    /// The files, which may be patterns.
    pub paths: Vec<PathBuf>,
    /// The table itself, if it is in memory and not in files.
    pub memory: Option<Batches>,
}

impl PopulationJob {
    /// The table alone.
    pub fn table(&self) -> Table {
        Table { paths: self.paths.clone(), memory: self.memory.clone(), ..Table::default() }
    }
}

/// The table `[algorithm]`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlgorithmJob {
    /// The algorithm's name.
    pub name: String,
    /// Its parameters as given, in the order written.
    pub params: Vec<(String, Value)>,
    /// The share of records that may be suppressed, from 0 to 1.
    pub suppression_limit: f64,
    /// How suppressed records are published.
    pub suppressed: Suppressed,
    /// What becomes of a cell that says too much.
    pub cells: Cells,
    /// What a missing cell matches.
    pub missing_cells: MissingCells,
    /// Whether the owner is told how little any release could lose.
    pub bound: bool,
}

impl Default for AlgorithmJob {
    fn default() -> Self {
        AlgorithmJob {
            name: "auto".to_owned(),
            params: Vec::new(),
            suppression_limit: 0.0,
            suppressed: Suppressed::default(),
            cells: Cells::default(),
            missing_cells: MissingCells::default(),
            bound: false,
        }
    }
}

/// What becomes of a cell that says too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// It is published as something more general.
    #[default]
    Generalize,
    /// It is missing; the others are published as they are.
    Suppress,
    /// Columns are generalized to a level and single cells are missing, whichever costs less.
    Both,
}

impl Cells {
    /// The names in a job file.
    pub const ALL: [(&'static str, Cells); 3] =
        [("generalize", Cells::Generalize), ("suppress", Cells::Suppress), ("both", Cells::Both)];
}

/// The table `[suppression]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuppressionJob {
    /// The method's name.
    pub name: String,
    /// Its parameters as given, in the order written.
    pub params: Vec<(String, Value)>,
    /// The file of the secret key, if not that in the user's configuration directory. The ledger lies beside it.
    pub key: Option<PathBuf>,
    /// A stated seed instead of the key. The release is then stamped as a test.
    pub seed: Option<u64>,
    /// Whether a second release of the same table is made all the same, and logged.
    pub again: bool,
}

/// The table `[compare]`: what is tried in all combinations. What is empty has its usual values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareJob {
    /// Algorithms, `NAME:OPTION=VALUE,…`; values parted by `|` are tried one after the other.
    pub algorithms: Vec<String>,
    /// Values of k.
    pub k: Vec<u64>,
    /// Models, written alike; those joined by `+` must all hold.
    pub models: Vec<String>,
    /// Shares of the records that may be suppressed.
    pub suppression_limits: Vec<f64>,
    /// The metric that counts as the loss, if not `ncp`.
    pub loss: Option<String>,
    /// Where the results go.
    pub dir: Option<PathBuf>,
    /// How many configurations run at a time; 0 for as many as there are cores.
    pub threads: usize,
}
