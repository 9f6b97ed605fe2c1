//! The shape of a group: for every column the lowest and the highest leaf of its rows or, if sets
//! are published, the set of leaves; and the loss of such cells.

use incrowd_core::dataset::Quasi;
use incrowd_core::{Code, Dataset, Span};

use super::group_costs::GroupCost;
use super::metric::Metric;

/// Columns with at most this many leaves have a table of prices.
const TABLED: u32 = 512;
/// Columns with at most this many leaves have a table if there are enough rows to pay for it.
const MAX_TABLED: u32 = 2048;

/// Returns whether a column has a table of prices for all pairs of leaves.
fn is_tabled(leaves: u32, rows: usize) -> bool {
    leaves <= TABLED || (leaves <= MAX_TABLED && (leaves as usize).pow(2) <= 8 * rows)
}

/// The number of pairs of rows from which the spread of the columns is estimated.
const MAX_PAIRS: usize = 1000;
/// The stride between the second rows of these pairs, a prime.
const PAIR_STRIDE: usize = 7919;

/// The part of a shape that belongs to one column.
#[derive(Debug)]
pub(super) struct ColumnShape {
    /// The index of its first word.
    pub(super) at: usize,
    pub(super) kind: CellKind,
}

#[derive(Debug)]
pub(super) enum CellKind {
    /// Two words: the lowest and the highest leaf. `prices` is the table of all pairs, or empty.
    Span { leaves: u32, prices: Vec<f32> },
    /// The number of leaves, then one bit per leaf. `prices` is indexed by the number of leaves.
    Set { words: usize, prices: Vec<f32> },
}

/// The price tables of all columns, concatenated. Exists only if every column has a table.
#[derive(Debug)]
struct Tabled {
    columns: Vec<TabledColumn>,
    prices: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct TabledColumn {
    /// The index of the column.
    q: usize,
    /// The index of its first word in a shape.
    at: usize,
    leaves: u32,
    /// The index of its first price.
    from: u32,
}

impl Tabled {
    fn new(columns: &[ColumnShape], order: &[usize]) -> Option<Tabled> {
        let mut tabled = Tabled { columns: Vec::new(), prices: Vec::new() };
        for &q in order {
            let column = &columns[q];
            let CellKind::Span { leaves, prices } = &column.kind else { return None };
            if prices.is_empty() {
                return None;
            }
            let from = u32::try_from(tabled.prices.len()).ok()?;
            tabled.columns.push(TabledColumn { q, at: column.at, leaves: *leaves, from });
            tabled.prices.extend(prices);
        }
        Some(tabled)
    }

    /// See [`Shapes::lower_bound_with`].
    fn lower_bound_with(&self, shape: &[u32], codes: &[u32], limit: f32) -> f32 {
        let mut sum = 0.0;
        for column in &self.columns {
            let code = codes[column.q];
            let (lo, hi) = (shape[column.at].min(code), shape[column.at + 1].max(code));
            sum += self.prices[(column.from + lo * column.leaves + hi) as usize];
            if sum > limit {
                return sum;
            }
        }
        sum
    }
}

/// The number of prices that are added before their sum is compared with the limit. Fewer branches
/// that are hard to predict make the loop faster.
const PRICES_PER_BRANCH: usize = 3;

impl Tabled {
    /// Returns the price of a shape that also covers these codes, or `None` if it exceeds `limit`.
    fn price_with(&self, shape: &[u32], codes: &[u32], limit: f32) -> Option<f32> {
        let mut sum = 0.0;
        for columns in self.columns.chunks(PRICES_PER_BRANCH) {
            for column in columns {
                let code = codes[column.q];
                let (lo, hi) = (shape[column.at].min(code), shape[column.at + 1].max(code));
                sum += self.prices[(column.from + lo * column.leaves + hi) as usize];
            }
            if sum > limit {
                return None;
            }
        }
        Some(sum)
    }
}

/// Computes shapes of rows and their prices.
#[derive(Debug)]
pub(crate) struct Shapes<'a> {
    pub(super) data: &'a Dataset,
    metric: Metric,
    pub(super) columns: Vec<ColumnShape>,
    /// The columns in descending order of the mean price of two rows. Sums exceed a limit early in
    /// this order.
    pub(super) by_spread: Vec<usize>,
    /// The price tables in the same order, if all columns have one.
    tabled: Option<Tabled>,
    /// The price of a record that is not published.
    pub(crate) max_price: f32,
    /// The number of words of a shape.
    pub(crate) words: usize,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(data: &'a Dataset, metric: Metric) -> Shapes<'a> {
        let mut words = 0;
        let column = |quasi: &Quasi| {
            let domain = &quasi.domain;
            let (at, leaves) = (words, domain.leaves());
            let of = |lo: u32, hi: u32| (quasi.weight * metric.of(domain, lo, hi)) as f32;
            let kind = if domain.publishes_sets() {
                let prices = (0..=leaves).map(|n| of(0, n.saturating_sub(1))).collect();
                CellKind::Set { words: leaves.div_ceil(32) as usize, prices }
            } else {
                let pairs = |lo: u32| (0..leaves).map(move |hi| (lo, hi));
                let price = |(lo, hi): (u32, u32)| of(lo.min(hi), hi);
                let tabled = if is_tabled(leaves, data.rows()) { leaves } else { 0 };
                CellKind::Span { leaves, prices: (0..tabled).flat_map(pairs).map(price).collect() }
            };
            words += match &kind {
                CellKind::Span { .. } => 2,
                CellKind::Set { words, .. } => 1 + *words,
            };
            ColumnShape { at, kind }
        };
        let columns = data.quasi().iter().map(column).collect();
        let max_price = data.quasi().iter().map(|quasi| quasi.weight).sum::<f64>() as f32;
        let by_spread = (0..data.quasi().len()).collect();
        let mut shapes =
            Shapes { data, metric, columns, by_spread, tabled: None, max_price, words };
        shapes.by_spread = shapes.columns_by_spread();
        shapes.tabled = Tabled::new(&shapes.columns, &shapes.by_spread);
        shapes
    }

    /// Returns the columns in descending order of the mean price of two rows, over a sample of
    /// pairs.
    fn columns_by_spread(&self) -> Vec<usize> {
        let rows = self.data.rows();
        let mut sums = vec![0.0f32; self.columns.len()];
        for i in 0..rows.min(MAX_PAIRS) {
            let (a, b) = (i * (rows / rows.min(MAX_PAIRS)), i * PAIR_STRIDE % rows);
            let shape = self.of([a as u32, b as u32]);
            sums.iter_mut().enumerate().for_each(|(q, sum)| *sum += self.cell(q, &shape));
        }
        let mut order = self.by_spread.clone();
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
        order
    }

    /// Returns the shape of no rows.
    pub(crate) fn empty(&self) -> Vec<u32> {
        let mut shape = vec![0; self.words];
        for column in
            self.columns.iter().filter(|column| matches!(column.kind, CellKind::Span { .. }))
        {
            shape[column.at] = u32::MAX;
        }
        shape
    }

    /// Extends a shape to cover a row.
    pub(crate) fn cover(&self, shape: &mut [u32], row: u32) {
        for (column, &code) in self.columns.iter().zip(self.data.quasi_codes(row as usize)) {
            match column.kind {
                CellKind::Span { .. } => {
                    shape[column.at] = shape[column.at].min(code);
                    shape[column.at + 1] = shape[column.at + 1].max(code);
                }
                CellKind::Set { .. } => {
                    let word = &mut shape[column.at + 1 + code as usize / 32];
                    // 1 if the leaf's bit was not set before.
                    let new = !*word >> (code % 32) & 1;
                    *word |= 1 << (code % 32);
                    shape[column.at] += new;
                }
            }
        }
    }

    /// Returns the shape of these rows.
    pub(crate) fn of(&self, rows: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut shape = self.empty();
        rows.into_iter().for_each(|row| self.cover(&mut shape, row));
        shape
    }

    /// Extends a shape to cover another one.
    pub(crate) fn unite(&self, shape: &mut [u32], other: &[u32]) {
        for column in &self.columns {
            match column.kind {
                CellKind::Span { .. } => {
                    shape[column.at] = shape[column.at].min(other[column.at]);
                    shape[column.at + 1] = shape[column.at + 1].max(other[column.at + 1]);
                }
                CellKind::Set { words, .. } => {
                    let words = column.at + 1..column.at + 1 + words;
                    shape[words.clone()]
                        .iter_mut()
                        .zip(&other[words.clone()])
                        .for_each(|(a, b)| *a |= b);
                    shape[column.at] = shape[words].iter().map(|word| word.count_ones()).sum();
                }
            }
        }
    }

    /// Returns the loss of one record that is published in this shape.
    pub(crate) fn price(&self, shape: &[u32]) -> f32 {
        self.by_spread.iter().map(|&q| self.cell(q, shape)).sum()
    }

    fn cell(&self, q: usize, shape: &[u32]) -> f32 {
        let column = &self.columns[q];
        match &column.kind {
            CellKind::Span { leaves, prices } => {
                self.span(q, *leaves, prices, shape[column.at], shape[column.at + 1])
            }
            CellKind::Set { prices, .. } => prices[shape[column.at] as usize],
        }
    }

    /// Returns the codes of a row.
    pub(super) fn codes(&self, row: u32) -> &[u32] {
        self.data.quasi_codes(row as usize)
    }

    /// Returns the increase of a group's loss if a row with these codes and `count` records joins,
    /// or `None` if it exceeds `limit`.
    pub(super) fn extra_cost(
        &self,
        group: GroupCost,
        shape: &[u32],
        (codes, count): (&[u32], u64),
        limit: f32,
    ) -> Option<f32> {
        let records = (group.records + count) as f32;
        let price_limit = (limit + group.cost) / records;
        // A shape that covers one more row is never cheaper.
        if group.price > price_limit {
            return None;
        }
        let price = match &self.tabled {
            Some(tabled) => tabled.price_with(shape, codes, price_limit)?,
            None => Some(self.lower_bound(shape, codes, price_limit))
                .filter(|price| *price <= price_limit)?,
        };
        Some(records * price - group.cost)
    }

    /// Returns the price of a shape that also covers a row. If that exceeds `limit`, returns a
    /// lower bound of it that exceeds `limit` too.
    pub(crate) fn lower_bound_with(&self, shape: &[u32], row: u32, limit: f32) -> f32 {
        self.lower_bound(shape, self.codes(row), limit)
    }

    fn lower_bound(&self, shape: &[u32], codes: &[u32], limit: f32) -> f32 {
        if let Some(tabled) = &self.tabled {
            return tabled.lower_bound_with(shape, codes, limit);
        }
        let mut sum = 0.0;
        for &q in &self.by_spread {
            let (column, code) = (&self.columns[q], codes[q]);
            sum += match &column.kind {
                CellKind::Span { leaves, prices } => {
                    let (lo, hi) = (shape[column.at].min(code), shape[column.at + 1].max(code));
                    self.span(q, *leaves, prices, lo, hi)
                }
                CellKind::Set { prices, .. } => {
                    let has = shape[column.at + 1 + code as usize / 32] >> (code % 32) & 1;
                    prices[(shape[column.at] + 1 - has) as usize]
                }
            };
            if sum > limit {
                return sum;
            }
        }
        sum
    }

    pub(super) fn span(&self, q: usize, leaves: u32, prices: &[f32], lo: u32, hi: u32) -> f32 {
        if prices.is_empty() {
            let quasi = &self.data.quasi()[q];
            (quasi.weight * self.metric.of(&quasi.domain, lo, hi)) as f32
        } else {
            prices[(lo * leaves + hi) as usize]
        }
    }

    /// Returns the spans of a shape for a partition.
    pub(crate) fn spans(&self, shape: &[u32]) -> Vec<Span> {
        let span = |column: &ColumnShape| match column.kind {
            CellKind::Span { .. } => (shape[column.at], shape[column.at + 1]),
            CellKind::Set { words, .. } => {
                let set = &shape[column.at + 1..column.at + 1 + words];
                let low = set.iter().position(|w| *w != 0).unwrap_or(0);
                let high = set.iter().rposition(|w| *w != 0).unwrap_or(0);
                let lo = low as u32 * 32 + set[low].trailing_zeros().min(31);
                (lo, high as u32 * 32 + 31 - set[high].leading_zeros().min(31))
            }
        };
        self.columns.iter().map(span).map(|(lo, hi)| Span { lo: Code(lo), hi: Code(hi) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::{ColumnSpec, Folded, HierarchySpec};
    use proptest::prelude::*;

    const TREE: &str = "b0;x;*\nb1;x;*\nb2;y;*\nb3;z;*\nb4;z;*\n";

    proptest! {
        /// The concatenated tables give the prices of the cells, and a shape that covers one more
        /// row is never cheaper.
        #[test]
        fn price_tables_agree_with_cells_and_prices_are_monotone(
            records in prop::collection::vec((0u32..40, 0u32..5, 0u32..4), 2..40),
            ncp: bool,
            quasi in 2usize..4,
            limit in 0.0f32..3.0,
        ) {
            let text =
                |(a, b, c): (u32, u32, u32)| [a.to_string(), format!("b{b}"), format!("c{c}")];
            let records: Vec<[String; 3]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|r| r.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c"], cells, true);
            let tree = HierarchySpec::Arx { name: "b".into(), text: TREE.into() };
            let plain = ColumnSpec::default();
            let tree = ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() };
            let specs = &[&plain, &tree, &plain][..quasi];
            let data = Dataset::encode(folded, specs, &[], "?");
            let data = data.map_err(|e| e.misfit.error).unwrap();
            let metric = if ncp { Metric::Ncp } else { Metric::InformationLoss };
            let mut shapes = Shapes::new(&data, metric);
            let tabled = shapes.tabled.take();
            prop_assert!(tabled.is_some() || quasi == 3);
            let mut shape = shapes.of([0]);
            for row in 1..data.rows() as u32 {
                let slowly = shapes.lower_bound_with(&shape, row, limit);
                if let Some(tabled) = &tabled {
                    let codes = data.quasi_codes(row as usize);
                    prop_assert_eq!(tabled.lower_bound_with(&shape, codes, limit), slowly);
                    prop_assert_eq!(
                        tabled.price_with(&shape, codes, limit),
                        Some(slowly).filter(|price| *price <= limit)
                    );
                }
                let before = shapes.price(&shape);
                let with = shapes.lower_bound_with(&shape, row, f32::INFINITY);
                shapes.cover(&mut shape, row);
                prop_assert_eq!(with, shapes.price(&shape));
                prop_assert!(with >= before);
                prop_assert!(slowly <= with && (slowly > limit || slowly == with));
            }
        }
    }
}
