//! Facts that neighbours, colleagues and registers know about a person: age, sex, family, origin,
//! schooling, work.

use std::sync::LazyLock;

use incrowd_core::lists::{Lists, fields};

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

/// Parts and words with their subject, and words that end in `age` and have another meaning.
static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("demographic.txt")));

/// Returns whether the column is an age in years.
pub(crate) fn is_age(column: &ColumnFacts<'_>) -> bool {
    let no_age = NAMES.list("not an age");
    let word = |w: &String| {
        let w = w.as_str();
        ["age", "ages", "agep", "agegrp", "agegroup", "alter", "edad"].contains(&w)
            || (w.len() > 3 && w.len() <= 7 && w.ends_with("age") && !no_age.contains(&w))
    };
    let human = column.range.is_none_or(|(low, high)| low >= 0.0 && high <= 130.0);
    human && column.words.iter().any(word)
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if is_age(column) {
        return Finding::sure(RoleName::Quasi, "is an age, which many people know of a person");
    }
    let pairs = |title| NAMES.list(title).iter().map(|entry| fields::<2>(entry));
    let part = pairs("parts").find(|[part, _]| column.squashed.contains(part));
    let word = || pairs("words").find(|[word, _]| column.words.iter().any(|w| w == word));
    let [_, about] = part.or_else(word)?;
    Finding::sure(RoleName::Quasi, format!("is about {about}, which others can know or look up"))
}
