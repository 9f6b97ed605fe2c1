//! Changes: each makes another job with an address of its own.

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use incrowd::ParamKind;
use incrowd::job::keys::Section;
use std::sync::Arc;
use toml::Value;

use super::{At, Place, Step, at, layout};
use crate::app::App;
use crate::document::{Document, place};

type Fields = Vec<(String, String)>;

/// Does what a form says: fields are places in the job, `add` and `remove` are about promises, `then` is the step to go to.
pub(super) async fn change((State(app), Path((table, job))): Place, Form(fields): Form<Fields>) -> Response {
    let at = match at(&app, &table, &job) {
        Ok(at) => at,
        Err(response) => return *response,
    };
    let then = fields.iter().find(|(name, _)| name == "then").map_or("", |(_, step)| step.as_str());
    at.go(changed(&at, &fields), Step::named(then)).into_response()
}

fn changed(at: &At, fields: &Fields) -> Document {
    let mut document = (*at.document).clone();
    let mut places: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, value) in fields {
        match places.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.clone()),
            None => places.push((name, vec![value.clone()])),
        }
    }
    // Options of another algorithm than before are nobody's.
    let renamed = places.iter().any(|(name, values)| {
        *name == "algorithm/name" && values.last().is_some_and(|name| name != document.algorithm())
    });
    for (name, values) in &places {
        let path = place(name);
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["columns", column, "role"] => {
                let role = values.last().map(String::as_str).unwrap_or_default();
                // Who becomes a quasi-identifier is generalized as the profile proposes.
                let spec = (role == "quasi").then(|| at.looked.as_quasi(column)).flatten();
                if document.columns().contains(column) {
                    document.set_role(column, role, spec.as_ref());
                }
            }
            ["algorithm", option] if renamed && Section::Algorithm.key(option).is_none() => {}
            _ => document.change(&(path, values.clone())),
        }
    }
    let said = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    if let Some(card) =
        said("add").and_then(|name| incrowd::model::MODELS.iter().find(|card| card.name == name))
    {
        let usual = card.params.iter().filter(|param| param.default.is_none());
        let value = |kind: ParamKind| match kind {
            // Something to begin with, in view on the page.
            ParamKind::Count(least) => Value::Integer(i64::try_from(least.max(2)).unwrap_or(2)),
            ParamKind::Number(least, most) => Value::Float(least + (most.min(least + 1.0) - least) / 2.0),
            ParamKind::Choice(words) => Value::from(words.first().copied().unwrap_or_default()),
            _ => Value::from(""),
        };
        document
            .add_model(card.name, usual.map(|param| (param.name.to_owned(), value(param.kind))).collect());
    }
    if let Some(model) = said("remove").and_then(|model| model.parse().ok()) {
        document.remove_model(model);
    }
    document
}

/// The same job with another k.
pub(super) async fn with_k(
    State(app): State<Arc<App>>,
    Path((table, job, k, step)): Path<(String, String, u64, String)>,
) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => at.go(at.document.with_k(k.max(1)), Step::named(&step)).into_response(),
        Err(response) => *response,
    }
}

/// A configuration of a comparison: an algorithm with its options, and k.
pub(super) async fn take((State(app), Path((table, job))): Place, Query(fields): Query<Fields>) -> Response {
    let at = match at(&app, &table, &job) {
        Ok(at) => at,
        Err(response) => return *response,
    };
    let said = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let taken = said("algorithm").and_then(|algorithm| configured(&at.document, algorithm, said("k")));
    match taken {
        Some(document) => at.go(document, Step::Release).into_response(),
        None => (StatusCode::NOT_FOUND, layout::nothing()).into_response(),
    }
}

/// `NAME(OPTION=VALUE, …)` as a comparison writes it.
fn configured(document: &Document, algorithm: &str, k: Option<&str>) -> Option<Document> {
    let (name, options) = algorithm.split_once('(').unwrap_or((algorithm, ""));
    let card = incrowd::recode::ALGORITHMS.iter().find(|card| card.name == name)?;
    let mut taken = document.clone();
    if card.name != document.algorithm() {
        taken.change(&(vec!["algorithm".into(), "name".into()], vec![name.to_owned()]));
    }
    for option in options.trim_end_matches(')').split(", ").filter(|option| !option.is_empty()) {
        let (option, value) = option.split_once('=')?;
        taken.change(&(vec!["algorithm".into(), option.to_owned()], vec![value.to_owned()]));
    }
    let k = k.map(str::parse).transpose().ok()?;
    Some(k.map_or(taken.clone(), |k: u64| taken.with_k(k.max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read_as_it_was_written() {
        let document =
            Document::parse("[columns]\nage = \"quasi\"\n[[models]]\nname = \"k-anonymity\"\nk = 5").unwrap();
        let taken = configured(&document, "full-domain(search=fast, metric=ncp)", Some("20")).unwrap();
        assert_eq!(taken.algorithm(), "full-domain");
        assert_eq!(taken.words(&["algorithm", "search"]).as_deref(), Some("fast"));
        assert_eq!(taken.k(), Some((0, 20)));
        assert_eq!(configured(&document, "mondrian", None).unwrap().algorithm(), "mondrian");
        for wrong in ["nothing", "mondrian(x"] {
            assert_eq!(configured(&document, wrong, None), None);
        }
    }
}
