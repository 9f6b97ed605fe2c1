//! The method that `cheaper` selects. It is a function of the counts, so the adversary can compute
//! it.
//!
//! Paper: `xu2010` assumes that R-suppression is always cheaper. This is wrong. `cheaper` compares
//! the expected number of records that R-suppression suppresses with the number for Safe
//! D-suppression, before any random draw. The adversary makes this comparison for each table that
//! could have led to a release.
//!
//! The expected value is a mean over the depths of l intervals. Deeper first cuts never suppress
//! fewer records, except for the records that complete a level. A few depths therefore give bounds
//! of the mean. All depths are evaluated only if the bounds do not decide.

use super::mechanism::{Mechanism, Method, interval, reduce};
use super::path::Path;

/// Maximum number of evaluated depths of an interval. They are evenly spaced, and the two ends have
/// half weight. This number is public too.
const GRID: u64 = 1024;

/// The evaluated depths of an interval.
#[derive(Clone, Copy)]
struct Depths {
    low: u64,
    high: u64,
    last: u64,
}

impl Depths {
    fn new((low, high): (u64, u64)) -> Depths {
        Depths { low, high, last: (high - low).min(GRID) }
    }

    fn point(self, i: u64) -> u64 {
        self.low
            + (u128::from(self.high - self.low) * u128::from(i) / u128::from(self.last.max(1)))
                as u64
    }

    /// Returns the weight of a depth in the mean. All are equal if all depths are evaluated.
    fn weight(self, i: u64) -> f64 {
        match () {
            () if self.high - self.low < GRID => 1.0 / (self.last + 1) as f64,
            () if i == 0 || i == self.last => 0.5 / self.last as f64,
            () => 1.0 / self.last as f64,
        }
    }
}

impl Mechanism {
    /// Replaces `cheaper` by the method that it selects for a table. Other methods are unchanged.
    /// `base` is in descending order.
    #[must_use]
    pub(super) fn with_chosen_method(self, base: &[u64]) -> Mechanism {
        if self.method != Method::Cheaper {
            return self;
        }
        let level = base[self.l as usize - 1];
        let safe: u64 = base.iter().map(|count| count.saturating_sub(level)).sum();
        let is_safe = self.expects(base, safe as f64 - 1e-9);
        Mechanism { method: if is_safe { Method::Safe } else { Method::Random }, ..self }
    }

    /// Returns whether R-suppression is expected to suppress at least `bound` records.
    fn expects(self, base: &[u64], bound: f64) -> bool {
        for stride in [256, 64, 16, 4] {
            let (least, most) = self.bounds(base, stride);
            // The tolerance exceeds the rounding errors of the sums.
            if least > bound + 1e-3 {
                return true;
            }
            if most < bound - 1e-3 {
                return false;
            }
        }
        self.expected(base) >= bound
    }

    fn total(self, base: &[u64], first: u64) -> f64 {
        (base[0] - first + self.end(&reduce(base, first), base.iter().sum()).cuts) as f64
    }

    /// Returns the expected number of records that R-suppression suppresses, from all depths.
    pub(super) fn expected(self, base: &[u64]) -> f64 {
        let mean = |h: usize| {
            let depths = Depths::new(interval(base, h));
            let at = |i: u64| depths.weight(i) * self.total(base, depths.point(i));
            (0..=depths.last).map(at).sum::<f64>()
        };
        (1..=self.l as usize).map(mean).sum::<f64>() / self.l as f64
    }

    /// Returns bounds of the expected number from every `stride`-th depth. A depth between two
    /// others suppresses at most as many records as the deeper one and at least as many as the
    /// shallower one. Completing a level adds fewer records than there are values.
    fn bounds(self, base: &[u64], stride: u64) -> (f64, f64) {
        let records: u64 = base.iter().sum();
        let raw = |first: u64| {
            (base[0] - first + Path::new(&reduce(base, first), records, self.l).end().cuts) as f64
        };
        let more = if self.complete_level { base.len() as f64 } else { 0.0 };
        let (mut least, mut most) = (0.0, 0.0);
        for h in 1..=self.l as usize {
            let depths = Depths::new(interval(base, h));
            let mut from = (0, raw(depths.point(0)));
            let own = depths.weight(0) * from.1;
            (least, most) = (least + own, most + own);
            while from.0 < depths.last {
                let to = (from.0 + stride).min(depths.last);
                let shallower = raw(depths.point(to));
                let inside: f64 = (from.0 + 1..to).map(|i| depths.weight(i)).sum();
                let end = depths.weight(to) * shallower;
                least += inside * shallower + end;
                most += inside * from.1 + end;
                from = (to, shallower);
            }
        }
        (least / self.l as f64, most / self.l as f64 + more)
    }

    /// Returns the probability of this release if the table is `base` and the dominant value is
    /// `dominant`. Counts are by label. For `cheaper` it is the probability under the method that
    /// is selected for this table.
    pub(super) fn chance(self, base: &[u64], dominant: usize, release: &[u64]) -> f64 {
        if self.method != Method::Cheaper {
            return self.likelihood(base, dominant, release);
        }
        let random =
            Mechanism { method: Method::Random, ..self }.likelihood(base, dominant, release);
        let mut sorted = base.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let safe = safe_likelihood(&sorted, self.l, base, dominant, release);
        if random == 0.0 && safe == 0.0 {
            return 0.0;
        }
        if self.with_chosen_method(&sorted).method == Method::Safe { safe } else { random }
    }
}

/// Returns the probability of this release under Safe D-suppression. Its only random draw is the
/// dominant value among equally frequent values.
fn safe_likelihood(sorted: &[u64], l: u64, base: &[u64], dominant: usize, release: &[u64]) -> f64 {
    let level = sorted[l as usize - 1];
    let leads = base.iter().zip(release).all(|(&before, &after)| after == before.min(level));
    if !leads || base[dominant] < sorted[0] {
        return 0.0;
    }
    1.0 / sorted.iter().take_while(|&&count| count == sorted[0]).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's counterexample and other tables, with clear and with close decisions.
    #[test]
    fn bounds_hold_and_decide_like_the_expected_value() {
        let (mut safe, mut random) = (0, 0);
        for complete_level in [false, true] {
            for scale in [1, 3, 40, 1_000, 50_000] {
                for shape in [
                    [6, 4, 4, 4, 3],
                    [10, 4, 2, 1, 1],
                    [9, 8, 8, 1, 1],
                    [30, 9, 8, 7, 6],
                    [7, 5, 5, 5, 5],
                ] {
                    for l in 2..=5 {
                        let base: Vec<u64> = shape.iter().map(|count| count * scale).collect();
                        if base[0] * l <= base.iter().sum() {
                            continue;
                        }
                        let m = Mechanism { method: Method::Cheaper, l, complete_level };
                        let level = base[l as usize - 1];
                        let cost: u64 = base.iter().map(|count| count.saturating_sub(level)).sum();
                        let expected = m.expected(&base);
                        for stride in [256, 64, 16, 4] {
                            let (least, most) = m.bounds(&base, stride);
                            assert!(
                                least <= expected + 1e-6 && expected <= most + 1e-6,
                                "{base:?} l={l} {stride}"
                            );
                        }
                        let is_safe = expected + 1e-9 >= cost as f64;
                        let method = if is_safe { Method::Safe } else { Method::Random };
                        assert_eq!(m.with_chosen_method(&base).method, method, "{base:?} l={l}");
                        safe += u32::from(is_safe);
                        random += u32::from(!is_safe);
                    }
                }
            }
        }
        assert!(safe > 10 && random > 50, "{safe} {random}");
    }
}
