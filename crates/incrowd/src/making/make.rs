//! Makes a release in memory from a table in memory, without files or clock. The command line,
//! comparisons and every engine call [`make`].

use incrowd_audit::tally;
use incrowd_core::dataset::Quasi;
use incrowd_core::exact::Decimal;
use incrowd_core::hierarchy::mdr::Mdr;
use incrowd_core::model::BoundModel;
use incrowd_core::{
    Dataset, Domain, Error, Fault, Folded, FoldedColumn, FoldedPersons, HierarchySpec,
    MissingCells, Partition, Plan, Progress, Result, Schema, Spellings,
};
use incrowd_engine::{Content, Engine, Output, Receipt, Shape};
use incrowd_recode::alike::join_alike;
use incrowd_recode::least::{BoundReport, Metric, least_loss};
use incrowd_recode::ungrouped::finish_suppression;
use incrowd_recode::{Recoding, Reported};

use crate::making::checked::CheckedJob;
use crate::making::means::MeanGroups;
use crate::making::publication::joined::{JoinReport, JoinedTable};
use crate::making::publication::{References, TableContent};
use crate::making::suppression::{Keys, NoKeys, SuppressionOutcome};
use crate::manifest::Ordered;

/// Returns the place at which a text of a column occurs first.
pub(crate) type Locate<'a> = Box<dyn Fn(&str, &str) -> Option<String> + 'a>;

/// The input of a release.
pub(crate) struct Material<'a> {
    /// The table: quasi-identifiers, then sensitive columns.
    pub folded: Folded,
    /// The population over the quasi-identifiers, if a model needs it.
    pub population: Option<Folded>,
    /// The join with an external table, if the job names one.
    pub(crate) joined: Option<JoinedTable>,
    /// Returns the place at which a text of a column occurs first, in words.
    pub(crate) locate: Locate<'a>,
    /// The secret keys for random draws.
    pub(crate) keys: &'a dyn Keys,
    /// Upper limit for the bytes of the distinct sets of values to publish.
    pub(crate) most_labels: u64,
}

incrowd_core::opaque_debug!(Material<'_> { rows: |material| material.folded.rows() });

impl<'a> Material<'a> {
    /// Creates the input from a table folded by [`CheckedJob::fold_spec`]. A job with random draws
    /// by a secret key needs an engine.
    pub(crate) fn of_folded(folded: Folded) -> Material<'a> {
        Material {
            folded,
            population: None,
            joined: None,
            locate: Box::new(|_, _| None),
            keys: &NoKeys,
            most_labels: u64::MAX,
        }
    }

    /// Creates the input from a table folded by an engine, with the population of the job.
    pub(crate) fn new(
        folded: Folded,
        engine: &'a dyn Engine,
        keys: &'a dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'a>> {
        let population = job.read_population(progress)?;
        let locate = Box::new(|name: &str, text: &str| engine.locate(name, text).ok().flatten());
        let most_labels = engine.source().most_labels();
        Ok(Material { folded, population, joined: None, locate, keys, most_labels })
    }
}

/// A table of a release in memory.
pub(crate) struct MadeTable {
    pub(crate) content: TableContent,
    pub(crate) data: Dataset,
    pub(crate) partition: Partition,
    pub(crate) output: Output,
}

/// The numbers of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Records read from the input.
    pub read: u64,
    /// Records dropped because of a missing value.
    pub dropped_missing: u64,
    /// Records suppressed to satisfy a model.
    pub suppressed: u64,
    /// Records published.
    pub published: u64,
}

/// A release in memory, not verified yet.
pub(crate) struct Made {
    pub(crate) tables: Vec<MadeTable>,
    /// The published columns. Regular intervals are those that were derived from the records.
    pub(crate) schema: Schema,
    /// The domains on which the loss of cells is measured.
    pub(crate) domains: Vec<Quasi>,
    pub(crate) distinct_rows: u64,
    pub(crate) input: InputFacts,
    pub(crate) suppression: Option<SuppressionOutcome>,
    /// The results of generalization. Other publications than one table have none.
    pub(crate) generalized: Generalized,
    /// The results of a join with an external table.
    pub(crate) joined: Option<Joined>,
}

/// Facts about the input of a release, which do not depend on the algorithm.
pub(crate) struct InputFacts {
    pub(crate) read: u64,
    pub(crate) dropped_missing: u64,
    /// The number of missing values by column, for columns with any.
    pub(crate) missing: Vec<(String, u64)>,
    /// The persons without their records, if the job names a person column.
    pub(crate) persons: Option<FoldedPersons>,
    /// Identifiers that occur in several records, if persons are not counted.
    pub(crate) repeating: Vec<String>,
    /// Sensitive columns with values that differ in spelling only.
    pub(crate) spellings: Vec<(String, Spellings)>,
}

/// The results of generalizing the quasi-identifiers of one table.
#[derive(Default)]
pub(crate) struct Generalized {
    /// The original table, if a model needs it for verification.
    pub(crate) original: Option<Dataset>,
    pub(crate) population: Option<Folded>,
    /// The published level of each quasi-identifier, if all cells of a column have the same level.
    pub(crate) levels: Option<Ordered<u32>>,
    /// The algorithm's own report.
    pub(crate) algorithm_report: Reported,
    /// The number of records that are published with `*` in all quasi-identifiers.
    pub(crate) starred: u64,
    /// The columns that are not published as plain labels.
    pub(crate) shape: Shape,
    /// The groups, if group means are published. Set when the table is staged.
    pub(crate) means: Option<MeanGroups>,
}

/// The results of a join with an external table.
pub(crate) struct Joined {
    pub(crate) report: JoinReport,
    /// The number of published records of the input. The first table has those of both tables.
    pub(crate) records: u64,
}

incrowd_core::opaque_debug!(Made { tables: |made| made.tables.len() });

/// Makes a release of a table in memory. Fails if the models would require more suppression than
/// the job allows.
pub(crate) fn make(
    material: Material<'_>,
    job: &CheckedJob,
    progress: &dyn Progress,
) -> Result<Made> {
    let repeated = material.folded.persons.as_ref().is_some_and(|persons| persons.repeated);
    job.check_persons(repeated)?;
    let made = job.publication.make(material, job, progress)?;
    let first = made.tables.first().ok_or_else(|| Error::bug("a release without a table"))?;
    let absent = (0..first.data.rows()).filter(|&row| first.partition.group(row).is_none());
    let absent: u64 = absent.map(|row| first.data.weight(row)).sum();
    limit(job, absent + made.generalized.starred, first.data.records())?;
    Ok(made)
}

/// Returns the sensitive columns in which a value has several spellings.
fn spellings(folded: &Folded, schema: &Schema) -> Vec<(String, Spellings)> {
    let own = schema.sensitive().filter_map(|(name, _)| Some((name, folded.column(name)?)));
    let spellings = |(name, at): (&str, usize)| {
        (name.to_owned(), Spellings::of_texts(&folded.columns[at].texts[1..], folded.decimal))
    };
    own.map(spellings).filter(|(_, own)| *own != Spellings::default()).collect()
}

impl Generalized {
    /// Returns the tables that some models need for verification.
    pub(crate) fn references(&self) -> References<'_> {
        References { population: self.population.as_ref(), original: self.original.as_ref() }
    }
}

impl InputFacts {
    /// Returns the facts about a folded input.
    pub(crate) fn of(folded: &Folded, schema: &Schema) -> InputFacts {
        let missing =
            folded.columns.iter().map(|c| c.name.clone()).zip(folded.missing.iter().copied());
        let persons = folded.persons.clone();
        InputFacts {
            read: folded.read,
            dropped_missing: folded.dropped_missing,
            missing: missing.filter(|(_, records)| *records > 0).collect(),
            persons: persons.map(|persons| FoldedPersons { codes: Vec::new(), ..persons }),
            repeating: folded.repeating.clone(),
            spellings: spellings(folded, schema),
        }
    }
}

impl Made {
    /// Creates a release without tables.
    pub(crate) fn begin(job: &CheckedJob, folded: &Folded) -> Made {
        Made {
            tables: Vec::new(),
            schema: job.schema.clone(),
            domains: Vec::new(),
            distinct_rows: folded.rows() as u64,
            input: InputFacts::of(folded, &job.schema),
            suppression: None,
            generalized: Generalized::default(),
            joined: None,
        }
    }

    /// Stores the regular intervals that were derived from the records in the schema, so that the
    /// release is read back with the same intervals.
    pub(crate) fn pin_intervals(&mut self, data: &Dataset) {
        for quasi in data.quasi() {
            if let Domain::Taxonomy(tree) = &quasi.domain
                && let Some(grid) = tree.grid()
            {
                let hierarchy = HierarchySpec::Mdr(Mdr::of_grid(grid.clone()));
                self.schema = self.schema.clone().with_hierarchy(&quasi.name, hierarchy);
            }
        }
    }

    /// Stores the level of each column, if all cells of a column have the same level.
    pub(crate) fn set_levels(&mut self, data: &Dataset, partition: &Partition) {
        let names = data.quasi().iter().map(|quasi| quasi.name.clone());
        self.generalized.levels =
            partition.levels().map(|levels| names.zip(levels.iter().copied()).collect());
    }

    /// Stages all tables and drops their rows.
    pub(crate) fn stage(
        &mut self,
        engine: &mut dyn Engine,
        progress: &dyn Progress,
    ) -> Result<Vec<Staged>> {
        let suppressed_rows =
            self.suppression.as_ref().and_then(|step| step.suppressed_rows.as_ref());
        let mut staged = Vec::new();
        for (i, table) in self.tables.drain(..).enumerate() {
            progress.step("labelling", None);
            let plan = Plan::new(&table.data, &table.partition).suppressing(suppressed_rows);
            plan.check()?;
            let mean = |(_, content): &(String, Content)| match content {
                Content::Mean(q) => Some(*q),
                _ => None,
            };
            let means: Vec<usize> = table.output.columns.iter().filter_map(mean).collect();
            if !means.is_empty() {
                let groups = MeanGroups::of_plan(&plan, means, &table.output.missing)?;
                self.generalized.means = Some(groups);
            }
            let receipt = engine.stage(i, &plan, &table.output, progress)?;
            let columns = table.output.columns.into_iter().map(|(name, _)| name).collect();
            staged.push(Staged { content: table.content, columns, receipt });
        }
        Ok(staged)
    }

    /// Returns the cells of the first table as they would be published, row by row.
    pub(crate) fn cells(&self) -> Result<Folded> {
        let table = self.tables.first().ok_or_else(|| Error::bug("a release without a table"))?;
        let (data, partition) = (&table.data, &table.partition);
        let plan = Plan::new(data, partition);
        plan.check_labels()?;
        let texts =
            |list: &[String]| std::iter::once(String::new()).chain(list.iter().cloned()).collect();
        let quasi = data.quasi().iter().enumerate();
        let mut columns: Vec<FoldedColumn> = quasi
            .map(|(q, own)| FoldedColumn { name: own.name.clone(), texts: texts(plan.labels(q)) })
            .collect();
        let sensitive = data.sensitive().iter();
        columns.extend(
            sensitive.map(|own| FoldedColumn { name: own.name.clone(), texts: texts(&own.values) }),
        );
        let missing = vec![0; columns.len()];
        let decimal = data.sensitive().first().map(|own| own.decimal()).unwrap_or_default();
        let mut release = Folded { missing, columns, decimal, ..Folded::default() };
        let (mut codes, mut represented): (Vec<u32>, Vec<u64>) = Default::default();
        for row in 0..data.rows() {
            let Some(group) = partition.group(row) else { continue };
            release.codes.extend(
                plan.cells(group).iter().chain(data.sensitive_codes(row)).map(|code| code + 1),
            );
            release.weights.push(data.weight(row));
            represented.push(data.represented(row));
            let own = data.persons().map_or(&[][..], |persons| persons.of_row(row));
            let person =
                |&holding: &u32| data.persons().map_or(0, |persons| persons.person(holding));
            codes.extend(own.iter().map(person));
        }
        if data.persons().is_some() {
            release = release.with_persons(codes);
        }
        release.represented = data.has_sampling_weights().then_some(represented);
        release.read = release.records();
        Ok(release)
    }

    /// Returns the number of records of the first table, published or not.
    pub(crate) fn records(&self) -> u64 {
        self.tables.first().map_or(0, |table| table.data.records())
    }

    /// Computes the information loss of a table with these cells.
    pub(crate) fn tally(&self, cells: &Folded) -> Result<incrowd_core::metric::Tally> {
        tally(cells, &self.domains, self.records() - cells.records())
    }
}

/// A staged table.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    pub(crate) content: TableContent,
    pub(crate) columns: Vec<String>,
    pub(crate) receipt: Receipt,
}

/// Returns the number of records that the limit allows to suppress.
fn suppressible(job: &CheckedJob, records: u64) -> u64 {
    Decimal::of(job.job.algorithm.suppression_limit).share_of(records)
}

/// Runs the algorithm and completes the suppression. If a model fails because records are
/// suppressed, the algorithm runs again without suppression.
pub(crate) fn recode(
    job: &CheckedJob,
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    progress: &dyn Progress,
) -> Result<Recoding> {
    let allowed = suppressible(job, data.records());
    if job.job.algorithm.missing_cells == MissingCells::Any {
        return job.local_suppression(models)?.recode(data);
    }
    let recode = |allowed| -> Result<Recoding> {
        let mut recoding =
            job.method.algorithm.recode_and_report(data, models, allowed, progress)?;
        if data.persons().is_some() {
            let published =
                recoding.domains.clone().map(|domains| data.clone().with_domains(domains));
            let published = published.as_ref().unwrap_or(data);
            recoding.partition =
                join_alike(published, &job.privacy_models, models, recoding.partition)?;
        }
        Ok(recoding)
    };
    let Recoding { partition, report, domains } = recode(allowed)?;
    let report = match job.job.algorithm.bound {
        true => {
            let known = job.method.card.params.iter().any(|param| param.name == "metric");
            let metric = Metric::named(if known { job.method.params.word("metric") } else { "" });
            BoundReport::wrap(report, metric, least_loss(data, models, metric, progress))
        }
        false => report,
    };
    let way = job.job.algorithm.suppressed;
    match finish_suppression(data, &job.privacy_models, models, partition, way, allowed) {
        Err(error) if error.fault() == Fault::Unsatisfiable && allowed > 0 => recode(0),
        settled => settled.map(|partition| Recoding { partition, report, domains }),
    }
}

/// Returns the number of records that are published with `*` in all quasi-identifiers.
pub(crate) fn starred(data: &Dataset, partition: &Partition) -> u64 {
    let star = partition.starred();
    let rows = (0..data.rows()).filter(|&row| star.is_some() && partition.group(row) == star);
    rows.map(|row| data.weight(row)).sum()
}

/// Refuses to suppress more records than the job allows.
fn limit(job: &CheckedJob, suppressed: u64, records: u64) -> Result<()> {
    let limit = job.job.algorithm.suppression_limit;
    if suppressed > suppressible(job, records) {
        return Err(Error::unsatisfiable(format!(
            "{suppressed} of {records} records would be suppressed, more than the limit of {limit}"
        ))
        .at("algorithm.suppression_limit"));
    }
    Ok(())
}
