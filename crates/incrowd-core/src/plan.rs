//! The plan of a release: for every row its group, for every group its published cells.
//!
//! A plan is all that an engine needs to write a release, on one machine or on many.

mod labels;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::dataset::{Dataset, Quasi};
use crate::error::{Error, Result};
use crate::index::{Code, GroupId};
use crate::partition::{Partition, Span};
use crate::suppressed::SuppressedRows;

/// A partition with its published cells.
#[derive(Clone)]
pub struct Plan<'a> {
    dataset: &'a Dataset,
    partition: &'a Partition,
    labels: Vec<Vec<String>>,
    of_group: Vec<u32>,
    suppressed: Option<&'a SuppressedRows>,
    /// Whether the sets of values exceed the table's limit, and some texts were not made.
    is_cut: bool,
}

crate::opaque_debug!(Plan<'_> { groups: |plan| plan.partition.groups() });

impl<'a> Plan<'a> {
    /// Computes the cells of every group. If the sets of values exceed the limit of the table, not
    /// all of them are made, and [`Plan::check_labels`] returns an error.
    pub fn new(dataset: &'a Dataset, partition: &'a Partition) -> Plan<'a> {
        let width = dataset.quasi().len();
        let labels::Labels { columns, is_cut } = labels::columns(dataset, partition);
        let mut labels = Vec::with_capacity(width);
        let mut of_group = vec![0u32; partition.groups() * width];
        for (q, (texts, cells)) in columns.into_iter().enumerate() {
            labels.push(texts);
            cells
                .into_iter()
                .enumerate()
                .for_each(|(group, cell)| of_group[group * width + q] = cell);
        }
        Plan { dataset, partition, labels, of_group, suppressed: None, is_cut }
    }

    /// Returns an error if the sets of values exceed the limit of the table.
    pub fn check_labels(&self) -> Result<()> {
        if !self.is_cut {
            return Ok(());
        }
        let sets = self.dataset.quasi().iter().filter(|quasi| quasi.domain.publishes_sets());
        let length = |quasi: &Quasi| {
            let leaves = quasi.domain.leaves();
            let own = |leaf: u32| quasi.domain.label(Code(leaf), Code(leaf)).len() as u64;
            (0..leaves).map(own).sum::<u64>() / u64::from(leaves.max(1))
        };
        let longest = sets.max_by_key(|quasi| length(quasi));
        let name = longest.map(|quasi| quasi.name.as_str()).unwrap_or_default();
        Err(Error::resources(format!(
            "the sets of values to publish take more than {} MiB of memory. Column `{name}` has \
             the longest values",
            self.dataset.most_labels() >> 20
        ))
        .help(
            "provide a hierarchy for the column, or drop it. If you trust the file, you can also \
             unpack it or convert it to CSV: the limit is for compressed and typed files",
        )
        .at(format!("columns.{name}")))
    }

    /// Returns an error if the cell of a row's group does not cover the value of the row, or if not
    /// all cells were made. An algorithm whose cells do not cover their values is wrong, and its
    /// release would be false.
    pub fn check(&self) -> Result<()> {
        self.check_labels()?;
        let quasi = self.dataset.quasi();
        let starred = self.partition.starred();
        let levels = self.partition.levels();
        let mut covered: Vec<Span> = Vec::with_capacity(self.partition.groups() * quasi.len());
        for group in (0..self.partition.groups() as u32).map(GroupId) {
            for (q, span) in self.partition.spans(group).iter().enumerate() {
                let domain = &quasi[q].domain;
                covered.push(match levels {
                    _ if starred == Some(group) => {
                        Span { lo: Code(0), hi: Code(domain.leaves().saturating_sub(1)) }
                    }
                    // The text of a group is that of its first leaf.
                    Some(levels) => domain.level_span(span.lo, levels[q] as usize),
                    None => *span,
                });
            }
        }
        let is_covered = |row: usize| {
            let Some(group) = self.partition.group(row) else { return true };
            let cells = &covered[group.index() * quasi.len()..][..quasi.len()];
            let codes = self.dataset.quasi_codes(row).iter();
            codes.zip(cells).all(|(&code, cell)| (cell.lo.0..=cell.hi.0).contains(&code))
        };
        match (0..self.dataset.rows()).into_par_iter().with_min_len(1 << 14).all(is_covered) {
            true => Ok(()),
            false => Err(Error::bug("a cell does not cover a value of its group")),
        }
    }

    /// The plan for a table from which records were suppressed after folding.
    #[must_use]
    pub fn suppressing(self, suppressed: Option<&'a SuppressedRows>) -> Plan<'a> {
        Plan { suppressed, ..self }
    }

    /// The records suppressed from the fold before the plan was made. The plan covers the remaining
    /// rows.
    pub fn suppressed(&self) -> Option<&'a SuppressedRows> {
        self.suppressed
    }

    /// The table the plan is for.
    pub fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// The group of each row.
    pub fn partition(&self) -> &'a Partition {
        self.partition
    }

    /// The distinct published texts of a quasi-identifier.
    pub fn labels(&self, quasi: usize) -> &[String] {
        &self.labels[quasi]
    }

    /// For each quasi-identifier, the index of the group's text in [`Plan::labels`].
    #[inline]
    pub fn cells(&self, group: GroupId) -> &[u32] {
        let width = self.labels.len();
        &self.of_group[group.index() * width..(group.index() + 1) * width]
    }

    /// The cells of all groups, group by group.
    pub fn all_cells(&self) -> &[u32] {
        &self.of_group
    }

    /// The mean of each group's numbers in a quasi-identifier. A starred group has none. A group
    /// with a missing value has none either: its cell must not assign a number to records without
    /// one.
    ///
    /// Groups with the same labels share one mean, so means do not distinguish records that ranges
    /// do not distinguish.
    pub fn means(&self, quasi: usize) -> Vec<Option<f64>> {
        let domain = &self.dataset.quasi()[quasi].domain;
        let numbers: Vec<Option<f64>> =
            (0..domain.leaves()).map(|leaf| domain.number(Code(leaf))).collect();
        let (class_of, classes) = self.classes();
        // Per class: the sum of its numbers, its records, and whether it has a mean.
        let mut sums = vec![(0.0, 0u64, true); classes];
        if let Some(starred) = self.partition.starred() {
            sums[class_of[starred.index()] as usize].2 = false;
        }
        for row in 0..self.dataset.rows() {
            let Some(group) = self.partition.group(row) else { continue };
            let (sum, records, has_mean) = &mut sums[class_of[group.index()] as usize];
            let weight = self.dataset.weight(row);
            *records += weight;
            match numbers[self.dataset.quasi_codes(row)[quasi] as usize] {
                Some(x) => *sum += x * weight as f64,
                None => *has_mean &= weight == 0,
            }
        }
        let mean = |(sum, records, has_mean): (f64, u64, bool)| {
            (has_mean && records > 0).then(|| sum / records as f64)
        };
        class_of.into_iter().map(|class| mean(sums[class as usize])).collect()
    }

    /// The class of each group, and the number of classes. Groups of one class have the same
    /// labels.
    fn classes(&self) -> (Vec<u32>, usize) {
        let mut known: HashMap<&[u32], u32, FixedState> = HashMap::default();
        let class = |group: u32| {
            let fresh = known.len() as u32;
            *known.entry(self.cells(GroupId(group))).or_insert(fresh)
        };
        let class_of: Vec<u32> = (0..self.partition.groups() as u32).map(class).collect();
        (class_of, known.len())
    }

    /// The published text of a group in a quasi-identifier.
    pub fn text(&self, group: GroupId, quasi: usize) -> &str {
        &self.labels[quasi][self.cells(group)[quasi] as usize]
    }
}

/// Formats a mean: nine significant digits, without an exponent.
pub fn mean_text(mean: f64) -> String {
    let rounded = format!("{mean:.8e}").parse::<f64>().unwrap_or(mean);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{ColumnSpec, Folded, HierarchySpec, RowId};

    proptest! {
        /// One column with few values and one with more than 64, both without a hierarchy: the
        /// published set of a group contains exactly the values of its rows.
        #[test]
        fn sets_are_the_values_of_a_groups_rows(
            rows in prop::collection::vec((0u8..9, 0u8..200, 0u32..5), 1..250),
        ) {
            let text = |n: u8| format!("v{n:03}");
            let mut distinct: Vec<(u8, u8, u32)> = rows;
            distinct.sort_unstable();
            distinct.dedup_by_key(|row| (row.0, row.1));
            let texts = distinct.iter().map(|row| vec![text(row.0), text(row.1)]);
            let texts: Vec<Vec<String>> = texts.collect();
            let records = texts.iter();
            let records = records.map(|row| row.iter().map(|text| Some(text.as_str())).collect());
            let folded = Folded::from_records(&["few", "many"], records, false);
            let spec = ColumnSpec::default();
            let data = Dataset::encode(folded, &[&spec, &spec], &[], "?").unwrap();
            // Encoding reorders the rows, so the group of a row is found by its values.
            let own = |row: usize, q: usize| {
                let code = Code(data.quasi_codes(row)[q]);
                data.quasi()[q].domain.label(code, code)
            };
            let mut partition = Partition::new(2, data.rows());
            let group = |row: usize| {
                let texts = (own(row, 0), own(row, 1));
                distinct.iter().find(|d| (text(d.0), text(d.1)) == texts).unwrap().2
            };
            let mut members: Vec<Vec<usize>> = vec![Vec::new(); 5];
            (0..data.rows()).for_each(|row| members[group(row) as usize].push(row));
            // The last group is suppressed.
            members.pop();
            members.retain(|rows| !rows.is_empty());
            for rows in &members {
                let span = |q: usize| {
                    let codes = || rows.iter().map(|&row| data.quasi_codes(row)[q]);
                    Span { lo: Code(codes().min().unwrap()), hi: Code(codes().max().unwrap()) }
                };
                let rows = rows.iter().map(|&row| RowId(row as u32));
                partition.add(&[span(0), span(1)], rows).unwrap();
            }
            let plan = Plan::new(&data, &partition);
            prop_assert!(plan.check().is_ok());
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

    #[test]
    fn a_cell_that_does_not_cover_a_value_is_an_error() {
        let records = ["1", "2"].map(|age| vec![Some(age)]);
        let folded = Folded::from_records(&["age"], records, false);
        let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[], "?").unwrap();
        let checked = |lo: u32, hi: u32| {
            let mut partition = Partition::new(1, 2);
            let span = Span { lo: Code(lo), hi: Code(hi) };
            partition.add(&[span], [RowId(0), RowId(1)]).unwrap();
            Plan::new(&data, &partition).check()
        };
        assert!(checked(0, 1).is_ok());
        assert!(checked(0, 0).is_err() && checked(1, 1).is_err());
        // On a level the text is that of the first leaf.
        let text = "a;A;*\nb;B;*\n".to_owned();
        let hierarchy = Some(HierarchySpec::Arx { name: "h".into(), text });
        let spec = ColumnSpec { hierarchy, ..ColumnSpec::default() };
        let folded = Folded::from_records(&["x"], ["a", "b"].map(|x| vec![Some(x)]), false);
        let data = Dataset::encode(folded, &[&spec], &[], "?").unwrap();
        for (level, holds) in [(0, false), (1, false), (2, true)] {
            let mut partition = Partition::new(1, 2);
            let span = Span { lo: Code(0), hi: Code(1) };
            partition.add(&[span], [RowId(0), RowId(1)]).unwrap();
            let partition = partition.at_levels(vec![level]);
            assert_eq!(Plan::new(&data, &partition).check().is_ok(), holds, "{level}");
        }
    }

    #[test]
    fn sets_beyond_the_limit_of_the_table_are_refused_and_equal_sets_count_once() {
        let records = [["a", "p"], ["b", "p"], ["a", "q"], ["b", "q"]];
        let records = records.map(|row| row.map(Some).to_vec());
        let folded = Folded::from_records(&["x", "yy"], records, false);
        let spec = ColumnSpec::default();
        let data = Dataset::encode(folded, &[&spec, &spec], &[], "?").unwrap();
        // Two groups publish `{a, b}`, which has six bytes. The other cells are `p` and `q`.
        let mut partition = Partition::new(2, 4);
        let span = |lo: u32, hi: u32| Span { lo: Code(lo), hi: Code(hi) };
        partition.add(&[span(0, 1), span(0, 0)], [RowId(0), RowId(2)]).unwrap();
        partition.add(&[span(0, 1), span(1, 1)], [RowId(1), RowId(3)]).unwrap();
        let wide = data.clone().with_most_labels(8);
        let plan = Plan::new(&wide, &partition);
        assert!(plan.check().is_ok());
        assert_eq!((plan.text(GroupId(0), 0), plan.text(GroupId(1), 1)), ("{a, b}", "q"));
        let data = data.with_most_labels(7);
        let error = Plan::new(&data, &partition).check().unwrap_err();
        assert_eq!(error.fault(), crate::Fault::Resources);
        assert!(error.key().is_some_and(|key| ["columns.x", "columns.yy"].contains(&key)));
        // A part of the table and other sensitive columns keep the limit.
        assert_eq!(data.first_rows(2).most_labels(), 7);
        assert_eq!(data.with_sensitive(Vec::new()).unwrap().most_labels(), 7);
    }
}
