//! The step "Check": results of attacks, and utility of the release.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use incrowd::front_end::core::text::{number, thousands};
use incrowd::{AttackCard, Attacked, Finding, sentences};
use incrowd_report::parts::{self, table, verdict};
use incrowd_report::{Tone, percent};
use maud::{Markup, html};

use super::{Context, JobPath, Step, context, layout, models};
use crate::markup::{blocks, capital, prose};
use crate::steps::{self, Answer, Checked};
use crate::tasks::Kind;
use crate::texts as t;

/// The page of the step.
pub(super) async fn page((State(app), Path((table, job))): JobPath) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => layout::step(&ctx, Step::Check, &body(&ctx)).into_response(),
        Err(response) => *response,
    }
}

fn body(ctx: &Context) -> Markup {
    if let Some(error) = models::job_error(ctx) {
        return models::invalid(ctx, &error);
    }
    let Some(task) = steps::ask(&ctx.app, &ctx.table, &ctx.release_job, Kind::Release) else {
        return html! {};
    };
    // The check needs the release.
    let shown = match layout::waiting(&task, Kind::Release, &ctx.release_below("")) {
        Ok(Answer::Release(release)) => {
            let task = steps::ask_check(&ctx.app, &ctx.table, &ctx.release_job, release);
            match layout::waiting(&task, Kind::Check, &ctx.release_below("")) {
                Ok(Answer::Checked(checked)) => results(&checked),
                Ok(_) => html! {},
                Err(shown) => shown,
            }
        }
        Ok(_) => html! {},
        Err(shown) => shown,
    };
    html! { div data-part="check" { (shown) } }
}

fn results(checked: &Checked) -> Markup {
    let findings: Vec<&Finding> =
        checked.attacks.attacked.iter().map(|attacked| &attacked.finding).collect();
    let utility = checked.measured.as_ref().and_then(|measured| measured.utility.as_ref());
    let errors = utility
        .and_then(|utility| utility.get::<incrowd::utility::QueryError>())
        .and_then(|error| error.all.median);
    let smallest = checked.attacks.group_sizes().iter().copied().min().unwrap_or(0);
    let mut summary = vec![sentences::narrowed(smallest, checked.persons, checked.any)];
    summary.extend(sentences::attacks(&checked.attacks));
    summary.extend(errors.map(sentences::counts_off));
    let worst = summary.iter().map(|sentence| sentence.tone).max().unwrap_or(Tone::Good);
    let words = if worst == Tone::Good { t::ATTACKS_FAIL } else { t::ATTACKS_SUCCEED };
    html! {
        (verdict::<&str>(worst.min(Tone::Amber), words, &[]))
        (parts::sentences(&summary))
        section aria-labelledby="attacks" {
            h2 id="attacks" { (t::ATTACKS) }
            p { (t::ATTACKS_ABOUT) }
            (risks(&checked.attacks.attacked))
            @for finding in findings.iter().filter(|finding| !finding.notes.is_empty()) {
                @let notes: Vec<String> = finding.notes.iter().map(|note| capital(note)).collect();
                p.note { b { (title(finding)) } ": " (notes.join(" ")) }
            }
            (meanings(&findings))
            @if !checked.attacks.skipped.is_empty() {
                details {
                    summary { (t::NOT_RUN) }
                    dl.settings {
                        @for skipped in &checked.attacks.skipped {
                            dt {
                                (skipped.attack)
                                @if let Some(column) = &skipped.column { " " (t::OF) " " (column) }
                            }
                            dd { (prose(&capital(&skipped.why))) }
                        }
                    }
                }
            }
        }
        section aria-labelledby="utility" {
            h2 id="utility" { (t::UTILITY) }
            p { (t::UTILITY_ABOUT) }
            @if let Some(why) = &checked.unmeasured { p.message.note { (prose(&capital(why))) } }
            @if let Some(utility) = utility {
                (blocks(&utility.public_text()))
                details { summary { (t::OWNER_ONLY) } (blocks(&utility.private_text())) }
            }
        }
    }
}

fn title(finding: &Finding) -> String {
    match &finding.column {
        Some(column) => format!("{} {} {column}", finding.attack, t::OF),
        None => finding.attack.to_owned(),
    }
}

fn risks(attacked: &[Attacked]) -> Markup {
    let rows: Vec<Vec<String>> = attacked
        .iter()
        .map(|attacked| {
            let finding = &attacked.finding;
            vec![
                title(finding),
                number(finding.worst),
                number(finding.average),
                format!("{} {} {}", thousands(finding.at_risk), t::OF, thousands(finding.of)),
                percent(finding.share()),
                finding.alarm.clone(),
            ]
        })
        .collect();
    table(
        t::RISKS,
        &[t::ATTACK, t::WORST, t::AVERAGE, t::AT_RISK, t::SHARE, t::AT_RISK_IF],
        &rows,
        1,
    )
}

/// Renders the descriptions and limits of the attacks, from their cards.
fn meanings(findings: &[&Finding]) -> Markup {
    let mut cards: Vec<&AttackCard> = Vec::new();
    for finding in findings {
        if let Ok(card) = AttackCard::find(finding.attack)
            && !cards.iter().any(|known| known.name == card.name)
        {
            cards.push(card);
        }
    }
    html! {
        details {
            summary { (t::WHAT_ATTACKS_ARE) }
            dl.settings {
                @for card in cards {
                    dt { (card.name) }
                    dd { (prose(card.about)) " " span.muted { (prose(card.limits)) } }
                }
            }
        }
    }
}
