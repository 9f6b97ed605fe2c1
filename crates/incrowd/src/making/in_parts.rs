//! Planning of tables in parts, if they have too many distinct rows to be planned at once and the
//! engine can divide them.
//!
//! Every part is planned separately, on the domains of the whole table. All plans are written as
//! one release, which is verified like any other. Only models about single groups are allowed that
//! also hold for the union of two groups, because groups of different parts may have equal cells.
//! Models that compare a group with the whole table, and algorithms that need all records, are
//! refused.

use incrowd_core::model::Need;
use incrowd_core::{Error, Folded, HierarchySpec, MISSING, MissingCells, Progress, Result};
use incrowd_engine::{
    Engine, Order, PartitionedEngine, PlannedPart, RemoteEngine, Surveyed, Whole,
};
use incrowd_recode::ALGORITHMS;
use serde::{Deserialize, Serialize};

use crate::job::reading::resolve_columns;
use crate::job::{Cells, Job};
use crate::making::checked::CheckedJob;
use crate::making::make::{Generalized, InputFacts, Made, Material, Staged, make};
use crate::making::means::MeanGroups;
use crate::making::suppression::{Keys, NoKeys};
use crate::manifest::Ordered;
use crate::work::stoppable;

/// Refuses jobs that cannot be planned in parts. `distributed` is set if workers plan the parts.
fn refuse(job: &CheckedJob, table: &Surveyed, distributed: bool) -> Result<()> {
    let refused = |what: String, key: &str| {
        Err(Error::resources(format!(
            "the table has about {} distinct rows, more than the {} that are planned at once, \
             and {what}",
            table.rows, table.limit
        ))
        .help("allow more rows, or give fewer or coarser columns")
        .at(key))
    };
    for (i, privacy_model) in job.privacy_models.iter().enumerate() {
        let card = privacy_model.model.card();
        let beyond = card.needs.iter().any(|need| matches!(need, Need::Population | Need::Region));
        if !card.survives.merging || !card.survives.suppressing || beyond {
            let what = format!(
                "`{}` depends on the whole table, so it cannot be planned in parts",
                privacy_model.name()
            );
            return refused(what, &format!("models.{i}.name"));
        }
    }
    let card = job.method.card;
    if !card.local {
        let local: Vec<&str> =
            ALGORITHMS.iter().filter(|card| card.local).map(|card| card.name).collect();
        let what = format!("`{}` cannot plan in parts; `{}` can", card.name, local.join("`, `"));
        return refused(what, "algorithm.name");
    }
    let own = &job.job;
    let other = own.external.is_some() || own.suppression.is_some() || own.population.is_some();
    if other || !job.publication.has_whole_records() {
        return refused(
            "this kind of release cannot be made in parts".to_owned(),
            "algorithm.name",
        );
    }
    if own.algorithm.cells != Cells::Generalize || own.algorithm.missing_cells == MissingCells::Any
    {
        return refused("single cells cannot be suppressed in parts".to_owned(), "algorithm.cells");
    }
    if own.output.as_ref().is_some_and(|output| output.order == Order::Sorted) {
        return refused("parts cannot be sorted together".to_owned(), "output.order");
    }
    for (name, spec) in job.schema.quasi() {
        if matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_))) {
            let what = "regular intervals would differ between parts".to_owned();
            return refused(what, &format!("columns.{name}.hierarchy"));
        }
        if distributed && matches!(spec.hierarchy, Some(HierarchySpec::Columns(_))) {
            let error = Error::job(
                "a hierarchy of other columns is not available to the workers that plan parts",
            );
            let help =
                "plan on the driver, or write the hierarchy to a file with `incrowd hierarchy`";
            return Err(error.help(help).at(format!("columns.{name}.hierarchy")));
        }
    }
    Ok(())
}

/// Returns a table that has every value of every column in some row, and in its last row the
/// missing values.
fn with_every_value(table: &Folded) -> Folded {
    let rows = table.columns.iter().map(|column| column.texts.len() as u32 - 1).max().unwrap_or(0);
    let code = |column: usize, row: u32| match table.columns[column].texts.len() as u32 {
        1 => MISSING,
        n => 1 + row % (n - 1),
    };
    let width = table.columns.len();
    let mut codes: Vec<u32> =
        (0..rows).flat_map(|row| (0..width).map(move |i| code(i, row))).collect();
    codes.extend((0..width).map(|i| if table.missing[i] > 0 { MISSING } else { code(i, 0) }));
    let weights = vec![1; rows as usize + 1];
    Folded { codes, weights, read: u64::from(rows) + 1, persons: None, ..table.clone() }
}

/// Folds, plans and stages a part.
fn plan(
    engine: &mut dyn PartitionedEngine,
    keys: &dyn Keys,
    job: &CheckedJob,
    part: usize,
    marker: &Option<String>,
) -> Result<(Made, Staged)> {
    let folded = engine.fold_part(part)?;
    let material =
        Material { keys, ..Material::of_folded(Folded { marker: marker.clone(), ..folded }) };
    let mut made = make(material, job, &incrowd_core::Silent)?;
    let staged = made.stage(engine, &incrowd_core::Silent)?.pop();
    let staged = staged.ok_or_else(|| Error::bug("a part without a table"))?;
    Ok((made, staged))
}

/// Plans one part on a worker that has nothing else of the table.
pub fn plan_part(
    engine: &mut RemoteEngine,
    job: &Job,
    whole: &Whole,
    progress: &dyn Progress,
) -> Result<PlannedPart> {
    let mut job = job.clone();
    stoppable(|| {
        resolve_columns(&mut job.columns, &job.input.missing, engine.source(), progress)?;
        let job = CheckedJob::for_table(&job, engine.columns(), engine.source().is_named())?;
        let (made, _) = plan(engine, &NoKeys, &job, 0, &whole.marker)?;
        let (plan, receipt) = engine.plan_of_part()?;
        Ok(PlannedPart { plan, receipt, known: PartData::from(made).text()? })
    })
}

/// Data about a part in addition to its plan.
#[derive(Debug, Serialize, Deserialize)]
struct PartData {
    starred: u64,
    distinct_rows: u64,
    levels: Option<Ordered<u32>>,
    means: Option<MeanGroups>,
}

impl From<Made> for PartData {
    fn from(made: Made) -> PartData {
        let Made { distinct_rows, generalized, .. } = made;
        let Generalized { starred, levels, means, .. } = generalized;
        PartData { starred, distinct_rows, levels, means }
    }
}

impl PartData {
    fn parse(text: &str) -> Result<PartData> {
        serde_json::from_str(text).map_err(|_| Error::bug("the data of a part cannot be parsed"))
    }

    fn text(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| Error::bug("the data of a part cannot be serialized"))
    }
}

/// Plans a table in parts and stages it, if the engine reports that it is too large.
pub(crate) fn stage(
    engine: &mut dyn Engine,
    keys: &dyn Keys,
    job: &CheckedJob,
    progress: &dyn Progress,
) -> Result<Option<(Made, Staged)>> {
    let Some(engine) = engine.partitioned() else { return Ok(None) };
    let Some(table) = engine.survey(&job.fold_spec(), progress)? else { return Ok(None) };
    let distributed = engine.has_workers()?;
    refuse(job, &table, distributed)?;
    let data = job.encode(with_every_value(&table.folded), &|_, _| None)?;
    let least = job.bind(&data)?.iter().map(|model| model.fewest_records()).max().unwrap_or(1);
    let last = data_rows(&table.folded) as u32;
    let leaf = |q: usize, code: u32| {
        let row = if code == MISSING { last } else { code - 1 };
        let row = data.row_of_fold(row).ok_or_else(|| Error::bug("a value without a row"))?;
        Ok(data.quasi_codes(row.0 as usize)[q])
    };
    let mut leaves = Vec::with_capacity(data.quasi().len());
    for q in 0..data.quasi().len() {
        let texts = table.folded.columns[q].texts.len() as u32;
        leaves.push((0..texts).map(|code| leaf(q, code)).collect::<Result<Vec<u32>>>()?);
    }
    let sizes: Vec<u32> = data.quasi().iter().map(|quasi| quasi.domain.leaves()).collect();
    drop(data);
    let (parts, records) = engine.divide(&leaves, &sizes, least, progress)?;
    drop(leaves);
    progress.step("planning parts", Some(parts as u64));
    if distributed && parts > 1 {
        engine.plan_on_workers(table.folded.marker.as_deref())?;
    }
    let mut whole: Option<(Made, Staged)> = None;
    for part in 0..parts {
        match &mut whole {
            Some((first, _)) if distributed => {
                add(first, PartData::parse(&engine.take_planned(part)?)?)
            }
            Some((first, _)) => {
                add(first, plan(engine, keys, job, part, &table.folded.marker)?.0.into())
            }
            None => whole = Some(plan(engine, keys, job, part, &table.folded.marker)?),
        }
        progress.advance(1);
    }
    let Some((mut made, mut staged)) = whole else {
        job.need_records(&Folded { read: table.folded.read, ..Folded::default() })?;
        return Err(Error::bug("a table without parts"));
    };
    progress.step("writing", None);
    staged.receipt = engine.write_parts()?;
    if staged.receipt.published + staged.receipt.suppressed != records {
        return Err(Error::bug("the parts are not the whole table"));
    }
    made.input = InputFacts {
        dropped_missing: table.folded.read - records,
        persons: made.input.persons,
        ..InputFacts::of(&table.folded, &job.schema)
    };
    // The algorithm's report is about one part only.
    made.generalized.algorithm_report = None;
    Ok(Some((made, staged)))
}

/// Returns the number of rows of [`with_every_value`], without the last one.
fn data_rows(table: &Folded) -> usize {
    table.columns.iter().map(|column| column.texts.len() - 1).max().unwrap_or(0)
}

/// Adds the data of another part. Both have the same domains.
fn add(whole: &mut Made, part: PartData) {
    whole.distinct_rows += part.distinct_rows;
    let whole = &mut whole.generalized;
    whole.starred += part.starred;
    if whole.levels != part.levels {
        whole.levels = None;
    }
    match (&mut whole.means, part.means) {
        (Some(means), Some(more)) => means.add(more),
        (means, more) => *means = means.take().or(more),
    }
}
