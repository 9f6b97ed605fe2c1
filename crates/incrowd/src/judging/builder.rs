//! Assembles a [`Judging`] from a release, a job file, and the settings of a command line or a
//! program.
//!
//! A request names two tables, and each setting for reading a table describes one of them. This
//! module is the only place that decides which one: settings of the call describe the release,
//! settings of a job describe the original.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use incrowd_core::{Error, Result};
use incrowd_engine::{Batches, Location, Source};
use serde_json::Value as Json;

use crate::job::keys::{Flag, Key, Section};
use crate::job::{
    ExternalJob, Input, Job, JobBuilder, JobError, JobFile, Origin, Provenance, Table,
    argument_name,
};
use crate::judging::case::with_roles_of_manifest;
use crate::judging::journals::unauthenticated_by_judging;
use crate::judging::request::{Judging, MemoryRelease};

/// The keys of `[input]` that describe how a table is read.
const READING: [&str; 7] =
    ["delimiter", "format", "encoding", "decimal", "sheet", "table", "query"];

/// A setting of a job, as a command line or a program gives it.
#[derive(Clone, Debug)]
pub enum Setting {
    /// The values of a flag.
    Flag(&'static Key, &'static Flag, Vec<OsString>),
    /// The value of an argument.
    Argument(&'static Key, &'static Flag, Json),
    /// A model, the name of its argument, and the argument's value.
    Model(&'static str, String, Json),
    /// A table in memory that replaces the files of a section.
    Memory(Section, Batches),
}

impl Setting {
    /// Applies the setting to a job.
    pub fn apply_to(&self, builder: &mut JobBuilder) -> Result<(), JobError> {
        match self {
            Setting::Flag(key, flag, words) => builder.flag(key, flag, words),
            Setting::Argument(key, flag, value) => builder.argument(key, flag, value),
            Setting::Model(model, argument, value) => builder.model(model, argument, value),
            Setting::Memory(section, table) => {
                builder.in_memory(*section, table.clone());
                Ok(())
            }
        }
    }

    fn key(&self) -> Option<&'static Key> {
        match self {
            Setting::Flag(key, ..) | Setting::Argument(key, ..) => Some(key),
            Setting::Model(..) | Setting::Memory(..) => None,
        }
    }

    fn is(&self, section: Section, name: &str) -> bool {
        self.key().is_some_and(|key| key.section == section && key.name == name)
    }

    /// Returns whether it describes how a table is read.
    fn is_reading(&self) -> bool {
        READING.iter().any(|name| self.is(Section::Input, name))
    }

    /// Returns the error that it cannot be used.
    fn refuse(&self, error: Error) -> JobError {
        let flag = match self {
            Setting::Flag(_, flag, _) => Some(flag.name()),
            Setting::Argument(_, flag, _) => Some(argument_name(flag)),
            Setting::Model(_, argument, _) => Some(argument.clone()),
            Setting::Memory(..) => None,
        };
        JobError { flag, ..error.into() }
    }
}

/// A request to judge a release that is being assembled.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use incrowd::job::Table;
/// use incrowd::job::keys::{Command, flags_of};
/// use incrowd::{JudgingBuilder, Setting};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-judging-builder-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let (people, release) = (dir.join("people.csv"), dir.join("release.csv"));
/// std::fs::write(&people, "city,disease\nKöln,flu\nKöln,cold\n")?;
/// // The release is Latin-1 and has no manifest.
/// std::fs::write(&release, b"city,disease\nK\xf6ln,flu\nK\xf6ln,cold\n")?;
///
/// let mut builder = JudgingBuilder::new(Table::file(&release));
/// builder.original(Table::file(&people));
/// for (name, value) in [("encoding", "latin1"), ("quasi", "city"), ("sensitive", "disease")] {
///     let (key, flag) = flags_of(Command::Verify).find(|(_, flag)| flag.long == name).unwrap();
///     builder.setting(Setting::Argument(key, flag, value.into()));
/// }
/// let request = builder.finish()?;
/// assert_eq!(request.judging.measure(None)?.metrics().ncp(), 0.0);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct JudgingBuilder {
    judging: Judging,
    /// The job file.
    job: Option<PathBuf>,
    original: Option<Table>,
    /// The person column of the original, unless a setting or the job file names one.
    person: Option<String>,
    /// The settings for reading the release.
    reading: Vec<Setting>,
    /// All other settings, which apply to the job.
    settings: Vec<Setting>,
}

/// A request to judge a release, the source of each of its values, and notes about them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JudgingFile {
    /// The request.
    pub judging: Judging,
    /// The source of each value.
    pub provenance: Provenance,
    /// Notes for the author: renamed keys.
    pub notes: Vec<String>,
    /// Warnings about journals that this user did not write.
    pub warnings: Vec<String>,
}

impl JudgingBuilder {
    /// Judges a table in a file or in memory.
    pub fn new(release: Table) -> JudgingBuilder {
        JudgingBuilder::of(Judging { release, ..Judging::default() })
    }

    /// Judges the release that a job made, in memory or in files: with the models of its manifest,
    /// and the job's hierarchies, population, external table and person column. The original is
    /// added by [`original`](JudgingBuilder::original).
    pub fn of_release(job: &Job, in_memory: Option<MemoryRelease>) -> JudgingBuilder {
        let judging = match in_memory {
            Some(release) => Judging::of_memory(release, job),
            None => Judging { models: Vec::new(), original: None, ..Judging::of(job) },
        };
        JudgingBuilder { person: job.input.person.clone(), ..JudgingBuilder::of(judging) }
    }

    /// Starts from a request whose roles, population and external table are known. Settings and
    /// the job file take precedence.
    pub fn of(judging: Judging) -> JudgingBuilder {
        JudgingBuilder { judging, ..JudgingBuilder::default() }
    }

    /// Sets the job file. Its `[input]` describes the original.
    pub fn job(&mut self, path: impl Into<PathBuf>) {
        self.job = Some(path.into());
    }

    /// Sets the original table, in place of that of the job. The job describes how it is read, as
    /// far as the table does not.
    pub fn original(&mut self, table: Table) {
        self.original = Some(table);
    }

    /// Returns the request without the job file and the settings, as the second release of an
    /// attack.
    pub fn second(self) -> Judging {
        self.judging
    }

    /// Adds a setting of the call. A setting for reading a table describes the release.
    pub fn setting(&mut self, setting: Setting) {
        match setting.is_reading() {
            true => self.reading.push(setting),
            false => self.settings.push(setting),
        }
    }

    /// Adds a setting of the job, as if it were in the job file. A setting for reading a table
    /// describes the original.
    pub fn job_setting(&mut self, setting: Setting) {
        self.settings.push(setting);
    }

    /// Returns the request. Roles and models are those of the job file and the settings. If neither
    /// gives roles, they are those of the request it started from, or of the manifest.
    pub fn finish(mut self) -> Result<JudgingFile, JobError> {
        let mut notes = self.read_release()?;
        let mut builder = self.begin_job()?;
        for setting in &self.settings {
            setting.apply_to(&mut builder)?;
        }
        let JobFile { job, provenance, notes: of_job } = builder.finish_judging()?;
        notes.extend(of_job);
        let Job { mut input, output, columns, models, algorithm, population, external, .. } = job;
        let mut judging = self.judging;
        let given = |key: &str| self.job.is_some() || provenance.of(key) != Origin::Default;
        if given("input.missing") {
            judging.missing = Some(input.missing.clone());
        }
        if given("input.on_missing") {
            judging.on_missing = Some(input.on_missing);
        }
        if given("algorithm.missing_cells") {
            judging.missing_cells = Some(algorithm.missing_cells);
        }
        (judging.columns, judging.models) = (columns, models);
        judging.manifest = output.and_then(|output| output.manifest).or(judging.manifest);
        judging.population = population.or(judging.population);
        if let Some(external) = external {
            // The path in a job file is that of the release the job makes, which may be another.
            let named = self.settings.iter().any(|own| own.is(Section::External, "values"));
            judging.values = external.sensitive.clone().filter(|_| named);
            judging.external = Some(external).filter(ExternalJob::is_given);
        }
        input.missing = judging.missing.clone().unwrap_or(input.missing);
        input.on_missing = judging.on_missing.unwrap_or(input.on_missing);
        input.person = input.person.or(self.person);
        judging.original = match self.original {
            Some(table) => {
                replace_table(&mut input, table);
                Some(input)
            }
            // The table of a job may be unavailable. Then there is no original.
            None => Some(input)
                .filter(|input| !input.paths.is_empty() && input.paths.iter().all(is_available)),
        };
        let warnings = unauthenticated_by_judging(&judging).into_iter().collect();
        Ok(JudgingFile { judging, provenance, notes, warnings })
    }

    /// Applies the settings for reading the release. Returns notes about them.
    fn read_release(&mut self) -> Result<Vec<String>, JobError> {
        let judging = &mut self.judging;
        let Some(first) = self.reading.first() else { return Ok(Vec::new()) };
        if judging.in_memory.is_some() || judging.release.memory.is_some() {
            let title = first.key().map(Key::title).unwrap_or_default();
            let error =
                Error::job(format!("`{title}` is about a file, and the release is in memory"));
            return Err(first.refuse(
                error.help("leave it out; as a setting of a job it is about the original"),
            ));
        }
        let mut builder = JobBuilder::default();
        for setting in &self.reading {
            setting.apply_to(&mut builder)?;
        }
        let JobFile { job, notes, .. } = builder.finish_judging()?;
        let Input { delimiter, format, encoding, decimal, sheet, table, query, .. } = job.input;
        let paths = std::mem::take(&mut judging.release.paths);
        let locate = |path: Location| match table.is_some() || query.is_some() {
            true => path.locate(table.as_deref(), query.as_deref()),
            false => Ok(path),
        };
        let paths = paths.into_iter().map(locate).collect::<Result<_>>()?;
        judging.release =
            Table { paths, memory: None, delimiter, format, encoding, decimal, sheet };
        Ok(notes)
    }

    /// Returns the job to which the settings are applied: the job file; an empty job, if the
    /// settings give roles; otherwise a job with the known roles, or those of the manifest.
    fn begin_job(&mut self) -> Result<JobBuilder, JobError> {
        if let Some(path) = &self.job {
            return JobBuilder::read(path);
        }
        if self.settings.iter().any(|setting| setting.is(Section::Columns, "role")) {
            return Ok(JobBuilder::default());
        }
        if self.judging.columns.is_empty() {
            if let Some(path) = self.manifest()? {
                self.judging.manifest = Some(path);
            }
            self.judging = with_roles_of_manifest(&self.judging)?;
        }
        Ok(JobBuilder::of(Job { columns: self.judging.columns.clone(), ..Job::default() }))
    }

    /// Returns the path of the manifest that the settings name. It is needed before the job is
    /// complete.
    fn manifest(&self) -> Result<Option<PathBuf>, JobError> {
        let mut builder = JobBuilder::default();
        for setting in self.settings.iter().filter(|own| own.is(Section::Output, "manifest")) {
            setting.apply_to(&mut builder)?;
        }
        Ok(builder.finish_judging()?.job.output.and_then(|output| output.manifest))
    }
}

/// Replaces the table of an input. Settings that the table does not have are kept.
fn replace_table(input: &mut Input, table: Table) {
    (input.paths, input.memory) = (table.paths, table.memory);
    input.delimiter = table.delimiter.or(input.delimiter);
    input.format = table.format.or(input.format.take());
    input.encoding = table.encoding.or(input.encoding);
    input.decimal = table.decimal.or(input.decimal);
    input.sheet = table.sheet.or(input.sheet.take());
}

/// Returns whether the table of a job is there. A database is not asked: if it cannot be reached,
/// reading the table fails with the reason.
fn is_available(location: &Location) -> bool {
    let exist = |files: Vec<PathBuf>| files.iter().all(|file| Path::exists(file));
    match location {
        Location::File(path) => Source::matching(from_ref(path)).is_ok_and(exist),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use incrowd_core::MissingCells;
    use incrowd_core::numerals::DecimalMark;
    use incrowd_engine::Encoding;
    use serde_json::json;

    use super::*;
    use crate::job::RoleName;
    use crate::job::keys::{Command, flags_of};

    fn known(name: &str) -> (&'static Key, &'static Flag) {
        let named = |(_, flag): &(&Key, &Flag)| argument_name(flag) == name;
        flags_of(Command::Verify).find(named).unwrap_or_else(|| panic!("{name}"))
    }

    fn argument(name: &str, value: Json) -> Setting {
        let (key, flag) = known(name);
        Setting::Argument(key, flag, value)
    }

    fn flag(name: &str, word: &str) -> Setting {
        let (key, flag) = known(name);
        Setting::Flag(key, flag, vec![word.into()])
    }

    /// A request with roles, so that no manifest is looked for.
    fn begun(release: &str) -> JudgingBuilder {
        let mut builder = JudgingBuilder::new(Table::file(release));
        builder.setting(argument("quasi", json!(["age", "zip"])));
        builder
    }

    fn job_file(dir: &tempfile::TempDir, text: &str) -> PathBuf {
        let path = dir.path().join("job.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    const READ: [(&str, &str); 5] = [
        ("delimiter", ";"),
        ("format", "csv"),
        ("encoding", "latin1"),
        ("decimal", ","),
        ("sheet", "second"),
    ];

    fn read(path: &str) -> Table {
        Table {
            delimiter: Some(b';'),
            format: Some("csv".to_owned()),
            encoding: Some(Encoding::Windows1252),
            decimal: Some(DecimalMark::Comma),
            sheet: Some("second".to_owned()),
            ..Table::file(path)
        }
    }

    #[test]
    fn settings_of_the_call_describe_the_release() {
        let (mut by_flags, mut by_arguments) = (begun("r.csv"), begun("r.csv"));
        for (name, word) in READ {
            by_flags.setting(flag(name, word));
            by_arguments.setting(argument(name, word.into()));
        }
        for mut builder in [by_flags, by_arguments] {
            builder.original(Table::file("people.csv"));
            let judging = builder.finish().unwrap().judging;
            assert_eq!(judging.release, read("r.csv"));
            assert_eq!(judging.original.unwrap().table(), Table::file("people.csv"));
            let roles: Vec<_> = judging.columns.iter().map(|(_, column)| column.role).collect();
            assert_eq!(roles, [RoleName::Quasi, RoleName::Quasi]);
        }
    }

    #[test]
    fn settings_of_a_job_describe_the_original() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = "[input]\nmissing = [\"-\"]\n".to_owned();
        READ.iter().for_each(|(name, word)| text += &format!("{name} = \"{word}\"\n"));
        let mut by_file = begun("r.csv");
        by_file.job(job_file(&dir, &text));
        let mut by_settings = begun("r.csv");
        by_settings.job_setting(argument("missing", json!(["-"])));
        READ.iter().for_each(|(name, word)| {
            by_settings.job_setting(argument(name, (*word).into()));
        });
        for mut builder in [by_file, by_settings] {
            builder.original(Table::file("people.csv"));
            builder.person = Some("patient".to_owned());
            let judging = builder.finish().unwrap().judging;
            assert_eq!(judging.release, Table::file("r.csv"));
            assert_eq!(judging.missing, Some(vec!["-".to_owned()]));
            let original = judging.original.unwrap();
            assert_eq!(
                (original.table(), original.missing),
                (read("people.csv"), vec!["-".into()])
            );
            assert_eq!(original.person.as_deref(), Some("patient"));
        }
    }

    #[test]
    fn a_table_or_a_query_is_that_of_the_released_database() {
        let clinic = "postgresql://ward@nowhere/clinic";
        for (name, value, located) in [
            ("table", "people", Location::from(clinic).locate(Some("people"), None)),
            ("query", "select 1", Location::from(clinic).locate(None, Some("select 1"))),
        ] {
            let mut builder = begun(clinic);
            builder.setting(flag(name, value));
            assert_eq!(builder.finish().unwrap().judging.release.paths, [located.unwrap()]);
        }
        let mut builder = begun("r.csv");
        builder.setting(flag("query", "select 1"));
        assert!(builder.finish().is_err());
    }

    #[test]
    fn the_original_of_a_job_is_kept_if_it_exists_or_is_in_a_database() {
        let dir = tempfile::tempdir().unwrap();
        let original = |path: &str, more: &str| {
            let mut builder = begun("r.csv");
            builder.job(job_file(&dir, &format!("[input]\npath = \"{path}\"\n{more}")));
            builder.finish().unwrap().judging.original.map(|input| input.paths)
        };
        assert_eq!(original("people.csv", ""), None);
        std::fs::write(dir.path().join("people.csv"), "age\n1\n").unwrap();
        assert_eq!(original("people.csv", ""), Some(vec![dir.path().join("people.csv").into()]));
        let clinic = "postgresql://ward@nowhere/clinic";
        let located = Location::from(clinic).locate(Some("people"), None).unwrap();
        assert_eq!(original(clinic, "table = \"people\"\n"), Some(vec![located]));
    }

    #[test]
    fn the_release_of_a_job_has_its_person_column_but_not_its_original() {
        let mut job = Job::of_file("people.csv").quasi(["age"]).k(2).output("r.csv");
        job.input.person = Some("patient".to_owned());
        let begun = || JudgingBuilder::of_release(&job, None);
        let judging = begun().finish().unwrap().judging;
        assert_eq!((judging.original, judging.models), (None, Vec::new()));
        assert_eq!(judging.release, Table::file("r.csv"));
        let mut builder = begun();
        builder.original(Table::file("copy.csv"));
        let original = builder.finish().unwrap().judging.original.unwrap();
        assert_eq!(original.paths, ["copy.csv".into()]);
        assert_eq!(original.person.as_deref(), Some("patient"));
        assert_eq!(begun().second().columns, job.columns);
    }

    #[test]
    fn settings_take_precedence_over_the_job_file() {
        let dir = tempfile::tempdir().unwrap();
        let text = "[columns]\nage = \"sensitive\"\n[[models]]\nname = \"k-anonymity\"\nk = 2\n\
                    [output]\npath = \"r.csv\"\nmanifest = \"a.json\"\n\
                    [external]\npath = \"voters.csv\"\nid = \"name\"\nvalues = \"old.csv\"\n";
        let finished = |settings: &[Setting]| {
            let mut builder = JudgingBuilder::new(Table::file("r.csv"));
            builder.job(job_file(&dir, text));
            settings.iter().for_each(|setting| builder.setting(setting.clone()));
            builder.finish().unwrap()
        };
        let of_file = finished(&[]);
        assert_eq!(of_file.judging.manifest, Some(dir.path().join("a.json")));
        assert_eq!(of_file.judging.values, None);
        assert_eq!(of_file.judging.missing_cells, Some(MissingCells::default()));
        assert!(of_file.judging.external.is_some());
        let judging = finished(&[
            flag("k", "7"),
            argument("manifest", "b.json".into()),
            argument("values", "new.csv".into()),
            argument("quasi", "age".into()),
        ]);
        assert_eq!(judging.provenance.of("models.0"), Origin::Flag(known("k").1.name()));
        let judging = judging.judging;
        assert_eq!(judging.models[0].params, [("k".to_owned(), incrowd_core::Value::Integer(7))]);
        assert_eq!(judging.manifest, Some("b.json".into()));
        assert_eq!(judging.values, Some("new.csv".into()));
        assert_eq!(judging.columns[0].1.role, RoleName::Quasi);
    }

    #[test]
    fn a_release_in_memory_has_no_settings_for_reading_a_file() {
        let schema = std::sync::Arc::new(arrow_schema::Schema::empty());
        let table = Batches::new("r", schema, Vec::new()).unwrap();
        let mut builder = JudgingBuilder::new(Table::in_memory(table));
        builder.setting(argument("encoding", "latin1".into()));
        let error = builder.finish().unwrap_err();
        assert!(error.to_string().contains("the release is in memory"), "{error}");
        assert_eq!(error.flag.as_deref(), Some("encoding"));
    }
}
