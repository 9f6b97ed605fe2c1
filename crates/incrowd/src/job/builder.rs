//! Assembles a job from a file and flags. A flag is read like a job file with one key, so every
//! value has a single path into the [`Job`]. Checks of the job as a whole come last.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, near_miss};
use toml::de::DeTable;

use super::files;
use super::flag_values::documents;
use super::given::{At, Entry, Given, Node, Read, Refused, TomlTable};
use super::keys::{Flag, Key, Kind, Section, Set, param_kind};
use super::provenance::{JobError, Provenance};
use super::{
    Batches, CompareJob, ExternalJob, Job, Location, ModelJob, Output, RoleName, SuppressionJob,
};

/// A job, the source of each of its values, and notes about its spelling.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// The job.
    pub job: Job,
    /// The source of each value.
    pub provenance: Provenance,
    /// Notes for the author: renamed keys, and outputs that moved.
    pub notes: Vec<String>,
}

/// Reads a job file. Relative paths in it are relative to the file.
pub fn read(path: &Path) -> Result<JobFile, JobError> {
    JobBuilder::read(path)?.finish()
}

/// Reads the text of a job file. Relative paths in it are relative to `base`; the hierarchy files
/// it names are read.
///
/// ```
/// let text = r#"
/// [columns]
/// age = "quasi"
/// zip = { role = "quasi", hierarchy = { mask = {} } }
/// disease = "sensitive"
///
/// [[models]]
/// name = "k-anonymity"
/// k = 3
/// "#;
/// let file = incrowd::job::parse("patients.toml", text, ".".as_ref())?;
/// assert_eq!(file.job.models[0].name, "k-anonymity");
/// assert_eq!(file.provenance.of("models.0.k"), incrowd::job::Origin::Line(9));
/// # Ok::<(), incrowd::job::JobError>(())
/// ```
pub fn parse(name: &str, text: &str, base: &Path) -> Result<JobFile, JobError> {
    JobBuilder::parse(name, text, base)?.finish()
}

/// A job that is being assembled.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use incrowd::Anonymizer;
/// use incrowd::job::JobBuilder;
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-builder-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let people = dir.join("patients.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table)?;
/// let text = r#"
/// columns = { age = "quasi", zip = "quasi", disease = "sensitive" }
/// models = [{ name = "k-anonymity", k = 3 }]
/// "#;
/// let mut builder = JobBuilder::parse("patients.toml", text, &dir)?;
/// builder.tables(&[people])?;
/// let file = builder.finish()?;
/// let released = Anonymizer::new(&file.job).run_in_memory()?;
/// assert_eq!(released.report.records.published, 7);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct JobBuilder {
    pub(super) job: Job,
    pub(super) hierarchies: Option<(PathBuf, At)>,
    pub(super) provenance: Provenance,
    pub(super) notes: Vec<String>,
    /// The named columns, their places, and whether they have a role.
    pub(super) columns: Vec<(String, At, bool)>,
    /// The keys given for columns in addition to their roles.
    pub(super) of_columns: Vec<(String, &'static Key, At)>,
    /// The output path of the file, if a flag names another.
    pub(super) replaced_output: Option<Location>,
}

impl JobBuilder {
    /// Starts from an existing job.
    pub fn of(job: Job) -> JobBuilder {
        let named = |(name, _): &(String, _)| (name.clone(), At::Flag(String::new()), true);
        JobBuilder {
            columns: job.columns.iter().map(named).collect(),
            job,
            ..JobBuilder::default()
        }
    }

    /// Starts from a job file.
    pub fn read(path: &Path) -> Result<JobBuilder, JobError> {
        let name = path.display().to_string();
        let text = files::read_text(path, incrowd_engine::MOST_TOML_BYTES)
            .map_err(|why| Error::job(format!("job file `{name}` cannot be read: {why}")))?;
        // A job from a pipe, `<(…)` or `/dev/stdin`, has no directory of its own.
        let is_stream = !path.is_file() || path.starts_with("/dev") || path.starts_with("/proc");
        let base = path.parent().filter(|_| !is_stream).unwrap_or(Path::new(""));
        let mut builder = JobBuilder::parse(&name, &text, base)?;
        builder.job.file = Some(path.to_owned());
        Ok(builder)
    }

    /// Starts from the text of a job file.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<JobBuilder, JobError> {
        let provenance = Provenance::of_file(name, text);
        let mut builder = JobBuilder { provenance, ..JobBuilder::default() };
        let document = DeTable::parse(text).map_err(|e| {
            let error = Error::job(format!("job file `{name}` is not valid TOML: {}", e.message()));
            let span = e.span().unwrap_or(0..0);
            if super::quotable::is_quotable(text, span.start) {
                return builder.provenance.refused(Refused { error, at: At::File(span) });
            }
            // The line is not quoted: the file may be a table by mistake.
            let line = text.as_bytes()[..span.start.min(text.len())]
                .iter()
                .filter(|&&b| b == b'\n')
                .count()
                + 1;
            let error = Error::job(format!("job file `{name}` is not valid TOML (line {line})"));
            error
                .help(
                    "a job file contains, for example, path = \"table.csv\" below [input]; \
                     is this a table?",
                )
                .into()
        })?;
        let document = Node::of_toml(document.get_ref(), 0..0, &At::File);
        builder.provenance.collect(&document, "");
        builder.document(&document, base).map_err(|refused| builder.provenance.refused(refused))?;
        Ok(builder)
    }

    /// Adds the values of a flag or an argument. Relative paths are relative to the working
    /// directory.
    pub fn flag(
        &mut self,
        key: &'static Key,
        flag: &Flag,
        words: &[OsString],
    ) -> Result<(), JobError> {
        let at = At::Flag(flag.name());
        let documents = documents(key, flag, words, &at).map_err(|r| self.provenance.refused(r))?;
        self.add(key.section, &at, documents)
    }

    /// Adds the values of a flag or an argument. Its models replace those of the file.
    pub(super) fn add(
        &mut self,
        section: Section,
        at: &At,
        documents: Vec<Node>,
    ) -> Result<(), JobError> {
        if matches!(section, Section::Models)
            && !matches!(self.provenance.exactly("models"), Some(At::Flag(_)))
        {
            self.provenance.forget("models");
            self.provenance.put("models", at.clone());
            self.job.models.clear();
        }
        for document in documents {
            self.document(&document, Path::new(""))
                .map_err(|refused| self.provenance.refused(refused))?;
        }
        Ok(())
    }

    /// Sets the input tables given as arguments, in place of those of the file.
    pub fn tables(&mut self, paths: &[PathBuf]) -> Result<(), JobError> {
        let words: Vec<OsString> = paths.iter().map(|path| path.as_os_str().to_owned()).collect();
        match Section::Input.key("path") {
            Some(key) if !words.is_empty() => self.flag(key, &key.flags[0], &words),
            _ => Ok(()),
        }
    }

    pub(super) fn refused(&self, refused: Refused) -> JobError {
        self.provenance.refused(refused)
    }

    /// Removes the models of that name and their places.
    pub(super) fn forget_model(&mut self, name: &str) {
        while let Some(at) = self.job.models.iter().position(|model| model.name == name) {
            self.job.models.remove(at);
            self.provenance.forget_item("models", at, self.job.models.len());
        }
    }

    pub(super) fn document(&mut self, document: &Node, base: &Path) -> Read<()> {
        for entry in Entry::root(document, base).table("a table")?.entries() {
            let Some((_, section)) = Section::ALL.iter().find(|(name, _)| *name == entry.key)
            else {
                let what = match &entry.node.given {
                    Given::Table(_) => format!("unknown table [{}]", entry.key),
                    _ => format!("unknown key `{}` outside of any table", entry.key),
                };
                let known = Section::ALL.iter().map(|(name, _)| *name);
                return Err(entry.refuse_key(Error::job(what).help_near(entry.key, known)));
            };
            match section {
                Section::Columns => {
                    for column in entry.table("a table")?.entries() {
                        self.column(column)?;
                    }
                }
                Section::Models => {
                    let Some(items) = entry.items() else {
                        let Refused { error, at } = entry.must_be("a list of tables");
                        let help = "write [[models]], with two brackets, above each model";
                        return Err(Refused { error: error.help(help), at });
                    };
                    for item in items {
                        self.job.models.push(ModelJob { name: String::new(), params: Vec::new() });
                        let table = item.table("a table")?;
                        self.keys(Section::Models, &table)?;
                        table.need("name", "name = \"k-anonymity\"")?;
                        if let At::Flag(_) = item.node.at {
                            let last = format!("models.{}", self.job.models.len() - 1);
                            self.provenance.forget(&last);
                            self.provenance.put(&last, item.node.at.clone());
                        }
                    }
                }
                section => {
                    self.begin(*section);
                    self.keys(*section, &entry.table("a table")?)?;
                }
            }
        }
        Ok(())
    }

    /// Creates the settings of a section that is present, even if it is empty.
    fn begin(&mut self, section: Section) {
        match section {
            Section::Output => drop(self.output()),
            Section::Population => drop(self.job.population.get_or_insert_default()),
            Section::External => drop(self.external()),
            Section::Suppression => drop(self.suppression()),
            Section::Compare => drop(self.sweep()),
            _ => {}
        }
    }

    pub(super) fn output(&mut self) -> &mut Output {
        self.job.output.get_or_insert_default()
    }

    /// Replaces the files of `[population]` or `[external]`, which must be set, by a table in
    /// memory.
    pub fn in_memory(&mut self, section: Section, table: Batches) {
        let places = match section {
            Section::Population => {
                self.job.population.as_mut().map(|own| (&mut own.paths, &mut own.memory))
            }
            Section::External => {
                self.job.external.as_mut().map(|own| (&mut own.paths, &mut own.memory))
            }
            _ => None,
        };
        if let Some((paths, memory)) = places {
            paths.clear();
            *memory = Some(table);
        }
    }

    pub(super) fn external(&mut self) -> &mut ExternalJob {
        self.job.external.get_or_insert_default()
    }

    pub(super) fn suppression(&mut self) -> &mut SuppressionJob {
        self.job.suppression.get_or_insert_default()
    }

    pub(super) fn sweep(&mut self) -> &mut CompareJob {
        self.job.compare.get_or_insert_default()
    }

    fn keys(&mut self, section: Section, table: &TomlTable<'_>) -> Read<()> {
        for entry in table.entries() {
            match section.key(entry.key) {
                Some(key) => {
                    let above = entry.path.strip_suffix(entry.key).unwrap_or_default();
                    self.set(key, entry, None, &format!("{above}{}", key.name))?;
                }
                None if section.is_open() => self.param(section, entry)?,
                None => return Err(table.unknown(entry, section.keys().map(|key| key.name))),
            }
        }
        Ok(())
    }

    /// Sets the key at `path`, of a column if one is given, and stores its source.
    fn set(
        &mut self,
        key: &'static Key,
        entry: &Entry<'_>,
        column: Option<&str>,
        path: &str,
    ) -> Read<()> {
        if key.old.contains(&entry.key) {
            self.notes.push(format!("`{}` is now called `{}`", entry.key, key.name));
        }
        let old_word = key.old_words.iter().find(|(old, _)| entry.as_str() == Some(old));
        let node = old_word.map(|(old, new)| {
            self.notes.push(format!("`{} = \"{old}\"` is now called `\"{new}\"`", key.name));
            Node { given: Given::Text((*new).to_owned()), at: entry.node.at.clone() }
        });
        let entry = node.as_ref().map_or_else(|| entry.clone(), |node| entry.with(node));
        if path == "output.path" && matches!(entry.node.at, At::Flag(_)) {
            let stated = matches!(self.provenance.exactly("output.path"), Some(At::File(_)));
            self.replaced_output = Some(self.output().path.clone()).filter(|_| stated);
        }
        match key.set {
            Set::Job(set) => set(self, &entry)?,
            Set::Column(set) => set(self.job.column_mut(column.unwrap_or_default()), &entry)?,
        }
        match &entry.node.at {
            At::Flag(_) => {
                self.provenance.forget(path);
                self.provenance.put(path, entry.node.at.clone());
                if key.required.is_some() || key.kind == Kind::Card {
                    self.provenance.put(key.section.name(), entry.node.at.clone());
                }
            }
            At::File(_) if path != entry.path => {
                let at = self.provenance.exactly(&entry.path).unwrap_or(&entry.node.at).clone();
                self.provenance.put(path, at);
            }
            At::File(_) => {}
        }
        Ok(())
    }

    /// Sets a parameter of a model, an algorithm or a method.
    fn param(&mut self, section: Section, entry: &Entry<'_>) -> Read<()> {
        let (name, params) = match section {
            Section::Models => match self.job.models.last_mut() {
                Some(model) => (&model.name, &mut model.params),
                None => return Ok(()),
            },
            Section::Suppression => {
                let suppression = self.job.suppression.get_or_insert_default();
                (&suppression.name, &mut suppression.params)
            }
            _ => (&self.job.algorithm.name, &mut self.job.algorithm.params),
        };
        let value = entry.param(param_kind(section.params(name), entry.key))?;
        params.retain(|(known, _)| known != entry.key);
        params.push((entry.key.to_owned(), value));
        if let (At::Flag(_), false) = (&entry.node.at, section == Section::Models) {
            self.provenance.forget(&entry.path);
            self.provenance.put(&entry.path, entry.node.at.clone());
        }
        Ok(())
    }

    /// Removes the parameters of an algorithm or a suppression method that is about to be replaced.
    pub(super) fn forget_params(&mut self, section: Section) {
        let params = match section {
            Section::Suppression => std::mem::take(&mut self.suppression().params),
            _ => std::mem::take(&mut self.job.algorithm.params),
        };
        for (name, _) in params {
            self.provenance.forget(&format!("{}.{name}", section.name()));
        }
    }

    /// Lets a flag replace another key of the file. Two contradicting flags are an error.
    pub(super) fn instead_of(&mut self, entry: &Entry<'_>, other: &str) -> Read<()> {
        match (&entry.node.at, self.provenance.exactly(other)) {
            (At::Flag(_), Some(At::Flag(flag))) => {
                let error =
                    Error::job(format!("`{}` and `{flag}` cannot be given together", entry.key));
                Err(entry.refuse(error))
            }
            (At::Flag(_), Some(At::File(_))) => {
                self.provenance.forget(other);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn column(&mut self, column: &Entry<'_>) -> Read<()> {
        let Some(role) = Section::Columns.key("role") else { return Ok(()) };
        if column.as_str().is_some() {
            self.named(column, true)?;
            return self.set(
                role,
                column,
                Some(column.key),
                &format!("columns.{}.role", column.key),
            );
        }
        let table =
            column.table("a role such as \"quasi\" or a table such as { role = \"quasi\" }")?;
        refuse_dotted(column, &table)?;
        self.named(column, table.get("role").is_some())?;
        for entry in table.entries() {
            let Some(key) = Section::Columns.key(entry.key) else {
                return Err(table.unknown(entry, Section::Columns.keys().map(|key| key.name)));
            };
            self.set(
                key,
                entry,
                Some(column.key),
                &format!("columns.{}.{}", column.key, key.name),
            )?;
            if !key.roles.is_empty() {
                self.of_columns
                    .retain(|(name, known, _)| name != column.key || known.name != key.name);
                self.of_columns.push((column.key.to_owned(), key, entry.key_at.clone()));
            }
        }
        Ok(())
    }

    /// Stores that a column was named. Two flags cannot give it two roles.
    fn named(&mut self, column: &Entry<'_>, role: bool) -> Read<()> {
        let twice = format!("columns.{}.role", column.key);
        if let (true, At::Flag(_), Some(At::Flag(_))) =
            (role, &column.node.at, self.provenance.exactly(&twice))
        {
            return Err(
                column.refuse(Error::job(format!("column `{}` is given two roles", column.key)))
            );
        }
        match self.columns.iter_mut().find(|(name, ..)| name == column.key) {
            Some((_, _, known)) => *known |= role,
            None => self.columns.push((column.key.to_owned(), column.node.at.clone(), role)),
        }
        let path = format!("columns.{}", column.key);
        if let (At::Flag(_), true) =
            (&column.node.at, role || self.provenance.exactly(&path).is_none())
        {
            self.provenance.put(&path, column.node.at.clone());
        }
        Ok(())
    }

    /// Returns the complete job, if nothing is missing or contradictory.
    pub fn finish(mut self) -> Result<JobFile, JobError> {
        self.check(true).map_err(|refused| self.provenance.refused(refused))?;
        Ok(JobFile { job: self.job, provenance: self.provenance, notes: self.notes })
    }

    /// Returns the complete job for a release to be judged, which needs no output.
    pub fn finish_judging(mut self) -> Result<JobFile, JobError> {
        self.check(false).map_err(|refused| self.provenance.refused(refused))?;
        Ok(JobFile { job: self.job, provenance: self.provenance, notes: self.notes })
    }
}

/// Refuses `marital.status = "quasi"`: TOML reads it as a nested table, but the author means a
/// column.
fn refuse_dotted(column: &Entry<'_>, table: &TomlTable<'_>) -> Read<()> {
    let keys = || Section::Columns.keys().map(|key| key.name);
    let is_column = |entry: &&Entry<'_>| match &entry.node.given {
        _ if near_miss(entry.key, keys()).is_some() => false,
        Given::Text(word) => RoleName::ALL.iter().any(|(name, _)| name == word),
        Given::Table(below) => below.iter().any(|field| field.key == "role"),
        _ => false,
    };
    match table.entries().iter().find(is_column) {
        Some(entry) if column.is_dotted() => {
            let error =
                Error::job(format!("unknown key `{}` in the column `{}`", entry.key, column.key));
            let name = format!("{}.{}", column.key, entry.key);
            Err(entry.refuse_key(
                error.help(format!("a column name with a dot needs quotes: \"{name}\"")),
            ))
        }
        _ => Ok(()),
    }
}
