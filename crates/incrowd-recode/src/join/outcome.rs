//! The result of k-join-anonymity: groups of rows with their boxes.

use incrowd_core::{Code, Dataset, Partition, Result, RowId, Span};

use super::{Grouping, JoinRules};

/// A published group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinGroup {
    /// Its rows, ascending: microdata first.
    pub rows: Vec<u32>,
    /// The index of its sensitive group.
    pub sensitive: u32,
}

/// All groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinOutcome {
    /// The groups in the order of their creation.
    pub groups: Vec<JoinGroup>,
    /// The number of sensitive groups.
    pub sensitive: u32,
}

impl JoinOutcome {
    /// Adds groups. With `one`, all of them form one new sensitive group.
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

    /// Returns the groups as a partition of the rows, each with its minimum bounding box. Rows
    /// without a group are not published.
    pub fn partition(&self, data: &Dataset) -> Result<Partition> {
        let width = data.quasi().len();
        let mut partition = Partition::new(width, data.rows());
        for group in &self.groups {
            partition.add(&bounds(data, &group.rows), group.rows.iter().map(|&row| RowId(row)))?;
        }
        Ok(partition)
    }

    /// Returns the number of microdata records of each group.
    pub fn microdata(&self, data: &Dataset, rules: &JoinRules<'_>) -> Vec<u64> {
        let own = |group: &JoinGroup| {
            let rows = group.rows.iter().filter(|row| rules.is_microdata(**row));
            rows.map(|&row| data.weight(row as usize)).sum()
        };
        self.groups.iter().map(own).collect()
    }
}

/// Returns the minimum bounding box of rows.
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
