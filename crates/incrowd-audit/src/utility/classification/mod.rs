//! Classification: how well a column can be predicted after training on the release.
//!
//! Papers: `lefevre2008`, for evaluating releases by the accuracy of a classifier; `breiman1984`
//! for the classifier. A classification tree predicts a column that is published unchanged from the
//! quasi-identifiers. It is trained once on the release and once on the original, and is tested on
//! original records that were not used for training.
//!
//! Protocol: at most [`MOST_RECORDS`] records of the original and of the release are drawn by a
//! seeded hash of their contents and divided into [`FOLDS`] folds. For each fold, one tree is
//! trained on the other folds of the release and one on the other folds of the original. Both are
//! tested on this fold of the original. Scores are averaged over the folds. A release that equals
//! its original has the same folds and therefore the same scores.
//!
//! Where we differ, and a caveat: a release does not contain which record belongs to whom, so the
//! people of the test fold cannot be removed from the release. The release is trained on their
//! generalized records too, which slightly favours it. The leaves of a tree have at least 20
//! records, so a tree memorizes groups, not people.

mod cart;
mod features;
mod report;
mod sample;
mod scores;
mod tree;

use incrowd_core::{Better, Error, Progress, Result};
use rayon::prelude::*;

pub use scores::Scores;

use super::comparison::{ColumnRole, Comparison};
use super::{Card, Layout, Measured};
use features::Encoder;
use sample::{LabelledRecords, of_original, of_release};
use tree::Trees;

pub(super) const CARD: Card = Card {
    name: "classification",
    paper: "lefevre2008",
    about: "Accuracy of a decision tree that is trained on the release to predict a column and \
            tested on the original. It is compared with a tree trained on the original and with \
            always guessing the most frequent value. Accuracy, balanced accuracy (the mean over \
            values), macro F1 and, for two values, the area under the ROC curve.",
    limits: "The release contains generalized records of the people on whom the tree is tested, \
             because they cannot be identified; this slightly favours the release. A range counts \
             as its midpoint. Results with other learners and targets may differ. An unpredictable \
             target says nothing about the release.",
    better: Better::Higher,
    by_default: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: None,
    measure: Some(|comparison, request, progress| {
        let task = Task { target: request.target.clone(), seed: request.workload.seed };
        let result = classify(comparison, &task, progress)?;
        Ok(result.map(|result| Box::new(result) as Box<dyn Measured>))
    }),
};

/// Maximum number of records that are drawn from the original, and from the release.
pub(crate) const MOST_RECORDS: usize = 9_000;
/// Number of folds.
pub(crate) const FOLDS: usize = 3;
/// Maximum number of values of a target.
pub const MOST_CLASSES: usize = 32;

/// Definition of the prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The target column. `None` selects the first suitable sensitive column.
    pub target: Option<String>,
    /// The seed of the sample and the folds. It protects nobody and is printed.
    pub seed: u64,
}

/// Scores of predicting a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// The target column.
    pub target: String,
    /// Number of its values.
    pub classes: u64,
    /// The seed.
    pub seed: u64,
    /// Number of records drawn from the original.
    pub originals: u64,
    /// Number of records drawn from the release.
    pub published: u64,
    /// Number of folds.
    pub folds: u64,
    /// Scores after training on the release.
    pub from_release: Scores,
    /// Scores after training on the original.
    pub from_originals: Scores,
    /// Scores of always guessing the most frequent value.
    pub majority: Scores,
    /// Scores of each fold, trained on the release and on the original.
    pub by_fold: Vec<(Scores, Scores)>,
}

/// Predicts the target from the quasi-identifiers. Returns `None` if no target is named and no
/// sensitive column is suitable.
pub fn classify(
    comparison: &Comparison,
    task: &Task,
    progress: &dyn Progress,
) -> Result<Option<Classification>> {
    let Some(target) = target(comparison, task)? else { return Ok(None) };
    let line = &comparison.lines[target];
    let encoder = Encoder::new(comparison);
    let originals = of_original(comparison, target, task.seed);
    let published = of_release(comparison, target, task.seed);
    let fold_of = |sample: &LabelledRecords, fold: usize| sample.split(fold, FOLDS);
    if originals.len() < 2 * FOLDS || published.len() < 2 * FOLDS {
        if task.target.is_none() {
            return Ok(None);
        }
        return Err(Error::input(format!("too few records to learn `{}`", line.name))
            .help("omit classification with `only`"));
    }
    let classes = line.leaves as usize;
    progress.step("training", Some(2 * FOLDS as u64));
    let jobs: Vec<(usize, bool)> =
        (0..FOLDS).flat_map(|fold| [(fold, true), (fold, false)]).collect();
    let learn = |&(fold, release): &(usize, bool)| -> Scores {
        let (_, test) = fold_of(&originals, fold);
        let training =
            if release { fold_of(&published, fold).0 } else { fold_of(&originals, fold).0 };
        let features = if release { &encoder.cells } else { &encoder.leaves };
        let trees = Trees::fit(&encoder, features, &training, classes);
        let scores = trees.predict(&encoder, &test);
        progress.advance(1);
        Scores::of(&test.classes, &scores, classes)
    };
    let scores = jobs.par_iter().map(learn).collect::<Vec<Scores>>();
    let by_fold: Vec<(Scores, Scores)> = scores.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let guesses = (0..FOLDS).map(|fold| {
        let (training, test) = fold_of(&originals, fold);
        Scores::of_guess(&training.classes, &test.classes, classes)
    });
    Ok(Some(Classification {
        target: line.name.clone(),
        classes: line.counts.iter().filter(|n| **n > 0).count() as u64
            - u64::from(line.missing.is_some()),
        seed: task.seed,
        originals: originals.len() as u64,
        published: published.len() as u64,
        folds: FOLDS as u64,
        from_release: Scores::mean(by_fold.iter().map(|(release, _)| *release)),
        from_originals: Scores::mean(by_fold.iter().map(|(_, originals)| *originals)),
        majority: Scores::mean(guesses),
        by_fold,
    }))
}

/// Returns the column to predict.
fn target(comparison: &Comparison, task: &Task) -> Result<Option<usize>> {
    let classes = |at: usize| {
        let line = &comparison.lines[at];
        line.leaves as usize - usize::from(line.missing.is_some())
    };
    let Some(name) = &task.target else {
        let fits = |&at: &usize| {
            comparison.lines[at].role == ColumnRole::Sensitive
                && (2..=MOST_CLASSES).contains(&classes(at))
        };
        return Ok((comparison.quasi..comparison.lines.len()).find(fits));
    };
    let Some(at) = comparison.lines.iter().position(|line| line.name == *name) else {
        let known = comparison.lines[comparison.quasi..].iter().map(|line| line.name.as_str());
        return Err(Error::job(format!("there is no column `{name}` to predict in both tables"))
            .help_near(name, known));
    };
    if at < comparison.quasi {
        return Err(Error::job(format!("`{name}` is a quasi-identifier and cannot be the target"))
            .help("predict a column that is published unchanged"));
    }
    match classes(at) {
        2..=MOST_CLASSES => Ok(Some(at)),
        0 | 1 => Err(Error::job(format!("`{name}` has one value: there is nothing to predict"))),
        n => Err(Error::job(format!("`{name}` has {n} values, too many to predict"))
            .help(format!("a target has at most {MOST_CLASSES} values"))),
    }
}
