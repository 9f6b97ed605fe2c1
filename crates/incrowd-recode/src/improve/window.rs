//! Moves between groups that stand near each other: a row goes over to another group, or all rows of a group do.

use super::LEAST_GAIN;
use super::check::ModelCheck;
use super::edges::Edges;
use super::faces::Faces;
use super::movable::MovableGroup;
use super::shape::Shapes;

/// Rows move at most so many times round in a window before other windows are made.
const ROUNDS: usize = 4;

/// Groups that stand near each other, and when each was last changed.
pub(super) struct Window<'w, 'a> {
    check: &'w ModelCheck<'a>,
    shapes: &'w Shapes<'w>,
    groups: Vec<MovableGroup<'a>>,
    /// The same groups, as rows see them.
    faces: Faces,
    changed: Vec<usize>,
    looks: u64,
}

impl<'w, 'a> Window<'w, 'a> {
    pub(super) fn new(check: &'w ModelCheck<'a>, shapes: &'w Shapes<'w>, groups: Vec<Vec<u32>>) -> Self {
        let groups: Vec<MovableGroup<'a>> =
            groups.into_iter().map(|rows| MovableGroup::new(check, shapes, rows)).collect();
        let faces = Faces::new(&groups, shapes.words);
        Window { check, shapes, changed: vec![0; groups.len()], groups, faces, looks: 0 }
    }

    /// Moves rows until no move is a gain; the groups, and how many looks it took.
    pub(super) fn improve(mut self) -> (Vec<Vec<u32>>, u64) {
        for round in 1..=ROUNDS {
            self.relocate(round);
            self.dissolve(round);
            if !self.changed.contains(&round) {
                break;
            }
        }
        let rows = self.groups.into_iter().map(|group| group.rows);
        (rows.filter(|rows| !rows.is_empty()).collect(), self.looks)
    }

    /// Whether a move between these two may be a gain now that was none before.
    fn is_news(&self, from: usize, to: usize, round: usize) -> bool {
        self.changed[from] + 1 >= round || self.changed[to] + 1 >= round
    }

    /// The group other than `from` that takes the row for least, if that is less than `limit`.
    fn nearest(&mut self, from: usize, row: u32, limit: f32, round: usize) -> Option<(f32, usize)> {
        let weight = self.check.data.weight(row as usize);
        let codes = self.check.data.quasi_codes(row as usize);
        let mut best: Option<(f32, usize)> = None;
        let mut looks = 0;
        for (to, (face, shape)) in self.faces.iter().enumerate() {
            if to == from || face.records == 0 || !self.is_news(from, to, round) {
                continue;
            }
            looks += 1;
            let most = best.map_or(limit, |best| best.0);
            if let Some(dearer) = self.shapes.dearer(face, shape, (codes, weight), most)
                && dearer < most
                && self.groups[to].takes(self.check, row)
            {
                best = Some((dearer, to));
            }
        }
        self.looks += looks;
        best
    }

    /// Lets rows go where they cost less.
    fn relocate(&mut self, round: usize) {
        let mut edges = Edges::default();
        for from in 0..self.groups.len() {
            let mut at = 0;
            let mut stale = true;
            while at < self.groups[from].rows.len() && self.groups[from].price > 0.0 {
                let group = &self.groups[from];
                let row = group.rows[at];
                at += 1;
                if !group.spares(self.check, at - 1) {
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
                    self.faces.show(from, &self.groups[from]);
                    self.faces.show(to, &self.groups[to]);
                    (self.changed[from], self.changed[to]) = (round, round);
                }
            }
        }
    }

    /// Dissolves groups whose rows cost less elsewhere.
    fn dissolve(&mut self, round: usize) {
        for from in 0..self.groups.len() {
            let have = self.groups[from].cost() - LEAST_GAIN;
            if have <= 0.0 || self.changed[from] + 1 < round {
                continue;
            }
            let mut left = have;
            let mut before: Vec<(usize, Vec<u32>, f32, usize)> = Vec::new();
            for row in self.groups[from].rows.clone() {
                let Some((dearer, to)) = self.nearest(from, row, left, round) else { break };
                left -= dearer;
                let group = &mut self.groups[to];
                before.push((to, group.shape.clone(), group.price, self.changed[to]));
                group.push(self.check, self.shapes, row);
                self.faces.show(to, group);
                self.changed[to] = round;
            }
            if before.len() == self.groups[from].rows.len() {
                self.groups[from] = MovableGroup::new(self.check, self.shapes, Vec::new());
                self.faces.show(from, &self.groups[from]);
                self.changed[from] = round;
            } else {
                for (to, shape, price, changed) in before.into_iter().rev() {
                    self.groups[to].undo_push(self.check, shape, price);
                    self.faces.show(to, &self.groups[to]);
                    self.changed[to] = changed;
                }
            }
        }
    }
}
