//! A map that keeps the order of its entries.

use std::fmt;
use std::marker::PhantomData;

use incrowd_core::{ParamKind, Value};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names with values, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Ordered(Vec::new())
    }
}

impl<T> Ordered<T> {
    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns every name with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for Ordered<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> Self {
        Ordered(pairs.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

/// A parameter of a model, an algorithm or a suppression step.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter(pub Value);

impl Parameter {
    /// Returns the value as a parameter of that type. A whole number is also a valid real number.
    pub(crate) fn of_kind(&self, kind: ParamKind) -> Value {
        match &self.0 {
            Value::Words(words) => Value::Words(words.clone()),
            other => Value::from_word(&other.to_string(), kind),
        }
    }
}

impl Serialize for Parameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Value::Integer(n) => n.serialize(serializer),
            Value::Real(x) => x.serialize(serializer),
            Value::Flag(b) => b.serialize(serializer),
            Value::Word(word) => word.serialize(serializer),
            Value::Words(words) => {
                let words: Vec<&String> = words.iter().filter(|word| !word.is_empty()).collect();
                words.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Flag(bool),
            Integer(i64),
            Real(f64),
            Word(String),
            Words(Vec<String>),
        }
        Ok(Parameter(match Written::deserialize(deserializer)? {
            Written::Flag(b) => Value::Flag(b),
            Written::Integer(n) => Value::Integer(n),
            Written::Real(x) => Value::Real(x),
            Written::Word(word) => Value::Word(word),
            Written::Words(words) => Value::Words(words),
        }))
    }
}
