//! Which of many boxes holds a point? A tree of bounding boxes, so that an external table may be of any length.

use incrowd_core::{Dataset, Span};

use crate::top_down::Lines;

/// Boxes below this number are looked at one by one.
const FEW: usize = 8;

/// Boxes that may overlap, ready to be asked for the one of least perimeter that holds a point.
#[derive(Clone, Debug)]
pub struct Boxes {
    width: usize,
    /// The boxes in the order of the tree: the first and last leaf on each line.
    spans: Vec<(u32, u32)>,
    /// The number of each box as it was given, and its rank by perimeter, then number.
    numbers: Vec<u32>,
    ranks: Vec<u32>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    /// The box of its boxes.
    bounds: Vec<(u32, u32)>,
    /// The least rank below.
    rank: u32,
    /// Its boxes, from and to.
    own: (u32, u32),
    /// Where its second child is; the first follows the node. 0 if it has none.
    second: u32,
}

impl Boxes {
    /// Takes boxes on the lines of a table.
    pub fn new<'s>(data: &Dataset, boxes: impl Iterator<Item = &'s [Span]>) -> Boxes {
        let lines = Lines::new(data);
        let width = data.quasi().len();
        let given: Vec<Vec<(u32, u32)>> =
            boxes.map(|spans| spans.iter().map(|span| (span.lo.0, span.hi.0)).collect()).collect();
        let perimeter: Vec<f64> = given
            .iter()
            .map(|spans| spans.iter().enumerate().map(|(line, &(lo, hi))| lines.cost(line, lo, hi)).sum())
            .collect();
        let mut by_size: Vec<u32> = (0..given.len() as u32).collect();
        by_size.sort_by(|&a, &b| perimeter[a as usize].total_cmp(&perimeter[b as usize]).then(a.cmp(&b)));
        let mut rank = vec![0; given.len()];
        by_size.iter().enumerate().for_each(|(r, &number)| rank[number as usize] = r as u32);
        let mut order: Vec<u32> = (0..given.len() as u32).collect();
        let mut nodes = Vec::new();
        if !order.is_empty() {
            grow(&mut nodes, &mut order, 0, &given, &rank);
        }
        let spans = order.iter().flat_map(|&number| given[number as usize].iter().copied()).collect();
        let ranks = order.iter().map(|&number| rank[number as usize]).collect();
        Boxes { width, spans, numbers: order, ranks, nodes }
    }

    /// The number of the box of least perimeter, then of the first, that holds the point.
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

/// Builds the tree over `order`, which is put in its order; `before` is the position of its first box.
fn grow(nodes: &mut Vec<Node>, order: &mut [u32], before: u32, given: &[Vec<(u32, u32)>], rank: &[u32]) {
    let width = given[order[0] as usize].len();
    let of = |number: u32| &given[number as usize];
    let bounds: Vec<(u32, u32)> = (0..width)
        .map(|line| {
            let lo = order.iter().map(|&number| of(number)[line].0).min().unwrap_or(0);
            let hi = order.iter().map(|&number| of(number)[line].1).max().unwrap_or(0);
            (lo, hi)
        })
        .collect();
    let least = order.iter().map(|&number| rank[number as usize]).min().unwrap_or(0);
    let at = nodes.len();
    nodes.push(Node { bounds, rank: least, own: (before, before + order.len() as u32), second: 0 });
    if order.len() <= FEW {
        return;
    }
    // Along the line on which the boxes' middles take the most different places they part best.
    let middle = |number: u32, line: usize| u64::from(of(number)[line].0) + u64::from(of(number)[line].1);
    let places = |line: usize| {
        let mut middles: Vec<u64> = order.iter().map(|&number| middle(number, line)).collect();
        middles.sort_unstable();
        middles.dedup();
        middles.len()
    };
    let line = (0..width).max_by_key(|&line| (places(line), width - line)).unwrap_or(0);
    order.sort_by_key(|&number| (middle(number, line), number));
    let (first, second) = order.split_at_mut(order.len() / 2);
    grow(nodes, first, before, given, rank);
    nodes[at].second = nodes.len() as u32;
    grow(nodes, second, before + first.len() as u32, given, rank);
}
