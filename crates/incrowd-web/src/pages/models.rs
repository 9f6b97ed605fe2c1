//! The step "Privacy models": models and algorithm. Every field comes from the cards and from the
//! list of keys.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use incrowd::Value;
use incrowd::front_end::core::Params;
use incrowd::front_end::recode::ALGORITHMS;
use incrowd::job::keys::Section;
use incrowd::model::{Card, MODELS, Need};
use maud::{Markup, html};

use super::{Context, JobPath, Step, context, layout};
use crate::document::{Document, field_name, is_open};
use crate::forms;
use crate::markup;
use crate::texts as t;

/// The page of the step.
pub(super) async fn page((State(app), Path((table, job))): JobPath) -> Response {
    match context(&app, &table, &job) {
        Ok(ctx) => layout::step(&ctx, Step::Models, &body(&ctx)).into_response(),
        Err(response) => *response,
    }
}

fn body(ctx: &Context) -> Markup {
    let document = &ctx.document;
    html! {
        @if let Some(error) = &job_error(ctx) { (markup::error(error)) }
        form.model-settings autocomplete="off" method="post" action=(ctx.below("change")) {
            input type="hidden" name="then" value=(Step::Models.name());
            // The first button of a form is its default: Enter must save and not remove a model.
            button.visually-hidden tabindex="-1" aria-hidden="true" { (t::SAVE) }
            @for (i, name) in document.models().iter().enumerate() {
                @if let Some(card) = MODELS.iter().find(|card| card.name == *name) {
                    (model(document, i, card))
                }
            }
            @if document.models().is_empty() { p { (t::NO_MODEL) } }
            fieldset.people {
                legend { (t::WHO_COUNTS) }
                div.fields {
                    @for key in Section::Input.keys().filter(|key| is_open(key)) {
                        (forms::key(document, key, &["input"]))
                    }
                }
            }
            fieldset {
                legend { (t::HOW_MADE) }
                @let card = ALGORITHMS.iter().find(|card| card.name == document.algorithm());
                div.fields {
                    @for key in Section::Algorithm.keys().filter(|key| is_open(key)) {
                        (forms::key(document, key, &["algorithm"]))
                    }
                }
                @if let Some(card) = card {
                    p { b { (card.name) } ": " (markup::prose(card.about)) }
                    @if !card.params.is_empty() {
                        details { summary { (t::OPTIONS_OF) " " (card.name) }
                            div.fields {
                                @for param in card.params {
                                    (forms::param(document, param, &["algorithm"]))
                                }
                            }
                        }
                    }
                }
            }
            p.save { button.primary { (t::SAVE) } }
        }
        section.add aria-labelledby="add" {
            h2 id="add" { (t::ADD_HEADING) }
            p { (t::ADD_ABOUT) }
            form method="post" action=(ctx.below("change")) {
                input type="hidden" name="then" value=(Step::Models.name());
                ul.models {
                    @for card in MODELS.iter().filter(|card| may_be_added(document, card)) {
                        li.card {
                            h3 { (card.name) }
                            p { (markup::prose(card.guarantee)) }
                            details { summary { (t::LIMITS) } p { (markup::prose(card.limits)) } }
                            @if card.needs.contains(&Need::Population) {
                                p.note { (t::NEEDS_POPULATION) }
                            }
                            button name="add" value=(card.name) {
                                (t::ADD) span.visually-hidden { " " (card.name) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns whether the model can be added: only models of a column can be used several times.
fn may_be_added(document: &Document, card: &Card) -> bool {
    !document.models().contains(&card.name) || card.params.iter().any(|param| param.name == "on")
}

/// Returns the error of the job, as far as it can be found without reading the table.
pub(crate) fn job_error(ctx: &Context) -> Option<incrowd::job::JobError> {
    let file = match ctx.document.read(&ctx.table.base) {
        Ok(file) => file,
        Err(error) => return Some(error),
    };
    let columns: Vec<String> =
        ctx.inspection.glimpses.iter().map(|column| column.name.clone()).collect();
    let checked = incrowd::front_end::CheckedJob::new(&file.job, &columns);
    checked.err().map(|error| file.provenance.locate(error))
}

/// Renders the error of the job with a link to this step.
pub(crate) fn invalid(ctx: &Context, error: &incrowd::job::JobError) -> Markup {
    html! {
        (markup::error(error))
        p { a.button href=(ctx.href(Step::Models)) { (t::TO_MODELS) } }
    }
}

/// Returns the guarantee and the limits of a model with its parameters.
fn chosen(document: &Document, place: &str, card: &'static Card) -> (String, String) {
    let given = card.params.iter().filter_map(|param| {
        let word = document.get_text(&["models", place, param.name])?;
        Some((param.name.to_owned(), Value::from_word(&word, param.kind)))
    });
    let params = Params::new(card.name, card.params, given);
    params.map_or_else(
        |_| (card.guarantee.to_owned(), card.limits.to_owned()),
        |params| card.chosen(&params),
    )
}

fn model(document: &Document, i: usize, card: &'static Card) -> Markup {
    let place = i.to_string();
    let (guarantee, limits) = chosen(document, &place, card);
    html! {
        fieldset.model {
            legend { (card.name) }
            p { (markup::prose(&guarantee)) }
            div.fields {
                @for param in card.params {
                    @if param.name == "k" {
                        (slider(document, &place, param.about))
                    } @else {
                        (forms::param(document, param, &["models", &place]))
                    }
                }
            }
            details { summary { (t::LIMITS) } p { (markup::prose(&limits)) } }
            button name="remove" value=(i) { (t::REMOVE) span.visually-hidden { " " (card.name) } }
        }
    }
}

/// Renders k as a number with a slider.
pub(crate) fn slider(document: &Document, place: &str, about: &str) -> Markup {
    let name = field_name(&["models", place, "k"]);
    let id = forms::id(&name);
    let value = document.get_text(&["models", place, "k"]).unwrap_or_default();
    html! {
        div.field.slider {
            label for=(id) { "k" }
            input id=(id) name=(name) type="number" min="1" step="1" value=(value) data-number
                aria-describedby={ (id) "-about" };
            input type="range" min="2" max="100" step="1" value=(value) aria-label=(t::K_SLIDER)
                data-range;
            p.note id={ (id) "-about" } { (about) }
        }
    }
}
