//! A group that rows join and leave. Its shape, its price and the state of the models are kept up
//! to date.

use super::check::ModelCheck;
use super::edges::Edges;
use super::group_costs::GroupCost;
use super::group_state::GroupState;
use super::shape::Shapes;

/// A group of rows.
#[derive(Debug)]
pub(crate) struct MovableGroup<'a> {
    pub(crate) rows: Vec<u32>,
    pub(crate) shape: Vec<u32>,
    pub(crate) state: GroupState<'a>,
    /// The loss per record.
    pub(crate) price: f32,
}

impl<'a> MovableGroup<'a> {
    pub(crate) fn new(
        check: &ModelCheck<'a>,
        shapes: &Shapes<'_>,
        rows: Vec<u32>,
    ) -> MovableGroup<'a> {
        let shape = shapes.of(rows.iter().copied());
        let price = if rows.is_empty() { 0.0 } else { shapes.price(&shape) };
        let mut state = GroupState::new(check);
        rows.iter().for_each(|&row| state.add(check, row));
        MovableGroup { rows, shape, state, price }
    }

    pub(crate) fn records(&self) -> u64 {
        self.state.records()
    }

    /// Returns the loss of all its records.
    pub(crate) fn cost(&self) -> f32 {
        self.records() as f32 * self.price
    }

    /// Returns the increase of the loss if a row with `count` records joins, or `None` if it
    /// exceeds `limit`.
    pub(crate) fn extra_cost_with(
        &self,
        shapes: &Shapes<'_>,
        row: u32,
        count: u64,
        limit: f32,
    ) -> Option<f32> {
        let group = GroupCost { records: self.records(), price: self.price, cost: self.cost() };
        shapes.extra_cost(group, &self.shape, (shapes.codes(row), count), limit)
    }

    /// Returns whether the models admit the group with one more row.
    pub(crate) fn admits_with(&self, check: &ModelCheck<'a>, row: u32) -> bool {
        check.needs_only_counts() || self.state.admits_with(check, &self.rows, row)
    }

    /// Returns whether the models admit the group without the row at `at`.
    pub(crate) fn admits_without(&self, check: &ModelCheck<'a>, at: usize) -> bool {
        self.state.admits_without(check, &self.rows, at)
    }

    /// Returns whether the models admit the group.
    pub(crate) fn is_admitted(&self, check: &ModelCheck<'a>) -> bool {
        self.state.admits(check, &self.rows)
    }

    pub(crate) fn push(&mut self, check: &ModelCheck<'a>, shapes: &Shapes<'_>, row: u32) {
        self.rows.push(row);
        shapes.cover(&mut self.shape, row);
        self.state.add(check, row);
        self.price = shapes.price(&self.shape);
    }

    /// Adds all rows of another group.
    pub(crate) fn absorb(
        &mut self,
        check: &ModelCheck<'a>,
        shapes: &Shapes<'_>,
        other: MovableGroup<'a>,
    ) {
        other.rows.iter().for_each(|&row| self.state.add(check, row));
        self.rows.extend(other.rows);
        shapes.unite(&mut self.shape, &other.shape);
        self.price = shapes.price(&self.shape);
    }

    /// Removes the last row. `shape` and `price` must be those before it was added.
    pub(crate) fn undo_push(&mut self, check: &ModelCheck<'a>, shape: Vec<u32>, price: f32) {
        if let Some(row) = self.rows.pop() {
            self.state.remove(check, row);
        }
        (self.shape, self.price) = (shape, price);
    }

    /// Removes the row at `at`. The group must have at least two rows. `edges` must be those of all
    /// rows and are updated.
    pub(super) fn remove(
        &mut self,
        check: &ModelCheck<'a>,
        shapes: &Shapes<'_>,
        at: usize,
        edges: &mut Edges,
    ) {
        let row = self.rows.remove(at);
        self.state.remove(check, row);
        shapes.leave(edges, &mut self.shape, &self.rows, row);
        self.price = shapes.price(&self.shape);
    }
}
