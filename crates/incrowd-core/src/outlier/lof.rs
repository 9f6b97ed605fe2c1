//! Density-based outliers: records in a less dense neighbourhood than their neighbours.
//!
//! Paper: `breunig2000`, Definitions 3 to 7. The k-distance of x is the distance to its k-th
//! nearest neighbour. The neighbourhood N(x) contains all records within this distance. The local
//! reachability density of x is the reciprocal of the mean of `max(k-distance(y), dist(x, y))` over
//! N(x). The local outlier factor of x is the mean density of N(x) divided by the density of x:
//! about 1 inside a cluster, whatever its density, and greater at its edge. Here x is an outlier if
//! its factor is at least the threshold.
//!
//! Where we differ: equal records have distance 0, and k of them would make a density infinite.
//! Therefore, as the paper suggests for duplicates, k counts distinct places. All records at these
//! places are in the neighbourhood, and so are the other records at the place of x. Without
//! duplicates this is the paper's definition. A hypothetical tuple is measured against the real
//! records: at an occupied place it is one of the records there; elsewhere it has neighbours but is
//! not a neighbour of any record. The factor is rounded to the strict side by 10⁻⁹.
//!
//! Unlike for distance-based outliers, the ends of a box give no bounds: every corner is evaluated
//! separately.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::{Ends, Query};
use super::near::{Bits, Good};
use super::{Outliers, SLACK};

/// The definition of a density-based outlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Density {
    /// The number of distinct places in a neighbourhood.
    pub neighbours: u64,
    /// The least factor of an outlier.
    pub threshold: f64,
}

/// A factor that is less than the threshold by at most this counts as equal to it.
const ROUNDING: f64 = 1e-9;

/// The k-distance and density of every place, by its number in the tree.
pub(super) struct Densities {
    settings: Density,
    distance: Vec<f64>,
    density: Vec<f64>,
}

/// A neighbouring place: its number, its squared distance, and its number of records.
#[derive(Clone, Copy)]
struct Neighbour {
    place: u32,
    square: f64,
    records: u64,
}

/// A float with a total order.
#[derive(Clone, Copy, PartialEq)]
struct Square(f64);
impl Eq for Square {}
impl PartialOrd for Square {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Square {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Outliers {
    /// The k-distance of a tuple and all records within it, including the others at its place.
    fn neighbourhood(&self, at: &[f64], value: f64, neighbours: u64) -> (f64, Vec<Neighbour>) {
        // The squared distances of the nearest other places, the greatest first.
        let mut nearest: BinaryHeap<Square> = BinaryHeap::new();
        let mut found: Vec<Neighbour> = Vec::new();
        let mut open = BinaryHeap::from([Reverse((Square(0.0), 0u32))]);
        if self.tree.nodes.is_empty() {
            open.clear();
        }
        while let Some(Reverse((Square(bound), node))) = open.pop() {
            let full = nearest.len() as u64 >= neighbours;
            if full && nearest.peek().is_some_and(|farthest| bound > farthest.0 + SLACK) {
                break;
            }
            let (points, second) =
                (self.tree.nodes[node as usize].points, self.tree.nodes[node as usize].second);
            if second != 0 {
                open.extend(
                    [node + 1, second].map(|half| Reverse((Square(self.nearest(half, at)), half))),
                );
                continue;
            }
            for point in points.0..points.1 {
                let apart: f64 =
                    self.tree.place(point).iter().zip(at).map(|(x, y)| (x - y) * (x - y)).sum();
                let listed = self.tree.of_point(point);
                for (i, &rank) in listed.ranks.iter().enumerate() {
                    let difference = self.scaled[rank as usize] - value;
                    let square = apart + difference * difference;
                    let full = nearest.len() as u64 >= neighbours;
                    if full && nearest.peek().is_some_and(|farthest| square > farthest.0 + SLACK) {
                        continue;
                    }
                    let records = listed.before[i + 1] - listed.before[i];
                    if square > 0.0 {
                        nearest.push(Square(square));
                        if nearest.len() as u64 > neighbours {
                            nearest.pop();
                        }
                    }
                    found.push(Neighbour {
                        place: self.tree.first_place(point) + i as u32,
                        square,
                        records,
                    });
                }
            }
        }
        let farthest = nearest.peek().map_or(0.0, |square| square.0);
        found.retain(|other| other.square <= farthest + SLACK);
        // Sort, so that floating-point sums do not depend on the order in which nodes were visited.
        found.sort_unstable_by(|a, b| a.square.total_cmp(&b.square).then(a.place.cmp(&b.place)));
        // A record is not its own neighbour.
        if let Some(own) = found.first_mut().filter(|first| first.square == 0.0) {
            own.records -= own.records.min(1);
        }
        (farthest.sqrt(), found)
    }

    /// The least squared distance from a tuple to a node, without the sensitive value.
    fn nearest(&self, node: u32, at: &[f64]) -> f64 {
        let side = |(&(lo, hi), &x): (&(f64, f64), &f64)| (lo - x).max(x - hi).max(0.0).powi(2);
        self.tree.sides(node).iter().zip(at).map(side).sum()
    }

    /// Computes k-distance and density of every place.
    pub(super) fn densities(&self, settings: Density) -> Densities {
        let places: Vec<(u32, u32, u32)> = (0..self.tree.points() as u32)
            .flat_map(|point| {
                let ranks = self.tree.of_point(point).ranks.iter().enumerate();
                ranks.map(move |(i, &rank)| (self.tree.first_place(point) + i as u32, point, rank))
            })
            .collect();
        let length = places.last().map_or(0, |place| place.0 as usize + 1);
        let around = |&(_, point, rank): &(u32, u32, u32)| {
            self.neighbourhood(
                self.tree.place(point),
                self.scaled[rank as usize],
                settings.neighbours,
            )
        };
        let mut densities =
            Densities { settings, distance: vec![0.0; length], density: vec![1.0; length] };
        for place in &places {
            densities.distance[place.0 as usize] = around(place).0;
        }
        for place in &places {
            densities.density[place.0 as usize] = densities.density(&around(place).1);
        }
        densities
    }

    /// The local outlier factor of a real or hypothetical tuple; 1 if it has no neighbours.
    fn factor(&self, densities: &Densities, at: &[f64], rank: u32) -> f64 {
        let value = self.scaled[rank as usize];
        let (_, found) = self.neighbourhood(at, value, densities.settings.neighbours);
        let (mut sum, mut records) = (0.0, 0.0);
        for other in &found {
            sum += other.records as f64 * densities.density[other.place as usize];
            records += other.records as f64;
        }
        if records == 0.0 { 1.0 } else { sum / records / densities.density(&found) }
    }

    /// The local outlier factor of a row of the table; `None` if outliers are distance-based.
    pub fn row_factor(&self, row: usize) -> Option<f64> {
        let densities = self.by_density()?;
        Some(self.factor(densities, self.tree.place(self.point[row]), self.row_rank[row]))
    }

    /// The good values of a point, as far as the query needs them. For a box nothing is known.
    pub(super) fn evaluate_by_density(
        &self,
        densities: &Densities,
        ends: &Ends,
        few: Option<&[u32]>,
        query: Query<'_>,
    ) -> Good {
        let (mut all, mut some) = (Bits::none(self.values.len()), self.everything.clone());
        if ends.iter().any(|(lo, hi)| lo != hi) {
            return Good { all, some };
        }
        let at: Vec<f64> = ends.iter().map(|end| end.0).collect();
        let wanted = match (few, query) {
            (Some(few), _) => Bits::of(self.values.len(), few.iter().copied()),
            (None, Query::All) => self.everything.clone(),
            (None, Query::Any(values) | Query::Each(values)) => values.clone(),
        };
        for rank in wanted.ranks() {
            if self.factor(densities, &at, rank) + ROUNDING < densities.settings.threshold {
                all.set(rank);
                if matches!(query, Query::Any(_)) {
                    break;
                }
            } else {
                some.unset(rank);
            }
        }
        Good { all, some }
    }
}

impl Densities {
    /// The local reachability density of a tuple with these neighbours.
    fn density(&self, found: &[Neighbour]) -> f64 {
        let (mut sum, mut records) = (0.0, 0.0);
        for other in found {
            let reach = self.distance[other.place as usize].max(other.square.sqrt());
            sum += other.records as f64 * reach;
            records += other.records as f64;
        }
        if sum > 0.0 { records / sum } else { 1.0 }
    }
}
