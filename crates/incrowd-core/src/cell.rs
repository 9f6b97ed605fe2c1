//! The text of sets, `{Mexico, Peru}`. Every set has exactly one text, whatever its values contain.

use std::borrow::Cow;

/// Whether a value must be quoted inside a set, and written in braces if it is the only one.
fn ambiguous(value: &str) -> bool {
    value.is_empty()
        || value == "*"
        || value.contains(['{', '}', ',', '"'])
        || value.trim() != value
}

fn quote(value: &str, out: &mut String) {
    if ambiguous(value) {
        out.push('"');
        out.push_str(&value.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(value);
    }
}

/// The published text of a set of values; a single plain value is written without braces.
pub fn set_label(values: &[&str]) -> String {
    if let [value] = values
        && !value.starts_with('{')
        && *value != "*"
    {
        return (*value).to_owned();
    }
    let mut out = String::from("{");
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        quote(value, &mut out);
    }
    out.push('}');
    out
}

/// Parses a set; `None` if the text is not a set.
pub fn parse_set(text: &str) -> Option<Vec<String>> {
    Some(set_values(text)?.into_iter().map(Cow::into_owned).collect())
}

/// Parses a set; values without quotes are borrowed.
pub(crate) fn set_values(text: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut values = Vec::new();
    loop {
        if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut value = String::new();
            loop {
                let end = quoted.find('"')?;
                value.push_str(&quoted[..end]);
                quoted = &quoted[end + 1..];
                match quoted.strip_prefix('"') {
                    Some(more) => {
                        value.push('"');
                        quoted = more;
                    }
                    None => break,
                }
            }
            values.push(Cow::Owned(value));
            rest = quoted;
        } else {
            let end = end_of_value(rest);
            values.push(Cow::Borrowed(&rest[..end]));
            rest = &rest[end..];
        }
        if rest.is_empty() {
            return Some(values);
        }
        rest = rest.strip_prefix(", ")?;
    }
}

/// The length of an unquoted value at the beginning of the text.
fn end_of_value(text: &str) -> usize {
    let is_mark = |&(at, _): &(usize, &str)| text.as_bytes().get(at + 1) == Some(&b' ');
    text.match_indices(',').find(is_mark).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_ends_before_a_comma_and_a_blank() {
        for text in ["", ",", ", ", "a", "a,", "a, b", "a,b, c", ",, ", "a ,b", "ü, ,", "a,, b"] {
            assert_eq!(end_of_value(text), text.find(", ").unwrap_or(text.len()), "{text:?}");
        }
    }

    #[test]
    fn plain_values_stay_plain() {
        assert_eq!(set_label(&["Mexico"]), "Mexico");
        assert_eq!(set_label(&["Mexico", "Peru"]), "{Mexico, Peru}");
        assert_eq!(set_label(&["*"]), "{\"*\"}");
    }

    proptest! {
        #[test]
        fn sets_read_back(values in prop::collection::vec("[a{}\", *]{0,4}", 1..4)) {
            let refs: Vec<&str> = values.iter().map(String::as_str).collect();
            let label = set_label(&refs);
            let back = parse_set(&label).unwrap_or_else(|| vec![label.clone()]);
            prop_assert_eq!(back, values);
        }
    }
}
