//! Attacking two tables that are linked by groups only. Attacks on identities see the first table, whose quasi-identifiers are
//! exact; attacks on sensitive values see the groups, which are all that links a person with a value.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd_audit::attack::{Adversary, Card, Epsilon, External, Published, Subject};
use incrowd_core::{ColumnSpec, Kind, Result};
use serde_json::Value as Json;

use super::tables::{Reading, spec_of};
use super::{AttackReport, AttackRequest, judged, limits_were_asked, skewed};
use crate::anatomy;

/// Runs the chosen attacks on the table that each is about.
pub(super) fn attack(
    request: &AttackRequest,
    reading: &Reading<'_>,
    path: &Path,
    manifest: &Json,
    (quasi, sensitive): (&[&str], &[&str]),
    epsilon: BTreeMap<String, Epsilon>,
    chosen: &[(&'static Card, f64)],
) -> Result<AttackReport> {
    let (job, progress) = (reading.job, reading.progress);
    let linked = anatomy::published(path, manifest, job, progress)?;
    let release = reading.release(path, quasi, &[], true)?;
    let specs: Vec<ColumnSpec> = quasi.iter().map(|name| spec_of(job, name)).collect();
    let group = [ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() }];

    let population = job.population.as_ref().map(|p| reading.table(&p.paths, "population", quasi, &[]));
    let population = population.transpose().map_err(|e| e.at("population.path"))?;
    let external = request.external.as_ref();
    let external =
        external.map(|path| reading.table(std::slice::from_ref(path), "external table", quasi, &[]));
    let external = external.transpose()?;
    let second = request.second.as_ref().map(|path| reading.second(path, quasi, sensitive)).transpose()?;

    let mut on_people = Adversary::new(Published::new(&release, &specs), &job.input.missing);
    on_people.set_population(population.as_ref().map(|other| &other.table));
    on_people.external =
        external.as_ref().map(|other| External { table: &other.table, further: other.further });
    on_people.second = second.as_ref().map(|second| Published::new(&second.table, &second.specs));
    let mut on_values = Adversary::new(Published::new(&linked, &group), &job.input.missing);
    on_values.epsilon = epsilon;
    on_values.kinds = sensitive.iter().map(|name| spec_of(job, name).kind).collect();
    on_values.categories = sensitive.iter().map(|name| job.column(name)?.categories.clone()).collect();
    on_values.skewed = skewed::skewed(request, job, Some(manifest), sensitive, progress)?;
    let (mut attacked, mut skipped) = (Vec::new(), Vec::new());
    for &(card, threshold) in chosen {
        progress.step(card.name, None);
        let about_values = card.subject == Subject::Values;
        let scene = if about_values { &on_values } else { &on_people };
        let mut answer = (card.run)(scene, threshold, progress)?;
        if about_values {
            // The groups of the report are those of the people.
            answer.findings.iter_mut().for_each(|finding| finding.by_group.clear());
        }
        attacked.extend(answer.findings.into_iter().map(|finding| judged(request, card, finding)));
        skipped.extend(answer.skipped);
    }
    limits_were_asked(request, &attacked, &skipped)?;
    let (groups, quasi) = (on_people.release.groups.clone(), specs.len());
    drop((on_people, on_values));
    Ok(AttackReport { attacked, skipped, release, groups, quasi })
}
