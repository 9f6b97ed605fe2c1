//! Names of people.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

/// A column in which many values contain a first name has names of people.
static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("person_name.txt")));

fn has_first_name(text: &str) -> bool {
    let first_names = NAMES.list("first names");
    let mut words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.any(|word| first_names.contains(&word.to_lowercase().as_str()))
}

fn is_words(text: &str) -> bool {
    let allowed = |c: char| c.is_alphabetic() || " .'-,’".contains(c);
    text.chars().any(char::is_alphabetic) && text.chars().all(allowed)
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.kind != ValueKind::Text || column.counts.distinct < 2 {
        return None;
    }
    let words = column.share(is_words) >= 0.5;
    let alone = matches!(column.words.as_slice(), [word] if word == "name");
    if (column.name_has(NAMES.list("parts")) || alone) && words {
        return Finding::sure(RoleName::Identifier, "is named like the name of a person");
    }
    // A quarter of many distinct values is required: names of places and firms sometimes contain a
    // first name.
    (words && column.values.len() >= 20 && column.share(has_first_name) >= 0.25)
        .then(|| Finding::unsure(RoleName::Identifier, "many of its values contain a first name"))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;

    #[test]
    fn names_are_recognized_by_the_column_name_or_the_values() {
        assert_eq!(
            judged("last_name", &["Meier", "Müller", "O'Neil"]),
            (RoleName::Identifier, true)
        );
        assert_eq!(judged("Name", &["Meier", "Müller", "Meier"]), (RoleName::Identifier, true));
        let people: Vec<String> = NAMES
            .list("first names")
            .iter()
            .take(40)
            .enumerate()
            .map(|(i, n)| format!("{n} {}", ["Smith", "Wu"][i % 2]))
            .collect();
        let people: Vec<&str> = people.iter().chain(&people).map(String::as_str).collect();
        assert_eq!(judged("x", &people).0, RoleName::Identifier);
        assert_ne!(judged("file_name_length", &["12", "13"]).0, RoleName::Identifier);
    }
}
