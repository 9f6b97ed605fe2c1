//! How far work is, for pages that wait; stopping it and starting it again.

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
    // A table is looked at once, whatever is made of it.
    let job = if kind == Kind::Look { String::new() } else { job };
    Key { table, job, kind }
}

/// How long an answer waits for the end of the work.
const WAIT: Duration = Duration::from_millis(400);

/// How far work is. The answer waits a little: most work is over by then.
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
            return ([(header::CONTENT_TYPE, "application/json")], seen.to_string()).into_response();
        }
        let pause = Duration::from_millis(20);
        tokio::time::sleep(pause).await;
        waited += pause;
    }
}

/// Back to the page that shows such work.
fn back(table: &str, job: &str, kind: Kind) -> Redirect {
    let step = match kind {
        Kind::Look => return Redirect::to(&format!("/t/{table}")),
        Kind::Single => Step::Table,
        Kind::Quick | Kind::Release | Kind::Alternatives | Kind::Compare => Step::Release,
        Kind::Check => Step::Check,
        Kind::Publish => Step::Publish,
    };
    Redirect::to(&format!("/t/{table}/{job}/{}", step.name()))
}

/// Stops work.
pub(super) async fn stop((State(app), Path((table, job, name))): Which) -> Response {
    let Some(kind) = kind(&name) else { return StatusCode::NOT_FOUND.into_response() };
    app.tasks.stop(&key(table.clone(), job.clone(), kind));
    // Work ends at its next step; that is mostly at once.
    for _ in 0..50 {
        match app.tasks.get(&key(table.clone(), job.clone(), kind)) {
            Some(task) if task.to_json()["state"] == "running" => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            _ => break,
        }
    }
    back(&table, &job, kind).into_response()
}

/// Starts work anew.
pub(super) async fn start((State(app), Path((table, job, name))): Which) -> Response {
    let (Some(kind), Some(own)) = (kind(&name), app.table(&table)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    app.tasks.forget(&key(table.clone(), job.clone(), kind));
    if !matches!(kind, Kind::Check) {
        steps::ask(&app, &own, &job, kind);
    }
    back(&table, &job, kind).into_response()
}
