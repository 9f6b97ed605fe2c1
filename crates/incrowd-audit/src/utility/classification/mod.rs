//! Classification: can a column still be predicted by somebody who learns from the release?
//!
//! Papers: `lefevre2008`, for judging releases by the accuracy of a classifier; `breiman1984` for the classifier. A
//! classification tree learns from the quasi-identifiers to predict a column that is published as it is. It learns once
//! from the release and once from originals, and is tested on originals it has not seen.
//!
//! The protocol: at most [`MOST_RECORDS`] records of the original and of the release are drawn by a seeded hash of what
//! they contain and dealt into [`FOLDS`] folds. For each fold the release's other folds teach one tree, the original's
//! other folds another, and both are tested on the original's fold. Scores are averaged over the folds. A release that
//! equals its original deals the same folds, so it gets the same scores.
//!
//! Where we differ, and the caveat: a release does not say whose record is whose, so the people of the test fold cannot
//! be taken out of what the release teaches. Their generalized records are among those it learns from, which favours the
//! release a little; a tree whose leaves hold at least 20 records remembers groups, not people.

mod cart;
mod features;
mod report;
mod sample;
mod scores;
mod tree;

use incrowd_core::{Better, Error, Progress, Result};
use rayon::prelude::*;

pub use scores::Scores;

use super::comparison::{Comparison, Part};
use super::{Card, Layout, Measured};
use features::Encoder;
use sample::{Sample, of_original, of_release};
use tree::Trees;

pub(super) const CARD: Card = Card {
    name: "classification",
    paper: "lefevre2008",
    about: "A decision tree that learns from the release to predict a column is tested on originals, beside one that \
            learned from originals and beside always guessing the most common value. Accuracy, balanced accuracy (the \
            mean over values), macro F1 and, for two values, the area under the ROC curve.",
    limits: "The release holds generalized records of the people it is tested on, for nobody can tell which they are; that \
             favours it a little. The middle of a range stands for the range. Other learners and other targets may fare \
             differently, and a target nobody can predict tells nothing about the release.",
    better: Better::Higher,
    usual: true,
    fits: &[Layout::OneTable],
    reads_means: false,
    of_column: None,
    measure: Some(|comparison, ask, progress| {
        let task = Task { target: ask.target.clone(), seed: ask.workload.seed };
        let made = classify(comparison, &task, progress)?;
        Ok(made.map(|made| Box::new(made) as Box<dyn Measured>))
    }),
};

/// At most this many records are drawn from the original, and from the release.
pub(crate) const MOST_RECORDS: usize = 9_000;
/// Records are dealt into this many folds.
pub(crate) const FOLDS: usize = 3;
/// A column of more values is no target.
pub const MOST_CLASSES: usize = 32;

/// What is to be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The column; `None` takes the first sensitive column that can be a target.
    pub target: Option<String>,
    /// The seed of sample and folds. It protects nobody and is printed.
    pub seed: u64,
}

/// How well a column can be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// The column.
    pub target: String,
    /// How many values it has.
    pub classes: u64,
    /// The seed.
    pub seed: u64,
    /// How many originals were drawn.
    pub originals: u64,
    /// How many records of the release were drawn.
    pub published: u64,
    /// How many folds they were dealt into.
    pub folds: u64,
    /// Having learned from the release.
    pub from_release: Scores,
    /// Having learned from originals.
    pub from_originals: Scores,
    /// Always guessing what is most common.
    pub majority: Scores,
    /// The scores of each fold: from the release, from originals.
    pub by_fold: Vec<(Scores, Scores)>,
}

/// Predicts the target from the quasi-identifiers. `None` if no target is named and no sensitive column can be one.
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
    let fold_of = |sample: &Sample, fold: usize| sample.split(fold, FOLDS);
    if originals.len() < 2 * FOLDS || published.len() < 2 * FOLDS {
        if task.target.is_none() {
            return Ok(None);
        }
        return Err(Error::input(format!("too few records to learn `{}` from", line.name))
            .help("leave classification out with `only`"));
    }
    let classes = line.leaves as usize;
    progress.step("learning", Some(2 * FOLDS as u64));
    let jobs: Vec<(usize, bool)> = (0..FOLDS).flat_map(|fold| [(fold, true), (fold, false)]).collect();
    let learn = |&(fold, release): &(usize, bool)| -> Scores {
        let (_, test) = fold_of(&originals, fold);
        let taught = if release { fold_of(&published, fold).0 } else { fold_of(&originals, fold).0 };
        let features = if release { &encoder.cells } else { &encoder.leaves };
        let trees = Trees::fit(&encoder, features, &taught, classes);
        let scores = trees.predict(&encoder, &test);
        progress.advance(1);
        Scores::of(&test.classes, &scores, classes)
    };
    let scores = jobs.par_iter().map(learn).collect::<Vec<Scores>>();
    let by_fold: Vec<(Scores, Scores)> = scores.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let guesses = (0..FOLDS).map(|fold| {
        let (taught, test) = fold_of(&originals, fold);
        Scores::of_guess(&taught.classes, &test.classes, classes)
    });
    Ok(Some(Classification {
        target: line.name.clone(),
        classes: line.counts.iter().filter(|n| **n > 0).count() as u64 - u64::from(line.missing.is_some()),
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

/// The column to predict.
fn target(comparison: &Comparison, task: &Task) -> Result<Option<usize>> {
    let classes = |at: usize| {
        let line = &comparison.lines[at];
        line.leaves as usize - usize::from(line.missing.is_some())
    };
    let Some(name) = &task.target else {
        let fits = |&at: &usize| {
            comparison.lines[at].part == Part::Sensitive && (2..=MOST_CLASSES).contains(&classes(at))
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
            .help("predict a column that is published as it is"));
    }
    match classes(at) {
        2..=MOST_CLASSES => Ok(Some(at)),
        0 | 1 => Err(Error::job(format!("`{name}` has one value: there is nothing to predict"))),
        n => Err(Error::job(format!("`{name}` has {n} values, too many to predict"))
            .help(format!("a target has at most {MOST_CLASSES} values"))),
    }
}
