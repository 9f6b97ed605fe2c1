//! The finished plan: for every row the group it goes to, for every group the cells it is published with.
//!
//! A plan is all an engine needs to write a release, on one machine or on many.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::index::{Code, GroupId};
use crate::partition::{Partition, Span};
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
        let publishes_sets =
            |q: usize| dataset.quasi()[q].domain.publishes_sets() && partition.levels().is_none();
        let members = (0..width).any(|q| publishes_sets(q) && dataset.quasi()[q].domain.leaves() > MASK);
        let members = members.then(|| Members::new(partition, dataset.rows()));
        let column = |q: usize| match publishes_sets(q) {
            true => set_cells(dataset, partition, q, members.as_ref()),
            false => span_cells(dataset, partition, q),
        };
        let columns: Vec<(Vec<String>, Vec<u32>)> = (0..width).into_par_iter().map(column).collect();
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

/// Distinct texts in the order they were added.
#[derive(Default)]
struct DistinctLabels {
    list: Vec<String>,
    known: HashMap<String, u32>,
}

impl DistinctLabels {
    fn add(&mut self, text: String) -> u32 {
        *self.known.entry_ref(text.as_str()).or_insert_with(|| {
            self.list.push(text.clone());
            self.list.len() as u32 - 1
        })
    }
}

/// The distinct texts of a quasi-identifier that publishes spans, and which of them each group has.
fn span_cells(dataset: &Dataset, partition: &Partition, q: usize) -> (Vec<String>, Vec<u32>) {
    let domain = &dataset.quasi()[q].domain;
    let level = partition.levels().map(|levels| levels[q] as usize);
    let mut known: HashMap<Span, u32, FixedState> = HashMap::default();
    cells(partition, |group, texts| {
        let span = partition.spans(group)[q];
        let text = || match level {
            Some(level) => texts.add(domain.level_label(span.lo, level)),
            None => texts.add(domain.label(span.lo, span.hi)),
        };
        *known.entry(span).or_insert_with(text)
    })
}

/// So many values fit the bits of a word.
const MASK: u32 = 64;

/// The same of a quasi-identifier that publishes the values that occur in a group, ascending.
fn set_cells(
    dataset: &Dataset,
    partition: &Partition,
    q: usize,
    members: Option<&Members>,
) -> (Vec<String>, Vec<u32>) {
    let domain = &dataset.quasi()[q].domain;
    let code = |row: usize| dataset.quasi_codes(row)[q];
    let Some(members) = members.filter(|_| domain.leaves() > MASK) else {
        let mut masks = vec![0u64; partition.groups()];
        for row in 0..dataset.rows() {
            if let Some(group) = partition.group(row) {
                masks[group.index()] |= 1 << code(row);
            }
        }
        let mut known: HashMap<u64, u32, FixedState> = HashMap::default();
        return cells(partition, |group, texts| {
            let mask = masks[group.index()];
            *known.entry(mask).or_insert_with(|| {
                let set: Vec<Code> = (0..MASK).filter(|bit| mask >> bit & 1 == 1).map(Code).collect();
                texts.add(domain.set_label(&set))
            })
        });
    };
    let mut known: HashMap<Vec<Code>, u32, FixedState> = HashMap::default();
    let mut set = Vec::new();
    cells(partition, |group, texts| {
        set.clear();
        set.extend(members.of(group).iter().map(|&row| Code(code(row as usize))));
        set.sort_unstable();
        set.dedup();
        *known.entry_ref(set.as_slice()).or_insert_with(|| texts.add(domain.set_label(&set)))
    })
}

/// The cells of all groups, of which a starred one has a star.
fn cells(
    partition: &Partition,
    mut cell: impl FnMut(GroupId, &mut DistinctLabels) -> u32,
) -> (Vec<String>, Vec<u32>) {
    let mut texts = DistinctLabels::default();
    let starred = partition.starred();
    let groups = (0..partition.groups() as u32).map(GroupId);
    let own = |group| if starred == Some(group) { 0 } else { cell(group, &mut texts) };
    let mut cells: Vec<u32> = groups.map(own).collect();
    if let Some(star) = starred {
        cells[star.index()] = texts.add("*".to_owned());
    }
    (texts.list, cells)
}

/// The rows of each group.
struct Members {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Members {
    fn new(partition: &Partition, rows: usize) -> Members {
        let mut starts = vec![0u32; partition.groups() + 1];
        let groups = || (0..rows).filter_map(|row| Some((row as u32, partition.group(row)?.index())));
        groups().for_each(|(_, group)| starts[group + 1] += 1);
        (0..partition.groups()).for_each(|group| starts[group + 1] += starts[group]);
        let mut next = starts.clone();
        let mut ordered = vec![0; starts[partition.groups()] as usize];
        for (row, group) in groups() {
            ordered[next[group] as usize] = row;
            next[group] += 1;
        }
        Members { starts, rows: ordered }
    }

    fn of(&self, group: GroupId) -> &[u32] {
        &self.rows[self.starts[group.index()] as usize..self.starts[group.index() + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{ColumnSpec, Folded, RowId};

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
