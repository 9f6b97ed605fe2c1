//! `incrowd hierarchy build | lint | show`

use std::path::Path;
use std::process::ExitCode;

use incrowd::front_end::core::{NodeId, Taxonomy};
use incrowd::hierarchy::lint::{self, Finding, Severity};
use incrowd::hierarchy::{HierarchySpec, arx};
use incrowd::job::{Input, hierarchy_from_path, hierarchy_from_word};
use incrowd::{Error, Result};
use serde_json::{Value, json};

use crate::args::{HierarchyArgs, HierarchyCommand};
use crate::failure::Failure;
use crate::print::{OutputMode, one_line, outln, print_file, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &HierarchyArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (table, output) = match &args.command {
        HierarchyCommand::Build { table, output, .. } => (Some(table), output.as_ref()),
        HierarchyCommand::Lint { table, .. } | HierarchyCommand::Show { table, .. } => {
            (table.as_ref(), None)
        }
    };
    incrowd::front_end::unauthenticated_beside(table.into_iter().chain(output))
        .iter()
        .for_each(|text| mode.warn(text));
    match &args.command {
        HierarchyCommand::Build { table, column, kind, output, replace } => {
            build((table, column), kind, output.as_deref(), *replace, mode)
        }
        HierarchyCommand::Lint { file, table, column } => {
            lint_file(file, table.as_deref().zip(column.as_deref()), mode)
        }
        HierarchyCommand::Show { file, table, column, depth, most } => {
            let taxonomy = match table.as_deref().zip(column.as_deref()) {
                Some((table, column)) => {
                    build_taxonomy(table, column, &file.to_string_lossy(), mode)
                }
                None => hierarchy_from_path(file).and_then(|spec| spec.build("", &[])),
            };
            taxonomy.map(|taxonomy| show(&taxonomy, *depth, *most, mode))
        }
    }
    .map_err(Failure::from)
}

fn values(table: &Path, column: &str, mode: OutputMode) -> Result<Vec<String>> {
    let input = Input { paths: vec![table.to_owned().into()], ..Input::default() };
    input.progress(&Bar::new(mode)).column_values(column)
}

fn build(
    (table, column): (&Path, &str),
    kind: &str,
    output: Option<&Path>,
    replace: bool,
    mode: OutputMode,
) -> Result<ExitCode> {
    let mut claim = incrowd::front_end::Claim::default();
    claim.read_input(&Input { paths: vec![table.to_owned().into()], ..Input::default() });
    claim.reads(kind);
    let target = output.map(|path| claim.writes(path, "the hierarchy", "output")).transpose()?;
    if let Some(path) = output {
        let note = incrowd::front_end::check_file(path, incrowd::front_end::Mark::None, replace)?;
        note.iter().for_each(|note| mode.note(note));
    }
    let taxonomy = build_taxonomy(table, column, kind, mode)?;
    if let Some(target) = &target {
        incrowd::front_end::write_file(
            target,
            arx::write(&taxonomy).as_bytes(),
            incrowd::Audience::Everybody,
        )?;
    }
    if mode.json {
        mode.print_json(&tree_json(&taxonomy, taxonomy.root()));
    } else if let Some(path) = output {
        let (leaves, levels) = (thousands(u64::from(taxonomy.leaves())), taxonomy.height() + 1);
        let path = one_line(&path.display().to_string());
        outln!("wrote    {path}   {leaves} values, {levels} levels");
    } else {
        print_file(&arx::write(&taxonomy));
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the hierarchy of a column. A recipe such as `mask` is applied to the column's values.
fn build_taxonomy(table: &Path, column: &str, kind: &str, mode: OutputMode) -> Result<Taxonomy> {
    let spec = hierarchy_from_word(kind)?;
    let input = Input { paths: vec![table.to_owned().into()], ..Input::default() };
    let counted = input.progress(&Bar::new(mode)).column_counts(column)?;
    let values: Vec<&str> = counted.iter().map(|(value, _)| value.as_str()).collect();
    let counts: Vec<u64> = counted.iter().map(|(_, records)| *records).collect();
    let spec = input.progress(&Bar::new(mode)).hierarchy_of(column, &spec)?;
    let values = incrowd::front_end::spelled(&spec, column, &values)?;
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let taxonomy = spec.build_counted(column, &values, Some(&counts), None)?;
    let absent = lint::missing_values(
        &taxonomy,
        values.iter().copied().filter(|v| spec.canonical(v).is_none()),
    );
    if absent > 0 {
        return Err(Error::input(format!(
            "column `{column}` has {absent} values that are not in the hierarchy"
        )));
    }
    Ok(taxonomy)
}

fn lint_file(file: &Path, against: Option<(&Path, &str)>, mode: OutputMode) -> Result<ExitCode> {
    let spec = hierarchy_from_path(file)?;
    let (mut findings, lines) = match &spec {
        HierarchySpec::Arx { name, text } => {
            let lines = arx::lines(name, text)?;
            (lint::lint(&lines), lines.len())
        }
        _ => (Vec::new(), 0),
    };
    if let Some((table, column)) = against
        && findings.iter().all(|f| f.severity == Severity::Warning)
    {
        let values = values(table, column, mode)?;
        let taxonomy = spec.build(column, &[])?;
        let absent = lint::missing_values(&taxonomy, values.iter().map(String::as_str));
        if absent > 0 {
            let message = format!(
                "{absent} of the {} values of column `{column}` are missing from the file",
                values.len()
            );
            findings.push(Finding {
                severity: Severity::Error,
                line: None,
                plain: message.clone(),
                message,
            });
        }
    }
    let errors = findings.iter().filter(|f| f.severity == Severity::Error).count();
    if mode.json {
        let finding = |f: &Finding| {
            let severity = if f.severity == Severity::Error { "error" } else { "warning" };
            json!({ "severity": severity, "line": f.line, "message": f.message })
        };
        let list: Vec<Value> = findings.iter().map(finding).collect();
        mode.print_json(
            &json!({ "file": file.display().to_string(), "errors": errors, "findings": list }),
        );
    } else {
        for finding in &findings {
            let severity = if finding.severity == Severity::Error { "error" } else { "warning" };
            let finding = format!("{}, {finding}", file.display());
            outln!("{severity}: {}", one_line(&finding));
        }
        let warnings = findings.len() - errors;
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let what = if lines > 0 { format!("{lines} lines, ") } else { String::new() };
        outln!("{what}{errors} error{}, {warnings} warning{}", s(errors), s(warnings));
    }
    Ok(ExitCode::from(u8::from(errors > 0)))
}

fn show(taxonomy: &Taxonomy, depth: usize, most: usize, mode: OutputMode) -> ExitCode {
    if mode.json {
        mode.print_json(&tree_json(taxonomy, taxonomy.root()));
        return ExitCode::SUCCESS;
    }
    outln!(
        "{}   {} values, {} levels",
        one_line(taxonomy.label(taxonomy.root())),
        taxonomy.leaves(),
        taxonomy.height() + 1
    );
    branches(taxonomy, taxonomy.root(), depth, most, "");
    ExitCode::SUCCESS
}

fn branches(taxonomy: &Taxonomy, node: NodeId, depth: usize, most: usize, indent: &str) {
    if depth == 0 {
        return;
    }
    let children = taxonomy.children(node);
    for (i, &child) in children.iter().take(most).enumerate() {
        let last = i + 1 == children.len();
        // The finest intervals of a grid contain values although they have no children.
        let inner = !taxonomy.children(child).is_empty() || taxonomy.grid().is_some();
        let count = if inner { format!("   ({})", taxonomy.width(child)) } else { String::new() };
        outln!(
            "{indent}{}{}{count}",
            if last { "└─ " } else { "├─ " },
            one_line(taxonomy.label(child))
        );
        branches(
            taxonomy,
            child,
            depth - 1,
            most,
            &format!("{indent}{}", if last { "   " } else { "│  " }),
        );
    }
    if children.len() > most {
        outln!("{indent}└─ … {} more", children.len() - most);
    }
}

fn tree_json(taxonomy: &Taxonomy, node: NodeId) -> Value {
    let children: Vec<Value> =
        taxonomy.children(node).iter().map(|&c| tree_json(taxonomy, c)).collect();
    if children.is_empty() {
        json!(taxonomy.label(node))
    } else {
        json!({ "label": taxonomy.label(node), "children": children })
    }
}
