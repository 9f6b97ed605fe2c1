//! Validation of a job against the columns of its table. Every error that can be found without
//! reading records is reported here.

use incrowd_core::model::{BoundModel, Need, PrivacyModel};
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{
    Dataset, Error, Folded, Progress, Publish, Result, Role, Schema, SensitiveSpec,
    looks_like_a_name,
};
use incrowd_engine::{Content, Dialect, FoldSpec, Location, Places, Source};
use incrowd_recode::Method;

use crate::job::reading::{
    Reading, category_column, dialect, has_passthrough, passthrough_columns, sensitive_spec,
};
use crate::job::{
    ColumnJob, DefaultRole, Job, ModelJob, Numbers, OnMissing, Output, RoleName, Sets,
};
use crate::making::claim::Claim;
use crate::making::publication::{self, Publication, TablePlace};
use crate::making::replacing::{Mark, check_file};
use crate::making::suppression::{self, Planned};
use crate::making::weights;
use crate::manifest;

/// A job that fits the table it was checked against.
#[derive(Debug)]
pub struct CheckedJob {
    /// The job with derived settings filled in.
    pub(crate) job: Job,
    /// The roles of the table's columns.
    pub schema: Schema,
    /// The privacy models.
    pub privacy_models: Vec<PrivacyModel>,
    /// The algorithm with its parameters.
    pub method: Method,
    /// Columns that are not published because the job does not name them.
    pub dropped: Vec<String>,
    /// Warnings, each a sentence.
    pub(crate) warnings: Vec<String>,
    pub(crate) suppression: Option<Planned>,
    pub(crate) publication: &'static dyn Publication,
}

/// Builds the privacy models for a table with these sensitive columns.
pub(crate) fn privacy_models(
    models: &[ModelJob],
    with_population: bool,
    with_weights: bool,
    sensitive: &[&str],
) -> Result<Vec<PrivacyModel>> {
    if models.is_empty() {
        return Err(Error::job("the job has no privacy model")
            .help("add `[[models]] name`, for example k-anonymity with k = 10"));
    }
    let privacy_model = |(i, model): (usize, &ModelJob)| {
        let privacy_model = PrivacyModel::about(&model.name, model.params.clone(), sensitive)
            .and_then(|privacy_model| {
                let needs = privacy_model.model.card().needs.contains(&Need::Population);
                let estimated = with_weights && privacy_model.model.weighs();
                if needs && !with_population && !estimated {
                    let help = match privacy_model.model.weighs() {
                        true => {
                            "name it as `[population] path`, or estimate it by `[input] weight`"
                        }
                        false => "name it as `[population] path`",
                    };
                    return Err(
                        Error::job(format!("`{}` needs a population table", model.name)).help(help)
                    );
                }
                Ok(privacy_model)
            });
        privacy_model.map_err(|e| e.within(&format!("models.{i}")))
    };
    models.iter().enumerate().map(privacy_model).collect()
}

/// The roles of all columns, and the columns that the job does not mention and that are dropped.
fn roles(job: &Job, columns: &[String]) -> (Vec<(String, Role)>, Vec<String>) {
    let mut dropped = Vec::new();
    let mut roles = Vec::with_capacity(columns.len());
    for name in columns {
        let role =
            match job.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column) {
                Some(column) => match column.role {
                    RoleName::Identifier => Role::Identifier,
                    RoleName::Quasi => Role::Quasi(column.spec.clone()),
                    RoleName::Sensitive => {
                        Role::Sensitive(sensitive_spec(column, &job.input.missing))
                    }
                    RoleName::Passthrough => Role::Passthrough,
                    RoleName::Drop => Role::Drop,
                },
                None if job.input.default_role == DefaultRole::Passthrough => Role::Passthrough,
                None => {
                    dropped.push(name.clone());
                    Role::Drop
                }
            };
        roles.push((name.clone(), role));
    }
    (roles, dropped)
}

/// The algorithm with its parameters.
fn method(job: &Job) -> Result<Method> {
    let algorithm = &job.algorithm;
    Method::new(&algorithm.name, algorithm.params.clone()).map_err(|e| {
        let meant = e.key().and_then(|key| {
            incrowd_core::near_miss(
                key,
                ["suppression_limit", "suppressed", "cells", "missing_cells"],
            )
        });
        let e =
            if let Some(meant) = meant { e.help(format!("did you mean `{meant}`?")) } else { e };
        e.within("algorithm")
    })
}

/// Makes the person column an identifier. Any other role would publish it.
fn check_person(job: &mut Job, person: &str, columns: &[String]) -> Result<()> {
    if !columns.iter().any(|column| column == person) {
        return Err(Error::job(format!("the table has no column `{person}`"))
            .help_near(person, columns.iter().map(String::as_str))
            .at("input.person"));
    }
    match job.columns.iter_mut().find(|(name, _)| name == person) {
        Some((_, column)) if matches!(column.role, RoleName::Identifier | RoleName::Drop) => {
            column.role = RoleName::Identifier;
            Ok(())
        }
        Some(_) => Err(Error::job(format!(
            "`{person}` identifies the person of a record and is never published"
        ))
        .help("give it the role identifier, or no role")
        .at(format!("columns.{person}"))),
        None => {
            let identifier = ColumnJob { role: RoleName::Identifier, ..ColumnJob::default() };
            job.columns.push((person.to_owned(), identifier));
            Ok(())
        }
    }
}

/// Sets the published form of sensitive columns where the job does not: categories if a model of
/// the column works on categories.
fn publish(columns: Vec<(String, Role)>, privacy_models: &[PrivacyModel]) -> Vec<(String, Role)> {
    let veiled = |name: &str| {
        let about = |p: &&PrivacyModel| {
            p.params.iter().any(|(param, value)| param == "on" && value.to_string() == name)
        };
        let mut privacy_models = privacy_models.iter().filter(about);
        privacy_models.any(|p| p.model.card().needs.contains(&Need::Categories))
    };
    let fill = |(name, role): (String, Role)| match role {
        Role::Sensitive(spec)
            if spec.publish.is_none() && spec.categories.is_some() && veiled(&name) =>
        {
            let spec = SensitiveSpec { publish: Some(Publish::Category), ..spec };
            (name, Role::Sensitive(spec))
        }
        role => (name, role),
    };
    columns.into_iter().map(fill).collect()
}

impl CheckedJob {
    /// Checks a job against the columns of its table.
    pub fn new(job: &Job, columns: &[String]) -> Result<CheckedJob> {
        CheckedJob::for_table(job, columns, false)
    }

    /// Checks a job against the columns of its table. `named` is set if the columns are known to be
    /// names and not the cells of a first record.
    pub fn for_table(job: &Job, columns: &[String], named: bool) -> Result<CheckedJob> {
        let publication = publication::of_job(job);
        let mut job = job.clone();
        let warnings = publication.prepare(&mut job, columns)?;
        for (name, _) in &job.columns {
            if !columns.contains(name) {
                let error = Error::job(format!("the table has no column `{name}`"))
                    .at(format!("columns.{name}"));
                // In a file without a header the column names are cells of a record, so they are
                // listed only if some of the job's columns match.
                let some_fit = job.columns.iter().any(|(other, _)| columns.contains(other));
                let names = || columns.iter().map(String::as_str);
                return Err(match some_fit && names().all(looks_like_a_name) {
                    true => error.help_near(name, names()),
                    false => error.help_column(name, names(), named),
                });
            }
        }
        if let Some(person) = job.input.person.clone() {
            check_person(&mut job, &person, columns)?;
        }
        weights::check(&mut job, columns)?;
        let (roles, dropped) = roles(&job, columns);
        let schema = Schema::new(roles.clone()).map_err(|e| e.at("columns"))?;
        let sensitive: Vec<&str> = schema.sensitive().map(|(name, _)| name).collect();
        let (job, suppression) = suppression::plan(&job, &sensitive)?;
        let weighed = job.input.weight.is_some();
        let privacy_models =
            privacy_models(&job.models, job.population.is_some(), weighed, &sensitive)?;
        let schema = Schema::new(publish(roles, &privacy_models)).map_err(|e| e.at("columns"))?;
        let method = method(&job)?;
        method.accepts(&privacy_models)?;
        for (name, spec) in
            schema.sensitive().filter(|(_, spec)| spec.publish == Some(Publish::Both))
        {
            let (column, taken) = (category_column(name), schema.published().map(|(name, _)| name));
            if spec.categories.is_some() && taken.into_iter().any(|other| other == column) {
                return Err(Error::job(format!(
                    "the categories of `{name}` need a column `{column}`, and there is one"
                ))
                .help("drop that column, or publish values or categories alone")
                .at(format!("columns.{name}.publish")));
            }
        }
        if schema.quasi().all(|(_, spec)| spec.weight() == 0.0) {
            return Err(Error::job("every quasi-identifier has weight 0")
                .help("the weight of a column is its importance in the information loss")
                .at("columns"));
        }
        let checked = CheckedJob {
            job,
            schema,
            privacy_models,
            method,
            dropped,
            warnings,
            suppression,
            publication,
        };
        checked.check_bounds()?;
        checked.check_cells()?;
        publication.check(&checked)?;
        checked.check_estimates()?;
        if let Some(output) = &checked.job.output {
            checked.check_shapes(output)?;
        }
        checked.check_formulas()?;
        Ok(checked)
    }

    /// Refuses bounds of a column that the algorithm publishes in regular intervals, which are
    /// computed from the records and may be finer than the bounds. A stated `mdr` hierarchy is
    /// refused with the schema.
    fn check_bounds(&self) -> Result<()> {
        if !self.method.algorithm.makes_intervals() {
            return Ok(());
        }
        let mut quasi = self.schema.quasi();
        let Some((name, spec)) =
            quasi.find(|(_, spec)| spec.hierarchy.is_none() && !spec.limits.is_none())
        else {
            return Ok(());
        };
        let key = if spec.limits.top.is_some() { "top" } else { "bottom" };
        Err(Error::job(format!(
            "column `{name}` has a bound, but `{}` publishes it in regular intervals",
            self.method.card.name
        ))
        .help("leave the bound out, or numbers = \"mdr\" of the algorithm")
        .at(format!("columns.{name}.{key}")))
    }

    /// Refuses column names that a spreadsheet would evaluate, if the release must be safe there.
    fn check_formulas(&self) -> Result<()> {
        if self.job.output.as_ref().is_some_and(|output| output.csv_safe) {
            let mut names = self.output_columns().into_iter().map(|(name, _)| name);
            let is_formula =
                |name: &String| incrowd_engine::is_formula(name.as_bytes(), DecimalMark::Point);
            if let Some(name) = names.find(is_formula) {
                return Err(Error::job(format!(
                    "a spreadsheet would evaluate the name of the column `{name}` as a formula"
                ))
                .help("rename or drop it, or leave csv_safe out")
                .at("output.csv_safe"));
            }
        }
        Ok(())
    }

    fn check_shapes(&self, output: &Output) -> Result<()> {
        let other = [
            ("numbers", output.numbers != Numbers::default()),
            ("sets", output.sets != Sets::default()),
        ];
        let asked = other.into_iter().find(|(_, asked)| *asked).map(|(key, _)| key);
        if let Some(key) = asked.filter(|_| !self.publication.shapes()) {
            return Err(Error::job(format!("`[output] {key}` requires a release in one table"))
                .help("leave it out")
                .at(format!("output.{key}")));
        }
        let covers = |privacy_model: &PrivacyModel| {
            let needs = privacy_model.model.card().needs;
            needs.contains(&Need::Region) || needs.contains(&Need::Population) && !self.estimates()
        };
        if let Some(i) =
            self.privacy_models.iter().position(covers).filter(|_| output.numbers == Numbers::Mean)
        {
            return Err(Error::job(format!(
                "`{}` counts people whom the cells of a group cover, and a mean covers nobody",
                self.privacy_models[i].name()
            ))
            .help("publish ranges or their ends: numbers = \"range\" or \"low-high\"")
            .at("output.numbers"));
        }
        let pages =
            [("output.report", &output.report), ("output.owner_report", &output.owner_report)];
        let page = pages.into_iter().find(|(_, path)| path.is_some());
        if let Some((key, _)) = page.filter(|_| output.numbers == Numbers::Mean) {
            return Err(Error::job(
                "there is no report about a release of group means, which are no ranges",
            )
            .help(
                "leave the report out, or publish ranges or their ends: numbers = \"range\" or \
                 \"low-high\"",
            )
            .at(key));
        }
        let no_lists = matches!(output.path, Location::Database(_)) || output.path.is_text();
        if output.sets == Sets::List && no_lists {
            return Err(Error::job("text has no lists")
                .help("publish Parquet or Arrow, or sets as text")
                .at("output.sets"));
        }
        Ok(())
    }

    /// Returns the text format of the release: that of the input unless the job sets another.
    pub(crate) fn dialect(&self, source: &Source) -> Result<Dialect> {
        let Some(output) = &self.job.output else { return Ok(Dialect::default()) };
        let is_text = output.path.is_text();
        let dialect = if is_text { dialect(source, output) } else { Dialect::default() };
        let changed = source.decimal().is_some_and(|own| own != dialect.decimal);
        if is_text && changed && has_passthrough(&self.schema) {
            return Err(Error::job("passthrough columns keep the decimal mark of the input")
                .help("give them another role, or leave `[output] decimal` out")
                .at("output.decimal"));
        }
        Ok(dialect)
    }

    /// Returns the columns that identify people.
    pub(crate) fn identifiers(&self) -> Vec<String> {
        let columns = self.schema.columns().iter();
        let identifiers = columns.filter(|(_, role)| *role == Role::Identifier);
        identifiers.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the identifiers to check for repeated values, which reveal persons with several
    /// records. Empty if the job names the person column.
    fn repeating_columns(&self) -> Vec<String> {
        if self.job.input.person.is_some() { Vec::new() } else { self.identifiers() }
    }

    /// Returns the columns that the engine folds: the quasi-identifiers, then the sensitive
    /// columns.
    pub fn fold_spec(&self) -> FoldSpec {
        let quasi = self.schema.quasi().map(|(name, _)| name.to_owned());
        FoldSpec {
            columns: quasi
                .chain(self.schema.sensitive().map(|(name, _)| name.to_owned()))
                .collect(),
            missing: self.job.input.missing.clone(),
            drop_missing: self.job.input.on_missing == OnMissing::Drop,
            passthrough: passthrough_columns(&self.schema),
            person: self.job.input.person.clone(),
            weight: self.job.input.weight.clone(),
            repeating: self.repeating_columns(),
            people: Vec::new(),
            packed: false,
        }
    }

    /// Returns the published sensitive columns and the source of their cells.
    pub(crate) fn sensitive_columns(&self) -> Vec<(String, Content)> {
        let sensitive = |(_, content): &(String, Content)| {
            matches!(content, Content::Sensitive(_) | Content::Category(_))
        };
        self.output_columns().into_iter().filter(sensitive).collect()
    }

    /// Returns the published columns and the source of their cells.
    pub(crate) fn output_columns(&self) -> Vec<(String, Content)> {
        let (mut quasi, mut sensitive) = (0.., 0..);
        let mut columns = Vec::new();
        for (name, role) in self.schema.published() {
            let own = |content| (name.to_owned(), content);
            match role {
                Role::Quasi(_) => columns.push(own(Content::Quasi(quasi.next().unwrap_or(0)))),
                Role::Sensitive(spec) => {
                    let position = sensitive.next().unwrap_or(0);
                    match spec.publish {
                        Some(Publish::Category) => columns.push(own(Content::Category(position))),
                        Some(Publish::Both) => {
                            columns.push(own(Content::Sensitive(position)));
                            columns.push((category_column(name), Content::Category(position)));
                        }
                        _ => columns.push(own(Content::Sensitive(position))),
                    }
                }
                _ => columns.push(own(Content::Passthrough)),
            }
        }
        columns.extend(weights::column(self));
        columns
    }

    /// Returns the columns by role, with the rules for reading their cells.
    pub(crate) fn reading(&self) -> Reading {
        Reading::of_schema(&self.schema, &self.job.input)
    }

    /// Returns the text that is published for a kept missing value.
    pub(crate) fn missing_label(&self) -> &str {
        self.job.input.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str)
    }

    /// Encodes the folded table for the algorithm. An error about a value contains its place.
    pub(crate) fn encode(
        &self,
        folded: Folded,
        locate: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Result<Dataset> {
        self.need_records(&folded)?;
        self.method.algorithm.prepare(self.reading().encode(folded, locate)?)
    }

    /// Refuses a table without usable records.
    pub(crate) fn need_records(&self, folded: &Folded) -> Result<()> {
        if folded.records() == 0 {
            return Err(match (folded.read, folded.dropped_missing) {
                (0, _) => Error::input("the table has no records")
                    .help("a table needs a header and at least one record"),
                (read, _) => Error::input(format!(
                    "all {read} records have a missing value in a quasi-identifier or \
                     sensitive column"
                ))
                .help("keep them with on_missing = \"keep\", or leave that column out"),
            });
        }
        Ok(())
    }

    /// Returns the model, step or publication that assumes one record per person, if there is one.
    fn one_record_each(&self) -> Option<String> {
        let outliers =
            self.privacy_models.iter().find(|p| p.model.card().needs.contains(&Need::Region));
        if let Some(privacy_model) = outliers {
            return Some(format!("`{}`", privacy_model.name()));
        }
        match (&self.job.suppression, self.publication.one_record_each()) {
            (Some(step), _) => Some(format!("`{}`", step.name)),
            (None, assumes) => assumes.map(|what| format!("`{what}`")),
        }
    }

    /// Refuses persons with several records if a definition assumes one record per person.
    pub(crate) fn check_persons(&self, repeated: bool) -> Result<()> {
        match self.one_record_each().filter(|_| repeated) {
            None => Ok(()),
            Some(what) => Err(Error::job(format!(
                "{what} assumes one record per person by its definition, \
                 and some persons have several"
            ))
            .help(
                "keep one record of each person, \
                 or use another model or algorithm: docs/persons.md",
            )
            .at("input.person")),
        }
    }

    /// Binds the models to a table, after checking that the algorithm is sound for them there.
    pub(crate) fn bind(&self, data: &Dataset) -> Result<Vec<Box<dyn BoundModel>>> {
        self.method.accepts_table(&self.privacy_models, data)?;
        let bind = |(i, privacy_model): (usize, &PrivacyModel)| {
            privacy_model.bind_for_release(data).map_err(|e| e.within(&format!("models.{i}")))
        };
        self.privacy_models.iter().enumerate().map(bind).collect()
    }

    /// Returns whether a model is about outliers of the original table.
    pub(crate) fn about_outliers(&self) -> bool {
        about_outliers(&self.privacy_models)
    }

    /// Reads the population of the job, folded over the quasi-identifiers, if a model needs it.
    pub(crate) fn read_population(&self, progress: &dyn Progress) -> Result<Option<Folded>> {
        let population =
            self.job.population.as_ref().filter(|_| need_population(&self.privacy_models));
        population.map(|p| self.reading().fold_population(p, progress)).transpose()
    }

    /// Returns the tables of the release and all output paths. They are checked against all inputs,
    /// so that an output that cannot be written is reported before any long work.
    /// Also returns notes about files that are replaced.
    pub(crate) fn places(&self) -> Result<(Vec<TablePlace>, Places, Vec<String>)> {
        let Some(output) = &self.job.output else {
            return Err(Error::job("the job has no `[output] path`")
                .help("set it to the file of the release"));
        };
        let tables = self.publication.tables(self, &output.path)?;
        let beside = || manifest::path_of(&output.path);
        let manifest = output.manifest.clone().unwrap_or_else(beside);
        let mut claim = Claim::of_job(&self.job);
        output.sign.iter().for_each(|key| claim.reads(key));
        for table in &tables {
            match &table.path {
                Location::File(path) => drop(claim.writes(path, table.what, table.key)?),
                other => claim.takes(other, table.what, table.key)?,
            }
        }
        if output.manifest.is_some() || output.path.file().is_some() {
            claim.writes(&manifest, "the manifest", "output.manifest")?;
        }
        let pages =
            [("output.report", &output.report), ("output.owner_report", &output.owner_report)];
        let mut notes = Vec::new();
        for (key, path) in pages {
            if let Some(path) = path {
                claim.writes(path, "a page of the report", key)?;
                let note = check_file(path, Mark::Page, output.replace);
                notes.extend(note.map_err(|e| e.at(key))?);
            }
        }
        let paths: Vec<Location> = tables.iter().map(|table| table.path.clone()).collect();
        let keys = tables.iter().map(|table| table.key).collect();
        let private = (0..tables.len()).filter(|&i| !tables[i].public).collect();
        Ok((
            tables,
            Places {
                tables: paths,
                manifest,
                keys,
                private,
                csv_safe: output.csv_safe,
                dialect: Dialect::default(),
                reads: Vec::new(),
                replace: output.replace,
            },
            notes,
        ))
    }
}

/// Returns whether a model is about outliers of the original table.
pub(crate) fn about_outliers(privacy_models: &[PrivacyModel]) -> bool {
    privacy_models.iter().any(|p| p.model.card().needs.contains(&Need::Region))
}

/// Returns whether a model needs the population from which the table is a sample.
pub(crate) fn need_population(privacy_models: &[PrivacyModel]) -> bool {
    privacy_models.iter().any(|p| p.model.card().needs.contains(&Need::Population))
}

/// Returns whether a model needs the sensitive values.
pub(crate) fn need_sensitive(privacy_models: &[PrivacyModel]) -> bool {
    privacy_models.iter().any(|p| p.model.card().needs.contains(&Need::Sensitive))
}
