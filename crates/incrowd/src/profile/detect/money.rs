//! Income, property and debts.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding, sensitive};

static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("money.txt")));

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    let part = |part: &&str| {
        if part.len() < 5 { column.squashed == **part } else { column.squashed.contains(*part) }
    };
    (NAMES.list("parts").iter().any(part) || column.named(NAMES.list("words")))
        .then(|| sensitive(column, "is about money"))?
}
