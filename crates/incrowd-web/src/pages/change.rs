//! Changes: each creates a new job with a new address.

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use incrowd::ParamKind;
use incrowd::job::keys::Section;
use std::sync::Arc;
use toml::Value;

use super::{Context, FormFields, JobPath, Step, context, form_value, layout};
use crate::app::App;
use crate::document::{Document, field_path};

/// Applies a form. Fields are paths in the job; `add` and `remove` change the models; `then` is the
/// next step.
pub(super) async fn change(
    (State(app), Path((table, job))): JobPath,
    Form(fields): Form<FormFields>,
) -> Response {
    let ctx = match context(&app, &table, &job) {
        Ok(ctx) => ctx,
        Err(response) => return *response,
    };
    let then = form_value(&fields, "then").unwrap_or_default();
    ctx.redirect(changed(&ctx, &fields), Step::named(then)).into_response()
}

fn changed(ctx: &Context, fields: &FormFields) -> Document {
    let mut document = (*ctx.document).clone();
    let mut places: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, value) in fields {
        match places.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.clone()),
            None => places.push((name, vec![value.clone()])),
        }
    }
    // Options in the form belong to the previous algorithm and are ignored if it changes.
    let renamed = places.iter().any(|(name, values)| {
        *name == "algorithm/name" && values.last().is_some_and(|name| name != document.algorithm())
    });
    for (name, values) in &places {
        let path = field_path(name);
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["columns", column, "role"] => {
                let role = values.last().map(String::as_str).unwrap_or_default();
                // A new quasi-identifier is generalized as the profile proposes.
                let spec = (role == "quasi").then(|| ctx.inspection.as_quasi(column)).flatten();
                if document.columns().contains(column) {
                    document.set_role(column, role, spec.as_ref());
                }
            }
            ["algorithm", option] if renamed && Section::Algorithm.key(option).is_none() => {}
            _ => document.change(&(path, values.clone())),
        }
    }
    let card = form_value(fields, "add")
        .and_then(|name| incrowd::model::MODELS.iter().find(|card| card.name == name));
    if let Some(card) = card {
        let required = card.params.iter().filter(|param| param.default.is_none());
        let value = |kind: ParamKind| match kind {
            // Initial values, which the user can change on the page.
            ParamKind::Count(least) => Value::Integer(i64::try_from(least.max(2)).unwrap_or(2)),
            ParamKind::Number(least, most) => {
                Value::Float(least + (most.min(least + 1.0) - least) / 2.0)
            }
            ParamKind::Choice(words) => Value::from(words.first().copied().unwrap_or_default()),
            _ => Value::from(""),
        };
        document.add_model(
            card.name,
            required.map(|param| (param.name.to_owned(), value(param.kind))).collect(),
        );
    }
    if let Some(model) = form_value(fields, "remove").and_then(|model| model.parse().ok()) {
        document.remove_model(model);
    }
    document
}

/// Redirects to the job with another k.
pub(super) async fn with_k(
    State(app): State<Arc<App>>,
    Path((table, job, k, step)): Path<(String, String, u64, String)>,
) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => ctx.redirect(ctx.document.with_k(k.max(1)), Step::named(&step)).into_response(),
        Err(response) => *response,
    }
}

/// Redirects to the job with a configuration of a comparison: an algorithm with options, and k.
pub(super) async fn take(
    (State(app), Path((table, job))): JobPath,
    Query(fields): Query<FormFields>,
) -> Response {
    let ctx = match context(&app, &table, &job) {
        Ok(ctx) => ctx,
        Err(response) => return *response,
    };
    let taken = form_value(&fields, "algorithm")
        .and_then(|algorithm| configured(&ctx.document, algorithm, form_value(&fields, "k")));
    match taken {
        Some(document) => ctx.redirect(document, Step::Release).into_response(),
        None => (StatusCode::NOT_FOUND, layout::nothing(&app)).into_response(),
    }
}

/// Parses `NAME(OPTION=VALUE, …)`, the notation of comparisons.
fn configured(document: &Document, algorithm: &str, k: Option<&str>) -> Option<Document> {
    let (name, options) = algorithm.split_once('(').unwrap_or((algorithm, ""));
    let card = incrowd::front_end::recode::ALGORITHMS.iter().find(|card| card.name == name)?;
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
    fn a_configuration_of_a_comparison_is_parsed() {
        let document = Document::parse(
            "[columns]\nage = \"quasi\"\n[[models]]\nname = \"k-anonymity\"\nk = 5",
        )
        .unwrap();
        let taken =
            configured(&document, "full-domain(search=fast, metric=ncp)", Some("20")).unwrap();
        assert_eq!(taken.algorithm(), "full-domain");
        assert_eq!(taken.get_text(&["algorithm", "search"]).as_deref(), Some("fast"));
        assert_eq!(taken.k(), Some((0, 20)));
        assert_eq!(configured(&document, "mondrian", None).unwrap().algorithm(), "mondrian");
        for wrong in ["nothing", "mondrian(x"] {
            assert_eq!(configured(&document, wrong, None), None);
        }
    }
}
