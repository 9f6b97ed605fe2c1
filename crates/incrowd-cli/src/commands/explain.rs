//! `incrowd explain`: prints the cards of models, algorithms, metrics and attacks.

use std::process::ExitCode;

use incrowd::explain::{Entry, entries, takes};
use incrowd::front_end::core::Better;
use incrowd::{Error, Param};
use serde_json::{Value, json};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, outln, with_flags};

pub(crate) fn run(args: &ExplainArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let entries = entries();
    let Some(name) = &args.name else {
        if mode.json {
            mode.print_json(&Value::Array(entries.iter().map(to_json).collect()));
        } else {
            for entry in &entries {
                outln!("{:<11} {:<23} {}", entry.kind, entry.name, first_sentence(entry.about));
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(entry) =
        entries.iter().find(|entry| entry.name == name.replace(' ', "_") || entry.name == name)
    else {
        let known = entries.iter().map(|entry| entry.name);
        return Err(Error::job(format!("there is nothing called `{name}`"))
            .help_near(name, known)
            .into());
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

fn print(entry: &Entry) {
    outln!("{} ({})\n", entry.name, entry.kind);
    outln!("{}", wrapped(&with_flags(entry.about)));
    if let Some(limits) = entry.limits {
        outln!("\nLimits. {}", wrapped(&with_flags(limits)));
    }
    if let Some(needs) = entry.needs {
        outln!("\nNeeds. {}", wrapped(&with_flags(needs)));
    }
    if let Some(better) = entry.better {
        outln!("\nBetter: {}", better.words());
    }
    if !entry.params.is_empty() {
        outln!("\nParameters");
        for param in entry.params {
            let default = match param.default {
                None => "required".to_owned(),
                Some("") => "default: none".to_owned(),
                Some(word) => format!("default: {word}"),
            };
            outln!("  {} = {}   ({default})\n      {}", param.name, takes(param.kind), param.about);
        }
    }
    for (name, word) in entry.repeatable {
        outln!("\nWith {name} = {word}, equal tables give equal releases.");
    }
    if entry.local {
        outln!("\nIt can plan a distributed table (docs/spark.md).");
    }
    outln!("\nPaper: {} (docs/papers.md)", entry.paper);
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
    let param = |p: &Param| {
        json!({
            "name": p.name, "takes": takes(p.kind), "default": p.default, "about": p.about,
        })
    };
    let repeatable = |(name, word): &(&str, &str)| json!([name, word]);
    json!({
        "name": entry.name,
        "kind": entry.kind,
        "about": with_flags(entry.about),
        "limits": entry.limits.map(with_flags),
        "needs": entry.needs.map(with_flags),
        "better": entry.better.map(Better::words),
        "paper": entry.paper,
        "repeatable": entry.repeatable.iter().map(repeatable).collect::<Vec<_>>(),
        "local": entry.local,
        "parameters": entry.params.iter().map(param).collect::<Vec<_>>(),
    })
}
