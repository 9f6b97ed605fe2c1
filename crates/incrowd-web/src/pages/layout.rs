//! What all pages share: head, steps, and how work under way is shown.

use axum::response::Html;
use incrowd::work::Failed;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{At, Step};
use crate::markup;
use crate::steps::Answer;
use crate::tasks::{Kind, State, Task};
use crate::texts as t;

/// A whole page as it is sent.
pub(crate) type Page = Html<String>;

/// A whole page.
fn page(title: &str, top: &Markup, body: &Markup) -> Page {
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
                    link rel="stylesheet" href="/app.css";
                    script src="/app.js" defer {}
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

/// A page outside of the way.
pub(crate) fn outside(title: &str, body: &Markup) -> Page {
    page(title, &html! { a.brand href="/" { "incrowd" } }, body)
}

/// A step of the way.
pub(crate) fn step(at: &At, step: Step, body: &Markup) -> Page {
    let top = html! {
        a.brand href="/" { "incrowd" }
        span.of { (at.table.name) }
        nav aria-label=(t::STEPS) {
            ol.steps {
                @for (_, one) in Step::ALL {
                    li { a href=(at.href(one)) aria-current=[(one == step).then_some("step")] { (t::step(one)) } }
                }
            }
        }
    };
    let body = html! {
        h1 { (t::heading(step)) }
        p.lead { (t::lead(step)) }
        (body)
        @if let Some(next) = step.next() {
            p.on { a.button.primary href=(at.href(next)) { (t::ON) " " (t::step(next)) } }
        }
    };
    page(&format!("{} · {}", t::step(step), at.table.name), &top, &body)
}

/// The page that takes the token out of the address.
pub(crate) fn welcome(to: &str) -> Page {
    Html(html! {
        (DOCTYPE)
        html lang=(t::LANGUAGE) {
            head { meta charset="utf-8"; meta http-equiv="refresh" content=(format!("0;url={to}")); title { "incrowd" } }
            body { p { a href=(to) { (t::GO_ON) } } }
        }
    }.into_string())
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

/// There is no such page.
pub(crate) fn nothing() -> Page {
    outside(
        t::NOTHING,
        &html! { h1 { (t::NOTHING) } p { (t::NOTHING_MORE) } p { a.button href="/" { (t::TO_THE_START) } } },
    )
}

/// Something could not be done.
pub(crate) fn refused(error: &incrowd::job::JobError, back: &str) -> Page {
    outside(t::NOT_POSSIBLE, &html! { (markup::error(error)) p { a.button href=(back) { (t::BACK) } } })
}

/// Work under way, or why it failed; `None` if it is done.
pub(crate) fn waiting(task: &Task, kind: Kind, base: &str) -> Result<Answer, Markup> {
    let start = |label: &str| {
        html! { form method="post" action={ (base) "task/" (kind.name()) "/start" } { button { (label) } } }
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
                form method="post" action={ (base) "task/" (kind.name()) "/stop" } { button { (t::STOP) } }
                // Without a script the page looks again by itself.
                noscript { (PreEscaped("<meta http-equiv=\"refresh\" content=\"1\">")) }
            }
        },
    })
}
