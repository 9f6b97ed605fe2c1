//! Verification of both tables without the originals.

use incrowd_audit::joined::{Failure, JoinTables, published};
use incrowd_audit::{Judgement, Verification};
use incrowd_core::model::{Need, PrivacyModel};
use incrowd_core::{ColumnSpec, Dataset, Error, Folded, Kind, Result, SensitiveSpec};

use super::super::one_table::as_missing;
use super::super::{Asked, Judged, ReadFile, Tables};

/// Returns the tables in the form of the checker.
pub(crate) fn join_tables(tables: &Tables) -> JoinTables<'_> {
    JoinTables { boxes: &tables.people, quasi: tables.quasi, sensitive: tables.values.as_ref() }
}

/// Returns the minimum number of rows of a group: the greatest k of the models.
pub(crate) fn least(privacy_models: &[PrivacyModel]) -> Option<u64> {
    let counts = privacy_models.iter().filter(|p| counted(p)).flat_map(|p| p.params.iter());
    counts.filter_map(|(name, value)| (name == "k").then(|| value.to_string().parse().ok())?).max()
}

/// Returns whether a model depends on the number of records of a group and nothing else.
pub(crate) fn counted(privacy_model: &PrivacyModel) -> bool {
    privacy_model.model.card().needs == [Need::Records]
}

/// Verifies the tables without the originals: the rules P1 to P5 and every model. Models that
/// depend on the number of records are verified on the groups of boxes, the others on the sensitive
/// groups. All of them are verified on the sensitive groups again.
pub(crate) fn judge(tables: &Tables, asked: &Asked<'_>) -> Result<Judged> {
    let (privacy_models, reading) = (asked.privacy_models, asked.reading);
    let kind = |spec: &ColumnSpec| {
        spec.kind.filter(|kind| spec.hierarchy.is_none() && *kind != Kind::Text)
    };
    let kinds: Vec<Option<Kind>> = reading.quasi.iter().map(|(_, spec)| kind(spec)).collect();
    let Some(k) = least(privacy_models) else { return Err(no_k()) };
    let mut failures = unexpected(tables);
    failures.extend(published(&join_tables(tables), k, &kinds));
    let (counted, others): (Vec<usize>, Vec<usize>) =
        (0..privacy_models.len()).partition(|&i| counted(&privacy_models[i]));
    let boxes = Dataset::of_release(tables.people.clone(), tables.people.columns.len(), &[])
        .map_err(|failed| failed.misfit.error)?;
    let on_boxes: Vec<Judgement> = counted
        .iter()
        .map(|&i| verify_one(&boxes, privacy_models, i))
        .collect::<Result<Vec<_>>>()?;
    let on_values = match &tables.values {
        None => None,
        Some(folded) => {
            let mut folded = folded.clone();
            as_missing(&mut folded, 1, &reading.missing);
            let specs: Vec<&SensitiveSpec> =
                reading.sensitive.iter().map(|(_, spec)| spec).collect();
            let values =
                Dataset::of_release(folded, 1, &specs).map_err(|failed| failed.misfit.error)?;
            Some(incrowd_audit::verify(&values, privacy_models, None)?)
        }
    };
    let judgement = |i: usize| match (counted.iter().position(|&c| c == i), &on_values) {
        (Some(at), _) => Some(on_boxes[at].clone()),
        (None, Some(values)) => Some(values.judgements[i].clone()),
        (None, None) => None,
    };
    if on_values.is_none() && !others.is_empty() {
        failures.push(Failure::new(
            "P3",
            "the table of sensitive values is needed to verify models about them",
        ));
    }
    let judgements: Vec<Judgement> = (0..privacy_models.len()).filter_map(judgement).collect();
    let groups = join_tables(tables).groups().len() as u64;
    let (records, smallest_group) =
        (tables.people.records(), incrowd_audit::verify(&boxes, &[], None)?.smallest_group);
    let verification = Verification {
        judgements,
        groups,
        records,
        unread: Vec::new(),
        smallest_group,
        persons: None,
    };
    Ok(Judged { failures, verification, on_values, rules: Some("P1 to P5") })
}

fn verify_one(data: &Dataset, privacy_models: &[PrivacyModel], i: usize) -> Result<Judgement> {
    let mut verification =
        incrowd_audit::verify(data, std::slice::from_ref(&privacy_models[i]), None)?;
    verification.judgements.pop().ok_or_else(|| Error::bug("a model was not verified"))
}

/// Reports columns that the tables should not have. An identifier among them would reveal
/// everybody.
fn unexpected(tables: &Tables) -> Vec<Failure> {
    let folded = std::iter::once(&tables.people).chain(&tables.values);
    let named =
        folded.zip(&tables.files).zip(["the table of boxes", "the table of sensitive values"]);
    let odd = |((folded, file), table): ((&Folded, &ReadFile), &str)| {
        let known = |c: &&String| folded.columns.iter().any(|known| known.name == c.trim());
        let strange: Vec<&str> =
            file.columns.iter().filter(|c| !known(c)).map(String::as_str).collect();
        (!strange.is_empty()).then(|| {
            Failure::new("P1", format!("{table} has further columns: {}", strange.join(", ")))
        })
    };
    named.filter_map(odd).collect()
}

/// Returns the error about a job without a model about the number of people.
pub(crate) fn no_k() -> Error {
    Error::job("k-join-anonymity needs a model about the number of people in a group")
        .help("add `[[models]] name`, for example k-anonymity with k = 10")
        .at("models")
}
