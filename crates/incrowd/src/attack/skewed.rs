//! What an adversary knows of withheld records: from the manifest, or as stated.

use incrowd_audit::attack::Skewed;
use incrowd_audit::eligibility::Mechanism;
use incrowd_core::{Error, Progress, Result, SensitiveSpec};
use incrowd_recode::suppression::Step;

use super::AttackRequest;
use crate::case::Case;
use crate::job::Input;
use crate::reading::open;
use crate::suppression::counted;

/// The suppression a request states, else that of the manifest; `None` if there is neither.
pub(super) fn skewed(
    case: &Case,
    request: &AttackRequest,
    progress: &dyn Progress,
) -> Result<Option<Skewed>> {
    let told = case.manifest.as_ref().and_then(|manifest| manifest.suppression.as_ref());
    let (mechanism, on) = match (&request.suppression, told) {
        (Some((name, params)), _) => {
            // Whoever attacks a release does not make one, so nothing has to be forced.
            let mut params = params.clone();
            if name == "unsafe-d" && !params.iter().any(|(param, _)| param == "force") {
                params.push(("force".to_owned(), incrowd_core::Value::Flag(true)));
            }
            let step = Step::new(name, params)?;
            let on = match (step.params.word("on"), case.reading.sensitive_names().as_slice()) {
                ("", [only]) => (*only).to_owned(),
                ("", _) => {
                    return Err(Error::job("which sensitive column is the suppression about?")
                        .help("add on=COLUMN to the method"));
                }
                (on, _) => on.to_owned(),
            };
            (Mechanism::named(step.card.name, step.rule.l, step.rule.complete_level), on)
        }
        (None, Some(told)) => {
            let (complete, l) = (told.flag("complete_level"), told.count("l").unwrap_or(1));
            (Mechanism::named(&told.name, l, complete), told.on.clone())
        }
        (None, None) => return Ok(None),
    };
    let Some(mechanism) = mechanism else {
        return Err(Error::input("the manifest names a suppression this version does not know"));
    };
    let published = || {
        let records = case.manifest.as_ref()?.records;
        Some(records.read? - records.dropped_missing.unwrap_or(0))
    };
    let original = case.judging.original.as_ref().filter(|_| request.counts_known);
    let shape = original.map(|original| shape(case, original, &on, progress)).transpose()?;
    let size_is_public = shape.is_none() && request.original_size.is_none();
    let records = shape.as_ref().map(|shape| shape.iter().sum()).or(request.original_size).or_else(published);
    Ok(Some(Skewed { mechanism, on, records, size_is_public, shape }))
}

/// The counts of a sensitive column of the table a release was made of.
fn shape(case: &Case, original: &Input, on: &str, progress: &dyn Progress) -> Result<Vec<u64>> {
    let source = open(&original.table())?;
    if !source.columns().iter().any(|column| column == on) {
        return Err(source.help_column(Error::input(format!("the original table has no column `{on}`")), on));
    }
    // A record with a missing quasi-identifier was dropped before anything was withheld.
    let quasi = case.reading.quasi_names().into_iter();
    let known: Vec<String> =
        quasi.filter(|q| source.columns().iter().any(|c| c == q)).map(str::to_owned).collect();
    let columns = known.iter().cloned().chain([on.to_owned()]).collect();
    let folded = source.fold(&case.reading.fold_spec(columns), progress)?;
    let spec = case.reading.sensitive.iter().find(|(name, _)| name == on).map(|(_, spec)| spec.clone());
    let spec: SensitiveSpec = spec.unwrap_or_default();
    Ok(counted(&folded, known.len(), &spec, None).1)
}
