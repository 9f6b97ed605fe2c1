//! Classification trees: one tree per class that predicts the share of the class. The shares allow
//! ranking records as well as classifying them.

use super::cart::{Growth, Tree};
use super::features::Encoder;
use super::sample::LabelledRecords;

/// Maximum number of splits on a path.
const DEPTH: usize = 8;
/// Minimum number of records in a leaf, for large training sets.
const LEAF: usize = 20;

pub(super) struct Trees {
    /// One tree per class. For two classes only the second has a tree.
    trees: Vec<Tree>,
}

impl Trees {
    /// Trains the trees. `features` contains the features of cells or of leaves.
    pub(super) fn fit(
        encoder: &Encoder,
        features: &[Vec<Vec<f64>>],
        training: &LabelledRecords,
        classes: usize,
    ) -> Trees {
        let columns = columns(encoder, features, training);
        let growth = Growth { depth: DEPTH, leaf: (training.len() / 200).clamp(1, LEAF) };
        let learn = |class: u32| {
            let labels: Vec<bool> = training.classes.iter().map(|&own| own == class).collect();
            Tree::grow(&columns, &labels, growth)
        };
        let first = u32::from(classes == 2);
        Trees { trees: (first..classes as u32).map(learn).collect() }
    }

    /// Returns the score of each class for each original record.
    pub(super) fn predict(&self, encoder: &Encoder, test: &LabelledRecords) -> Vec<Vec<f64>> {
        let columns = columns(encoder, &encoder.leaves, test);
        let score = |i: usize, tree: &Tree| tree.share(|feature| columns[feature][i]);
        let scores = |i: usize| match self.trees.as_slice() {
            [second] => vec![1.0 - score(i, second), score(i, second)],
            all => all.iter().map(|tree| score(i, tree)).collect(),
        };
        (0..test.len()).map(scores).collect()
    }
}

/// Returns the features of all records, by column.
fn columns(
    encoder: &Encoder,
    features: &[Vec<Vec<f64>>],
    sample: &LabelledRecords,
) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(sample.len()); encoder.width];
    for places in &sample.places {
        let cells =
            features.iter().zip(places).flat_map(|(features, &place)| &features[place as usize]);
        columns.iter_mut().zip(cells).for_each(|(column, &feature)| column.push(feature));
    }
    columns
}
