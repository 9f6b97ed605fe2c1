//! The step "Hierarchies": shows how quasi-identifiers are generalized and changes it.

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use incrowd::Error;
use incrowd::front_end::core::Taxonomy;
use incrowd::hierarchy::known::KNOWN;
use incrowd::hierarchy::lint::{self, Severity};
use incrowd::hierarchy::{HierarchySpec, arx};
use incrowd::job::keys::{Key, Section};
use incrowd::job::{Input, JobError, RoleName};
use maud::{Markup, html};
use toml::{Table, Value};

use super::{Context, FormFields, JobPath, Step, context, form_value, layout};
use crate::app::App;
use crate::chart;
use crate::document::{Document, is_open, text_of};
use crate::forms;
use crate::markup;
use crate::texts as t;

/// The page of the step, for the column in the query.
pub(super) async fn page(
    (State(app), Path((table, job))): JobPath,
    Query(query): Query<FormFields>,
) -> Response {
    let ctx = match context(&app, &table, &job) {
        Ok(ctx) => ctx,
        Err(response) => return *response,
    };
    let column = form_value(&query, "column").map(str::to_owned);
    // Building a hierarchy reads the column, which may block.
    let drawn = tokio::task::spawn_blocking(move || render(&ctx, column.as_deref(), None)).await;
    drawn.map_or_else(|_| failed(&app), IntoResponse::into_response)
}

/// Renders the page. `refused` is a form that was refused, with its error.
fn render(
    ctx: &Context,
    column: Option<&str>,
    refused: Option<(&FormFields, &JobError)>,
) -> layout::Page {
    let columns = ctx.document.in_role(RoleName::Quasi);
    let chosen = column.filter(|column| columns.contains(column)).or(columns.first().copied());
    let link = |column: &str| format!("{}?column={}", ctx.href(Step::Hierarchies), escaped(column));
    let body = html! {
        @match chosen {
            None => { p { (t::NO_QUASI) } }
            Some(chosen) => {
                nav.tabs aria-label=(t::QUASI) {
                    ul {
                        @for column in &columns {
                            @let current = (*column == chosen).then_some("page");
                            li { a href=(link(column)) aria-current=[current] { (column) } }
                        }
                    }
                }
                (editor(ctx, chosen, refused))
            }
        }
    };
    layout::step(ctx, Step::Hierarchies, &body)
}

/// Percent-encodes a text for a query.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Returns the form value of the column's hierarchy.
fn way(document: &Document, column: &str) -> String {
    match document.get(&["columns", column, "hierarchy"]) {
        None => "plain".to_owned(),
        Some(Value::String(word)) => word.split(':').next().unwrap_or_default().to_owned(),
        Some(Value::Table(table)) => match table.iter().next() {
            Some((form, Value::Table(options))) if form == "mask" => {
                let left = options.get("from").and_then(Value::as_str) == Some("left");
                if left { "mask-left" } else { "mask" }.to_owned()
            }
            Some((form, Value::String(name))) if form == "known" => name.clone(),
            Some((form, _)) => form.clone(),
            None => "plain".to_owned(),
        },
        Some(_) => "plain".to_owned(),
    }
}

fn editor(ctx: &Context, column: &str, refused: Option<(&FormFields, &JobError)>) -> Markup {
    let now = way(&ctx.document, column);
    let built = build(ctx, column);
    let text = |name: &str| form_value(refused?.0, name).map(str::to_owned);
    let now = text("way").unwrap_or(now);
    let option =
        |form: &str, key: &str| ctx.document.get_text(&["columns", column, "hierarchy", form, key]);
    let cuts = ctx.document.get(&["columns", column, "hierarchy", "cuts"]).map(text_of);
    let lines = text("lines").or_else(|| match &built {
        Ok(Some(tree)) if tree.leaves() <= 2000 && tree.grid().is_none() => Some(arx::write(tree)),
        _ => None,
    });
    let quasi_key = |key: &&Key| is_open(key) && key.roles.contains(&RoleName::Quasi);
    html! {
        section.hierarchy aria-labelledby="picture" {
            h2 id="picture" { (column) }
            @match &built {
                Ok(Some(tree)) => {
                    p { (t::tree(tree.leaves(), tree.height())) }
                    (chart::icicle(column, tree))
                    details { summary { (t::OUTLINE) } (chart::outline(tree, tree.root(), 6)) }
                }
                Ok(None) => {
                    @let glimpse = ctx.inspection.glimpse(column);
                    p { (t::plain_about(glimpse.is_some_and(|glimpse| glimpse.numbers))) }
                    @if let Some(glimpse) = glimpse { (chart::glimpse(glimpse)) }
                }
                Err(error) => { (markup::error(error)) }
            }
        }
        @if let Some((_, error)) = refused { (markup::error(error)) }
        form.ways autocomplete="off" method="post" action=(ctx.below("hierarchy")) {
            input type="hidden" name="column" value=(column);
            fieldset {
                legend { (t::WAYS) }
                (choice("plain", &now, t::WAY_PLAIN, None))
                (choice("intervals", &now, t::WAY_INTERVALS, Some(html! {
                    (small("width", t::WIDTH, text("width").or(option("intervals", "width"))))
                    (small("levels", t::LEVELS, text("levels").or(option("intervals", "levels"))))
                })))
                (choice("cuts", &now, t::WAY_CUTS,
                    Some(small("cuts", t::CUTS, text("cuts").or(cuts)))))
                (choice("mask", &now, t::WAY_MASK, None))
                (choice("mask-left", &now, t::WAY_MASK_LEFT, None))
                (choice("dates", &now, t::WAY_DATES, None))
                (choice("bands", &now, t::WAY_BANDS, None))
                (choice("ages", &now, t::WAY_AGES, None))
                (choice("mdr", &now, t::WAY_MDR, None))
                @for known in KNOWN {
                    (choice(known.name, &now, &markup::capital(known.title), None))
                }
                (choice("tree", &now, t::WAY_TREE, Some(html! {
                    div.field.lines {
                        label for="lines" { (t::LINES) }
                        textarea id="lines" name="lines" rows="10" spellcheck="false"
                            aria-describedby="lines-about" { (lines.unwrap_or_default()) }
                        p.note id="lines-about" { (markup::capital(t::LINES_ABOUT)) }
                        label for="lines-file" { (t::LINES_FILE) }
                        input id="lines-file" type="file" data-into="lines";
                    }
                })))
            }
            button.primary { (t::USE) }
        }
        form method="post" action=(ctx.below("change")) {
            input type="hidden" name="then" value=(Step::Hierarchies.name());
            details { summary { (t::LIMITS_OF_COLUMN) }
                div.fields {
                    @for key in Section::Columns.keys().filter(quasi_key) {
                        (forms::key(&ctx.document, key, &["columns", column]))
                    }
                }
                button { (t::SAVE) }
            }
        }
    }
}

fn choice(word: &str, now: &str, about: &str, more: Option<Markup>) -> Markup {
    let id = format!("way-{word}");
    html! {
        div.way {
            input type="radio" id=(id) name="way" value=(word) checked[word == now];
            label for=(id) { (about) }
            @if let Some(more) = more { div.more { (more) } }
        }
    }
}

fn small(name: &str, label: &str, value: Option<String>) -> Markup {
    html! {
        span.small {
            label for=(name) { (label) }
            input type="text" id=(name) name=(name) value=(value.unwrap_or_default())
                autocomplete="off";
        }
    }
}

/// Builds the hierarchy of a column, if it has one.
fn build(ctx: &Context, column: &str) -> Result<Option<Taxonomy>, JobError> {
    let file = ctx.document.read(&ctx.table.base)?;
    let spec = file.job.column(column).and_then(|own| own.spec.hierarchy.clone());
    let Some(spec) = spec else { return Ok(None) };
    let input = Input {
        paths: ctx.table.input.paths.clone(),
        memory: ctx.table.input.memory.clone(),
        ..file.job.input.clone()
    };
    let tree =
        build_taxonomy(&spec, &input, column).map_err(|error| file.provenance.locate(error))?;
    Ok(Some(tree))
}

fn build_taxonomy(spec: &HierarchySpec, input: &Input, column: &str) -> incrowd::Result<Taxonomy> {
    let counted = input.column_counts(column)?;
    let values: Vec<&str> = counted.iter().map(|(value, _)| value.as_str()).collect();
    let counts: Vec<u64> = counted.iter().map(|(_, records)| *records).collect();
    let spec = input.hierarchy_of(column, spec)?;
    let values = incrowd::front_end::spelled(&spec, column, &values)?;
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let tree = spec.build_counted(column, &values, Some(&counts), None)?;
    let known = values.iter().copied().filter(|value| spec.canonical(value).is_none());
    match lint::missing_values(&tree, known) {
        0 => Ok(tree),
        absent => Err(Error::input(format!(
            "{absent} values of column `{column}` are not in the hierarchy"
        ))
        .help("add a line for each value, or choose another method")),
    }
}

/// Sets the hierarchy of a column.
pub(super) async fn change(
    (State(app), Path((table, job))): JobPath,
    Form(fields): Form<FormFields>,
) -> Response {
    let ctx = match context(&app, &table, &job) {
        Ok(ctx) => ctx,
        Err(response) => return *response,
    };
    let done = tokio::task::spawn_blocking(move || {
        let value = |name: &str| form_value(&fields, name).unwrap_or_default();
        let column = ctx.document.column_named(value("column")).unwrap_or_default().to_owned();
        if !ctx.document.in_role(RoleName::Quasi).contains(&column.as_str()) {
            return Redirect::to(&ctx.href(Step::Hierarchies)).into_response();
        }
        match changed(&ctx, &column, &value) {
            Ok(document) => {
                let job = ctx.table.add_job(document);
                let to = super::address(&ctx.app, &ctx.table, &job, Step::Hierarchies);
                Redirect::to(&format!("{to}?column={}", escaped(&column))).into_response()
            }
            Err(error) => render(&ctx, Some(&column), Some((&fields, &error))).into_response(),
        }
    });
    done.await.unwrap_or_else(|_| failed(&app))
}

fn failed(app: &App) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, layout::failed(app)).into_response()
}

/// Returns the job with the hierarchy of a form, if it can be built for the column.
fn changed<'a>(
    ctx: &Context,
    column: &str,
    field: &dyn Fn(&str) -> &'a str,
) -> Result<Document, JobError> {
    let number = |text: &str| match (text.trim().parse::<i64>(), text.trim().parse::<f64>()) {
        (Ok(n), _) => Value::Integer(n),
        (_, Ok(x)) if x.is_finite() => Value::Float(x),
        _ => Value::from(text.trim()),
    };
    let table = |fields: Vec<(&str, Value)>| {
        Value::Table(
            fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Table>(),
        )
    };
    let spec = match field("way") {
        "plain" => None,
        "intervals" => {
            let options =
                ["width", "levels"].into_iter().filter(|key| !field(key).trim().is_empty());
            Some(table(vec![(
                "intervals",
                table(options.map(|key| (key, number(field(key)))).collect()),
            )]))
        }
        "cuts" => {
            let cuts =
                field("cuts").split([',', ' ', ';']).filter(|cut| !cut.is_empty()).map(number);
            Some(table(vec![("cuts", Value::Array(cuts.collect()))]))
        }
        "mask" => Some(table(vec![("mask", table(Vec::new()))])),
        "mask-left" => Some(table(vec![("mask", table(vec![("from", Value::from("left"))]))])),
        "tree" => Some(table(vec![("tree", tree(field("lines"))?)])),
        word @ ("dates" | "bands" | "ages" | "mdr") => Some(Value::from(word)),
        word if KNOWN.iter().any(|known| known.name == word) => Some(Value::from(word)),
        // A hierarchy built from other columns is kept.
        _ => ctx.document.get(&["columns", column, "hierarchy"]).cloned(),
    };
    let mut document = (*ctx.document).clone();
    document.put(&["columns", column, "hierarchy"], spec.clone());
    if spec.is_some() {
        document.put(&["columns", column, "kind"], None);
        document.put(&["columns", column, "labels"], None);
    } else if ctx.inspection.glimpse(column).is_some_and(|seen| seen.numbers) {
        document.put(&["columns", column, "kind"], Some(Value::from("numeric")));
    }
    let own = Context { document: std::sync::Arc::new(document.clone()), ..ctx.clone() };
    build(&own, column).map(|_| document)
}

/// The largest number of levels. A job file cannot nest 80 tables, and a function that recurses
/// once per level would overflow the stack, which ends the process.
const MOST_LEVELS: usize = 60;

/// Parses lines `value;level1;…;*` into a tree of the job file.
fn tree(lines: &str) -> Result<Value, JobError> {
    let lines = arx::lines("lines", lines)?;
    if lines.iter().any(|line| line.path.len() > MOST_LEVELS) {
        return Err(Error::input(format!("a line has more than {MOST_LEVELS} values"))
            .help("remove some levels")
            .into());
    }
    let findings = lint::lint(&lines);
    if let Some(first) = findings.iter().find(|finding| finding.severity == Severity::Error) {
        let line = first.line.map_or_else(String::new, |line| format!("line {line}: "));
        return Err(Error::input(format!("{line}{}", first.plain)).help(t::LINES_ABOUT).into());
    }
    let mut root = Value::Table(Table::new());
    for line in &lines {
        let Some((leaf, above)) = line.path.split_first() else { continue };
        // The root is written only if there is no level between it and the values.
        let above: Vec<&String> = match above {
            [root] => vec![root],
            [between @ .., _] => between.iter().rev().collect(),
            [] => continue,
        };
        put(&mut root, &above, leaf);
    }
    Ok(root)
}

fn put(node: &mut Value, above: &[&String], leaf: &str) {
    let Value::Table(table) = node else { return };
    match above {
        [] => {}
        [last] => {
            let list = table.entry(last.as_str()).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(Value::from(leaf));
            }
        }
        [first, rest @ ..] => {
            put(
                table.entry(first.as_str()).or_insert_with(|| Value::Table(Table::new())),
                rest,
                leaf,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed_into_a_tree() {
        for lines in ["a;x;*\nb;x;*\nc;y;*\n", "a;*\nb;*\n", "a;x;p;*\nb;y;p;*\nc;z;q;*\n"] {
            let value = tree(lines).unwrap();
            let Value::Table(table) = &value else { panic!("not a table") };
            let made =
                incrowd::hierarchy::nested::Tree::from_table("x", table).unwrap().build().unwrap();
            let meant = arx::read("x", lines).unwrap();
            assert_eq!(arx::write(&made), arx::write(&meant), "{lines}");
        }
        assert!(tree("a;x;*\na;y;*\n").is_err());
        assert!(tree("").is_err());
        let deep = |levels: usize| {
            format!("a;{}*\n", (2..levels).map(|i| format!("{i};")).collect::<String>())
        };
        assert!(tree(&deep(MOST_LEVELS)).is_ok() && tree(&deep(MOST_LEVELS + 1)).is_err());
    }

    #[test]
    fn names_are_percent_encoded() {
        assert_eq!(escaped("a b&c=ü"), "a%20b%26c%3D%C3%BC");
    }
}
