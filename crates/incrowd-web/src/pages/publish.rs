//! Publishing: files in a folder, and the job file that makes the same release again.

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

use super::{At, Place, Step, at, layout, promises};
use crate::app::App;
use crate::document::is_open;
use crate::forms;
use crate::markup;
use crate::open::Origin;
use crate::private_dir::file_name;
use crate::steps::{self, Answer, File, Published};
use crate::tasks::{Key, Kind, State as Done};
use crate::texts as t;

type Fields = Vec<(String, String)>;

/// The step.
pub(super) async fn page((State(app), Path((table, job))): Place) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => layout::step(&at, Step::Publish, &body(&at, None)).into_response(),
        Err(response) => *response,
    }
}

fn body(at: &At, refused: Option<&incrowd::job::JobError>) -> Markup {
    if let Some(error) = promises::wrong(at) {
        return html! { (markup::error(&error)) p { a.button href=(at.href(Step::Promises)) { (t::TO_PROMISES) } } };
    }
    let key = Key { table: at.table.id.clone(), job: at.job.clone(), kind: Kind::Publish };
    let task = at.app.tasks.get(&key).map(|task| layout::waiting(&task, Kind::Publish, &at.below("")));
    html! {
        @if let Some(error) = refused { (markup::error(error)) }
        div data-part="publish" {
            @match task {
                Some(Ok(Answer::Published(published))) => { (done(at, &published)) }
                Some(Ok(_)) | None => {}
                Some(Err(shown)) => { (shown) }
            }
        }
        (form(at))
        section aria-labelledby="job" {
            h2 id="job" { (t::JOB) }
            p { (t::JOB_ABOUT) " " code { "incrowd anonymize " (job_name(at)) } }
            p { a.button href=(at.below("job.toml")) download=(job_name(at)) { (t::DOWNLOAD_JOB) } }
            details { summary { (t::SHOW_JOB) } pre tabindex="0" { code { (steps::job_text(&at.table, Some(&at.looked), &at.document)) } } }
        }
    }
}

fn job_name(at: &At) -> String {
    steps::job_name(FilePath::new(&at.document.words(&["output", "path"]).unwrap_or_default()))
}

fn form(at: &At) -> Markup {
    let path = PathBuf::from(at.document.words(&["output", "path"]).unwrap_or_default());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let dir =
        path.parent().filter(|dir| dir.is_absolute()).map(FilePath::to_owned).unwrap_or_else(|| {
            match at.table.origin {
                Origin::Path => at.table.base.clone(),
                _ => std::env::current_dir().unwrap_or_default(),
            }
        });
    html! {
        form.publish autocomplete="off" method="post" action=(at.href(Step::Publish)) {
            fieldset {
                legend { (t::WRITE) }
                div.field { label for="dir" { (t::FOLDER) } input id="dir" name="dir" type="text" required value=(dir.display()) autocomplete="off" spellcheck="false" aria-describedby="dir-about"; p.note id="dir-about" { (t::FOLDER_ABOUT) } }
                div.field { label for="name" { (t::FILE_NAME) } input id="name" name="name" type="text" required value=(name) autocomplete="off" spellcheck="false" aria-describedby="name-about"; p.note id="name-about" { (t::FILE_NAME_ABOUT) } }
                p.check { input type="checkbox" id="public" name="public" value="yes" checked; label for="public" { (t::PUBLIC_PAGE) } }
                p.check { input type="checkbox" id="owner" name="owner" value="yes" checked; label for="owner" { (t::OWNER_PAGE) } }
                details { summary { (t::HOW_WRITTEN) }
                    div.fields { @for key in Section::Output.keys().filter(|key| is_open(key)) { (forms::key(&at.document, key, &["output"])) } }
                }
            }
            button.primary { (t::WRITE_NOW) }
        }
    }
}

fn done(at: &At, published: &Published) -> Markup {
    let what = |i: usize, file: File| format!("{}-{i}", file.name());
    html! {
        (verdict(Tone::Good, t::WRITTEN, &[published.dir.display().to_string()]))
        ul.files {
            @for (i, (file, path)) in published.files.iter().enumerate() {
                @let page = matches!(file, File::Public | File::Owner);
                li {
                    a href=(at.below(&format!("file/{}", what(i, *file)))) target=[page.then_some("_blank")] rel=[page.then_some("noopener")] download=[(!page).then(|| name(path))] { (name(path)) }
                    " " span.muted { (t::file(*file)) }
                }
            }
        }
        p { (t::CHECK_AGAIN) }
        pre tabindex="0" { code { "incrowd verify " (quoted(published.files.first().map(|(_, path)| path.as_path()).unwrap_or(FilePath::new("")))) } }
        @if at.table.origin == Origin::Upload { p.note { (t::UPLOAD_JOB) } }
    }
}

fn name(path: &FilePath) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A path as a shell reads it.
fn quoted(path: &FilePath) -> String {
    let path = path.display().to_string();
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Writes the files.
pub(super) async fn publish((State(app), Path((table, job))): Place, Form(fields): Form<Fields>) -> Response {
    let at = match at(&app, &table, &job) {
        Ok(at) => at,
        Err(response) => return *response,
    };
    let said = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim());
    let (dir, name) = match places(said("dir").unwrap_or_default(), said("name").unwrap_or_default()) {
        Ok(places) => places,
        Err(error) => {
            let code = if error.fault() == Fault::Resources {
                StatusCode::CONFLICT
            } else {
                StatusCode::UNPROCESSABLE_ENTITY
            };
            return (code, layout::step(&at, Step::Publish, &body(&at, Some(&error.into())))).into_response();
        }
    };
    let mut document = (*at.document).clone();
    for (name, value) in fields.iter().filter(|(name, _)| name.starts_with("output/")) {
        document.change(&(crate::document::place(name), vec![value.clone()]));
    }
    let beside = |end: &str| {
        let stem = name.split(".release.").next().unwrap_or(&name);
        Value::from(dir.join(format!("{stem}.{end}.html")).display().to_string())
    };
    document.put(&["output", "path"], Some(Value::from(dir.join(&name).display().to_string())));
    document.put(&["output", "report"], said("public").map(|_| beside("report")));
    document.put(&["output", "owner_report"], said("owner").map(|_| beside("owner")));
    let job = at.table.keep(document);
    // Whoever writes again means it.
    app.tasks.forget(&Key { table: at.table.id.clone(), job: job.clone(), kind: Kind::Publish });
    steps::ask(&app, &at.table, &job, Kind::Publish);
    axum::response::Redirect::to(&super::address(&at.table, &job, Step::Publish)).into_response()
}

/// The folder, made if only its last part is missing, and the name of the file.
fn places(dir: &str, name: &str) -> incrowd::Result<(PathBuf, String)> {
    let name = file_name(name).filter(|own| own == name).ok_or_else(|| {
        Error::job("that is no name of a file")
            .help("type a name without folders, such as people.release.csv")
    })?;
    let dir = PathBuf::from(dir);
    if !dir.is_absolute() {
        return Err(Error::job("the folder must be a whole path").help("type a path that begins with /"));
    }
    if !dir.is_dir() {
        std::fs::create_dir(&dir).map_err(|e| {
            Error::resources(format!("cannot make the folder: {e}")).help("choose a folder that is there")
        })?;
    }
    Ok((dir, name))
}

/// The job file.
pub(super) async fn job((State(app), Path((table, job))): Place) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => {
            let text = steps::job_text(&at.table, Some(&at.looked), &at.document);
            let disposition = format!("attachment; filename=\"{}\"", ascii(&job_name(&at)));
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
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// The policy of the pages that are written: they bring their style with them and may do nothing else.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/// One of the files that were written, and no other.
pub(super) async fn file(
    State(app): State<Arc<App>>,
    Path((table, job, what)): Path<(String, String, String)>,
) -> Response {
    let missing = || (StatusCode::NOT_FOUND, layout::nothing()).into_response();
    let key = Key { table, job, kind: Kind::Publish };
    let Some(Done::Done(Answer::Published(published))) = app.tasks.get(&key).map(|task| task.state()) else {
        return missing();
    };
    let at = what.rsplit_once('-').and_then(|(name, i)| Some((name, i.parse::<usize>().ok()?)));
    let found = at.and_then(|(name, i)| published.files.get(i).filter(|(file, _)| file.name() == name));
    let Some((file, path)) = found else { return missing() };
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
