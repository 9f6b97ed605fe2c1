//! Finds the persons of the records of a published release, for the owner of the original table.
//!
//! A release does not contain persons. But most algorithms are deterministic, so the owner can make
//! the release again. If every group has the same cells and the same number of records for each
//! combination of sensitive values, the persons of the new groups are those of the published ones.
//! If the result differs (another version, other hierarchies, random choices), the persons are
//! unknown.
//!
//! An original in which every person has one record needs no assignment of persons to records. But
//! any unrelated table with distinct identifiers is such a table, so it is compared with the
//! manifest, and with the release if the manifest does not count persons.

use std::collections::BTreeMap;

use incrowd_core::{Error, Folded, FoldedColumn, FoldedPersons, MISSING, Plan, Progress, Result};

use crate::job::reading::open_input;
use crate::job::{Input, Job, OnMissing};
use crate::judging::case::Case;
use crate::making::checked::CheckedJob;
use crate::making::make::{MadeTable, Material, make};
use crate::manifest::{Manifest, given};

/// Whether the persons of a release's records are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleasePersons {
    /// Persons were not requested, and the manifest does not count them.
    NotRequested,
    /// They are known, or no person has several records.
    Known,
    /// They are unknown, for this reason.
    Unknown(String),
}

/// Finds the persons of a release's records and stores them in `release`, whose columns are the
/// quasi-identifiers and optionally the sensitive columns.
pub(crate) fn find(
    case: &Case,
    release: &mut Folded,
    progress: &dyn Progress,
) -> Result<ReleasePersons> {
    // If the manifest has as many persons as records, a record is a person.
    let by_persons = case.manifest.as_ref().filter(|manifest| manifest.by_persons());
    let several =
        by_persons.is_some_and(|m| m.persons.is_none_or(|own| own.published != release.records()));
    let original = case.judging.original.as_ref();
    let Some(original) = original.filter(|original| original.person.is_some()) else {
        return Ok(match several {
            true => ReleasePersons::Unknown(
                "its models count persons, which the release alone does not show; \
                 give `[judging] original` and `[input] person`"
                    .to_owned(),
            ),
            false => ReleasePersons::NotRequested,
        });
    };
    let Some(manifest) = &case.manifest else {
        return Ok(ReleasePersons::Unknown(
            "without a manifest it is not known how the release was made".to_owned(),
        ));
    };
    match persons(case, manifest, original, release, progress)? {
        Search::OneRecordEach => Ok(ReleasePersons::Known),
        Search::Persons(persons) => {
            release.persons = Some(persons);
            Ok(ReleasePersons::Known)
        }
        Search::Failed(why) => Ok(ReleasePersons::Unknown(why.to_owned())),
    }
}

/// The result of comparing the original with the release.
enum Search {
    /// No person of the release has several records.
    OneRecordEach,
    Persons(FoldedPersons),
    Failed(&'static str),
}

fn persons(
    case: &Case,
    manifest: &Manifest,
    original: &Input,
    release: &Folded,
    progress: &dyn Progress,
) -> Result<Search> {
    case.need_hierarchies()?;
    let job = job(case, manifest, original)?;
    let source = open_input(original)?;
    let checked = CheckedJob::new(&job, source.columns()).or_else(|_| {
        // A model of the manifest may need a population table that is not given.
        let models = case.judging.models.clone();
        CheckedJob::new(&Job { models, ..job.clone() }, source.columns())
    })?;
    let mut folded = source.fold(&checked.fold_spec(), progress)?;
    let repeated = folded.persons.as_ref().is_some_and(|persons| persons.repeated);
    if !repeated && let Some(found) = by_counts(case, manifest, &folded, release) {
        return Ok(found);
    }
    if manifest.job.written.as_ref().is_some_and(|written| !written.means.is_empty()) {
        return Ok(Search::Failed(
            "it holds group means, which are no ranges, so records cannot be matched with groups",
        ));
    }
    let stated = |(name, value): &(&str, &str)| {
        checked.method.params.iter().any(|(own, is)| own == *name && is.to_string() == *value)
    };
    if !checked.method.card.repeatable.iter().all(stated) {
        return Ok(Search::Failed("its algorithm made random choices, so it cannot be made again"));
    }
    let own: Vec<Vec<u32>> =
        folded.persons_by_row().into_iter().flatten().map(<[u32]>::to_vec).collect();
    if !manifest.by_persons() {
        // The release was made by counting records.
        folded.persons = None;
    }
    let population = checked.read_population(progress)?;
    let material = Material { population, ..Material::of_folded(folded) };
    let Ok(made) = make(material, &checked, progress) else {
        return Ok(Search::Failed("it cannot be made again from that table"));
    };
    let table = made.tables.first().ok_or_else(|| Error::bug("a release without a table"))?;
    let published =
        |row| cells(release, row, case.reading.quasi.len(), case.reading.missing_label());
    if !repeated {
        let mut counts: BTreeMap<RowTexts, u64> = BTreeMap::new();
        for row in 0..release.rows() {
            *counts.entry(published(row)).or_default() += release.weights[row];
        }
        return Ok(match counts_by_cells(table, &release.columns) == Some(counts) {
            true => Search::OneRecordEach,
            false => Search::Failed(ANOTHER),
        });
    }
    let Some(mut by_cells) = by_cells(table, &own, &release.columns) else {
        return Ok(Search::Failed(ANOTHER));
    };
    let mut codes = Vec::with_capacity(release.records() as usize);
    for row in 0..release.rows() {
        let cells = published(row);
        let own = by_cells.remove(&cells).filter(|own| own.len() as u64 == release.weights[row]);
        let Some(own) = own else { return Ok(Search::Failed(ANOTHER)) };
        codes.extend(own);
    }
    if !by_cells.is_empty() {
        return Ok(Search::Failed(ANOTHER));
    }
    Ok(Search::Persons(FoldedPersons::of_codes(codes, &release.weights)))
}

const ANOTHER: &str = "made again from that table and its manifest, the release differs; \
                       with its job file (`[judging] job`) it may be equal";

const OTHER_COUNTS: &str =
    "by its manifest, the release was made from a table with other numbers of records or persons";

/// Decides by the counts of the manifest whether a record of the release is a person. `original`
/// has no person with several records. `None` if the release must be made again for that.
fn by_counts(
    case: &Case,
    manifest: &Manifest,
    original: &Folded,
    release: &Folded,
) -> Option<Search> {
    if !case.publication.has_whole_records() || manifest.suppression.is_some() {
        // Such a release assumes one record per person, and cannot be made again without its
        // secret key or further tables. Other rules compare it with the original.
        return Some(Search::OneRecordEach);
    }
    let records = manifest.records;
    let differs = |stated: Option<u64>, own: u64| stated.is_some_and(|stated| stated != own);
    if differs(records.read, original.read)
        || differs(records.dropped_missing, original.dropped_missing)
    {
        return Some(Search::Failed(OTHER_COUNTS));
    }
    let persons = manifest.persons.filter(|_| manifest.by_persons())?;
    Some(match persons.published == release.records() {
        true => Search::OneRecordEach,
        false => Search::Failed(OTHER_COUNTS),
    })
}

/// Returns the job that made the release, as far as its groups depend on it.
fn job(case: &Case, manifest: &Manifest, original: &Input) -> Result<Job> {
    let mut job =
        Job { input: original.clone(), columns: case.judging.columns.clone(), ..Job::default() };
    // The models to verify may be others.
    let models = manifest.models.iter().map(|model| model.model()).collect::<Result<Vec<_>>>();
    let models = models.ok().filter(|models| !models.is_empty());
    job.models = models.unwrap_or_else(|| case.judging.models.clone());
    job.population.clone_from(&case.judging.population);
    job.input.missing = case.reading.missing.clone();
    job.input.on_missing =
        if manifest.job.on_missing == "keep" { OnMissing::Keep } else { OnMissing::Drop };
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

/// The published texts of a row; `None` is a missing sensitive value.
type RowTexts = Vec<Option<String>>;

fn cells(release: &Folded, row: usize, quasi: usize, missing: &str) -> RowTexts {
    let cells = release.row(row).iter().zip(&release.columns).enumerate();
    let text = |(at, (&code, column)): (usize, (&u32, &FoldedColumn))| {
        let text = &column.texts[code as usize];
        (code != MISSING && (at < quasi || text != missing)).then(|| text.clone())
    };
    cells.map(text).collect()
}

/// The texts of a table that was made again, in some of its columns.
struct MadeCells<'a> {
    table: &'a MadeTable,
    plan: Plan<'a>,
    /// The positions of the columns.
    places: Vec<usize>,
}

impl<'a> MadeCells<'a> {
    /// `None` if the table lacks one of the columns.
    fn new(table: &'a MadeTable, columns: &[FoldedColumn]) -> Option<MadeCells<'a>> {
        let data = &table.data;
        let own =
            || data.quasi().iter().map(|q| &q.name).chain(data.sensitive().iter().map(|s| &s.name));
        let places = columns.iter().map(|column| own().position(|name| *name == column.name));
        let places = places.collect::<Option<Vec<usize>>>()?;
        Some(MadeCells { table, plan: Plan::new(data, &table.partition), places })
    }

    /// Returns the texts of a row; `None` if its records are suppressed.
    fn of(&self, row: usize) -> Option<RowTexts> {
        let data = &self.table.data;
        let group = self.table.partition.group(row)?;
        let quasi = (0..data.quasi().len()).map(|q| Some(self.plan.text(group, q).to_owned()));
        let sensitive =
            data.sensitive().iter().zip(data.sensitive_codes(row)).map(|(column, &code)| {
                (column.missing != Some(code)).then(|| column.values[code as usize].clone())
            });
        let all: RowTexts = quasi.chain(sensitive).collect();
        Some(self.places.iter().map(|&at| all[at].clone()).collect())
    }
}

/// Returns the numbers of records by their published texts in these columns. `None` if the table
/// lacks one of the columns.
fn counts_by_cells(table: &MadeTable, columns: &[FoldedColumn]) -> Option<BTreeMap<RowTexts, u64>> {
    let made = MadeCells::new(table, columns)?;
    let mut counts: BTreeMap<RowTexts, u64> = BTreeMap::new();
    for row in (0..table.data.rows()).filter(|&row| table.data.weight(row) > 0) {
        if let Some(cells) = made.of(row) {
            *counts.entry(cells).or_default() += table.data.weight(row);
        }
    }
    Some(counts)
}

/// Returns the persons by the published texts of their records in these columns. `persons` are
/// those of each folded row. `None` if the release lacks one of the columns or splits the records
/// of a row into several groups.
fn by_cells(
    table: &MadeTable,
    persons: &[Vec<u32>],
    columns: &[FoldedColumn],
) -> Option<BTreeMap<RowTexts, Vec<u32>>> {
    let made = MadeCells::new(table, columns)?;
    if !table.partition.divided().is_empty() {
        return None;
    }
    let mut by_cells: BTreeMap<RowTexts, Vec<u32>> = BTreeMap::new();
    for (of_fold, persons) in persons.iter().enumerate() {
        let row = table.data.row_of_fold(of_fold as u32)?.index();
        if let Some(cells) = made.of(row) {
            by_cells.entry(cells).or_default().extend(persons);
        }
    }
    Some(by_cells)
}
