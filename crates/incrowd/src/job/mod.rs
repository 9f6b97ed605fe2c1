//! The job answers: which table is read, which roles do its columns have, which privacy models must
//! hold, and which algorithm is used?
//!
//! A [`Job`] is read from a TOML file by [`read`] or [`parse`], assembled from a file and flags by
//! a [`JobBuilder`], or filled in by a program. [`keys`] lists every key. This module checks
//! spelling and types, and keeps the [`Provenance`] of every key for later error messages. It does
//! not check whether models and algorithms of the given names exist and accept the given
//! parameters: their own lists do that.

mod arguments;
mod builder;
mod external;
mod files;
mod flag_values;
mod given;
mod hierarchy;
pub mod keys;
#[cfg(test)]
mod page;
mod provenance;
mod quotable;
pub(crate) mod reading;
mod spelling;
#[cfg(test)]
mod tests;
mod whole;

pub use arguments::{argument_name, main_param, model_argument};
pub use builder::{JobBuilder, JobFile, parse, read};
pub use external::{ExternalJob, JoinMethod, OnConflict, Trim};
pub(crate) use hierarchy::FROM;
pub use hierarchy::{SHORT as SHORT_HIERARCHIES, hierarchy_from_path, hierarchy_from_word};
pub use provenance::{JobError, Origin, Place, Provenance};
pub use spelling::{toml_key, toml_string};

use std::path::PathBuf;

pub use incrowd_core::limits::Limits;
use incrowd_core::model::{self, Stated};
pub use incrowd_core::numerals::DecimalMark;
pub use incrowd_core::{Categories, ColumnSpec, DateFormat, Kind, Labels, MissingCells, Publish};
use incrowd_core::{HierarchySpec, Value};
pub use incrowd_engine::{Batches, Encoding, Location, Order};
pub use incrowd_recode::ungrouped::Suppressed;

/// All settings of a job file.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::hierarchy::HierarchySpec;
/// use incrowd::hierarchy::mask::{From, Mask};
/// use incrowd::{Anonymizer, Job, model};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-job-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let job = Job::of_file(&people)
///     .quasi(["age", "zip"])
///     .hierarchy("zip", HierarchySpec::Mask(Mask { char: '*', from: From::Right }))
///     .sensitive(["disease"])
///     .k(3)
///     .with_model(model::l_diversity(2).on("disease"))
///     .output(dir.join("patients.release.csv"));
/// let report = Anonymizer::new(&job).run()?;
/// assert!(report.manifest.models.iter().all(|model| model.holds == Some(true)));
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The input table and how to read it.
    pub input: Input,
    /// The place and form of the release.
    pub output: Option<Output>,
    /// The named columns, in the order of the file.
    pub columns: Vec<(String, ColumnJob)>,
    /// The privacy models; all must hold.
    pub models: Vec<ModelJob>,
    /// The algorithm and its parameters.
    pub algorithm: AlgorithmJob,
    /// The population from which the table is a sample, for models and attacks that need it.
    pub population: Option<PopulationJob>,
    /// An external table with further people. With it the release is k-join-anonymous.
    pub external: Option<ExternalJob>,
    /// Suppression before the algorithm runs, for sensitive values that are too frequent.
    pub suppression: Option<SuppressionJob>,
    /// The configurations of a comparison. Ignored when a release is made.
    pub compare: Option<CompareJob>,
    /// The file the job was read from, if any. No output may overwrite it.
    pub file: Option<PathBuf>,
}

impl Job {
    /// Creates a job for the table in this file.
    pub fn of_file(path: impl Into<Location>) -> Job {
        let mut job = Job::default();
        job.input.paths = vec![path.into()];
        job
    }

    /// Creates a job for a table in memory.
    pub fn of_batches(table: Batches) -> Job {
        let mut job = Job::default();
        job.input.memory = Some(table);
        job
    }

    /// Makes these columns quasi-identifiers.
    #[must_use]
    pub fn quasi<'a>(self, columns: impl IntoIterator<Item = &'a str>) -> Job {
        self.with_role(columns, RoleName::Quasi)
    }

    /// Makes these columns sensitive.
    #[must_use]
    pub fn sensitive<'a>(self, columns: impl IntoIterator<Item = &'a str>) -> Job {
        self.with_role(columns, RoleName::Sensitive)
    }

    /// Gives these columns a role.
    #[must_use]
    pub fn with_role<'a>(
        mut self,
        columns: impl IntoIterator<Item = &'a str>,
        role: RoleName,
    ) -> Job {
        columns.into_iter().for_each(|column| self.set_role(column, role));
        self
    }

    /// Declares that an adversary cannot know the values of these unmodified columns.
    #[must_use]
    pub fn unlinkable<'a>(mut self, columns: impl IntoIterator<Item = &'a str>) -> Job {
        columns.into_iter().for_each(|column| self.column_mut(column).linkable = Some(false));
        self
    }

    /// Sets the hierarchy of a column.
    #[must_use]
    pub fn hierarchy(mut self, column: &str, hierarchy: HierarchySpec) -> Job {
        self.column_mut(column).spec.hierarchy = Some(hierarchy);
        self
    }

    /// Adds the model k-anonymity.
    #[must_use]
    pub fn k(self, k: u32) -> Job {
        self.with_model(model::k_anonymity(k))
    }

    /// Adds a privacy model; [`model`] has a function for each.
    #[must_use]
    pub fn with_model(mut self, model: Stated) -> Job {
        self.models.push(model.into());
        self
    }

    /// Adds a privacy model by its name.
    #[must_use]
    pub fn model<'a>(
        mut self,
        name: &str,
        params: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Job {
        self.add_model(name, params);
        self
    }

    /// The job with its release in this file.
    #[must_use]
    pub fn output(mut self, path: impl Into<Location>) -> Job {
        self.write_to(path);
        self
    }

    /// Returns the roles of the columns and the treatment of missing values.
    pub fn roles(&self) -> Roles {
        Roles {
            columns: self.columns.clone(),
            missing: self.input.missing.clone(),
            on_missing: self.input.on_missing,
        }
    }

    /// Returns the column of that name. If the job does not name it yet, it is added with the role
    /// [`drop`](RoleName::Drop).
    pub fn column_mut(&mut self, name: &str) -> &mut ColumnJob {
        let at = self.columns.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.columns.push((name.to_owned(), ColumnJob::default()));
            self.columns.len() - 1
        });
        &mut self.columns[at].1
    }
}

impl Job {
    /// Returns the column of that name, if the job names it.
    pub fn column(&self, name: &str) -> Option<&ColumnJob> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
    }

    /// Gives a column a role.
    pub fn set_role(&mut self, column: &str, role: RoleName) {
        self.column_mut(column).role = role;
    }

    /// Adds a privacy model.
    pub fn add_model<'a>(
        &mut self,
        name: &str,
        params: impl IntoIterator<Item = (&'a str, Value)>,
    ) {
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.models.push(ModelJob { name: name.to_owned(), params });
    }

    /// Sets the path of the release.
    pub fn write_to(&mut self, path: impl Into<Location>) {
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
    /// The locations of the files, which may be glob patterns, or of tables of a database.
    pub paths: Vec<Location>,
    /// The table in memory, if it is not in files.
    pub memory: Option<Batches>,
    /// The delimiter of a CSV file. `None`: detected.
    pub delimiter: Option<u8>,
    /// The name of the file format. `None`: detected from the first bytes.
    pub format: Option<String>,
    /// The character encoding of a CSV file. `None`: detected from the first bytes.
    pub encoding: Option<Encoding>,
    /// The decimal mark of numbers. `None`: detected from the cells.
    pub decimal: Option<DecimalMark>,
    /// The sheet of an Excel file with several sheets.
    pub sheet: Option<String>,
}

impl From<PathBuf> for Table {
    fn from(path: PathBuf) -> Table {
        Table::file(path)
    }
}

impl Table {
    /// Returns the table in one file, or at the address of a database.
    pub fn file(path: impl Into<Location>) -> Table {
        Table { paths: vec![path.into()], ..Table::default() }
    }

    /// Returns a table in memory.
    pub fn in_memory(table: Batches) -> Table {
        Table { memory: Some(table), ..Table::default() }
    }
}

/// The roles of columns and the treatment of missing values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roles {
    /// The named columns, in the order of the file.
    pub columns: Vec<(String, ColumnJob)>,
    /// The texts that count as missing.
    pub missing: Vec<String>,
    /// The treatment of records with a missing value.
    pub on_missing: OnMissing,
}

impl Roles {
    /// Returns the column of that name, if it is named.
    pub fn column(&self, name: &str) -> Option<&ColumnJob> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
    }

    /// Returns the names of the columns with this role.
    pub fn named(&self, role: RoleName) -> Vec<&str> {
        self.columns.iter().filter(|(_, c)| c.role == role).map(|(name, _)| name.as_str()).collect()
    }
}

/// Returns the word that a word list assigns to a meaning.
pub(crate) fn word<T: PartialEq>(words: &[(&'static str, T)], meaning: T) -> &'static str {
    words.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| word)
}

/// The section `[input]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The locations of the files, which may be glob patterns such as `part-*.csv`, or of tables of
    /// a database. Empty if the command line gives them.
    pub paths: Vec<Location>,
    /// The table in memory, if it is not in files.
    pub memory: Option<Batches>,
    /// The texts that count as missing.
    pub missing: Vec<String>,
    /// The treatment of records with a missing value.
    pub on_missing: OnMissing,
    /// The role of columns that the job does not name.
    pub default_role: DefaultRole,
    /// The delimiter of a CSV file. `None`: detected.
    pub delimiter: Option<u8>,
    /// The name of the file format. `None`: detected from the first bytes.
    pub format: Option<String>,
    /// The character encoding of a CSV file. `None`: detected from the first bytes.
    pub encoding: Option<Encoding>,
    /// The decimal mark of numbers. `None`: detected from the cells.
    pub decimal: Option<DecimalMark>,
    /// The sheet of an Excel file with several sheets.
    pub sheet: Option<String>,
    /// The database table, if `paths` is a database address without one. Parsing a job moves it
    /// into `paths`.
    pub table: Option<String>,
    /// The query that replaces a table. Parsing a job moves it into `paths`.
    pub query: Option<String>,
    /// The column that identifies the person of a record. With it every model counts persons.
    pub person: Option<String>,
    /// The column of sampling weights: the number of people of the population that a record
    /// represents. It is not published.
    pub weight: Option<String>,
}

impl Input {
    /// Returns the table without the treatment of missing values.
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

    /// Returns the name of the table in a report.
    pub(crate) fn name(&self) -> Option<String> {
        let memory = self.memory.as_ref().map(|batches| batches.name().to_owned());
        memory.or_else(|| self.paths.first().map(Location::name))
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

/// The treatment of records with a missing value.
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
    pub const ALL: [(&'static str, OnMissing); 2] =
        [("drop", OnMissing::Drop), ("keep", OnMissing::Keep)];
}

/// The role of columns that the job does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultRole {
    /// They are not published.
    #[default]
    Drop,
    /// They are published unchanged.
    Passthrough,
}

impl DefaultRole {
    /// The names in a job file.
    pub const ALL: [(&'static str, DefaultRole); 2] =
        [("drop", DefaultRole::Drop), ("passthrough", DefaultRole::Passthrough)];
}

/// The section `[output]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The location of the release. The extension of a file determines the format.
    pub path: Location,
    /// The database table, if `path` is a database address without one. Parsing a job moves it into
    /// `path`.
    pub table: Option<String>,
    /// The path of the manifest. `None`: next to the release.
    pub manifest: Option<PathBuf>,
    /// Whether the output may overwrite files that are not releases of incrowd.
    pub replace: bool,
    /// The order of the records.
    pub order: Order,
    /// The path of the public report, if one is wanted.
    pub report: Option<PathBuf>,
    /// The path of the report for the data owner, if one is wanted.
    pub owner_report: Option<PathBuf>,
    /// Whether text cells are escaped so that no spreadsheet evaluates them as formulas.
    pub csv_safe: bool,
    /// The key file that signs the manifest, if it is to be signed. It is created if absent.
    pub sign: Option<PathBuf>,
    /// The published form of sampling weights.
    pub publish_weight: PublishWeight,
    /// The name of the format of a release on standard output, which has no extension.
    pub format: Option<String>,
    /// The delimiter of text. `None`: that of the input.
    pub delimiter: Option<u8>,
    /// The decimal mark of numbers in text. `None`: that of the input.
    pub decimal: Option<DecimalMark>,
    /// The text for a kept missing value. `None`: that of the input.
    pub missing: Option<String>,
    /// The published form of numeric ranges.
    pub numbers: Numbers,
    /// The published form of sets, in formats that have lists.
    pub sets: Sets,
}

/// The published form of sampling weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublishWeight {
    /// Not published.
    #[default]
    No,
    /// The mean of each group, in a column with the name of the weight column.
    GroupMean,
}

impl PublishWeight {
    /// The names in a job file.
    pub const ALL: [(&'static str, PublishWeight); 2] =
        [("no", PublishWeight::No), ("group-mean", PublishWeight::GroupMean)];
}

/// The published form of numeric ranges.
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

/// The published form of sets, in formats that have lists.
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
    /// The role of the column.
    pub role: RoleName,
    /// The generalization of a quasi-identifier. In a sensitive column, kind and hierarchy define
    /// the order or distance of its values.
    pub spec: ColumnSpec,
    /// The categories of a sensitive column, most sensitive first.
    pub categories: Option<Categories>,
    /// The published form of a sensitive column. `None`: as its models suggest.
    pub publish: Option<Publish>,
    /// `Some(false)` if an adversary cannot know the values of this unmodified column.
    pub linkable: Option<bool>,
    /// The maximum share of missing cells, where single cells are suppressed.
    pub max_missing: Option<f64>,
}

/// The names of roles; [`incrowd_core::Role`] is the complete definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoleName {
    /// Identifies a person.
    Identifier,
    /// Can be linked with other sources.
    Quasi,
    /// Must not be inferred about a person.
    Sensitive,
    /// Published unchanged.
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
    /// The given parameters, in the order of the file.
    pub params: Vec<(String, Value)>,
}

impl From<Stated> for ModelJob {
    fn from(model: Stated) -> ModelJob {
        ModelJob { name: model.card.name.to_owned(), params: model.params }
    }
}

/// The section `[population]`: microdata with the quasi-identifiers of the population from which
/// the table is a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PopulationJob {
    /// The locations of the files, which may be glob patterns, or of tables of a database.
    pub paths: Vec<Location>,
    /// The table in memory, if it is not in files.
    pub memory: Option<Batches>,
}

impl PopulationJob {
    /// Returns the population as a table.
    pub fn table(&self) -> Table {
        Table { paths: self.paths.clone(), memory: self.memory.clone(), ..Table::default() }
    }
}

/// The section `[algorithm]`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlgorithmJob {
    /// The algorithm's name.
    pub name: String,
    /// The given parameters, in the order of the file.
    pub params: Vec<(String, Value)>,
    /// The maximum share of suppressed records, from 0 to 1.
    pub suppression_limit: f64,
    /// How suppressed records are published.
    pub suppressed: Suppressed,
    /// The protection of cells that reveal too much.
    pub cells: Cells,
    /// The values that a missing cell matches.
    pub missing_cells: MissingCells,
    /// Whether the owner's report contains a lower bound of the loss of any release.
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

/// The protection of cells that reveal too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// They are generalized.
    #[default]
    Generalize,
    /// They are suppressed; all other cells are published unchanged.
    Suppress,
    /// Columns are generalized to a level and single cells are suppressed, whichever costs less.
    Both,
}

impl Cells {
    /// The names in a job file.
    pub const ALL: [(&'static str, Cells); 3] =
        [("generalize", Cells::Generalize), ("suppress", Cells::Suppress), ("both", Cells::Both)];
}

/// The section `[suppression]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuppressionJob {
    /// The method's name.
    pub name: String,
    /// The given parameters, in the order of the file.
    pub params: Vec<(String, Value)>,
    /// The file of the secret key. `None`: the one in the user's configuration directory. The
    /// ledger is stored next to it.
    pub key: Option<PathBuf>,
    /// A fixed seed in place of the key. The release is then marked as a test.
    pub seed: Option<u64>,
    /// Whether a second release of the same table is allowed. It is logged.
    pub again: bool,
}

/// The section `[compare]`: all combinations of these lists are tried. An empty list has a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareJob {
    /// Algorithms, `NAME:OPTION=VALUE,…`; values separated by `|` are tried one after the other.
    pub algorithms: Vec<String>,
    /// Values of k.
    pub k: Vec<u64>,
    /// Models in the same syntax; models joined by `+` must all hold.
    pub models: Vec<String>,
    /// Maximum shares of suppressed records.
    pub suppression_limits: Vec<f64>,
    /// The metric used as the loss. `None`: `ncp`.
    pub loss: Option<String>,
    /// The directory of the results.
    pub dir: Option<PathBuf>,
    /// The number of configurations that run at the same time; 0: one per core.
    pub threads: usize,
}
