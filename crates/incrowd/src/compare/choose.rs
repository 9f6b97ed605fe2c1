//! Which configurations nothing beats, and which of them to choose.

/// How the choice is made, in words.
pub const RULE: &str = "Every axis is scaled so that 0 is the best and 1 the worst of all configurations that can be kept; of \
                        those on the Pareto front the one nearest to 0 in all axes is chosen, the first of several.";

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
