//! The adversary's knowledge about the suppression step: from the manifest, or as stated.

use incrowd_audit::attack::KnownSuppression;
use incrowd_audit::eligibility::Mechanism;
use incrowd_core::{Error, Progress, Result, SensitiveSpec};
use incrowd_recode::suppression::Step;

use super::AttackRequest;
use crate::job::Input;
use crate::job::reading::open;
use crate::judging::case::Case;
use crate::making::suppression::counted;

/// Returns the suppression of the request, otherwise that of the manifest; `None` if there is
/// neither.
pub(super) fn skewed(
    case: &Case,
    request: &AttackRequest,
    progress: &dyn Progress,
) -> Result<Option<KnownSuppression>> {
    let entry = case.manifest.as_ref().and_then(|manifest| manifest.suppression.as_ref());
    let (mechanism, on) = match (&request.suppression, entry) {
        (Some((name, params)), _) => {
            // An attack makes no release, so `force` is not required.
            let mut params = params.clone();
            if name == "unsafe-d" && !params.iter().any(|(param, _)| param == "force") {
                params.push(("force".to_owned(), incrowd_core::Value::Flag(true)));
            }
            let step = Step::new(name, params)?;
            let on = match (step.params.word("on"), case.reading.sensitive_names().as_slice()) {
                ("", [only]) => (*only).to_owned(),
                ("", _) => {
                    return Err(Error::job("the sensitive column of the suppression is not named")
                        .help("add on=COLUMN to the method"));
                }
                (on, _) => on.to_owned(),
            };
            (Mechanism::named(step.card.name, step.rule.l, step.rule.complete_level), on)
        }
        (None, Some(entry)) => {
            let (complete, l) = (entry.flag("complete_level"), entry.count("l").unwrap_or(1));
            (Mechanism::named(&entry.name, l, complete), entry.on.clone())
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
    let records =
        shape.as_ref().map(|shape| shape.iter().sum()).or(request.original_size).or_else(published);
    Ok(Some(KnownSuppression { mechanism, on, records, size_is_public, shape }))
}

/// Returns the frequencies of the values of a sensitive column in the original.
fn shape(case: &Case, original: &Input, on: &str, progress: &dyn Progress) -> Result<Vec<u64>> {
    let source = open(&original.table())?;
    if !source.columns().iter().any(|column| column == on) {
        return Err(source
            .help_column(Error::input(format!("the original table has no column `{on}`")), on));
    }
    // Records with a missing quasi-identifier were dropped before the suppression step.
    let quasi = case.reading.quasi_names().into_iter();
    let known: Vec<String> =
        quasi.filter(|q| source.columns().iter().any(|c| c == q)).map(str::to_owned).collect();
    let columns = known.iter().cloned().chain([on.to_owned()]).collect();
    let folded = source.fold(&case.reading.fold_spec(columns), progress)?;
    let spec =
        case.reading.sensitive.iter().find(|(name, _)| name == on).map(|(_, spec)| spec.clone());
    let spec: SensitiveSpec = spec.unwrap_or_default();
    Ok(counted(&folded, known.len(), &spec, &case.reading.missing).1)
}
