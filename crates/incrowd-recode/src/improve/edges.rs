//! The price of a group without one of its rows.

use super::shape::{CellKind, Shapes};

/// Groups with at least this many rows have counts per leaf. Without counts, the removal of a row
/// requires a scan of all others.
const MIN_COUNTED_ROWS: usize = 48;

/// Leaves of a column are counted if there are at most this many per row of the group.
const MAX_LEAVES_PER_ROW: usize = 8;

/// The extreme leaves of a group by column, with which the group's extent without a row is known.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// By column: the lowest, second lowest, second highest and highest leaf of the rows. Equal
    /// leaves count repeatedly.
    ends: Vec<[u32; 4]>,
    /// By column: rows per leaf, for sets and if few leaves have many rows. Empty otherwise.
    counts: Vec<Vec<u32>>,
}

impl Shapes<'_> {
    /// Computes the edges of these rows.
    pub(super) fn edges(&self, edges: &mut Edges, rows: &[u32]) {
        edges.ends.resize(self.columns.len(), [0; 4]);
        edges.counts.resize(self.columns.len(), Vec::new());
        for (q, column) in self.columns.iter().enumerate() {
            let counted = match &column.kind {
                CellKind::Span { leaves, .. } => {
                    edges.ends[q] = self.ends(q, rows);
                    let few = *leaves as usize <= MAX_LEAVES_PER_ROW * rows.len();
                    if few && rows.len() >= MIN_COUNTED_ROWS { *leaves as usize } else { 0 }
                }
                CellKind::Set { prices, .. } => prices.len(),
            };
            let counts = &mut edges.counts[q];
            counts.clear();
            counts.resize(counted, 0);
            if counted > 0 {
                rows.iter()
                    .for_each(|&row| counts[self.data.quasi_codes(row as usize)[q] as usize] += 1);
            }
        }
    }

    /// Returns the two lowest and the two highest leaves of rows in a column.
    fn ends(&self, q: usize, rows: &[u32]) -> [u32; 4] {
        let mut ends = [u32::MAX, u32::MAX, 0, 0];
        for &row in rows {
            let code = self.data.quasi_codes(row as usize)[q];
            if code < ends[1] {
                (ends[0], ends[1]) = (code.min(ends[0]), code.max(ends[0]));
            }
            if code > ends[2] {
                (ends[2], ends[3]) = (code.min(ends[3]), code.max(ends[3]));
            }
        }
        if rows.len() == 1 {
            (ends[1], ends[2]) = (ends[0], ends[3]);
        }
        ends
    }

    /// Updates the shape and the edges of a group when `row` is removed. `rows` are the others, at
    /// least one.
    pub(super) fn leave(&self, edges: &mut Edges, shape: &mut [u32], rows: &[u32], row: u32) {
        let codes = self.data.quasi_codes(row as usize);
        for (q, column) in self.columns.iter().enumerate() {
            let (counts, ends, code) = (&mut edges.counts[q], &mut edges.ends[q], codes[q]);
            if let Some(count) = counts.get_mut(code as usize) {
                *count -= 1;
            }
            match &column.kind {
                CellKind::Span { .. } => {
                    let at_an_end = code <= ends[1] || code >= ends[2];
                    match counts.is_empty() {
                        true if at_an_end => *ends = self.ends(q, rows),
                        false if at_an_end => *ends = counted_ends(counts, *ends),
                        _ => {}
                    }
                    (shape[column.at], shape[column.at + 1]) = (ends[0], ends[3]);
                }
                CellKind::Set { .. } if counts[code as usize] == 0 => {
                    shape[column.at] -= 1;
                    shape[column.at + 1 + code as usize / 32] &= !(1 << (code % 32));
                }
                CellKind::Set { .. } => {}
            }
        }
    }

    /// Returns the price of a group of this shape without one row. The group must have at least two
    /// rows.
    pub(super) fn price_without(&self, edges: &Edges, shape: &[u32], row: u32) -> f32 {
        let codes = self.data.quasi_codes(row as usize);
        let cell = |q: usize| {
            let (column, code) = (&self.columns[q], codes[q]);
            match &column.kind {
                CellKind::Span { leaves, prices } => {
                    let ends = edges.ends[q];
                    let lo = if code == ends[0] { ends[1] } else { ends[0] };
                    let hi = if code == ends[3] { ends[2] } else { ends[3] };
                    self.span(q, *leaves, prices, lo, hi)
                }
                CellKind::Set { prices, .. } => {
                    let is_last = u32::from(edges.counts[q][code as usize] == 1);
                    prices[(shape[column.at] - is_last) as usize]
                }
            }
        };
        self.by_spread.iter().map(|&q| cell(q)).sum()
    }
}

/// Returns the ends of rows with these counts per leaf, all of which are within the given ends.
fn counted_ends(counts: &[u32], [lowest, .., highest]: [u32; 4]) -> [u32; 4] {
    let mut up = (lowest..=highest).filter(|&leaf| counts[leaf as usize] > 0);
    let mut down = (lowest..=highest).rev().filter(|&leaf| counts[leaf as usize] > 0);
    let (lo, hi) = (up.next().unwrap_or(lowest), down.next().unwrap_or(highest));
    let twice = |leaf: u32| counts[leaf as usize] > 1;
    let second = if twice(lo) { lo } else { up.next().unwrap_or(lo) };
    [lo, second, if twice(hi) { hi } else { down.next().unwrap_or(hi) }, hi]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::improve::Metric;
    use incrowd_core::{ColumnSpec, Dataset, Folded, HierarchySpec};
    use proptest::prelude::*;

    const TREE: &str = "b0;x;*\nb1;x;*\nb2;y;*\nb3;z;*\nb4;z;*\n";

    proptest! {
        /// Edges, shapes and prices that are updated while rows are removed are equal to those that
        /// are recomputed.
        #[test]
        fn removing_rows_updates_edges_shapes_and_prices(
            records in prop::collection::vec((0u32..60, 0u32..5, 0u32..4, 0u32..2000), 2..120),
            leaving in prop::collection::vec(any::<prop::sample::Index>(), 1..120),
        ) {
            let text = |(a, b, c, d): (u32, u32, u32, u32)| {
                [a.to_string(), format!("b{b}"), format!("c{c}"), d.to_string()]
            };
            let records: Vec<[String; 4]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|r| r.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c", "d"], cells, true);
            let tree = HierarchySpec::Arx { name: "b".into(), text: TREE.into() };
            let plain = ColumnSpec::default();
            let tree = ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() };
            let specs = [&plain, &tree, &plain, &plain];
            let data = Dataset::encode(folded, &specs, &[], "?");
            let data = data.map_err(|e| e.misfit.error).unwrap();
            let shapes = Shapes::new(&data, Metric::InformationLoss);
            let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
            let (mut edges, mut shape) = (Edges::default(), shapes.of(rows.iter().copied()));
            shapes.edges(&mut edges, &rows);
            for index in leaving {
                if rows.len() < 2 {
                    break;
                }
                let at = index.index(rows.len());
                let row = rows.remove(at);
                let without = shapes.price_without(&edges, &shape, row);
                shapes.leave(&mut edges, &mut shape, &rows, row);
                prop_assert_eq!(&shape, &shapes.of(rows.iter().copied()));
                prop_assert_eq!(without, shapes.price(&shape));
                let mut anew = Edges::default();
                shapes.edges(&mut anew, &rows);
                for (q, column) in shapes.columns.iter().enumerate() {
                    match column.kind {
                        CellKind::Span { .. } => prop_assert_eq!(edges.ends[q], anew.ends[q]),
                        CellKind::Set { .. } => prop_assert_eq!(&edges.counts[q], &anew.counts[q]),
                    }
                }
            }
        }
    }
}
