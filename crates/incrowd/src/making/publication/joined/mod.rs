//! k-join-anonymity: the people of the table and of an external table in boxes (JAT), and the
//! sensitive values of the table's own people by sensitive group (SI).

mod audit_table;
mod check;
mod join;
mod make;
mod originals;
mod report;
mod tables;

use incrowd_audit::attack::{Adversary, JoinedRelease};
use incrowd_audit::tally;
use incrowd_audit::utility::{self, Comparison};
use incrowd_core::model::Need;
use incrowd_core::text::Block;
use incrowd_core::{ColumnSpec, Error, Kind, Progress, Result, looks_like_a_name};
use incrowd_engine::{Engine, ExaminedColumns, Format, Location, RecordValues};

use super::{
    Asked, Judged, Publication, ReadFile, ReleaseTables, TableContent, TablePlace, Tables, Views,
};
use crate::job::reading::{Reading, open_input, published_of};
use crate::job::{DefaultRole, ExternalJob, Job, JoinMethod, RoleName, Trim, word};
use crate::judging::case::Case;
use crate::judging::from_original::FromOriginal;
use crate::judging::measure::{Measured, Measuring};
use crate::judging::request::Judging;
use crate::making::checked::CheckedJob;
use crate::making::make::{Made, Material};
use crate::making::pipeline::Report;
use crate::making::release::Verified;
use crate::making::replacing::directory_of;
use crate::making::suppression::Keys;
use crate::manifest::{ExternalEntry, Manifest, ModelEntry, RecordsEntry, SensitiveGroups};

pub(crate) use join::JoinedTable;
pub use report::JoinReport;

/// The column with the label of a row's sensitive group.
const SENSITIVE_GROUP: &str = "SG";

/// The publication in two joined tables.
#[derive(Debug)]
pub(crate) struct Joined;

/// Returns the settings of the external table.
fn rules(job: &Job) -> Result<&ExternalJob> {
    job.external.as_ref().ok_or_else(|| Error::bug("a join without an external table"))
}

fn with_sensitive(job: &CheckedJob) -> bool {
    job.schema.sensitive().next().is_some()
}

impl Publication for Joined {
    fn name(&self) -> &'static str {
        "k-join-anonymity"
    }

    fn layout(&self) -> utility::Layout {
        utility::Layout::Joined
    }

    fn headline(&self, report: &Report) -> Vec<Block> {
        report::headline(report)
    }

    fn claims(&self, job: &Job) -> bool {
        job.external.is_some()
    }

    /// Gives the identifier its role and drops columns that external people do not have.
    fn prepare(&self, job: &mut Job, columns: &[String]) -> Result<Vec<String>> {
        let id = rules(job)?.id.clone();
        match job.column(&id).map(|column| column.role) {
            Some(RoleName::Identifier) => {}
            None if columns.contains(&id) => job.set_role(&id, RoleName::Identifier),
            None => {
                let error = Error::job(format!("the table has no column `{id}` to join on"));
                let some_fit = job.columns.iter().any(|(other, _)| columns.contains(other));
                let names = || columns.iter().map(String::as_str);
                let error = match some_fit && names().all(looks_like_a_name) {
                    true => error.help_near(&id, names()),
                    false => error.help_column(&id, names(), false),
                };
                return Err(error.at("external.id"));
            }
            Some(_) => {
                return Err(Error::job(format!(
                    "`{id}` identifies people and cannot have another role"
                ))
                .help("role = \"identifier\", or leave it out of [columns]")
                .at("external.id"));
            }
        }
        let mut left_out: Vec<String> = Vec::new();
        for (name, column) in
            job.columns.iter_mut().filter(|(_, c)| c.role == RoleName::Passthrough)
        {
            column.role = RoleName::Drop;
            left_out.push(name.clone());
        }
        if job.input.default_role == DefaultRole::Passthrough {
            job.input.default_role = DefaultRole::Drop;
            left_out.extend(columns.iter().filter(|name| job.column(name).is_none()).cloned());
        }
        if let Some((name, _)) = job.columns.iter().find(|(name, _)| name == SENSITIVE_GROUP) {
            return Err(Error::job(format!(
                "the column `{name}` has the reserved name of the sensitive group labels"
            ))
            .help("rename it")
            .at(format!("columns.{name}")));
        }
        if left_out.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![format!(
            "not published, because external people do not have them: {} \
             (declare them sensitive to publish them with the sensitive values)",
            left_out.join(", ")
        )])
    }

    fn check(&self, job: &CheckedJob) -> Result<()> {
        if job.job.algorithm.suppression_limit > 0.0 {
            return Err(Error::job(
                "with [external] everybody of the table is published: nothing can be suppressed",
            )
            .help("leave suppression_limit out")
            .at("algorithm.suppression_limit"));
        }
        for (i, privacy_model) in job.privacy_models.iter().enumerate() {
            if privacy_model.model.card().needs.contains(&Need::Population) {
                let error = Error::job(format!(
                    "`{}` cannot be combined with [external]",
                    privacy_model.name()
                ));
                return Err(error
                    .help(
                        "`incrowd attack` with a population measures presence \
                         in a k-join-anonymous release",
                    )
                    .at(format!("models.{i}")));
            }
        }
        if check::least(&job.privacy_models).is_none() {
            return Err(check::no_k());
        }
        if job.method.algorithm.join().is_none() {
            let error =
                Error::job(format!("`{}` cannot be used with [external]", job.method.card.name));
            return Err(error.help("`mondrian` and `top-down` can").at("algorithm.name"));
        }
        Ok(())
    }

    fn tables(&self, job: &CheckedJob, release: &Location) -> Result<Vec<TablePlace>> {
        let rules = rules(&job.job)?;
        let (key, what) = ("output.path", "the release");
        let mut places =
            vec![TablePlace { path: release.clone(), key, what, public: true, columns: &[] }];
        if with_sensitive(job) {
            let path = rules.sensitive.clone().unwrap_or_else(|| release.with_suffix("si"));
            let refused = match (release, &path) {
                (Location::Database(own), Location::Database(other))
                    if own.is_same_database(other) =>
                {
                    None
                }
                (Location::Database(_), _) => Some(
                    Error::job("the two tables of a release must be in the same database").help(
                        "leave it out: the second table gets the name of the first \
                         with the suffix `_si`",
                    ),
                ),
                (_, path) => {
                    path.format().map_err(|e| e.at("external.sensitive"))?;
                    let error =
                        Error::job("the two tables of a release must be in the same directory")
                            .help("the manifest contains file names without directories");
                    let directory = |location: &Location| location.file().map(directory_of);
                    (directory(path) != directory(release)).then_some(error)
                }
            };
            if let Some(error) = refused {
                return Err(error.at("external.sensitive"));
            }
            let (key, what) = ("external.sensitive", "the table of sensitive values");
            places.push(TablePlace { path, key, what, public: true, columns: &[] });
        }
        if let Some(path) = rules.audit.clone() {
            Format::of_path(&path).map_err(|e| e.at("external.audit"))?;
            let (key, what) = ("external.audit", "the audit table");
            places.push(TablePlace {
                path: Location::File(path),
                key,
                what,
                public: false,
                columns: &audit_table::COLUMNS,
            });
        }
        Ok(places)
    }

    fn one_record_each(&self) -> Option<&'static str> {
        Some("k-join-anonymity")
    }

    fn gather<'e>(
        &self,
        engine: &'e mut dyn Engine,
        keys: &'e dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'e>> {
        let rules = rules(&job.job)?;
        let all = rules.method == JoinMethod::Direct;
        let output = job.job.output.as_ref().and_then(|output| output.path.file());
        let directory = output.map(directory_of).filter(|directory| directory.is_dir());
        let directory = directory.unwrap_or_else(std::env::temp_dir);
        let how = (rules.audit.is_some(), all);
        let (source, person) = (engine.source(), job.job.input.person.as_ref());
        let joined =
            JoinedTable::read(source, rules, &job.reading(), how, person, &directory, progress)?;
        job.check_persons(joined.people.repeated > 0)?;
        let folded = joined.people.fold().0;
        let mut material = Material::new(folded, engine, keys, job, progress)?;
        material.joined = Some(joined);
        Ok(material)
    }

    fn make(
        &self,
        material: Material<'_>,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Made> {
        make::make(material, job, progress)
    }

    /// Sorts the columns in the order of the original.
    fn arrange(&self, judging: &mut Judging) -> Result<()> {
        let Some(original) = &judging.original else { return Ok(()) };
        let columns = open_input(original)?.columns().to_vec();
        judging.columns.sort_by_key(|(name, _)| columns.iter().position(|column| column == name));
        Ok(())
    }

    fn read_back(
        &self,
        reading: &Reading,
        release: &dyn ReleaseTables,
        _: bool,
        _: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<Tables> {
        let mut names: Vec<String> = reading.quasi_names().into_iter().map(str::to_owned).collect();
        if release.has(TableContent::SensitiveValues) {
            names.push(SENSITIVE_GROUP.to_owned());
        }
        let file = |content, back: &incrowd_engine::ReadBack| ReadFile {
            content,
            records: back.folded.records(),
            digest: back.digest.clone(),
            columns: back.columns.clone(),
        };
        let boxes = release.read(TableContent::Boxes, &names, progress)?;
        let mut tables = Tables { quasi: reading.quasi.len(), ..Tables::default() };
        tables.files.push(file(TableContent::Boxes, &boxes));
        tables.people = boxes.folded;
        if release.has(TableContent::SensitiveValues) {
            let columns =
                reading.sensitive.iter().flat_map(|(name, spec)| published_of(name, spec));
            let columns: Vec<String> =
                [SENSITIVE_GROUP.to_owned()].into_iter().chain(columns).collect();
            let values = release.read(TableContent::SensitiveValues, &columns, progress)?;
            tables.files.push(file(TableContent::SensitiveValues, &values));
            tables.values = Some(values.folded);
        }
        Ok(tables)
    }

    fn judge(&self, tables: Tables, asked: &Asked<'_>, _: &dyn Progress) -> Result<Judged> {
        check::judge(&tables, asked)
    }

    /// Adds the entries of this publication. The manifest contains nothing about the external table
    /// except its existence, and without sensitive values not the number of records of the table.
    fn describe(&self, manifest: &mut Manifest, job: &CheckedJob, verified: &Verified) {
        if let Some(rules) = &job.job.external {
            let (method, trim) =
                (word(&JoinMethod::ALL, rules.method), word(&Trim::ALL, rules.trim));
            manifest.job.external =
                Some(ExternalEntry { method: method.to_owned(), trim: trim.to_owned() });
        }
        manifest.job.order = "sorted".to_owned();
        let rows = verified.files.first().map_or(0, |file| file.records);
        match &verified.on_values {
            Some(verification) => {
                manifest.records.joined = Some(rows);
                let (groups, models) = (verification.groups, ModelEntry::all(verification));
                manifest.sensitive_groups = Some(SensitiveGroups { groups, models });
            }
            None => manifest.records = RecordsEntry { published: rows, ..RecordsEntry::default() },
        }
    }

    fn compare_with_original(
        &self,
        case: &Case,
        tables: &Tables,
        progress: &dyn Progress,
    ) -> Result<Option<FromOriginal>> {
        let Some(original) = &case.judging.original else { return Ok(None) };
        let Some(rules) = &case.judging.external else {
            return Err(Error::job("the external table of the release is not given")
                .help("name it as `[external] path` with `[external] id`, or give the job"));
        };
        originals::check(case, original, rules, tables, progress).map(Some)
    }

    /// Measures the boxes on domains with the values of both tables, and answers the workload's
    /// queries with them.
    fn measure(&self, measuring: &mut Measuring<'_>, progress: &dyn Progress) -> Result<Measured> {
        let case = measuring.case;
        let Some(rules) = &case.judging.external else {
            return Err(Error::job(
                "the release was made with an external table, whose values are part of the domains",
            )
            .help("name it as `[external] path` with `[external] id`, or give the job"));
        };
        let source = measuring.open_original()?;
        let directory = std::env::temp_dir();
        let joined = JoinedTable::read(
            &source,
            rules,
            &case.reading,
            (false, false),
            None,
            &directory,
            progress,
        )?;
        let data = joined.encode(&case.reading)?.data;
        let tables = case.read_back(true, progress)?;
        let tally = tally(&tables.people, data.quasi(), 0)?;
        let ask = measuring.ask.filter(|ask| ask.cards(self.layout()).next().is_some());
        let comparison = match (ask, &tables.values) {
            (None, _) => None,
            (Some(_), Some(values)) => Some(Comparison::of_boxes(
                &data,
                &tables.people,
                values,
                case.reading.missing_label(),
            )?),
            (Some(ask), None) if ask.only.is_empty() => None,
            (Some(_), None) => {
                return Err(Error::job(
                    "counts cannot be estimated: \
                     the release does not show how many rows of a group are from the table",
                )
                .help("publish a sensitive column: its table shows these numbers"));
            }
        };
        Ok(Measured { tally, comparison })
    }

    /// Attacks on people use the table of boxes, which has no sensitive values. Attacks on
    /// sensitive values use the other table, whose groups are the sensitive groups.
    fn views(&self, case: &Case, progress: &dyn Progress) -> Result<Views> {
        let tables = case.read_back(true, progress)?;
        let text = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        let mut quasi = case.reading.quasi_specs();
        quasi.extend(tables.values.as_ref().map(|_| text.clone()));
        let values = tables.values.map(|values| (values, vec![text]));
        Ok(Views { people: tables.people, quasi, values, record_values: RecordValues::default() })
    }

    fn inform<'a>(&self, case: &Case, views: &'a Views, adversary: &mut Adversary<'a>) {
        let privacy_models = case.privacy_models().unwrap_or_default();
        let k = check::least(&privacy_models).unwrap_or(1);
        let external = case.manifest.as_ref().and_then(|manifest| manifest.job.external.as_ref());
        let trimmed = external.map(|external| external.trim != word(&Trim::ALL, Trim::Off));
        let sensitive = views.values.as_ref().map(|(values, _)| values);
        adversary.joined = Some(JoinedRelease { k, sensitive, trimmed });
    }
}
