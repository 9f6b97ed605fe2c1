//! Whose records are in a published release? For the owner of the table it was made from, who may ask later.
//!
//! A release does not tell. But algorithms decide by the table alone, so the owner can make the release again: if every group has
//! the same cells and as many records of each combination of sensitive values, the persons behind it are those of the groups that
//! were made. Where that does not come out, because another version or other hierarchies made it, or because chance had a part in
//! it, nothing is said about persons.

use std::collections::BTreeMap;

use incrowd_core::{Error, Folded, FoldedColumn, FoldedPersons, MISSING, Progress, Result};

use crate::case::Case;
use crate::checked::CheckedJob;
use crate::job::{Input, Job, OnMissing};
use crate::make::{MadeTable, Material, make};
use crate::manifest::{Manifest, given};
use crate::reading::open_input;

/// What is known of the persons behind a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Nobody asked, and the manifest does not count persons.
    NotAsked,
    /// They are known, or nobody has several records.
    Known,
    /// They are not, for this reason.
    Unknown(String),
}

/// Finds out whose records a release has, and puts it beside the cells that were read back: quasi-identifiers, then perhaps the
/// sensitive columns.
pub(crate) fn find(case: &Case, release: &mut Folded, progress: &dyn Progress) -> Result<Behind> {
    // Where the manifest tells of as many persons as there are records, a record is a person.
    let told = case.manifest.as_ref().filter(|manifest| manifest.by_persons());
    let promised = told.is_some_and(|m| m.persons.is_none_or(|own| own.published != release.records()));
    let original = case.judging.original.as_ref();
    let Some(original) = original.filter(|original| original.person.is_some()) else {
        return Ok(match promised {
            true => Behind::Unknown(
                "its promises count persons, which the release alone does not show; give `[judging] original` and `[input] person`"
                    .to_owned(),
            ),
            false => Behind::NotAsked,
        });
    };
    let Some(manifest) = &case.manifest else {
        return Ok(Behind::Unknown("without a manifest it is not known how the release was made".to_owned()));
    };
    match persons(case, manifest, original, release, progress)? {
        Found::Single => Ok(Behind::Known),
        Found::Persons(persons) => {
            release.persons = Some(persons);
            Ok(Behind::Known)
        }
        Found::Nothing(why) => Ok(Behind::Unknown(why.to_owned())),
    }
}

enum Found {
    /// Nobody has several records.
    Single,
    Persons(FoldedPersons),
    Nothing(&'static str),
}

fn persons(
    case: &Case,
    manifest: &Manifest,
    original: &Input,
    release: &Folded,
    progress: &dyn Progress,
) -> Result<Found> {
    case.need_hierarchies()?;
    let job = job(case, manifest, original)?;
    let source = open_input(original)?;
    let checked = CheckedJob::new(&job, source.columns())?;
    let mut folded = source.fold(&checked.fold_spec(), progress)?;
    if !folded.persons.as_ref().is_some_and(|persons| persons.repeated) {
        return Ok(Found::Single);
    }
    let stated = |(name, value): &(&str, &str)| {
        checked.method.params.iter().any(|(own, is)| own == *name && is.to_string() == *value)
    };
    if !checked.method.card.repeatable.iter().all(stated) {
        return Ok(Found::Nothing("chance had a part in how it was made, so it cannot be made again"));
    }
    let own: Vec<Vec<u32>> = folded.persons_by_row().into_iter().flatten().map(<[u32]>::to_vec).collect();
    if !manifest.by_persons() {
        // It was made by counting records.
        folded.persons = None;
    }
    let population = checked.read_population(progress)?;
    let material = Material { population, ..Material::of_folded(folded) };
    let Ok(made) = make(material, &checked, progress) else {
        return Ok(Found::Nothing("it cannot be made again from that table"));
    };
    let table = made.tables.first().ok_or_else(|| Error::bug("a release without a table"))?;
    let Some(mut by_look) = by_look(table, &own, &release.columns) else {
        return Ok(Found::Nothing(ANOTHER));
    };
    let mut codes = Vec::with_capacity(release.records() as usize);
    for row in 0..release.rows() {
        let look = look(release, row, case.reading.quasi.len(), case.reading.missing_label());
        let own = by_look.remove(&look).filter(|own| own.len() as u64 == release.weights[row]);
        let Some(own) = own else { return Ok(Found::Nothing(ANOTHER)) };
        codes.extend(own);
    }
    if !by_look.is_empty() {
        return Ok(Found::Nothing(ANOTHER));
    }
    Ok(Found::Persons(FoldedPersons::of_codes(codes, &release.weights)))
}

const ANOTHER: &str = "made again from that table as its manifest says, it is another release";

/// The job that made the release, as far as its groups depend on it.
fn job(case: &Case, manifest: &Manifest, original: &Input) -> Result<Job> {
    let mut job = Job { input: original.clone(), columns: case.judging.columns.clone(), ..Job::default() };
    job.models.clone_from(&case.judging.models);
    job.population.clone_from(&case.judging.population);
    job.input.missing = case.reading.missing.clone();
    job.input.on_missing = if manifest.job.on_missing == "keep" { OnMissing::Keep } else { OnMissing::Drop };
    let (name, params) = (&manifest.algorithm.name, &manifest.algorithm.params);
    let card = incrowd_recode::ALGORITHMS.iter().find(|card| card.name == name);
    let card = card.ok_or_else(|| {
        Error::input(format!("the manifest names an algorithm `{name}` this version does not know"))
    })?;
    (job.algorithm.name, job.algorithm.params) = (name.clone(), given(params, card.params));
    job.algorithm.suppression_limit = manifest.job.suppression_limit;
    let ways = crate::job::Suppressed::ALL;
    if let Some((_, way)) = ways.into_iter().find(|(name, _)| *name == manifest.job.suppressed) {
        job.algorithm.suppressed = way;
    }
    Ok(job)
}

/// The published texts of a row; a missing sensitive value is none.
type Look = Vec<Option<String>>;

fn look(release: &Folded, row: usize, quasi: usize, missing: &str) -> Look {
    let cells = release.row(row).iter().zip(&release.columns).enumerate();
    let text = |(at, (&code, column)): (usize, (&u32, &FoldedColumn))| {
        let text = &column.texts[code as usize];
        (code != MISSING && (at < quasi || text != missing)).then(|| text.clone())
    };
    cells.map(text).collect()
}

/// Whose records look how in a release that was made, over these columns: `persons` are those of each row of the fold. `None` if the
/// release has not all columns, or parts the records of a row.
fn by_look(
    table: &MadeTable,
    persons: &[Vec<u32>],
    columns: &[FoldedColumn],
) -> Option<BTreeMap<Look, Vec<u32>>> {
    let (data, partition) = (&table.data, &table.partition);
    let plan = incrowd_core::Plan::new(data, partition);
    let own = || data.quasi().iter().map(|q| &q.name).chain(data.sensitive().iter().map(|s| &s.name));
    let places = columns.iter().map(|column| own().position(|name| *name == column.name));
    let places = places.collect::<Option<Vec<usize>>>()?;
    if !partition.divided().is_empty() {
        return None;
    }
    let mut looks: BTreeMap<Look, Vec<u32>> = BTreeMap::new();
    for (of_fold, persons) in persons.iter().enumerate() {
        let row = data.row_of_fold(of_fold as u32)?.index();
        let Some(group) = partition.group(row) else { continue };
        let quasi = (0..data.quasi().len()).map(|q| Some(plan.text(group, q).to_owned()));
        let sensitive = data.sensitive().iter().zip(data.sensitive_codes(row)).map(|(column, &code)| {
            (column.missing != Some(code)).then(|| column.values[code as usize].clone())
        });
        let all: Look = quasi.chain(sensitive).collect();
        let look: Look = places.iter().map(|&at| all[at].clone()).collect();
        looks.entry(look).or_default().extend(persons);
    }
    Some(looks)
}
