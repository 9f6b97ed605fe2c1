//! A group that rows join and leave while the loss is lowered, with its cells, its summary and its price kept up to date.

use incrowd_core::GroupSummary;

use super::climb::ModelCheck;
use super::shape::Shapes;

/// A group of rows.
#[derive(Clone, Debug)]
pub(super) struct MovableGroup {
    pub(super) rows: Vec<u32>,
    pub(super) shape: Vec<u32>,
    summary: GroupSummary,
    /// What one of its records costs.
    pub(super) price: f32,
}

impl MovableGroup {
    pub(super) fn new(check: &ModelCheck<'_>, shapes: &Shapes<'_>, rows: Vec<u32>) -> MovableGroup {
        let shape = shapes.of(rows.iter().copied());
        let price = if rows.is_empty() { 0.0 } else { shapes.price(&shape) };
        MovableGroup { summary: check.summary(&rows), rows, shape, price }
    }

    pub(super) fn records(&self) -> u64 {
        self.summary.records
    }

    /// What all its records cost.
    pub(super) fn cost(&self) -> f32 {
        self.records() as f32 * self.price
    }

    /// What it would cost more with a row of so many records, unless that is more than `most`.
    pub(super) fn dearer_with(&self, shapes: &Shapes<'_>, row: u32, weight: u64, most: f32) -> Option<f32> {
        let records = (self.records() + weight) as f32;
        let price = shapes.price_with(&self.shape, row, (most + self.cost()) / records)?;
        Some(records * price - self.cost())
    }

    /// What it would cost less without the row at this place.
    pub(super) fn cheaper_without(&self, check: &ModelCheck<'_>, shapes: &Shapes<'_>, at: usize) -> f32 {
        let others = self.rows.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &row)| row);
        let records = self.records() - check.data.weight(self.rows[at] as usize);
        self.cost() - records as f32 * shapes.price(&shapes.of(others))
    }

    /// Whether the models admit it with a row.
    pub(super) fn takes(&self, check: &ModelCheck<'_>, row: u32) -> bool {
        if check.only_grows() {
            return true;
        }
        let mut summary = self.summary.clone();
        check.count(&mut summary, row);
        check.admits_summary(summary, || self.rows.iter().copied().chain([row]).collect())
    }

    /// Whether the models admit it without the row at this place.
    pub(super) fn spares(&self, check: &ModelCheck<'_>, at: usize) -> bool {
        let row = self.rows[at];
        if self.rows.len() == 1 || self.records() < check.least + check.data.weight(row as usize) {
            return false;
        }
        if check.only_counts() {
            return true;
        }
        let mut summary = self.summary.clone();
        summary.remove(&check.summary(&[row]));
        let others = || self.rows.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &row)| row).collect();
        check.admits_summary(summary, others)
    }

    pub(super) fn push(&mut self, check: &ModelCheck<'_>, shapes: &Shapes<'_>, row: u32) {
        self.rows.push(row);
        shapes.cover(&mut self.shape, row);
        check.count(&mut self.summary, row);
        self.price = shapes.price(&self.shape);
    }

    pub(super) fn remove(&mut self, check: &ModelCheck<'_>, shapes: &Shapes<'_>, at: usize) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.remove(at);
        *self = MovableGroup::new(check, shapes, rows);
    }
}
