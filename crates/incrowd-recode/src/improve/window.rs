//! Moves within a window of neighbouring groups: a row moves to another group, or all rows of a
//! group do.

use super::LEAST_GAIN;
use super::check::ModelCheck;
use super::edges::Edges;
use super::group_costs::GroupCosts;
use super::movable::MovableGroup;
use super::shape::Shapes;

/// The greatest number of rounds within a window.
const ROUNDS: usize = 4;

/// Neighbouring groups.
pub(super) struct Window<'w, 'a> {
    check: &'w ModelCheck<'a>,
    shapes: &'w Shapes<'w>,
    groups: Vec<MovableGroup<'a>>,
    /// The shapes and costs of the same groups.
    costs: GroupCosts,
    /// By group, the round in which it was changed last.
    changed: Vec<usize>,
    comparisons: u64,
}

impl<'w, 'a> Window<'w, 'a> {
    pub(super) fn new(
        check: &'w ModelCheck<'a>,
        shapes: &'w Shapes<'w>,
        groups: Vec<Vec<u32>>,
    ) -> Self {
        let groups: Vec<MovableGroup<'a>> =
            groups.into_iter().map(|rows| MovableGroup::new(check, shapes, rows)).collect();
        let costs = GroupCosts::new(&groups, shapes.words);
        Window { check, shapes, changed: vec![0; groups.len()], groups, costs, comparisons: 0 }
    }

    /// Moves rows until no move lowers the loss. Returns the groups and the number of comparisons.
    pub(super) fn improve(mut self) -> (Vec<Vec<u32>>, u64) {
        for round in 1..=ROUNDS {
            self.relocate(round);
            self.dissolve(round);
            if !self.changed.contains(&round) {
                break;
            }
        }
        let rows = self.groups.into_iter().map(|group| group.rows);
        (rows.filter(|rows| !rows.is_empty()).collect(), self.comparisons)
    }

    /// Returns whether a move between these two groups may lower the loss. If neither has changed
    /// since the previous round, the move was already rejected.
    fn may_gain(&self, from: usize, to: usize, round: usize) -> bool {
        self.changed[from] + 1 >= round || self.changed[to] + 1 >= round
    }

    /// Returns the group other than `from` with the smallest increase of the loss if the row joins
    /// it, if that is less than `limit`.
    fn nearest(&mut self, from: usize, row: u32, limit: f32, round: usize) -> Option<(f32, usize)> {
        let count = self.check.data.weight(row as usize);
        let codes = self.check.data.quasi_codes(row as usize);
        let mut best: Option<(f32, usize)> = None;
        let mut comparisons = 0;
        for (to, (group, shape)) in self.costs.iter().enumerate() {
            if to == from || group.records == 0 || !self.may_gain(from, to, round) {
                continue;
            }
            comparisons += 1;
            let limit = best.map_or(limit, |best| best.0);
            if let Some(extra) = self.shapes.extra_cost(group, shape, (codes, count), limit)
                && extra < limit
                && self.groups[to].admits_with(self.check, row)
            {
                best = Some((extra, to));
            }
        }
        self.comparisons += comparisons;
        best
    }

    /// Moves rows to groups in which they cost less.
    fn relocate(&mut self, round: usize) {
        let mut edges = Edges::default();
        for from in 0..self.groups.len() {
            let mut at = 0;
            let mut stale = true;
            while at < self.groups[from].rows.len() && self.groups[from].price > 0.0 {
                let group = &self.groups[from];
                let row = group.rows[at];
                at += 1;
                if !group.admits_without(self.check, at - 1) {
                    continue;
                }
                if std::mem::take(&mut stale) {
                    self.shapes.edges(&mut edges, &group.rows);
                }
                let records = group.records() - self.check.data.weight(row as usize);
                let rest = records as f32 * self.shapes.price_without(&edges, &group.shape, row);
                let saved = group.cost() - rest - LEAST_GAIN;
                if saved <= 0.0 {
                    continue;
                }
                if let Some((_, to)) = self.nearest(from, row, saved, round) {
                    at -= 1;
                    self.groups[from].remove(self.check, self.shapes, at, &mut edges);
                    self.groups[to].push(self.check, self.shapes, row);
                    self.costs.update(from, &self.groups[from]);
                    self.costs.update(to, &self.groups[to]);
                    (self.changed[from], self.changed[to]) = (round, round);
                }
            }
        }
    }

    /// Dissolves groups whose rows cost less in other groups.
    fn dissolve(&mut self, round: usize) {
        for from in 0..self.groups.len() {
            let have = self.groups[from].cost() - LEAST_GAIN;
            if have <= 0.0 || self.changed[from] + 1 < round {
                continue;
            }
            let mut left = have;
            let mut before: Vec<(usize, Vec<u32>, f32, usize)> = Vec::new();
            for row in self.groups[from].rows.clone() {
                let Some((extra, to)) = self.nearest(from, row, left, round) else { break };
                left -= extra;
                let group = &mut self.groups[to];
                before.push((to, group.shape.clone(), group.price, self.changed[to]));
                group.push(self.check, self.shapes, row);
                self.costs.update(to, group);
                self.changed[to] = round;
            }
            if before.len() == self.groups[from].rows.len() {
                self.groups[from] = MovableGroup::new(self.check, self.shapes, Vec::new());
                self.costs.update(from, &self.groups[from]);
                self.changed[from] = round;
            } else {
                for (to, shape, price, changed) in before.into_iter().rev() {
                    self.groups[to].undo_push(self.check, shape, price);
                    self.costs.update(to, &self.groups[to]);
                    self.changed[to] = changed;
                }
            }
        }
    }
}
