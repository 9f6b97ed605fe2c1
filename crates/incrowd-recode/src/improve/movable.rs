//! A group that rows join and leave while the loss is lowered, with its cells, its price and what the models know of it kept up
//! to date.

use super::check::ModelCheck;
use super::edges::Edges;
use super::faces::Face;
use super::judge::Judge;
use super::shape::Shapes;

/// A group of rows.
#[derive(Debug)]
pub(crate) struct MovableGroup<'a> {
    pub(crate) rows: Vec<u32>,
    pub(crate) shape: Vec<u32>,
    pub(crate) judge: Judge<'a>,
    /// What one of its records costs.
    pub(crate) price: f32,
}

impl<'a> MovableGroup<'a> {
    pub(crate) fn new(check: &ModelCheck<'a>, shapes: &Shapes<'_>, rows: Vec<u32>) -> MovableGroup<'a> {
        let shape = shapes.of(rows.iter().copied());
        let price = if rows.is_empty() { 0.0 } else { shapes.price(&shape) };
        let mut judge = Judge::new(check);
        rows.iter().for_each(|&row| judge.add(check, row));
        MovableGroup { rows, shape, judge, price }
    }

    pub(crate) fn records(&self) -> u64 {
        self.judge.records()
    }

    /// What all its records cost.
    pub(crate) fn cost(&self) -> f32 {
        self.records() as f32 * self.price
    }

    /// What it would cost more with a row of so many records, unless that is more than `most`.
    pub(crate) fn dearer_with(&self, shapes: &Shapes<'_>, row: u32, weight: u64, most: f32) -> Option<f32> {
        let face = Face { records: self.records(), price: self.price, cost: self.cost() };
        shapes.dearer(face, &self.shape, (shapes.codes(row), weight), most)
    }

    /// Whether the models admit it with a row.
    pub(crate) fn takes(&self, check: &ModelCheck<'a>, row: u32) -> bool {
        check.only_grows() || self.judge.admits_with(check, &self.rows, row)
    }

    /// Whether the models admit it without the row at this place.
    pub(crate) fn spares(&self, check: &ModelCheck<'a>, at: usize) -> bool {
        self.judge.admits_without(check, &self.rows, at)
    }

    /// Whether the models admit it.
    pub(crate) fn is_admitted(&self, check: &ModelCheck<'a>) -> bool {
        self.judge.admits(check, &self.rows)
    }

    pub(crate) fn push(&mut self, check: &ModelCheck<'a>, shapes: &Shapes<'_>, row: u32) {
        self.rows.push(row);
        shapes.cover(&mut self.shape, row);
        self.judge.add(check, row);
        self.price = shapes.price(&self.shape);
    }

    /// Takes all rows of another group.
    pub(crate) fn absorb(&mut self, check: &ModelCheck<'a>, shapes: &Shapes<'_>, other: MovableGroup<'a>) {
        other.rows.iter().for_each(|&row| self.judge.add(check, row));
        self.rows.extend(other.rows);
        shapes.unite(&mut self.shape, &other.shape);
        self.price = shapes.price(&self.shape);
    }

    /// Takes away the row that came last; the cells and the price are those before it came.
    pub(crate) fn undo_push(&mut self, check: &ModelCheck<'a>, shape: Vec<u32>, price: f32) {
        if let Some(row) = self.rows.pop() {
            self.judge.remove(check, row);
        }
        (self.shape, self.price) = (shape, price);
    }

    /// Takes away the row at this place, of at least two; `edges` are those of all rows, then of the others.
    pub(super) fn remove(
        &mut self,
        check: &ModelCheck<'a>,
        shapes: &Shapes<'_>,
        at: usize,
        edges: &mut Edges,
    ) {
        let row = self.rows.remove(at);
        self.judge.remove(check, row);
        shapes.leave(edges, &mut self.shape, &self.rows, row);
        self.price = shapes.price(&self.shape);
    }
}
