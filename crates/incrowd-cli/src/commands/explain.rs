//! `incrowd explain`: everything is read off the lists of models, algorithms, metrics and attacks.

use std::process::ExitCode;

use incrowd::core::Better;
use incrowd::metric::METRICS;
use incrowd::model::MODELS;
use incrowd::recode::ALGORITHMS;
use incrowd::utility::UTILITIES;
use incrowd::{ATTACKS, Error, Param, ParamKind};
use serde_json::{Value, json};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, say, with_flags};

/// One entry of any list.
struct Entry {
    kind: &'static str,
    name: &'static str,
    about: &'static str,
    limits: Option<&'static str>,
    /// Keys in backticks.
    needs: Option<&'static str>,
    paper: &'static str,
    params: &'static [Param],
    /// Which end of its scale is the good one, if it is a measure.
    better: Option<Better>,
    /// What makes the same table give the same release again, if it does not anyway.
    repeatable: &'static [(&'static str, &'static str)],
}

fn entries() -> Vec<Entry> {
    let models = MODELS.iter().map(|c| Entry {
        kind: "model",
        name: c.name,
        about: c.promise,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: &[],
    });
    let algorithms = ALGORITHMS.iter().map(|c| Entry {
        kind: "algorithm",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: c.repeatable,
    });
    let metrics = METRICS.iter().map(|c| Entry {
        kind: "metric",
        name: c.name,
        about: c.about,
        limits: None,
        needs: None,
        paper: c.paper,
        params: &[],
        better: Some(c.better),
        repeatable: &[],
    });
    let attacks = ATTACKS.iter().map(|c| Entry {
        kind: "attack",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: Some(c.needs_text),
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: &[],
    });
    let utilities = UTILITIES.iter().map(|c| Entry {
        kind: "utility",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: &[],
        better: Some(c.better),
        repeatable: &[],
    });
    let estimators = incrowd::risk::population::ESTIMATORS.iter().map(|e| Entry {
        kind: "estimator",
        name: e.name,
        about: e.about,
        limits: Some(e.limits),
        needs: None,
        paper: e.paper,
        params: &[],
        better: None,
        repeatable: &[],
    });
    let joins = incrowd::recode::join::CARDS.iter().map(|c| Entry {
        kind: "joining",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: Some("an external table (`external`) with the identifier and all quasi-identifiers"),
        paper: c.paper,
        params: &[],
        better: None,
        repeatable: &[],
    });
    let suppressions = incrowd::recode::suppression::SUPPRESSIONS.iter().map(|c| Entry {
        kind: "suppression",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: &[],
    });
    let choice = [&incrowd::CHOICE].into_iter().map(|c| Entry {
        kind: "choice",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: &[],
        better: None,
        repeatable: &[],
    });
    models
        .chain(algorithms)
        .chain(suppressions)
        .chain(metrics)
        .chain(utilities)
        .chain(attacks)
        .chain(estimators)
        .chain(joins)
        .chain(choice)
        .collect()
}

pub(crate) fn run(args: &ExplainArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let entries = entries();
    let Some(name) = &args.name else {
        if mode.json {
            mode.print_json(&Value::Array(entries.iter().map(to_json).collect()));
        } else {
            for entry in &entries {
                say!("{:<11} {:<23} {}", entry.kind, entry.name, first_sentence(entry.about));
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(entry) = entries.iter().find(|entry| entry.name == name.replace(' ', "_") || entry.name == name)
    else {
        let known = entries.iter().map(|entry| entry.name);
        return Err(Error::job(format!("there is nothing called `{name}`")).help_near(name, known).into());
    };
    if mode.json {
        mode.print_json(&to_json(entry));
    } else {
        print(entry);
    }
    Ok(ExitCode::SUCCESS)
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

fn takes(kind: ParamKind) -> String {
    match kind {
        ParamKind::Count(least) => format!("a whole number from {least}"),
        ParamKind::Number(lo, f64::MAX) => format!("a number from {lo}"),
        ParamKind::Number(lo, hi) => format!("a number from {lo} to {hi}"),
        ParamKind::Choice(words) => words.join(" | "),
        ParamKind::Column => "the name of a sensitive column".to_owned(),
        ParamKind::Words => "a list of names".to_owned(),
        ParamKind::Flag => "true | false".to_owned(),
    }
}

fn print(entry: &Entry) {
    say!("{} ({})\n", entry.name, entry.kind);
    say!("{}", wrapped(&with_flags(entry.about)));
    if let Some(limits) = entry.limits {
        say!("\nLimits. {}", wrapped(&with_flags(limits)));
    }
    if let Some(needs) = entry.needs {
        say!("\nNeeds. {}", wrapped(&with_flags(needs)));
    }
    if let Some(better) = entry.better {
        say!("\nBetter: {}", better.words());
    }
    if !entry.params.is_empty() {
        say!("\nParameters");
        for param in entry.params {
            let default = match param.default {
                None => "required".to_owned(),
                Some("") => "default: none".to_owned(),
                Some(word) => format!("default: {word}"),
            };
            say!("  {} = {}   ({default})\n      {}", param.name, takes(param.kind), param.about);
        }
    }
    for (name, word) in entry.repeatable {
        say!("\nThe same table gives the same release again with {name} = {word}.");
    }
    say!("\nPaper: {} (docs/papers.md)", entry.paper);
}

/// Breaks lines at 96 columns.
pub(crate) fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        if column > 0 && column + 1 + word.chars().count() > 96 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.chars().count();
    }
    out
}

fn to_json(entry: &Entry) -> Value {
    let param =
        |p: &Param| json!({ "name": p.name, "takes": takes(p.kind), "default": p.default, "about": p.about });
    json!({
        "name": entry.name,
        "kind": entry.kind,
        "about": with_flags(entry.about),
        "limits": entry.limits.map(with_flags),
        "needs": entry.needs.map(with_flags),
        "better": entry.better.map(Better::words),
        "paper": entry.paper,
        "repeatable": entry.repeatable.iter().map(|(name, word)| json!([name, word])).collect::<Vec<_>>(),
        "parameters": entry.params.iter().map(param).collect::<Vec<_>>(),
    })
}
