//! The step "Table": the columns with their values and roles, and the uniqueness of records.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use incrowd::front_end::core::text::thousands;
use incrowd::job::RoleName;
use incrowd::profile::Profile;
use incrowd_report::chart::{AFTER, Rows, Series};
use incrowd_report::parts::{facts, table as data_table};
use incrowd_report::percent;
use maud::{Markup, html};

use super::{Context, JobPath, Step, context, layout};
use crate::app::App;
use crate::chart;
use crate::document::field_name;
use crate::forms::id;
use crate::markup::prose;
use crate::steps::{self, Answer};
use crate::tasks::Kind;
use crate::texts as t;

/// The first page of an open table.
pub(super) async fn begin(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let Some(table) = app.table(&id) else {
        return (StatusCode::NOT_FOUND, layout::nothing(&app)).into_response();
    };
    let Some(task) = steps::ask(&app, &table, "", Kind::Inspect) else {
        return (StatusCode::NOT_FOUND, layout::nothing(&app)).into_response();
    };
    match layout::waiting(&task, Kind::Inspect, &app.guard.path(&format!("/t/{id}/-/"))) {
        Ok(Answer::Inspected(inspection)) => {
            Redirect::to(&super::address(&app, &table, &inspection.first, Step::Table))
                .into_response()
        }
        Ok(_) => (StatusCode::NOT_FOUND, layout::nothing(&app)).into_response(),
        Err(shown) => {
            let start = app.guard.path("/");
            let body =
                html! { h1 { (table.name) } (shown) p { a href=(start) { (t::TO_THE_START) } } };
            layout::outside(&app, &table.name, &body).into_response()
        }
    }
}

/// The page of the step.
pub(super) async fn page((State(app), Path((table, job))): JobPath) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => layout::step(&ctx, Step::Table, &body(&ctx)).into_response(),
        Err(response) => *response,
    }
}

fn body(ctx: &Context) -> Markup {
    let profile = &ctx.inspection.profile;
    let of = |role| ctx.document.in_role(role).len().to_string();
    html! {
        @if let Some(journals) = &ctx.table.journals { p.message.note { (prose(journals)) } }
        (facts(&[
            (t::RECORDS, thousands(profile.records)),
            (t::COLUMNS, profile.table_columns.to_string()),
            (t::QUASI, of(RoleName::Quasi)),
            (t::SENSITIVE, of(RoleName::Sensitive)),
        ]))
        details.roles {
            summary { (t::ROLES) }
            dl.settings {
                @for (name, role) in RoleName::ALL {
                    dt { (t::role(role)) " (" code { (name) } ")" }
                    dd { (t::role_about(role)) }
                }
            }
        }
        form.columns autocomplete="off" method="post" action=(ctx.below("change")) data-live {
            input type="hidden" name="then" value=(Step::Table.name());
            div.grid {
                @for column in ctx.document.columns() { (card(ctx, column)) }
            }
            p.save { button { (t::SAVE) } }
        }
        section id="uniqueness" aria-labelledby="uniqueness-heading" {
            h2 id="uniqueness-heading" { (t::UNIQUENESS) }
            p { (t::UNIQUENESS_ABOUT) }
            div data-part="uniqueness" {
                @match steps::ask(&ctx.app, &ctx.table, &ctx.job, Kind::Uniqueness) {
                    Some(task) => {
                        @match layout::waiting(&task, Kind::Uniqueness, &ctx.below("")) {
                            Ok(Answer::Uniqueness(profile)) => { (uniqueness(&profile)) }
                            Ok(_) => {}
                            Err(shown) => { (shown) }
                        }
                    }
                    None => {}
                }
            }
        }
    }
}

fn card(ctx: &Context, name: &str) -> Markup {
    let role = ctx.document.role(name);
    let known = ctx.inspection.column(name);
    let select = field_name(&["columns", name, "role"]);
    let id = id(&select);
    html! {
        section class={ "card column is-" (word(role)) } aria-labelledby={ (id) "-name" } {
            h3 id={ (id) "-name" } { (name) }
            @if let Some(glimpse) = ctx.inspection.glimpse(name) {
                p.note { (t::values(glimpse.distinct, glimpse.missing)) }
                (chart::glimpse(glimpse))
            }
            div.field {
                label for=(id) { (t::ROLE) span.visually-hidden { " " (t::OF) " " (name) } }
                select id=(id) name=(select) {
                    @for (word, one) in RoleName::ALL {
                        option value=(word) selected[one == role] { (t::role(one)) }
                    }
                }
            }
            @if let Some(known) = known {
                p.reason {
                    @if known.proposal.role != role {
                        (t::proposed(t::role(known.proposal.role)))
                    } @else {
                        @if !known.proposal.sure { b.unsure { (t::UNCERTAIN) } " " }
                        (crate::markup::capital(&known.proposal.reason))
                    }
                }
                @for remark in &known.remarks { p.note { (crate::markup::capital(remark)) } }
            }
        }
    }
}

fn word(role: RoleName) -> &'static str {
    RoleName::ALL.iter().find(|(_, known)| *known == role).map_or("", |(word, _)| word)
}

fn uniqueness(profile: &Profile) -> Markup {
    let name = |column: &usize| profile.columns[*column].name.clone();
    let rows: Vec<Vec<String>> = profile
        .found
        .combinations
        .iter()
        .take(8)
        .map(|set| {
            let names: Vec<String> = set.columns.iter().map(name).collect();
            vec![
                names.join(", "),
                thousands(set.unique),
                percent(set.unique as f64 / profile.records.max(1) as f64),
            ]
        })
        .collect();
    html! {
        @if let Some(unique) = &profile.uniqueness {
            @let records = unique.sizes.of_size(1);
            @let share = percent(records as f64 / profile.records.max(1) as f64);
            p.big { (t::unique(&thousands(records), &thousands(profile.records), &share)) }
            @let fewer = |left: &u64| records.saturating_sub(*left) as f64 / records.max(1) as f64;
            @let fewer = unique.without.iter().map(fewer).collect();
            @let without = Rows {
                label: t::WITHOUT.to_owned(),
                labels: unique.columns.iter().map(name).collect(),
                series: vec![Series::new(t::WITHOUT, fewer, AFTER)],
                whole: Some(1.0),
                show: percent,
            };
            @if records > 0 {
                h3 { (t::WITHOUT) }
                p.note { (t::WITHOUT_ABOUT) }
                (without.render())
            }
        } @else { p { (t::NO_QUASI) } }
        @if !rows.is_empty() {
            (data_table(t::SETS, &[t::COLUMNS, t::UNIQUE, t::SHARE], &rows, 1))
        }
    }
}
