//! Finds the box that contains a point, with a tree of bounding boxes. The external table may have
//! any length.

use incrowd_core::{Dataset, Span};

use crate::top_down::ColumnCosts;

/// The greatest number of boxes of a leaf of the tree.
const MAX_LEAF_BOXES: usize = 8;

/// A search tree of boxes that may overlap.
#[derive(Clone, Debug)]
pub struct Boxes {
    width: usize,
    /// The boxes in the order of the tree: the first and last leaf in each column.
    spans: Vec<(u32, u32)>,
    /// The index of each box in the input, and its rank by perimeter, then index.
    numbers: Vec<u32>,
    ranks: Vec<u32>,
    nodes: Vec<BoxNode>,
}

#[derive(Clone, Debug)]
struct BoxNode {
    /// The bounding box of its boxes.
    bounds: Vec<(u32, u32)>,
    /// The least rank of its boxes.
    rank: u32,
    /// The range of its boxes.
    own: (u32, u32),
    /// The index of its second child. The first child follows the node. 0 if it has no children.
    second: u32,
}

impl Boxes {
    /// Builds the tree of boxes in the domains of a table.
    pub fn new<'s>(data: &Dataset, boxes: impl Iterator<Item = &'s [Span]>) -> Boxes {
        let costs = ColumnCosts::new(data);
        let width = data.quasi().len();
        let given: Vec<Vec<(u32, u32)>> =
            boxes.map(|spans| spans.iter().map(|span| (span.lo.0, span.hi.0)).collect()).collect();
        let perimeter: Vec<f64> = given
            .iter()
            .map(|spans| spans.iter().enumerate().map(|(q, &(lo, hi))| costs.cost(q, lo, hi)).sum())
            .collect();
        let mut by_size: Vec<u32> = (0..given.len() as u32).collect();
        by_size.sort_by(|&a, &b| {
            perimeter[a as usize].total_cmp(&perimeter[b as usize]).then(a.cmp(&b))
        });
        let mut rank = vec![0; given.len()];
        by_size.iter().enumerate().for_each(|(r, &number)| rank[number as usize] = r as u32);
        let mut order: Vec<u32> = (0..given.len() as u32).collect();
        let mut nodes = Vec::new();
        if !order.is_empty() {
            build(&mut nodes, &mut order, 0, &given, &rank);
        }
        let spans =
            order.iter().flat_map(|&number| given[number as usize].iter().copied()).collect();
        let ranks = order.iter().map(|&number| rank[number as usize]).collect();
        Boxes { width, spans, numbers: order, ranks, nodes }
    }

    /// Returns the index of the box with the least perimeter that contains the point, the first of
    /// several.
    pub fn smallest(&self, point: &[u32]) -> Option<u32> {
        let mut best: Option<(u32, u32)> = None;
        let mut todo = vec![0usize];
        while let Some(at) = todo.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            if best.is_some_and(|(rank, _)| rank <= node.rank) || !holds(&node.bounds, point) {
                continue;
            }
            if node.second > 0 {
                todo.extend([node.second as usize, at + 1]);
                continue;
            }
            for i in node.own.0 as usize..node.own.1 as usize {
                let spans = &self.spans[i * self.width..(i + 1) * self.width];
                if best.is_none_or(|(rank, _)| self.ranks[i] < rank) && holds(spans, point) {
                    best = Some((self.ranks[i], self.numbers[i]));
                }
            }
        }
        best.map(|(_, number)| number)
    }
}

#[inline]
fn holds(spans: &[(u32, u32)], point: &[u32]) -> bool {
    spans.iter().zip(point).all(|(&(lo, hi), &code)| lo <= code && code <= hi)
}

/// Builds the tree over `order` and sorts it by the tree. `before` is the position of its first
/// box.
fn build(
    nodes: &mut Vec<BoxNode>,
    order: &mut [u32],
    before: u32,
    given: &[Vec<(u32, u32)>],
    rank: &[u32],
) {
    let width = given[order[0] as usize].len();
    let of = |number: u32| &given[number as usize];
    let bounds: Vec<(u32, u32)> = (0..width)
        .map(|q| {
            let lo = order.iter().map(|&number| of(number)[q].0).min().unwrap_or(0);
            let hi = order.iter().map(|&number| of(number)[q].1).max().unwrap_or(0);
            (lo, hi)
        })
        .collect();
    let least = order.iter().map(|&number| rank[number as usize]).min().unwrap_or(0);
    let at = nodes.len();
    nodes.push(BoxNode {
        bounds,
        rank: least,
        own: (before, before + order.len() as u32),
        second: 0,
    });
    if order.len() <= MAX_LEAF_BOXES {
        return;
    }
    // Divide along the column in which the centres of the boxes have the most distinct values.
    let middle = |number: u32, q: usize| u64::from(of(number)[q].0) + u64::from(of(number)[q].1);
    let distinct = |q: usize| {
        let mut middles: Vec<u64> = order.iter().map(|&number| middle(number, q)).collect();
        middles.sort_unstable();
        middles.dedup();
        middles.len()
    };
    let q = (0..width).max_by_key(|&q| (distinct(q), width - q)).unwrap_or(0);
    order.sort_by_key(|&number| (middle(number, q), number));
    let (first, second) = order.split_at_mut(order.len() / 2);
    build(nodes, first, before, given, rank);
    nodes[at].second = nodes.len() as u32;
    build(nodes, second, before + first.len() as u32, given, rank);
}
