//! What is promised, and how the release is made. Every field comes from the cards of models and algorithms and from the table of
//! keys.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use incrowd::Value;
use incrowd::core::Params;
use incrowd::job::keys::Section;
use incrowd::model::{Card, MODELS, Need};
use incrowd::recode::ALGORITHMS;
use maud::{Markup, html};

use super::{At, Place, Step, at, layout};
use crate::document::{Document, field, is_open};
use crate::forms;
use crate::markup;
use crate::texts as t;

/// The step.
pub(super) async fn page((State(app), Path((table, job))): Place) -> Response {
    match at(&app, &table, &job) {
        Ok(at) => layout::step(&at, Step::Promises, &body(&at)).into_response(),
        Err(response) => *response,
    }
}

fn body(at: &At) -> Markup {
    let document = &at.document;
    let wrong = wrong(at);
    html! {
        @if let Some(error) = &wrong { (markup::error(error)) }
        form.promises autocomplete="off" method="post" action=(at.below("change")) {
            input type="hidden" name="then" value=(Step::Promises.name());
            // Whoever presses Enter saves, and removes nothing.
            button.visually-hidden tabindex="-1" aria-hidden="true" { (t::SAVE) }
            @for (i, name) in document.models().iter().enumerate() {
                @if let Some(card) = MODELS.iter().find(|card| card.name == *name) { (promise(document, i, card)) }
            }
            @if document.models().is_empty() { p { (t::NO_PROMISE) } }
            fieldset.people {
                legend { (t::WHO_COUNTS) }
                div.fields {
                    @for key in Section::Input.keys().filter(|key| is_open(key)) { (forms::key(document, key, &["input"])) }
                }
            }
            fieldset {
                legend { (t::HOW_MADE) }
                @let card = ALGORITHMS.iter().find(|card| card.name == document.algorithm());
                div.fields {
                    @for key in Section::Algorithm.keys().filter(|key| is_open(key)) { (forms::key(document, key, &["algorithm"])) }
                }
                @if let Some(card) = card {
                    p { b { (card.name) } ": " (markup::prose(card.about)) }
                    @if !card.params.is_empty() {
                        details { summary { (t::OPTIONS_OF) " " (card.name) }
                            div.fields { @for param in card.params { (forms::param(document, param, &["algorithm"])) } }
                        }
                    }
                }
            }
            p.save { button.primary { (t::SAVE) } }
        }
        section.add aria-labelledby="add" {
            h2 id="add" { (t::ADD_HEADING) }
            p { (t::ADD_ABOUT) }
            form method="post" action=(at.below("change")) {
                input type="hidden" name="then" value=(Step::Promises.name());
                ul.models {
                    @for card in MODELS.iter().filter(|card| may_be_added(document, card)) {
                        li.card {
                            h3 { (card.name) }
                            p { (markup::prose(card.promise)) }
                            details { summary { (t::NOT_PROMISED) } p { (markup::prose(card.limits)) } }
                            @if card.needs.contains(&Need::Population) { p.note { (t::NEEDS_POPULATION) } }
                            button name="add" value=(card.name) { (t::ADD) span.visually-hidden { " " (card.name) } }
                        }
                    }
                }
            }
        }
    }
}

/// What is not about a column is promised once.
fn may_be_added(document: &Document, card: &Card) -> bool {
    !document.models().contains(&card.name) || card.params.iter().any(|param| param.name == "on")
}

/// What is wrong with the job, as far as it shows without reading the table.
pub(crate) fn wrong(at: &At) -> Option<incrowd::job::JobError> {
    let file = match at.document.read(&at.table.base) {
        Ok(file) => file,
        Err(error) => return Some(error),
    };
    let columns: Vec<String> = at.looked.glimpses.iter().map(|seen| seen.name.clone()).collect();
    let checked = incrowd::CheckedJob::new(&file.job, &columns);
    checked.err().map(|error| file.provenance.locate(error))
}

/// What is promised and what is not: of several kinds the one that is chosen.
fn chosen(document: &Document, place: &str, card: &'static Card) -> (String, String) {
    let given = card.params.iter().filter_map(|param| {
        let word = document.words(&["models", place, param.name])?;
        Some((param.name.to_owned(), Value::from_word(&word, param.kind)))
    });
    let params = Params::new(card.name, card.params, given);
    params.map_or_else(|_| (card.promise.to_owned(), card.limits.to_owned()), |params| card.chosen(&params))
}

fn promise(document: &Document, i: usize, card: &'static Card) -> Markup {
    let place = i.to_string();
    let (says, limits) = chosen(document, &place, card);
    html! {
        fieldset.promise {
            legend { (card.name) }
            p { (markup::prose(&says)) }
            div.fields {
                @for param in card.params {
                    @if param.name == "k" {
                        (slider(document, &place, param.about))
                    } @else {
                        (forms::param(document, param, &["models", &place]))
                    }
                }
            }
            details { summary { (t::NOT_PROMISED) } p { (markup::prose(&limits)) } }
            button name="remove" value=(i) { (t::REMOVE) span.visually-hidden { " " (card.name) } }
        }
    }
}

/// k as a slider beside its number.
pub(crate) fn slider(document: &Document, place: &str, about: &str) -> Markup {
    let name = field(&["models", place, "k"]);
    let id = forms::id(&name);
    let value = document.words(&["models", place, "k"]).unwrap_or_default();
    html! {
        div.field.slider {
            label for=(id) { "k" }
            input id=(id) name=(name) type="number" min="1" step="1" value=(value) data-number aria-describedby={ (id) "-about" };
            input type="range" min="2" max="100" step="1" value=(value) aria-label=(t::K_SLIDER) data-range;
            p.note id={ (id) "-about" } { (about) }
        }
    }
}
