//! Tables with more distinct rows than planning should hold, where the engine can cut them into parts.
//!
//! Every part is planned by itself, on the lines of the whole table, and all plans are written as one release, which is then judged as
//! any other. So only promises about single groups can be planned for, which two groups keep that look alike and are one to a
//! reader. Promises that compare a group with the whole table, and algorithms that treat all records alike, are refused.

use incrowd_core::model::Need;
use incrowd_core::{Error, Folded, HierarchySpec, MISSING, MissingCells, Progress, Result};
use incrowd_engine::{Engine, Order, Surveyed};

use crate::checked::CheckedJob;
use crate::job::Cells;
use crate::make::{Made, Material, Staged, make};
use crate::suppression::Keys;

/// Algorithms that decide about a region of the table without looking at the rest of it.
const LOCAL: [&str; 4] = ["auto", "mondrian", "top-down", "mdav"];

/// Refuses what cannot be planned in parts.
fn refuse(job: &CheckedJob, table: &Surveyed) -> Result<()> {
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
    let name = job.method.card.name;
    if !LOCAL.contains(&name) {
        let what = format!("`{name}` cannot work in parts; `{}` can", LOCAL.join("`, `"));
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

/// Plans a table in parts and writes it, if the engine says that there is too much of it.
pub(crate) fn stage(
    engine: &mut dyn Engine,
    keys: &dyn Keys,
    job: &CheckedJob,
    progress: &dyn Progress,
) -> Result<Option<(Made, Staged)>> {
    let Some(table) = engine.survey(&job.fold_spec(), progress)? else { return Ok(None) };
    refuse(job, &table)?;
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
    let mut whole: Option<(Made, Staged)> = None;
    for part in 0..parts {
        let folded = engine.fold_part(part)?;
        let material = Material {
            keys,
            ..Material::of_folded(Folded { marker: table.folded.marker.clone(), ..folded })
        };
        let mut made = make(material, job, &incrowd_core::Silent)?;
        let staged = made.stage(engine, &incrowd_core::Silent)?.pop();
        let staged = staged.ok_or_else(|| Error::bug("a part without a table"))?;
        progress.advance(1);
        match &mut whole {
            None => whole = Some((made, staged)),
            Some((first, _)) => add(first, made),
        }
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
fn add(whole: &mut Made, part: Made) {
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
