//! The parts of all pages: head, steps, and the progress of tasks.

use axum::response::Html;
use incrowd::work::Failed;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Context, Step};
use crate::app::App;
use crate::markup;
use crate::steps::Answer;
use crate::tasks::{Kind, State, Task};
use crate::texts as t;

/// A complete page.
pub(crate) type Page = Html<String>;

/// Renders a complete page.
fn page(app: &App, title: &str, top: &Markup, body: &Markup) -> Page {
    Html(
        html! {
            (DOCTYPE)
            html lang=(t::LANGUAGE) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="robots" content="noindex";
                    title { (title) " · incrowd" }
                    link rel="icon" href=(app.guard.path("/icon.svg"));
                    link rel="stylesheet" href=(app.guard.path("/app.css"));
                    script src=(app.guard.path("/app.js")) defer {}
                }
                body.app {
                    a.skip href="#content" { (t::SKIP) }
                    header.top { (top) }
                    main id="content" tabindex="-1" { (body) }
                    footer { (t::FOOTER) }
                    div.gone id="gone" role="alert" hidden { b { (t::GONE) } " " (t::GONE_MORE) }
                }
            }
        }
        .into_string(),
    )
}

/// Renders a page that is not a step.
pub(crate) fn outside(app: &App, title: &str, body: &Markup) -> Page {
    page(app, title, &brand(app), body)
}

/// Renders the link to the start page.
fn brand(app: &App) -> Markup {
    html! { a.brand href=(app.guard.path("/")) { "incrowd" } }
}

/// Renders the page of a step.
pub(crate) fn step(ctx: &Context, step: Step, body: &Markup) -> Page {
    let top = html! {
        (brand(&ctx.app))
        span.of { (ctx.table.name) }
        nav aria-label=(t::STEPS) {
            ol.steps {
                @for (_, one) in Step::ALL {
                    @let current = (one == step).then_some("step");
                    li { a href=(ctx.href(one)) aria-current=[current] { (t::step(one)) } }
                }
            }
        }
    };
    let body = html! {
        h1 { (t::heading(step)) }
        p.lead { (t::lead(step)) }
        (body)
        @if let Some(next) = step.next() {
            p.on { a.button.primary href=(ctx.href(next)) { (t::ON) " " (t::step(next)) } }
        }
    };
    page(&ctx.app, &format!("{} · {}", t::step(step), ctx.table.name), &top, &body)
}

/// What a stranger sees.
pub(crate) fn stranger() -> Page {
    Html(
        html! {
            (DOCTYPE)
            html lang=(t::LANGUAGE) {
                head { meta charset="utf-8"; title { "incrowd" } }
                body { main { h1 { "incrowd" } p { (t::STRANGER) } } }
            }
        }
        .into_string(),
    )
}

/// Renders the page for an unknown address.
pub(crate) fn nothing(app: &App) -> Page {
    failure(app, t::NOTHING, t::NOTHING_MORE)
}

/// Renders the page for a bug.
pub(crate) fn failed(app: &App) -> Page {
    failure(app, t::FAILED, t::FAILED_MORE)
}

fn failure(app: &App, what: &str, more: &str) -> Page {
    let start = app.guard.path("/");
    outside(
        app,
        what,
        &html! { h1 { (what) } p { (more) } p { a.button href=(start) { (t::TO_THE_START) } } },
    )
}

/// Renders an error with a link back.
pub(crate) fn refused(app: &App, error: &incrowd::job::JobError, back: &str) -> Page {
    outside(
        app,
        t::NOT_POSSIBLE,
        &html! { (markup::error(error)) p { a.button href=(back) { (t::BACK) } } },
    )
}

/// Returns the answer of a finished task, otherwise renders its progress or its error.
pub(crate) fn waiting(task: &Task, kind: Kind, base: &str) -> Result<Answer, Markup> {
    let start = |label: &str| {
        html! {
            form method="post" action={ (base) "task/" (kind.name()) "/start" } {
                button { (label) }
            }
        }
    };
    Err(match task.state() {
        State::Done(answer) => return Ok(answer),
        State::Failed(Failed::Stopped) => html! {
            div.message { p { (t::STOPPED) } (start(t::START_AGAIN)) }
        },
        State::Failed(Failed::Error(error)) => html! { (markup::error(&error)) },
        State::Waiting | State::Running => html! {
            div.work data-task={ (base) "task/" (kind.name()) } {
                p role="status" { b { (t::working(kind)) } " " span.step {} " " span.left {} }
                progress aria-label=(t::working(kind)) {}
                form method="post" action={ (base) "task/" (kind.name()) "/stop" } {
                    button { (t::STOP) }
                }
                // Without JavaScript the page reloads.
                noscript { (PreEscaped("<meta http-equiv=\"refresh\" content=\"1\">")) }
            }
        },
    })
}
