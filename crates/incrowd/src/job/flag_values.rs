//! Converts the words of a flag to job files with one key each, so that flags are parsed like
//! files.

use std::ffi::{OsStr, OsString};

use incrowd_core::Error;

use super::given::{At, Node, Read, Refused};
use super::keys::{Flag, Form, Key, Section};

/// Converts the words of a flag to job files with one key each.
// One arm per notation, which share the closures at the top.
pub(super) fn documents(key: &Key, flag: &Flag, words: &[OsString], at: &At) -> Read<Vec<Node>> {
    let section = |node: Node| Node::table([(key.section.name(), node)], at);
    let of_column = |column: &str, node: Node| {
        section(Node::table([(column, Node::table([(key.name, node)], at))], at))
    };
    let refuse = |word: &OsStr, form: &str| {
        let (word, flag) = (word.to_string_lossy(), flag.name());
        Refused {
            error: Error::job(format!("`{word}` cannot be read: write {flag} {form}")),
            at: at.clone(),
        }
    };
    let text = |word: &'_ OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| refuse(word, "in UTF-8"))
    };
    let pair = |word: &OsString| {
        let text = text(word)?;
        let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| refuse(word, flag.value))
    };
    match flag.form {
        Form::Value | Form::Yes | Form::Argument => {
            Ok(vec![section(Node::table([(key.name, value(key, words, at))], at))])
        }
        Form::Param => {
            let param = |word| {
                pair(word)
                    .map(|(name, value)| section(Node::table([(name, Node::word(value, at))], at)))
            };
            words.iter().map(param).collect()
        }
        Form::PerColumn => {
            let one = |word| {
                pair(word).map(|(column, word)| of_column(&column, value(key, &[word.into()], at)))
            };
            words.iter().map(one).collect()
        }
        Form::Columns(meaning) => {
            let texts = words.iter().map(text).collect::<Read<Vec<String>>>()?;
            let columns =
                texts.iter().flat_map(|text| text.split(',')).filter(|column| !column.is_empty());
            Ok(columns.map(|column| of_column(column, Node::word(meaning, at))).collect())
        }
        Form::Named(beginning) => {
            let one = |word| {
                let text = format!("{beginning}{}", text(word)?);
                let (name, params) = text.split_once(':').unwrap_or((&text, ""));
                let mut fields = vec![("name".to_owned(), Node::word(name, at))];
                for param in split_params(params) {
                    let (name, value) = pair(&param.into())?;
                    fields.push((name, Node::word(value, at)));
                }
                let table = Node::table(fields, at);
                Ok(section(if key.section == Section::Models {
                    Node::list([table], at)
                } else {
                    table
                }))
            };
            words.iter().map(one).collect()
        }
        Form::Category => {
            let mut columns: Vec<(String, Vec<(String, Node)>)> = Vec::new();
            for word in words {
                let (left, values) = pair(word)?;
                let Some((column, name)) = left.split_once(':') else {
                    return Err(refuse(word, flag.value));
                };
                let values = values.split(',').map(str::trim).filter(|v| !v.is_empty());
                let entry =
                    (name.trim().to_owned(), Node::list(values.map(|v| Node::word(v, at)), at));
                match columns.iter_mut().find(|(known, _)| known == column) {
                    Some((_, list)) => list.push(entry),
                    None => columns.push((column.to_owned(), vec![entry])),
                }
            }
            Ok(columns
                .into_iter()
                .map(|(column, list)| of_column(&column, Node::table(list, at)))
                .collect())
        }
    }
}

/// Returns the value of a flag: the word itself, a list if the key takes one, or inline TOML.
fn value(key: &Key, words: &[OsString], at: &At) -> Node {
    let inline = |word: &OsString| {
        word.to_str().filter(|_| key.kind.takes_toml()).and_then(|text| Node::inline(text, at))
    };
    if let [word] = words
        && let Some(node) = inline(word)
    {
        return node;
    }
    let pieces = |word: &OsString| match word.to_str() {
        Some(text) if !key.kind.separators().is_empty() => {
            text.split(key.kind.separators()).map(|piece| Node::word(piece, at)).collect()
        }
        _ => vec![Node::word(word, at)],
    };
    match words {
        [word] if !key.kind.is_list() => Node::word(word, at),
        words => Node::list(words.iter().flat_map(pieces), at),
    }
}

/// Splits `k=2,values=HIV,Cancer` into two parameters: a piece without `=` continues the list
/// before it.
fn split_params(text: &str) -> Vec<String> {
    let mut params: Vec<String> = Vec::new();
    for piece in text.split(',').filter(|piece| !piece.is_empty()) {
        match params.last_mut() {
            Some(last) if !piece.contains('=') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => params.push(piece.to_owned()),
        }
    }
    params
}
