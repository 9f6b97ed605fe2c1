//! Which configurations nothing beats, and which of them to choose.
//!
//! Paper: `zeleny1973`, compromise programming: of the points that no other beats, choose the one nearest to the ideal point,
//! which has the best of every axis and is mostly out of reach.
//!
//! Where we differ: the ideal point is fixed. It is what somebody has who publishes nothing and loses nothing: risks as high as those
//! of guessing, no loss. Axes are scaled from there to certainty and to the loss of publishing nothing, so that a configuration
//! more or less in the sweep does not move the others. The distance is Euclidean, and all axes weigh alike. Ties go to the
//! configuration asked for first.

/// How the choice is made, in words.
pub(super) const RULE: &str = "Every axis has a fixed scale: a risk is 0 at what guessing without the release achieves and 1 at \
     certainty, a loss is 0 for the original and 1 for nothing. Of the configurations on the Pareto front the one nearest to 0 in \
     all axes is chosen, the first of several.";

/// What `explain` says of the choice.
#[derive(Debug)]
pub struct ChoiceCard {
    /// Its name.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// How the choice is made.
    pub about: &'static str,
    /// What it does not say.
    pub limits: &'static str,
}

/// The entry of `explain`.
pub const CHOICE: ChoiceCard = ChoiceCard {
    name: "compromise",
    paper: "zeleny1973",
    about: "How `incrowd compare` chooses. Each configuration has a loss, a worst chance of being found (1 over the smallest \
            group) and, with a sensitive column, an average chance of being guessed. On the Pareto front are those to which no \
            other is at least as good in all and better in one. Every axis has a fixed scale: a risk is 0 at what guessing without \
            the release achieves and 1 at certainty, a loss is 0 for the original and 1 for nothing. Of the front the one nearest \
            to 0 in all axes is chosen, the first of several.",
    limits: "It knows no law and no purpose: whoever must keep k at 10 or a model of their own chooses among those. Axes weigh \
             alike: half the loss is worth as much as half the way from guessing to certainty. The worst chance of being found \
             and the average chance of being guessed are different kinds of risk.",
};

/// A point with as many axes as there are things to keep small.
pub(super) type Axes = Vec<f64>;

/// Whether each point is on the Pareto front: no other is at least as good on every axis and better on one.
pub(super) fn front(points: &[Option<Axes>]) -> Vec<bool> {
    let beats = |a: &Axes, b: &Axes| {
        let pairs = || a.iter().zip(b);
        pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
    };
    let beaten = |b: &Axes| points.iter().flatten().any(|a| beats(a, b));
    points.iter().map(|point| point.as_ref().is_some_and(|point| !beaten(point))).collect()
}

/// What somebody has without a release: the ends of the scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    /// The chance of finding a person by pointing at any record.
    pub found: f64,
    /// The chance of guessing the sensitive value by naming the commonest one; of several columns the greatest.
    pub guessed: Option<f64>,
    /// The loss of publishing nothing.
    pub loss: f64,
}

impl Baseline {
    /// A configuration on fixed scales: the excess of its risks over guessing, and its share of the greatest loss.
    pub(super) fn axes(&self, identity: f64, attribute: Option<f64>, loss: f64) -> Axes {
        let mut axes = vec![share(loss, self.loss), excess(identity, self.found)];
        axes.extend(attribute.map(|chance| excess(chance, self.guessed.unwrap_or(0.0))));
        axes
    }
}

/// Where a chance lies between guessing and certainty. Who knows less than by guessing knows nothing.
fn excess(chance: f64, guessing: f64) -> f64 {
    if guessing < 1.0 { ((chance - guessing) / (1.0 - guessing)).max(0.0) } else { 0.0 }
}

fn share(loss: f64, greatest: f64) -> f64 {
    if greatest > 0.0 { loss / greatest } else { 0.0 }
}

/// The point of the front that is nearest to 0 on every axis.
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
        let points: Vec<Option<Axes>> =
            [(0.0, 1.0), (0.1, 0.2), (1.0, 0.0), (0.5, 0.5)].iter().map(|&(a, b)| Some(vec![a, b])).collect();
        let front = front(&points);
        assert_eq!(front, [true, true, true, false]);
        assert_eq!(choose(&points, &front), Some(1));
        assert_eq!(choose(&[None], &[false]), None);
    }

    #[test]
    fn risks_are_counted_from_guessing() {
        let base = Baseline { found: 0.001, guessed: Some(0.5), loss: 4.0 };
        assert_eq!(base.axes(1.0, Some(0.75), 1.0), [0.25, 1.0, 0.5]);
        assert_eq!(base.axes(0.001, Some(0.4), 0.0), [0.0, 0.0, 0.0]);
        // A column with one value is known to everybody.
        assert_eq!(Baseline { guessed: Some(1.0), ..base }.axes(0.001, Some(1.0), 0.0), [0.0, 0.0, 0.0]);
        assert_eq!(base.axes(0.001, None, 4.0).len(), 2);
    }

    proptest! {
        /// One configuration more is chosen itself or changes nothing.
        #[test]
        fn what_is_not_chosen_does_not_matter(points in proptest::collection::vec((0u8..50, 0u8..50), 2..20)) {
            let axes: Vec<Option<Axes>> =
                points.iter().map(|&(a, b)| Some(vec![f64::from(a) / 50.0, f64::from(b) / 50.0])).collect();
            let before = choose(&axes[1..], &front(&axes[1..])).map(|i| i + 1);
            let after = choose(&axes, &front(&axes));
            prop_assert!(after == before || after == Some(0));
        }

        /// Who is on the front is exactly who cannot be improved upon, and the choice is nobody's inferior.
        #[test]
        fn nothing_beats_the_front(points in proptest::collection::vec((0u8..6, 0u8..6, 0u8..6), 1..30)) {
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
