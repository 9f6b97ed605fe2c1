//! The start page: opens a table by path, by upload, or opens the demo.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Form, Multipart, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use incrowd::front_end::core::text::thousands;
use incrowd::job::JobError;
use incrowd::work::{Failed, caught};
use incrowd::{Error, Result};
use maud::html;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

use super::layout;
use crate::app::App;
use crate::demo as people;
use crate::open::{Opened, Origin};
use crate::private_dir::file_name;
use crate::texts as t;

/// The start page.
pub(super) async fn page(State(app): State<Arc<App>>) -> layout::Page {
    let tables = app.tables();
    let path = |page: &str| app.guard.path(page);
    layout::outside(
        &app,
        t::OPEN,
        &html! {
            h1 { (t::OPEN_HEADING) }
            p.lead { (t::OPEN_LEAD) }
            div.cards {
                section.card aria-labelledby="by-path" {
                    h2 id="by-path" { (t::BY_PATH) }
                    form method="post" action=(path("/open")) {
                        div.field {
                            label for="path" { (t::PATH) }
                            input id="path" name="path" type="text" required autocomplete="off"
                                spellcheck="false" placeholder=(t::PATH_EXAMPLE)
                                aria-describedby="path-about";
                            p.note id="path-about" { (t::PATH_ABOUT) }
                        }
                        button.primary { (t::OPEN_IT) }
                    }
                }
                section.card aria-labelledby="by-upload" {
                    h2 id="by-upload" { (t::BY_UPLOAD) }
                    form.drop method="post" action=(path("/upload")) enctype="multipart/form-data"
                        data-drop {
                        div.field {
                            label for="file" { (t::FILE) }
                            input id="file" name="file" type="file" required
                                aria-describedby="file-about";
                            p.note id="file-about" { (t::file_about(app.max_upload)) }
                        }
                        button { (t::OPEN_IT) }
                    }
                }
                section.card aria-labelledby="by-demo" {
                    h2 id="by-demo" { (t::BY_DEMO) }
                    p { (t::demo_about(&thousands(people::PEOPLE))) }
                    form method="post" action=(path("/demo")) { button { (t::OPEN_DEMO) } }
                }
            }
            @if !tables.is_empty() {
                h2 { (t::OPEN_ALREADY) }
                ul {
                    @for table in &tables {
                        li { a href=(path(&format!("/t/{}", table.id))) { (table.name) } }
                    }
                }
            }
        },
    )
}

/// Opens a table in a blocking thread, because reading the file may take long.
async fn opened(
    app: Arc<App>,
    open: impl FnOnce(&App) -> Result<Opened> + Send + 'static,
) -> Response {
    let own = app.clone();
    let opened = tokio::task::spawn_blocking(move || {
        caught(|| Ok(open(&own).and_then(|opened| own.add(opened))?))
    });
    match opened.await {
        Ok(Ok(table)) => Redirect::to(&app.guard.path(&format!("/t/{}", table.id))).into_response(),
        Ok(Err(Failed::Error(error))) => refused(&app, &error),
        Ok(Err(Failed::Stopped)) | Err(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, layout::failed(&app)).into_response()
        }
    }
}

fn refused(app: &App, error: &JobError) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, layout::refused(app, error, &app.guard.path("/")))
        .into_response()
}

/// Opens a table at a path on this machine.
pub(super) async fn by_path(
    State(app): State<Arc<App>>,
    Form(form): Form<Vec<(String, String)>>,
) -> Response {
    let path = form.iter().find(|(name, _)| name == "path").map(|(_, path)| path.trim().to_owned());
    match path.filter(|path| !path.is_empty()) {
        Some(path) => opened(app, move |_| Opened::by_path(FilePath::new(&path))).await,
        None => refused(&app, &Error::input("no path was given").help(t::PATH_ABOUT).into()),
    }
}

/// Creates and opens the synthetic table.
pub(super) async fn demo(State(app): State<Arc<App>>) -> Response {
    let made = |app: &App| {
        let dir = app.dir.below()?;
        people::write(dir.path())?;
        Opened::private(dir, people::NAME.to_owned(), Origin::Demo)
    };
    opened(app, made).await
}

/// Receives and opens an upload.
pub(super) async fn upload(State(app): State<Arc<App>>, form: Multipart) -> Response {
    match received(&app, form).await {
        Ok((dir, name)) => opened(app, move |_| Opened::private(dir, name, Origin::Upload)).await,
        Err(error) => refused(&app, &error.into()),
    }
}

/// Writes an upload into a new private directory. The directory is removed with its content if the
/// upload is refused or interrupted.
async fn received(app: &App, mut form: Multipart) -> Result<(TempDir, String)> {
    let broken = |_| Error::input("the upload was interrupted");
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        if field.name() != Some("file") {
            continue;
        }
        let name = field.file_name().unwrap_or_default();
        let name = file_name(name).ok_or_else(|| {
            Error::input("the name of the file cannot be used")
                .help("rename it, for example to table.csv")
        })?;
        let dir = app.dir.below()?;
        let path = dir.path().join(&name);
        let failed = |e: std::io::Error| Error::resources(format!("cannot store the upload: {e}"));
        let mut file = tokio::fs::File::create_new(&path).await.map_err(failed)?;
        let mut bytes = 0u64;
        loop {
            let Some(chunk) = field.chunk().await.map_err(broken)? else { break };
            bytes += chunk.len() as u64;
            if bytes > app.max_upload {
                return Err(Error::input(t::too_large(app.max_upload)).help(t::TOO_LARGE_HELP));
            }
            file.write_all(&chunk).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        return Ok((dir, name));
    }
    Err(Error::input("no file was chosen"))
}
