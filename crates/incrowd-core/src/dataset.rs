//! What algorithms see: codes and multiplicities, never records.

use std::sync::Arc;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::canonical::canonical;
use crate::domain::{Domain, Misfit};
use crate::error::Result;
use crate::folded::{Folded, FoldedColumn, MISSING};
use crate::group::{GroupSummary, Histogram};
use crate::hierarchy::HierarchySpec;
use crate::index::{Code, RowId};
use crate::partition::{Divided, Span};
use crate::person::Persons;
use crate::population::{Population, PublishedCell};
use crate::schema::{ColumnSpec, Labels, SensitiveSpec};
pub use crate::sensitive::Sensitive;

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

/// Distinct rows of quasi-identifier and sensitive codes with multiplicities. Rows come in the order of their codes, so that
/// nothing made of them depends on the order in which records were read; [`Dataset::row_of_fold`] leads back to the
/// [`Folded`] table.
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

/// A column that could not be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError {
    /// The column's position in the folded table.
    pub column: usize,
    /// What did not fit.
    pub misfit: Misfit,
}

impl Dataset {
    /// Encodes a folded table whose columns are the quasi-identifiers, in the order of `quasi`, followed by the
    /// sensitive columns, in the order of `sensitive`. `missing` is the text under which kept missing values are
    /// published.
    pub fn encode(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
    ) -> Result<Dataset, EncodeError> {
        Dataset::encode_beside(folded, quasi, sensitive, missing, &[]).map(|(data, _)| data)
    }

    /// The row that a row of the fold became. There is none if the table was not encoded from a fold, or is a part of one
    /// that was.
    pub fn row_of_fold(&self, row: u32) -> Option<RowId> {
        self.of_fold.get(row as usize).copied().map(RowId)
    }

    /// The same on lines that also hold the values of another table: `others` are its columns for the quasi-identifiers, or
    /// nothing; an empty text is no value. Returns where on the lines each of its codes lies. A value of the other table
    /// that does not fit is reported with a code beyond those of the table's own column.
    pub fn encode_beside(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
        others: &[FoldedColumn],
    ) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
        let mut folded = folded;
        let persons = take_persons(&mut folded);
        let represented = folded.represented.take();
        let (mut data, places) = Dataset::encode_as_folded(folded, quasi, sensitive, missing, others)?;
        let folded_weights = if persons.is_some() { data.weights.clone() } else { Vec::new() };
        let sizes = data.quasi.iter().map(|quasi| quasi.domain.leaves());
        let sizes = sizes.chain(data.sensitive.iter().map(|column| column.values.len() as u32));
        let rows = canonical(data.codes, data.weights, &sizes.collect::<Vec<u32>>());
        (data.codes, data.weights, data.of_fold) = (rows.codes, rows.weights, rows.of_fold);
        if let Some(persons) = persons {
            let persons = in_new_rows(&persons, &folded_weights, &data.of_fold, &data.weights);
            data.set_persons(&persons);
        }
        if let Some(represented) = represented {
            data.represented = Some(Arc::new(added_up(&represented, &data.of_fold, data.rows())));
        }
        Ok((data, places))
    }

    /// The same with the rows in the order of the fold.
    fn encode_as_folded(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
        others: &[FoldedColumn],
    ) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
        let width = folded.columns.len();
        let mut places: Vec<Vec<Code>> = Vec::with_capacity(others.len());
        // A text that occurs only in records left out for a missing value must leave no trace in any domain.
        let sizes: Vec<usize> = folded.columns.iter().map(|column| column.texts.len()).collect();
        let mut used = used_codes(&folded.codes, &sizes);
        for (used, line) in used.iter_mut().zip(folded.lines.iter().flatten()) {
            used.iter_mut().zip(line).for_each(|(used, &on_line)| *used |= on_line);
        }
        let mut lines = Vec::new();
        let (specs, mut sensitive) = (sensitive, Vec::new());
        let mut maps: Vec<Vec<Code>> = Vec::with_capacity(width);
        for (i, column) in folded.columns.iter().enumerate() {
            let has_missing = used[i][MISSING as usize];
            let mut map = vec![Code(0); column.texts.len()];
            if let Some(spec) = quasi.get(i) {
                used[i][MISSING as usize] = true;
                let mut old: Vec<u32> =
                    (0..column.texts.len() as u32).filter(|&code| used[i][code as usize]).collect();
                let mut texts: Vec<String> =
                    old.iter().map(|&code| column.texts[code as usize].clone()).collect();
                let beyond = others.get(i).map(|other| beside(&mut texts, &mut old, column, other));
                let mut kept = FoldedColumn { name: column.name.clone(), texts };
                crate::spelling::unify(&mut kept, spec).map_err(|mut misfit| {
                    misfit.code = misfit.code.map(|code| old[code as usize]);
                    EncodeError { column: i, misfit }
                })?;
                let counts = matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_))).then(|| {
                    let mut counts = vec![0; column.texts.len()];
                    let codes = folded.codes.iter().skip(i).step_by(width);
                    codes.zip(&folded.weights).for_each(|(&code, n)| counts[code as usize] += n);
                    old.iter().map(|&code| counts[code as usize]).collect::<Vec<u64>>()
                });
                let missing = has_missing.then_some(missing);
                let built = Domain::build_counted(&kept, spec, missing, counts.as_deref());
                let (domain, codes) = built.map_err(|mut misfit| {
                    misfit.code = misfit.code.map(|code| old[code as usize]);
                    EncodeError { column: i, misfit }
                })?;
                if let Some(beyond) = beyond {
                    places.push(beyond.into_iter().map(|at| codes[at as usize]).collect());
                }
                for (&old, code) in old.iter().zip(codes) {
                    if let Some(place) = map.get_mut(old as usize) {
                        *place = code;
                    }
                }
                let (name, counts) = (column.name.clone(), Arc::default());
                lines.push(Quasi { name, domain, leaf_depth: 0, counts, weight: spec.weight() });
            } else {
                let mut order: Vec<usize> = (0..column.texts.len()).filter(|&code| used[i][code]).collect();
                order.sort_by(|&a, &b| column.texts[a].cmp(&column.texts[b]));
                // Two codes may have one text, as when values are published as their categories.
                let same =
                    |a: usize, b: usize| a.min(b) != MISSING as usize && column.texts[a] == column.texts[b];
                let mut first: Vec<usize> = Vec::with_capacity(order.len());
                for &text in &order {
                    if !first.last().is_some_and(|&last| same(last, text)) {
                        first.push(text);
                    }
                    map[text] = Code(first.len() as u32 - 1);
                }
                let values = first.iter().map(|&text| column.texts[text].clone()).collect();
                let missing = has_missing.then(|| map[MISSING as usize].0);
                let spec = specs.get(i - quasi.len()).copied();
                let built = Sensitive::build(&column.name, values, missing, spec);
                sensitive.push(built.map_err(|mut misfit| {
                    misfit.code = misfit.code.map(|code| first[code as usize] as u32);
                    EncodeError { column: i, misfit }
                })?);
            }
            maps.push(map);
        }
        let records = folded.records();
        let mut codes = folded.codes;
        codes.par_chunks_mut(BLOCK * width.max(1)).for_each(|block| {
            for row in block.chunks_exact_mut(width.max(1)) {
                for (code, map) in row.iter_mut().zip(&maps) {
                    *code = map[*code as usize].0;
                }
            }
        });
        let weights = folded.weights;
        let (population, persons, of_fold, represented) = (None, None, Vec::new(), None);
        let mut data = Dataset {
            quasi: lines,
            sensitive,
            codes,
            weights,
            records,
            population,
            persons,
            represented,
            of_fold,
        };
        data.count_leaves();
        Ok((data, places))
    }

    /// How many records have each leaf, and how many steps their values lie below the roots.
    fn count_leaves(&mut self) {
        for (q, counts) in self.all_leaf_counts().into_iter().enumerate() {
            let line = &mut self.quasi[q];
            let depth = |leaf: usize| line.domain.level_depth(Code(leaf as u32), 0) as u64;
            line.leaf_depth = counts.iter().enumerate().map(|(leaf, n)| n * depth(leaf)).sum();
            line.counts = Arc::new(counts);
        }
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

    /// A release as its reader has it: every quasi-identifier is plain text. The first `quasi` columns are
    /// quasi-identifiers, the others sensitive. Rows stay in the order of the fold, because whoever judges a release reads its
    /// texts beside them. Fails only if a sensitive value is not what `sensitive` says it is.
    pub fn of_release(
        folded: Folded,
        quasi: usize,
        sensitive: &[&SensitiveSpec],
    ) -> Result<Dataset, EncodeError> {
        let text =
            ColumnSpec { kind: Some(crate::Kind::Text), labels: Labels::Star, ..ColumnSpec::default() };
        // A null is not an empty text: it gets a label no cell can have.
        let mut folded = folded;
        let persons = take_persons(&mut folded);
        let represented = folded.represented.take();
        let encoded = Dataset::encode_as_folded(folded, &vec![&text; quasi], sensitive, "\u{0}", &[]);
        encoded.map(|(mut data, _)| {
            data.represented = represented.map(Arc::new);
            if let Some(persons) = persons {
                data.set_persons(&persons);
            }
            data
        })
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

/// Which codes of each column occur; `sizes` says how many there are.
fn used_codes(codes: &[u32], sizes: &[usize]) -> Vec<Vec<bool>> {
    let none = || sizes.iter().map(|&size| vec![false; size]).collect::<Vec<Vec<bool>>>();
    let width = sizes.len().max(1);
    let look = |rows: std::ops::Range<usize>| {
        let mut used = none();
        for row in codes[rows.start * width..rows.end * width].chunks_exact(width) {
            used.iter_mut().zip(row).for_each(|(used, &code)| used[code as usize] = true);
        }
        used
    };
    let join = |mut all: Vec<Vec<bool>>, more: Vec<Vec<bool>>| {
        for (all, more) in all.iter_mut().zip(more) {
            all.iter_mut().zip(more).for_each(|(all, own)| *all |= own);
        }
        all
    };
    stretches(codes.len() / width).into_par_iter().map(look).reduce_with(join).unwrap_or_else(none)
}

/// What rows stand for that became others.
fn added_up(represented: &[u64], of_row: &[u32], rows: usize) -> Vec<u64> {
    let mut sums = vec![0u64; rows];
    for (&own, &row) in represented.iter().zip(of_row) {
        sums[row as usize] = sums[row as usize].saturating_add(own);
    }
    sums
}

/// The person of each record, if somebody has several.
fn take_persons(folded: &mut Folded) -> Option<Vec<u32>> {
    folded.persons.take().filter(|persons| persons.repeated).map(|persons| persons.codes)
}

/// The persons of records whose rows became others: `of_fold` says which, `weights` how many records those have.
fn in_new_rows(persons: &[u32], folded: &[u64], of_fold: &[u32], weights: &[u64]) -> Vec<u32> {
    let mut next = Vec::with_capacity(weights.len());
    let mut start = 0;
    for &records in weights {
        next.push(start);
        start += records as usize;
    }
    let (mut moved, mut at) = (vec![0; persons.len()], 0);
    for (&row, &records) in of_fold.iter().zip(folded) {
        let own = &persons[at..at + records as usize];
        let to = &mut next[row as usize];
        moved[*to..*to + own.len()].copy_from_slice(own);
        (*to, at) = (*to + own.len(), at + own.len());
    }
    moved
}

/// Adds the values of another table's column that the texts lack; their codes begin after those of `column`. Returns for each
/// code of the other column its position among the texts.
fn beside(
    texts: &mut Vec<String>,
    old: &mut Vec<u32>,
    column: &FoldedColumn,
    other: &FoldedColumn,
) -> Vec<u32> {
    let own = column.texts.len() as u32;
    let mut known: HashMap<&str, u32> =
        texts.iter().enumerate().skip(1).map(|(at, text)| (text.as_str(), at as u32)).collect();
    let mut fresh: Vec<String> = Vec::new();
    let first = texts.len() as u32;
    let mut at = vec![0u32];
    for (code, text) in other.texts.iter().enumerate().skip(1) {
        if text.is_empty() {
            at.push(0);
            continue;
        }
        let place = *known.entry(text).or_insert_with(|| {
            fresh.push(text.clone());
            old.push(own + code as u32);
            first + fresh.len() as u32 - 1
        });
        at.push(place);
    }
    drop(known);
    texts.append(&mut fresh);
    at
}
