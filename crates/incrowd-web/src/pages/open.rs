//! The start: a table is opened by its path, sent by the browser, or made.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::extract::{Form, Multipart, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use incrowd::core::text::thousands;
use incrowd::{Error, Result};
use maud::html;
use tokio::io::AsyncWriteExt;

use super::layout;
use crate::app::App;
use crate::demo as people;
use crate::guard::secret;
use crate::open::{Opened, Origin};
use crate::private_dir::file_name;
use crate::texts as t;

/// The start page.
pub(super) async fn page(State(app): State<Arc<App>>) -> layout::Page {
    let tables = app.tables();
    layout::outside(
        t::OPEN,
        &html! {
            h1 { (t::OPEN_HEADING) }
            p.lead { (t::OPEN_LEAD) }
            div.cards {
                section.card aria-labelledby="by-path" {
                    h2 id="by-path" { (t::BY_PATH) }
                    form method="post" action="/open" {
                        div.field {
                            label for="path" { (t::PATH) }
                            input id="path" name="path" type="text" required autocomplete="off" spellcheck="false"
                                placeholder=(t::PATH_EXAMPLE) aria-describedby="path-about";
                            p.note id="path-about" { (t::PATH_ABOUT) }
                        }
                        button.primary { (t::OPEN_IT) }
                    }
                }
                section.card aria-labelledby="by-upload" {
                    h2 id="by-upload" { (t::BY_UPLOAD) }
                    form.drop method="post" action="/upload" enctype="multipart/form-data" data-drop {
                        div.field {
                            label for="file" { (t::FILE) }
                            input id="file" name="file" type="file" required aria-describedby="file-about";
                            p.note id="file-about" { (t::file_about(app.most_bytes)) }
                        }
                        button { (t::OPEN_IT) }
                    }
                }
                section.card aria-labelledby="by-demo" {
                    h2 id="by-demo" { (t::BY_DEMO) }
                    p { (t::demo_about(&thousands(people::PEOPLE))) }
                    form method="post" action="/demo" { button { (t::OPEN_DEMO) } }
                }
            }
            @if !tables.is_empty() {
                h2 { (t::OPEN_ALREADY) }
                ul { @for table in &tables { li { a href={ "/t/" (table.id) } { (table.name) } } } }
            }
        },
    )
}

fn opened(app: &App, opened: Result<Opened>) -> Response {
    match opened.and_then(|opened| app.add(opened)) {
        Ok(table) => Redirect::to(&format!("/t/{}", table.id)).into_response(),
        Err(error) => refused(error),
    }
}

fn refused(error: Error) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, layout::refused(&error.into(), "/")).into_response()
}

/// Opens a table at a path on this machine.
pub(super) async fn by_path(
    State(app): State<Arc<App>>,
    Form(form): Form<Vec<(String, String)>>,
) -> Response {
    let path = form.iter().find(|(name, _)| name == "path").map(|(_, path)| path.trim().to_owned());
    match path.filter(|path| !path.is_empty()) {
        Some(path) => opened(&app, Opened::by_path(FilePath::new(&path))),
        None => refused(Error::input("no path was given").help(t::PATH_ABOUT)),
    }
}

/// Makes people who do not exist.
pub(super) async fn demo(State(app): State<Arc<App>>) -> Response {
    let made = app.dir.below(&secret()).and_then(|dir| {
        people::write(&dir)?;
        Opened::private(&dir.join(people::NAME), Origin::Demo)
    });
    opened(&app, made)
}

/// Takes a file from the browser.
pub(super) async fn upload(State(app): State<Arc<App>>, form: Multipart) -> Response {
    match received(&app, form).await {
        Ok(path) => opened(&app, Opened::private(&path, Origin::Upload)),
        Err(error) => refused(error),
    }
}

/// Writes what comes into the private directory, as long as it is not too large.
async fn received(app: &App, mut form: Multipart) -> Result<PathBuf> {
    let broken = |_| Error::input("the upload broke off");
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        if field.name() != Some("file") {
            continue;
        }
        let name = field.file_name().unwrap_or_default();
        let name = file_name(name).ok_or_else(|| {
            Error::input("the name of the file cannot be used").help("rename it, for example to table.csv")
        })?;
        let dir = app.dir.below(&secret())?;
        let path = dir.join(name);
        let failed = |e: std::io::Error| Error::resources(format!("cannot keep the upload: {e}"));
        let mut file = tokio::fs::File::create_new(&path).await.map_err(failed)?;
        let mut bytes = 0u64;
        loop {
            let piece = match field.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    let _ = tokio::fs::remove_dir_all(&dir).await;
                    return Err(broken(error));
                }
            };
            bytes += piece.len() as u64;
            if bytes > app.most_bytes {
                let _ = tokio::fs::remove_dir_all(&dir).await;
                return Err(Error::input(t::too_large(app.most_bytes)).help(t::TOO_LARGE_HELP));
            }
            file.write_all(&piece).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        return Ok(path);
    }
    Err(Error::input("no file was chosen"))
}
