//! Tables with more distinct rows than planning should hold, where the engine can cut them into parts.
//!
//! Every part is planned by itself, on the lines of the whole table, and all plans are written as one release, which is then judged as
//! any other. So only promises about single groups can be planned for, which two groups keep that look alike and are one to a
//! reader. Promises that compare a group with the whole table, and algorithms that treat all records alike, are refused.

use std::collections::HashMap;

use incrowd_core::model::Need;
use incrowd_core::{Error, Folded, HierarchySpec, MISSING, MissingCells, Progress, Result};
use incrowd_engine::{Engine, Order, PlannedPart, RemoteEngine, Surveyed, Whole};
use incrowd_recode::ALGORITHMS;
use serde::{Deserialize, Serialize};

use crate::checked::CheckedJob;
use crate::job::{Cells, Job};
use crate::make::{Made, Material, Staged, make};
use crate::manifest::Ordered;
use crate::reading::resolve_columns;
use crate::suppression::{Keys, NoKeys};

/// Refuses what cannot be planned in parts.
fn refuse(job: &CheckedJob, table: &Surveyed, elsewhere: bool) -> Result<()> {
    let refused = |what: String, key: &str| {
        Err(Error::resources(format!(
            "the table has about {} distinct rows, more than the {} that are planned at once, and {what}",
            table.rows, table.limit
        ))
        .help("allow more rows, or give fewer or coarser columns")
        .at(key))
    };
    for (i, promise) in job.promises.iter().enumerate() {
        let card = promise.model.card();
        let beyond = card.needs.iter().any(|need| matches!(need, Need::Population | Need::Region));
        if !card.survives.merging || !card.survives.suppressing || beyond {
            let what =
                format!("`{}` looks at the whole table, so it cannot be planned in parts", promise.name());
            return refused(what, &format!("models.{i}.name"));
        }
    }
    let card = job.method.card;
    if !card.local {
        let local: Vec<&str> = ALGORITHMS.iter().filter(|card| card.local).map(|card| card.name).collect();
        let what = format!("`{}` cannot work in parts; `{}` can", card.name, local.join("`, `"));
        return refused(what, "algorithm.name");
    }
    let own = &job.job;
    let other = own.external.is_some() || own.suppression.is_some() || own.population.is_some();
    if other || job.publication.name() != "one table" {
        return refused("this kind of release cannot be made in parts".to_owned(), "algorithm.name");
    }
    if own.algorithm.cells != Cells::Generalize || own.algorithm.missing_cells == MissingCells::Any {
        return refused("single cells cannot be suppressed in parts".to_owned(), "algorithm.cells");
    }
    if own.output.as_ref().is_some_and(|output| output.order == Order::Sorted) {
        return refused("parts are not sorted into one another".to_owned(), "output.order");
    }
    for (name, spec) in job.schema.quasi() {
        if matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_))) {
            let what = "regular intervals would be others in each part".to_owned();
            return refused(what, &format!("columns.{name}.hierarchy"));
        }
        if elsewhere && matches!(spec.hierarchy, Some(HierarchySpec::Columns(_))) {
            let error =
                Error::job("a hierarchy of other columns is not known where parts are planned elsewhere");
            let help = "plan on the driver, or write the hierarchy to a file with `incrowd hierarchy`";
            return Err(error.help(help).at(format!("columns.{name}.hierarchy")));
        }
    }
    Ok(())
}

/// A table that has every value of every column in some row, and in its last row whatever is missing.
fn with_every_value(table: &Folded) -> Folded {
    let rows = table.columns.iter().map(|column| column.texts.len() as u32 - 1).max().unwrap_or(0);
    let code = |column: usize, row: u32| match table.columns[column].texts.len() as u32 {
        1 => MISSING,
        n => 1 + row % (n - 1),
    };
    let width = table.columns.len();
    let mut codes: Vec<u32> = (0..rows).flat_map(|row| (0..width).map(move |i| code(i, row))).collect();
    codes.extend((0..width).map(|i| if table.missing[i] > 0 { MISSING } else { code(i, 0) }));
    let weights = vec![1; rows as usize + 1];
    Folded { codes, weights, read: u64::from(rows) + 1, persons: None, ..table.clone() }
}

/// Folds, plans and stages a part.
fn plan(
    engine: &mut dyn Engine,
    keys: &dyn Keys,
    job: &CheckedJob,
    part: usize,
    marker: &Option<String>,
) -> Result<(Made, Staged)> {
    let folded = engine.fold_part(part)?;
    let material = Material { keys, ..Material::of_folded(Folded { marker: marker.clone(), ..folded }) };
    let mut made = make(material, job, &incrowd_core::Silent)?;
    let staged = made.stage(engine, &incrowd_core::Silent)?.pop();
    let staged = staged.ok_or_else(|| Error::bug("a part without a table"))?;
    Ok((made, staged))
}

/// Plans one part by itself, on a machine that has nothing else of the table.
pub fn plan_part(
    engine: &mut RemoteEngine,
    job: &Job,
    whole: &Whole,
    progress: &dyn Progress,
) -> Result<PlannedPart> {
    let mut job = job.clone();
    resolve_columns(&mut job.columns, &job.input.missing, engine.source(), progress)?;
    let job = CheckedJob::for_table(&job, engine.columns(), engine.source().is_named())?;
    let (made, _) = plan(engine, &NoKeys, &job, 0, &whole.marker)?;
    let (plan, receipt) = engine.plan_of_part()?;
    Ok(PlannedPart { plan, receipt, known: Known::from(made).text()? })
}

/// What is known of a part beside its plan.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    starred: u64,
    distinct_rows: u64,
    levels: Option<Ordered<u32>>,
    mean_labels: Vec<(String, HashMap<String, String>)>,
}

impl From<Made> for Known {
    fn from(made: Made) -> Known {
        let Made { starred, distinct_rows, levels, mean_labels, .. } = made;
        Known { starred, distinct_rows, levels, mean_labels }
    }
}

impl Known {
    fn parse(text: &str) -> Result<Known> {
        serde_json::from_str(text).map_err(|_| Error::bug("what is known of a part cannot be read"))
    }

    fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|_| Error::bug("what is known of a part cannot be written"))
    }
}

/// Plans a table in parts and writes it, if the engine says that there is too much of it.
pub(crate) fn stage(
    engine: &mut dyn Engine,
    keys: &dyn Keys,
    job: &CheckedJob,
    progress: &dyn Progress,
) -> Result<Option<(Made, Staged)>> {
    let Some(table) = engine.survey(&job.fold_spec(), progress)? else { return Ok(None) };
    let elsewhere = engine.plans_elsewhere()?;
    refuse(job, &table, elsewhere)?;
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
    if elsewhere && parts > 1 {
        engine.plan_elsewhere(table.folded.marker.as_deref())?;
    }
    let mut whole: Option<(Made, Staged)> = None;
    for part in 0..parts {
        match &mut whole {
            Some((first, _)) if elsewhere => add(first, Known::parse(&engine.take_planned(part)?)?),
            Some((first, _)) => add(first, plan(engine, keys, job, part, &table.folded.marker)?.0.into()),
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
    made.read = table.folded.read;
    made.dropped_missing = table.folded.read - records;
    let missing = table.folded.columns.iter().map(|column| column.name.clone()).zip(table.folded.missing);
    made.missing = missing.filter(|(_, records)| *records > 0).collect();
    made.repeating = table.folded.repeating;
    // What an algorithm knows is about one part.
    made.algorithm_report = None;
    Ok(Some((made, staged)))
}

/// How many rows a table with every value has, the last one apart.
fn data_rows(table: &Folded) -> usize {
    table.columns.iter().map(|column| column.texts.len() - 1).max().unwrap_or(0)
}

/// Adds what is known of another part. The lines are the same.
fn add(whole: &mut Made, part: Known) {
    whole.starred += part.starred;
    whole.distinct_rows += part.distinct_rows;
    if whole.levels != part.levels {
        whole.levels = None;
    }
    for (name, labels) in part.mean_labels {
        match whole.mean_labels.iter_mut().find(|(own, _)| *own == name) {
            None => whole.mean_labels.push((name, labels)),
            Some((_, own)) => {
                own.iter_mut().for_each(|(mean, known)| {
                    if labels.get(mean).is_some_and(|label| label != known) {
                        "*".clone_into(known);
                    }
                });
                let fresh: Vec<_> = labels.into_iter().filter(|(mean, _)| !own.contains_key(mean)).collect();
                own.extend(fresh);
            }
        }
    }
}
