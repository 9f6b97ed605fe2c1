//! Quality of predictions.

/// Scores of predictions, from 0 to 1. Higher is better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// Share of correct predictions.
    pub accuracy: f64,
    /// Mean over classes of the share of their records with a correct prediction.
    pub balanced_accuracy: f64,
    /// Mean over classes of the harmonic mean of precision and recall.
    pub macro_f1: f64,
    /// Area under the ROC curve, if there are two classes.
    pub auc: Option<f64>,
}

impl Scores {
    /// Computes the scores of predictions that assign a number to every class. The class with the
    /// highest number is predicted, the first one in case of a tie. Means over classes exclude
    /// classes that do not occur in `truth`.
    pub(super) fn of(truth: &[u32], scores: &[Vec<f64>], classes: usize) -> Scores {
        let best = |scores: &Vec<f64>| {
            (0..scores.len())
                .fold(0, |best, class| if scores[class] > scores[best] { class } else { best })
        };
        let predicted: Vec<u32> = scores.iter().map(|s| best(s) as u32).collect();
        let auc = (classes == 2).then(|| {
            let second: Vec<(f64, bool)> =
                scores.iter().zip(truth).map(|(s, &t)| (s[1], t == 1)).collect();
            auc(second)
        });
        Scores { auc: auc.flatten(), ..Scores::of_classes(truth, &predicted, classes) }
    }

    /// Computes the scores of guessing the most frequent class of `training`, the first one in case
    /// of a tie.
    pub(super) fn of_guess(training: &[u32], truth: &[u32], classes: usize) -> Scores {
        let mut counts = vec![0u64; classes];
        training.iter().for_each(|&class| counts[class as usize] += 1);
        let most = (0..classes)
            .fold(0, |best, class| if counts[class] > counts[best] { class } else { best });
        let scores = Scores::of_classes(truth, &vec![most as u32; truth.len()], classes);
        Scores { auc: (classes == 2).then_some(0.5), ..scores }
    }

    fn of_classes(truth: &[u32], predicted: &[u32], classes: usize) -> Scores {
        let mut right = vec![0u64; classes];
        let mut actual = vec![0u64; classes];
        let mut guessed = vec![0u64; classes];
        for (&truth, &predicted) in truth.iter().zip(predicted) {
            actual[truth as usize] += 1;
            guessed[predicted as usize] += 1;
            right[truth as usize] += u64::from(truth == predicted);
        }
        let occurring: Vec<usize> = (0..classes).filter(|&class| actual[class] > 0).collect();
        let mean = |of: &dyn Fn(usize) -> f64| {
            occurring.iter().map(|&class| of(class)).sum::<f64>() / occurring.len().max(1) as f64
        };
        Scores {
            accuracy: right.iter().sum::<u64>() as f64 / truth.len().max(1) as f64,
            balanced_accuracy: mean(&|class| right[class] as f64 / actual[class] as f64),
            // Equals 2 · precision · recall / (precision + recall), but has no zero denominators.
            macro_f1: mean(&|class| {
                2.0 * right[class] as f64 / (actual[class] + guessed[class]) as f64
            }),
            auc: None,
        }
    }

    /// Returns the mean of several scores.
    pub(super) fn mean(all: impl Iterator<Item = Scores>) -> Scores {
        let all: Vec<Scores> = all.collect();
        let mean =
            |of: &dyn Fn(&Scores) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        let known = all.iter().all(|scores| scores.auc.is_some());
        Scores {
            accuracy: mean(&|s| s.accuracy),
            balanced_accuracy: mean(&|s| s.balanced_accuracy),
            macro_f1: mean(&|s| s.macro_f1),
            auc: known.then(|| mean(&|s| s.auc.unwrap_or(0.0))),
        }
    }
}

/// Returns the probability that a positive record has a higher score than a negative one. Ties
/// count half. Returns `None` if one kind is absent.
fn auc(mut scores: Vec<(f64, bool)>) -> Option<f64> {
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut sum, mut positives) = (0.0, 0.0, 0.0);
    for tied in scores.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let negative = tied.len() as f64 - positive;
        sum += positive * (below + negative / 2.0);
        below += negative;
        positives += positive;
    }
    (positives > 0.0 && below > 0.0).then(|| sum / (positives * below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_equal_those_computed_by_hand() {
        // Truth 0 0 0 1, predicted 0 0 1 1: recalls 2/3 and 1, F1 0.8 and 2/3.
        let scores = |second: &[f64]| second.iter().map(|p| vec![1.0 - p, *p]).collect::<Vec<_>>();
        let s = Scores::of(&[0, 0, 0, 1], &scores(&[0.1, 0.2, 0.6, 0.9]), 2);
        assert_eq!(
            (s.accuracy, s.balanced_accuracy, s.auc),
            (0.75, (2.0 / 3.0 + 1.0) / 2.0, Some(1.0))
        );
        assert!((s.macro_f1 - (0.8 + 2.0 / 3.0) / 2.0).abs() < 1e-12);
        let guess = Scores::of_guess(&[1, 0, 0], &[0, 1, 1, 0], 2);
        assert_eq!((guess.accuracy, guess.balanced_accuracy, guess.auc), (0.5, 0.5, Some(0.5)));
        assert_eq!(Scores::of(&[0, 0], &scores(&[0.1, 0.2]), 2).auc, None);
    }

    proptest! {
        #[test]
        fn the_area_is_the_share_of_ordered_pairs(
            scores in prop::collection::vec((0u8..6, any::<bool>()), 2..30),
        ) {
            let scores: Vec<(f64, bool)> =
                scores.into_iter().map(|(s, p)| (f64::from(s), p)).collect();
            let (mut pairs, mut sum) = (0.0, 0.0);
            for (a, _) in scores.iter().filter(|(_, positive)| *positive) {
                for (b, _) in scores.iter().filter(|(_, positive)| !*positive) {
                    pairs += 1.0;
                    sum += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
            let expected = (pairs > 0.0).then(|| sum / pairs);
            let area = auc(scores);
            prop_assert_eq!(area.is_some(), expected.is_some());
            prop_assert!((area.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
        }
    }
}
