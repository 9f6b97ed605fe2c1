//! Checks on the published tables alone.

use std::collections::BTreeMap;

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{Folded, Kind};

use super::Failure;
use crate::classes::Classes;

/// The published tables of a k-join-anonymous release.
#[derive(Clone, Copy, Debug)]
pub struct JoinTables<'a> {
    /// The boxes: the quasi-identifiers, followed by the label of the sensitive group if there are
    /// sensitive values.
    pub boxes: &'a Folded,
    /// Number of quasi-identifiers.
    pub quasi: usize,
    /// The label of a sensitive group, then the sensitive columns.
    pub sensitive: Option<&'a Folded>,
}

impl JoinTables<'_> {
    /// Returns the groups: rows with equal cells in all columns.
    pub fn groups(&self) -> Classes {
        Classes::new(self.boxes, &(0..self.boxes.columns.len()).collect::<Vec<_>>())
    }

    /// Returns the number of rows of boxes and the number of sensitive values per sensitive group.
    pub fn sensitive_groups(&self) -> BTreeMap<&str, (u64, u64)> {
        let mut groups: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let Some(sensitive) = self.sensitive else { return groups };
        for row in 0..self.boxes.rows() {
            groups.entry(self.boxes.text(row, self.quasi)).or_default().0 +=
                self.boxes.weights[row];
        }
        for row in 0..sensitive.rows() {
            groups.entry(sensitive.text(row, 0)).or_default().1 += sensitive.weights[row];
        }
        groups
    }
}

/// Checks the rules P2 to P5: every group has at least `k` rows; both tables have the same
/// sensitive groups; each of them has at least `k` sensitive values and at most as many as it has
/// rows of boxes; cells of numeric and date columns can be read.
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
            format!(
                "{small} of {} groups have fewer than {k} rows, the smallest {least}",
                groups.len()
            ),
        ));
    }
    if tables.sensitive.is_some() {
        let labels = tables.sensitive_groups();
        let count =
            |bad: &dyn Fn(&(u64, u64)) -> bool| labels.values().filter(|sizes| bad(sizes)).count();
        let mut fails = |rule, count: usize, what: &str| {
            if count > 0 {
                failures.push(Failure::new(rule, format!("{count} sensitive groups {what}")));
            }
        };
        fails(
            "P3",
            count(&|&(boxes, values)| boxes > 0 && values == 0),
            "of the boxes have no sensitive values",
        );
        fails(
            "P3",
            count(&|&(boxes, values)| boxes == 0 && values > 0),
            "have sensitive values but no box",
        );
        let both = |sizes: &(u64, u64)| sizes.0 > 0 && sizes.1 > 0;
        let what = format!("have fewer than {k} sensitive values");
        fails("P4", count(&|sizes| both(sizes) && sizes.1 < k), &what);
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
            let message = format!(
                "{unread} cells of column `{}` are neither a value, a range nor `*`",
                column.name
            );
            failures.push(Failure::new("P5", message));
        }
    }
    failures
}

/// Returns whether a cell is a number (or a date), a range of them, or `*`.
fn reads(text: &str, kind: Kind) -> bool {
    let value = |text: &str| match kind {
        Kind::Date => parse_date(text).map(f64::from),
        _ => parse_number(text).map(|number| number.as_f64()),
    };
    let range = || {
        let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
        Some(value(lo)? <= value(hi)?)
    };
    let open =
        || text.strip_prefix(">=").or_else(|| text.strip_prefix("<=")).and_then(value).is_some();
    text == "*" || open() || value(text).is_some() || range() == Some(true)
}
