//! The pages, one file per step, and where they are.

mod change;
mod check;
mod hierarchies;
pub(crate) mod layout;
mod open;
mod promises;
mod publish;
mod release;
mod table;
mod task;

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};

use crate::app::App;
use crate::document::Document;
use crate::guard;
use crate::open::{Looked, Opened};
use crate::steps::{self, Answer};
use crate::tasks::{Kind, State as Done};

/// Forms larger than this are refused; a hierarchy may be pasted into one.
const MOST_FORM: usize = 8 << 20;

/// All addresses.
pub(crate) fn router(app: Arc<App>) -> Router {
    // What is uploaded is counted while it is written.
    let uploads = Router::new().route("/upload", post(open::upload)).layer(DefaultBodyLimit::disable());
    Router::new()
        .route("/", get(open::page))
        .route("/open", post(open::by_path))
        .route("/demo", post(open::demo))
        .route("/t/{table}", get(table::begin))
        .route("/t/{table}/{job}/table", get(table::page))
        .route("/t/{table}/{job}/hierarchies", get(hierarchies::page))
        .route("/t/{table}/{job}/promises", get(promises::page))
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
        .fallback(nothing)
        .layer(middleware::from_fn_with_state(app.clone(), guard::watch))
        .with_state(app)
}

async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../app.js"))
}

async fn style() -> impl IntoResponse {
    let style = [incrowd_report::STYLE, include_str!("../app.css")].concat();
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style)
}

async fn nothing() -> Response {
    (StatusCode::NOT_FOUND, layout::nothing()).into_response()
}

/// The steps of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Table,
    Hierarchies,
    Promises,
    Release,
    Check,
    Publish,
}

impl Step {
    pub(crate) const ALL: [(&'static str, Step); 6] = [
        ("table", Step::Table),
        ("hierarchies", Step::Hierarchies),
        ("promises", Step::Promises),
        ("release", Step::Release),
        ("check", Step::Check),
        ("publish", Step::Publish),
    ];

    pub(crate) fn name(self) -> &'static str {
        Step::ALL.iter().find(|(_, step)| *step == self).map_or("", |(name, _)| name)
    }

    /// The step of that name; a form that names none goes to the table.
    fn named(name: &str) -> Step {
        Step::ALL.iter().find(|(known, _)| *known == name).map_or(Step::Table, |(_, step)| *step)
    }

    pub(crate) fn next(self) -> Option<Step> {
        let at = Step::ALL.iter().position(|(_, step)| *step == self)?;
        Step::ALL.get(at + 1).map(|(_, step)| *step)
    }
}

/// A table and a job of an address.
#[derive(Clone)]
pub(crate) struct At {
    pub(crate) app: Arc<App>,
    pub(crate) table: Arc<Opened>,
    pub(crate) job: String,
    pub(crate) document: Arc<Document>,
    /// The same job without where its release goes, which makes no difference to what is made.
    pub(crate) making: String,
    pub(crate) looked: Arc<Looked>,
}

impl At {
    /// The address of a step of another job for the same table, or of this one.
    pub(crate) fn href(&self, step: Step) -> String {
        address(&self.table, &self.job, step)
    }

    /// An address below that of the job.
    pub(crate) fn below(&self, rest: &str) -> String {
        format!("/t/{}/{}/{rest}", self.table.id, self.job)
    }

    /// An address of work that does not ask where the release goes.
    pub(crate) fn making_below(&self, rest: &str) -> String {
        format!("/t/{}/{}/{rest}", self.table.id, self.making)
    }

    /// Keeps a changed job and goes on with it.
    pub(crate) fn go(&self, document: Document, step: Step) -> Redirect {
        let job = self.table.keep(document);
        Redirect::to(&address(&self.table, &job, step))
    }
}

pub(crate) fn address(table: &Opened, job: &str, step: Step) -> String {
    format!("/t/{}/{job}/{}", table.id, step.name())
}

/// The table and the job of an address. A table that nobody looked at yet is looked at first.
pub(crate) fn at(app: &Arc<App>, table: &str, job: &str) -> Result<At, Box<Response>> {
    let gone = || Box::new((StatusCode::NOT_FOUND, layout::nothing()).into_response());
    let table = app.table(table).ok_or_else(gone)?;
    let look = steps::ask(app, &table, "", Kind::Look).ok_or_else(gone)?;
    match look.state() {
        Done::Done(Answer::Looked(looked)) => {
            let document = table.job(job).ok_or_else(gone)?;
            let making = table.keep(document.without_places());
            Ok(At { app: app.clone(), table, job: job.to_owned(), document, making, looked })
        }
        _ => Err(Box::new(Redirect::to(&format!("/t/{}", table.id)).into_response())),
    }
}

/// What handlers are given.
pub(crate) type Place = (State<Arc<App>>, Path<(String, String)>);
