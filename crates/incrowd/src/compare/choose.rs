//! Which configurations nothing beats, and which of them to choose.
//!
//! Paper: `zeleny1973`, compromise programming: of the points that no other beats, choose the one nearest to the ideal point,
//! which has the best of every axis and is mostly out of reach.
//!
//! Where we differ: axes are scaled by the least and the greatest of all configurations that can be kept, the distance is
//! Euclidean, and all axes weigh alike. Ties go to the configuration asked for first.

/// How the choice is made, in words.
pub(super) const RULE: &str = "Every axis is scaled so that 0 is the best and 1 the worst of all configurations that can be kept; of \
     those on the Pareto front the one nearest to 0 in all axes is chosen, the first of several.";

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
            other is at least as good in all and better in one. Every axis is scaled so that 0 is the best and 1 the worst of \
            all configurations that can be kept; of the front the one nearest to 0 in all axes is chosen, the first of several.",
    limits: "It knows no law and no purpose: whoever must keep k at 10 or a model of their own chooses among those. The choice \
             depends on what is in the sweep, because the worst of it sets the scale; one absurd configuration more moves it. \
             Axes weigh alike, and the chance of being guessed counts the common value of a column as a success.",
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

/// The point of the front that is nearest to the best of every axis.
pub(super) fn choose(points: &[Option<Axes>], front: &[bool]) -> Option<usize> {
    let axes = points.iter().flatten().next()?.len();
    let ends: Vec<(f64, f64)> = (0..axes)
        .map(|axis| {
            let values = || points.iter().flatten().map(|point| point[axis]);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        })
        .collect();
    let scaled =
        |x: f64, (least, most): (f64, f64)| if most > least { (x - least) / (most - least) } else { 0.0 };
    let distance =
        |point: &Axes| -> f64 { point.iter().zip(&ends).map(|(&x, &end)| scaled(x, end).powi(2)).sum() };
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

    proptest! {
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
