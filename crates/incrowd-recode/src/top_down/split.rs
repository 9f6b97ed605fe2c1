//! The division of points around two distant ones.

use incrowd_core::Progress;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::column_costs::{ColumnCosts, less};
use super::points::Points;

/// Sets with at least this many points are divided in parallel.
const PARALLEL_POINTS: usize = 8192;

/// The greatest number of times the farthest point is searched again.
const MAX_STEPS: usize = 3;

/// The data that all divisions share.
pub(super) struct Splitting<'a> {
    pub(super) costs: &'a ColumnCosts<'a>,
    pub(super) points: &'a Points,
    /// Parts with at most this many records are not divided.
    pub(super) min_records: u64,
    pub(super) seed: u64,
    pub(super) progress: &'a dyn Progress,
}

/// A node of the tree: the range of its points in the order. Parents come before their children.
pub(super) type Range = (u32, u32);

/// One of the two sides of a division.
struct Side {
    spans: Vec<(u32, u32)>,
    costs: Vec<f64>,
    perimeter: f64,
    records: u64,
}

impl Side {
    fn new(codes: &[u32], records: u64) -> Side {
        let spans = codes.iter().map(|&code| (code, code)).collect();
        Side { spans, costs: vec![0.0; codes.len()], perimeter: 0.0, records }
    }

    /// Returns the perimeter with one more point.
    #[inline]
    fn with(&self, costs: &ColumnCosts<'_>, codes: &[u32]) -> f64 {
        let mut sum = 0.0;
        for (q, (&code, &(lo, hi))) in codes.iter().zip(&self.spans).enumerate() {
            let inside = lo <= code && code <= hi;
            sum += if inside { self.costs[q] } else { costs.cost(q, lo.min(code), hi.max(code)) };
        }
        sum
    }

    /// Returns the growth of records times perimeter if a point joins.
    #[inline]
    fn growth(&self, costs: &ColumnCosts<'_>, codes: &[u32], records: u64) -> f64 {
        (self.records + records) as f64 * self.with(costs, codes)
            - self.records as f64 * self.perimeter
    }

    fn join(&mut self, costs: &ColumnCosts<'_>, codes: &[u32], records: u64) {
        for (q, (&code, span)) in codes.iter().zip(&mut self.spans).enumerate() {
            if code < span.0 || code > span.1 {
                *span = (span.0.min(code), span.1.max(code));
                self.costs[q] = costs.cost(q, span.0, span.1);
            }
        }
        self.perimeter = self.costs.iter().sum();
        self.records += records;
    }
}

impl Splitting<'_> {
    /// Divides all points. Returns them in the order of the tree, and the nodes of the tree.
    pub(super) fn run(&self) -> (Vec<u32>, Vec<Range>) {
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        let nodes = self.split(&mut order, 0);
        (order, nodes)
    }

    /// Divides these points, which must be in canonical order. `before` is the position of the
    /// first.
    fn split(&self, points: &mut [u32], before: u32) -> Vec<Range> {
        if points.len() >= PARALLEL_POINTS {
            let range = (before, before + points.len() as u32);
            let Some(left) = self.divide(points, before) else { return vec![range] };
            let (first, second) = points.split_at_mut(left);
            let (mut first, mut second) = rayon::join(
                || self.split(first, before),
                || self.split(second, before + left as u32),
            );
            let mut nodes = vec![range];
            nodes.append(&mut first);
            nodes.append(&mut second);
            return nodes;
        }
        // Outliers are separated one by one, which makes trees deep. A stack replaces the recursion
        // here.
        let mut nodes = Vec::new();
        let mut todo = vec![(0, points.len())];
        while let Some((from, to)) = todo.pop() {
            nodes.push((before + from as u32, before + to as u32));
            if let Some(left) = self.divide(&mut points[from..to], before + from as u32) {
                todo.extend([(from + left, to), (from, from + left)]);
            }
        }
        self.progress.advance(points.len() as u64);
        nodes
    }

    /// Divides points into two sides, each in canonical order. Returns the number of points on the
    /// first.
    fn divide(&self, points: &mut [u32], before: u32) -> Option<usize> {
        let records: u64 = points.iter().map(|&p| self.points.records[p as usize]).sum();
        if records <= self.min_records || points.len() < 2 {
            return None;
        }
        let (u, v) = self.far_pair(points);
        let mut order: Vec<u32> = (0..points.len() as u32).filter(|&i| i != u && i != v).collect();
        let mut rng =
            ChaCha8Rng::seed_from_u64(self.seed ^ (u64::from(before) << 32 | points.len() as u64));
        order.shuffle(&mut rng);
        let first = self.assign(points, u, v, &order);
        let (mut kept, mut other) = (0, Vec::with_capacity(points.len()));
        for i in 0..points.len() {
            if first[i] {
                points[kept] = points[i];
                kept += 1;
            } else {
                other.push(points[i]);
            }
        }
        points[kept..].copy_from_slice(&other);
        Some(kept)
    }

    fn distance(&self, points: &[u32], a: u32, b: u32) -> f64 {
        let codes = |i: u32| self.points.codes(points[i as usize]);
        self.costs.distance(codes(a), codes(b))
    }

    /// Returns the first of the points that are farthest from `from`.
    fn farthest(&self, points: &[u32], from: u32) -> (u32, f64) {
        let mut best = (0, -1.0);
        for i in 0..points.len() as u32 {
            let distance = self.distance(points, from, i);
            if less(best.1, distance) {
                best = (i, distance);
            }
        }
        best
    }

    /// Returns the positions of two distant points: the farthest from the first point, then the
    /// farthest from that one, and so on.
    pub(super) fn far_pair(&self, points: &[u32]) -> (u32, u32) {
        let (mut u, mut v) = (0, 0);
        for _ in 0..MAX_STEPS {
            let far = self.farthest(points, u);
            v = far.0;
            let (w, farther) = self.farthest(points, v);
            if !less(far.1, farther) {
                break;
            }
            u = w;
        }
        // Points may differ and still have no loss together.
        if u == v { (0, 1) } else { (u, v) }
    }

    /// Returns which points are on the side of `u`. The others choose in this order the side on
    /// which records times perimeter grow less.
    pub(super) fn assign(&self, points: &[u32], u: u32, v: u32, order: &[u32]) -> Vec<bool> {
        let codes = |i: u32| self.points.codes(points[i as usize]);
        let records = |i: u32| self.points.records[points[i as usize] as usize];
        let (mut a, mut b) = (Side::new(codes(u), records(u)), Side::new(codes(v), records(v)));
        let mut first = vec![false; points.len()];
        first[u as usize] = true;
        for &i in order {
            let (codes, records) = (codes(i), records(i));
            let (to_a, to_b) =
                (a.growth(self.costs, codes, records), b.growth(self.costs, codes, records));
            let joins_a = less(to_a, to_b) || !less(to_b, to_a) && a.records <= b.records;
            let side = if joins_a { &mut a } else { &mut b };
            side.join(self.costs, codes, records);
            first[i as usize] = joins_a;
        }
        first
    }
}
