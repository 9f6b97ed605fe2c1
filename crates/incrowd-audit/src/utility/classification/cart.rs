//! A regression tree for a binary label.
//!
//! Paper: `breiman1984`. Every inner node splits its records by whether one feature is at most a
//! threshold. The best split has the greatest difference between the shares of positive labels: it
//! explains the greatest sum of squares, which for binary labels is also the greatest decrease of
//! the Gini impurity. Among equally good splits the first one is taken. Features are tried in an
//! order that is shuffled with a fixed seed before each node, thresholds in ascending order. A
//! threshold is the midpoint of two adjacent values.
//!
//! Records are sorted by every feature once. A node is a range of these orders, which is
//! partitioned in place for its children.

use std::ops::Range;

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

/// Parameters of growing a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Maximum number of splits on a path.
    pub(super) depth: usize,
    /// Minimum number of records in a leaf.
    pub(super) leaf: usize,
}

/// A tree. The root is the first node.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// Share of positive labels among the training records.
    share: f64,
    split: Option<Split>,
}

#[derive(Debug)]
struct Split {
    feature: usize,
    at_most: f64,
    /// The nodes of the records with a feature of at most the threshold, and of the others.
    children: [usize; 2],
}

/// The training records, sorted by each feature.
struct Records<'a> {
    features: &'a [Vec<f64>],
    labels: &'a [bool],
    /// The records in the order of each feature. A node is the same range in all orders.
    orders: Vec<Vec<u32>>,
}

/// Numbers of records and of positive labels.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    positive: usize,
}

impl Count {
    fn add(&mut self, label: bool) {
        self.all += 1;
        self.positive += usize::from(label);
    }

    fn without(self, other: Count) -> Count {
        Count { all: self.all - other.all, positive: self.positive - other.positive }
    }

    /// Returns the sum of squares that a split explains, up to a factor that is equal for all
    /// splits of a node.
    fn explained(self, other: Count) -> f64 {
        let (n, m) = (self.all as f64, other.all as f64);
        let difference = self.positive as f64 * m - other.positive as f64 * n;
        difference * difference / (n * m)
    }
}

impl Tree {
    /// Learns the labels from the features, which are given by column.
    pub(super) fn grow(features: &[Vec<f64>], labels: &[bool], growth: Growth) -> Tree {
        let sorted = |column: &Vec<f64>| {
            let mut order: Vec<u32> = (0..labels.len() as u32).collect();
            order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
            order
        };
        let mut records =
            Records { features, labels, orders: features.iter().map(sorted).collect() };
        let mut shuffled: Vec<usize> = (0..features.len()).collect();
        let mut rng = SmallRng::seed_from_u64(0);
        let mut best_split = |records: &Records<'_>, range: &Range<usize>| {
            shuffled.shuffle(&mut rng);
            records.best_split(range, &shuffled, growth.leaf)
        };
        let all = 0..labels.len();
        let mut tree = Tree { nodes: vec![leaf(&records, all.clone())] };
        let mut open = Vec::new();
        if growth.depth > 0 && labels.len() > 1 {
            open.extend(best_split(&records, &all).map(|best| (0, all, 1, best)));
        }
        while let Some((node, range, depth, (feature, at_most))) = open.pop() {
            let middle = records.partition(&range, feature, at_most);
            let sides = [range.start..middle, middle..range.end];
            let first = tree.nodes.len();
            for (i, side) in sides.into_iter().enumerate() {
                tree.nodes.push(leaf(&records, side.clone()));
                if depth < growth.depth && side.len() > 1 {
                    let best = best_split(&records, &side);
                    open.extend(best.map(|best| (first + i, side, depth + 1, best)));
                }
            }
            tree.nodes[node].split = Some(Split { feature, at_most, children: [first, first + 1] });
        }
        tree
    }

    /// Predicts the share of positive labels for a record with the given features.
    pub(super) fn share(&self, feature: impl Fn(usize) -> f64) -> f64 {
        let mut node = &self.nodes[0];
        while let Some(split) = &node.split {
            let side = usize::from(feature(split.feature) > split.at_most);
            node = &self.nodes[split.children[side]];
        }
        node.share
    }
}

fn leaf(records: &Records<'_>, range: Range<usize>) -> Node {
    let mut count = Count::default();
    let members = records.orders.first().map_or(&[][..], |order| &order[range]);
    members.iter().for_each(|&record| count.add(records.labels[record as usize]));
    let share = if count.all == 0 { 0.0 } else { count.positive as f64 / count.all as f64 };
    Node { share, split: None }
}

impl Records<'_> {
    /// Returns the best split of a node with at least `least` records on both sides.
    fn best_split(
        &self,
        range: &Range<usize>,
        features: &[usize],
        least: usize,
    ) -> Option<(usize, f64)> {
        let mut whole = Count::default();
        self.orders.first()?[range.clone()]
            .iter()
            .for_each(|&r| whole.add(self.labels[r as usize]));
        let mut best: Option<(f64, usize, f64)> = None;
        for &feature in features {
            let (column, order) = (&self.features[feature], &self.orders[feature][range.clone()]);
            let mut below = Count::default();
            let mut last = column[order[0] as usize];
            for &record in order {
                let value = column[record as usize];
                let above = whole.without(below);
                if value != last && below.all >= least && above.all >= least {
                    let explained = below.explained(above);
                    if best.is_none_or(|(most, ..)| explained > most) {
                        // Rounding may make the midpoint equal to the greater value.
                        let middle = last + (value - last) / 2.0;
                        best =
                            Some((explained, feature, if middle < value { middle } else { last }));
                    }
                }
                last = value;
                below.add(self.labels[record as usize]);
            }
        }
        best.map(|(_, feature, at_most)| (feature, at_most))
    }

    /// Partitions the range of a node in every order. Returns the start of the second part.
    fn partition(&mut self, range: &Range<usize>, feature: usize, at_most: f64) -> usize {
        let column = &self.features[feature];
        let mut middle = range.start;
        for order in &mut self.orders {
            let (below, above): (Vec<u32>, Vec<u32>) = order[range.clone()]
                .iter()
                .partition(|&&record| column[record as usize] <= at_most);
            middle = range.start + below.len();
            order[range.start..middle].copy_from_slice(&below);
            order[middle..range.end].copy_from_slice(&above);
        }
        middle
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smartcore::linalg::basic::matrix::DenseMatrix;
    use smartcore::tree::decision_tree_regressor::{
        DecisionTreeRegressor, DecisionTreeRegressorParameters,
    };

    use super::*;

    proptest! {
        #[test]
        fn a_tree_predicts_like_the_one_of_smartcore(
            records in
                prop::collection::vec((0..6_u8, 0..40_u8, any::<u16>(), any::<bool>()), 2..120),
            depth in 1..9_usize,
            leaf in 1..8_usize,
        ) {
            let column = |of: fn(&(u8, u8, u16, bool)) -> f64| -> Vec<f64> {
                records.iter().map(of).collect()
            };
            let features = vec![
                column(|r| f64::from(r.0)),
                column(|r| f64::from(r.1) / 7.0),
                column(|r| f64::from(r.2)),
            ];
            let labels: Vec<bool> = records.iter().map(|r| r.3 ^ (r.1 > 20)).collect();
            let own = Tree::grow(&features, &labels, Growth { depth, leaf });

            let row = |i: usize| features.iter().map(move |column| column[i]);
            let rows = (0..records.len()).flat_map(row).collect();
            let x = DenseMatrix::new(records.len(), features.len(), rows, false).unwrap();
            let y: Vec<f64> = labels.iter().map(|&label| f64::from(u8::from(label))).collect();
            let mut parameters = DecisionTreeRegressorParameters::default()
                .with_max_depth(depth as u16 + 1)
                .with_min_samples_leaf(leaf);
            parameters.seed = Some(0);
            let twin = DecisionTreeRegressor::fit(&x, &y, parameters).unwrap().predict(&x).unwrap();
            let shares: Vec<f64> =
                (0..records.len()).map(|i| own.share(|feature| features[feature][i])).collect();
            prop_assert_eq!(shares, twin);
        }
    }

    #[test]
    fn the_best_split_comes_first() {
        let features = vec![vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0], vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]];
        let labels = [false, false, false, false, true, true];
        let tree = Tree::grow(&features, &labels, Growth { depth: 1, leaf: 1 });
        let split = tree.nodes[0].split.as_ref().unwrap();
        assert_eq!((split.feature, split.at_most), (0, 2.5));
        assert_eq!((tree.share(|_| 3.0), tree.share(|_| 2.0)), (1.0, 0.0));
        // The two positive records cannot form a leaf of three.
        let tree = Tree::grow(&features, &labels, Growth { depth: 1, leaf: 3 });
        assert_eq!(tree.nodes[0].split.as_ref().unwrap().feature, 1);
        let tree = Tree::grow(&features, &labels, Growth { depth: 0, leaf: 1 });
        assert_eq!(tree.share(|_| 3.0), 1.0 / 3.0);
    }
}
