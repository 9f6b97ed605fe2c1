//! Density-based outliers: who lies in a thinner crowd than the neighbours do.
//!
//! Paper: `breunig2000`, Definitions 3 to 7. The k-distance of x is the distance to its k-th nearest neighbour, and the
//! neighbourhood N(x) is everybody within it. The local reachability density of x is 1 over the mean of
//! `max(k-distance(y), dist(x, y))` over N(x), and the local outlier factor of x is the mean of the densities of N(x) divided
//! by that of x: about 1 in a crowd, however dense, and more at its edge. Here x is an outlier if its factor is at least the
//! threshold.
//!
//! Where we differ: people who are alike have distance 0, and k of them make a density infinite. So, as the paper suggests for
//! duplicates, k counts distinct places; everybody at those places is in the neighbourhood, and so are the others at the
//! place of x. Without duplicates this is the paper's definition. A tuple that is only thought of is measured against the real
//! ones: at an occupied place it is one of the people there, elsewhere it has neighbours but is nobody's. The factor is
//! rounded against the publisher by 10⁻⁹.
//!
//! Unlike distance-based outliers, nothing is known of a box from its ends: every corner is asked by itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache::{Asked, Ends};
use super::near::{Bits, Good};
use super::{Outliers, SLACK};

/// What a density-based outlier is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Density {
    /// How many distinct places make a neighbourhood.
    pub neighbours: u64,
    /// From which factor on somebody is an outlier.
    pub threshold: f64,
}

/// A factor this little below the threshold is at it.
const ROUNDING: f64 = 1e-9;

/// What is known of every place, by its number in the tree.
pub(super) struct Densities {
    asked: Density,
    distance: Vec<f64>,
    density: Vec<f64>,
}

/// Another place: its number, the square of its distance, and who is there.
#[derive(Clone, Copy)]
struct Neighbour {
    place: u32,
    square: f64,
    records: u64,
}

/// A number that is ordered.
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
    /// Everybody within the k-distance of a tuple, the others at its own place included, and that distance.
    fn neighbourhood(&self, at: &[f64], value: f64, neighbours: u64) -> (f64, Vec<Neighbour>) {
        // The squares of the nearest other places, the farthest first.
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
                open.extend([node + 1, second].map(|half| Reverse((Square(self.nearest(half, at)), half))));
                continue;
            }
            for point in points.0..points.1 {
                let apart: f64 = self.tree.place(point).iter().zip(at).map(|(x, y)| (x - y) * (x - y)).sum();
                let listed = self.tree.of_point(point);
                for (i, &rank) in listed.ranks.iter().enumerate() {
                    let beside = self.scaled[rank as usize] - value;
                    let square = apart + beside * beside;
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
                    found.push(Neighbour { place: self.tree.first_place(point) + i as u32, square, records });
                }
            }
        }
        let farthest = nearest.peek().map_or(0.0, |square| square.0);
        found.retain(|other| other.square <= farthest + SLACK);
        // Sums must not depend on the order in which nodes were opened.
        found.sort_unstable_by(|a, b| a.square.total_cmp(&b.square).then(a.place.cmp(&b.place)));
        // Nobody is a neighbour of oneself.
        if let Some(own) = found.first_mut().filter(|first| first.square == 0.0) {
            own.records -= own.records.min(1);
        }
        (farthest.sqrt(), found)
    }

    /// The least square of the distance from a tuple to a node, values aside.
    fn nearest(&self, node: u32, at: &[f64]) -> f64 {
        let side = |(&(lo, hi), &x): (&(f64, f64), &f64)| (lo - x).max(x - hi).max(0.0).powi(2);
        self.tree.sides(node).iter().zip(at).map(side).sum()
    }

    /// Measures every place.
    pub(super) fn densities(&self, asked: Density) -> Densities {
        let places: Vec<(u32, u32, u32)> = (0..self.tree.points() as u32)
            .flat_map(|point| {
                let ranks = self.tree.of_point(point).ranks.iter().enumerate();
                ranks.map(move |(i, &rank)| (self.tree.first_place(point) + i as u32, point, rank))
            })
            .collect();
        let length = places.last().map_or(0, |place| place.0 as usize + 1);
        let around = |&(_, point, rank): &(u32, u32, u32)| {
            self.neighbourhood(self.tree.place(point), self.scaled[rank as usize], asked.neighbours)
        };
        let mut densities = Densities { asked, distance: vec![0.0; length], density: vec![1.0; length] };
        for place in &places {
            densities.distance[place.0 as usize] = around(place).0;
        }
        for place in &places {
            densities.density[place.0 as usize] = densities.density(&around(place).1);
        }
        densities
    }

    /// The local outlier factor of a tuple, real or thought of; 1 for somebody without neighbours.
    fn factor(&self, densities: &Densities, at: &[f64], rank: u32) -> f64 {
        let value = self.scaled[rank as usize];
        let (_, found) = self.neighbourhood(at, value, densities.asked.neighbours);
        let (mut sum, mut records) = (0.0, 0.0);
        for other in &found {
            sum += other.records as f64 * densities.density[other.place as usize];
            records += other.records as f64;
        }
        if records == 0.0 { 1.0 } else { sum / records / densities.density(&found) }
    }

    /// The local outlier factor of a row of the table; `None` if outliers are not told by density.
    pub fn row_factor(&self, row: usize) -> Option<f64> {
        let densities = self.by_density()?;
        Some(self.factor(densities, self.tree.place(self.point[row]), self.row_rank[row]))
    }

    /// The good values of a point as far as they are asked for; nothing is known of a box.
    pub(super) fn look_at_density(
        &self,
        densities: &Densities,
        ends: &Ends,
        few: Option<&[u32]>,
        asked: Asked<'_>,
    ) -> Good {
        let (mut all, mut some) = (Bits::none(self.values.len()), self.everything.clone());
        if ends.iter().any(|(lo, hi)| lo != hi) {
            return Good { all, some };
        }
        let at: Vec<f64> = ends.iter().map(|end| end.0).collect();
        let wanted = match (few, asked) {
            (Some(few), _) => Bits::of(self.values.len(), few.iter().copied()),
            (None, Asked::All) => self.everything.clone(),
            (None, Asked::Any(values) | Asked::Each(values)) => values.clone(),
        };
        for rank in wanted.ranks() {
            if self.factor(densities, &at, rank) + ROUNDING < densities.asked.threshold {
                all.set(rank);
                if matches!(asked, Asked::Any(_)) {
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
    /// The local reachability density of somebody with these neighbours.
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
