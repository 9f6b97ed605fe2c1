//! The check: what attacks find, in plain sentences, and what the release is still good for.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use incrowd::core::text::{number, thousands};
use incrowd::{AttackCard, Attacked, Finding, sentences};
use incrowd_report::parts::{self, table, verdict};
use incrowd_report::{Tone, percent};
use maud::{Markup, html};

use super::{At, Place, Step, at, layout, promises};
use crate::markup::{blocks, capital, prose};
use crate::steps::{self, Answer, Checked};
use crate::tasks::Kind;
use crate::texts as t;

/// The step.
pub(super) async fn page((State(app), Path((table, job))): Place) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => layout::step(&at, Step::Check, &body(&at)).into_response(),
        Err(response) => *response,
    }
}

fn body(at: &At) -> Markup {
    if let Some(error) = promises::wrong(at) {
        return html! { (crate::markup::error(&error)) p { a.button href=(at.href(Step::Promises)) { (t::TO_PROMISES) } } };
    }
    let Some(task) = steps::ask(&at.app, &at.table, &at.making, Kind::Release) else { return html! {} };
    // First the release, then what can be done to it.
    let shown = match layout::waiting(&task, Kind::Release, &at.making_below("")) {
        Ok(Answer::Release(release)) => {
            let task = steps::ask_check(&at.app, &at.table, &at.making, release);
            match layout::waiting(&task, Kind::Check, &at.making_below("")) {
                Ok(Answer::Checked(checked)) => found(&checked),
                Ok(_) => html! {},
                Err(shown) => shown,
            }
        }
        Ok(_) => html! {},
        Err(shown) => shown,
    };
    html! { div data-part="check" { (shown) } }
}

fn found(checked: &Checked) -> Markup {
    let findings: Vec<&Finding> = checked.attacks.attacked.iter().map(|attacked| &attacked.finding).collect();
    let errors = checked.measured.as_ref().and_then(|measured| measured.utility.as_ref());
    let errors = errors
        .and_then(|utility| utility.get::<incrowd::utility::QueryError>())
        .and_then(|error| error.all.median);
    let smallest = checked.attacks.group_sizes().iter().copied().min().unwrap_or(0);
    let mut said = vec![sentences::narrowed(smallest, checked.persons, checked.any)];
    said.extend(sentences::attacks(&checked.attacks));
    said.extend(errors.map(sentences::counts_off));
    let worst = said.iter().map(|sentence| sentence.tone).max().unwrap_or(Tone::Good);
    let words = if worst == Tone::Good { t::ATTACKS_FAIL } else { t::ATTACKS_SUCCEED };
    html! {
        (verdict::<&str>(worst.min(Tone::Amber), words, &[]))
        (parts::sentences(&said))
        section aria-labelledby="attacks" {
            h2 id="attacks" { (t::ATTACKS) }
            p { (t::ATTACKS_ABOUT) }
            (risks(&checked.attacks.attacked))
            @for finding in findings.iter().filter(|finding| !finding.notes.is_empty()) {
                p.note { b { (title(finding)) } ": " (finding.notes.iter().map(|note| capital(note)).collect::<Vec<_>>().join(" ")) }
            }
            (meanings(&findings))
            @if !checked.attacks.skipped.is_empty() {
                details {
                    summary { (t::NOT_RUN) }
                    dl.settings { @for skipped in &checked.attacks.skipped { dt { (skipped.attack) @if let Some(column) = &skipped.column { " " (t::OF) " " (column) } } dd { (prose(&capital(&skipped.why))) } } }
                }
            }
        }
        section aria-labelledby="utility" {
            h2 id="utility" { (t::UTILITY) }
            p { (t::UTILITY_ABOUT) }
            @if let Some(why) = &checked.unmeasured { p.message.note { (prose(&capital(why))) } }
            @if let Some(utility) = checked.measured.as_ref().and_then(|measured| measured.utility.as_ref()) {
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
    table(t::RISKS, &[t::ATTACK, t::WORST, t::AVERAGE, t::AT_RISK, t::SHARE, t::AT_RISK_IF], &rows, 1)
}

/// What each attack is and does not say, from its card.
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
            dl.settings { @for card in cards { dt { (card.name) } dd { (prose(card.about)) " " span.muted { (prose(card.limits)) } } } }
        }
    }
}
