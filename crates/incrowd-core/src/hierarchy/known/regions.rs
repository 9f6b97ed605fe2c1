//! European regions: every character of a NUTS code after the country's letters is a level.

use std::sync::LazyLock;

use crate::lists::entries;

static COUNTRIES: LazyLock<Vec<&str>> =
    LazyLock::new(|| entries(include_str!("nuts.txt")).collect());

/// `DE111` is in `DE11`, `DE1` and `DE`.
pub(super) fn nuts(code: &str) -> Option<Vec<String>> {
    let shape = (3..=5).contains(&code.len())
        && code.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && COUNTRIES.contains(&code.get(..2)?);
    shape.then(|| (2..code.len()).rev().map(|kept| code[..kept].to_owned()).collect())
}
