//! The finished plan: for every row the group it goes to, for every group the cells it is published with.
//!
//! A plan is all an engine needs to write a release, on one machine or on many.

mod labels;

use crate::dataset::Dataset;
use crate::index::{Code, GroupId};
use crate::partition::Partition;
use crate::withheld::Withheld;

/// A partition with its published cells.
#[derive(Clone)]
pub struct Plan<'a> {
    dataset: &'a Dataset,
    partition: &'a Partition,
    labels: Vec<Vec<String>>,
    of_group: Vec<u32>,
    withheld: Option<&'a Withheld>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("groups", &self.partition.groups()).finish_non_exhaustive()
    }
}

impl<'a> Plan<'a> {
    /// Writes out the cells of every group.
    pub fn new(dataset: &'a Dataset, partition: &'a Partition) -> Plan<'a> {
        let width = dataset.quasi().len();
        let columns = labels::columns(dataset, partition);
        let mut labels = Vec::with_capacity(width);
        let mut of_group = vec![0u32; partition.groups() * width];
        for (q, (texts, cells)) in columns.into_iter().enumerate() {
            labels.push(texts);
            cells.into_iter().enumerate().for_each(|(group, cell)| of_group[group * width + q] = cell);
        }
        Plan { dataset, partition, labels, of_group, withheld: None }
    }

    /// The plan for a table from which records were taken after it was folded.
    #[must_use]
    pub fn withholding(self, withheld: Option<&'a Withheld>) -> Plan<'a> {
        Plan { withheld, ..self }
    }

    /// What was taken out of the fold before the plan was made. Rows are then those that are left.
    pub fn withheld(&self) -> Option<&'a Withheld> {
        self.withheld
    }

    /// The table the plan is for.
    pub fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// Where each row goes.
    pub fn partition(&self) -> &'a Partition {
        self.partition
    }

    /// The distinct published texts of a quasi-identifier.
    pub fn labels(&self, quasi: usize) -> &[String] {
        &self.labels[quasi]
    }

    /// For each quasi-identifier the position of the group's text in [`Plan::labels`].
    #[inline]
    pub fn cells(&self, group: GroupId) -> &[u32] {
        let width = self.labels.len();
        &self.of_group[group.index() * width..(group.index() + 1) * width]
    }

    /// The same for all groups, one after another.
    pub fn all_cells(&self) -> &[u32] {
        &self.of_group
    }

    /// The mean of each group's numbers in a quasi-identifier; `None` for a group that has none, or that is starred.
    pub fn means(&self, quasi: usize) -> Vec<Option<f64>> {
        let domain = &self.dataset.quasi()[quasi].domain;
        let number = |leaf: u32| {
            crate::number::parse_number(&domain.label(Code(leaf), Code(leaf))).map(|n| n.as_f64())
        };
        let numbers: Vec<Option<f64>> = (0..domain.leaves()).map(number).collect();
        let mut sums = vec![(0.0, 0u64); self.partition.groups()];
        for row in 0..self.dataset.rows() {
            let number = numbers[self.dataset.quasi_codes(row)[quasi] as usize];
            if let (Some(group), Some(x)) = (self.partition.group(row), number) {
                let (sum, records) = &mut sums[group.index()];
                *sum += x * self.dataset.weight(row) as f64;
                *records += self.dataset.weight(row);
            }
        }
        let starred = self.partition.starred().map(|group| group.index());
        let mean = |(group, (sum, records)): (usize, (f64, u64))| {
            (records > 0 && starred != Some(group)).then(|| sum / records as f64)
        };
        sums.into_iter().enumerate().map(mean).collect()
    }

    /// The published text of a group in a quasi-identifier.
    pub fn text(&self, group: GroupId, quasi: usize) -> &str {
        &self.labels[quasi][self.cells(group)[quasi] as usize]
    }
}

/// A mean as it is published: nine digits, without an exponent.
pub fn mean_text(mean: f64) -> String {
    let rounded = format!("{mean:.8e}").parse::<f64>().unwrap_or(mean);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{ColumnSpec, Folded, RowId, Span};

    proptest! {
        /// One column of few values and one of more than a word has bits, neither with a hierarchy: what is published of a group
        /// is what its rows have.
        #[test]
        fn sets_are_the_values_of_a_groups_rows(
            rows in prop::collection::vec((0u8..9, 0u8..200, 0u32..5), 1..250),
        ) {
            let text = |n: u8| format!("v{n:03}");
            let mut distinct: Vec<(u8, u8, u32)> = rows;
            distinct.sort_unstable();
            distinct.dedup_by_key(|row| (row.0, row.1));
            let texts: Vec<Vec<String>> = distinct.iter().map(|row| vec![text(row.0), text(row.1)]).collect();
            let records = texts.iter().map(|row| row.iter().map(|text| Some(text.as_str())).collect());
            let folded = Folded::from_records(&["few", "many"], records, false);
            let data = Dataset::encode(folded, &[&ColumnSpec::default(), &ColumnSpec::default()], &[], "?").unwrap();
            // The order of rows in the dataset is its own: groups follow from the values.
            let own = |row: usize, q: usize| {
                let code = Code(data.quasi_codes(row)[q]);
                data.quasi()[q].domain.label(code, code)
            };
            let mut partition = Partition::new(2, data.rows());
            let group = |row: usize| {
                let at = distinct.iter().position(|d| text(d.0) == own(row, 0) && text(d.1) == own(row, 1)).unwrap();
                distinct[at].2
            };
            let mut members: Vec<Vec<usize>> = vec![Vec::new(); 5];
            (0..data.rows()).for_each(|row| members[group(row) as usize].push(row));
            // The last group is left out.
            members.pop();
            members.retain(|rows| !rows.is_empty());
            for rows in &members {
                let span = |q: usize| {
                    let codes = || rows.iter().map(|&row| data.quasi_codes(row)[q]);
                    Span { lo: Code(codes().min().unwrap()), hi: Code(codes().max().unwrap()) }
                };
                partition.add(&[span(0), span(1)], rows.iter().map(|&row| RowId(row as u32))).unwrap();
            }
            let plan = Plan::new(&data, &partition);
            for (g, rows) in members.iter().enumerate() {
                for q in 0..2 {
                    let values: BTreeSet<String> = rows.iter().map(|&row| own(row, q)).collect();
                    let expected = match values.len() {
                        1 => values.first().unwrap().clone(),
                        _ => format!("{{{}}}", values.into_iter().collect::<Vec<_>>().join(", ")),
                    };
                    prop_assert_eq!(plan.text(GroupId(g as u32), q), expected);
                }
            }
        }
    }
}
