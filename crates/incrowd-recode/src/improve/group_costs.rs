//! The shapes and costs of groups in contiguous memory, for the search of the cheapest group for a
//! row.

use super::movable::MovableGroup;

/// The shapes and costs of all groups of a window.
#[derive(Debug, Default)]
pub(super) struct GroupCosts {
    /// The concatenated shapes.
    shapes: Vec<u32>,
    costs: Vec<GroupCost>,
}

/// The size and cost of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupCost {
    pub(super) records: u64,
    /// The loss per record.
    pub(super) price: f32,
    /// The loss of all its records.
    pub(super) cost: f32,
}

impl GroupCosts {
    pub(super) fn new(groups: &[MovableGroup<'_>], words: usize) -> GroupCosts {
        let mut costs = GroupCosts {
            shapes: vec![0; groups.len() * words],
            costs: vec![GroupCost::default(); groups.len()],
        };
        groups.iter().enumerate().for_each(|(at, group)| costs.update(at, group));
        costs
    }

    /// Updates the entry of a group that has changed.
    pub(super) fn update(&mut self, at: usize, group: &MovableGroup<'_>) {
        let words = group.shape.len();
        self.shapes[at * words..(at + 1) * words].copy_from_slice(&group.shape);
        self.costs[at] =
            GroupCost { records: group.records(), price: group.price, cost: group.cost() };
    }

    /// Iterates over all groups with their shapes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GroupCost, &[u32])> {
        let words = self.shapes.len().checked_div(self.costs.len()).unwrap_or(1);
        self.costs.iter().copied().zip(self.shapes.chunks_exact(words.max(1)))
    }
}
