//! The encoded table that algorithms work on: distinct rows of codes with their record counts.

mod encode;

use std::sync::Arc;

use rayon::prelude::*;

use crate::domain::Domain;
use crate::error::Result;
use crate::group::{GroupSummary, Histogram};
use crate::index::{Code, RowId};
use crate::partition::{Divided, Span};
use crate::person::Persons;
use crate::population::{Population, PublishedCell};
pub use crate::sensitive::Sensitive;
pub use encode::EncodeError;

/// A quasi-identifier with its domain.
#[derive(Clone, Debug)]
pub struct Quasi {
    /// The column's name.
    pub name: String,
    /// The leaves of the column, in order.
    pub domain: Domain,
    /// Sum over all records of the depth of their leaf below the root.
    pub leaf_depth: u64,
    /// Number of records per leaf; empty if unknown.
    pub counts: Arc<Vec<u64>>,
    /// Importance: the factor of this column in the loss.
    pub weight: f64,
    /// The column with one leaf per original value. Set if `top`, `bottom` or `min_level` merge
    /// values in `domain`.
    pub original: Option<Arc<Quasi>>,
}

impl Quasi {
    /// The column on which losses are measured: the one with a leaf for every original value.
    pub fn measured(&self) -> &Quasi {
        self.original.as_deref().unwrap_or(self)
    }

    /// Sets the number of records per leaf and the sum of their depths.
    fn set_counts(&mut self, counts: Vec<u64>) {
        let depth = |leaf: usize| self.domain.level_depth(Code(leaf as u32), 0) as u64;
        let own = || counts.iter().enumerate().map(|(leaf, n)| n * depth(leaf)).sum();
        self.leaf_depth = self.original.as_ref().map_or_else(own, |original| original.leaf_depth);
        self.counts = Arc::new(counts);
    }
}

/// Distinct rows of quasi-identifier and sensitive codes with their record counts. Rows are sorted
/// by their codes, so results do not depend on the order in which records were read.
/// [`Dataset::row_of_fold`] maps rows of the [`Folded`](crate::Folded) table to rows of this one.
#[derive(Clone)]
pub struct Dataset {
    quasi: Vec<Quasi>,
    sensitive: Vec<Sensitive>,
    codes: Vec<u32>,
    counts: Vec<u64>,
    records: u64,
    population: Option<Population>,
    /// The persons of the records, if a person has several records.
    persons: Option<Arc<Persons>>,
    /// Sum of the sampling weights of each row's records, if the table has them.
    represented: Option<Arc<Vec<u64>>>,
    /// For each row of the fold, its row in this table; empty if there is no fold.
    of_fold: Vec<u32>,
    /// Upper limit for the bytes of the distinct sets that a plan of this table publishes.
    most_labels: u64,
}

crate::opaque_debug!(Dataset { quasi, sensitive, rows: |dataset| dataset.counts.len(), records });

impl Dataset {
    /// The row of this table that contains a row of the fold. `None` if the table was not encoded
    /// from a fold or is a part of such a table.
    pub fn row_of_fold(&self, row: u32) -> Option<RowId> {
        self.of_fold.get(row as usize).copied().map(RowId)
    }

    /// Computes the number of records per leaf and the depth sums of all quasi-identifiers.
    fn count_leaves(&mut self) {
        let counts = self.all_leaf_counts();
        self.quasi.iter_mut().zip(counts).for_each(|(quasi, counts)| quasi.set_counts(counts));
    }

    /// The table with other domains that have the same leaves in the same order, for example a tree
    /// over numbers. Removes the population, because its positions refer to the old domains.
    #[must_use]
    pub fn with_domains(mut self, domains: Vec<Domain>) -> Dataset {
        for (quasi, domain) in self.quasi.iter_mut().zip(domains) {
            debug_assert_eq!(quasi.domain.leaves(), domain.leaves());
            quasi.domain = domain;
            quasi.original = None;
        }
        self.population = None;
        self.count_leaves();
        self
    }

    /// The table with other importances of its quasi-identifiers.
    #[must_use]
    pub fn with_importances(mut self, importances: &[f64]) -> Dataset {
        self.quasi.iter_mut().zip(importances).for_each(|(quasi, &x)| quasi.weight = x);
        self
    }

    /// The number of records per leaf of a quasi-identifier.
    pub fn leaf_counts(&self, quasi: usize) -> Vec<u64> {
        let mut counts = vec![0; self.quasi[quasi].domain.leaves() as usize];
        for row in 0..self.rows() {
            counts[self.quasi_codes(row)[quasi] as usize] += self.counts[row];
        }
        counts
    }

    /// The number of records per leaf of every quasi-identifier, in one pass.
    fn all_leaf_counts(&self) -> Vec<Vec<u64>> {
        let none = || {
            self.quasi
                .iter()
                .map(|q| vec![0u64; q.domain.leaves() as usize])
                .collect::<Vec<Vec<u64>>>()
        };
        let count = |rows: std::ops::Range<usize>| {
            let mut counts = none();
            for row in rows {
                let own = counts.iter_mut().zip(self.quasi_codes(row));
                own.for_each(|(counts, &code)| counts[code as usize] += self.counts[row]);
            }
            counts
        };
        let add = |mut sums: Vec<Vec<u64>>, more: Vec<Vec<u64>>| {
            for (sums, more) in sums.iter_mut().zip(more) {
                sums.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
            }
            sums
        };
        row_ranges(self.rows()).into_par_iter().map(count).reduce_with(add).unwrap_or_else(none)
    }

    /// A table of encoded rows.
    pub(crate) fn from_rows(
        quasi: Vec<Quasi>,
        sensitive: Vec<Sensitive>,
        codes: Vec<u32>,
        counts: Vec<u64>,
    ) -> Dataset {
        let records = counts.iter().sum();
        let (population, persons, of_fold, represented) = (None, None, Vec::new(), None);
        Dataset {
            quasi,
            sensitive,
            codes,
            counts,
            records,
            population,
            persons,
            represented,
            of_fold,
            most_labels: u64::MAX,
        }
    }

    fn set_persons(&mut self, persons: &[u32]) {
        let (width, stride) = (self.quasi.len(), self.quasi.len() + self.sensitive.len());
        let persons = Persons::new(&self.counts, persons, &self.codes, width, stride);
        self.persons = Some(Arc::new(persons));
    }

    /// The persons of the records. `None` if no person has several records: a record is a person
    /// then.
    pub fn persons(&self) -> Option<&Arc<Persons>> {
        self.persons.as_ref()
    }

    /// The table with the persons and sampling weights of `data`. `of_row` maps each row of `data`
    /// to a row of this table.
    #[must_use]
    pub(crate) fn with_persons_of(mut self, data: &Dataset, of_row: &[u32]) -> Dataset {
        self.persons =
            data.persons.as_ref().map(|own| Arc::new(own.condensed(of_row, self.rows())));
        self.represented =
            data.represented.as_ref().map(|own| Arc::new(sum_by_row(own, of_row, self.rows())));
        self.most_labels = data.most_labels;
        self
    }

    /// The table with an upper limit for the bytes of the distinct sets of values that a
    /// [plan](crate::Plan) publishes. A small compressed file may hold so long texts that their
    /// sets do not fit into memory. Without a call there is no limit.
    #[must_use]
    pub fn with_most_labels(self, most_labels: u64) -> Dataset {
        Dataset { most_labels, ..self }
    }

    /// The limit of [`Dataset::with_most_labels`].
    pub(crate) fn most_labels(&self) -> u64 {
        self.most_labels
    }

    /// Sum of the sampling weights of a row's records, in [millionths](crate::represented); 0 if
    /// the table has no sampling weights.
    pub fn represented(&self, row: usize) -> u64 {
        self.represented.as_ref().map_or(0, |own| own[row])
    }

    /// Whether the table has sampling weights.
    pub fn has_sampling_weights(&self) -> bool {
        self.represented.is_some()
    }

    /// The table without its sampling weights.
    #[must_use]
    pub fn without_sampling_weights(mut self) -> Dataset {
        self.represented = None;
        self
    }

    /// The number of different persons in the table.
    pub fn people(&self) -> u64 {
        self.size_of((0..self.rows()).filter(|&row| self.counts[row] > 0))
    }

    /// The number of different persons in some rows.
    pub fn size_of(&self, rows: impl Iterator<Item = usize>) -> u64 {
        match &self.persons {
            None => rows.map(|row| self.counts[row]).sum(),
            Some(persons) => persons.in_group(&persons.histogram(rows)),
        }
    }

    /// The summary of some rows for the privacy models, without population and region.
    pub fn summary(&self, rows: impl Iterator<Item = usize> + Clone) -> GroupSummary {
        let size = rows.clone().count();
        let histogram = |(s, column): (usize, &Sensitive)| {
            let codes = rows.clone().map(|row| (self.sensitive_codes(row)[s], self.weight(row)));
            Histogram::count_of(column.values.len(), size, codes)
        };
        let present = rows.clone().filter(|&row| self.counts[row] > 0);
        GroupSummary {
            records: rows.clone().map(|row| self.weight(row)).sum(),
            sensitive: self.sensitive.iter().enumerate().map(histogram).collect(),
            persons: self.persons.as_ref().map(|persons| persons.histogram(present)),
            represented: rows.clone().map(|row| self.represented(row)).fold(0, u64::saturating_add),
            ..GroupSummary::default()
        }
    }

    /// The table with further rows appended: their quasi-identifier codes one after another, and
    /// their record counts. The sensitive codes of these rows are meaningless and must not be read.
    #[must_use]
    pub fn extended(mut self, codes: &[u32], counts: &[u64]) -> Dataset {
        (self.persons, self.represented) = (None, None);
        let (width, sensitive) = (self.quasi.len(), self.sensitive.len());
        for (row, &records) in codes.chunks_exact(width.max(1)).zip(counts) {
            self.codes.extend_from_slice(row);
            self.codes.extend(std::iter::repeat_n(0, sensitive));
            self.counts.push(records);
            self.records += records;
        }
        self
    }

    /// The first `rows` rows, with the same domains.
    #[must_use]
    pub fn first_rows(&self, rows: usize) -> Dataset {
        self.some_rows(0, rows)
    }

    /// The rows from `from` to before `to`, with the same domains.
    #[must_use]
    pub fn some_rows(&self, from: usize, to: usize) -> Dataset {
        let width = self.quasi.len() + self.sensitive.len();
        let counts = self.counts[from..to].to_vec();
        Dataset {
            quasi: self.quasi.clone(),
            sensitive: self.sensitive.clone(),
            codes: self.codes[from * width..to * width].to_vec(),
            records: counts.iter().sum(),
            counts,
            population: self.population.clone(),
            persons: None,
            represented: None,
            of_fold: Vec::new(),
            most_labels: self.most_labels,
        }
    }

    /// The table with other sensitive columns: name, values, and the code of each row.
    pub fn with_sensitive(&self, columns: Vec<(String, Vec<String>, Vec<u32>)>) -> Result<Dataset> {
        let width = self.quasi.len();
        let mut codes = Vec::with_capacity(self.rows() * (width + columns.len()));
        for row in 0..self.rows() {
            codes.extend_from_slice(self.quasi_codes(row));
            codes.extend(columns.iter().map(|(_, _, of_row)| of_row[row]));
        }
        let build = |(name, values, _): (String, Vec<String>, Vec<u32>)| {
            let decimal = self.sensitive.first().map(Sensitive::decimal).unwrap_or_default();
            Sensitive::build(&name, values, None, None, decimal).map_err(|misfit| misfit.error)
        };
        let sensitive = columns.into_iter().map(build).collect::<Result<Vec<_>>>()?;
        let (quasi, counts, of_fold) =
            (self.quasi.clone(), self.counts.clone(), self.of_fold.clone());
        let (records, population, persons, represented) = (self.records, None, None, None);
        Ok(Dataset {
            quasi,
            sensitive,
            codes,
            counts,
            records,
            population,
            persons,
            represented,
            of_fold,
            most_labels: self.most_labels,
        })
    }

    /// Adds a population, for models that count the people covered by a group's cells.
    #[must_use]
    pub fn with_population(mut self, population: Population) -> Dataset {
        self.population = Some(population);
        self
    }

    /// The population, if there is one.
    pub fn population(&self) -> Option<&Population> {
        self.population.as_ref()
    }

    /// The table with some records of some rows moved to new rows at the end. The table must have
    /// no persons.
    #[must_use]
    pub fn divided(mut self, divided: &[Divided]) -> Dataset {
        let width = self.quasi.len() + self.sensitive.len();
        if !divided.is_empty() {
            // The moved records are drawn at random, so the sampling weight of each part is
            // unknown.
            self.represented = None;
        }
        for part in divided {
            let start = part.row.index() * width;
            self.codes.extend_from_within(start..start + width);
            self.counts[part.row.index()] -= part.records;
            self.counts.push(part.records);
        }
        assert!(
            divided.is_empty() || self.persons.is_none(),
            "the persons of the moved records are unknown"
        );
        self
    }

    /// The table with other record counts; 0 removes a row. Domains and codes stay.
    #[must_use]
    pub fn with_counts(&self, count: impl Fn(usize) -> u64) -> Dataset {
        let counts: Vec<u64> = (0..self.rows()).map(count).collect();
        let records = counts.iter().sum();
        let share = |row: usize| {
            let own = u128::from(self.represented(row)) * u128::from(counts[row]);
            u64::try_from(own / u128::from(self.counts[row]).max(1)).unwrap_or(u64::MAX)
        };
        let represented =
            self.represented.as_ref().map(|_| Arc::new((0..self.rows()).map(share).collect()));
        Dataset { counts, records, represented, ..self.clone() }
    }

    /// The quasi-identifiers.
    pub fn quasi(&self) -> &[Quasi] {
        &self.quasi
    }

    /// The sensitive columns.
    pub fn sensitive(&self) -> &[Sensitive] {
        &self.sensitive
    }

    /// Summarizes the whole table as one group, published with the smallest cells that cover it.
    pub fn whole(&self) -> GroupSummary {
        let population = self.population.as_ref().map_or(0, |population| {
            let mut values: Vec<Vec<Code>> = vec![Vec::new(); self.quasi.len()];
            for (q, values) in values.iter_mut().enumerate() {
                let mut used = vec![false; self.quasi[q].domain.leaves() as usize];
                (0..self.rows()).for_each(|row| used[self.quasi_codes(row)[q] as usize] = true);
                values.extend((0..used.len() as u32).filter(|&code| used[code as usize]).map(Code));
            }
            let cells: Vec<PublishedCell<'_>> = self
                .quasi
                .iter()
                .zip(&values)
                .filter_map(|(quasi, values)| {
                    let span = Span { lo: *values.first()?, hi: *values.last()? };
                    Some(PublishedCell::new(&quasi.domain, span, values))
                })
                .collect();
            population.people(&population.covered(&cells, 0..population.rows() as u32))
        });
        let parts = row_ranges(self.rows()).into_par_iter().map(|rows| self.summary(rows));
        let all = parts.reduce_with(|mut all, part| {
            all.merge(&part);
            all
        });
        GroupSummary { population, ..all.unwrap_or_else(|| self.summary(0..0)) }
    }

    /// Returns the quasi-identifiers and drops the rows.
    pub fn into_quasi(self) -> Vec<Quasi> {
        self.quasi
    }

    /// The number of distinct rows.
    pub fn rows(&self) -> usize {
        self.counts.len()
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The number of records of a row.
    #[inline]
    pub fn weight(&self, row: usize) -> u64 {
        self.counts[row]
    }

    /// The quasi-identifier codes of a row.
    #[inline]
    pub fn quasi_codes(&self, row: usize) -> &[u32] {
        let width = self.quasi.len() + self.sensitive.len();
        &self.codes[row * width..row * width + self.quasi.len()]
    }

    /// The sensitive codes of a row.
    #[inline]
    pub fn sensitive_codes(&self, row: usize) -> &[u32] {
        let width = self.quasi.len() + self.sensitive.len();
        &self.codes[row * width + self.quasi.len()..(row + 1) * width]
    }
}

/// Minimum number of rows per parallel task.
const BLOCK: usize = 1 << 14;

/// Splits all rows into one range per thread, because each task allocates its own result.
fn row_ranges(rows: usize) -> Vec<std::ops::Range<usize>> {
    let length = rows.div_ceil(rayon::current_num_threads()).max(BLOCK);
    (0..rows).step_by(length).map(|start| start..(start + length).min(rows)).collect()
}

/// Sums values by row: `of_row` maps each value to one of `rows` rows.
fn sum_by_row(values: &[u64], of_row: &[u32], rows: usize) -> Vec<u64> {
    let mut sums = vec![0u64; rows];
    for (&value, &row) in values.iter().zip(of_row) {
        sums[row as usize] = sums[row as usize].saturating_add(value);
    }
    sums
}
