//! The settings of a release and the commands to check it, in words.

use super::Findings;
use crate::making::checked::about_outliers;
use crate::manifest::{JobEntry, Manifest};

/// Describes the suppression, as far as the manifest contains it.
pub(super) fn suppressed(manifest: Option<&Manifest>) -> Vec<String> {
    let Some(manifest) = manifest else {
        return vec![
            "There is no manifest next to the release, so the suppression is unknown.".to_owned(),
        ];
    };
    let mut lines = Vec::new();
    if let Some(step) = &manifest.suppression {
        lines.push(format!(
            "Records were suppressed before the algorithm if a value of {} was too frequent \
             ({}, l = {}).",
            step.on,
            step.name,
            step.count("l").unwrap_or(0)
        ));
    }
    match manifest.records.suppressed {
        Some(0) => lines.push("No record was suppressed to satisfy the models.".to_owned()),
        Some(_) => {
            let limit = manifest.job.suppression_limit;
            let way = match manifest.job.suppressed.as_str() {
                "star" => "are published with * in every quasi-identifier",
                _ => "are not in the release",
            };
            lines.push(format!(
                "The suppressed records {way}; the limit was {limit} of the records. \
                 The release does not show which they are."
            ));
        }
        None if manifest.suppression.is_some() => {
            lines.push(
                "Their number is secret: it would reveal information about the values.".to_owned(),
            );
        }
        None => {}
    }
    if manifest.records.dropped_missing.is_some_and(|n| n > 0) {
        lines.push(
            "Records with a missing value in a quasi-identifier or sensitive column were dropped."
                .to_owned(),
        );
    }
    lines
}

/// Returns the settings of the release.
// One list in the order of the page.
pub(super) fn settings(found: &Findings) -> Vec<(String, String)> {
    let Some(manifest) = found.manifest() else {
        let reading = &found.case.reading;
        let named = [
            ("quasi-identifiers", reading.quasi_names()),
            ("sensitive columns", reading.sensitive_names()),
        ];
        let word = |columns: Vec<&str>| {
            if columns.is_empty() { "none".into() } else { columns.join(", ") }
        };
        return named.into_iter().map(|(name, columns)| (name.to_owned(), word(columns))).collect();
    };
    let mut settings = vec![("algorithm".to_owned(), manifest.algorithm.name.clone())];
    for (name, value) in manifest.algorithm.params.iter() {
        let word = value.0.to_string();
        if !word.is_empty() {
            settings.push((name.replace('_', " "), word));
        }
    }
    if let Some(levels) = &manifest.algorithm.levels {
        let levels: Vec<String> =
            levels.iter().map(|(column, level)| format!("{column} {level}")).collect();
        settings.push(("levels".to_owned(), levels.join(", ")));
    }
    // All fields are named, so that a new field requires a decision whether the page shows it.
    let JobEntry {
        columns,
        on_missing,
        missing,
        suppression_limit,
        suppressed,
        order,
        csv_safe,
        written,
        external: _,
        population,
        cells,
        missing_cells,
    } = &manifest.job;
    settings.push(("on missing".to_owned(), on_missing.clone()));
    if let Some(missing) = missing {
        let texts: Vec<String> = missing.iter().map(|text| format!("\"{text}\"")).collect();
        settings.push(("missing".to_owned(), texts.join(", ")));
    }
    settings.push(("suppression limit".to_owned(), format!("{suppression_limit:?}")));
    settings.push(("suppressed".to_owned(), suppressed.clone()));
    settings.push(("order".to_owned(), order.clone()));
    settings.extend(cells.iter().map(|what| ("cells".to_owned(), what.clone())));
    settings.extend(missing_cells.iter().map(|entry| {
        ("missing cells".to_owned(), format!("match {}: this {}", entry.matches, entry.worth))
    }));
    settings.extend(population.iter().map(|how| ("population".to_owned(), how.clone())));
    if let Some(written) = written {
        let ends =
            || format!("{}: the bounds of ranges, in two columns", written.low_high.join(", "));
        let forms = [
            written.decimal.as_ref().map(|_| "numbers have a decimal comma".to_owned()),
            (!written.low_high.is_empty()).then(ends),
            (!written.means.is_empty())
                .then(|| format!("{}: group means", written.means.join(", "))),
            (!written.lists.is_empty())
                .then(|| format!("{}: sets as lists", written.lists.join(", "))),
        ];
        let forms: Vec<String> = forms.into_iter().flatten().collect();
        if !forms.is_empty() {
            settings.push(("written".to_owned(), forms.join("; ")));
        }
    }
    if *csv_safe {
        settings.push((
            "csv safe".to_owned(),
            "cells that look like formulas begin with an apostrophe".to_owned(),
        ));
    }
    for (name, column) in columns.iter().take(300) {
        let mut parts = vec![column.role.clone()];
        let further =
            [("kind", &column.kind), ("hierarchy", &column.hierarchy), ("labels", &column.labels)];
        parts.extend(
            further.into_iter().filter_map(|(key, word)| Some(format!("{key} {}", word.as_ref()?))),
        );
        parts.extend(column.weight.map(|weight| format!("weight {weight}")));
        parts.extend(column.publish.as_ref().map(|word| format!("publish {word}")));
        parts.extend(
            column.linkable.filter(|linkable| !linkable).map(|_| "not linkable".to_owned()),
        );
        settings.push((format!("column {name}"), parts.join(", ")));
    }
    settings
}

/// Returns the commands that reproduce the numbers.
pub(super) fn commands(found: &Findings, owner: bool) -> Vec<(String, String)> {
    let release = quoted(&found.release());
    let original = found.original.as_deref().map_or_else(|| "ORIGINAL".to_owned(), quoted);
    let mut roles = String::new();
    let reading = &found.case.reading;
    if found.manifest().is_none() {
        for (flag, columns) in
            [("--quasi", reading.quasi_names()), ("--sensitive", reading.sensitive_names())]
        {
            let columns = columns.join(",");
            if !columns.is_empty() {
                roles += &format!(" {flag} {}", quoted(&columns));
            }
        }
    }
    let hierarchies = reading.quasi.iter().any(|(_, spec)| spec.hierarchy.is_some());
    let job = if hierarchies { " --job JOB.toml" } else { roles.as_str() };
    if owner {
        return vec![
            (
                format!("incrowd measure {original} {release}{job} --pairs"),
                "The information loss; JOB.toml is the job of the release, if there is one:"
                    .to_owned(),
            ),
            (
                format!(
                    "incrowd report {release} --original {original}{job} \
                     -o report.html --owner owner.html"
                ),
                "Both pages again:".to_owned(),
            ),
        ];
    }
    let judgements = &found.checked.verification.judgements;
    let models: String = match found.manifest() {
        Some(_) => String::new(),
        None => judgements.iter().map(|j| format!(" --model {}", quoted(&model(j)))).collect(),
    };
    let privacy_models = found.case.privacy_models().unwrap_or_default();
    let with_original = if about_outliers(&privacy_models) {
        format!(" --original {original}")
    } else {
        String::new()
    };
    let check = if found.manifest().is_some() {
        "Verify the models on the release itself; its manifest must be next to it:"
    } else {
        "Verify the models on the release itself:"
    };
    vec![
        (format!("incrowd verify {release}{roles}{models}{with_original}"), check.to_owned()),
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

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-,/=:+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
