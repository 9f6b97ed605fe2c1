//! The Pareto front of the configurations, and the choice among them.
//!
//! Paper: `zeleny1973`, compromise programming: of the points on the Pareto front, choose the one
//! nearest to the ideal point, which has the best value of every axis and is usually not
//! attainable.
//!
//! Where we differ: the ideal point is fixed: risks equal to those of guessing without a release,
//! and no loss. Axes are scaled from there to certainty and to the loss of publishing nothing, so
//! that adding a configuration does not move the others. The distance is Euclidean, and all axes
//! have equal weight. Ties go to the first configuration.

/// The rule of the choice, in words.
pub(super) const RULE: &str = "Every axis has a fixed scale: a risk is 0 at what guessing without \
     the release achieves and 1 at certainty, a loss is 0 for the original and 1 for nothing. \
     Of the configurations on the Pareto front the one nearest to 0 in all axes is chosen, the \
     first of several.";

/// The entry of `explain` about the choice.
#[derive(Debug)]
pub struct ChoiceCard {
    /// Its name.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// The rule of the choice.
    pub about: &'static str,
    /// Its limits.
    pub limits: &'static str,
}

/// The entry of `explain`.
pub const CHOICE: ChoiceCard = ChoiceCard {
    name: "compromise",
    paper: "zeleny1973",
    about: "How `incrowd compare` chooses. Each configuration has a loss, a greatest \
            re-identification risk (1 over the smallest group) and, with a sensitive column, an \
            average probability that the sensitive value is guessed. A configuration is on the \
            Pareto front if no other is at least as good in all and better in one. Every axis has \
            a fixed scale: a risk is 0 at what guessing without the release achieves and 1 at \
            certainty, a loss is 0 for the original and 1 for nothing. Of the front the one \
            nearest to 0 in all axes is chosen, the first of several.",
    limits: "It does not consider laws or the purpose of the release: if a k of 10 or a certain \
             model is required, choose among the configurations that have it. All axes have equal \
             weight: half the loss counts as much as half the way from guessing to certainty. The \
             greatest re-identification risk and the average probability of a guess are different \
             kinds of risk.",
};

/// The coordinates of a configuration; smaller is better on every axis.
pub(super) type Axes = Vec<f64>;

/// Returns whether each point is on the Pareto front: no other is at least as good on every axis
/// and better on one.
pub(super) fn front(points: &[Option<Axes>]) -> Vec<bool> {
    let beats = |a: &Axes, b: &Axes| {
        let pairs = || a.iter().zip(b);
        pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
    };
    let beaten = |b: &Axes| points.iter().flatten().any(|a| beats(a, b));
    points.iter().map(|point| point.as_ref().is_some_and(|point| !beaten(point))).collect()
}

/// The risks and the loss without a release, which define the scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    /// The probability of finding a person by choosing any record.
    pub found: f64,
    /// The probability that the most frequent sensitive value is right; the maximum over the
    /// columns.
    pub guessed: Option<f64>,
    /// The loss of publishing nothing.
    pub loss: f64,
}

impl Baseline {
    /// Returns a configuration on fixed scales: the excess of its risks over guessing, and its
    /// share of the greatest loss.
    pub(super) fn axes(&self, identity: f64, attribute: Option<f64>, loss: f64) -> Axes {
        let mut axes = vec![share(loss, self.loss), excess(identity, self.found)];
        axes.extend(attribute.map(|chance| excess(chance, self.guessed.unwrap_or(0.0))));
        axes
    }
}

/// Scales a probability from guessing (0) to certainty (1). A smaller one than guessing counts as
/// 0.
fn excess(chance: f64, guessing: f64) -> f64 {
    if guessing < 1.0 { ((chance - guessing) / (1.0 - guessing)).max(0.0) } else { 0.0 }
}

fn share(loss: f64, greatest: f64) -> f64 {
    if greatest > 0.0 { loss / greatest } else { 0.0 }
}

/// Returns the point of the front that is nearest to 0.
pub(super) fn choose(points: &[Option<Axes>], front: &[bool]) -> Option<usize> {
    let distance = |point: &Axes| -> f64 { point.iter().map(|x| x.powi(2)).sum() };
    let candidates = points.iter().enumerate().filter(|(i, _)| front[*i]);
    let candidates = candidates.filter_map(|(i, point)| Some((i, distance(point.as_ref()?))));
    candidates.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_knee_is_chosen() {
        let points: Vec<Option<Axes>> = [(0.0, 1.0), (0.1, 0.2), (1.0, 0.0), (0.5, 0.5)]
            .iter()
            .map(|&(a, b)| Some(vec![a, b]))
            .collect();
        let front = front(&points);
        assert_eq!(front, [true, true, true, false]);
        assert_eq!(choose(&points, &front), Some(1));
        assert_eq!(choose(&[None], &[false]), None);
    }

    #[test]
    fn risks_are_relative_to_guessing() {
        let base = Baseline { found: 0.001, guessed: Some(0.5), loss: 4.0 };
        assert_eq!(base.axes(1.0, Some(0.75), 1.0), [0.25, 1.0, 0.5]);
        assert_eq!(base.axes(0.001, Some(0.4), 0.0), [0.0, 0.0, 0.0]);
        // A column with one value can be guessed by everybody.
        assert_eq!(
            Baseline { guessed: Some(1.0), ..base }.axes(0.001, Some(1.0), 0.0),
            [0.0, 0.0, 0.0]
        );
        assert_eq!(base.axes(0.001, None, 4.0).len(), 2);
    }

    proptest! {
        /// An additional configuration is chosen itself or does not change the choice.
        #[test]
        fn an_additional_configuration_does_not_change_the_choice_of_the_others(
            points in proptest::collection::vec((0u8..50, 0u8..50), 2..20)
        ) {
            let axes: Vec<Option<Axes>> =
                points.iter()
                    .map(|&(a, b)| Some(vec![f64::from(a) / 50.0, f64::from(b) / 50.0]))
                    .collect();
            let before = choose(&axes[1..], &front(&axes[1..])).map(|i| i + 1);
            let after = choose(&axes, &front(&axes));
            prop_assert!(after == before || after == Some(0));
        }

        /// The front has exactly the points that no other dominates, and the choice is one of them.
        #[test]
        fn no_point_dominates_the_front(
            points in proptest::collection::vec((0u8..6, 0u8..6, 0u8..6), 1..30)
        ) {
            let points: Vec<[u8; 3]> = points.into_iter().map(|(a, b, c)| [a, b, c]).collect();
            let axes: Vec<Option<Axes>> =
                points.iter().map(|p| Some(p.iter().map(|&x| f64::from(x)).collect())).collect();
            let on = front(&axes);
            for (i, point) in points.iter().enumerate() {
                let mut beaten = false;
                for other in &points {
                    let no_worse = (0..3).all(|axis| other[axis] <= point[axis]);
                    beaten |= no_worse && other != point;
                }
                prop_assert_eq!(on[i], !beaten);
            }
            let chosen = choose(&axes, &on).unwrap();
            prop_assert!(on[chosen]);
        }
    }
}
