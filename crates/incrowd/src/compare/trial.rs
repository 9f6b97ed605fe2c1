//! One configuration, in memory: recode, judge the cells, and say what they risk and cost.

use std::time::Instant;

use incrowd_audit::attack::{Adversary, Card, Published};
use incrowd_core::metric::METRICS;
use incrowd_core::{Error, Folded, MissingCells, Result, Silent};

use super::results::Scores;
use crate::checked::CheckedJob;
use crate::job::Job;
use crate::make::{Material, make};
use crate::publication::{Asked, References, Tables};
use crate::reading::Reading;

/// The table all configurations start from.
pub(super) struct Table {
    pub(super) folded: Folded,
    pub(super) columns: Vec<String>,
    pub(super) population: Option<Folded>,
}

/// What came of a configuration: its scores or why there is no release, and how many seconds it took.
pub(super) type Done = (std::result::Result<Scores, String>, f64);

pub(super) fn trial(table: &Table, job: &Job) -> Done {
    let began = Instant::now();
    let scores = scores(table, job).map_err(|error| error.message().to_owned());
    (scores, began.elapsed().as_secs_f64())
}

fn scores(table: &Table, job: &Job) -> Result<Scores> {
    let job = CheckedJob::new(job, &table.columns)?;
    let mut material = Material::of_folded(table.folded.clone());
    material.population = table.population.clone();
    let made = make(material, &job, &Silent)?;
    let release = made.cells()?;
    let absent = made.records() - release.records();
    if release.records() == 0 {
        return Err(Error::unsatisfiable("every record would be suppressed"));
    }
    let tally = made.tally(&release)?;
    let reading = Reading::of_schema(&made.schema, &job.job.input);
    let attribute = guessed(&release, &reading)?;
    let references = References { population: made.population.as_ref(), original: made.original.as_ref() };
    let missing_cells = job.job.algorithm.missing_cells;
    let asked =
        Asked { reading: &reading, promises: &job.promises, stated: false, missing_cells, references };
    let tables = Tables { people: release, quasi: reading.quasi.len(), ..Tables::default() };
    let judged = job.publication.judge(tables, &asked, &Silent)?;
    if let Some(broken) = judged.broken() {
        return Err(Error::bug(format!("the cells do not keep {broken}")));
    }
    let smallest = match missing_cells {
        MissingCells::Alone => tally.group_sizes.iter().copied().min().unwrap_or(0),
        MissingCells::Any => judged.verification.smallest_group,
    };
    Ok(Scores {
        groups: judged.verification.groups,
        smallest,
        published: tally.published - made.starred,
        suppressed: absent + made.starred,
        identity: 1.0 / smallest.max(1) as f64,
        attribute,
        metrics: METRICS.iter().map(|card| (card.name.to_owned(), (card.measure)(&tally))).collect(),
    })
}

/// The average chance that somebody who finds a person's group guesses the sensitive value; the greatest of all columns.
fn guessed(release: &Folded, reading: &Reading) -> Result<Option<f64>> {
    if reading.sensitive.is_empty() {
        return Ok(None);
    }
    let card = Card::find("homogeneity")?;
    let quasi = reading.quasi_specs();
    let scene = Adversary::new(Published::new(release, &quasi), &reading.missing);
    let findings = (card.run)(&scene, card.threshold(None)?, &Silent)?.findings;
    Ok(findings.iter().map(|finding| finding.average).reduce(f64::max))
}
