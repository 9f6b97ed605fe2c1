//! What a group is published as: for every column the leaves between the lowest and the highest of its rows, or, where sets are
//! published, which leaves occur; and what that costs.

use incrowd_core::dataset::Quasi;
use incrowd_core::{Code, Dataset, Span};

use super::faces::Face;
use super::metric::Metric;

/// Tables of prices are kept for lines of at most this many leaves, and for longer ones up to the second number where there are
/// so many rows that making the table costs little beside the moves.
const TABLED: u32 = 512;
const MOST_TABLED: u32 = 2048;

/// Whether prices of a line are kept for all pairs of its leaves.
fn is_tabled(leaves: u32, rows: usize) -> bool {
    leaves <= TABLED || (leaves <= MOST_TABLED && (leaves as usize).pow(2) <= 8 * rows)
}

/// So many pairs of rows tell which columns differ most; far rows are paired by this leap.
const MOST_PAIRS: usize = 1000;
const LEAP: usize = 7919;

/// A column's part of a shape.
#[derive(Debug)]
pub(super) struct Line {
    /// Where its words begin.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Two words, the lowest and the highest leaf; prices by both, if they are kept.
    Span { leaves: u32, prices: Vec<f32> },
    /// The number of leaves, then a bit for every leaf; the price by the number.
    Set { words: usize, prices: Vec<f32> },
}

/// Columns of spans whose prices are all kept, in one place.
#[derive(Debug)]
struct Tabled {
    lines: Vec<TabledLine>,
    prices: Vec<f32>,
}

/// A column, where its words begin, how many leaves it has and where its prices begin.
#[derive(Clone, Copy, Debug)]
struct TabledLine {
    column: usize,
    at: usize,
    leaves: u32,
    from: u32,
}

impl Tabled {
    fn new(lines: &[Line], order: &[usize]) -> Option<Tabled> {
        let mut tabled = Tabled { lines: Vec::new(), prices: Vec::new() };
        for &column in order {
            let line = &lines[column];
            let Kind::Span { leaves, prices } = &line.kind else { return None };
            if prices.is_empty() {
                return None;
            }
            let from = u32::try_from(tabled.prices.len()).ok()?;
            tabled.lines.push(TabledLine { column, at: line.at, leaves: *leaves, from });
            tabled.prices.extend(prices);
        }
        Some(tabled)
    }

    /// See [`Shapes::at_least_with`].
    fn at_least_with(&self, shape: &[u32], codes: &[u32], most: f32) -> f32 {
        let mut sum = 0.0;
        for line in &self.lines {
            let code = codes[line.column];
            let (lo, hi) = (shape[line.at].min(code), shape[line.at + 1].max(code));
            sum += self.prices[(line.from + lo * line.leaves + hi) as usize];
            if sum > most {
                return sum;
            }
        }
        sum
    }
}

/// So many prices are added up before their sum is compared with the most it may be: which one is too much is hard to foretell.
const AT_ONCE: usize = 3;

impl Tabled {
    /// What [`Tabled::at_least_with`] says, unless it is more than `most`.
    fn price_with(&self, shape: &[u32], codes: &[u32], most: f32) -> Option<f32> {
        let mut sum = 0.0;
        for lines in self.lines.chunks(AT_ONCE) {
            for line in lines {
                let code = codes[line.column];
                let (lo, hi) = (shape[line.at].min(code), shape[line.at + 1].max(code));
                sum += self.prices[(line.from + lo * line.leaves + hi) as usize];
            }
            if sum > most {
                return None;
            }
        }
        Some(sum)
    }
}

/// Makes shapes and knows what they cost.
#[derive(Debug)]
pub(crate) struct Shapes<'a> {
    pub(super) data: &'a Dataset,
    metric: Metric,
    pub(super) lines: Vec<Line>,
    /// The columns, those first in which two rows differ most.
    pub(super) telling: Vec<usize>,
    /// The same columns, if the prices of all are kept.
    tabled: Option<Tabled>,
    /// What a record costs that is not published.
    pub(crate) most: f32,
    /// How many words a shape has.
    pub(crate) words: usize,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(data: &'a Dataset, metric: Metric) -> Shapes<'a> {
        let mut words = 0;
        let line = |quasi: &Quasi| {
            let domain = &quasi.domain;
            let (at, leaves) = (words, domain.leaves());
            let of = |lo: u32, hi: u32| (quasi.weight * metric.of(domain, lo, hi)) as f32;
            let kind = if domain.publishes_sets() {
                let prices = (0..=leaves).map(|n| of(0, n.saturating_sub(1))).collect();
                Kind::Set { words: leaves.div_ceil(32) as usize, prices }
            } else {
                let pairs = |lo: u32| (0..leaves).map(move |hi| (lo, hi));
                let price = |(lo, hi): (u32, u32)| of(lo.min(hi), hi);
                let tabled = if is_tabled(leaves, data.rows()) { leaves } else { 0 };
                Kind::Span { leaves, prices: (0..tabled).flat_map(pairs).map(price).collect() }
            };
            words += match &kind {
                Kind::Span { .. } => 2,
                Kind::Set { words, .. } => 1 + *words,
            };
            Line { at, kind }
        };
        let lines = data.quasi().iter().map(line).collect();
        let most = data.quasi().iter().map(|quasi| quasi.weight).sum::<f64>() as f32;
        let telling = (0..data.quasi().len()).collect();
        let mut shapes = Shapes { data, metric, lines, telling, tabled: None, most, words };
        shapes.telling = shapes.most_telling();
        shapes.tabled = Tabled::new(&shapes.lines, &shapes.telling);
        shapes
    }

    /// The columns by what two rows cost together in the mean, over some pairs of rows.
    fn most_telling(&self) -> Vec<usize> {
        let rows = self.data.rows();
        let mut sums = vec![0.0f32; self.lines.len()];
        for i in 0..rows.min(MOST_PAIRS) {
            let (a, b) = (i * (rows / rows.min(MOST_PAIRS)), i * LEAP % rows);
            let shape = self.of([a as u32, b as u32]);
            sums.iter_mut().enumerate().for_each(|(q, sum)| *sum += self.cell(q, &shape));
        }
        let mut order = self.telling.clone();
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
        order
    }

    /// The shape of no row.
    pub(crate) fn empty(&self) -> Vec<u32> {
        let mut shape = vec![0; self.words];
        for line in self.lines.iter().filter(|line| matches!(line.kind, Kind::Span { .. })) {
            shape[line.at] = u32::MAX;
        }
        shape
    }

    /// Makes a shape cover a row.
    pub(crate) fn cover(&self, shape: &mut [u32], row: u32) {
        for (line, &code) in self.lines.iter().zip(self.data.quasi_codes(row as usize)) {
            match line.kind {
                Kind::Span { .. } => {
                    shape[line.at] = shape[line.at].min(code);
                    shape[line.at + 1] = shape[line.at + 1].max(code);
                }
                Kind::Set { .. } => {
                    let word = &mut shape[line.at + 1 + code as usize / 32];
                    let new = !*word >> (code % 32) & 1;
                    *word |= 1 << (code % 32);
                    shape[line.at] += new;
                }
            }
        }
    }

    /// The shape of these rows.
    pub(crate) fn of(&self, rows: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut shape = self.empty();
        rows.into_iter().for_each(|row| self.cover(&mut shape, row));
        shape
    }

    /// Makes a shape cover what another one does.
    pub(crate) fn unite(&self, shape: &mut [u32], other: &[u32]) {
        for line in &self.lines {
            match line.kind {
                Kind::Span { .. } => {
                    shape[line.at] = shape[line.at].min(other[line.at]);
                    shape[line.at + 1] = shape[line.at + 1].max(other[line.at + 1]);
                }
                Kind::Set { words, .. } => {
                    let words = line.at + 1..line.at + 1 + words;
                    shape[words.clone()].iter_mut().zip(&other[words.clone()]).for_each(|(a, b)| *a |= b);
                    shape[line.at] = shape[words].iter().map(|word| word.count_ones()).sum();
                }
            }
        }
    }

    /// What one record costs that is published in this shape.
    pub(crate) fn price(&self, shape: &[u32]) -> f32 {
        self.telling.iter().map(|&q| self.cell(q, shape)).sum()
    }

    fn cell(&self, q: usize, shape: &[u32]) -> f32 {
        let line = &self.lines[q];
        match &line.kind {
            Kind::Span { leaves, prices } => {
                self.span(q, *leaves, prices, shape[line.at], shape[line.at + 1])
            }
            Kind::Set { prices, .. } => prices[shape[line.at] as usize],
        }
    }

    /// What a row has in every column.
    pub(super) fn codes(&self, row: u32) -> &[u32] {
        self.data.quasi_codes(row as usize)
    }

    /// What a group of this shape would cost more with a row of these codes and so many records, unless that is more than `most`.
    pub(super) fn dearer(
        &self,
        face: Face,
        shape: &[u32],
        (codes, weight): (&[u32], u64),
        most: f32,
    ) -> Option<f32> {
        let records = (face.records + weight) as f32;
        let most_price = (most + face.cost) / records;
        // Covering one more row never makes a shape cheaper.
        if face.price > most_price {
            return None;
        }
        let price = match &self.tabled {
            Some(tabled) => tabled.price_with(shape, codes, most_price)?,
            None => Some(self.at_least(shape, codes, most_price)).filter(|price| *price <= most_price)?,
        };
        Some(records * price - face.cost)
    }

    /// The price of a shape if it covered a row too; if that is more than `most`, something between the two.
    pub(crate) fn at_least_with(&self, shape: &[u32], row: u32, most: f32) -> f32 {
        self.at_least(shape, self.codes(row), most)
    }

    fn at_least(&self, shape: &[u32], codes: &[u32], most: f32) -> f32 {
        if let Some(tabled) = &self.tabled {
            return tabled.at_least_with(shape, codes, most);
        }
        let mut sum = 0.0;
        for &q in &self.telling {
            let (line, code) = (&self.lines[q], codes[q]);
            sum += match &line.kind {
                Kind::Span { leaves, prices } => {
                    let (lo, hi) = (shape[line.at].min(code), shape[line.at + 1].max(code));
                    self.span(q, *leaves, prices, lo, hi)
                }
                Kind::Set { prices, .. } => {
                    let has = shape[line.at + 1 + code as usize / 32] >> (code % 32) & 1;
                    prices[(shape[line.at] + 1 - has) as usize]
                }
            };
            if sum > most {
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

    /// The spans of a shape, as a partition takes them.
    pub(crate) fn spans(&self, shape: &[u32]) -> Vec<Span> {
        let span = |line: &Line| match line.kind {
            Kind::Span { .. } => (shape[line.at], shape[line.at + 1]),
            Kind::Set { words, .. } => {
                let set = &shape[line.at + 1..line.at + 1 + words];
                let low = set.iter().position(|w| *w != 0).unwrap_or(0);
                let high = set.iter().rposition(|w| *w != 0).unwrap_or(0);
                let lo = low as u32 * 32 + set[low].trailing_zeros().min(31);
                (lo, high as u32 * 32 + 31 - set[high].leading_zeros().min(31))
            }
        };
        self.lines.iter().map(span).map(|(lo, hi)| Span { lo: Code(lo), hi: Code(hi) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::{ColumnSpec, Folded, HierarchySpec};
    use proptest::prelude::*;

    const TREE: &str = "b0;x;*\nb1;x;*\nb2;y;*\nb3;z;*\nb4;z;*\n";

    proptest! {
        /// Prices kept in one place are those of the cells, and covering one more row never makes a shape cheaper.
        #[test]
        fn one_more_row_costs_what_its_cells_do(
            records in prop::collection::vec((0u32..40, 0u32..5, 0u32..4), 2..40), ncp: bool, quasi in 2usize..4, most in 0.0f32..3.0,
        ) {
            let text = |(a, b, c): (u32, u32, u32)| [a.to_string(), format!("b{b}"), format!("c{c}")];
            let records: Vec<[String; 3]> = records.into_iter().map(text).collect();
            let cells = records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "c"], cells, true);
            let tree = HierarchySpec::Arx { name: "b".into(), text: TREE.into() };
            let (plain, tree) = (ColumnSpec::default(), ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() });
            let specs = [&plain, &tree, &plain];
            let data = Dataset::encode(folded, &specs[..quasi], &[], "?").map_err(|e| e.misfit.error).unwrap();
            let mut shapes = Shapes::new(&data, if ncp { Metric::Ncp } else { Metric::InformationLoss });
            let tabled = shapes.tabled.take();
            prop_assert!(tabled.is_some() || quasi == 3);
            let mut shape = shapes.of([0]);
            for row in 1..data.rows() as u32 {
                let slowly = shapes.at_least_with(&shape, row, most);
                if let Some(tabled) = &tabled {
                    let codes = data.quasi_codes(row as usize);
                    prop_assert_eq!(tabled.at_least_with(&shape, codes, most), slowly);
                    prop_assert_eq!(tabled.price_with(&shape, codes, most), Some(slowly).filter(|price| *price <= most));
                }
                let before = shapes.price(&shape);
                let with = shapes.at_least_with(&shape, row, f32::INFINITY);
                shapes.cover(&mut shape, row);
                prop_assert_eq!(with, shapes.price(&shape));
                prop_assert!(with >= before);
                prop_assert!(slowly <= with && (slowly > most || slowly == with));
            }
        }
    }
}
