//! The table: its columns, what they look like, what they are to a release, and what singles people out.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use incrowd::core::text::thousands;
use incrowd::job::RoleName;
use incrowd::profile::Profile;
use incrowd_report::chart::{AFTER, Rows, Series};
use incrowd_report::parts::{facts, table as data_table};
use incrowd_report::percent;
use maud::{Markup, html};

use super::{At, Place, Step, at, layout};
use crate::app::App;
use crate::chart;
use crate::document::field;
use crate::forms::id;
use crate::steps::{self, Answer};
use crate::tasks::Kind;
use crate::texts as t;

/// A table that was just opened.
pub(super) async fn begin(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let Some(table) = app.table(&id) else {
        return (StatusCode::NOT_FOUND, layout::nothing()).into_response();
    };
    let Some(task) = steps::ask(&app, &table, "", Kind::Look) else {
        return (StatusCode::NOT_FOUND, layout::nothing()).into_response();
    };
    match layout::waiting(&task, Kind::Look, &format!("/t/{id}/-/")) {
        Ok(Answer::Looked(looked)) => {
            Redirect::to(&super::address(&table, &looked.first, Step::Table)).into_response()
        }
        Ok(_) => (StatusCode::NOT_FOUND, layout::nothing()).into_response(),
        Err(shown) => layout::outside(
            &table.name,
            &html! { h1 { (table.name) } (shown) p { a href="/" { (t::TO_THE_START) } } },
        )
        .into_response(),
    }
}

/// The step.
pub(super) async fn page((State(app), Path((table, job))): Place) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => layout::step(&at, Step::Table, &body(&at)).into_response(),
        Err(response) => *response,
    }
}

fn body(at: &At) -> Markup {
    let profile = &at.looked.profile;
    let of = |role| at.document.in_role(role).len().to_string();
    html! {
        (facts(&[
            (t::RECORDS, thousands(profile.records)),
            (t::COLUMNS, profile.table_columns.to_string()),
            (t::QUASI, of(RoleName::Quasi)),
            (t::SENSITIVE, of(RoleName::Sensitive)),
        ]))
        details.roles { summary { (t::ROLES) } dl.settings { @for (name, role) in RoleName::ALL { dt { (t::role(role)) " (" code { (name) } ")" } dd { (t::role_about(role)) } } } }
        form.columns autocomplete="off" method="post" action=(at.below("change")) data-live {
            input type="hidden" name="then" value=(Step::Table.name());
            div.grid {
                @for column in at.document.columns() { (card(at, column)) }
            }
            p.save { button { (t::SAVE) } }
        }
        section id="single" aria-labelledby="single-heading" {
            h2 id="single-heading" { (t::SINGLED) }
            p { (t::SINGLED_ABOUT) }
            div data-part="single" {
                @match steps::ask(&at.app, &at.table, &at.job, Kind::Single) {
                    Some(task) => {
                        @match layout::waiting(&task, Kind::Single, &at.below("")) {
                            Ok(Answer::Singled(profile)) => { (singled(&profile)) }
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

fn card(at: &At, name: &str) -> Markup {
    let role = at.document.role(name);
    let known = at.looked.column(name);
    let select = field(&["columns", name, "role"]);
    let id = id(&select);
    html! {
        section class={ "card column is-" (word(role)) } aria-labelledby={ (id) "-name" } {
            h3 id={ (id) "-name" } { (name) }
            @if let Some(seen) = at.looked.glimpse(name) {
                p.note { (t::values(seen.distinct, seen.missing)) }
                (chart::glimpse(seen))
            }
            div.field {
                label for=(id) { (t::ROLE) span.visually-hidden { " " (t::OF) " " (name) } }
                select id=(id) name=(select) {
                    @for (word, one) in RoleName::ALL { option value=(word) selected[one == role] { (t::role(one)) } }
                }
            }
            @if let Some(known) = known {
                p.reason {
                    @if known.proposal.role != role {
                        (t::proposed(t::role(known.proposal.role)))
                    } @else {
                        @if !known.proposal.sure { b.unsure { (t::UNSURE) } " " }
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

fn singled(profile: &Profile) -> Markup {
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
            @let alone = unique.sizes.of_size(1);
            p.big { (t::alone(&thousands(alone), &thousands(profile.records), &percent(alone as f64 / profile.records.max(1) as f64))) }
            @let less = unique.without.iter().map(|left| alone.saturating_sub(*left) as f64 / alone.max(1) as f64).collect();
            @let without = Rows {
                label: t::WITHOUT.to_owned(),
                labels: unique.columns.iter().map(name).collect(),
                series: vec![Series::new(t::WITHOUT, less, AFTER)],
                whole: Some(1.0),
                show: percent,
            };
            @if alone > 0 {
                h3 { (t::WITHOUT) }
                p.note { (t::WITHOUT_ABOUT) }
                (without.render())
            }
        } @else { p { (t::NO_QUASI) } }
        @if !rows.is_empty() { (data_table(t::SETS, &[t::COLUMNS, t::ALONE, t::SHARE], &rows, 1)) }
    }
}
