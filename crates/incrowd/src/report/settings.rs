//! How a release was made and how to check it, in words.

use serde_json::Value as Json;

use super::Found;
use crate::job::{Job, RoleName};
use crate::setup;
use crate::verify::named;

/// What was suppressed, as far as the manifest tells.
pub(super) fn suppressed(manifest: Option<&Json>) -> Vec<String> {
    let Some(manifest) = manifest else {
        return vec![
            "There is no manifest beside the release, so it is not known what was suppressed.".to_owned(),
        ];
    };
    let mut lines = Vec::new();
    let records = &manifest["records"];
    let job = &manifest["job"];
    if manifest["suppression"].is_object() {
        let of = |key: &str| word(&manifest["suppression"][key]);
        lines.push(format!(
            "Where a value of {} was too frequent, records were withheld before anything else ({}, l = {}).",
            of("on"),
            of("name"),
            of("l")
        ));
    }
    match records["suppressed"].as_u64() {
        Some(0) => lines.push("No record was suppressed to keep the promises.".to_owned()),
        Some(_) => {
            let limit = job["suppression_limit"].as_f64().unwrap_or(0.0);
            let way = match job["suppressed"].as_str() {
                Some("star") => "are published with * in every quasi-identifier",
                _ => "are not in the release",
            };
            lines.push(format!(
                "The suppressed records {way}; the limit was {limit} of the records. Which they are is told nowhere."
            ));
        }
        None if manifest["suppression"].is_object() => {
            lines.push("How many records that were is not told: it would tell about the values.".to_owned());
        }
        None => {}
    }
    if records["dropped_missing"].as_u64().is_some_and(|n| n > 0) {
        lines.push("Records with a missing value in a column that matters were left out.".to_owned());
    }
    lines
}

/// How the release was made.
pub(super) fn settings(content: &Json, job: &Job) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if let Some(name) = content["algorithm"]["name"].as_str() {
        settings.push(("algorithm".to_owned(), name.to_owned()));
    }
    for (name, value) in content["algorithm"].as_object().into_iter().flatten() {
        if name != "name" && !value.is_object() && !word(value).is_empty() {
            settings.push((name.replace('_', " "), word(value)));
        }
    }
    if let Some(levels) = content["algorithm"]["levels"].as_object() {
        let levels: Vec<String> = levels.iter().map(|(c, level)| format!("{c} {}", word(level))).collect();
        settings.push(("levels".to_owned(), levels.join(", ")));
    }
    for key in ["on_missing", "suppression_limit", "suppressed", "order"] {
        if !content["job"][key].is_null() {
            settings.push((key.replace('_', " "), word(&content["job"][key])));
        }
    }
    match content["job"]["columns"].as_object() {
        Some(columns) => {
            for (name, column) in columns.iter().take(300) {
                let mut parts = vec![word(&column["role"])];
                for key in ["kind", "hierarchy", "labels", "weight", "publish_sa"] {
                    if !column[key].is_null() {
                        parts.push(format!("{} {}", key.replace('_', " "), word(&column[key])));
                    }
                }
                settings.push((format!("column {name}"), parts.join(", ")));
            }
        }
        None => {
            for (name, role) in
                [("quasi-identifiers", RoleName::Quasi), ("sensitive columns", RoleName::Sensitive)]
            {
                let columns = named(job, role).join(", ");
                settings.push((name.to_owned(), if columns.is_empty() { "none".into() } else { columns }));
            }
        }
    }
    settings
}

/// A value without quotation marks.
fn word(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(list) => list.iter().map(word).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What to type to get the numbers again.
pub(super) fn commands(found: &Found<'_>, owner: bool) -> Vec<(String, String)> {
    let release = quoted(&found.release());
    let original = found.original.as_deref().map_or_else(|| "ORIGINAL".to_owned(), quoted);
    let mut roles = String::new();
    if found.manifest.is_none() {
        for (flag, role) in [("--quasi", RoleName::Quasi), ("--sensitive", RoleName::Sensitive)] {
            let columns = named(&found.job, role).join(",");
            if !columns.is_empty() {
                roles += &format!(" {flag} {}", quoted(&columns));
            }
        }
    }
    let hierarchies = named(&found.job, RoleName::Quasi)
        .iter()
        .any(|name| found.job.column(name).is_some_and(|column| column.spec.hierarchy.is_some()));
    let job = if hierarchies { " --job JOB.toml" } else { roles.as_str() };
    if owner {
        return vec![
            (
                format!("incrowd measure {original} {release}{job} --pairs"),
                "What the release cost, with JOB.toml the job it was made with, if there is one:".to_owned(),
            ),
            (
                format!(
                    "incrowd report {release} --original {original}{job} -o report.html --owner owner.html"
                ),
                "Both pages again:".to_owned(),
            ),
        ];
    }
    let judgements = &found.checked.verification.judgements;
    let models: String = match found.manifest {
        Some(_) => String::new(),
        None => judgements.iter().map(|j| format!(" --model {}", quoted(&model(j)))).collect(),
    };
    let sensitive = named(&found.job, RoleName::Sensitive);
    let promises = setup::promises(&found.job, &sensitive).unwrap_or_default();
    let beside =
        if setup::about_outliers(&promises) { format!(" --original {original}") } else { String::new() };
    let check = if found.manifest.is_some() {
        "Check the promises on the release itself; its manifest must lie beside it:"
    } else {
        "Check the promises on the release itself:"
    };
    vec![
        (format!("incrowd verify {release}{roles}{models}{beside}"), check.to_owned()),
        (format!("incrowd attack {release}{roles}"), "Attack it:".to_owned()),
    ]
}

fn model(judgement: &incrowd_audit::Judgement) -> String {
    let params: Vec<String> = judgement
        .params
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .filter(|p| !p.ends_with('='))
        .collect();
    format!("{}:{}", judgement.name, params.join(","))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-,/=:+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
