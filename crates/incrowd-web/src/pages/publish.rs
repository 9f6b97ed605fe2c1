//! The step "Publish": writes the release and its job file into a folder.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use incrowd::job::keys::Section;
use incrowd::{Error, Fault};
use incrowd_report::Tone;
use incrowd_report::parts::verdict;
use maud::{Markup, html};
use toml::Value;

use super::{Context, FormFields, JobPath, Step, context, form_value, layout, models};
use crate::app::App;
use crate::document::is_open;
use crate::forms;
use crate::markup::{self, prose};
use crate::open::Origin;
use crate::private_dir::file_name;
use crate::steps::{self, Answer, File, Published};
use crate::tasks::{Key, Kind, State as TaskState};
use crate::texts as t;

/// The page of the step.
pub(super) async fn page((State(app), Path((table, job))): JobPath) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => layout::step(&ctx, Step::Publish, &body(&ctx, None)).into_response(),
        Err(response) => *response,
    }
}

fn body(ctx: &Context, refused: Option<&incrowd::job::JobError>) -> Markup {
    if let Some(error) = models::job_error(ctx) {
        return models::invalid(ctx, &error);
    }
    let key = Key { table: ctx.table.id.clone(), job: ctx.job.clone(), kind: Kind::Publish };
    let task =
        ctx.app.tasks.get(&key).map(|task| layout::waiting(&task, Kind::Publish, &ctx.below("")));
    html! {
        @if let Some(error) = refused { (markup::error(error)) }
        div data-part="publish" {
            @match task {
                Some(Ok(Answer::Published(published))) => { (done(ctx, &published)) }
                Some(Ok(_)) | None => {}
                Some(Err(shown)) => { (shown) }
            }
        }
        (form(ctx))
        section aria-labelledby="job" {
            h2 id="job" { (t::JOB) }
            p { (t::JOB_ABOUT) " " code { "incrowd anonymize " (job_name(ctx)) } }
            p {
                a.button href=(ctx.download("job.toml")) download=(job_name(ctx)) {
                    (t::DOWNLOAD_JOB)
                }
            }
            @let text = steps::job_text(&ctx.table, Some(&ctx.inspection), &ctx.document);
            details { summary { (t::SHOW_JOB) } pre tabindex="0" { code { (text) } } }
        }
    }
}

fn job_name(ctx: &Context) -> String {
    steps::job_name(FilePath::new(&ctx.document.get_text(&["output", "path"]).unwrap_or_default()))
}

fn form(ctx: &Context) -> Markup {
    let path = PathBuf::from(ctx.document.get_text(&["output", "path"]).unwrap_or_default());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = path.parent().filter(|dir| dir.is_absolute()).map(FilePath::to_owned).unwrap_or_else(
        || match ctx.table.origin {
            Origin::Path => ctx.table.base.clone(),
            _ => std::env::current_dir().unwrap_or_default(),
        },
    );
    html! {
        form.publish autocomplete="off" method="post" action=(ctx.href(Step::Publish)) {
            fieldset {
                legend { (t::WRITE) }
                div.field {
                    label for="dir" { (t::FOLDER) }
                    input id="dir" name="dir" type="text" required value=(dir.display())
                        autocomplete="off" spellcheck="false" aria-describedby="dir-about";
                    p.note id="dir-about" { (t::FOLDER_ABOUT) }
                }
                div.field {
                    label for="name" { (t::FILE_NAME) }
                    input id="name" name="name" type="text" required value=(name)
                        autocomplete="off" spellcheck="false" aria-describedby="name-about";
                    p.note id="name-about" { (t::FILE_NAME_ABOUT) }
                }
                p.check {
                    input type="checkbox" id="public" name="public" value="yes" checked;
                    label for="public" { (t::PUBLIC_PAGE) }
                }
                p.check {
                    input type="checkbox" id="owner" name="owner" value="yes" checked;
                    label for="owner" { (t::OWNER_PAGE) }
                }
                details { summary { (t::HOW_WRITTEN) }
                    div.fields {
                        @for key in Section::Output.keys().filter(|key| is_open(key)) {
                            (forms::key(&ctx.document, key, &["output"]))
                        }
                    }
                }
            }
            button.primary { (t::WRITE_NOW) }
        }
    }
}

fn done(ctx: &Context, published: &Published) -> Markup {
    let href = |i: usize, file: File| ctx.download(&format!("file/{}-{i}", file.name()));
    let release = published.files.first().map(|(_, path)| path.as_path());
    let release = quoted(release.unwrap_or(FilePath::new("")));
    html! {
        (verdict(Tone::Good, t::WRITTEN, &[published.dir.display().to_string()]))
        @if let Some(journals) = &published.journals { p.message.note { (prose(journals)) } }
        ul.files {
            @for (i, (file, path)) in published.files.iter().enumerate() {
                @let page = matches!(file, File::Public | File::Owner);
                li {
                    a href=(href(i, *file)) target=[page.then_some("_blank")]
                        rel=[page.then_some("noopener")]
                        download=[(!page).then(|| name(path))] { (name(path)) }
                    " " span.muted { (t::file(*file)) }
                }
            }
        }
        p { (t::CHECK_AGAIN) }
        pre tabindex="0" { code { "incrowd verify " (release) } }
        @if ctx.table.origin == Origin::Upload { p.note { (t::UPLOAD_JOB) } }
    }
}

fn name(path: &FilePath) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Quotes a path for a shell.
fn quoted(path: &FilePath) -> String {
    let path = path.display().to_string();
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Writes the files.
pub(super) async fn publish(
    (State(app), Path((table, job))): JobPath,
    Form(fields): Form<FormFields>,
) -> Response {
    let ctx = match context(&app, &table, &job) {
        Ok(ctx) => ctx,
        Err(response) => return *response,
    };
    let value = |name: &str| form_value(&fields, name).map(str::trim);
    let (dir, name) =
        match targets(value("dir").unwrap_or_default(), value("name").unwrap_or_default()) {
            Ok(targets) => targets,
            Err(error) => {
                let code = if error.fault() == Fault::Resources {
                    StatusCode::CONFLICT
                } else {
                    StatusCode::UNPROCESSABLE_ENTITY
                };
                return (code, layout::step(&ctx, Step::Publish, &body(&ctx, Some(&error.into()))))
                    .into_response();
            }
        };
    let mut document = (*ctx.document).clone();
    for (name, value) in fields.iter().filter(|(name, _)| name.starts_with("output/")) {
        document.change(&(crate::document::field_path(name), vec![value.clone()]));
    }
    let page_path = |end: &str| {
        let stem = name.split(".release.").next().unwrap_or(&name);
        Value::from(dir.join(format!("{stem}.{end}.html")).display().to_string())
    };
    document.put(&["output", "path"], Some(Value::from(dir.join(&name).display().to_string())));
    document.put(&["output", "report"], value("public").map(|_| page_path("report")));
    document.put(&["output", "owner_report"], value("owner").map(|_| page_path("owner")));
    let job = ctx.table.add_job(document);
    // Publishing again writes the files again.
    app.tasks.forget(&Key { table: ctx.table.id.clone(), job: job.clone(), kind: Kind::Publish });
    steps::ask(&app, &ctx.table, &job, Kind::Publish);
    axum::response::Redirect::to(&super::address(&app, &ctx.table, &job, Step::Publish))
        .into_response()
}

/// Checks the folder and the file name. The folder is created if only its last part is missing.
fn targets(dir: &str, name: &str) -> incrowd::Result<(PathBuf, String)> {
    let name = file_name(name).filter(|own| own == name).ok_or_else(|| {
        Error::job("this is not a file name")
            .help("enter a name without folders, such as people.release.csv")
    })?;
    let dir = PathBuf::from(dir);
    if !dir.is_absolute() {
        return Err(Error::job("the folder must be an absolute path")
            .help("enter a path that begins with /"));
    }
    if !dir.is_dir() {
        std::fs::create_dir(&dir).map_err(|e| {
            Error::resources(format!("cannot create the folder: {e}"))
                .help("choose an existing folder")
        })?;
    }
    Ok((dir, name))
}

/// Sends the job file.
pub(super) async fn job((State(app), Path((table, job))): JobPath) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => {
            let text = steps::job_text(&ctx.table, Some(&ctx.inspection), &ctx.document);
            let disposition = format!("attachment; filename=\"{}\"", ascii(&job_name(&ctx)));
            (
                [
                    (header::CONTENT_TYPE, "application/toml; charset=utf-8".to_owned()),
                    (header::CONTENT_DISPOSITION, disposition),
                ],
                text,
            )
                .into_response()
        }
        Err(response) => *response,
    }
}

fn ascii(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
        .collect()
}

/// The content security policy of written reports: inline styles only.
const PAGE_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/// Sends one of the written files.
pub(super) async fn file(
    State(app): State<Arc<App>>,
    Path((table, job, what)): Path<(String, String, String)>,
) -> Response {
    let missing = || (StatusCode::NOT_FOUND, layout::nothing(&app)).into_response();
    let key = Key { table, job, kind: Kind::Publish };
    let Some(TaskState::Done(Answer::Published(published))) =
        app.tasks.get(&key).map(|task| task.state())
    else {
        return missing();
    };
    let ctx = what.rsplit_once('-').and_then(|(name, i)| Some((name, i.parse::<usize>().ok()?)));
    let written =
        ctx.and_then(|(name, i)| published.files.get(i).filter(|(file, _)| file.name() == name));
    let Some((file, path)) = written else { return missing() };
    let Ok(bytes) = tokio::fs::read(path).await else { return missing() };
    match file {
        File::Public | File::Owner => (
            [
                (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
            ],
            bytes,
        )
            .into_response(),
        _ => {
            let disposition = format!("attachment; filename=\"{}\"", ascii(&name(path)));
            (
                [
                    (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
                    (header::CONTENT_DISPOSITION, disposition),
                ],
                bytes,
            )
                .into_response()
        }
    }
}
