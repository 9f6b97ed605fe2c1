//! The step "Release": a preview. First it shows the result of a fast algorithm, then that of the
//! job, and states which of the two it is.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use incrowd::front_end::core::MissingCells;
use incrowd::front_end::core::text::thousands;
use incrowd::{Comparison, Insight, sentences};
use incrowd_report::chart::{AFTER, BEFORE, Point, Rows, Scatter, Series};
use incrowd_report::parts::{facts, sample, table, verdict};
use incrowd_report::{Sample, SampleRecord, percent};
use maud::{Markup, html};

use super::hierarchies::escaped;
use super::{Context, JobPath, Step, context, layout, models};
use crate::markup::{capital, prose, seconds};
use crate::steps::{self, Alternative, Answer, Release};
use crate::tasks::{Key, Kind, State as TaskState};
use crate::texts as t;

/// The page of the step.
pub(super) async fn page((State(app), Path((table, job))): JobPath) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => {
            wait(&ctx).await;
            layout::step(&ctx, Step::Release, &body(&ctx)).into_response()
        }
        Err(response) => *response,
    }
}

/// The classes of group sizes in the chart.
const SIZES: [(u64, u64); 6] = [(1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, u64::MAX)];

fn body(ctx: &Context) -> Markup {
    if let Some(error) = models::job_error(ctx) {
        return models::invalid(ctx, &error);
    }
    let (made, note) = current_release(ctx);
    html! {
        (k_form(ctx))
        div data-part="release" {
            @match &made {
                Err(shown) => { (shown) }
                Ok(made) => {
                    @match &note {
                        Some(progress) => {
                            div.quick { p { b { (t::QUICK) } " " (t::QUICK_ABOUT) } (progress) }
                        }
                        None => {}
                    }
                    (render_release(made, note.is_some()))
                }
            }
        }
        section aria-labelledby="alternatives" {
            h2 id="alternatives" { (t::ALTERNATIVES) }
            p { (t::ALTERNATIVES_ABOUT) }
            div data-part="alternatives" {
                // Alternatives start after the release, or if the release failed.
                @if made.is_ok() && note.is_none() || failed(ctx, Kind::Release) {
                    @match ask(ctx, Kind::Alternatives) {
                        Ok(Answer::Alternatives(all)) => { (alternatives(ctx, &all)) }
                        Ok(_) => {}
                        Err(shown) => { (shown) }
                    }
                }
            }
        }
        section aria-labelledby="compare" {
            h2 id="compare" { (t::COMPARE) }
            p { (t::COMPARE_ABOUT) }
            div data-part="compare" { (compare(ctx)) }
        }
    }
}

/// Returns the release to show, and the progress of a running task. The release of the job starts
/// only after the quick one, so that they do not compete.
fn current_release(ctx: &Context) -> (Result<Arc<Release>, Markup>, Option<Markup>) {
    let key =
        Key { table: ctx.table.id.clone(), job: ctx.release_job.clone(), kind: Kind::Release };
    let known =
        ctx.app.tasks.get(&key).is_some_and(|task| matches!(task.state(), TaskState::Done(_)));
    let mut quick = None;
    if ctx.table.quick_job(&ctx.document).is_some() && !known {
        match ask(ctx, Kind::Quick) {
            Ok(Answer::Release(made)) => quick = Some(made),
            // If the quick release fails, the page waits for the release of the job.
            Err(shown) if !failed(ctx, Kind::Quick) => return (Err(shown), None),
            _ => {}
        }
    }
    match (ask(ctx, Kind::Release), quick) {
        (Ok(Answer::Release(made)), _) => (Ok(made), None),
        (Err(progress), Some(quick)) => (Ok(quick), Some(progress)),
        (Err(progress), None) => (Err(progress), None),
        (Ok(_), _) => (Err(html! {}), None),
    }
}

/// Starts a task and returns its answer, otherwise renders its progress or its error.
fn ask(ctx: &Context, kind: Kind) -> Result<Answer, Markup> {
    let task = steps::ask(&ctx.app, &ctx.table, &ctx.release_job, kind);
    task.map_or_else(|| Err(html! {}), |task| layout::waiting(&task, kind, &ctx.release_below("")))
}

fn failed(ctx: &Context, kind: Kind) -> bool {
    let key = Key { table: ctx.table.id.clone(), job: ctx.release_job.clone(), kind };
    ctx.app.tasks.get(&key).is_some_and(|task| matches!(task.state(), TaskState::Failed(_)))
}

/// Waits up to 300 ms for the quick release, so that the first page usually contains it.
async fn wait(ctx: &Context) {
    let kind =
        if ctx.table.quick_job(&ctx.document).is_some() { Kind::Quick } else { Kind::Release };
    if models::job_error(ctx).is_some() {
        return;
    }
    let Some(task) = steps::ask(&ctx.app, &ctx.table, &ctx.release_job, kind) else { return };
    for _ in 0..60 {
        if !matches!(task.state(), TaskState::Waiting | TaskState::Running) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Renders the form that changes k.
fn k_form(ctx: &Context) -> Markup {
    let Some((_, k)) = ctx.document.k() else { return html! {} };
    html! {
        form.play autocomplete="off" method="post" action=(ctx.below("change"))
            data-play=(ctx.below("k/")) {
            input type="hidden" name="then" value=(Step::Release.name());
            @let place = ctx.document.k().map(|(place, _)| place.to_string()).unwrap_or_default();
            (models::slider(&ctx.document, &place, &t::k_about(k)))
            button.save { (t::MAKE) }
        }
    }
}

fn render_release(made: &Release, quick: bool) -> Markup {
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
        boxes.insert(0, (t::UNIQUE_BEFORE, thousands(unique(insight))));
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
    let summary = sentences::narrowed(smallest, made.job.input.person.is_some(), any);
    let details = t::verdict_more(&manifest.algorithm.name, &seconds(made.seconds), quick);
    html! {
        (verdict(summary.tone, &summary.text, &[details]))
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

/// Returns the share of records by group size, before and after.
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

/// Renders some records with their published cells.
fn some_records(insight: &Insight) -> Markup {
    let record = |(before, after): &(Vec<String>, Option<Vec<String>>)| SampleRecord {
        before: before.clone(),
        after: after.clone(),
        fitting: None,
    };
    let own = Sample {
        columns: insight.columns.clone(),
        records: insight.sample.iter().map(record).collect(),
    };
    html! {
        section aria-labelledby="sample" {
            h2 id="sample" { (t::SAMPLE) }
            p { (t::SAMPLE_ABOUT) }
            (sample(t::SAMPLE, &own))
        }
    }
}

fn alternatives(ctx: &Context, all: &[Alternative]) -> Markup {
    let own = ctx.document.k().map(|(_, k)| k);
    let link = |k: u64| ctx.below(&format!("k/{k}/release"));
    html! {
        div.wide tabindex="0" role="group" aria-label=(t::ALTERNATIVES) {
            table {
                thead {
                    tr {
                        th scope="col" { "k" }
                        th.number scope="col" { (t::LOST) }
                        th.number scope="col" { (t::GROUPS) }
                        th scope="col" { span.visually-hidden { (t::TAKE) } }
                    }
                }
                tbody {
                    @for one in all {
                        tr class=[(Some(one.k) == own).then_some("chosen")] {
                            th scope="row" { (one.k) }
                            @match &one.outcome {
                                Ok((loss, groups)) => {
                                    td.number { (percent(*loss)) }
                                    td.number { (thousands(*groups)) }
                                }
                                Err(why) => { td colspan="2" { (capital(why)) } }
                            }
                            td {
                                @if Some(one.k) == own { (t::CHOSEN) }
                                @else { a href=(link(one.k)) { (t::TAKE) " k = " (one.k) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn compare(ctx: &Context) -> Markup {
    let key =
        Key { table: ctx.table.id.clone(), job: ctx.release_job.clone(), kind: Kind::Compare };
    match ctx.app.tasks.get(&key) {
        Some(task) => match layout::waiting(&task, Kind::Compare, &ctx.release_below("")) {
            Ok(Answer::Compared(compared)) => compared_shown(ctx, &compared),
            Ok(_) => html! {},
            Err(shown) => shown,
        },
        None => html! {
            form method="post" action=(ctx.release_below("task/compare/start")) {
                button { (t::COMPARE_START) }
            }
        },
    }
}

fn compared_shown(ctx: &Context, compared: &Comparison) -> Markup {
    let link = |algorithm: &str, models: &str| {
        let k = models
            .split("k-anonymity(k=")
            .nth(1)
            .and_then(|rest| rest.split(&[',', ')'][..]).next());
        let k = k.map(|k| format!("&k={k}")).unwrap_or_default();
        Some(ctx.below(&format!("take?algorithm={}{k}", escaped(algorithm))))
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
                let (algorithm, models) = (tried.algorithm.clone(), tried.models.clone());
                vec![algorithm, models, why.clone(), String::new(), String::new()]
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
            tooltip: t::configuration(&tried.algorithm, &tried.models, loss, scores.smallest),
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
    let head = [t::ALGORITHM, t::MODELS, t::LOST, t::SMALLEST, t::TIME];
    html! {
        figure.frontier {
            figcaption { (t::FRONTIER) span { (t::FRONTIER_ABOUT) } }
            (frontier.render((t::FRONTIER_LABEL, "")))
            @for line in compared.why() { p.note { (capital(&line)) } }
            details { summary { (t::NUMBERS) } (table(t::COMPARE, &head, &rows, 2)) }
        }
    }
}
