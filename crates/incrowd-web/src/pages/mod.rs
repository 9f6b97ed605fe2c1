//! The pages, one file per step, and their addresses.

mod change;
mod check;
mod hierarchies;
pub(crate) mod layout;
mod models;
mod open;
mod publish;
mod release;
mod table;
mod task;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::document::Document;
use crate::open::{Inspection, Opened};
use crate::steps::{self, Answer};
use crate::tasks::{Kind, State as TaskState};

/// The largest form in bytes. A form can contain a hierarchy.
const MOST_FORM: usize = 8 << 20;

/// The fields of a form or a query.
type FormFields = Vec<(String, String)>;

/// Returns the value of a form field.
fn form_value<'a>(fields: &'a FormFields, name: &str) -> Option<&'a str> {
    fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Returns the routes of all pages.
pub(crate) fn router(app: Arc<App>) -> Router {
    // The size of uploads is checked while they are received.
    let uploads =
        Router::new().route("/upload", post(open::upload)).layer(DefaultBodyLimit::disable());
    Router::new()
        .route("/", get(open::page))
        .route("/open", post(open::by_path))
        .route("/demo", post(open::demo))
        .route("/t/{table}", get(table::begin))
        .route("/t/{table}/{job}/table", get(table::page))
        .route("/t/{table}/{job}/hierarchies", get(hierarchies::page))
        .route("/t/{table}/{job}/models", get(models::page))
        .route("/t/{table}/{job}/release", get(release::page))
        .route("/t/{table}/{job}/check", get(check::page))
        .route("/t/{table}/{job}/publish", get(publish::page).post(publish::publish))
        .route("/t/{table}/{job}/file/{what}", get(publish::file))
        .route("/t/{table}/{job}/job.toml", get(publish::job))
        .route("/t/{table}/{job}/change", post(change::change))
        .route("/t/{table}/{job}/hierarchy", post(hierarchies::change))
        .route("/t/{table}/{job}/k/{k}/{step}", get(change::with_k))
        .route("/t/{table}/{job}/take", get(change::take))
        .route("/t/{table}/{job}/task/{kind}", get(task::status))
        .route("/t/{table}/{job}/task/{kind}/stop", post(task::stop))
        .route("/t/{table}/{job}/task/{kind}/start", post(task::start))
        .layer(DefaultBodyLimit::max(MOST_FORM))
        .merge(uploads)
        .route("/app.js", get(script))
        .route("/app.css", get(style))
        .route("/icon.svg", get(icon))
        .fallback(nothing)
        .with_state(app)
}

async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../app.js"))
}

async fn style() -> impl IntoResponse {
    let style = [incrowd_report::STYLE, include_str!("../app.css")].concat();
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style)
}

/// The icon. For pages without one, browsers request `/favicon.ico`, which has no secret.
async fn icon() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "image/svg+xml")], include_str!("../icon.svg"))
}

async fn nothing(State(app): State<Arc<App>>) -> Response {
    (StatusCode::NOT_FOUND, layout::nothing(&app)).into_response()
}

/// The steps from a table to a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Table,
    Hierarchies,
    Models,
    Release,
    Check,
    Publish,
}

impl Step {
    pub(crate) const ALL: [(&'static str, Step); 6] = [
        ("table", Step::Table),
        ("hierarchies", Step::Hierarchies),
        ("models", Step::Models),
        ("release", Step::Release),
        ("check", Step::Check),
        ("publish", Step::Publish),
    ];

    pub(crate) fn name(self) -> &'static str {
        Step::ALL.iter().find(|(_, step)| *step == self).map_or("", |(name, _)| name)
    }

    /// Returns the step with the given name, otherwise the first one.
    fn named(name: &str) -> Step {
        Step::ALL.iter().find(|(known, _)| *known == name).map_or(Step::Table, |(_, step)| *step)
    }

    pub(crate) fn next(self) -> Option<Step> {
        let at = Step::ALL.iter().position(|(_, step)| *step == self)?;
        Step::ALL.get(at + 1).map(|(_, step)| *step)
    }
}

/// The table and the job of an address.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) app: Arc<App>,
    pub(crate) table: Arc<Opened>,
    pub(crate) job: String,
    pub(crate) document: Arc<Document>,
    /// The id of the job without output paths. Tasks use it, so that they do not run again when
    /// only a path changes.
    pub(crate) release_job: String,
    pub(crate) inspection: Arc<Inspection>,
}

impl Context {
    /// Returns the address of a step of this job.
    pub(crate) fn href(&self, step: Step) -> String {
        address(&self.app, &self.table, &self.job, step)
    }

    /// Returns an address below that of the job.
    pub(crate) fn below(&self, rest: &str) -> String {
        self.app.guard.path(&format!("/t/{}/{}/{rest}", self.table.id, self.job))
    }

    /// Returns an address below that of the job without output paths.
    pub(crate) fn release_below(&self, rest: &str) -> String {
        self.app.guard.path(&format!("/t/{}/{}/{rest}", self.table.id, self.release_job))
    }

    /// Returns the address of a download of the job.
    pub(crate) fn download(&self, rest: &str) -> String {
        self.app.guard.download_path(&format!("/t/{}/{}/{rest}", self.table.id, self.job))
    }

    /// Stores a changed job and redirects to it.
    pub(crate) fn redirect(&self, document: Document, step: Step) -> Redirect {
        let job = self.table.add_job(document);
        Redirect::to(&address(&self.app, &self.table, &job, step))
    }
}

pub(crate) fn address(app: &App, table: &Opened, job: &str, step: Step) -> String {
    app.guard.path(&format!("/t/{}/{job}/{}", table.id, step.name()))
}

/// Returns the table and the job of an address. If the table is not inspected yet, the browser is
/// redirected to its first page.
pub(crate) fn context(app: &Arc<App>, table: &str, job: &str) -> Result<Context, Box<Response>> {
    let gone = || Box::new((StatusCode::NOT_FOUND, layout::nothing(app)).into_response());
    let table = app.table(table).ok_or_else(gone)?;
    let task = steps::ask(app, &table, "", Kind::Inspect).ok_or_else(gone)?;
    match task.state() {
        TaskState::Done(Answer::Inspected(inspection)) => {
            let document = table.job(job).ok_or_else(gone)?;
            let release_job = table.add_job(document.without_paths());
            let (app, job) = (app.clone(), job.to_owned());
            Ok(Context { app, table, job, document, release_job, inspection })
        }
        _ => Err(Box::new(
            Redirect::to(&app.guard.path(&format!("/t/{}", table.id))).into_response(),
        )),
    }
}

/// The arguments of handlers: the state, and table and job of the address.
pub(crate) type JobPath = (State<Arc<App>>, Path<(String, String)>);
