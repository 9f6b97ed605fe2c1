//! What k-join-anonymity answers: groups of rows with their boxes.

use incrowd_core::{Code, Dataset, Partition, Result, RowId, Span};

use super::{Grouping, JoinRules};

/// A published group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinGroup {
    /// Its rows, ascending: microdata first.
    pub rows: Vec<u32>,
    /// Which sensitive group it is of.
    pub sensitive: u32,
}

/// All groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinOutcome {
    /// The groups, in the order in which they were made.
    pub groups: Vec<JoinGroup>,
    /// How many sensitive groups there are.
    pub sensitive: u32,
}

impl JoinOutcome {
    /// Adds groups; with `one` all of them are of one further sensitive group.
    pub(super) fn add(&mut self, grouping: &Grouping, one: bool) {
        let first = self.sensitive;
        for (rows, starts) in grouping.iter() {
            if if one { self.sensitive == first } else { starts || self.sensitive == first } {
                self.sensitive += 1;
            }
            let mut rows = rows.to_vec();
            rows.sort_unstable();
            self.groups.push(JoinGroup { rows, sensitive: self.sensitive - 1 });
        }
    }

    /// The groups as a partition of the rows, each with its minimum bounding box; rows in no group are not published.
    pub fn partition(&self, data: &Dataset) -> Result<Partition> {
        let width = data.quasi().len();
        let mut partition = Partition::new(width, data.rows());
        for group in &self.groups {
            partition.add(&bounds(data, &group.rows), group.rows.iter().map(|&row| RowId(row)))?;
        }
        Ok(partition)
    }

    /// How many records of the microdata each group has.
    pub fn microdata(&self, data: &Dataset, rules: &JoinRules<'_>) -> Vec<u64> {
        let own = |group: &JoinGroup| {
            let rows = group.rows.iter().filter(|row| rules.is_microdata(**row));
            rows.map(|&row| data.weight(row as usize)).sum()
        };
        self.groups.iter().map(own).collect()
    }
}

/// The minimum bounding box of rows.
pub(crate) fn bounds(data: &Dataset, rows: &[u32]) -> Vec<Span> {
    let width = data.quasi().len();
    let mut spans = vec![Span { lo: Code(u32::MAX), hi: Code(0) }; width];
    for &row in rows {
        for (span, &code) in spans.iter_mut().zip(data.quasi_codes(row as usize)) {
            span.lo = span.lo.min(Code(code));
            span.hi = span.hi.max(Code(code));
        }
    }
    spans
}
