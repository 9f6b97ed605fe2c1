//! What can be told from the published tables alone.

use std::collections::BTreeMap;

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{Folded, Kind};

use super::Failure;
use crate::classes::Classes;

/// The tables of a k-join-anonymous release as their reader has them.
#[derive(Clone, Copy, Debug)]
pub struct JoinTables<'a> {
    /// The boxes: the quasi-identifiers, and after them the label of the sensitive group if there are sensitive values.
    pub boxes: &'a Folded,
    /// How many quasi-identifiers there are.
    pub quasi: usize,
    /// The label of a sensitive group, then the sensitive columns.
    pub sensitive: Option<&'a Folded>,
}

impl JoinTables<'_> {
    /// The groups a reader sees: rows alike in all columns.
    pub fn groups(&self) -> Classes {
        Classes::new(self.boxes, &(0..self.boxes.columns.len()).collect::<Vec<_>>())
    }

    /// For each sensitive group its rows among the boxes and among the sensitive values.
    pub fn sensitive_groups(&self) -> BTreeMap<&str, (u64, u64)> {
        let mut groups: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let Some(sensitive) = self.sensitive else { return groups };
        for row in 0..self.boxes.rows() {
            let label = &self.boxes.columns[self.quasi].texts[self.boxes.row(row)[self.quasi] as usize];
            groups.entry(label).or_default().0 += self.boxes.weights[row];
        }
        for row in 0..sensitive.rows() {
            let label = &sensitive.columns[0].texts[sensitive.row(row)[0] as usize];
            groups.entry(label).or_default().1 += sensitive.weights[row];
        }
        groups
    }
}

/// Checks the rules P2 to P5: every group has at least `k` rows; both tables have the same sensitive groups; each has at least
/// `k` sensitive rows and no more than it has rows of boxes; cells of columns that hold numbers or dates can be read.
pub fn published(tables: &JoinTables<'_>, k: u64, kinds: &[Option<Kind>]) -> Vec<Failure> {
    let mut failures = Vec::new();
    let groups = tables.groups();
    if groups.is_empty() {
        failures.push(Failure::new("P2", "the table of boxes is empty"));
    }
    let small = groups.records.iter().filter(|records| **records < k).count();
    if small > 0 {
        let least = groups.records.iter().min().copied().unwrap_or(0);
        failures.push(Failure::new(
            "P2",
            format!("{small} of {} groups have fewer than {k} rows, the smallest {least}", groups.len()),
        ));
    }
    if tables.sensitive.is_some() {
        let labels = tables.sensitive_groups();
        let count = |odd: &dyn Fn(&(u64, u64)) -> bool| labels.values().filter(|sizes| odd(sizes)).count();
        let mut fails = |rule, count: usize, says: &str| {
            if count > 0 {
                failures.push(Failure::new(rule, format!("{count} sensitive groups {says}")));
            }
        };
        fails(
            "P3",
            count(&|&(boxes, values)| boxes > 0 && values == 0),
            "of the boxes have no sensitive values",
        );
        fails("P3", count(&|&(boxes, values)| boxes == 0 && values > 0), "have sensitive values but no box");
        let both = |sizes: &(u64, u64)| sizes.0 > 0 && sizes.1 > 0;
        let says = format!("have fewer than {k} sensitive values");
        fails("P4", count(&|sizes| both(sizes) && sizes.1 < k), &says);
        fails(
            "P4",
            count(&|sizes| both(sizes) && sizes.1 > sizes.0),
            "have more sensitive values than rows of boxes",
        );
    }
    for (column, kind) in tables.boxes.columns.iter().zip(kinds) {
        let Some(kind) = kind.filter(|kind| *kind != Kind::Text) else { continue };
        let unread = column.texts.iter().skip(1).filter(|text| !reads(text, kind)).count();
        if unread > 0 {
            let says =
                format!("{unread} cells of column `{}` are neither a value, a range nor `*`", column.name);
            failures.push(Failure::new("P5", says));
        }
    }
    failures
}

/// Whether a cell is a number (or a date), a range of them, or `*`.
fn reads(text: &str, kind: Kind) -> bool {
    let value = |text: &str| match kind {
        Kind::Date => parse_date(text).map(f64::from),
        _ => parse_number(text).map(|number| number.as_f64()),
    };
    let range = || {
        let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
        Some(value(lo)? <= value(hi)?)
    };
    let open = || text.strip_prefix(">=").or_else(|| text.strip_prefix("<=")).and_then(value).is_some();
    text == "*" || open() || value(text).is_some() || range() == Some(true)
}
