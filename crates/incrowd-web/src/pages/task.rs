//! The progress of tasks for waiting pages; stops and starts tasks.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::Step;
use crate::app::App;
use crate::steps;
use crate::tasks::{Key, Kind};

type Which = (State<Arc<App>>, Path<(String, String, String)>);

fn kind(name: &str) -> Option<Kind> {
    Kind::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

fn key(table: String, job: String, kind: Kind) -> Key {
    // The inspection of a table does not depend on the job.
    let job = if kind == Kind::Inspect { String::new() } else { job };
    Key { table, job, kind }
}

/// The longest time an answer waits for the end of the task.
const WAIT: Duration = Duration::from_millis(400);

/// Sends the progress of a task. The answer is delayed by up to [`WAIT`], because most tasks are
/// finished by then.
pub(super) async fn status((State(app), Path((table, job, name))): Which) -> Response {
    let Some(kind) = kind(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let Some(task) = app.tasks.get(&key(table, job, kind)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut waited = Duration::ZERO;
    loop {
        let seen = task.to_json();
        let over = !matches!(seen["state"].as_str(), Some("waiting" | "running"));
        if over || waited >= WAIT {
            return ([(header::CONTENT_TYPE, "application/json")], seen.to_string())
                .into_response();
        }
        let pause = Duration::from_millis(20);
        tokio::time::sleep(pause).await;
        waited += pause;
    }
}

/// Redirects to the page that shows such a task.
fn back(app: &App, table: &str, job: &str, kind: Kind) -> Redirect {
    let step = match kind {
        Kind::Inspect => return Redirect::to(&app.guard.path(&format!("/t/{table}"))),
        Kind::Uniqueness => Step::Table,
        Kind::Quick | Kind::Release | Kind::Alternatives | Kind::Compare => Step::Release,
        Kind::Check => Step::Check,
        Kind::Publish => Step::Publish,
    };
    Redirect::to(&app.guard.path(&format!("/t/{table}/{job}/{}", step.name())))
}

/// Stops a task.
pub(super) async fn stop((State(app), Path((table, job, name))): Which) -> Response {
    let Some(kind) = kind(&name) else { return StatusCode::NOT_FOUND.into_response() };
    app.tasks.stop(&key(table.clone(), job.clone(), kind));
    // A task ends at its next step, usually at once.
    for _ in 0..50 {
        match app.tasks.get(&key(table.clone(), job.clone(), kind)) {
            Some(task) if task.to_json()["state"] == "running" => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            _ => break,
        }
    }
    back(&app, &table, &job, kind).into_response()
}

/// Starts a task again.
pub(super) async fn start((State(app), Path((table, job, name))): Which) -> Response {
    let (Some(kind), Some(own)) = (kind(&name), app.table(&table)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    app.tasks.forget(&key(table.clone(), job.clone(), kind));
    if !matches!(kind, Kind::Check) {
        steps::ask(&app, &own, &job, kind);
    }
    back(&app, &table, &job, kind).into_response()
}
