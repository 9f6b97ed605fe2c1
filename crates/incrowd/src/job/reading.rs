//! Opening tables, and encoding their content for models and algorithms.

use incrowd_core::dataset::EncodeError;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{
    Code, ColumnSpec, Dataset, Error, Folded, FoldedColumn, HierarchySpec, Population, Progress,
    Publish, Result, Role, Schema, SensitiveSpec, spelling,
};
use incrowd_engine::{
    Dialect, Encoding, FORMATS, FoldSpec, Format, Location, Options, Source, refuse_interrupted,
};

use crate::job::{ColumnJob, Input, OnMissing, Output, PopulationJob, RoleName, Roles, Table};
use crate::manifest::Manifest;
use crate::profile::glimpse::{Glimpse, glimpse};

/// Returns the reader options that the job states. All others are detected.
pub(crate) fn options(table: &Table) -> Result<Options> {
    let named = |name: &str| {
        Format::named(name).ok_or_else(|| {
            let error = Error::job(format!("there is no format `{name}`"));
            error.help_near(name, FORMATS.iter().map(|card| card.name)).at("input.format")
        })
    };
    let format = table.format.as_deref().map(named).transpose()?;
    let (delimiter, encoding, decimal) = (table.delimiter, table.encoding, table.decimal);
    Ok(Options { format, delimiter, encoding, decimal, sheet: table.sheet.clone(), digest: false })
}

/// Opens a table.
pub(crate) fn open(table: &Table) -> Result<Source> {
    match &table.memory {
        Some(batches) => Source::of_batches(batches),
        None => {
            table.paths.iter().filter_map(Location::file).try_for_each(refuse_interrupted)?;
            Source::open(&table.paths, &options(table)?)
        }
    }
}

/// Opens the table of a job.
pub(crate) fn open_input(input: &Input) -> Result<Source> {
    open(&input.table()).map_err(|e| e.at("input.path"))
}

/// Opens a published table. The format of a table written by incrowd is not detected: its manifest
/// or its name defines it. What the caller states takes precedence, option by option.
pub(crate) fn open_release(table: &Table, manifest: Option<&Manifest>) -> Result<Source> {
    if let Some(batches) = &table.memory {
        return Source::of_batches(batches);
    }
    table.paths.iter().filter_map(Location::file).try_for_each(refuse_interrupted)?;
    let mut options = Options { digest: true, ..options(table)? };
    if let (Some(manifest), [path]) = (manifest, table.paths.as_slice()) {
        let written = manifest.job.written.as_ref();
        let delimiter = written.and_then(|written| written.delimiter.as_ref()?.bytes().next());
        let delimiter = delimiter.unwrap_or_else(|| path.delimiter());
        let comma = written.is_some_and(|written| written.decimal.as_deref() == Some(","));
        let decimal = if comma { DecimalMark::Comma } else { DecimalMark::Point };
        options.delimiter = options.delimiter.or(Some(delimiter));
        options.decimal = options.decimal.or(Some(decimal));
        options.encoding = options.encoding.or(Some(Encoding::Utf8));
    }
    Source::open(&table.paths, &options)
}

/// Opens a further file of a release.
pub(crate) fn open_beside(path: &Location, manifest: Option<&Manifest>) -> Result<Source> {
    let known = Manifest::default();
    open_release(&Table::file(path), Some(manifest.unwrap_or(&known)))
}

/// Returns the text format of a release: that of the input unless the job or the file name sets
/// another.
pub(crate) fn dialect(source: &Source, output: &Output) -> Dialect {
    let by_name = output.path.delimiter();
    let name = output.path.name().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let kept = source.delimiter().filter(|&own| {
        let otherwise = name.ends_with(".tsv") || (name.ends_with(".csv") && own == b'\t');
        own != by_name && !otherwise
    });
    Dialect {
        delimiter: output
            .delimiter
            .filter(|own| *own != by_name)
            .or(kept.filter(|_| output.delimiter.is_none())),
        decimal: output.decimal.or(source.decimal()).unwrap_or_default(),
    }
}

/// The columns of a table by role, with the rules for reading their cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) quasi: Vec<(String, ColumnSpec)>,
    pub(crate) sensitive: Vec<(String, SensitiveSpec)>,
    pub(crate) missing: Vec<String>,
    pub(crate) on_missing: OnMissing,
}

/// Returns the specification of a sensitive column: type, hierarchy, categories. `missing` are the
/// texts that mean a missing value.
pub(crate) fn sensitive_spec(column: &ColumnJob, missing: &[String]) -> SensitiveSpec {
    SensitiveSpec {
        kind: column.spec.kind,
        format: column.spec.format,
        hierarchy: column.spec.hierarchy.clone(),
        categories: column.categories.clone(),
        publish: column.publish,
        missing: missing.to_vec(),
    }
}

impl Reading {
    /// Creates it from named roles.
    pub(crate) fn of_roles(roles: &Roles) -> Reading {
        let of =
            |role: RoleName| roles.columns.iter().filter(move |(_, column)| column.role == role);
        Reading {
            quasi: of(RoleName::Quasi).map(|(name, c)| (name.clone(), c.spec.clone())).collect(),
            sensitive: of(RoleName::Sensitive)
                .map(|(name, c)| (name.clone(), sensitive_spec(c, &roles.missing)))
                .collect(),
            missing: roles.missing.clone(),
            on_missing: roles.on_missing,
        }
    }

    /// Creates it from the schema of a checked job.
    pub(crate) fn of_schema(schema: &Schema, input: &Input) -> Reading {
        Reading {
            quasi: schema.quasi().map(|(name, spec)| (name.to_owned(), spec.clone())).collect(),
            sensitive: schema
                .sensitive()
                .map(|(name, spec)| (name.to_owned(), spec.clone()))
                .collect(),
            missing: input.missing.clone(),
            on_missing: input.on_missing,
        }
    }

    /// Returns a copy for measuring a release: on the original values, before `top`, `bottom` and
    /// `min_level`.
    pub(crate) fn for_measuring(&self) -> Reading {
        let quasi =
            self.quasi.iter().map(|(name, spec)| (name.clone(), spec.for_measuring())).collect();
        Reading { quasi, ..self.clone() }
    }

    pub(crate) fn quasi_names(&self) -> Vec<&str> {
        self.quasi.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub(crate) fn sensitive_names(&self) -> Vec<&str> {
        self.sensitive.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns all names, quasi-identifiers first.
    pub(crate) fn names(&self) -> Vec<String> {
        self.quasi_names().into_iter().chain(self.sensitive_names()).map(str::to_owned).collect()
    }

    pub(crate) fn quasi_specs(&self) -> Vec<ColumnSpec> {
        self.quasi.iter().map(|(_, spec)| spec.clone()).collect()
    }

    /// Returns the text that is published for a kept missing value: the first marker that is not
    /// empty.
    pub(crate) fn missing_label(&self) -> &str {
        self.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str)
    }

    /// Returns the fold specification for a table with these columns.
    pub(crate) fn fold_spec(&self, columns: Vec<String>) -> FoldSpec {
        let drop_missing = self.on_missing == OnMissing::Drop;
        FoldSpec { columns, missing: self.missing.clone(), drop_missing, ..FoldSpec::default() }
    }

    /// Refuses a release without known quasi-identifiers.
    pub(crate) fn need_quasi(&self) -> Result<()> {
        if self.quasi.is_empty() {
            return Err(Error::job("which columns are quasi-identifiers?").help(
                "name them with `[columns] role = \"quasi\"`, or give the job; \
                 a manifest next to the table is read automatically",
            ));
        }
        Ok(())
    }

    /// Encodes a folded table that has all of these columns. An error about a value contains its
    /// place, if known, and never its text.
    pub(crate) fn encode(
        &self,
        mut folded: Folded,
        locate: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Result<Dataset> {
        let quasi: Vec<&ColumnSpec> = self.quasi.iter().map(|(_, spec)| spec).collect();
        let sensitive: Vec<&SensitiveSpec> = self.sensitive.iter().map(|(_, spec)| spec).collect();
        // The texts are kept for error messages only.
        let texts: Vec<Vec<String>> = folded.columns.iter().map(|c| c.texts.clone()).collect();
        let names: Vec<String> = folded.columns.iter().map(|c| c.name.clone()).collect();
        self.publish(&mut folded);
        Dataset::encode(folded, &quasi, &sensitive, self.missing_label()).map_err(|failed| {
            let name = &names[failed.column];
            let error = failed.misfit.error;
            let text = failed.misfit.code.map(|code| texts[failed.column][code as usize].as_str());
            match text.and_then(|text| locate(name, text)) {
                Some(place) => with_place(&error, &place).at(format!("columns.{name}")),
                None => error.at(format!("columns.{name}")),
            }
        })
    }

    /// Encodes the folded table on lines that also hold the values of an external table.
    pub(crate) fn encode_with_external(
        &self,
        mut folded: Folded,
        others: &[FoldedColumn],
    ) -> Result<(Dataset, Vec<Vec<Code>>)> {
        let quasi: Vec<&ColumnSpec> = self.quasi.iter().map(|(_, spec)| spec).collect();
        let sensitive: Vec<&SensitiveSpec> = self.sensitive.iter().map(|(_, spec)| spec).collect();
        let columns: Vec<(String, u32)> =
            folded.columns.iter().map(|c| (c.name.clone(), c.texts.len() as u32)).collect();
        self.publish(&mut folded);
        let encoded =
            Dataset::encode_with_external(folded, &quasi, &sensitive, self.missing_label(), others);
        encoded.map_err(|EncodeError { column, misfit }| {
            let (name, own) = &columns[column];
            if misfit.code.is_some_and(|code| code >= *own) {
                return Error::input(format!("the external table: {}", misfit.error.message()))
                    .help(format!("its column `{name}` must have the type of the table's column"))
                    .at("external.path");
            }
            misfit.error.at(format!("columns.{name}"))
        })
    }

    /// Replaces the sensitive values of a folded table by their published form.
    pub(crate) fn publish(&self, folded: &mut Folded) {
        for (column, (_, spec)) in
            folded.columns[self.quasi.len()..].iter_mut().zip(&self.sensitive)
        {
            as_published(column, spec);
        }
    }

    /// Encodes the population on the domains of the table.
    pub(crate) fn with_population(
        &self,
        data: Dataset,
        population: Option<&Folded>,
    ) -> Result<Dataset> {
        let Some(folded) = population else { return Ok(data) };
        let specs: Vec<&ColumnSpec> = self.quasi.iter().map(|(_, spec)| spec).collect();
        let placed = Population::place(folded, data.quasi(), &specs, self.missing_label());
        let placed = placed.map_err(|EncodeError { column, misfit }| {
            let name = &folded.columns[column].name;
            Error::input(format!("the population table: {}", misfit.error.message()))
                .help(format!("its column `{name}` must have the type of the table's column"))
                .at("population.path")
        })?;
        Ok(data.with_population(placed))
    }

    /// Folds a population table over the quasi-identifiers.
    pub(crate) fn fold_population(
        &self,
        people: &PopulationJob,
        progress: &dyn Progress,
    ) -> Result<Folded> {
        let table = people.table();
        let names: Vec<String> = self.quasi_names().into_iter().map(str::to_owned).collect();
        let fold = || -> Result<Folded> {
            let mut folded =
                self.fold_all(&open(&table)?, "population table", names, None, progress)?;
            // A population may contain values that the release does not. Values that are not dates
            // lie outside every range.
            for (column, (_, spec)) in folded.columns.iter_mut().zip(&self.quasi) {
                spelling::unify(column, spec).map_err(|misfit| {
                    Error::input(format!("the population table: {}", misfit.error.message()))
                })?;
            }
            Ok(folded)
        };
        fold().map_err(|e| e.at("population.path"))
    }

    /// Folds the original table, with its sensitive values in their published form.
    pub(crate) fn fold_original(
        &self,
        original: &Input,
        progress: &dyn Progress,
    ) -> Result<Folded> {
        let named = |e: Error| match e.key() {
            Some(_) => e,
            None => e.at("input.path"),
        };
        let source = open(&original.table()).map_err(named)?;
        if let Some(person) =
            original.person.as_ref().filter(|person| !source.columns().contains(person))
        {
            let error = Error::input(format!("the original table has no column `{person}`"));
            return Err(error
                .help_near(person, source.columns().iter().map(String::as_str))
                .at("input.person"));
        }
        let mut folded = self.fold_all(
            &source,
            "original table",
            self.names(),
            original.person.clone(),
            progress,
        )?;
        self.publish(&mut folded);
        Ok(folded)
    }

    fn fold_all(
        &self,
        source: &Source,
        what: &str,
        columns: Vec<String>,
        person: Option<String>,
        progress: &dyn Progress,
    ) -> Result<Folded> {
        if let Some(absent) = columns.iter().find(|c| !source.columns().contains(c)) {
            let error = Error::input(format!("the {what} has no column `{absent}`"));
            return Err(source.help_column(error, absent));
        }
        let folded = source.fold(&FoldSpec { person, ..self.fold_spec(columns) }, progress)?;
        if folded.records() == 0 {
            return Err(Error::input(format!("the {what} has no records")));
        }
        Ok(folded)
    }

    /// Encodes an original table like the input of a release.
    pub(crate) fn encode_original(&self, folded: Folded) -> Result<Dataset> {
        let quasi: Vec<&ColumnSpec> = self.quasi.iter().map(|(_, spec)| spec).collect();
        let sensitive: Vec<&SensitiveSpec> = self.sensitive.iter().map(|(_, spec)| spec).collect();
        Dataset::encode(folded, &quasi, &sensitive, self.missing_label()).map_err(|failed| {
            Error::input(format!("the original table: {}", failed.misfit.error.message()))
        })
    }
}

/// Replaces values by categories where only categories are published, so that models see nothing
/// else.
pub(crate) fn as_published(column: &mut FoldedColumn, spec: &SensitiveSpec) {
    if let (Some(Publish::Category), Some(categories)) = (spec.publish, &spec.categories) {
        for text in column.texts.iter_mut().skip(1) {
            // A value without a category is kept. A model that needs its category refuses it.
            if let Some(category) = categories.of(text) {
                categories.name(category).clone_into(text);
            }
        }
    }
}

/// Returns the name of the column of categories, if values and categories are both published.
pub(crate) fn category_column(name: &str) -> String {
    format!("{name}_category")
}

/// Returns the columns that are published for a sensitive column.
pub(crate) fn published_of(name: &str, spec: &SensitiveSpec) -> Vec<String> {
    let mut columns = vec![name.to_owned()];
    if spec.categories.is_some() && spec.publish == Some(Publish::Both) {
        columns.push(category_column(name));
    }
    columns
}

/// Returns whether a table has passthrough columns.
pub(crate) fn has_passthrough(schema: &Schema) -> bool {
    schema.published().any(|(_, role)| *role == Role::Passthrough)
}

/// The names of the columns that are published unchanged.
pub(crate) fn passthrough_columns(schema: &Schema) -> Vec<String> {
    let passed = schema.published().filter(|(_, role)| **role == Role::Passthrough);
    passed.map(|(name, _)| name.to_owned()).collect()
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

/// Reads the hierarchies that are defined by other columns of the table, all of them in one
/// reading.
pub(crate) fn resolve_columns(
    columns: &mut [(String, ColumnJob)],
    missing: &[String],
    source: &Source,
    progress: &dyn Progress,
) -> Result<()> {
    let (mut unresolved, mut sets) = (Vec::new(), Vec::new());
    for (name, column) in columns {
        if let Some(HierarchySpec::Columns(above)) = &mut column.spec.hierarchy
            && !above.is_resolved()
        {
            let names: Vec<String> =
                std::iter::once(name.clone()).chain(above.names().iter().cloned()).collect();
            for (i, wanted) in names.iter().enumerate() {
                source.position(wanted).map_err(|e| e.at(format!("columns.{name}.hierarchy")))?;
                if names[..i].contains(wanted) {
                    return Err(Error::job(format!(
                        "column `{wanted}` is named twice in the hierarchy of `{name}`"
                    ))
                    .at(format!("columns.{name}.hierarchy")));
                }
            }
            sets.push(names);
            unresolved.push((name, above));
        }
    }
    let folded = source.fold_each(&sets, missing, progress)?;
    for ((name, above), folded) in unresolved.into_iter().zip(&folded) {
        *above = above.resolved(name, folded)?;
    }
    Ok(())
}

crate::work::long_work! { Input:
    /// Returns the distinct values of one column, without missing values.
    fn column_values(column: &str) -> Vec<String> = column_values;

    /// Returns the distinct values of one column with their numbers of records, without missing
    /// values.
    fn column_counts(column: &str) -> Vec<(String, u64)> = column_counts;

    /// Returns a hierarchy of a column with the levels that other columns of the table define.
    fn hierarchy_of(column: &str, hierarchy: &HierarchySpec) -> HierarchySpec = hierarchy_of;

    /// Counts the bars of a chart of every column, for the data owner only.
    fn glimpse() -> Vec<Glimpse> = glimpse;
}

fn hierarchy_of(
    input: &Input,
    column: &str,
    hierarchy: &HierarchySpec,
    progress: &dyn Progress,
) -> Result<HierarchySpec> {
    let spec = ColumnSpec { hierarchy: Some(hierarchy.clone()), ..ColumnSpec::default() };
    let mut columns = [(column.to_owned(), ColumnJob { spec, ..ColumnJob::default() })];
    resolve_columns(&mut columns, &input.missing, &open_input(input)?, progress)?;
    let [(_, column)] = columns;
    Ok(column.spec.hierarchy.unwrap_or_else(|| hierarchy.clone()))
}

/// Returns the values of a column in the spelling of its hierarchy: dates in the published format.
pub fn spelled(hierarchy: &HierarchySpec, column: &str, values: &[&str]) -> Result<Vec<String>> {
    let texts = std::iter::once("").chain(values.iter().copied()).map(str::to_owned).collect();
    let mut folded = FoldedColumn { name: column.to_owned(), texts };
    let spec = ColumnSpec { hierarchy: Some(hierarchy.clone()), ..ColumnSpec::default() };
    spelling::unify(&mut folded, &spec).map_err(|misfit| misfit.error)?;
    folded.texts.remove(0);
    Ok(folded.texts)
}

fn column_values(input: &Input, column: &str, progress: &dyn Progress) -> Result<Vec<String>> {
    Ok(column_counts(input, column, progress)?.into_iter().map(|(value, _)| value).collect())
}

fn column_counts(
    input: &Input,
    column: &str,
    progress: &dyn Progress,
) -> Result<Vec<(String, u64)>> {
    let spec = FoldSpec {
        columns: vec![column.to_owned()],
        missing: input.missing.clone(),
        drop_missing: true,
        ..FoldSpec::default()
    };
    let folded = open_input(input)?.fold(&spec, progress)?;
    let mut counts = vec![0u64; folded.columns.first().map_or(0, |c| c.texts.len())];
    folded.codes.iter().zip(&folded.weights).for_each(|(&code, n)| counts[code as usize] += n);
    let texts = folded.columns.into_iter().flat_map(|c| c.texts);
    Ok(texts.zip(counts).skip(1).collect())
}
