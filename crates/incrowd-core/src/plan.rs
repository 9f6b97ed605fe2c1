//! The finished plan: for every row the group it goes to, for every group the cells it is published with.
//!
//! A plan is all an engine needs to write a release, on one machine or on many.

use hashbrown::HashMap;

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
        let groups = partition.groups();
        let mut labels = Vec::with_capacity(width);
        let mut of_group = vec![0u32; groups * width];
        let starred = |group: usize| partition.starred() == Some(GroupId(group as u32));
        for (q, quasi) in dataset.quasi().iter().enumerate() {
            let mut texts = DistinctLabels::default();
            let mut cell = |group: usize, label: u32| of_group[group * width + q] = label;
            let level = partition.levels().map(|levels| levels[q] as usize);
            if quasi.domain.publishes_sets() && level.is_none() {
                let mut known: HashMap<Vec<Code>, u32> = HashMap::new();
                for (group, set) in sets(dataset, partition, q).into_iter().enumerate() {
                    if !starred(group) {
                        let text = || texts.add(quasi.domain.set_label(&set));
                        let label = *known.entry_ref(&set).or_insert_with(text);
                        cell(group, label);
                    }
                }
            } else {
                let mut known: HashMap<Span, u32, foldhash::fast::FixedState> = HashMap::default();
                for group in (0..groups).filter(|&group| !starred(group)) {
                    let span = partition.spans(GroupId(group as u32))[q];
                    let text = || match level {
                        Some(level) => texts.add(quasi.domain.level_label(span.lo, level)),
                        None => texts.add(quasi.domain.label(span.lo, span.hi)),
                    };
                    cell(group, *known.entry(span).or_insert_with(text));
                }
            }
            if let Some(star) = partition.starred() {
                cell(star.index(), texts.add("*".to_owned()));
            }
            labels.push(texts.list);
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

/// The values that occur in each group, ascending.
fn sets(dataset: &Dataset, partition: &Partition, quasi: usize) -> Vec<Vec<Code>> {
    let mut sets = vec![Vec::new(); partition.groups()];
    for row in 0..dataset.rows() {
        let code = Code(dataset.quasi_codes(row)[quasi]);
        if let Some(group) = partition.group(row) {
            sets[group.index()].push(code);
        }
    }
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    sets
}
