//! What algorithms see: codes and multiplicities, never records.

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

/// A quasi-identifier with its line of leaves.
#[derive(Clone, Debug)]
pub struct Quasi {
    /// The column's name.
    pub name: String,
    /// Its line.
    pub domain: Domain,
    /// How many steps the records' values lie below the root, added up.
    pub leaf_depth: u64,
    /// How many records have each leaf; empty if that is not known.
    pub counts: Arc<Vec<u64>>,
    /// How much its loss weighs against that of the others.
    pub weight: f64,
}

impl Quasi {
    /// Notes how many records have each leaf, and how many steps their values lie below the root.
    fn set_counts(&mut self, counts: Vec<u64>) {
        let depth = |leaf: usize| self.domain.level_depth(Code(leaf as u32), 0) as u64;
        self.leaf_depth = counts.iter().enumerate().map(|(leaf, n)| n * depth(leaf)).sum();
        self.counts = Arc::new(counts);
    }
}

/// Distinct rows of quasi-identifier and sensitive codes with multiplicities. Rows come in the order of their codes, so that
/// nothing made of them depends on the order in which records were read; [`Dataset::row_of_fold`] leads back to the
/// [`Folded`](crate::Folded) table.
#[derive(Clone)]
pub struct Dataset {
    quasi: Vec<Quasi>,
    sensitive: Vec<Sensitive>,
    codes: Vec<u32>,
    weights: Vec<u64>,
    records: u64,
    population: Option<Population>,
    /// Whose records they are, if a person has several.
    persons: Option<Arc<Persons>>,
    /// How many people the records of each row stand for, if that is known.
    represented: Option<Arc<Vec<u64>>>,
    /// For each row of the fold the row it became; empty if there is no fold to apply a plan to.
    of_fold: Vec<u32>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dataset")
            .field("quasi", &self.quasi)
            .field("sensitive", &self.sensitive)
            .field("rows", &self.weights.len())
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

impl Dataset {
    /// The row that a row of the fold became. There is none if the table was not encoded from a fold, or is a part of one
    /// that was.
    pub fn row_of_fold(&self, row: u32) -> Option<RowId> {
        self.of_fold.get(row as usize).copied().map(RowId)
    }

    /// How many records have each leaf, and how many steps their values lie below the roots.
    fn count_leaves(&mut self) {
        let counts = self.all_leaf_counts();
        self.quasi.iter_mut().zip(counts).for_each(|(line, counts)| line.set_counts(counts));
    }

    /// The table with other lines that have the same leaves in the same order, such as a tree over numbers. A population must
    /// be placed anew.
    #[must_use]
    pub fn with_domains(mut self, domains: Vec<Domain>) -> Dataset {
        for (quasi, domain) in self.quasi.iter_mut().zip(domains) {
            debug_assert_eq!(quasi.domain.leaves(), domain.leaves());
            quasi.domain = domain;
        }
        self.population = None;
        self.count_leaves();
        self
    }

    /// The table with other weights of its quasi-identifiers' losses.
    #[must_use]
    pub fn with_column_weights(mut self, weights: &[f64]) -> Dataset {
        self.quasi.iter_mut().zip(weights).for_each(|(quasi, &weight)| quasi.weight = weight);
        self
    }

    /// How many records have each leaf of a quasi-identifier.
    pub fn leaf_counts(&self, quasi: usize) -> Vec<u64> {
        let mut counts = vec![0; self.quasi[quasi].domain.leaves() as usize];
        for row in 0..self.rows() {
            counts[self.quasi_codes(row)[quasi] as usize] += self.weights[row];
        }
        counts
    }

    /// The same for all quasi-identifiers, in one pass.
    fn all_leaf_counts(&self) -> Vec<Vec<u64>> {
        let none =
            || self.quasi.iter().map(|q| vec![0u64; q.domain.leaves() as usize]).collect::<Vec<Vec<u64>>>();
        let count = |rows: std::ops::Range<usize>| {
            let mut counts = none();
            for row in rows {
                let own = counts.iter_mut().zip(self.quasi_codes(row));
                own.for_each(|(counts, &code)| counts[code as usize] += self.weights[row]);
            }
            counts
        };
        let add = |mut sums: Vec<Vec<u64>>, more: Vec<Vec<u64>>| {
            for (sums, more) in sums.iter_mut().zip(more) {
                sums.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
            }
            sums
        };
        stretches(self.rows()).into_par_iter().map(count).reduce_with(add).unwrap_or_else(none)
    }

    /// A table of rows that are encoded already.
    pub(crate) fn from_rows(
        quasi: Vec<Quasi>,
        sensitive: Vec<Sensitive>,
        codes: Vec<u32>,
        weights: Vec<u64>,
    ) -> Dataset {
        let records = weights.iter().sum();
        let (population, persons, of_fold, represented) = (None, None, Vec::new(), None);
        Dataset { quasi, sensitive, codes, weights, records, population, persons, represented, of_fold }
    }

    fn set_persons(&mut self, persons: &[u32]) {
        let (width, stride) = (self.quasi.len(), self.quasi.len() + self.sensitive.len());
        let persons = Persons::new(&self.weights, persons, &self.codes, width, stride);
        self.persons = Some(Arc::new(persons));
    }

    /// Whose records they are; not there if nobody has several, for then a record is a person.
    pub fn persons(&self) -> Option<&Arc<Persons>> {
        self.persons.as_ref()
    }

    /// The table with the persons of another whose rows became this one's.
    #[must_use]
    pub(crate) fn with_persons_of(mut self, data: &Dataset, of_row: &[u32]) -> Dataset {
        self.persons = data.persons.as_ref().map(|own| Arc::new(own.condensed(of_row, self.rows())));
        self.represented = data.represented.as_ref().map(|own| Arc::new(added_up(own, of_row, self.rows())));
        self
    }

    /// How many people the records of a row stand for, in [millionths](crate::represented); 0 if nobody says.
    pub fn represented(&self, row: usize) -> u64 {
        self.represented.as_ref().map_or(0, |own| own[row])
    }

    /// Whether it is known how many people the records stand for.
    pub fn is_weighed(&self) -> bool {
        self.represented.is_some()
    }

    /// The table without saying how many people its records stand for.
    #[must_use]
    pub fn unweighed(mut self) -> Dataset {
        self.represented = None;
        self
    }

    /// How many different persons have the records of the table.
    pub fn people(&self) -> u64 {
        self.size_of((0..self.rows()).filter(|&row| self.weights[row] > 0))
    }

    /// How many different persons have the records of some rows.
    pub fn size_of(&self, rows: impl Iterator<Item = usize>) -> u64 {
        match &self.persons {
            None => rows.map(|row| self.weights[row]).sum(),
            Some(persons) => persons.in_group(&persons.histogram(rows)),
        }
    }

    /// Some rows as models see them, population and region apart.
    pub fn summary(&self, rows: impl Iterator<Item = usize> + Clone) -> GroupSummary {
        let size = rows.clone().count();
        let histogram = |(s, column): (usize, &Sensitive)| {
            let codes = rows.clone().map(|row| (self.sensitive_codes(row)[s], self.weight(row)));
            Histogram::count_of(column.values.len(), size, codes)
        };
        let present = rows.clone().filter(|&row| self.weights[row] > 0);
        GroupSummary {
            records: rows.clone().map(|row| self.weight(row)).sum(),
            sensitive: self.sensitive.iter().enumerate().map(histogram).collect(),
            persons: self.persons.as_ref().map(|persons| persons.histogram(present)),
            represented: rows.clone().map(|row| self.represented(row)).fold(0, u64::saturating_add),
            ..GroupSummary::default()
        }
    }

    /// The table with further rows after the last: their quasi-identifier codes one after another, and how many records have
    /// each. They have no sensitive values; whoever looks at those must leave these rows out.
    #[must_use]
    pub fn extended(mut self, codes: &[u32], weights: &[u64]) -> Dataset {
        (self.persons, self.represented) = (None, None);
        let (width, sensitive) = (self.quasi.len(), self.sensitive.len());
        for (row, &records) in codes.chunks_exact(width.max(1)).zip(weights) {
            self.codes.extend_from_slice(row);
            self.codes.extend(std::iter::repeat_n(0, sensitive));
            self.weights.push(records);
            self.records += records;
        }
        self
    }

    /// The first rows of the table, on the same lines.
    #[must_use]
    pub fn first_rows(&self, rows: usize) -> Dataset {
        self.some_rows(0, rows)
    }

    /// The rows from one on, on the same lines.
    #[must_use]
    pub fn from_row(&self, row: usize) -> Dataset {
        self.some_rows(row, self.rows())
    }

    fn some_rows(&self, from: usize, to: usize) -> Dataset {
        let width = self.quasi.len() + self.sensitive.len();
        let weights = self.weights[from..to].to_vec();
        Dataset {
            quasi: self.quasi.clone(),
            sensitive: self.sensitive.clone(),
            codes: self.codes[from * width..to * width].to_vec(),
            records: weights.iter().sum(),
            weights,
            population: self.population.clone(),
            persons: None,
            represented: None,
            of_fold: Vec::new(),
        }
    }

    /// The rows of the table with other sensitive columns: for each new column its name, its values, and the value of each
    /// row.
    pub fn with_sensitive(&self, columns: Vec<(String, Vec<String>, Vec<u32>)>) -> Result<Dataset> {
        let width = self.quasi.len();
        let mut codes = Vec::with_capacity(self.rows() * (width + columns.len()));
        for row in 0..self.rows() {
            codes.extend_from_slice(self.quasi_codes(row));
            codes.extend(columns.iter().map(|(_, _, of_row)| of_row[row]));
        }
        let build = |(name, values, _): (String, Vec<String>, Vec<u32>)| {
            Sensitive::build(&name, values, None, None).map_err(|misfit| misfit.error)
        };
        let sensitive = columns.into_iter().map(build).collect::<Result<Vec<_>>>()?;
        let (quasi, weights, of_fold) = (self.quasi.clone(), self.weights.clone(), self.of_fold.clone());
        let (records, population, persons, represented) = (self.records, None, None, None);
        Ok(Dataset { quasi, sensitive, codes, weights, records, population, persons, represented, of_fold })
    }

    /// Places a population on the lines of the quasi-identifiers, for models that ask how many people a group's cells
    /// cover.
    #[must_use]
    pub fn with_population(mut self, population: Population) -> Dataset {
        self.population = Some(population);
        self
    }

    /// The population, if one was given.
    pub fn population(&self) -> Option<&Population> {
        self.population.as_ref()
    }

    /// The table with some records of some rows as rows of their own, after the last. A table with persons has no such rows.
    #[must_use]
    pub fn divided(mut self, divided: &[Divided]) -> Dataset {
        let width = self.quasi.len() + self.sensitive.len();
        if !divided.is_empty() {
            // Which of a row's records stand apart is drawn, and so is what they weigh.
            self.represented = None;
        }
        for part in divided {
            let start = part.row.index() * width;
            self.codes.extend_from_within(start..start + width);
            self.weights[part.row.index()] -= part.records;
            self.weights.push(part.records);
        }
        assert!(divided.is_empty() || self.persons.is_none(), "whose records would stand apart is not known");
        self
    }

    /// The table with other weights: 0 leaves a row out. Lines and codes stay.
    #[must_use]
    pub fn reweighted(&self, weight: impl Fn(usize) -> u64) -> Dataset {
        let weights: Vec<u64> = (0..self.rows()).map(weight).collect();
        let records = weights.iter().sum();
        let share = |row: usize| {
            let own = u128::from(self.represented(row)) * u128::from(weights[row]);
            u64::try_from(own / u128::from(self.weights[row]).max(1)).unwrap_or(u64::MAX)
        };
        let represented = self.represented.as_ref().map(|_| Arc::new((0..self.rows()).map(share).collect()));
        Dataset { weights, records, represented, ..self.clone() }
    }

    /// The quasi-identifiers.
    pub fn quasi(&self) -> &[Quasi] {
        &self.quasi
    }

    /// The sensitive columns.
    pub fn sensitive(&self) -> &[Sensitive] {
        &self.sensitive
    }

    /// The whole table as one group, published with the tightest cells that cover it.
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
        let parts = stretches(self.rows()).into_par_iter().map(|rows| self.summary(rows));
        let all = parts.reduce_with(|mut all, part| {
            all.merge(&part);
            all
        });
        GroupSummary { population, ..all.unwrap_or_else(|| self.summary(0..0)) }
    }

    /// The quasi-identifiers alone; the rows are given up.
    pub fn into_quasi(self) -> Vec<Quasi> {
        self.quasi
    }

    /// How many distinct rows there are.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// How many records the rows stand for.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many records have a row.
    #[inline]
    pub fn weight(&self, row: usize) -> u64 {
        self.weights[row]
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

/// Rows that a thread works on at a time.
const BLOCK: usize = 1 << 14;

/// All rows as a few stretches, for work that needs room of its own for each.
fn stretches(rows: usize) -> Vec<std::ops::Range<usize>> {
    let length = rows.div_ceil(rayon::current_num_threads()).max(BLOCK);
    (0..rows).step_by(length).map(|start| start..(start + length).min(rows)).collect()
}

/// What rows stand for that became others.
fn added_up(represented: &[u64], of_row: &[u32], rows: usize) -> Vec<u64> {
    let mut sums = vec![0u64; rows];
    for (&own, &row) in represented.iter().zip(of_row) {
        sums[row as usize] = sums[row as usize].saturating_add(own);
    }
    sums
}
