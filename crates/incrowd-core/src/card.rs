//! Parameters of models and algorithms as data. The job file, the command line, `explain` and the
//! documentation all read this list.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Error, Result};

/// The preferred direction of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better.
    Lower,
    /// Greater values are better.
    Higher,
    /// Values near the one of the original are better.
    Nearer,
}

impl Better {
    /// The direction as words.
    pub fn words(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Nearer => "nearer to the original",
        }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// An integer with this minimum.
    Count(u64),
    /// A number in this closed range.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of a sensitive column; an empty word stands for the only one.
    Column,
    /// Several words, for example column names in order.
    Words,
    /// A boolean.
    Flag,
}

/// One parameter of a model or an algorithm; required unless it has a default or is optional.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key in the job file.
    pub name: &'static str,
    /// The type of the value.
    pub kind: ParamKind,
    /// The default value. `None`: the parameter is required. An empty word: it is optional.
    pub default: Option<&'static str>,
    /// Help text: one sentence.
    pub about: &'static str,
}

impl Param {
    /// An integer of at least `least`.
    pub const fn count(name: &'static str, least: u64) -> Param {
        Param::new(name, ParamKind::Count(least))
    }

    /// A number from `least` to `most`.
    pub const fn number(name: &'static str, least: f64, most: f64) -> Param {
        Param::new(name, ParamKind::Number(least, most))
    }

    /// One of these words.
    pub const fn choice(name: &'static str, words: &'static [&'static str]) -> Param {
        Param::new(name, ParamKind::Choice(words))
    }

    /// The name of a sensitive column.
    pub const fn column(name: &'static str) -> Param {
        Param::new(name, ParamKind::Column)
    }

    /// Several words.
    pub const fn words(name: &'static str) -> Param {
        Param::new(name, ParamKind::Words)
    }

    /// A boolean.
    pub const fn flag(name: &'static str) -> Param {
        Param::new(name, ParamKind::Flag)
    }

    const fn new(name: &'static str, kind: ParamKind) -> Param {
        Param { name, kind, default: None, about: "" }
    }

    /// Sets the default value.
    pub const fn or(self, default: &'static str) -> Param {
        Param { default: Some(default), ..self }
    }

    /// Allows the parameter to be left out.
    pub const fn optional(self) -> Param {
        self.or("")
    }

    /// Sets the help text: one sentence.
    pub const fn about(self, about: &'static str) -> Param {
        Param { about, ..self }
    }
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// A boolean.
    Flag(bool),
    /// A word.
    Word(String),
    /// Several words.
    Words(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Flag(b) => write!(f, "{b}"),
            Value::Word(w) => f.write_str(w),
            Value::Words(ws) => write!(f, "{}", ws.join(",")),
        }
    }
}

impl From<u32> for Value {
    fn from(n: u32) -> Value {
        Value::Integer(n.into())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Real(x)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Value {
        Value::Word(word.to_owned())
    }
}

impl<const N: usize> From<[&str; N]> for Value {
    fn from(words: [&str; N]) -> Value {
        Value::Words(words.map(str::to_owned).to_vec())
    }
}

impl Value {
    /// Parses a value of the command line according to the type of the parameter.
    pub fn from_word(word: &str, kind: ParamKind) -> Value {
        let word = word.trim();
        match kind {
            ParamKind::Words => {
                Value::Words(word.split(',').map(|w| w.trim().to_owned()).collect())
            }
            ParamKind::Choice(_) | ParamKind::Column => Value::Word(word.to_owned()),
            _ => {
                if let Ok(n) = word.parse::<i64>() {
                    Value::Integer(n)
                } else if let Ok(x) = word.parse::<f64>() {
                    Value::Real(x)
                } else if let Ok(b) = word.parse::<bool>() {
                    Value::Flag(b)
                } else {
                    Value::Word(word.to_owned())
                }
            }
        }
    }
}

/// Parameters of a model or algorithm, checked against a list of [`Param`]: unknown names, wrong
/// types and values out of range are refused on construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    owner: &'static str,
    values: BTreeMap<&'static str, Value>,
}

impl Params {
    /// Checks `given` against `known`, filling in defaults. `owner` is the name of the model or
    /// algorithm.
    pub fn new(
        owner: &'static str,
        known: &'static [Param],
        given: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Self> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let Some(param) = known.iter().find(|p| p.name == name) else {
                let error = Error::job(format!("`{owner}` has no parameter `{name}`"));
                return Err(error.help_near(&name, known.iter().map(|p| p.name)).at(name));
            };
            values.insert(param.name, check(owner, param, value)?);
        }
        for param in known {
            if values.contains_key(param.name) {
                continue;
            }
            match param.default {
                // An optional number has no default value.
                Some("") if matches!(param.kind, ParamKind::Count(_) | ParamKind::Number(..)) => {}
                Some(word) => {
                    values.insert(param.name, Value::from_word(word, param.kind));
                }
                None => {
                    return Err(Error::job(format!(
                        "`{owner}` needs `{}`: {}",
                        param.name, param.about
                    )));
                }
            }
        }
        Ok(Params { owner, values })
    }

    /// An integer.
    pub fn count(&self, name: &str) -> u64 {
        match self.values.get(name) {
            Some(Value::Integer(n)) => u64::try_from(*n).unwrap_or(0),
            _ => panic!("`{}` declares no count `{name}`", self.owner),
        }
    }

    /// Any number.
    pub fn number(&self, name: &str) -> f64 {
        match self.values.get(name) {
            Some(Value::Integer(n)) => *n as f64,
            Some(Value::Real(x)) => *x,
            _ => panic!("`{}` declares no number `{name}`", self.owner),
        }
    }

    /// A number that may be left out.
    pub fn optional_number(&self, name: &str) -> Option<f64> {
        self.values.contains_key(name).then(|| self.number(name))
    }

    /// A word.
    pub fn word(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(Value::Word(w)) => w,
            _ => panic!("`{}` declares no word `{name}`", self.owner),
        }
    }

    /// A list of words; empty by default.
    pub fn words(&self, name: &str) -> Vec<String> {
        match self.values.get(name) {
            Some(Value::Words(ws)) => ws.iter().filter(|w| !w.is_empty()).cloned().collect(),
            _ => panic!("`{}` declares no words `{name}`", self.owner),
        }
    }

    /// A boolean.
    pub fn flag(&self, name: &str) -> bool {
        match self.values.get(name) {
            Some(Value::Flag(b)) => *b,
            _ => panic!("`{}` declares no flag `{name}`", self.owner),
        }
    }

    /// Name and value of each parameter, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }
}

fn check(owner: &str, param: &Param, value: Value) -> Result<Value> {
    let name = param.name;
    let refuse = |need: String| {
        let error =
            Error::job(format!("`{name}` of `{owner}` cannot be `{value}`: it takes {need}"));
        error.at(name)
    };
    match (param.kind, &value) {
        (ParamKind::Count(least), Value::Integer(n))
            if u64::try_from(*n).is_ok_and(|n| n >= least) => {}
        (ParamKind::Count(least), _) => {
            return Err(refuse(format!("a whole number, at least {least}")));
        }
        (ParamKind::Number(lo, hi), Value::Integer(n)) if (lo..=hi).contains(&(*n as f64)) => {}
        (ParamKind::Number(lo, hi), Value::Real(x)) if (lo..=hi).contains(x) => {}
        (ParamKind::Number(lo, hi), _) if hi == f64::MAX => {
            return Err(refuse(format!("a number, at least {lo}")));
        }
        (ParamKind::Number(lo, hi), _) => {
            return Err(refuse(format!("a number from {lo} to {hi}")));
        }
        (ParamKind::Choice(words), Value::Word(w)) if words.contains(&w.as_str()) => {}
        (ParamKind::Choice(words), _) => {
            return Err(
                refuse(words.join(" or ")).help_near(&value.to_string(), words.iter().copied())
            );
        }
        (ParamKind::Column, Value::Word(_)) => {}
        (ParamKind::Column, _) => return Err(refuse("the name of a column".to_owned())),
        (ParamKind::Words, Value::Words(_)) => {}
        (ParamKind::Words, Value::Word(w)) => {
            return Ok(Value::Words(w.split(',').map(|w| w.trim().to_owned()).collect()));
        }
        (ParamKind::Words, _) => return Err(refuse("a list of words".to_owned())),
        (ParamKind::Flag, Value::Flag(_)) => {}
        (ParamKind::Flag, _) => return Err(refuse("true or false".to_owned())),
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Param] = &[
        Param::count("k", 1).about("records a group must have"),
        Param::choice("cut", &["strict", "relaxed"]).or("strict").about("where ties go"),
    ];

    fn given(pairs: &[(&str, Value)]) -> Vec<(String, Value)> {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect()
    }

    #[test]
    fn fills_in_defaults() {
        let params = Params::new("mondrian", KNOWN, given(&[("k", Value::Integer(3))])).unwrap();
        assert_eq!(params.count("k"), 3);
        assert_eq!(params.word("cut"), "strict");
    }

    #[test]
    fn refuses_unknown_missing_and_out_of_range() {
        for (pairs, expected) in [
            (given(&[("kk", Value::Integer(3))]), "no parameter `kk`"),
            (given(&[]), "needs `k`"),
            (given(&[("k", Value::Integer(0))]), "at least 1"),
            (given(&[("k", Value::Real(2.5))]), "whole number"),
            (
                given(&[("k", Value::Integer(2)), ("cut", Value::Word("stict".into()))]),
                "strict or relaxed",
            ),
        ] {
            let error = Params::new("mondrian", KNOWN, pairs).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
        }
    }
}
