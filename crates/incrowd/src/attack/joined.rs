//! Attacking a k-join-anonymous release. Attacks on identities see the table of boxes, in which nobody has a sensitive value;
//! attacks on sensitive values see the other table, whose groups are the sensitive groups.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd_audit::attack::{Adversary, Card, Epsilon, External, JoinedRelease, Published, Subject};
use incrowd_core::{ColumnSpec, Kind, Result};
use incrowd_engine::{Embedded, Options};
use serde_json::Value as Json;

use super::tables::{Reading, spec_of};
use super::{AttackReport, AttackRequest, judged, limits_were_asked};
use crate::external::SENSITIVE_GROUP;
use crate::linked;
use crate::release::delimiter;

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
    let entry = linked::entry(manifest, "si");
    let label = entry.map(|_| SENSITIVE_GROUP);
    let boxes: Vec<&str> = quasi.iter().copied().chain(label).collect();
    let release = reading.release(path, &boxes, &[], true)?;
    let values = entry.map(|entry| {
        let place = linked::place(path, entry);
        let options = Options { delimiter: Some(delimiter(&place)), ..Options::default() };
        let mut engine = Embedded::open(&[place], &options)?;
        reading.published(&mut engine, label.into_iter().chain(sensitive.iter().copied()))
    });
    let values = values.transpose()?;
    let text = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
    let mut specs: Vec<ColumnSpec> = quasi.iter().map(|name| spec_of(job, name)).collect();
    specs.extend(label.map(|_| text.clone()));
    let label_spec = [text];

    let population = job.population.as_ref().map(|p| reading.table(&p.paths, "population", quasi, &[]));
    let population = population.transpose().map_err(|e| e.at("population.path"))?;
    let external = request.external.as_ref();
    let external =
        external.map(|path| reading.table(std::slice::from_ref(path), "external table", quasi, &[]));
    let external = external.transpose()?;
    let second = request.second.as_ref().map(|path| reading.second(path, quasi, sensitive)).transpose()?;

    let mut on_boxes = Adversary::new(Published::new(&release, &specs), &job.input.missing);
    on_boxes.set_population(population.as_ref().map(|other| &other.table));
    on_boxes.external =
        external.as_ref().map(|other| External { table: &other.table, further: other.further });
    on_boxes.second = second.as_ref().map(|second| Published::new(&second.table, &second.specs));
    let models = manifest["models"].as_array().into_iter().flatten();
    let k =
        models.filter(|model| model["name"] == "k-anonymity").filter_map(|model| model["k"].as_u64()).max();
    let trim = manifest["job"]["external"]["trim"].as_str();
    let trimmed = trim.map(|trim| trim != "off");
    on_boxes.joined = Some(JoinedRelease { k: k.unwrap_or(1), sensitive: values.as_ref(), trimmed });
    let on_values = values.as_ref().map(|values| {
        let mut scene = Adversary::new(Published::new(values, &label_spec), &job.input.missing);
        scene.epsilon = epsilon;
        scene.kinds = sensitive.iter().map(|name| spec_of(job, name).kind).collect();
        scene.categories = sensitive.iter().map(|name| job.column(name)?.categories.clone()).collect();
        scene
    });
    let (mut attacked, mut skipped) = (Vec::new(), Vec::new());
    for &(card, threshold) in chosen {
        progress.step(card.name, None);
        let scene = on_values.as_ref().filter(|_| card.subject == Subject::Values);
        let mut answer = (card.run)(scene.unwrap_or(&on_boxes), threshold, progress)?;
        if scene.is_some() {
            // The groups of the report are those of the boxes.
            answer.findings.iter_mut().for_each(|finding| finding.by_group.clear());
        }
        attacked.extend(answer.findings.into_iter().map(|finding| judged(request, card, finding)));
        skipped.extend(answer.skipped);
    }
    limits_were_asked(request, &attacked, &skipped)?;
    let (groups, quasi) = (on_boxes.release.groups.clone(), specs.len());
    drop((on_boxes, on_values));
    Ok(AttackReport { attacked, skipped, release, groups, quasi })
}
