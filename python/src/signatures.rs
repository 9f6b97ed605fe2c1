//! The arguments of the functions as JSON for the generator of `incrowd/_functions.py`: from the
//! list of keys, the cards, and the other arguments.

use incrowd::explain::{Entry, takes};
use incrowd::front_end::recode::ALGORITHMS;
use incrowd::front_end::recode::suppression::SUPPRESSIONS;
use incrowd::job::keys::{Command, Form, Key, Kind};
use incrowd::job::{argument_name, main_param, model_argument};
use incrowd::model::MODELS;
use incrowd::{ATTACKS, Param, ParamKind};
use serde_json::{Value as Json, json};

use crate::arguments::{has_models, keys_of, takes_table};
use crate::requests::{Takes, requests_of};

/// Returns the input of the generator.
pub(crate) fn all() -> Json {
    let commands = Command::ALL.iter().map(|&command| {
        let name = format!("{command:?}").to_lowercase();
        (name, Json::from(arguments(command)))
    });
    let model = |card: &&incrowd::model::Card| {
        json!({
            "name": card.name,
            "argument": model_argument(card.name),
            "about": card.guarantee,
            "main": main_param(card.params).map(|param| param.name),
            "params": card.params.iter().map(param).collect::<Vec<_>>(),
        })
    };
    json!({
        "commands": commands.collect::<serde_json::Map<_, _>>(),
        "models": MODELS.iter().map(model).collect::<Vec<_>>(),
        "algorithms": ALGORITHMS.iter().map(|card| card.name).collect::<Vec<_>>(),
        "suppressions": SUPPRESSIONS.iter().map(|card| card.name).collect::<Vec<_>>(),
        "attacks": ATTACKS.iter().map(|card| card.name).collect::<Vec<_>>(),
    })
}

fn arguments(command: Command) -> Vec<Json> {
    let of_keys = keys_of(command).map(|(key, flag)| {
        let (form, role) = match flag.form {
            Form::Columns(role) => ("columns", Some(role)),
            Form::PerColumn | Form::Category => ("by column", None),
            Form::Param => ("params", None),
            Form::Named("") => ("named", None),
            Form::Named(_) => ("short", None),
            _ => ("value", None),
        };
        json!({
            "name": argument_name(flag),
            "heading": key.section.heading(),
            "form": form,
            "role": role,
            "kind": kind(key),
            "choices": choices(key.kind),
            "section": key.section.name(),
            "default": if flag.about.is_some() { &[] } else { key.default },
            "about": flag.about.unwrap_or(key.about),
            "more": if flag.about.is_some() { "" } else { key.more },
        })
    });
    let mut all: Vec<Json> = of_keys.collect();
    if has_models(command) {
        all.extend(MODELS.iter().map(|card| {
            json!({
                "name": model_argument(card.name),
                "heading": "Privacy models",
                "form": "model",
                "kind": card.name,
                "default": [],
                "about": card.guarantee,
                "more": "",
            })
        }));
    }
    all.extend(requests_of(command).map(|request| {
        let default = if request.default.is_empty() { vec![] } else { vec![request.default] };
        json!({
            "name": request.name,
            "heading": "Other arguments",
            "form": "request",
            "kind": match request.takes {
                Takes::Names => "texts",
                Takes::Text => "text",
                Takes::Flag => "flag",
                Takes::Count => "count",
                Takes::Number => "number",
                Takes::File => "file",
                Takes::Table | Takes::Release => "table",
                Takes::Numbers => "numbers",
                Takes::Amounts => "amounts",
                Takes::Params => "params",
                Takes::Method => "method",
            },
            "default": default,
            "about": request.about,
            "more": "",
        })
    }));
    all
}

fn kind(key: &Key) -> &'static str {
    match key.kind {
        Kind::Text | Kind::Character => "text",
        Kind::Texts => "texts",
        Kind::File | Kind::Directory => "file",
        Kind::Files if takes_table(key) => "table",
        Kind::Files => "files",
        Kind::Choice(_) => "choice",
        Kind::Share | Kind::Number => "number",
        Kind::Shares => "shares",
        Kind::Count(_) => "count",
        Kind::Counts(_) => "counts",
        Kind::Flag => "flag",
        Kind::Range => "range",
        Kind::Hierarchy => "hierarchy",
        Kind::Categories => "categories",
        Kind::Card => "card",
        Kind::Cards => "cards",
    }
}

fn choices(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Choice(words) => words,
        _ => &[],
    }
}

fn param(param: &Param) -> Json {
    let (kind, choices): (&str, &[&str]) = match param.kind {
        ParamKind::Count(_) => ("count", &[]),
        ParamKind::Number(..) => ("number", &[]),
        ParamKind::Choice(words) => ("choice", words),
        ParamKind::Column => ("text", &[]),
        ParamKind::Words => ("texts", &[]),
        ParamKind::Flag => ("flag", &[]),
    };
    json!({
        "name": param.name,
        "kind": kind,
        "choices": choices,
        "takes": takes(param.kind),
        "default": param.default,
        "about": param.about,
    })
}

/// Returns the explanation of a model, algorithm, metric or attack.
pub(crate) fn entry(entry: &Entry) -> Json {
    json!({
        "name": entry.name,
        "kind": entry.kind,
        "about": entry.about,
        "limits": entry.limits,
        "needs": entry.needs,
        "better": entry.better.map(incrowd::front_end::core::Better::words),
        "paper": entry.paper,
        "repeatable": entry
            .repeatable
            .iter()
            .map(|(name, word)| json!([name, word]))
            .collect::<Vec<_>>(),
        "local": entry.local,
        "parameters": entry.params.iter().map(param).collect::<Vec<_>>(),
    })
}
