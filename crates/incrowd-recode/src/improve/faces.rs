//! What is looked at of groups when a row asks which of them takes it for least, close together.

use super::movable::MovableGroup;

/// The cells and prices of groups.
#[derive(Debug, Default)]
pub(super) struct Faces {
    /// The shapes, one after the other.
    shapes: Vec<u32>,
    faces: Vec<Face>,
}

/// A group, as rows see it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Face {
    pub(super) records: u64,
    /// What one of its records costs.
    pub(super) price: f32,
    /// What all its records cost.
    pub(super) cost: f32,
}

impl Faces {
    pub(super) fn new(groups: &[MovableGroup<'_>], words: usize) -> Faces {
        let mut faces =
            Faces { shapes: vec![0; groups.len() * words], faces: vec![Face::default(); groups.len()] };
        groups.iter().enumerate().for_each(|(at, group)| faces.show(at, group));
        faces
    }

    /// Shows a group that has changed.
    pub(super) fn show(&mut self, at: usize, group: &MovableGroup<'_>) {
        let words = group.shape.len();
        self.shapes[at * words..(at + 1) * words].copy_from_slice(&group.shape);
        self.faces[at] = Face { records: group.records(), price: group.price, cost: group.cost() };
    }

    /// All groups with their shapes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Face, &[u32])> {
        let words = self.shapes.len().checked_div(self.faces.len()).unwrap_or(1);
        self.faces.iter().copied().zip(self.shapes.chunks_exact(words.max(1)))
    }
}
