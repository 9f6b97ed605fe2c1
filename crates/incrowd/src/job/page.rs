//! Generates `docs/job-file.md` from the list of keys and the template `job-file.md` in this
//! directory. A line `{{keys input}}` is replaced by the keys of a section, `{{options mondrian}}`
//! by the parameters on a card. `INCROWD_UPDATE_DOCS=1 cargo test -p incrowd --lib page` writes the
//! page.

use std::path::Path;

use incrowd_core::{Param, ParamKind};

use super::keys::{Flag, Form, Key, Kind, Section};

fn page() -> String {
    let line = |line: &str| match line
        .strip_prefix("{{")
        .and_then(|l| l.strip_suffix("}}")?.split_once(' '))
    {
        Some(("keys", name)) => keys(Section::ALL.iter().find(|(n, _)| *n == name).expect(name).1),
        Some(("options", name)) => options(name),
        _ => format!("{line}\n"),
    };
    include_str!("job-file.md").lines().map(line).collect()
}

fn keys(section: Section) -> String {
    let row = |key: &Key| {
        let flags = key.flags.iter().map(flag).collect::<Vec<_>>().join(", ");
        format!(
            "| `{}` | {flags} | {} | {} |\n",
            key.name,
            default(key),
            meaning(key).replace('|', "\\|")
        )
    };
    let rows: String = section.keys().map(row).collect();
    format!("| key | flag | default | meaning |\n|---|---|---|---|\n{rows}")
}

fn flag(flag: &Flag) -> String {
    let short = flag.short.map(|short| format!("`-{short}`, ")).unwrap_or_default();
    match flag.form {
        Form::Argument => format!("the argument `{}…`", flag.value),
        Form::Yes => format!("`--{}`", flag.long),
        _ => format!("{short}`--{} {}`", flag.long, flag.value),
    }
}

fn default(key: &Key) -> String {
    let shown = |word: &&str| match key.kind {
        Kind::Share
        | Kind::Shares
        | Kind::Number
        | Kind::Count(_)
        | Kind::Counts(_)
        | Kind::Flag => (*word).to_owned(),
        _ => format!("\"{word}\""),
    };
    let words: Vec<String> = key.default.iter().map(shown).collect();
    match (key.default, key.required) {
        ([], Some(_)) => "must be given".to_owned(),
        ([], None) => String::new(),
        _ if key.kind.is_list() => format!("`[{}]`", words.join(", ")),
        _ => format!("`{}`", words.join("")),
    }
}

fn meaning(key: &Key) -> String {
    let mut text = format!("{}.", key.about);
    if let Kind::Choice(words) = key.kind {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        text += &format!(" One of {}.", words.join(", "));
    }
    for old in key.old {
        text += &format!(" Formerly `{old}`.");
    }
    format!("{text} {}", key.more).trim().to_owned()
}

fn options(name: &str) -> String {
    let sections = [Section::Algorithm, Section::Suppression, Section::Models];
    let params =
        sections.into_iter().map(|section| section.params(name)).find(|params| !params.is_empty());
    let row = |param: &Param| {
        let default = match param.default {
            None => "must be given".to_owned(),
            Some("") => String::new(),
            Some(word) if matches!(param.kind, ParamKind::Choice(_)) => format!("`\"{word}\"`"),
            Some(word) => format!("`{word}`"),
        };
        let words = match param.kind {
            ParamKind::Choice(words) => {
                format!(
                    " ({})",
                    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
                )
            }
            _ => String::new(),
        };
        let about = format!("{}{words}", param.about);
        format!("| `{}` | {default} | {} |\n", param.name, about.replace('|', "\\|"))
    };
    let rows: String =
        params.unwrap_or_else(|| panic!("there is no {name}")).iter().map(row).collect();
    format!("| option | default | meaning |\n|---|---|---|\n{rows}")
}

#[test]
fn the_page_about_job_files_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/job-file.md");
    if std::env::var_os("INCROWD_UPDATE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == page(),
        "docs/job-file.md is out of date: INCROWD_UPDATE_DOCS=1 cargo test -p incrowd page"
    );
}
