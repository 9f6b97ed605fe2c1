//! What a group is published as without any one of its rows.

use super::shape::{Kind, Shapes};

/// Of groups with so many rows it is counted how many have each leaf, so that not all are looked at again when one leaves.
const COUNTED: usize = 48;

/// Leaves of a column are counted if there are at most so many for each row.
const MOST_LEAVES: usize = 8;

/// By column the lowest and the highest leaf but one, or how many rows have each leaf.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// By column, the two lowest and the two highest leaves of the rows, equal ones counted twice.
    ends: Vec<[u32; 4]>,
    /// By column, rows by leaf: for sets, and where many rows have few leaves. Empty otherwise.
    counts: Vec<Vec<u32>>,
}

impl Shapes<'_> {
    /// The edges of these rows.
    pub(super) fn edges(&self, edges: &mut Edges, rows: &[u32]) {
        edges.ends.resize(self.lines.len(), [0; 4]);
        edges.counts.resize(self.lines.len(), Vec::new());
        for (q, line) in self.lines.iter().enumerate() {
            let counted = match &line.kind {
                Kind::Span { leaves, .. } => {
                    edges.ends[q] = self.ends(q, rows);
                    let few = *leaves as usize <= MOST_LEAVES * rows.len();
                    if few && rows.len() >= COUNTED { *leaves as usize } else { 0 }
                }
                Kind::Set { prices, .. } => prices.len(),
            };
            let counts = &mut edges.counts[q];
            counts.clear();
            counts.resize(counted, 0);
            if counted > 0 {
                rows.iter().for_each(|&row| counts[self.data.quasi_codes(row as usize)[q] as usize] += 1);
            }
        }
    }

    /// The two lowest and the two highest leaves of rows in a column.
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

    /// A row leaves a group of this shape and with these edges; `rows` are the others, of which there is at least one.
    pub(super) fn leave(&self, edges: &mut Edges, shape: &mut [u32], rows: &[u32], row: u32) {
        let codes = self.data.quasi_codes(row as usize);
        for (q, line) in self.lines.iter().enumerate() {
            let (counts, ends, code) = (&mut edges.counts[q], &mut edges.ends[q], codes[q]);
            if let Some(count) = counts.get_mut(code as usize) {
                *count -= 1;
            }
            match &line.kind {
                Kind::Span { .. } => {
                    let at_an_end = code <= ends[1] || code >= ends[2];
                    match counts.is_empty() {
                        true if at_an_end => *ends = self.ends(q, rows),
                        false if at_an_end => *ends = counted_ends(counts, *ends),
                        _ => {}
                    }
                    (shape[line.at], shape[line.at + 1]) = (ends[0], ends[3]);
                }
                Kind::Set { .. } if counts[code as usize] == 0 => {
                    shape[line.at] -= 1;
                    shape[line.at + 1 + code as usize / 32] &= !(1 << (code % 32));
                }
                Kind::Set { .. } => {}
            }
        }
    }

    /// What one record of a group of this shape and with these edges costs without a row, of at least two.
    pub(super) fn price_without(&self, edges: &Edges, shape: &[u32], row: u32) -> f32 {
        let codes = self.data.quasi_codes(row as usize);
        let cell = |q: usize| {
            let (line, code) = (&self.lines[q], codes[q]);
            match &line.kind {
                Kind::Span { leaves, prices } => {
                    let ends = edges.ends[q];
                    let lo = if code == ends[0] { ends[1] } else { ends[0] };
                    let hi = if code == ends[3] { ends[2] } else { ends[3] };
                    self.span(q, *leaves, prices, lo, hi)
                }
                Kind::Set { prices, .. } => {
                    let alone = u32::from(edges.counts[q][code as usize] == 1);
                    prices[(shape[line.at] - alone) as usize]
                }
            }
        };
        self.telling.iter().map(|&q| cell(q)).sum()
    }
}

/// The ends of rows of which so many have each leaf, and which lie within these ends.
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
        /// Edges that are kept while rows leave are those of the rows that are left, and so are shapes and prices.
        #[test]
        fn who_leaves_is_forgotten(
            records in prop::collection::vec((0u32..60, 0u32..5, 0u32..4, 0u32..2000), 2..120),
            leaving in prop::collection::vec(any::<prop::sample::Index>(), 1..120),
        ) {
            let text = |(a, b, c, d): (u32, u32, u32, u32)| [a.to_string(), format!("b{b}"), format!("c{c}"), d.to_string()];
            let records: Vec<[String; 4]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c", "d"], cells, true);
            let tree = HierarchySpec::Arx { name: "b".into(), text: TREE.into() };
            let (plain, tree) = (ColumnSpec::default(), ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() });
            let data = Dataset::encode(folded, &[&plain, &tree, &plain, &plain], &[], "?").map_err(|e| e.misfit.error).unwrap();
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
                for (q, line) in shapes.lines.iter().enumerate() {
                    match line.kind {
                        Kind::Span { .. } => prop_assert_eq!(edges.ends[q], anew.ends[q]),
                        Kind::Set { .. } => prop_assert_eq!(&edges.counts[q], &anew.counts[q]),
                    }
                }
            }
        }
    }
}
