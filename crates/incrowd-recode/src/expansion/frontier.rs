//! A queue of points in ascending order of the loss of a growing group with each of them.
//!
//! A group's cells only widen while it grows, so an earlier loss with a point, or with a node of
//! points, is a lower bound of the current one. The queue is therefore kept from step to step. The
//! entry with the least old loss is priced again. It is the cheapest if no other entry has a
//! smaller bound. So a step prices only few entries that no earlier step priced.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::growing::GrowingGroup;
use super::pool::Pool;
use super::priced_column::PricedCell;

/// A point or a node in the queue.
#[derive(Clone, Copy, PartialEq)]
struct QueueEntry {
    loss: f64,
    /// Nodes come before points, so that all points of equal loss are found together.
    point: bool,
    id: u32,
}

impl Eq for QueueEntry {}
impl PartialOrd for QueueEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for QueueEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.loss
            .total_cmp(&other.loss)
            .then(self.point.cmp(&other.point))
            .then(self.id.cmp(&other.id))
    }
}

/// A point, and the cells and loss of a group with it.
pub(super) struct PricedPoint {
    pub(super) point: u32,
    pub(super) loss: f64,
    pub(super) cells: Vec<PricedCell>,
}

/// The queue of one group. It must be created again if the group loses a row or the pool gains one.
pub(super) struct Frontier {
    queue: BinaryHeap<Reverse<QueueEntry>>,
    /// Entries that were processed in this step and are needed again in the next.
    done: Vec<QueueEntry>,
}

impl Frontier {
    pub(super) fn new(pool: &Pool<'_>) -> Frontier {
        let root = QueueEntry { loss: f64::NEG_INFINITY, point: false, id: 0 };
        let done = if pool.is_empty() { Vec::new() } else { vec![root] };
        Frontier { queue: BinaryHeap::new(), done }
    }

    /// Calls `visit` with points that have rows and one of the next values, cheapest first, until
    /// it returns `false`.
    pub(super) fn visit_cheapest(
        &mut self,
        pool: &Pool<'_>,
        group: &GrowingGroup,
        next: &[Option<u32>],
        visit: &mut dyn FnMut(PricedPoint) -> bool,
    ) {
        self.queue.extend(self.done.drain(..).map(Reverse));
        while let Some(Reverse(first)) = self.queue.pop() {
            let QueueEntry { point, id, .. } = first;
            if !pool.has_rows(point, id) {
                continue;
            }
            let loss = pool.price(point, id, &group.cells);
            if loss > first.loss {
                self.queue.push(Reverse(QueueEntry { loss, ..first }));
            } else if !pool.fits(point, id, next) {
                self.done.push(first);
            } else if point {
                self.done.push(first);
                if !visit(PricedPoint { point: id, loss, cells: pool.cells_at(id, &group.cells) }) {
                    return;
                }
            } else {
                // Its parts cost at least as much as the node.
                let part = |(point, id)| QueueEntry {
                    loss: pool.price(point, id, &group.cells),
                    point,
                    id,
                };
                self.queue.extend(pool.parts(id).map(part).map(Reverse));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::growing::GrowthContext;
    use incrowd_core::{ColumnSpec, Dataset, Folded, HierarchySpec, SensitiveSpec};
    use proptest::prelude::*;

    type Row = (u8, u8, u8, u8);

    fn table(rows: &[Row]) -> Dataset {
        let text = |row: &Row| {
            [
                row.0.to_string(),
                char::from(b'a' + row.1).to_string(),
                row.2.to_string(),
                row.3.to_string(),
            ]
        };
        let cells: Vec<[String; 4]> = rows.iter().map(text).collect();
        let records = cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect());
        let folded = Folded::from_records(&["a", "b", "c", "s"], records, false);
        let tree = HierarchySpec::Arx {
            name: "h".into(),
            text: "a;A;*\nb;A;*\nc;B;*\nd;B;*\ne;C;*\n".into(),
        };
        let tree = ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() };
        let number = ColumnSpec::default();
        Dataset::encode(folded, &[&number, &tree, &number], &[&SensitiveSpec::default()], "?")
            .unwrap()
    }

    /// All points with rows and a next value, priced and sorted.
    fn slow(
        pool: &Pool<'_>,
        group: &GrowingGroup,
        next: &[Option<u32>],
        points: u32,
    ) -> Vec<(f64, u32)> {
        let loss = |point: u32| {
            pool.cells_at(point, &group.cells).iter().map(|cell| cell.loss).sum::<f64>()
        };
        let fitting =
            (0..points).filter(|&point| pool.has_rows(true, point) && pool.fits(true, point, next));
        let mut all: Vec<(f64, u32)> = fitting.map(|point| (loss(point), point)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all
    }

    proptest! {
        /// A queue that is kept from step to step gives the same order as sorting all points, for
        /// any number of visited points and any choice among them.
        #[test]
        fn a_frontier_visits_the_cheapest_points_first(
            rows in prop::collection::vec((0u8..12, 0u8..5, 0u8..6, 0u8..3), 2..80),
            steps in prop::collection::vec((1usize..30, any::<prop::sample::Index>()), 1..12),
        ) {
            let data = table(&rows);
            let context = GrowthContext::new(&data, &[]);
            let all: Vec<u32> = (0..data.rows() as u32).collect();
            let mut pool = Pool::new(&context, &all);
            let mut points: Vec<&[u32]> =
                all.iter().map(|&row| data.quasi_codes(row as usize)).collect();
            points.sort_unstable();
            points.dedup();
            let points = points.len() as u32;
            pool.take(0);
            let mut group = context.single(0);
            let mut frontier = Frontier::new(&pool);
            for (most, pick) in steps {
                let next = pool.next_values(&group.cells, data.quasi_codes(0));
                let mut offered = Vec::new();
                frontier.visit_cheapest(&pool, &group, &next, &mut |offer| {
                    offered.push((offer.loss, offer.point));
                    offered.len() < most
                });
                let mut sorted = slow(&pool, &group, &next, points);
                sorted.truncate(most);
                prop_assert_eq!(&offered, &sorted);
                if offered.is_empty() {
                    break;
                }
                let row = pool.rows_at(offered[pick.index(offered.len())].1)[0];
                pool.take(row);
                context.add(&mut group, row);
            }
        }
    }
}
