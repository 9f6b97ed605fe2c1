//! The release: made while one plays. First in a hurry, then as the job says; every number says which of the two it is of.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use incrowd::core::MissingCells;
use incrowd::core::text::thousands;
use incrowd::{Comparison, Insight, sentences};
use incrowd_report::chart::{AFTER, BEFORE, Point, Rows, Scatter, Series};
use incrowd_report::parts::{facts, sample, table, verdict};
use incrowd_report::{Sample, SampleRecord, percent};
use maud::{Markup, html};

use super::hierarchies::escaped;
use super::{At, Place, Step, at, layout, promises};
use crate::markup::{capital, prose, seconds};
use crate::steps::{self, Alternative, Answer, Release};
use crate::tasks::{Key, Kind, State as Done};
use crate::texts as t;

/// The step.
pub(super) async fn page((State(app), Path((table, job))): Place) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => {
            wait(&at).await;
            layout::step(&at, Step::Release, &body(&at)).into_response()
        }
        Err(response) => *response,
    }
}

/// The sizes of groups that are told apart, the last one open.
const SIZES: [(u64, u64); 6] = [(1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, u64::MAX)];

fn body(at: &At) -> Markup {
    if let Some(error) = promises::wrong(at) {
        return html! { (crate::markup::error(&error)) p { a.button href=(at.href(Step::Promises)) { (t::TO_PROMISES) } } };
    }
    let (made, note) = made(at);
    html! {
        (play(at))
        div data-part="release" {
            @match &made {
                Err(shown) => { (shown) }
                Ok(made) => {
                    @match &note {
                        Some(under_way) => { div.quick { p { b { (t::QUICK) } " " (t::QUICK_ABOUT) } (under_way) } }
                        None => {}
                    }
                    (shown(made, note.is_some()))
                }
            }
        }
        section aria-labelledby="alternatives" {
            h2 id="alternatives" { (t::ALTERNATIVES) }
            p { (t::ALTERNATIVES_ABOUT) }
            div data-part="alternatives" {
                // Whoever waits for the release does not wait for this. Whoever cannot have it wants to know what can be had.
                @if made.is_ok() && note.is_none() || failed(at, Kind::Release) {
                    @match steps::ask(&at.app, &at.table, &at.making, Kind::Alternatives) {
                        Some(task) => {
                            @match layout::waiting(&task, Kind::Alternatives, &at.making_below("")) {
                                Ok(Answer::Alternatives(all)) => { (alternatives(at, &all)) }
                                Ok(_) => {}
                                Err(shown) => { (shown) }
                            }
                        }
                        None => {}
                    }
                }
            }
        }
        section aria-labelledby="compare" {
            h2 id="compare" { (t::COMPARE) }
            p { (t::COMPARE_ABOUT) }
            div data-part="compare" { (compare(at)) }
        }
    }
}

/// The release that can be shown, and what is still under way: first one made in a hurry, and only then the one of the job, so that
/// they do not wait for each other.
fn made(at: &At) -> (Result<Arc<Release>, Markup>, Option<Markup>) {
    let ask = |kind| {
        let task = steps::ask(&at.app, &at.table, &at.making, kind);
        task.map_or_else(|| Err(html! {}), |task| layout::waiting(&task, kind, &at.making_below("")))
    };
    let key = Key { table: at.table.id.clone(), job: at.making.clone(), kind: Kind::Release };
    let known = at.app.tasks.get(&key).is_some_and(|task| matches!(task.state(), Done::Done(_)));
    let mut quick = None;
    if at.table.hurried(&at.document).is_some() && !known {
        match ask(Kind::Quick) {
            Ok(Answer::Release(made)) => quick = Some(made),
            // What cannot be made in a hurry is waited for.
            Err(shown) if !failed(at, Kind::Quick) => return (Err(shown), None),
            _ => {}
        }
    }
    match (ask(Kind::Release), quick) {
        (Ok(Answer::Release(made)), _) => (Ok(made), None),
        (Err(under_way), Some(quick)) => (Ok(quick), Some(under_way)),
        (Err(under_way), None) => (Err(under_way), None),
        (Ok(_), _) => (Err(html! {}), None),
    }
}

fn failed(at: &At, kind: Kind) -> bool {
    let key = Key { table: at.table.id.clone(), job: at.making.clone(), kind };
    at.app.tasks.get(&key).is_some_and(|task| matches!(task.state(), Done::Failed(_)))
}

/// Waits a little for a release made in a hurry: mostly the page has it at once.
async fn wait(at: &At) {
    let kind = if at.table.hurried(&at.document).is_some() { Kind::Quick } else { Kind::Release };
    if promises::wrong(at).is_some() {
        return;
    }
    let Some(task) = steps::ask(&at.app, &at.table, &at.making, kind) else { return };
    for _ in 0..60 {
        if !matches!(task.state(), Done::Waiting | Done::Running) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// k to play with.
fn play(at: &At) -> Markup {
    let Some((_, k)) = at.document.k() else { return html! {} };
    html! {
        form.play autocomplete="off" method="post" action=(at.below("change")) data-play=(at.below("k/")) {
            input type="hidden" name="then" value=(Step::Release.name());
            @let place = at.document.k().map(|(place, _)| place.to_string()).unwrap_or_default();
            (promises::slider(&at.document, &place, &t::k_says(k)))
            button.save { (t::MAKE) }
        }
    }
}

fn shown(made: &Release, quick: bool) -> Markup {
    let manifest = &made.report.manifest;
    let records = &made.report.records;
    let smallest = made.report.verification.smallest_group;
    let insight = made.insight.as_ref();
    let unique = |insight: &Insight| insight.before.of_size(1);
    let mut boxes = vec![
        (t::PUBLISHED, thousands(records.published)),
        (t::GROUPS, thousands(manifest.groups)),
        (t::SMALLEST, thousands(smallest)),
        (t::LOST, percent(manifest.metrics.ncp())),
    ];
    if records.published < records.read {
        boxes.insert(1, (t::NOT_PUBLISHED, thousands(records.read - records.published)));
    }
    if let Some(insight) = insight {
        boxes.insert(0, (t::ALONE_BEFORE, thousands(unique(insight))));
    }
    let (names, losses): (Vec<String>, Vec<f64>) = manifest
        .metrics
        .ncp_by_column
        .iter()
        .map(|(name, loss)| (name.to_owned(), loss.unwrap_or(0.0)))
        .unzip();
    let by_column = Rows {
        label: t::LOSS.to_owned(),
        labels: names,
        series: vec![Series::new(t::LOST, losses, AFTER)],
        whole: Some(1.0),
        show: percent,
    };
    let any = made.job.algorithm.missing_cells == MissingCells::Any;
    let said = sentences::narrowed(smallest, made.job.input.person.is_some(), any);
    html! {
        (verdict(said.tone, &said.text, &[t::verdict_more(&manifest.algorithm.name, &seconds(made.seconds), quick)]))
        (facts(&boxes))
        @for judged in &made.report.verification.judgements {
            p.kept { b { (judged.title) } " " (t::HOLDS) }
        }
        @for warning in &made.report.warnings { p.message.note { (prose(&capital(warning))) } }
        div.pair {
            @if let Some(insight) = insight {
                figure {
                    figcaption { (t::SIZES) span { (t::SIZES_ABOUT) } }
                    (sizes(insight).render())
                }
            }
            figure {
                figcaption { (t::LOSS) span { (t::LOSS_ABOUT) } }
                (by_column.render())
            }
        }
        @if let Some(insight) = insight { (some_records(insight)) }
    }
}

/// The share of records in groups of each size, before and after.
fn sizes(insight: &Insight) -> Rows {
    let share = |sizes: &[(u64, u64)], (low, high): (u64, u64)| {
        let all: u64 = sizes.iter().map(|(size, groups)| size * groups).sum();
        let own: u64 = sizes
            .iter()
            .filter(|(size, _)| (low..=high).contains(size))
            .map(|(size, groups)| size * groups)
            .sum();
        own as f64 / all.max(1) as f64
    };
    let shares = |sizes: &[(u64, u64)]| SIZES.iter().map(|size| share(sizes, *size)).collect();
    Rows {
        label: t::SIZES.to_owned(),
        labels: SIZES.iter().map(|(low, high)| t::size(*low, *high)).collect(),
        series: vec![
            Series::new(t::BEFORE, shares(&insight.before.sizes), BEFORE),
            Series::new(t::AFTER, shares(&insight.after.sizes), AFTER),
        ],
        whole: None,
        show: percent,
    }
}

/// Records beside what becomes of them.
fn some_records(insight: &Insight) -> Markup {
    let record = |(before, after): &(Vec<String>, Option<Vec<String>>)| SampleRecord {
        before: before.clone(),
        after: after.clone(),
        fitting: None,
    };
    let own =
        Sample { columns: insight.columns.clone(), records: insight.sample.iter().map(record).collect() };
    html! {
        section aria-labelledby="sample" {
            h2 id="sample" { (t::SAMPLE) }
            p { (t::SAMPLE_ABOUT) }
            (sample(t::SAMPLE, &own))
        }
    }
}

fn alternatives(at: &At, all: &[Alternative]) -> Markup {
    let own = at.document.k().map(|(_, k)| k);
    let link = |k: u64| at.below(&format!("k/{k}/release"));
    html! {
        div.wide tabindex="0" role="group" aria-label=(t::ALTERNATIVES) {
            table {
                thead { tr { th scope="col" { "k" } th.number scope="col" { (t::LOST) } th.number scope="col" { (t::GROUPS) } th scope="col" { span.visually-hidden { (t::TAKE) } } } }
                tbody {
                    @for one in all {
                        tr class=[(Some(one.k) == own).then_some("chosen")] {
                            th scope="row" { (one.k) }
                            @match &one.found {
                                Ok((loss, groups)) => { td.number { (percent(*loss)) } td.number { (thousands(*groups)) } }
                                Err(why) => { td colspan="2" { (capital(why)) } }
                            }
                            td { @if Some(one.k) == own { (t::CHOSEN) } @else { a href=(link(one.k)) { (t::TAKE) " k = " (one.k) } } }
                        }
                    }
                }
            }
        }
    }
}

fn compare(at: &At) -> Markup {
    let key = Key { table: at.table.id.clone(), job: at.making.clone(), kind: Kind::Compare };
    match at.app.tasks.get(&key) {
        Some(task) => match layout::waiting(&task, Kind::Compare, &at.making_below("")) {
            Ok(Answer::Compared(compared)) => compared_shown(at, &compared),
            Ok(_) => html! {},
            Err(shown) => shown,
        },
        None => html! {
            form method="post" action=(at.making_below("task/compare/start")) { button { (t::COMPARE_START) } }
        },
    }
}

fn compared_shown(at: &At, compared: &Comparison) -> Markup {
    let link = |algorithm: &str, models: &str| {
        let k = models.split("k-anonymity(k=").nth(1).and_then(|rest| rest.split(&[',', ')'][..]).next());
        let k = k.map(|k| format!("&k={k}")).unwrap_or_default();
        Some(at.below(&format!("take?algorithm={}{k}", escaped(algorithm))))
    };
    let rows: Vec<Vec<String>> = compared
        .results
        .iter()
        .map(|tried| match &tried.scores {
            Ok(scores) => vec![
                tried.algorithm.clone(),
                tried.models.clone(),
                percent(scores.metric(compared.loss)),
                thousands(scores.smallest),
                seconds(tried.seconds),
            ],
            Err(why) => {
                vec![tried.algorithm.clone(), tried.models.clone(), why.clone(), String::new(), String::new()]
            }
        })
        .collect();
    let mut kinds: Vec<String> = Vec::new();
    for tried in &compared.results {
        if !kinds.contains(&tried.algorithm) {
            kinds.push(tried.algorithm.clone());
        }
    }
    let point = |(i, tried): (usize, &incrowd::Tried)| {
        let scores = tried.scores.as_ref().ok()?;
        let loss = scores.metric(compared.loss);
        Some(Point {
            x: scores.identity,
            y: loss,
            kind: kinds.iter().position(|kind| *kind == tried.algorithm)?,
            front: tried.front,
            chosen: compared.choice == Some(i),
            says: t::configuration(&tried.algorithm, &tried.models, loss, scores.smallest),
            link: link(&tried.algorithm, &tried.models),
        })
    };
    let points = compared.results.iter().enumerate().filter_map(point).collect();
    let frontier = Scatter {
        kinds: kinds.clone(),
        points,
        guessing: None,
        across: t::FRONTIER_ACROSS.to_owned(),
        upwards: t::LOST.to_owned(),
        show: (t::one_in, percent),
    };
    html! {
        figure.frontier {
            figcaption { (t::FRONTIER) span { (t::FRONTIER_ABOUT) } }
            (frontier.render((t::FRONTIER_LABEL, "")))
            @for line in compared.why() { p.note { (capital(&line)) } }
            details { summary { (t::NUMBERS) } (table(t::COMPARE, &[t::ALGORITHM, t::PROMISE, t::LOST, t::SMALLEST, t::TIME], &rows, 2)) }
        }
    }
}
