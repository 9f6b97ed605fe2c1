//! Growing groups, and the table, cells and models by which they are checked.

use std::cell::RefCell;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::model::BoundModel;
use incrowd_core::outlier::{Forced, Outliers};
use incrowd_core::{Code, Dataset, GroupSummary, Progress, Region};

use super::priced_column::{PricedCell, PricedColumn};

/// A group that is growing.
#[derive(Clone, Debug)]
pub(super) struct GrowingGroup {
    pub(super) rows: Vec<u32>,
    /// The published cell of each quasi-identifier.
    pub(super) cells: Vec<PricedCell>,
    pub(super) summary: GroupSummary,
}

impl GrowingGroup {
    /// Returns the loss of one record of the group.
    pub(super) fn loss(&self) -> f64 {
        self.cells.iter().map(|cell| cell.loss).sum()
    }
}

/// The table, its columns and the models.
pub(super) struct GrowthContext<'a> {
    pub(super) data: &'a Dataset,
    pub(super) columns: Vec<PricedColumn<'a>>,
    models: &'a [Box<dyn BoundModel>],
    /// The outliers of each model that defines outliers.
    outliers: Vec<&'a Outliers>,
    /// The sensitive columns that a model depends on.
    watched: Vec<usize>,
    sets: bool,
    /// A cache of cells and whether no group with them is ever admitted.
    dead: RefCell<HashMap<Box<[u32]>, bool, FixedState>>,
}

/// The greatest number of cells in the cache.
const MAX_KNOWN: usize = 1 << 20;

impl<'a> GrowthContext<'a> {
    pub(super) fn new(data: &'a Dataset, models: &'a [Box<dyn BoundModel>]) -> GrowthContext<'a> {
        let columns: Vec<PricedColumn<'a>> = data.quasi().iter().map(PricedColumn::new).collect();
        let mut watched: Vec<usize> =
            models.iter().filter_map(|model| model.sensitive_column()).collect();
        watched.sort_unstable();
        watched.dedup();
        let outliers = models.iter().filter_map(|model| model.outliers()).collect();
        let sets = columns.iter().any(PricedColumn::publishes_sets);
        GrowthContext { data, columns, models, outliers, watched, sets, dead: RefCell::default() }
    }

    /// Returns the number of records that must be suppressed, if a model defines outliers.
    pub(super) fn forced(&self, progress: &dyn Progress) -> Option<Forced> {
        if !self.outliers.is_empty() {
            progress.step("looking for outliers", None);
        }
        let known =
            self.models.iter().filter_map(|m| m.outliers().map(|o| (o, m.checks_corners())));
        Forced::of(&known.collect::<Vec<_>>(), self.data)
    }

    /// Returns the outliers of the models.
    pub(super) fn outliers(&self) -> &[&'a Outliers] {
        &self.outliers
    }

    /// Returns whether a row is an outlier of some model. With `global`, only by its sensitive
    /// value.
    pub(super) fn is_outlier(&self, row: u32, global: bool) -> bool {
        use incrowd_core::outlier::Standing;
        let row = row as usize;
        self.outliers
            .iter()
            .any(|o| o.is_global_row(row) || !global && o.standing(row) != Standing::Ordinary)
    }

    /// Returns the least number of records or values of a group.
    pub(super) fn least(&self) -> u64 {
        self.models
            .iter()
            .map(|model| {
                let least = model.least_records().or(model.least_persons()).unwrap_or(1);
                least.max(model.least_values())
            })
            .max()
            .unwrap_or(1)
    }

    pub(super) fn single(&self, row: u32) -> GrowingGroup {
        let codes = self.data.quasi_codes(row as usize);
        let cells =
            self.columns.iter().zip(codes).map(|(column, &code)| column.cell(code, code)).collect();
        let mut summary = GroupSummary::empty(self.data.sensitive().len());
        summary.add_row(self.data, row as usize);
        GrowingGroup { rows: vec![row], cells, summary }
    }

    /// Returns the cells of a group that also contains a row with these codes.
    pub(super) fn cells_with(&self, cells: &[PricedCell], codes: &[u32]) -> Vec<PricedCell> {
        self.columns
            .iter()
            .zip(cells)
            .zip(codes)
            .map(|((column, &cell), &code)| column.with(cell, code))
            .collect()
    }

    pub(super) fn add(&self, group: &mut GrowingGroup, row: u32) {
        let row_index = row as usize;
        group.cells = self.cells_with(&group.cells, self.data.quasi_codes(row_index));
        group.summary.add_row(self.data, row_index);
        group.rows.push(row);
    }

    /// Computes the group of these rows.
    pub(super) fn group(&self, rows: &[u32]) -> Option<GrowingGroup> {
        let (&first, rest) = rows.split_first()?;
        let mut group = self.single(first);
        rest.iter().for_each(|&row| self.add(&mut group, row));
        Some(group)
    }

    pub(super) fn merged(&self, a: &GrowingGroup, b: &GrowingGroup) -> GrowingGroup {
        let cells = self.columns.iter().zip(&a.cells).zip(&b.cells);
        let cells = cells.map(|((column, &a), &b)| column.union(a, b)).collect();
        let mut summary = a.summary.clone();
        summary.merge(&b.summary);
        GrowingGroup { rows: [a.rows.as_slice(), &b.rows].concat(), cells, summary }
    }

    /// Returns whether one more row might give the group as many values as every model requires.
    pub(super) fn may_complete(&self, group: &GrowingGroup) -> bool {
        self.models.iter().all(|model| {
            let values = model
                .sensitive_column()
                .map(|column| group.summary.sensitive[column].entries().len() as u64);
            values.is_none_or(|values| values + 1 >= model.least_values())
        })
    }

    /// Returns whether a row has a value of a watched column that the group lacks.
    pub(super) fn is_new(&self, group: &GrowingGroup, row: u32) -> bool {
        let codes = self.data.sensitive_codes(row as usize);
        self.watched.iter().any(|&column| group.summary.sensitive[column].get(codes[column]) == 0)
    }

    /// Returns whether two rows have the same values in all watched columns.
    pub(super) fn same_values(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.data.sensitive_codes(a as usize), self.data.sensitive_codes(b as usize));
        self.watched.iter().all(|&column| a[column] == b[column])
    }

    fn region(&self, cells: &[PricedCell], rows: &[u32]) -> Region {
        let extent = |(q, column): (usize, &PricedColumn<'_>)| {
            let mut values: Vec<Code> = Vec::new();
            if column.publishes_sets() {
                values.extend(rows.iter().map(|&row| Code(self.data.quasi_codes(row as usize)[q])));
                values.sort_unstable();
                values.dedup();
            }
            column.extent(cells[q], &values)
        };
        Region { extents: self.columns.iter().enumerate().map(extent).collect() }
    }

    /// Returns whether no group with these cells is ever admitted, for example because all people
    /// at a corner are outliers with any value.
    pub(super) fn is_dead(&self, cells: &[PricedCell]) -> bool {
        if self.outliers.is_empty() {
            return false;
        }
        let key: Box<[u32]> = cells.iter().flat_map(|cell| [cell.lo, cell.hi]).collect();
        if let Some(&dead) = self.dead.borrow().get(&key) {
            return dead;
        }
        let region = self.region(cells, &[]);
        let dead = self.models.iter().any(|model| model.hopeless(&region));
        let mut known = self.dead.borrow_mut();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(key, dead);
        dead
    }

    /// Returns whether every model admits the group.
    pub(super) fn admits(&self, group: &GrowingGroup) -> bool {
        self.all_admit(&group.summary, &group.cells, &group.rows)
    }

    /// Returns whether every model admits the group with one more row, which widens its cells to
    /// these.
    pub(super) fn admits_with(&self, group: &GrowingGroup, row: u32, cells: &[PricedCell]) -> bool {
        let mut summary = group.summary.clone();
        summary.add_row(self.data, row as usize);
        if self.sets {
            let rows = [group.rows.as_slice(), &[row]].concat();
            return self.all_admit(&summary, cells, &rows);
        }
        self.all_admit(&summary, cells, &[])
    }

    fn all_admit(&self, summary: &GroupSummary, cells: &[PricedCell], rows: &[u32]) -> bool {
        let enough = |model: &dyn BoundModel| {
            let values = model
                .sensitive_column()
                .map_or(u64::MAX, |column| summary.sensitive[column].entries().len() as u64);
            values >= model.least_values() && summary.records >= model.least_records().unwrap_or(0)
        };
        if !self.models.iter().all(|model| enough(&**model)) {
            return false;
        }
        if self.outliers.is_empty() {
            return self.models.iter().all(|model| model.admits(summary).holds);
        }
        let summary = GroupSummary { region: Some(self.region(cells, rows)), ..summary.clone() };
        self.models.iter().all(|model| model.admits(&summary).holds)
    }

    /// Returns a key of a group's cells. A reader sees groups with equal keys as one group.
    pub(super) fn cell_key(&self, group: &GrowingGroup) -> Vec<Vec<u32>> {
        let codes = |(q, cell): (usize, &PricedCell)| {
            if !self.columns[q].publishes_sets() {
                return vec![cell.lo, cell.hi];
            }
            let mut set: Vec<u32> =
                group.rows.iter().map(|&row| self.data.quasi_codes(row as usize)[q]).collect();
            set.sort_unstable();
            set.dedup();
            set
        };
        group.cells.iter().enumerate().map(codes).collect()
    }
}
