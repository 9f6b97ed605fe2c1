//! TOML notation of strings and keys.

use std::fmt::Write;

/// Returns a TOML basic string. It is always one line: line breaks and all other control characters
/// are escaped.
pub fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a TOML key, quoted if necessary.
pub fn toml_key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { toml_string(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_survives_a_round_trip() {
        let odd = [
            "",
            "a",
            "a b",
            "a.b",
            "é",
            "\"",
            "'",
            "'\"",
            "a\nb",
            "a\r\nb",
            "\\",
            "\u{1b}[31m",
            "\u{7f}",
            "\u{9b}",
            "\u{202e}",
        ];
        for text in odd {
            let line = format!("{} = {}", toml_key(text), toml_string(text));
            assert_eq!(line.lines().count(), 1, "{line}");
            let table: toml::Table = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(table, toml::Table::from_iter([(text.to_owned(), text.into())]), "{line}");
        }
    }
}
