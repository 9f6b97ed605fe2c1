//! From what was read to a release in memory: no file, no clock. The command line, comparisons and every engine call [`make`].

use std::collections::HashMap;

use incrowd_audit::tally;
use incrowd_core::dataset::Quasi;
use incrowd_core::exact::Decimal;
use incrowd_core::hierarchy::mdr::Mdr;
use incrowd_core::model::BoundModel;
use incrowd_core::number::parse_number;
use incrowd_core::plan::mean_text;
use incrowd_core::{
    Dataset, Domain, Error, Fault, Folded, FoldedColumn, FoldedPersons, GroupId, HierarchySpec, MissingCells,
    Partition, Plan, Progress, Result, Schema,
};
use incrowd_engine::{Content, Engine, Output, Receipt, Shape};
use incrowd_recode::least::{BoundReport, Metric, least_loss};
use incrowd_recode::ungrouped::finish_suppression;
use incrowd_recode::{Recoding, Reported};

use crate::checked::CheckedJob;
use crate::manifest::Ordered;
use crate::publication::joined::{JoinReport, JoinedTable};
use crate::suppression::{Keys, NoKeys, Withholding};

/// Says where a text of a column occurs first.
pub(crate) type Locate<'a> = Box<dyn Fn(&str, &str) -> Option<String> + 'a>;

/// What a release is made of.
pub struct Material<'a> {
    /// The table: quasi-identifiers, then sensitive columns.
    pub folded: Folded,
    /// The people the table is a sample of, over the quasi-identifiers, if a promise asks for them.
    pub population: Option<Folded>,
    /// The join with an external table, if the job names one.
    pub(crate) joined: Option<JoinedTable>,
    /// Where a text of a column occurs first, in words.
    pub(crate) locate: Locate<'a>,
    /// Whatever draws follow from.
    pub(crate) keys: &'a dyn Keys,
}

impl std::fmt::Debug for Material<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Material").field("rows", &self.folded.rows()).finish_non_exhaustive()
    }
}

impl<'a> Material<'a> {
    /// A table that was folded as [`CheckedJob::fold_spec`] says. A job that draws by a secret key needs an engine.
    pub fn of_folded(folded: Folded) -> Material<'a> {
        Material { folded, population: None, joined: None, locate: Box::new(|_, _| None), keys: &NoKeys }
    }

    /// What an engine folded, with the population the job names.
    pub(crate) fn new(
        folded: Folded,
        engine: &'a dyn Engine,
        keys: &'a dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'a>> {
        let population = job.read_population(progress)?;
        let locate = Box::new(|name: &str, text: &str| engine.locate(name, text).ok().flatten());
        Ok(Material { folded, population, joined: None, locate, keys })
    }
}

/// A table of a release in memory.
pub(crate) struct MadeTable {
    /// What it holds.
    pub(crate) content: &'static str,
    pub(crate) data: Dataset,
    pub(crate) partition: Partition,
    pub(crate) output: Output,
}

/// How many records went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Read from the input.
    pub read: u64,
    /// Left out because a value was missing.
    pub dropped_missing: u64,
    /// Left out to keep a promise.
    pub suppressed: u64,
    /// Published.
    pub published: u64,
}

/// A release in memory that nobody has looked at yet.
pub struct Made {
    pub(crate) tables: Vec<MadeTable>,
    /// The columns as they are published: regular intervals are those that were made from the records.
    pub(crate) schema: Schema,
    /// The lines on which cells are measured.
    pub(crate) domains: Vec<Quasi>,
    /// The table itself, where promises are judged beside it.
    pub(crate) original: Option<Dataset>,
    pub(crate) population: Option<Folded>,
    /// The published level of each quasi-identifier, if every cell of it is at the same one.
    pub(crate) levels: Option<Ordered<u32>>,
    /// What else the algorithm knows.
    pub(crate) algorithm_report: Reported,
    pub(crate) withholding: Option<Withholding>,
    pub(crate) joined: Option<JoinReport>,
    /// Records that are published with nothing but `*` in their quasi-identifiers.
    pub(crate) starred: u64,
    /// How many persons were read, if the job names a column that tells them apart.
    pub(crate) persons: Option<FoldedPersons>,
    /// Identifiers that occur in several records, where persons are not counted.
    pub(crate) repeating: Vec<String>,
    pub(crate) read: u64,
    pub(crate) dropped_missing: u64,
    /// How many records of the table are published, if that is not the number of records in the first table.
    pub(crate) microdata: Option<u64>,
    pub(crate) distinct_rows: u64,
    /// How many records have a missing value, by column, where there are any.
    pub(crate) missing: Vec<(String, u64)>,
    /// What the first table shows in another way than its label.
    pub(crate) shape: Shape,
    /// For each column of which means are published what they stand for: the label of the groups that have a mean, or `*` if they
    /// have different ones.
    pub(crate) mean_labels: Vec<(String, HashMap<String, String>)>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Made").field("tables", &self.tables.len()).finish_non_exhaustive()
    }
}

/// What the means of a column stand for.
fn mean_labels(plan: &Plan<'_>, quasi: usize) -> HashMap<String, String> {
    let mut labels: HashMap<String, String> = HashMap::new();
    for (group, mean) in plan.means(quasi).into_iter().enumerate() {
        let Some(mean) = mean else { continue };
        let label = plan.text(GroupId(group as u32), quasi);
        labels
            .entry(mean_text(mean))
            .and_modify(|known| {
                if known != label {
                    "*".clone_into(known);
                }
            })
            .or_insert_with(|| label.to_owned());
    }
    labels
}

/// Makes a release of a table in memory. What a release would need that the promises do not allow is said here.
pub fn make(material: Material<'_>, job: &CheckedJob, progress: &dyn Progress) -> Result<Made> {
    let persons =
        material.folded.persons.clone().map(|persons| FoldedPersons { codes: Vec::new(), ..persons });
    let repeating = material.folded.repeating.clone();
    job.check_persons(persons.as_ref().is_some_and(|persons| persons.repeated))?;
    let mut made = job.publication.make(material, job, progress)?;
    (made.persons, made.repeating) = (persons, repeating);
    let first = made.tables.first().ok_or_else(|| Error::bug("a release without a table"))?;
    let absent = (0..first.data.rows()).filter(|&row| first.partition.group(row).is_none());
    let absent: u64 = absent.map(|row| first.data.weight(row)).sum();
    limit(job, absent + made.starred, first.data.records())?;
    Ok(made)
}

impl Made {
    /// Begins with what is known before anything is made.
    pub(crate) fn begin(job: &CheckedJob, folded: &Folded) -> Made {
        let missing = folded.columns.iter().map(|c| c.name.clone()).zip(folded.missing.iter().copied());
        Made {
            tables: Vec::new(),
            schema: job.schema.clone(),
            domains: Vec::new(),
            original: None,
            population: None,
            levels: None,
            algorithm_report: None,
            withholding: None,
            joined: None,
            starred: 0,
            persons: None,
            repeating: Vec::new(),
            read: folded.read,
            dropped_missing: folded.dropped_missing,
            microdata: None,
            distinct_rows: folded.rows() as u64,
            missing: missing.filter(|(_, records)| *records > 0).collect(),
            shape: Shape::default(),
            mean_labels: Vec::new(),
        }
    }

    /// Keeps the trees of regular intervals that were made from the records, so that the release is read on the very same.
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

    /// Notes the level of each column, if every cell of it is at the same one.
    pub(crate) fn set_levels(&mut self, data: &Dataset, partition: &Partition) {
        let names = data.quasi().iter().map(|quasi| quasi.name.clone());
        self.levels = partition.levels().map(|levels| names.zip(levels.iter().copied()).collect());
    }

    /// Writes all tables where nobody can see them; their rows are given up.
    pub(crate) fn stage(&mut self, engine: &mut dyn Engine, progress: &dyn Progress) -> Result<Vec<Staged>> {
        let withheld = self.withholding.as_ref().and_then(|held| held.withheld.as_ref());
        let mut staged = Vec::new();
        for (i, table) in self.tables.drain(..).enumerate() {
            progress.step("labelling", None);
            let plan = Plan::new(&table.data, &table.partition).withholding(withheld);
            for (name, content) in &table.output.columns {
                if let Content::Mean(q) = content {
                    self.mean_labels.push((name.clone(), mean_labels(&plan, *q)));
                }
            }
            let receipt = engine.stage(i, &plan, &table.output, progress)?;
            let columns = table.output.columns.into_iter().map(|(name, _)| name).collect();
            staged.push(Staged { content: table.content, columns, receipt });
        }
        Ok(staged)
    }

    /// A table that was read back, with the ranges that its means stand for.
    pub(crate) fn with_ranges(&self, mut people: Folded) -> Folded {
        for (name, labels) in &self.mean_labels {
            for column in people.columns.iter_mut().filter(|column| column.name == *name) {
                for text in &mut column.texts {
                    let plain = parse_number(text).map(|n| mean_text(n.as_f64()));
                    *text =
                        plain.and_then(|text| labels.get(&text).cloned()).unwrap_or_else(|| "*".to_owned());
                }
            }
        }
        people
    }

    /// The cells of the first table as they would be published, row by row.
    pub(crate) fn cells(&self) -> Result<Folded> {
        let table = self.tables.first().ok_or_else(|| Error::bug("a release without a table"))?;
        let (data, partition) = (&table.data, &table.partition);
        let plan = Plan::new(data, partition);
        let texts = |list: &[String]| std::iter::once(String::new()).chain(list.iter().cloned()).collect();
        let quasi = data.quasi().iter().enumerate();
        let mut columns: Vec<FoldedColumn> = quasi
            .map(|(q, own)| FoldedColumn { name: own.name.clone(), texts: texts(plan.labels(q)) })
            .collect();
        let sensitive = data.sensitive().iter();
        columns
            .extend(sensitive.map(|own| FoldedColumn { name: own.name.clone(), texts: texts(&own.values) }));
        let mut release = Folded { missing: vec![0; columns.len()], columns, ..Folded::default() };
        let (mut codes, mut represented): (Vec<u32>, Vec<u64>) = Default::default();
        for row in 0..data.rows() {
            let Some(group) = partition.group(row) else { continue };
            release
                .codes
                .extend(plan.cells(group).iter().chain(data.sensitive_codes(row)).map(|code| code + 1));
            release.weights.push(data.weight(row));
            represented.push(data.represented(row));
            let own = data.persons().map_or(&[][..], |persons| persons.of_row(row));
            let person = |&holding: &u32| data.persons().map_or(0, |persons| persons.person(holding));
            codes.extend(own.iter().map(person));
        }
        if data.persons().is_some() {
            release = release.with_persons(codes);
        }
        release.represented = data.is_weighed().then_some(represented);
        release.read = release.records();
        Ok(release)
    }

    /// How many records the first table stands for, published or not.
    pub(crate) fn records(&self) -> u64 {
        self.tables.first().map_or(0, |table| table.data.records())
    }

    /// What a table with these cells costs.
    pub(crate) fn tally(&self, cells: &Folded) -> Result<incrowd_core::metric::Tally> {
        tally(cells, &self.domains, self.records() - cells.records())
    }
}

/// A table that was written.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    pub(crate) content: &'static str,
    pub(crate) columns: Vec<String>,
    pub(crate) receipt: Receipt,
}

/// How many records the limit lets be suppressed.
fn suppressible(job: &CheckedJob, records: u64) -> u64 {
    Decimal::of(job.job.algorithm.suppression_limit).share_of(records)
}

/// Runs the algorithm and makes suppression final. Where a promise cannot be kept once records are suppressed, none are.
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
    let recode = |allowed| job.method.algorithm.recode_and_report(data, models, allowed, progress);
    let Recoding { partition, report, domains } = recode(allowed)?;
    let report = match job.job.algorithm.bound {
        true => {
            let known = job.method.card.params.iter().any(|param| param.name == "metric");
            let metric = Metric::named(if known { job.method.params.word("metric") } else { "" });
            BoundReport::beside(report, metric, least_loss(data, models, metric, progress))
        }
        false => report,
    };
    let way = job.job.algorithm.suppressed;
    match finish_suppression(data, &job.promises, models, partition, way, allowed) {
        Err(error) if error.fault() == Fault::Unsatisfiable && allowed > 0 => recode(0),
        settled => settled.map(|partition| Recoding { partition, report, domains }),
    }
}

/// How many records are published with nothing but `*` in their quasi-identifiers.
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
