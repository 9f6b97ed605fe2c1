//! Classification trees: for each class a tree on "is it this class". Its leaves hold the share of the class, so that records
//! can be ranked as well as classified.

use super::cart::{Growth, Tree};
use super::features::Encoder;
use super::sample::Sample;

/// How many questions in a row.
const QUESTIONS: usize = 8;
/// A leaf of a tree that learned from many records has at least this many.
const LEAF: usize = 20;

pub(super) struct Trees {
    /// One for each class; of two classes only the second needs one.
    trees: Vec<Tree>,
}

impl Trees {
    /// Learns from records whose features are those of their cells or leaves.
    pub(super) fn fit(
        encoder: &Encoder,
        features: &[Vec<Vec<f64>>],
        taught: &Sample,
        classes: usize,
    ) -> Trees {
        let columns = columns(encoder, features, taught);
        let growth = Growth { questions: QUESTIONS, leaf: (taught.len() / 200).clamp(1, LEAF) };
        let learn = |class: u32| {
            let answers: Vec<bool> = taught.classes.iter().map(|&own| own == class).collect();
            Tree::grow(&columns, &answers, growth)
        };
        let first = u32::from(classes == 2);
        Trees { trees: (first..classes as u32).map(learn).collect() }
    }

    /// For each original the score of each class.
    pub(super) fn predict(&self, encoder: &Encoder, test: &Sample) -> Vec<Vec<f64>> {
        let columns = columns(encoder, &encoder.leaves, test);
        let score = |i: usize, tree: &Tree| tree.share(|feature| columns[feature][i]);
        let scores = |i: usize| match self.trees.as_slice() {
            [second] => vec![1.0 - score(i, second), score(i, second)],
            all => all.iter().map(|tree| score(i, tree)).collect(),
        };
        (0..test.len()).map(scores).collect()
    }
}

/// The features of all records, by column.
fn columns(encoder: &Encoder, features: &[Vec<Vec<f64>>], sample: &Sample) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(sample.len()); encoder.width];
    for places in &sample.places {
        let cells = features.iter().zip(places).flat_map(|(features, &place)| &features[place as usize]);
        columns.iter_mut().zip(cells).for_each(|(column, &feature)| column.push(feature));
    }
    columns
}
