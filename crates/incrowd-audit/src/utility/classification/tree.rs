//! Classification trees: for each class a regression tree on "is it this class", which is a classification tree by Gini,
//! for the variance of an indicator is half its Gini impurity. Its leaves hold the share of the class, so that records
//! can be ranked as well as classified.

use incrowd_core::{Error, Result};
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::tree::decision_tree_regressor::{DecisionTreeRegressor, DecisionTreeRegressorParameters};

use super::features::Encoder;
use super::sample::Sample;

/// Enough for eight questions in a row.
const DEPTH: u16 = 9;
/// A leaf of a tree that learned from many records has at least this many.
const LEAF: usize = 20;

type Tree = DecisionTreeRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

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
    ) -> Result<Trees> {
        let x = matrix(encoder, features, taught)?;
        let leaf = (taught.len() / 200).clamp(1, LEAF);
        let learn = |class: u32| {
            let y: Vec<f64> = taught.classes.iter().map(|&c| f64::from(u8::from(c == class))).collect();
            let mut parameters =
                DecisionTreeRegressorParameters::default().with_max_depth(DEPTH).with_min_samples_leaf(leaf);
            // Among equally good questions the tree takes the one that chance looks at first.
            parameters.seed = Some(0);
            Tree::fit(&x, &y, parameters).map_err(failed)
        };
        let first = u32::from(classes == 2);
        Ok(Trees { trees: (first..classes as u32).map(learn).collect::<Result<_>>()? })
    }

    /// For each original the score of each class.
    pub(super) fn predict(&self, encoder: &Encoder, test: &Sample) -> Result<Vec<Vec<f64>>> {
        let x = matrix(encoder, &encoder.leaves, test)?;
        let of_class: Vec<Vec<f64>> =
            self.trees.iter().map(|tree| tree.predict(&x).map_err(failed)).collect::<Result<_>>()?;
        let scores = |i: usize| match of_class.as_slice() {
            [second] => vec![1.0 - second[i], second[i]],
            all => all.iter().map(|scores| scores[i]).collect(),
        };
        Ok((0..test.len()).map(scores).collect())
    }
}

fn matrix(encoder: &Encoder, features: &[Vec<Vec<f64>>], sample: &Sample) -> Result<DenseMatrix<f64>> {
    let mut values = Vec::with_capacity(sample.len() * encoder.width);
    for places in &sample.places {
        for (features, &place) in features.iter().zip(places) {
            values.extend_from_slice(&features[place as usize]);
        }
    }
    DenseMatrix::new(sample.len(), encoder.width, values, false).map_err(failed)
}

fn failed(_: smartcore::error::Failed) -> Error {
    Error::bug("the classifier could not learn from these records")
}
