//! What forms may say, and how: places in the document as names of fields, words as values.

use incrowd::ParamKind;
use incrowd::job::keys::{Key, Kind, Section};
use toml::Value;

/// The parts of a job that forms may change, with the keys that are left to the command line. Where files are is never for a
/// form to say.
const OPEN: [(Section, &[&str]); 5] = [
    (Section::Input, &["path", "hierarchies", "format", "delimiter", "encoding", "decimal", "sheet"]),
    (Section::Output, &["path", "manifest", "report", "owner_report", "sign", "format"]),
    (Section::Columns, &["hierarchy"]),
    (Section::Models, &[]),
    (Section::Algorithm, &[]),
];

/// Whether a form may say a key.
pub(crate) fn is_open(key: &Key) -> bool {
    let files = matches!(
        key.kind,
        Kind::File | Kind::Files | Kind::Directory | Kind::Categories | Kind::Hierarchy | Kind::Cards
    );
    let shut = |(section, shut): &(Section, &[&str])| *section == key.section && !shut.contains(&key.name);
    !files && OPEN.iter().any(shut)
}

/// A place in the document as the name of a form field.
pub(crate) fn field(path: &[&str]) -> String {
    let part = |part: &&str| part.replace('~', "~0").replace('/', "~1");
    path.iter().map(part).collect::<Vec<_>>().join("/")
}

/// The place that a form field names.
pub(crate) fn place(field: &str) -> Vec<String> {
    field.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

/// What a field takes: a key of the job, or a parameter of a card.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldKind {
    Key(Kind),
    Param(ParamKind),
}

/// A value of a document as words.
pub(crate) fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Words as a value. What does not fit stays text, for the reader of job files to refuse.
pub(super) fn value(kind: FieldKind, given: &[String]) -> Option<Value> {
    let last = given.last().map_or("", |word| word.trim());
    let listed = || {
        let words =
            given.iter().flat_map(|word| word.split(',')).map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let number = |word: &str| match (word.parse::<i64>(), word.parse::<f64>()) {
        (Ok(n), _) => Value::Integer(n),
        (_, Ok(x)) if x.is_finite() => Value::Float(x),
        _ => Value::from(word),
    };
    let flag = |word: &str| match word {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        word => Value::from(word),
    };
    match kind {
        // The empty text is one of the markers of missing values.
        FieldKind::Key(Kind::Texts) => {
            let words = last.split(',').map(|word| Value::from(word.trim()));
            Some(Value::Array(words.collect()))
        }
        FieldKind::Key(Kind::Range) => match listed() {
            words if words.is_empty() => None,
            words => Some(Value::Array(words.iter().map(|word| number(word)).collect())),
        },
        FieldKind::Param(ParamKind::Words) => match listed() {
            words if words.is_empty() => None,
            words => Some(Value::Array(words.into_iter().map(Value::from).collect())),
        },
        _ if last.is_empty() => None,
        FieldKind::Key(Kind::Share | Kind::Number | Kind::Count(_))
        | FieldKind::Param(ParamKind::Count(_) | ParamKind::Number(..)) => Some(number(last)),
        FieldKind::Key(Kind::Flag) | FieldKind::Param(ParamKind::Flag) => Some(flag(last)),
        _ => Some(Value::from(last)),
    }
}
