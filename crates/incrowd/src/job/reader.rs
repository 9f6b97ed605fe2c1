//! A table of the job file as the rest of this module reads it: entries in the order written, each of which knows its
//! place and refuses values of the wrong kind.

use std::ops::Range;

use incrowd_core::{Error, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// What is wrong, and the bytes it is wrong in.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: Error,
    pub(super) span: Range<usize>,
}

pub(super) type Read<T> = Result<T, Refused>;

/// A table: of the whole file, below a header, or in braces.
pub(super) struct Table<'a> {
    path: String,
    /// As it is called in messages, `[columns.zip]`.
    title: String,
    span: Range<usize>,
    entries: Vec<Entry<'a>>,
}

/// A key with its value, or an item of a list.
pub(super) struct Entry<'a> {
    /// The key; an item has that of its list.
    pub(super) key: &'a str,
    /// The keys that lead here, joined by dots.
    pub(super) path: String,
    /// As it is called in messages, `` `k` ``.
    name: String,
    /// The keys that lead here as a table header would spell them.
    header: String,
    key_span: Range<usize>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Table<'a> {
    /// The whole file.
    pub(super) fn root(table: &'a DeTable<'a>) -> Table<'a> {
        Table::new(table, String::new(), "", 0..0)
    }

    fn new(table: &'a DeTable<'a>, path: String, header: &str, span: Range<usize>) -> Table<'a> {
        let below = |above: &str, key: &str| match above {
            "" => key.to_owned(),
            _ => format!("{above}.{key}"),
        };
        let entry = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let (key, key_span): (&'a std::borrow::Cow<'a, str>, _) = (key.get_ref(), key.span());
            Entry {
                key,
                path: below(&path, key),
                name: format!("`{key}`"),
                header: below(header, &quoted(key)),
                key_span,
                value,
            }
        };
        let mut entries: Vec<Entry<'a>> = table.iter().map(entry).collect();
        // The parser sorts by name; what people wrote first comes first here.
        entries.sort_by_key(|entry| entry.key_span.start);
        Table { path, title: format!("[{header}]"), span, entries }
    }

    /// The entries in the order written.
    pub(super) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    pub(super) fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry that must be there; `example` is how it could look.
    pub(super) fn need(&self, key: &str, example: &str) -> Read<&Entry<'a>> {
        self.get(key).ok_or_else(|| {
            let error = Error::job(format!("{} needs `{key}`", self.title)).help(format!("add {example}"));
            self.refuse(error)
        })
    }

    /// Refuses the first key that is not `known`.
    pub(super) fn only(&self, known: &[&str]) -> Read<()> {
        match self.entries.iter().find(|entry| !known.contains(&entry.key)) {
            None => Ok(()),
            Some(entry) => {
                let error = Error::job(format!("unknown key `{}` in {}", entry.key, self.title));
                Err(entry.refuse_key(error.help_near(entry.key, known.iter().copied())))
            }
        }
    }

    /// An error about the table as a whole.
    pub(super) fn refuse(&self, error: Error) -> Refused {
        Refused { error: error.at(self.path.as_str()), span: self.span.clone() }
    }
}

impl<'a> Entry<'a> {
    pub(super) fn value(&self) -> &'a DeValue<'a> {
        self.value.get_ref()
    }

    /// Whether it is a table only because a longer key leads through it, as `a` is in `a.b = 1` and in `[a.b]`.
    pub(super) fn is_dotted(&self) -> bool {
        self.value.span() == self.key_span
    }

    /// An error about the value.
    pub(super) fn refuse(&self, error: Error) -> Refused {
        Refused { error: error.at(self.path.as_str()), span: self.value.span() }
    }

    /// An error about the key.
    pub(super) fn refuse_key(&self, error: Error) -> Refused {
        Refused { error: error.at(self.path.as_str()), span: self.key_span.clone() }
    }

    /// The error about a value that is of another kind than it must be.
    pub(super) fn must_be(&self, kind: &str) -> Refused {
        self.refuse(Error::job(format!("{} must be {kind}, not {}", self.name, kind_of(self.value()))))
    }

    /// The error about a value of the right kind that is not among those it may be.
    pub(super) fn cannot_be(&self, value: &str, takes: &str) -> Error {
        Error::job(format!("{} cannot be `{value}`: it takes {takes}", self.name))
    }

    pub(super) fn table(&self, kind: &str) -> Read<Table<'a>> {
        match self.value() {
            DeValue::Table(table) => {
                Ok(Table::new(table, self.path.clone(), &self.header, self.value.span()))
            }
            _ => Err(self.must_be(kind)),
        }
    }

    /// The items, if it is a list.
    pub(super) fn items(&self) -> Option<Vec<Entry<'a>>> {
        let items = self.value().as_array()?;
        let item = |(i, value): (usize, &'a Spanned<DeValue<'a>>)| Entry {
            key: self.key,
            path: format!("{}.{i}", self.path),
            name: format!("an item of `{}`", self.key),
            header: format!("[{}]", self.header),
            key_span: value.span(),
            value,
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    pub(super) fn text(&self) -> Read<&'a str> {
        self.value().as_str().ok_or_else(|| self.must_be("a string"))
    }

    /// A text or a list of them.
    pub(super) fn texts(&self) -> Read<Vec<&'a str>> {
        match (self.value().as_str(), self.items()) {
            (Some(text), _) => Ok(vec![text]),
            (None, Some(items)) => items.iter().map(Entry::text).collect(),
            _ => Err(self.must_be("a string or a list of strings")),
        }
    }

    pub(super) fn character(&self) -> Read<char> {
        let text = self.text()?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => Ok(char),
            _ => Err(self.refuse(self.cannot_be(text, "a single character"))),
        }
    }

    /// One of the words.
    pub(super) fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Read<T> {
        let known = words.iter().map(|(word, _)| *word);
        let takes = one_of(&known.clone().collect::<Vec<_>>());
        let given = self.value().as_str().ok_or_else(|| self.must_be(&takes))?;
        match words.iter().find(|(word, _)| *word == given) {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(self.refuse(self.cannot_be(given, &takes).help_near(given, known))),
        }
    }

    pub(super) fn number(&self) -> Read<f64> {
        let number = match self.value() {
            DeValue::Integer(_) => self.integer()? as f64,
            DeValue::Float(x) => x.as_str().parse().unwrap_or(f64::NAN),
            _ => return Err(self.must_be("a number")),
        };
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.refuse(Error::job(format!("{} must be a finite number", self.name))))
        }
    }

    pub(super) fn numbers(&self) -> Read<Vec<f64>> {
        let items = self.items().ok_or_else(|| self.must_be("a list of numbers"))?;
        items.iter().map(Entry::number).collect()
    }

    /// A whole number from 0 on.
    pub(super) fn count(&self) -> Read<u32> {
        let kind = "a whole number, 0 or more";
        match self.value() {
            DeValue::Integer(n) => {
                u32::try_from(self.integer()?).map_err(|_| self.refuse(self.cannot_be(n.as_str(), kind)))
            }
            _ => Err(self.must_be(kind)),
        }
    }

    pub(super) fn integer(&self) -> Read<i64> {
        let whole = |n: &DeInteger<'_>| i64::from_str_radix(n.as_str(), n.radix()).ok();
        self.value().as_integer().and_then(whole).ok_or_else(|| {
            self.refuse(Error::job(format!("{} is a whole number with too many digits", self.name)))
        })
    }

    /// A parameter of a model or an algorithm, whose kind is checked by whoever declares it.
    pub(super) fn param(&self) -> Read<Value> {
        Ok(match self.value() {
            DeValue::String(word) => Value::Word(word.to_string()),
            DeValue::Integer(_) => Value::Integer(self.integer()?),
            DeValue::Float(_) => Value::Real(self.number()?),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Array(_) => Value::Words(self.texts()?.into_iter().map(str::to_owned).collect()),
            _ => return Err(self.must_be("a number, a string, true, false or a list of strings")),
        })
    }
}

/// `a, b or c`
pub(super) fn one_of(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A key as TOML spells it.
fn quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { format!("{key:?}") }
}
