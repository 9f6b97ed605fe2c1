//! Models whose definition depends on a parameter. Reports describe only the chosen variant.

use super::Card;
use crate::card::Params;

/// One of several definitions of a model.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The parameter that selects the variant.
    pub param: &'static str,
    /// The value of the parameter that selects this variant.
    pub value: &'static str,
    /// The guarantee. A parameter name in braces is replaced by its value.
    pub guarantee: &'static str,
    /// The attacks it does not protect against.
    pub limits: &'static str,
}

impl Card {
    /// The guarantee and its limits with these parameters. If the model has several variants, those
    /// of the selected one.
    pub fn chosen(&self, params: &Params) -> (String, String) {
        let value_of = |name: &str| {
            params.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string())
        };
        let is_chosen =
            |variant: &&Variant| value_of(variant.param).as_deref() == Some(variant.value);
        let Some(variant) = self.variants.iter().find(is_chosen) else {
            return (self.guarantee.to_owned(), self.limits.to_owned());
        };
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
        (filled(variant.guarantee), filled(variant.limits))
    }
}

#[cfg(test)]
mod tests {
    use super::super::MODELS;
    use super::*;
    use crate::card::{ParamKind, Value};

    #[test]
    fn only_the_chosen_variant_is_described() {
        let card = MODELS.iter().find(|card| card.name == "l-diversity").unwrap();
        let guarantee = |kind: &str, c: Option<f64>| {
            let mut given = vec![("l", Value::Integer(3)), ("kind", Value::Word(kind.into()))];
            given.push(("on", Value::Word("disease".into())));
            given.extend(c.map(|c| ("c", Value::Real(c))));
            let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
            card.chosen(&Params::new(card.name, card.params, given).unwrap()).0
        };
        assert_eq!(
            guarantee("distinct", None),
            "Every group has at least 3 different values of disease."
        );
        assert!(guarantee("recursive", Some(2.5)).contains("less than 2.5 times"));
        assert!(
            !guarantee("distinct", None).contains("entropy")
                && guarantee("entropy", None).contains("ln 3")
        );
    }

    #[test]
    fn a_model_without_variants_has_the_texts_of_its_card() {
        let card = MODELS.iter().find(|card| card.name == "k-anonymity").unwrap();
        let params =
            Params::new(card.name, card.params, [("k".to_owned(), Value::Integer(5))]).unwrap();
        assert_eq!(card.chosen(&params), (card.guarantee.to_owned(), card.limits.to_owned()));
    }

    #[test]
    fn every_choice_has_a_variant_and_every_brace_names_a_parameter() {
        for card in MODELS.iter().filter(|card| !card.variants.is_empty()) {
            let chooses = card.variants[0].param;
            let param = card.params.iter().find(|param| param.name == chooses).unwrap();
            let ParamKind::Choice(words) = param.kind else {
                panic!("{} chooses nothing", card.name)
            };
            let values: Vec<&str> = card.variants.iter().map(|variant| variant.value).collect();
            assert_eq!(values, words, "{}", card.name);
            for variant in card.variants {
                assert_eq!(variant.param, chooses);
                for text in [variant.guarantee, variant.limits] {
                    for name in text.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
                        assert!(
                            card.params.iter().any(|param| param.name == name),
                            "{}: {name}",
                            card.name
                        );
                    }
                }
            }
        }
    }
}
