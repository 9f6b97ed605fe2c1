//! Values of a job file, with type and place, or of the command line, as words. The readers of keys
//! ask for a text, a number or a table and need not know the source.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, ParamKind, Value};
use incrowd_engine::Location;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::files;

/// The place of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum At {
    /// In these bytes of the job file.
    File(Range<usize>),
    /// By this flag or argument.
    Flag(String),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) given: Given,
    pub(super) at: At,
}

/// A value of a job file or a command line.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// A word of the command line: a text, a number or a boolean.
    Word(OsString),
    Text(String),
    /// A whole number in its notation, and its radix.
    Whole(String, u32),
    Real(String),
    Flag(bool),
    Date,
    List(Vec<Node>),
    /// The fields in their order in the file.
    Table(Vec<Field>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) at: At,
    pub(super) node: Node,
}

impl Node {
    /// Creates a word of the command line.
    pub(super) fn word(word: impl AsRef<OsStr>, at: &At) -> Node {
        Node { given: Given::Word(word.as_ref().to_owned()), at: at.clone() }
    }

    pub(super) fn list(items: impl IntoIterator<Item = Node>, at: &At) -> Node {
        Node { given: Given::List(items.into_iter().collect()), at: at.clone() }
    }

    pub(super) fn table<K: Into<String>>(
        fields: impl IntoIterator<Item = (K, Node)>,
        at: &At,
    ) -> Node {
        let field = |(key, node): (K, Node)| Field { key: key.into(), at: at.clone(), node };
        Node { given: Given::Table(fields.into_iter().map(field).collect()), at: at.clone() }
    }

    /// Creates a value from a program's JSON.
    pub(super) fn of_json(value: &Json, at: &At) -> Node {
        let given = match value {
            Json::Null => Given::Text(String::new()),
            Json::Bool(flag) => Given::Flag(*flag),
            Json::Number(n) if n.is_f64() => Given::Real(n.to_string()),
            Json::Number(n) => Given::Whole(n.to_string(), 10),
            Json::String(text) => Given::Text(text.clone()),
            Json::Array(items) => {
                return Node::list(items.iter().map(|item| Node::of_json(item, at)), at);
            }
            Json::Object(map) => {
                return Node::table(
                    map.iter().map(|(key, value)| (key.clone(), Node::of_json(value, at))),
                    at,
                );
            }
        };
        Node { given, at: at.clone() }
    }

    /// Converts a TOML table. `at` maps byte ranges to places.
    pub(super) fn of_toml(
        table: &DeTable<'_>,
        span: Range<usize>,
        at: &dyn Fn(Range<usize>) -> At,
    ) -> Node {
        let mut entries: Vec<_> = table.iter().collect();
        // The parser sorts by name. This restores the order of the file.
        entries.sort_by_key(|(key, _)| key.span().start);
        let field =
            |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| Field {
                key: key.get_ref().to_string(),
                at: at(key.span()),
                node: Node::of_value(value, at),
            };
        Node { given: Given::Table(entries.into_iter().map(field).collect()), at: at(span) }
    }

    fn of_value(value: &Spanned<DeValue<'_>>, at: &dyn Fn(Range<usize>) -> At) -> Node {
        let given = match value.get_ref() {
            DeValue::String(text) => Given::Text(text.to_string()),
            DeValue::Integer(n) => Given::Whole(n.as_str().to_owned(), n.radix()),
            DeValue::Float(x) => Given::Real(x.as_str().to_owned()),
            DeValue::Boolean(flag) => Given::Flag(*flag),
            DeValue::Datetime(_) => Given::Date,
            DeValue::Array(items) => {
                Given::List(items.iter().map(|item| Node::of_value(item, at)).collect())
            }
            DeValue::Table(table) => return Node::of_toml(table, value.span(), at),
        };
        Node { given, at: at(value.span()) }
    }

    /// Parses a text as an inline TOML list or table, if it is one.
    pub(super) fn inline(text: &str, at: &At) -> Option<Node> {
        if !text.starts_with(['[', '{']) {
            return None;
        }
        let line = format!("x = {text}");
        let document = DeTable::parse(&line).ok()?;
        match Node::of_toml(document.get_ref(), 0..0, &|_| at.clone()).given {
            Given::Table(fields) => fields.into_iter().next().map(|field| field.node),
            _ => None,
        }
    }
}

/// An error and its place.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: Error,
    pub(super) at: At,
}

pub(super) type Read<T> = Result<T, Refused>;

/// A TOML table: the whole file, below a header, in braces, or assembled from words.
pub(super) struct TomlTable<'a> {
    path: String,
    /// Its name in messages, `[columns.zip]`.
    title: String,
    at: &'a At,
    entries: Vec<Entry<'a>>,
}

/// A key with its value, or an item of a list.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    /// The key; an item has that of its list.
    pub(super) key: &'a str,
    /// The keys that lead here, joined by dots.
    pub(super) path: String,
    /// Its name in messages, `` `k` ``.
    name: String,
    /// The keys that lead here, in the notation of a table header.
    header: String,
    pub(super) key_at: &'a At,
    pub(super) node: &'a Node,
    /// The base of relative paths.
    pub(super) base: &'a Path,
}

impl<'a> TomlTable<'a> {
    fn new(fields: &'a [Field], above: &Entry<'a>) -> TomlTable<'a> {
        let below = |above: &str, key: &str| match above {
            "" => key.to_owned(),
            _ => format!("{above}.{key}"),
        };
        let entry = |field: &'a Field| Entry {
            key: &field.key,
            path: below(&above.path, &field.key),
            name: format!("`{}`", field.key),
            header: below(&above.header, &quoted(&field.key)),
            key_at: &field.at,
            node: &field.node,
            base: above.base,
        };
        let entries = fields.iter().map(entry).collect();
        TomlTable {
            path: above.path.clone(),
            title: format!("[{}]", above.header),
            at: &above.node.at,
            entries,
        }
    }

    /// Returns the entries in the order of the file.
    pub(super) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    pub(super) fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns a required entry; `example` is shown if it is absent.
    pub(super) fn need(&self, key: &str, example: &str) -> Read<&Entry<'a>> {
        self.get(key).ok_or_else(|| {
            self.refuse(
                Error::job(format!("{} needs `{key}`", self.title)).help(format!("add {example}")),
            )
        })
    }

    /// Refuses the first key that is not `known`.
    pub(super) fn only(&self, known: &[&str]) -> Read<()> {
        match self.entries.iter().find(|entry| !known.contains(&entry.key)) {
            None => Ok(()),
            Some(entry) => Err(self.unknown(entry, known.iter().copied())),
        }
    }

    /// Returns the error about an unknown key.
    pub(super) fn unknown<'b>(
        &self,
        entry: &Entry<'_>,
        known: impl IntoIterator<Item = &'b str>,
    ) -> Refused {
        let error = Error::job(format!("unknown key `{}` in {}", entry.key, self.title));
        entry.refuse_key(error.help_near(entry.key, known))
    }

    /// Returns an error about the table as a whole.
    pub(super) fn refuse(&self, error: Error) -> Refused {
        Refused { error: error.at(self.path.as_str()), at: self.at.clone() }
    }
}

impl<'a> Entry<'a> {
    /// Creates the root of a job file or of the flags.
    pub(super) fn root(node: &'a Node, base: &'a Path) -> Entry<'a> {
        let (path, name, header) = (String::new(), String::new(), String::new());
        Entry { key: "", path, name, header, key_at: &node.at, node, base }
    }

    /// Returns the entry with another value.
    pub(super) fn with<'b>(&self, node: &'b Node) -> Entry<'b>
    where
        'a: 'b,
    {
        Entry { node, ..self.clone() }
    }

    /// Returns whether it is a table only because a longer key contains it, like `a` in `a.b = 1`
    /// and in `[a.b]`.
    pub(super) fn is_dotted(&self) -> bool {
        self.node.at == *self.key_at
    }

    /// Returns an error about the value.
    pub(super) fn refuse(&self, error: Error) -> Refused {
        Refused { error: error.at(self.path.as_str()), at: self.node.at.clone() }
    }

    /// Returns an error about the key.
    pub(super) fn refuse_key(&self, error: Error) -> Refused {
        Refused { error: error.at(self.path.as_str()), at: self.key_at.clone() }
    }

    /// Returns the error about a value of the wrong type.
    pub(super) fn must_be(&self, kind: &str) -> Refused {
        let not = match &self.node.given {
            Given::Word(word) => return self.cannot_be(&word.to_string_lossy(), kind),
            Given::Text(_) => "a string",
            Given::Whole(..) => "a whole number",
            Given::Real(_) => "a number",
            Given::Flag(_) => "true or false",
            Given::Date => "a date",
            Given::List(_) => "a list",
            Given::Table(_) => "a table",
        };
        self.refuse(Error::job(format!("{} must be {kind}, not {not}", self.name)))
    }

    /// Returns the error about a value of the right type that is not allowed.
    pub(super) fn cannot_be(&self, value: &str, takes: &str) -> Refused {
        self.refuse(Error::job(format!("{} cannot be `{value}`: it takes {takes}", self.name)))
    }

    pub(super) fn table(&self, kind: &str) -> Read<TomlTable<'a>> {
        match &self.node.given {
            Given::Table(fields) => Ok(TomlTable::new(fields, self)),
            _ => Err(self.must_be(kind)),
        }
    }

    /// Returns the items, if it is a list.
    pub(super) fn items(&self) -> Option<Vec<Entry<'a>>> {
        let Given::List(items) = &self.node.given else { return None };
        let item = |(i, node): (usize, &'a Node)| Entry {
            path: format!("{}.{i}", self.path),
            name: format!("an item of `{}`", self.key),
            header: format!("[{}]", self.header),
            key_at: &node.at,
            node,
            ..self.clone()
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// Returns the text, if it is one.
    pub(super) fn as_str(&self) -> Option<&'a str> {
        match &self.node.given {
            Given::Text(text) => Some(text),
            Given::Word(word) => word.to_str(),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Read<&'a str> {
        self.as_str().ok_or_else(|| self.must_be("a string"))
    }

    /// Reads a text or a list of texts.
    pub(super) fn texts(&self) -> Read<Vec<String>> {
        match self.items() {
            Some(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
            None => match self.as_str() {
                Some(text) => Ok(vec![text.to_owned()]),
                None => Err(self.must_be("a string or a list of strings")),
            },
        }
    }

    pub(super) fn character(&self) -> Read<char> {
        let text = self.text()?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => Ok(char),
            _ => Err(self.cannot_be(text, "a single character")),
        }
    }

    /// Reads one of the words.
    pub(super) fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Read<T> {
        let known = words.iter().map(|(word, _)| *word);
        let takes = one_of(&known.clone().collect::<Vec<_>>());
        let given = self.as_str().ok_or_else(|| self.must_be(&takes))?;
        words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning).ok_or_else(
            || {
                let Refused { error, at } = self.cannot_be(given, &takes);
                Refused { error: error.help_near(given, known), at }
            },
        )
    }

    pub(super) fn flag(&self) -> Read<bool> {
        match (&self.node.given, self.as_str()) {
            (Given::Flag(flag), _) => Ok(*flag),
            (Given::Word(_), Some("true" | "false")) => Ok(self.as_str() == Some("true")),
            _ => Err(self.must_be("true or false")),
        }
    }

    /// Reads the path of a file.
    pub(super) fn path(&self) -> Read<PathBuf> {
        if let Some(address) = self.address()? {
            return Err(self.cannot_be(&address.to_string(), "the path of a file"));
        }
        match &self.node.given {
            Given::Word(word) if !word.is_empty() => Ok(self.base.join(word)),
            _ => match self.text()? {
                "" => Err(self.cannot_be("", "the path of a file")),
                // Standard input and output.
                "-" => Ok(PathBuf::from("-")),
                written => Ok(self.base.join(written)),
            },
        }
    }

    /// Reads the location of a table to write.
    pub(super) fn location(&self) -> Read<Location> {
        match self.address()? {
            Some(address) => Ok(address),
            None => self.path().map(Location::File),
        }
    }

    /// Reads the locations of tables. The paths of files may be glob patterns.
    pub(super) fn locations(&self) -> Read<Vec<Location>> {
        let paths = match self.items() {
            Some(items) => items.iter().map(Entry::table_or_pattern).collect::<Read<Vec<_>>>()?,
            None if matches!(self.node.given, Given::Text(_) | Given::Word(_)) => {
                vec![self.table_or_pattern()?]
            }
            None => return Err(self.must_be("a string or a list of strings")),
        };
        match paths.is_empty() || paths.contains(&Location::default()) {
            true => Err(self.refuse(Error::job("`path` names no file"))),
            false => Ok(paths),
        }
    }

    /// Returns the address of a database, if it is one. Addresses are never relative.
    fn address(&self) -> Read<Option<Location>> {
        let location = match &self.node.given {
            Given::Word(word) => Location::parse(word.as_os_str()),
            _ => Location::parse(self.as_str().unwrap_or_default()),
        };
        // The error has no place in the file: a quoted line could show a password.
        let location = location.map_err(|error| Refused { error, at: At::Flag(String::new()) })?;
        Ok(Some(location).filter(|location| location.file().is_none()))
    }

    fn table_or_pattern(&self) -> Read<Location> {
        if let Some(address) = self.address()? {
            return Ok(address);
        }
        let path = match &self.node.given {
            Given::Word(word) => self.base.join(word),
            _ => match self.text()? {
                "" => PathBuf::new(),
                "-" => PathBuf::from("-"),
                text => files::resolve_pattern(self.base, text),
            },
        };
        Ok(Location::File(path))
    }

    pub(super) fn number(&self) -> Read<f64> {
        let number = match &self.node.given {
            Given::Whole(..) => self.integer()? as f64,
            Given::Real(x) => x.parse().unwrap_or(f64::NAN),
            Given::Word(word) => match word.to_str().and_then(|word| word.trim().parse().ok()) {
                Some(x) => x,
                None => return Err(self.must_be("a number")),
            },
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

    /// Reads a whole number of at least `least`.
    pub(super) fn count(&self, least: u64) -> Read<u64> {
        let takes = format!("a whole number, {least} or more");
        let n = match &self.node.given {
            Given::Whole(written, _) => {
                let n = self.integer()?;
                u64::try_from(n).map_err(|_| self.cannot_be(written, &takes))?
            }
            Given::Word(word) => {
                let n = word.to_str().and_then(|word| word.trim().parse().ok());
                n.ok_or_else(|| self.must_be(&takes))?
            }
            _ => return Err(self.must_be(&takes)),
        };
        if n >= least { Ok(n) } else { Err(self.cannot_be(&n.to_string(), &takes)) }
    }

    pub(super) fn counts(&self, least: u64) -> Read<Vec<u64>> {
        let items = self.items().ok_or_else(|| self.must_be("a list of whole numbers"))?;
        items.iter().map(|item| item.count(least)).collect()
    }

    pub(super) fn integer(&self) -> Read<i64> {
        let whole = match &self.node.given {
            Given::Whole(text, radix) => i64::from_str_radix(text, *radix).ok(),
            _ => None,
        };
        whole.ok_or_else(|| {
            self.refuse(Error::job(format!("{} is a whole number with too many digits", self.name)))
        })
    }

    /// Reads a parameter of a model or an algorithm. Its declaration checks the type later. A word
    /// is parsed as the declared type.
    pub(super) fn param(&self, kind: ParamKind) -> Read<Value> {
        Ok(match &self.node.given {
            Given::Word(_) => Value::from_word(self.text()?, kind),
            Given::Text(word) => Value::Word(word.clone()),
            Given::Whole(..) => Value::Integer(self.integer()?),
            Given::Real(_) => Value::Real(self.number()?),
            Given::Flag(flag) => Value::Flag(*flag),
            Given::List(_) => Value::Words(self.texts()?),
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

/// Quotes a key for TOML if necessary.
fn quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { format!("{key:?}") }
}
