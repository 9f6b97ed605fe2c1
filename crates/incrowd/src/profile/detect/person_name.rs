//! Names of people.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

/// Frequent first names of several languages, in lower case. A column in which many values contain
/// one has names of people.
const FIRST_NAMES: &[&str] = &[
    "james",
    "john",
    "robert",
    "michael",
    "william",
    "david",
    "richard",
    "joseph",
    "thomas",
    "charles",
    "mary",
    "patricia",
    "jennifer",
    "linda",
    "elizabeth",
    "barbara",
    "susan",
    "jessica",
    "sarah",
    "karen",
    "daniel",
    "matthew",
    "anthony",
    "mark",
    "paul",
    "steven",
    "andrew",
    "george",
    "emily",
    "anna",
    "emma",
    "olivia",
    "sophia",
    "laura",
    "julia",
    "maria",
    "jose",
    "juan",
    "carlos",
    "luis",
    "carmen",
    "ana",
    "pedro",
    "miguel",
    "antonio",
    "francisco",
    "peter",
    "hans",
    "klaus",
    "wolfgang",
    "stefan",
    "andreas",
    "ursula",
    "monika",
    "sabine",
    "petra",
    "jean",
    "pierre",
    "michel",
    "marie",
    "nathalie",
    "isabelle",
    "sophie",
    "giuseppe",
    "giovanni",
    "marco",
    "francesca",
    "giulia",
    "jan",
    "piotr",
    "katarzyna",
    "agnieszka",
    "ivan",
    "olga",
    "natalia",
    "sergei",
    "dmitri",
    "mohammed",
    "mohamed",
    "ahmed",
    "ali",
    "fatima",
    "aisha",
    "wei",
    "li",
    "ming",
    "hiroshi",
    "yuki",
    "raj",
    "priya",
    "amit",
];

const NAMED: &[&str] = &[
    "firstname",
    "lastname",
    "surname",
    "forename",
    "givenname",
    "familyname",
    "fullname",
    "middlename",
    "maidenname",
    "patientname",
    "customername",
    "personname",
    "studentname",
    "employeename",
    "username",
    "nachname",
    "vorname",
    "apellido",
    "nombre",
    "prenom",
];

fn has_first_name(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.any(|word| FIRST_NAMES.contains(&word.to_lowercase().as_str()))
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
    if (column.name_has(NAMED) || alone) && words {
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
        let people: Vec<String> = FIRST_NAMES
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
