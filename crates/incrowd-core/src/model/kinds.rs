//! What a model promises where a parameter chooses between several meanings: whoever reads of a release is told the one that was chosen.

use super::Card;
use crate::card::Params;

/// One of several things a model may promise.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The parameter that chooses.
    pub param: &'static str,
    /// What it says to choose this.
    pub value: &'static str,
    /// What is promised then. A parameter in braces stands for what it is.
    pub promise: &'static str,
    /// What that does not protect against.
    pub limits: &'static str,
}

impl Card {
    /// What is promised with these parameters and what is not: of several kinds only the one that was chosen.
    pub fn chosen(&self, params: &Params) -> (String, String) {
        let said =
            |name: &str| params.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string());
        let chosen = self.kinds.iter().find(|kind| said(kind.param).as_deref() == Some(kind.value));
        let Some(kind) = chosen else { return (self.promise.to_owned(), self.limits.to_owned()) };
        let filled = |text: &str| {
            let mut text = text.to_owned();
            for (name, value) in params.iter() {
                let word = match (name, value.to_string()) {
                    ("on", word) if word.is_empty() => "the sensitive column".to_owned(),
                    (_, word) => word,
                };
                text = text.replace(&format!("{{{name}}}"), &word);
            }
            text
        };
        (filled(kind.promise), filled(kind.limits))
    }
}

#[cfg(test)]
mod tests {
    use super::super::MODELS;
    use super::*;
    use crate::card::{ParamKind, Value};

    #[test]
    fn only_the_chosen_kind_is_told() {
        let card = MODELS.iter().find(|card| card.name == "l-diversity").unwrap();
        let told = |kind: &str, c: Option<f64>| {
            let mut given = vec![("l", Value::Integer(3)), ("kind", Value::Word(kind.into()))];
            given.push(("on", Value::Word("disease".into())));
            given.extend(c.map(|c| ("c", Value::Real(c))));
            let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
            card.chosen(&Params::new(card.name, card.params, given).unwrap()).0
        };
        assert_eq!(told("distinct", None), "Every group has at least 3 different values of disease.");
        assert!(told("recursive", Some(2.5)).contains("less than 2.5 times"));
        assert!(!told("distinct", None).contains("entropy") && told("entropy", None).contains("ln 3"));
    }

    #[test]
    fn a_model_without_kinds_says_what_its_card_says() {
        let card = MODELS.iter().find(|card| card.name == "k-anonymity").unwrap();
        let params = Params::new(card.name, card.params, [("k".to_owned(), Value::Integer(5))]).unwrap();
        assert_eq!(card.chosen(&params), (card.promise.to_owned(), card.limits.to_owned()));
    }

    #[test]
    fn every_choice_of_a_kind_is_told_and_no_brace_is_left() {
        for card in MODELS.iter().filter(|card| !card.kinds.is_empty()) {
            let chooses = card.kinds[0].param;
            let param = card.params.iter().find(|param| param.name == chooses).unwrap();
            let ParamKind::Choice(words) = param.kind else { panic!("{} chooses nothing", card.name) };
            let told: Vec<&str> = card.kinds.iter().map(|kind| kind.value).collect();
            assert_eq!(told, words, "{}", card.name);
            for kind in card.kinds {
                assert_eq!(kind.param, chooses);
                for text in [kind.promise, kind.limits] {
                    for name in text.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
                        assert!(card.params.iter().any(|param| param.name == name), "{}: {name}", card.name);
                    }
                }
            }
        }
    }
}
