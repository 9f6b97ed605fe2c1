//! What an adversary knows of withheld records: from the manifest, or as stated.

use std::path::Path;

use incrowd_audit::attack::Skewed;
use incrowd_audit::eligibility::Mechanism;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Embedded, Engine, FoldSpec, Options};
use incrowd_recode::suppression::Step;
use serde_json::Value as Json;

use super::AttackRequest;
use crate::job::{Job, OnMissing};
use crate::suppression::counted;

/// The suppression a request states, else that of the manifest; `None` if there is neither.
pub(super) fn skewed(
    request: &AttackRequest,
    job: &Job,
    manifest: Option<&Json>,
    sensitive: &[&str],
    progress: &dyn Progress,
) -> Result<Option<Skewed>> {
    let told = manifest.map(|manifest| &manifest["suppression"]).filter(|told| told.is_object());
    let (mechanism, on) = match (&request.suppression, told) {
        (Some((name, params)), _) => {
            // Whoever attacks a release does not make one, so nothing has to be forced.
            let mut params = params.clone();
            if name == "unsafe-d" && !params.iter().any(|(param, _)| param == "force") {
                params.push(("force".to_owned(), incrowd_core::Value::Flag(true)));
            }
            let step = Step::new(name, params)?;
            let on = match (step.params.word("on"), sensitive) {
                ("", [only]) => (*only).to_owned(),
                ("", _) => {
                    return Err(Error::job("which sensitive column is the suppression about?")
                        .help("add on=COLUMN to --suppression"));
                }
                (on, _) => on.to_owned(),
            };
            (Mechanism::named(step.card.name, step.rule.l, step.rule.complete_level), on)
        }
        (None, Some(told)) => {
            let complete = told["complete_level"].as_bool().unwrap_or(false);
            let (name, l) = (told["name"].as_str().unwrap_or_default(), told["l"].as_u64().unwrap_or(1));
            (Mechanism::named(name, l, complete), told["on"].as_str().unwrap_or_default().to_owned())
        }
        (None, None) => return Ok(None),
    };
    let Some(mechanism) = mechanism else {
        return Err(Error::input("the manifest names a suppression this version does not know"));
    };
    let published = || {
        let records = &manifest?["records"];
        Some(records["read"].as_u64()? - records["dropped_missing"].as_u64().unwrap_or(0))
    };
    let shape = request.original.as_ref().map(|path| shape(path, job, &on, progress)).transpose()?;
    let size_is_public = request.original.is_none() && request.original_size.is_none();
    let records = shape.as_ref().map(|shape| shape.iter().sum()).or(request.original_size).or_else(published);
    Ok(Some(Skewed { mechanism, on, records, size_is_public, shape }))
}

/// The counts of a sensitive column of the table a release was made of.
fn shape(path: &Path, job: &Job, on: &str, progress: &dyn Progress) -> Result<Vec<u64>> {
    let mut engine = Embedded::open(&[path.to_owned()], &Options::default())?;
    if !engine.columns().iter().any(|column| column == on) {
        return Err(Error::input(format!("the original table has no column `{on}`"))
            .help_near(on, engine.columns().iter().map(String::as_str)));
    }
    // A record with a missing quasi-identifier was dropped before anything was withheld.
    let quasi = crate::verify::named(job, crate::job::RoleName::Quasi);
    let known: Vec<String> =
        quasi.iter().filter(|q| engine.columns().iter().any(|c| c == *q)).map(|q| (*q).to_owned()).collect();
    let spec = FoldSpec {
        columns: known.iter().cloned().chain([on.to_owned()]).collect(),
        missing: job.input.missing.clone(),
        drop_missing: job.input.on_missing == OnMissing::Drop,
        replay: false,
    };
    let folded = engine.fold(&spec, progress)?;
    let column = job.column(on);
    let spec = column.map(crate::setup::sensitive_spec).unwrap_or_default();
    Ok(counted(&folded, known.len(), &spec, None).1)
}
