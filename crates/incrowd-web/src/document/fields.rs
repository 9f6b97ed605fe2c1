//! Conversion between form fields and the document: field names are paths, field texts are values.

use incrowd::ParamKind;
use incrowd::job::keys::{Key, Kind, Section};
use toml::Value;

/// The sections that forms may change, with the keys that they must not change. Paths of files are
/// never set by a form.
const OPEN: [(Section, &[&str]); 5] = [
    (
        Section::Input,
        &["path", "hierarchies", "format", "delimiter", "encoding", "decimal", "sheet"],
    ),
    (Section::Output, &["path", "manifest", "report", "owner_report", "sign", "format"]),
    (Section::Columns, &["hierarchy"]),
    (Section::Models, &[]),
    (Section::Algorithm, &[]),
];

/// Returns whether a form may set a key.
pub(crate) fn is_open(key: &Key) -> bool {
    let files = matches!(
        key.kind,
        Kind::File
            | Kind::Files
            | Kind::Directory
            | Kind::Categories
            | Kind::Hierarchy
            | Kind::Cards
    );
    let open = |(section, closed): &(Section, &[&str])| {
        *section == key.section && !closed.contains(&key.name)
    };
    !files && OPEN.iter().any(open)
}

/// Returns the form field name of a path in the document. Line breaks are escaped because browsers
/// send each as CR LF.
pub(crate) fn field_name(path: &[&str]) -> String {
    let part = |part: &&str| {
        part.replace('~', "~0").replace('/', "~1").replace('\n', "~2").replace('\r', "~3")
    };
    path.iter().map(part).collect::<Vec<_>>().join("/")
}

/// Returns the path of a form field name.
pub(crate) fn field_path(field: &str) -> Vec<String> {
    let part = |part: &str| {
        part.replace("~3", "\r").replace("~2", "\n").replace("~1", "/").replace("~0", "~")
    };
    field.split('/').map(part).collect()
}

/// The type of a field's value: that of a job key or that of a card's parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldKind {
    Key(Kind),
    Param(ParamKind),
}

/// Returns a value as the text of a form field.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(text_of).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Parses the texts of a form field. A text that does not fit the type stays a string, which the
/// job parser refuses with a message.
pub(super) fn value(kind: FieldKind, given: &[String]) -> Option<Value> {
    let last = given.last().map_or("", |word| word.trim());
    let listed = || {
        let words = given
            .iter()
            .flat_map(|word| word.split(','))
            .map(str::trim)
            .filter(|word| !word.is_empty());
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
        // The empty text is a valid marker of missing values.
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
