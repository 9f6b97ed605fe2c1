//! Checks whether the groups of a node satisfy the models.

use std::cell::RefCell;

use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Error, GroupSummary, Result};

use super::frequency::{Counts, FrequencySet, Scratch, collect};
use super::key::{Field, Key};
use super::levels::ClassLevels;
use super::price::{Metric, Prices, Sizes};
use crate::fewest_records;

thread_local! {
    /// Buffers for roll-ups, one per thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The result for a node that satisfies the models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NodeOutcome {
    /// The cost by the metric.
    pub(super) value: f64,
    /// The number of published groups.
    pub(super) groups: u64,
    /// The number of suppressed records.
    pub(super) suppressed: u64,
    /// A lower bound of the cost of all nodes above this one.
    pub(super) floor: f64,
}

/// The table, the models and the metric. All nodes share them.
#[derive(Debug)]
pub(super) struct Checker<'a, K> {
    pub(super) column_levels: Vec<ClassLevels>,
    pub(super) fields: Vec<Field>,
    pub(super) prices: Prices,
    /// The groups at the bottom of the lattice.
    pub(super) base: FrequencySet<K>,
    /// The least number of records of a group.
    pub(super) min_records: u64,
    /// Models that depend on more than the number of records.
    others: Vec<&'a dyn BoundModel>,
    /// The sensitive columns they depend on.
    watched: Vec<usize>,
    sensitive: usize,
    /// The greatest number of suppressed records.
    pub(super) suppressible: u64,
}

impl<'a, K: Key> Checker<'a, K> {
    pub(super) fn new(
        data: &Dataset,
        column_levels: Vec<ClassLevels>,
        fields: Vec<Field>,
        models: &'a [Box<dyn BoundModel>],
        metric: Metric,
        suppressible: u64,
    ) -> Result<Checker<'a, K>> {
        let min_records = fewest_records(models);
        let others: Vec<&dyn BoundModel> =
            models.iter().filter(|m| m.least_records().is_none()).map(|m| &**m).collect();
        let mut watched: Vec<usize> =
            others.iter().filter_map(|model| model.sensitive_column()).collect();
        watched.sort_unstable();
        watched.dedup();
        let prices = Prices::new(data, &column_levels, metric)?;
        let base = base(data, &column_levels, &fields, &watched, !others.is_empty())?;
        let sensitive = data.sensitive().len();
        Ok(Checker {
            column_levels,
            fields,
            prices,
            base,
            min_records,
            others,
            watched,
            sensitive,
            suppressible,
        })
    }

    /// Returns whether the verdicts are monotone: every node above a valid one is valid, and its
    /// suppressed records are also suppressed below.
    ///
    /// If nothing may be suppressed, this holds because unions of admitted groups are admitted. If
    /// only the number of records matters, it holds because groups only grow. Otherwise a group
    /// that is admitted for its mixture of values may lose that property by merging with a
    /// suppressed group.
    pub(super) fn is_monotone(&self) -> bool {
        self.suppressible == 0 || self.others.is_empty()
    }

    /// Returns whether the models depend only on the number of records.
    pub(super) fn counts_only(&self) -> bool {
        self.others.is_empty()
    }

    /// Returns whether a node never costs less than a node below it.
    pub(super) fn is_cost_monotone(&self) -> bool {
        self.suppressible == 0
    }

    /// Rolls up to a node and checks its groups.
    pub(super) fn check(
        &self,
        source: &FrequencySet<K>,
        from: &[u8],
        to: &[u8],
    ) -> (FrequencySet<K>, Option<NodeOutcome>) {
        SCRATCH.with_borrow_mut(|scratch| {
            let set = source.rolled_up(&self.column_levels, &self.fields, from, to, scratch);
            let outcome = self.evaluate(&set, to, scratch);
            (set, outcome)
        })
    }

    /// Rolls up to a node without checking it.
    pub(super) fn rolled_up(
        &self,
        source: &FrequencySet<K>,
        from: &[u8],
        to: &[u8],
    ) -> FrequencySet<K> {
        SCRATCH.with_borrow_mut(|scratch| {
            source.rolled_up(&self.column_levels, &self.fields, from, to, scratch)
        })
    }

    /// Evaluates the groups of a node. `None` if it does not satisfy the models.
    fn evaluate(
        &self,
        set: &FrequencySet<K>,
        levels: &[u8],
        scratch: &mut Scratch,
    ) -> Option<NodeOutcome> {
        let sizes = self.sizes(set, scratch)?;
        let refused = scratch.refused.iter().map(|&group| set.groups[group as usize]);
        self.outcome(levels, &sizes, |column, suppressed_classes| {
            suppressed_classes.extend(
                refused.clone().map(|(key, records)| (key.get(self.fields[column]), records)),
            );
        })
    }

    /// Returns the result for a node with such groups. `refused` lists the class of each refused
    /// group in a column, with its records.
    pub(super) fn outcome(
        &self,
        levels: &[u8],
        sizes: &Sizes,
        refused: impl Fn(usize, &mut Vec<(u32, u64)>),
    ) -> Option<NodeOutcome> {
        if sizes.groups == 0 {
            return None;
        }
        let Sizes { groups, suppressed, .. } = *sizes;
        // A node of a subset of the columns is only tested for validity, so it has no cost.
        if levels
            .iter()
            .zip(&self.column_levels)
            .any(|(&level, of_column)| usize::from(level) == of_column.levels())
        {
            return Some(NodeOutcome { value: 0.0, groups, suppressed, floor: 0.0 });
        }
        let mut suppressed_classes = vec![Vec::new(); levels.len()];
        if self.prices.charges_cells() && suppressed > 0 {
            suppressed_classes
                .iter_mut()
                .enumerate()
                .for_each(|(column, suppressed_classes)| refused(column, suppressed_classes));
        }
        let value = self.prices.of(levels, sizes, &mut suppressed_classes);
        Some(NodeOutcome { value, groups, suppressed, floor: self.prices.floor(sizes) })
    }

    /// Counts the groups and finds those that a model refuses. `None` if these have too many
    /// records.
    fn sizes(&self, set: &FrequencySet<K>, scratch: &mut Scratch) -> Option<Sizes> {
        scratch.refused.clear();
        // Comparing counts is cheaper than evaluating models, so it is done first.
        let few = |records: u64| records < self.min_records && records > 0;
        let mut counted = 0;
        for &(_, records) in set.groups.iter().filter(|group| few(group.1)) {
            counted += records;
            if counted > self.suppressible {
                return None;
            }
        }
        let mut summary = GroupSummary::empty(self.sensitive);
        let mut sizes = Sizes::default();
        let mut outside = 0;
        for (group, &(_, records)) in set.groups.iter().enumerate() {
            let people = set.people.get(group).copied().unwrap_or(0);
            if records == 0 {
                outside += people;
                continue;
            }
            let mut admitted = records >= self.min_records;
            if admitted && !self.others.is_empty() {
                (summary.records, summary.population) = (records, people);
                for (&column, counts) in self.watched.iter().zip(&set.counts) {
                    summary.sensitive[column].assign(counts.of(group).iter().copied());
                }
                if let Some(counts) = &set.persons {
                    summary
                        .persons
                        .get_or_insert_default()
                        .assign(counts.of(group).iter().copied());
                }
                admitted = self.others.iter().all(|model| model.admits(&summary).holds);
            }
            if admitted {
                sizes.publish(records);
            } else {
                sizes.refuse(records);
                scratch.refused.push(group as u32);
                if sizes.suppressed > self.suppressible {
                    return None;
                }
            }
        }
        // The people that no cell covers are a group without records.
        let uncovered = GroupSummary { population: outside, ..GroupSummary::empty(self.sensitive) };
        let mut others = self
            .others
            .iter()
            .filter(|m| m.sensitive_column().is_none() && m.least_persons().is_none());
        (outside == 0 || others.all(|model| model.admits(&uncovered).holds)).then_some(sizes)
    }

    /// Returns the groups of a node in ascending order of their keys, and whether each is
    /// published.
    pub(super) fn published(&self, levels: &[u8]) -> Vec<(K, bool)> {
        let bottom = vec![0; levels.len()];
        SCRATCH.with_borrow_mut(|scratch| {
            let set =
                self.base.rolled_up(&self.column_levels, &self.fields, &bottom, levels, scratch);
            self.sizes(&set, scratch);
            let mut published: Vec<(K, bool)> =
                set.groups.iter().map(|&(key, records)| (key, records > 0)).collect();
            scratch.refused.iter().for_each(|&group| published[group as usize].1 = false);
            published.sort_unstable();
            published
        })
    }

    /// Returns the key of a row at a node.
    pub(super) fn key(&self, codes: &[u32], levels: &[u8]) -> K {
        let mut key = K::default();
        for (column, of_column) in self.column_levels.iter().enumerate() {
            let class = of_column.up(0, usize::from(levels[column]))
                [of_column.leaf(codes[column]) as usize];
            key = key.set(self.fields[column], class);
        }
        key
    }

    /// Returns the class of a column in a key.
    pub(super) fn class(&self, key: K, column: usize) -> u32 {
        key.get(self.fields[column])
    }
}

/// Returns the groups at the bottom, in the order of their keys, so that the result does not depend
/// on row numbers.
fn base<K: Key>(
    data: &Dataset,
    column_levels: &[ClassLevels],
    fields: &[Field],
    watched: &[usize],
    with_details: bool,
) -> Result<FrequencySet<K>> {
    let key = |class: &dyn Fn(usize, &ClassLevels) -> u32| {
        let columns = column_levels.iter().enumerate();
        columns.fold(K::default(), |key, (column, of_column)| {
            key.set(fields[column], class(column, of_column))
        })
    };
    let of_row =
        |row: usize| key(&|column, of_column| of_column.leaf(data.quasi_codes(row)[column]));
    let of_person = |row: usize| key(&|_, of_column| of_column.person(row));
    let population = data.population().filter(|_| with_details);
    let people = population.map_or(0, |population| population.rows());
    let rows = data.rows();
    if u32::try_from(rows + people).is_err() {
        return Err(Error::resources("the table has too many distinct rows for `full-domain`"));
    }
    let mut order: Vec<(K, u32)> = (0..rows).map(|row| (of_row(row), row as u32)).collect();
    order.extend((0..people).map(|row| (of_person(row), (rows + row) as u32)));
    order.sort_unstable();
    let mut scratch = Scratch::default();
    let records = |row: u32| if (row as usize) < rows { data.weight(row as usize) } else { 0 };
    let entries = order.iter().map(|&(key, row)| (key, records(row)));
    let groups = collect(entries, order.len(), true, &mut scratch);
    let mut set = FrequencySet { groups, ..FrequencySet::default() };
    if let Some(population) = population {
        set.people = vec![0; set.groups.len()];
        for (&(_, row), &group) in order.iter().zip(scratch.moved()) {
            if row as usize >= rows {
                set.people[group as usize] += population.weight(row - rows as u32);
            }
        }
    }
    let moved = scratch.moved().to_vec();
    for &column in watched {
        let row = |i: usize| {
            let row = order[i].1;
            let code = |row: usize| data.sensitive_codes(row)[column];
            if (row as usize) < rows { (code(row as usize), records(row)) } else { (0, 0) }
        };
        let values = data.sensitive()[column].values.len();
        set.counts.push(Counts::new(values, set.groups.len(), &moved, row, &mut scratch.tally));
    }
    if let Some(persons) = data.persons().filter(|_| with_details) {
        let row = |i: usize| {
            order
                .get(i)
                .filter(|own| (own.1 as usize) < rows)
                .map_or(&[][..], |own| persons.of_row(own.1 as usize))
        };
        let groups = set.groups.len();
        set.persons =
            Some(Counts::of_lists(persons.count(), groups, &moved, row, &mut scratch.tally));
    }
    Ok(set)
}
