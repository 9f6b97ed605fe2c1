//! From a job to what it means for the table at hand: every "that cannot work" which needs no record is said here.

use std::path::PathBuf;

use incrowd_core::dataset::EncodeError;
use incrowd_core::hierarchy::mdr::Mdr;
use incrowd_core::model::{Need, Promise};
use incrowd_core::{
    Code, Dataset, Domain, Error, Folded, FoldedColumn, HierarchySpec, Population, Progress, Publish, Result,
    Role, Schema, SensitiveSpec,
};
use incrowd_engine::{Content, Embedded, Engine, FoldSpec, Format, Options};
use incrowd_recode::Method;

use crate::suppression::{self, Planned};

use crate::job::{ColumnJob, DefaultRole, Input, Job, OnMissing, RoleName};

/// A checked job.
#[derive(Debug)]
pub struct Setup {
    /// The roles of the table's columns.
    pub schema: Schema,
    /// What is promised.
    pub promises: Vec<Promise>,
    /// How the release is made.
    pub method: Method,
    /// Columns that are not published because the job does not name them.
    pub dropped: Vec<String>,
    pub(crate) suppression: Option<Planned>,
    missing: Vec<String>,
    keep_missing: bool,
}

/// What a reader of the input is told.
pub(crate) fn options(input: &Input) -> Result<Options> {
    let format = match input.format.as_deref() {
        None => None,
        Some(name @ ("csv" | "parquet" | "arrow")) => {
            Some(Format::of_path(&PathBuf::from(format!("x.{name}")))?)
        }
        Some(name) => {
            let error = Error::job(format!("there is no format `{name}`"));
            return Err(error.help_near(name, ["csv", "parquet", "arrow"]).at("input.format"));
        }
    };
    Ok(Options { format, delimiter: input.delimiter, digest: false })
}

/// Opens the table of a job.
pub(crate) fn open(input: &Input) -> Result<Embedded> {
    Embedded::open(&input.paths, &options(input)?).map_err(|e| e.at("input.path"))
}

/// The promises of a job about a table with these sensitive columns.
pub(crate) fn promises(job: &Job, sensitive: &[&str]) -> Result<Vec<Promise>> {
    if job.models.is_empty() {
        return Err(Error::job("the job promises nothing: it names no model")
            .help("add [[models]] with name = \"k-anonymity\" and k = 10, or use -k 10"));
    }
    let promise = |(i, model): (usize, &crate::job::ModelJob)| {
        let promise = Promise::about(&model.name, model.params.clone(), sensitive).and_then(|promise| {
            if promise.model.card().needs.contains(&Need::Population) && job.population.is_none() {
                return Err(Error::job(format!("`{}` needs a population table", model.name))
                    .help("name it with --population people.csv, or [population] path = \"people.csv\""));
            }
            Ok(promise)
        });
        promise.map_err(|e| e.within(&format!("models.{i}")))
    };
    job.models.iter().enumerate().map(promise).collect()
}

/// How a sensitive column's values relate to each other, as the job says.
pub(crate) fn sensitive_spec(column: &ColumnJob) -> SensitiveSpec {
    SensitiveSpec {
        kind: column.spec.kind,
        hierarchy: column.spec.hierarchy.clone(),
        categories: column.categories.clone(),
        publish: column.publish,
    }
}

/// Where the job does not say what is published of a sensitive column: its categories if a promise is about nothing else.
fn publish(columns: Vec<(String, Role)>, promises: &[Promise]) -> Vec<(String, Role)> {
    let veiled = |name: &str| {
        let about =
            |p: &&Promise| p.params.iter().any(|(param, value)| param == "on" && value.to_string() == name);
        let mut promises = promises.iter().filter(about);
        promises.any(|p| p.model.card().needs.contains(&Need::Categories))
    };
    let fill = |(name, role): (String, Role)| match role {
        Role::Sensitive(spec) if spec.publish.is_none() && spec.categories.is_some() && veiled(&name) => {
            let spec = SensitiveSpec { publish: Some(Publish::Category), ..spec };
            (name, Role::Sensitive(spec))
        }
        role => (name, role),
    };
    columns.into_iter().map(fill).collect()
}

/// The population of a job, folded over the quasi-identifiers, if a promise asks for it.
pub(crate) fn population(
    job: &Job,
    quasi: &[&str],
    promises: &[Promise],
    progress: &dyn Progress,
) -> Result<Option<Folded>> {
    let asked = promises.iter().any(|p| p.model.card().needs.contains(&Need::Population));
    let Some(population) = job.population.as_ref().filter(|_| asked) else { return Ok(None) };
    fold_people(job, &population.paths, quasi, progress).map(Some).map_err(|e| e.at("population.path"))
}

/// Folds another table about people over some of its columns, as the job's own table is read.
pub(crate) fn fold_people(
    job: &Job,
    paths: &[PathBuf],
    columns: &[&str],
    progress: &dyn Progress,
) -> Result<Folded> {
    let mut engine = Embedded::open(paths, &Options::default())?;
    if let Some(absent) = columns.iter().find(|c| !engine.columns().iter().any(|own| own == *c)) {
        let error = Error::input(format!("the population table has no column `{absent}`"));
        return Err(error.help_near(absent, engine.columns().iter().map(String::as_str)));
    }
    let spec = FoldSpec {
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        missing: job.input.missing.clone(),
        drop_missing: job.input.on_missing == OnMissing::Drop,
        replay: false,
    };
    let folded = engine.fold(&spec, progress)?;
    if folded.records() == 0 {
        return Err(Error::input("the population table has no records"));
    }
    Ok(folded)
}

/// The original of a release to be judged, encoded as it was for the making, if a promise or an attack asks for it.
pub(crate) fn original(
    job: &Job,
    quasi: &[&str],
    sensitive: &[&str],
    progress: &dyn Progress,
) -> Result<Dataset> {
    encode_original(job, original_folded(job, quasi, sensitive, progress)?, quasi, sensitive)
}

/// The original of a release as a reader sees it, its sensitive values as they are published.
pub(crate) fn original_folded(
    job: &Job,
    quasi: &[&str],
    sensitive: &[&str],
    progress: &dyn Progress,
) -> Result<Folded> {
    let named = |e: Error| match e.key() {
        Some(_) => e,
        None => e.at("input.path"),
    };
    let mut engine = Embedded::open(&job.original, &Options::default()).map_err(named)?;
    let columns: Vec<String> = quasi.iter().chain(sensitive).map(|name| (*name).to_owned()).collect();
    if let Some(absent) = columns.iter().find(|c| !engine.columns().contains(c)) {
        let error = Error::input(format!("the original table has no column `{absent}`"));
        return Err(error.help_near(absent, engine.columns().iter().map(String::as_str)));
    }
    let drop_missing = job.input.on_missing == OnMissing::Drop;
    let spec = FoldSpec { columns, missing: job.input.missing.clone(), drop_missing, replay: false };
    let mut folded = engine.fold(&spec, progress)?;
    if folded.records() == 0 {
        return Err(Error::input("the original table has no records"));
    }
    for (column, name) in folded.columns[quasi.len()..].iter_mut().zip(sensitive) {
        as_published(column, &job.column(name).map(sensitive_spec).unwrap_or_default());
    }
    Ok(folded)
}

/// Encodes an original as it was for the making.
pub(crate) fn encode_original(
    job: &Job,
    folded: Folded,
    quasi: &[&str],
    sensitive: &[&str],
) -> Result<Dataset> {
    let of = |name: &&str| job.column(name).cloned().unwrap_or_default();
    let specs: Vec<_> = quasi.iter().map(|name| of(name).spec).collect();
    let values: Vec<SensitiveSpec> = sensitive.iter().map(|name| sensitive_spec(&of(name))).collect();
    let missing = job.input.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str);
    Dataset::encode(folded, &specs.iter().collect::<Vec<_>>(), &values.iter().collect::<Vec<_>>(), missing)
        .map_err(|EncodeError { misfit, .. }| {
            Error::input(format!("the original table: {}", misfit.error.message()))
        })
}

/// Whether a promise is about outliers of the original table.
pub(crate) fn about_outliers(promises: &[Promise]) -> bool {
    promises.iter().any(|p| p.model.card().needs.contains(&Need::Region))
}

impl Setup {
    /// Checks a job against the columns of its table.
    pub fn new(job: &Job, columns: &[String]) -> Result<Setup> {
        for (name, _) in &job.columns {
            if !columns.contains(name) {
                let error =
                    Error::job(format!("the table has no column `{name}`")).at(format!("columns.{name}"));
                // Of a file without a header the names would be somebody's cells, so they are listed only if some fit.
                let some_fit = job.columns.iter().any(|(other, _)| columns.contains(other));
                let near = incrowd_core::near_miss(name, columns.iter().map(String::as_str));
                return Err(if some_fit || near.is_some() {
                    error.help_near(name, columns.iter().map(String::as_str))
                } else {
                    error.help("the first line of a table names its columns: does the file have a header?")
                });
            }
        }
        let mut dropped = Vec::new();
        let mut roles = Vec::with_capacity(columns.len());
        for name in columns {
            let role = match job.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column) {
                Some(column) => match column.role {
                    RoleName::Identifier => Role::Identifier,
                    RoleName::Quasi => Role::Quasi(column.spec.clone()),
                    RoleName::Sensitive => Role::Sensitive(sensitive_spec(column)),
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
        let schema = Schema::new(roles.clone()).map_err(|e| e.at("columns"))?;
        let sensitive: Vec<&str> = schema.sensitive().map(|(name, _)| name).collect();
        let (job, suppression) = suppression::plan(job, &sensitive)?;
        let promises = promises(&job, &sensitive)?;
        let schema = Schema::new(publish(roles, &promises)).map_err(|e| e.at("columns"))?;
        let algorithm = &job.algorithm;
        let method = Method::new(&algorithm.name, algorithm.params.clone()).map_err(|e| {
            let meant =
                e.key().and_then(|key| incrowd_core::near_miss(key, ["suppression_limit", "suppressed"]));
            let e = if let Some(meant) = meant { e.help(format!("did you mean `{meant}`?")) } else { e };
            e.within("algorithm")
        })?;
        method.accepts(&promises)?;
        for (name, spec) in schema.sensitive().filter(|(_, spec)| spec.publish == Some(Publish::Both)) {
            let (column, taken) = (category_column(name), schema.published().map(|(name, _)| name));
            if spec.categories.is_some() && taken.into_iter().any(|other| other == column) {
                return Err(Error::job(format!(
                    "the categories of `{name}` need a column `{column}`, and there is one"
                ))
                .help("drop that column, or publish values or categories alone")
                .at(format!("columns.{name}.publish_sa")));
            }
        }
        if schema.quasi().all(|(_, spec)| spec.weight() == 0.0) {
            return Err(Error::job("every quasi-identifier has the weight 0")
                .help("a weight says how much the loss of a column counts against that of the others")
                .at("columns"));
        }
        let missing = job.input.missing.clone();
        let keep_missing = job.input.on_missing == OnMissing::Keep;
        Ok(Setup { schema, promises, method, dropped, suppression, missing, keep_missing })
    }

    /// What the engine folds: the quasi-identifiers, then the sensitive columns.
    pub fn fold_spec(&self) -> FoldSpec {
        let quasi = self.schema.quasi().map(|(name, _)| name.to_owned());
        FoldSpec {
            columns: quasi.chain(self.schema.sensitive().map(|(name, _)| name.to_owned())).collect(),
            missing: self.missing.clone(),
            drop_missing: !self.keep_missing,
            replay: self.schema.published().any(|(_, role)| *role == Role::Passthrough),
        }
    }

    /// The text under which a kept missing value is published: the first marker that shows.
    pub(crate) fn missing_label(&self) -> &str {
        self.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str)
    }

    /// The published sensitive columns and where their cells come from.
    pub(crate) fn sensitive_columns(&self) -> Vec<(String, Content)> {
        let sensitive = |(_, content): &(String, Content)| {
            matches!(content, Content::Sensitive(_) | Content::Category(_))
        };
        self.output_columns().into_iter().filter(sensitive).collect()
    }

    /// The published columns and where their cells come from.
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
                _ => columns.push(own(Content::Carried)),
            }
        }
        columns
    }

    /// Encodes the folded table; a value that does not fit is reported with its place, not with its text.
    pub(crate) fn encode(&self, folded: Folded, engine: &dyn Engine) -> Result<Dataset> {
        self.encode_located(folded, &|name, text| engine.locate(name, text).ok().flatten())
    }

    /// The same, where somebody else knows the places.
    pub(crate) fn encode_located(
        &self,
        mut folded: Folded,
        locate: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Result<Dataset> {
        if folded.records() == 0 {
            return Err(match (folded.read, folded.dropped_missing) {
                (0, _) => Error::input("the table has no records")
                    .help("a table needs a header and at least one record"),
                (read, _) => {
                    Error::input(format!("all {read} records have a missing value in a column that matters"))
                        .help("keep them with on_missing = \"keep\", or leave that column out")
                }
            });
        }
        let specs: Vec<_> = self.schema.quasi().map(|(_, spec)| spec).collect();
        let sensitive: Vec<_> = self.schema.sensitive().map(|(_, spec)| spec).collect();
        // The texts are needed once more only if something does not fit.
        let names: Vec<String> = folded.columns.iter().map(|c| c.name.clone()).collect();
        let texts: Vec<Vec<String>> = folded.columns.iter().map(|c| c.texts.clone()).collect();
        for (column, spec) in folded.columns[specs.len()..].iter_mut().zip(&sensitive) {
            as_published(column, spec);
        }
        let data = Dataset::encode(folded, &specs, &sensitive, self.missing_label()).map_err(|failed| {
            let name = &names[failed.column];
            let error = failed.misfit.error;
            let text = failed.misfit.code.map(|code| texts[failed.column][code as usize].as_str());
            let place = text.and_then(|text| locate(name, text));
            match place {
                Some(place) => with_place(&error, &place).at(format!("columns.{name}")),
                None => error.at(format!("columns.{name}")),
            }
        })?;
        self.method.algorithm.prepare(data)
    }

    /// Keeps the trees of regular intervals that were made from the records, so that the release is read on the very same.
    pub(crate) fn settle(&mut self, data: &Dataset) {
        for quasi in data.quasi() {
            if let Domain::Taxonomy(tree) = &quasi.domain
                && let Some(grid) = tree.grid()
            {
                let hierarchy = HierarchySpec::Mdr(Mdr::of_grid(grid.clone()));
                self.schema = self.schema.clone().with_hierarchy(&quasi.name, hierarchy);
            }
        }
    }

    /// Encodes the folded table on lines that also hold the values of an external table.
    pub(crate) fn encode_beside(
        &self,
        mut folded: Folded,
        others: &[FoldedColumn],
    ) -> Result<(Dataset, Vec<Vec<Code>>)> {
        let specs: Vec<_> = self.schema.quasi().map(|(_, spec)| spec).collect();
        let sensitive: Vec<_> = self.schema.sensitive().map(|(_, spec)| spec).collect();
        let columns: Vec<(String, u32)> =
            folded.columns.iter().map(|c| (c.name.clone(), c.texts.len() as u32)).collect();
        for (column, spec) in folded.columns[specs.len()..].iter_mut().zip(&sensitive) {
            as_published(column, spec);
        }
        let encoded = Dataset::encode_beside(folded, &specs, &sensitive, self.missing_label(), others);
        encoded.map_err(|EncodeError { column, misfit }| {
            let (name, own) = &columns[column];
            if misfit.code.is_some_and(|code| code >= *own) {
                return Error::input(format!("the external table: {}", misfit.error.message()))
                    .help(format!("column `{name}` must hold what that of the table holds"))
                    .at("external.path");
            }
            misfit.error.at(format!("columns.{name}"))
        })
    }

    /// Places the population on the lines of the table.
    pub(crate) fn with_population(&self, data: Dataset, population: Option<&Folded>) -> Result<Dataset> {
        let Some(folded) = population else { return Ok(data) };
        let specs: Vec<_> = self.schema.quasi().map(|(_, spec)| spec).collect();
        let placed = Population::place(folded, data.quasi(), &specs, self.missing_label());
        let placed = placed.map_err(|EncodeError { column, misfit }| {
            let name = &folded.columns[column].name;
            Error::input(format!("the population table: {}", misfit.error.message()))
                .help(format!("column `{name}` must hold what that of the table holds"))
                .at("population.path")
        })?;
        Ok(data.with_population(placed))
    }
}

/// Where only categories are published, categories are all that models may see.
pub(crate) fn as_published(column: &mut FoldedColumn, spec: &SensitiveSpec) {
    if let (Some(Publish::Category), Some(categories)) = (spec.publish, &spec.categories) {
        for text in column.texts.iter_mut().skip(1) {
            // A value without a category stays as it is, and is refused by the model that asks for its category.
            if let Some(category) = categories.of(text) {
                categories.name(category).clone_into(text);
            }
        }
    }
}

/// The column in which the categories are published beside the values.
pub(crate) fn category_column(name: &str) -> String {
    format!("{name}_category")
}

fn with_place(error: &Error, place: &str) -> Error {
    let mut placed = Error::input(format!("{} (first at {place})", error.message()));
    if let Some(help) = error.advice() {
        placed = placed.help(help);
    }
    match error.key() {
        Some(key) => placed.at(key),
        None => placed,
    }
}

/// The distinct values of one column of a table, those that count as missing left out.
pub fn column_values(input: &Input, column: &str, progress: &dyn Progress) -> Result<Vec<String>> {
    Ok(column_counts(input, column, progress)?.into_iter().map(|(value, _)| value).collect())
}

/// The same, each with the number of records that have it.
pub fn column_counts(input: &Input, column: &str, progress: &dyn Progress) -> Result<Vec<(String, u64)>> {
    let mut engine = open(input)?;
    let spec = FoldSpec {
        columns: vec![column.to_owned()],
        missing: input.missing.clone(),
        drop_missing: true,
        replay: false,
    };
    let folded = engine.fold(&spec, progress)?;
    let mut counts = vec![0u64; folded.columns.first().map_or(0, |c| c.texts.len())];
    folded.codes.iter().zip(&folded.weights).for_each(|(&code, n)| counts[code as usize] += n);
    let texts = folded.columns.into_iter().flat_map(|c| c.texts);
    Ok(texts.zip(counts).skip(1).collect())
}
