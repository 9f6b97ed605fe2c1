//! Points in the order of what they would cost a group that grows.
//!
//! A group's cells only widen while it grows, so what a point, or a node of points, cost it before is a lower bound of what it
//! costs now. What was opened for one step is therefore kept for the next: the cheapest by its old cost is priced anew, and is
//! the cheapest indeed if nothing that waits is known to be less. A step then looks at few places that no step before it saw.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::growing::GrowingGroup;
use super::line::PricedCell;
use super::pool::Pool;

/// A point or a node that waits for its turn.
#[derive(Clone, Copy, PartialEq)]
struct Waiting {
    loss: f64,
    /// Nodes before points, so that all points of one loss are found together.
    point: bool,
    id: u32,
}

impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.loss.total_cmp(&other.loss).then(self.point.cmp(&other.point)).then(self.id.cmp(&other.id))
    }
}

/// A point and what a group with it would lose.
pub(super) struct Offer {
    pub(super) point: u32,
    pub(super) loss: f64,
    pub(super) cells: Vec<PricedCell>,
}

/// What waits for one group. It must be made anew if the group loses a row or the pool gains one.
pub(super) struct Frontier {
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Those that had their turn at this step and wait for the next.
    parked: Vec<Waiting>,
}

impl Frontier {
    pub(super) fn new(pool: &Pool<'_>) -> Frontier {
        let root = Waiting { loss: f64::NEG_INFINITY, point: false, id: 0 };
        let parked = if pool.is_empty() { Vec::new() } else { vec![root] };
        Frontier { waiting: BinaryHeap::new(), parked }
    }

    /// Calls `visit` with points that have rows and one of the next values, cheapest first, until it says stop.
    pub(super) fn offers(
        &mut self,
        pool: &Pool<'_>,
        group: &GrowingGroup,
        next: &[Option<u32>],
        visit: &mut dyn FnMut(Offer) -> bool,
    ) {
        self.waiting.extend(self.parked.drain(..).map(Reverse));
        while let Some(Reverse(first)) = self.waiting.pop() {
            let Waiting { point, id, .. } = first;
            if !pool.has_rows(point, id) {
                continue;
            }
            let loss = pool.price(point, id, &group.cells);
            if loss > first.loss {
                self.waiting.push(Reverse(Waiting { loss, ..first }));
            } else if !pool.fits(point, id, next) {
                self.parked.push(first);
            } else if point {
                self.parked.push(first);
                if !visit(Offer { point: id, loss, cells: pool.cells_at(id, &group.cells) }) {
                    return;
                }
            } else {
                // Its parts cost at least as much.
                let part = |(point, id)| Waiting { loss: pool.price(point, id, &group.cells), point, id };
                self.waiting.extend(pool.parts(id).map(part).map(Reverse));
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
            [row.0.to_string(), char::from(b'a' + row.1).to_string(), row.2.to_string(), row.3.to_string()]
        };
        let cells: Vec<[String; 4]> = rows.iter().map(text).collect();
        let records = cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect());
        let folded = Folded::from_records(&["a", "b", "c", "s"], records, false);
        let tree =
            HierarchySpec::Arx { name: "h".into(), text: "a;A;*\nb;A;*\nc;B;*\nd;B;*\ne;C;*\n".into() };
        let tree = ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() };
        let number = ColumnSpec::default();
        Dataset::encode(folded, &[&number, &tree, &number], &[&SensitiveSpec::default()], "?").unwrap()
    }

    /// Every point with rows and a next value, priced and sorted.
    fn slow(pool: &Pool<'_>, group: &GrowingGroup, next: &[Option<u32>], points: u32) -> Vec<(f64, u32)> {
        let loss = |point: u32| pool.cells_at(point, &group.cells).iter().map(|cell| cell.loss).sum::<f64>();
        let fitting = (0..points).filter(|&point| pool.has_rows(true, point) && pool.fits(true, point, next));
        let mut all: Vec<(f64, u32)> = fitting.map(|point| (loss(point), point)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all
    }

    proptest! {
        /// What is kept from step to step offers what sorting everything does, however many of the offers are looked at and
        /// whichever is taken.
        #[test]
        fn a_frontier_that_is_kept_offers_the_cheapest_first(
            rows in prop::collection::vec((0u8..12, 0u8..5, 0u8..6, 0u8..3), 2..80),
            steps in prop::collection::vec((1usize..30, any::<prop::sample::Index>()), 1..12),
        ) {
            let data = table(&rows);
            let context = GrowthContext::new(&data, &[]);
            let all: Vec<u32> = (0..data.rows() as u32).collect();
            let mut pool = Pool::new(&context, &all);
            let mut points: Vec<&[u32]> = all.iter().map(|&row| data.quasi_codes(row as usize)).collect();
            points.sort_unstable();
            points.dedup();
            let points = points.len() as u32;
            pool.take(0);
            let mut group = context.single(0);
            let mut frontier = Frontier::new(&pool);
            for (most, pick) in steps {
                let next = pool.next_values(&group.cells, data.quasi_codes(0));
                let mut offered = Vec::new();
                frontier.offers(&pool, &group, &next, &mut |offer| {
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
