//! Runs one configuration in memory: recodes, verifies the cells, and measures risk and loss.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use incrowd_audit::attack::{Adversary, Card, Published};
use incrowd_core::metric::METRICS;
use incrowd_core::{Error, Folded, MissingCells, Result, Silent};

use super::results::Scores;
use crate::job::Job;
use crate::job::reading::Reading;
use crate::making::checked::CheckedJob;
use crate::making::make::{Material, make};
use crate::making::publication::{Asked, Tables};

/// The input that all configurations share.
pub(super) struct SharedInput {
    pub(super) folded: Folded,
    pub(super) columns: Vec<String>,
    pub(super) population: Option<Folded>,
    /// Upper limit for the bytes of the distinct sets of values to publish.
    pub(super) most_labels: u64,
}

/// The result of a configuration: its scores or the reason why there is no release, and the seconds
/// it took.
pub(super) type Done = (std::result::Result<Scores, String>, f64);

pub(super) fn trial(table: &SharedInput, job: &Job) -> Done {
    let began = Instant::now();
    let scores = contained(|| scores(table, job).map_err(|error| error.message().to_owned()));
    (scores, began.elapsed().as_secs_f64())
}

/// Runs a configuration and turns a panic into its failure. A panic must not leave the thread:
/// rayon aborts the process when a spawned job panics, and with it a server that has other work.
fn contained<T>(
    run: impl FnOnce() -> std::result::Result<T, String>,
) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err("incrowd failed: this is a bug".to_owned()))
}

fn scores(table: &SharedInput, job: &Job) -> Result<Scores> {
    let job = CheckedJob::new(job, &table.columns)?;
    let mut material = Material::of_folded(table.folded.clone());
    material.population = table.population.clone();
    material.most_labels = table.most_labels;
    let made = make(material, &job, &Silent)?;
    let release = made.cells()?;
    let absent = made.records() - release.records();
    if release.records() == 0 {
        return Err(Error::unsatisfiable("every record would be suppressed"));
    }
    let tally = made.tally(&release)?;
    let reading = Reading::of_schema(&made.schema, &job.job.input);
    let attribute = guessed(&release, &reading)?;
    let references = made.generalized.references();
    let missing_cells = job.job.algorithm.missing_cells;
    let asked = Asked {
        reading: &reading,
        privacy_models: &job.privacy_models,
        stated: false,
        missing_cells,
        references,
    };
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
        published: tally.published - made.generalized.starred,
        suppressed: absent + made.generalized.starred,
        identity: 1.0 / smallest.max(1) as f64,
        attribute,
        metrics: METRICS
            .iter()
            .map(|card| (card.name.to_owned(), (card.measure)(&tally)))
            .collect(),
    })
}

/// Returns the average probability that an adversary who finds a person's group guesses the
/// sensitive value; the maximum over the columns.
fn guessed(release: &Folded, reading: &Reading) -> Result<Option<f64>> {
    if reading.sensitive.is_empty() {
        return Ok(None);
    }
    let card = Card::find("homogeneity")?;
    let quasi = reading.quasi_specs();
    let published =
        Published::new(release, &quasi).with_specs(&reading.sensitive, &reading.missing);
    let adversary = Adversary::new(published, &reading.missing);
    let findings = (card.run)(&adversary, card.threshold(None)?, &Silent)?.findings;
    Ok(findings.iter().map(|finding| finding.average).reduce(f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_of_its_configuration_only() {
        let (send, receive) = std::sync::mpsc::channel();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.spawn(move || {
            send.send(contained(|| -> std::result::Result<(), _> { panic!("of a test") })).unwrap()
        });
        assert!(receive.recv().unwrap().is_err_and(|why| why.contains("bug")));
    }
}
