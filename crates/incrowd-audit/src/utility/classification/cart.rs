//! A regression tree on a question with two answers.
//!
//! Paper: `breiman1984`. Every node asks whether one feature is at most some number. The question is the one whose two sides differ
//! most in their share of yes: the sum of squares that it explains is greatest, which for yes and no is also the greatest fall
//! of the Gini impurity. Of equally good questions the one that is looked at first is taken: features in an order that a
//! fixed seed shuffles before each node, numbers from the least. A number lies in the middle between two that occur.
//!
//! Records are sorted by every feature once. A node is a range of those orders, parted in place for its children.

use std::ops::Range;

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

/// How a tree is grown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// How many questions in a row at most.
    pub(super) questions: usize,
    /// How many records a leaf has at least.
    pub(super) leaf: usize,
}

/// A grown tree; the root is the first node.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// The share of yes among the records it learned from.
    share: f64,
    question: Option<Question>,
}

#[derive(Debug)]
struct Question {
    feature: usize,
    at_most: f64,
    /// The nodes for those of whom it is true and for the others.
    children: [usize; 2],
}

/// Records by the value of each feature, and what is learned about them.
struct Records<'a> {
    features: &'a [Vec<f64>],
    answers: &'a [bool],
    /// For each feature the records in its order; a node's are the same range in all of them.
    orders: Vec<Vec<u32>>,
}

/// How many records there are, and how many of them say yes.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    yes: usize,
}

impl Count {
    fn add(&mut self, answer: bool) {
        self.all += 1;
        self.yes += usize::from(answer);
    }

    fn without(self, other: Count) -> Count {
        Count { all: self.all - other.all, yes: self.yes - other.yes }
    }

    /// What a question explains, but for a factor that is the same for all questions of a node.
    fn explained(self, other: Count) -> f64 {
        let (n, m) = (self.all as f64, other.all as f64);
        let difference = self.yes as f64 * m - other.yes as f64 * n;
        difference * difference / (n * m)
    }
}

impl Tree {
    /// Learns the answers from the features, which are given by column.
    pub(super) fn grow(features: &[Vec<f64>], answers: &[bool], growth: Growth) -> Tree {
        let sorted = |column: &Vec<f64>| {
            let mut order: Vec<u32> = (0..answers.len() as u32).collect();
            order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
            order
        };
        let mut records = Records { features, answers, orders: features.iter().map(sorted).collect() };
        let mut looks: Vec<usize> = (0..features.len()).collect();
        let mut chance = SmallRng::seed_from_u64(0);
        let mut ask = |records: &Records<'_>, range: &Range<usize>| {
            looks.shuffle(&mut chance);
            records.best(range, &looks, growth.leaf)
        };
        let mut tree = Tree { nodes: vec![leaf(&records, 0..answers.len())] };
        let mut open = Vec::new();
        if growth.questions > 0 && answers.len() > 1 {
            open.extend(ask(&records, &(0..answers.len())).map(|best| (0, 0..answers.len(), 1, best)));
        }
        while let Some((node, range, depth, (feature, at_most))) = open.pop() {
            let middle = records.part(&range, feature, at_most);
            let sides = [range.start..middle, middle..range.end];
            let first = tree.nodes.len();
            for (i, side) in sides.into_iter().enumerate() {
                tree.nodes.push(leaf(&records, side.clone()));
                if depth < growth.questions && side.len() > 1 {
                    open.extend(ask(&records, &side).map(|best| (first + i, side, depth + 1, best)));
                }
            }
            tree.nodes[node].question = Some(Question { feature, at_most, children: [first, first + 1] });
        }
        tree
    }

    /// The share of yes among the records that answered like this one, of which `feature` tells the features.
    pub(super) fn share(&self, feature: impl Fn(usize) -> f64) -> f64 {
        let mut node = &self.nodes[0];
        while let Some(question) = &node.question {
            node = &self.nodes[question.children[usize::from(feature(question.feature) > question.at_most)]];
        }
        node.share
    }
}

fn leaf(records: &Records<'_>, range: Range<usize>) -> Node {
    let mut count = Count::default();
    let members = records.orders.first().map_or(&[][..], |order| &order[range]);
    members.iter().for_each(|&record| count.add(records.answers[record as usize]));
    Node { share: if count.all == 0 { 0.0 } else { count.yes as f64 / count.all as f64 }, question: None }
}

impl Records<'_> {
    /// The best question about a node that leaves at least `least` records on both sides.
    fn best(&self, range: &Range<usize>, looks: &[usize], least: usize) -> Option<(usize, f64)> {
        let mut whole = Count::default();
        self.orders.first()?[range.clone()].iter().for_each(|&r| whole.add(self.answers[r as usize]));
        let mut best: Option<(f64, usize, f64)> = None;
        for &feature in looks {
            let (column, order) = (&self.features[feature], &self.orders[feature][range.clone()]);
            let mut below = Count::default();
            let mut last = column[order[0] as usize];
            for &record in order {
                let value = column[record as usize];
                let above = whole.without(below);
                if value != last && below.all >= least && above.all >= least {
                    let explained = below.explained(above);
                    if best.is_none_or(|(most, ..)| explained > most) {
                        let middle = last + (value - last) / 2.0;
                        best = Some((explained, feature, if middle < value { middle } else { last }));
                    }
                }
                last = value;
                below.add(self.answers[record as usize]);
            }
        }
        best.map(|(_, feature, at_most)| (feature, at_most))
    }

    /// Puts those of whom the question is true first, in every order; returns where the others begin.
    fn part(&mut self, range: &Range<usize>, feature: usize, at_most: f64) -> usize {
        let column = &self.features[feature];
        let mut middle = range.start;
        for order in &mut self.orders {
            let (below, above): (Vec<u32>, Vec<u32>) =
                order[range.clone()].iter().partition(|&&record| column[record as usize] <= at_most);
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
    use smartcore::tree::decision_tree_regressor::{DecisionTreeRegressor, DecisionTreeRegressorParameters};

    use super::*;

    proptest! {
        #[test]
        fn a_tree_predicts_what_the_one_of_smartcore_predicts(
            records in prop::collection::vec((0..6_u8, 0..40_u8, any::<u16>(), any::<bool>()), 2..120),
            questions in 1..9_usize,
            leaf in 1..8_usize,
        ) {
            let column = |of: fn(&(u8, u8, u16, bool)) -> f64| records.iter().map(of).collect::<Vec<f64>>();
            let features = vec![column(|r| f64::from(r.0)), column(|r| f64::from(r.1) / 7.0), column(|r| f64::from(r.2))];
            let answers: Vec<bool> = records.iter().map(|r| r.3 ^ (r.1 > 20)).collect();
            let own = Tree::grow(&features, &answers, Growth { questions, leaf });

            let rows = (0..records.len()).flat_map(|i| features.iter().map(move |column| column[i])).collect();
            let x = DenseMatrix::new(records.len(), features.len(), rows, false).unwrap();
            let y: Vec<f64> = answers.iter().map(|&yes| f64::from(u8::from(yes))).collect();
            let mut parameters = DecisionTreeRegressorParameters::default()
                .with_max_depth(questions as u16 + 1)
                .with_min_samples_leaf(leaf);
            parameters.seed = Some(0);
            let twin = DecisionTreeRegressor::fit(&x, &y, parameters).unwrap().predict(&x).unwrap();
            let shares: Vec<f64> =
                (0..records.len()).map(|i| own.share(|feature| features[feature][i])).collect();
            prop_assert_eq!(shares, twin);
        }
    }

    #[test]
    fn the_question_that_parts_best_is_asked_first() {
        let features = vec![vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0], vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]];
        let answers = [false, false, false, false, true, true];
        let tree = Tree::grow(&features, &answers, Growth { questions: 1, leaf: 1 });
        let question = tree.nodes[0].question.as_ref().unwrap();
        assert_eq!((question.feature, question.at_most), (0, 2.5));
        assert_eq!((tree.share(|_| 3.0), tree.share(|_| 2.0)), (1.0, 0.0));
        // Leaves of three cannot hold the two alone.
        let tree = Tree::grow(&features, &answers, Growth { questions: 1, leaf: 3 });
        assert_eq!(tree.nodes[0].question.as_ref().unwrap().feature, 1);
        let tree = Tree::grow(&features, &answers, Growth { questions: 0, leaf: 1 });
        assert_eq!(tree.share(|_| 3.0), 1.0 / 3.0);
    }
}
