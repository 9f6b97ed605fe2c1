//! One configuration, in memory: recode, judge the cells, and say what they risk and cost.

use std::time::Instant;

use incrowd_audit::attack::{Card, Published, Scene};
use incrowd_audit::tally;
use incrowd_core::metric::METRICS;
use incrowd_core::{
    ColumnSpec, Dataset, Error, Folded, FoldedColumn, Partition, Plan, Result, SensitiveSpec, Silent,
};
use incrowd_recode::Recoding;

use super::results::Scores;
use crate::job::Job;
use crate::pipeline::{limit, recoding, starred};
use crate::release::{Asked, Beside, judge};
use crate::setup::{self, Setup};

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
    let mut setup = Setup::new(job, &table.columns)?;
    let data = setup.encode_located(table.folded.clone(), &|_, _| None)?;
    setup.settle(&data);
    let data = setup.with_population(data, table.population.as_ref())?;
    let models = setup.promises.iter().map(|p| p.bind_for_release(&data)).collect::<Result<Vec<_>>>()?;
    let Recoding { partition, domains, .. } = recoding(job, &setup, &data, &models, &Silent)?;
    let data = match domains {
        Some(domains) => data.with_domains(domains),
        None => data,
    };
    setup.settle(&data);
    let data = data.divided(partition.divided());
    let starred = starred(&data, &partition);
    let release = released(&data, &partition);
    let absent = data.records() - release.records();
    limit(job, absent + starred, data.records())?;
    if release.records() == 0 {
        return Err(Error::unsatisfiable("every record would be suppressed"));
    }
    let tally = tally(&release, data.quasi(), absent)?;
    let quasi: Vec<ColumnSpec> = setup.schema.quasi().map(|(_, spec)| spec.clone()).collect();
    let sensitive: Vec<SensitiveSpec> = setup.schema.sensitive().map(|(_, spec)| spec.clone()).collect();
    let attribute = guessed(&release, &quasi, job)?;
    let original = setup::about_outliers(&setup.promises).then_some(&data);
    let beside = Beside { population: table.population.as_ref(), original };
    let asked = Asked { promises: &setup.promises, stated: false };
    let verification = judge(release, &quasi, &sensitive, &asked, beside, setup.missing_label(), &Silent)?;
    if let Some(broken) = verification.judgements.iter().find(|judgement| !judgement.holds) {
        return Err(Error::bug(format!("the cells do not keep {}", broken.title)));
    }
    let smallest = tally.group_sizes.iter().copied().min().unwrap_or(0);
    Ok(Scores {
        groups: verification.groups,
        smallest,
        published: tally.published - starred,
        suppressed: absent + starred,
        identity: 1.0 / smallest.max(1) as f64,
        attribute,
        metrics: METRICS.iter().map(|card| (card.name.to_owned(), (card.measure)(&tally))).collect(),
    })
}

/// The cells as they would be published: texts, row by row.
fn released(data: &Dataset, partition: &Partition) -> Folded {
    let plan = Plan::new(data, partition);
    let texts = |list: &[String]| std::iter::once(String::new()).chain(list.iter().cloned()).collect();
    let quasi = data.quasi().iter().enumerate();
    let mut columns: Vec<FoldedColumn> =
        quasi.map(|(q, own)| FoldedColumn { name: own.name.clone(), texts: texts(plan.labels(q)) }).collect();
    let sensitive = data.sensitive().iter();
    columns.extend(sensitive.map(|own| FoldedColumn { name: own.name.clone(), texts: texts(&own.values) }));
    let mut release = Folded { missing: vec![0; columns.len()], columns, ..Folded::default() };
    for row in 0..data.rows() {
        let Some(group) = partition.group(row) else { continue };
        release.codes.extend(plan.cells(group).iter().chain(data.sensitive_codes(row)).map(|code| code + 1));
        release.weights.push(data.weight(row));
    }
    release.read = release.records();
    release
}

/// The average chance that somebody who finds a person's group guesses the sensitive value; the greatest of all columns.
fn guessed(release: &Folded, quasi: &[ColumnSpec], job: &Job) -> Result<Option<f64>> {
    if release.columns.len() == quasi.len() {
        return Ok(None);
    }
    let card = Card::find("homogeneity")?;
    let scene = Scene::new(Published::new(release, quasi), &job.input.missing);
    let findings = (card.run)(&scene, card.threshold(None)?, &Silent)?.findings;
    Ok(findings.iter().map(|finding| finding.average).reduce(f64::max))
}
