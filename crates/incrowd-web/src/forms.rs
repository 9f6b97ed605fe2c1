//! Form fields, generated from the list of keys and from the cards. A new key or parameter appears
//! without changes here.

use incrowd::job::keys::{Key, Kind, Section};
use incrowd::{Param, ParamKind};
use maud::{Markup, html};

use crate::document::{Document, field_name};
use crate::markup::prose;
use crate::texts as t;

/// The content of a field.
struct Field<'a> {
    name: String,
    label: String,
    about: &'a str,
    value: String,
    default: String,
}

/// The kind of input element.
enum Input<'a> {
    /// One of these choices.
    Choice(Vec<&'a str>),
    /// One of these columns, or none.
    Column(Vec<&'a str>),
    Flag,
    Number {
        least: Option<f64>,
        most: Option<f64>,
        whole: bool,
    },
    Text,
}

/// Renders the field of a key of the job.
pub(crate) fn key(document: &Document, key: &'static Key, above: &[&str]) -> Markup {
    let path: Vec<&str> = above.iter().copied().chain([key.name]).collect();
    let input = match key.kind {
        Kind::Choice(words) => Input::Choice(words.to_vec()),
        Kind::Card => Input::Choice(cards(key.section)),
        Kind::Flag => Input::Flag,
        Kind::Share => Input::Number { least: Some(0.0), most: Some(1.0), whole: false },
        Kind::Number => Input::Number { least: None, most: None, whole: false },
        Kind::Count(least) => Input::Number { least: Some(least as f64), most: None, whole: true },
        // Text keys of `[input]` name a column.
        Kind::Text if key.section == Section::Input => Input::Column(document.columns()),
        _ => Input::Text,
    };
    let field = Field {
        name: field_name(&path),
        // A key that selects a card is labelled with the section.
        label: label(if key.kind == Kind::Card { key.section.name() } else { key.name }),
        about: key.about.split(": ").next().unwrap_or(key.about),
        value: document.get_text(&path).unwrap_or_default(),
        default: key.default.join(", "),
    };
    field.render(&input)
}

/// Renders the field of a parameter of a model or an algorithm.
pub(crate) fn param(document: &Document, param: &'static Param, above: &[&str]) -> Markup {
    let path: Vec<&str> = above.iter().copied().chain([param.name]).collect();
    let input = match param.kind {
        ParamKind::Choice(words) => Input::Choice(words.to_vec()),
        ParamKind::Column => Input::Column(document.in_role(incrowd::job::RoleName::Sensitive)),
        ParamKind::Flag => Input::Flag,
        ParamKind::Count(least) => {
            Input::Number { least: Some(least as f64), most: None, whole: true }
        }
        ParamKind::Number(least, most) => Input::Number {
            least: Some(least),
            most: Some(most).filter(|most| *most < f64::MAX),
            whole: false,
        },
        ParamKind::Words => Input::Text,
    };
    let field = Field {
        name: field_name(&path),
        label: label(param.name),
        about: param.about,
        value: document.get_text(&path).unwrap_or_default(),
        default: param.default.unwrap_or_default().to_owned(),
    };
    field.render(&input)
}

/// Returns the names of the cards of a section.
fn cards(section: Section) -> Vec<&'static str> {
    match section {
        Section::Models => incrowd::model::MODELS.iter().map(|card| card.name).collect(),
        _ => incrowd::front_end::recode::ALGORITHMS.iter().map(|card| card.name).collect(),
    }
}

/// Returns the label of a name of the job file.
pub(crate) fn label(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the element id of a field name.
pub(crate) fn id(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    // The hash keeps ids distinct if names differ only in the replaced characters.
    let sum =
        name.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("f-{}-{sum:x}", name.chars().map(plain).collect::<String>())
}

impl Field<'_> {
    fn render(&self, input: &Input<'_>) -> Markup {
        let id = id(&self.name);
        let about = format!("{id}-about");
        let default = || match self.default.as_str() {
            "" => t::NOT_SET.to_owned(),
            default => t::default_value(default),
        };
        html! {
            div.field {
                label for=(id) { (self.label) }
                @match input {
                    Input::Choice(words) => {
                        select id=(id) name=(self.name) aria-describedby=(about) {
                            option value="" selected[self.value.is_empty()] { (default()) }
                            @for word in words {
                                option value=(word) selected[self.value == *word] { (word) }
                            }
                        }
                    }
                    Input::Column(columns) => {
                        select id=(id) name=(self.name) aria-describedby=(about) {
                            option value="" selected[self.value.is_empty()] { (t::NO_COLUMN) }
                            @for column in columns {
                                option value=(column) selected[self.value == *column] { (column) }
                            }
                        }
                    }
                    Input::Flag => {
                        select id=(id) name=(self.name) aria-describedby=(about) {
                            option value="" selected[self.value.is_empty()] { (default()) }
                            option value="true" selected[self.value == "true"] { (t::YES) }
                            option value="false" selected[self.value == "false"] { (t::NO) }
                        }
                    }
                    Input::Number { least, most, whole } => {
                        input id=(id) name=(self.name) type="number"
                            min=[least.map(|x| x.to_string())] max=[most.map(|x| x.to_string())]
                            step=(if *whole { "1" } else { "any" })
                            value=(self.value) placeholder=(self.default) aria-describedby=(about);
                    }
                    Input::Text => {
                        input id=(id) name=(self.name) type="text" value=(self.value)
                            placeholder=(self.default) autocomplete="off" spellcheck="false"
                            aria-describedby=(about);
                    }
                }
                p.note id=(about) { (prose(self.about)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use incrowd::job::keys::KEYS;

    use super::*;
    use crate::document::is_open;

    #[test]
    fn every_open_key_and_every_parameter_has_a_labelled_field() {
        let document = Document::parse("[columns]\nage = \"quasi\"").unwrap();
        let check = |name: &str, drawn: String| {
            let (id, label) = (id(name), format!("for=\"{}\"", id(name)));
            assert!(
                drawn.contains(&format!("id=\"{id}\"")) && drawn.contains(&label),
                "{name}: {drawn}"
            );
        };
        for own in KEYS.iter().filter(|own| is_open(own)) {
            check(&field_name(&["x", own.name]), key(&document, own, &["x"]).into_string());
        }
        let params = incrowd::model::MODELS.iter().flat_map(|card| card.params);
        for own in
            params.chain(incrowd::front_end::recode::ALGORITHMS.iter().flat_map(|card| card.params))
        {
            check(&field_name(&["x", own.name]), param(&document, own, &["x"]).into_string());
        }
    }

    #[test]
    fn similar_names_have_distinct_ids() {
        assert_ne!(id("columns/a b/role"), id("columns/a_b/role"));
    }
}
