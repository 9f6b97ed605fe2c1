//! The start page: opens a table by path, by upload, or opens the demo.

use std::path::Path as FilePath;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Form, FromRequest, Multipart, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use hyper::body::{Body as AnyBody, Frame, SizeHint};
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

/// Maximum size in bytes of what an upload holds besides the content of the file: the headers of
/// the form's fields, and other fields. Headers are held in memory.
const MOST_BESIDE: u64 = 4 << 20;

/// Limit of the bytes that are read from the body of an upload, shared by the body and its reader.
struct Meter {
    left: AtomicU64,
    /// Whether the body has more bytes.
    exceeded: AtomicBool,
}

impl Meter {
    fn of(bytes: u64) -> Meter {
        Meter { left: AtomicU64::new(bytes), exceeded: AtomicBool::new(false) }
    }

    /// Lifts the limit.
    fn lift(&self) {
        self.left.store(u64::MAX, Ordering::Relaxed);
    }

    /// Counts bytes of the body. Returns whether they are within the limit.
    fn take(&self, bytes: u64) -> bool {
        // There is one reader of a body.
        match self.left.load(Ordering::Relaxed).checked_sub(bytes) {
            Some(left) => self.left.store(left, Ordering::Relaxed),
            None => self.exceeded.store(true, Ordering::Relaxed),
        }
        !self.is_exceeded()
    }

    fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

/// The body of an upload, which fails when it exceeds the limit. The parser of forms has no limit
/// of its own for the headers of a field.
struct Metered {
    body: Body,
    meter: Arc<Meter>,
}

impl AnyBody for Metered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            if !self.meter.take(bytes) {
                return Poll::Ready(Some(Err(axum::Error::new("the upload is too large"))));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Receives and opens an upload.
pub(super) async fn upload(State(app): State<Arc<App>>, request: Request) -> Response {
    let meter = Arc::new(Meter::of(MOST_BESIDE));
    let own = meter.clone();
    let request = request.map(|body| Body::new(Metered { body, meter: own }));
    let form = match Multipart::from_request(request, &()).await {
        Ok(form) => form,
        Err(rejection) => return rejection.into_response(),
    };
    match received(&app, form, &meter).await {
        Ok((dir, name)) => opened(app, move |_| Opened::private(dir, name, Origin::Upload)).await,
        Err(error) => refused(&app, &error.into()),
    }
}

/// Writes an upload into a new private directory. The directory is removed with its content if the
/// upload is refused or interrupted.
async fn received(app: &App, mut form: Multipart, meter: &Meter) -> Result<(TempDir, String)> {
    let large = || Error::input(t::too_large(app.max_upload)).help(t::TOO_LARGE_HELP);
    let broken = |_| match meter.is_exceeded() {
        true => large(),
        false => Error::input("the upload was interrupted"),
    };
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
        // The content of the file is counted here, because the last bytes of a body may be read
        // together with it.
        meter.lift();
        loop {
            let Some(chunk) = field.chunk().await.map_err(broken)? else { break };
            bytes += chunk.len() as u64;
            if bytes > app.max_upload {
                return Err(large());
            }
            file.write_all(&chunk).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        return Ok((dir, name));
    }
    Err(Error::input("no file was chosen"))
}
