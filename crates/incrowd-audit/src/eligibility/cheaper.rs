//! Which of two methods `cheaper` takes: a function of the counts, so it belongs to what the adversary knows.
//!
//! Paper: `xu2010` takes R-suppression for the cheaper one always; it is not. `cheaper` compares what R-suppression withholds on
//! average with what Safe D-suppression does, before anything is drawn. Whoever weighs a table that could have led to a
//! release asks the same question of that table.
//!
//! The average is over the depths of l intervals. Deeper first cuts never withhold less, but for the records that complete a
//! level, so few depths mostly tell on which side the average is; only where they do not, all are looked at.

use super::mechanism::{Mechanism, Way, interval, reduce};
use super::path::Path;

/// Of a wide interval so many depths are looked at, evenly spaced, the ends by half. This is public too.
const GRID: u64 = 1024;

/// The depths of an interval that are looked at.
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
        self.low + (u128::from(self.high - self.low) * u128::from(i) / u128::from(self.last.max(1))) as u64
    }

    /// How much a depth counts: all alike if all are looked at.
    fn weight(self, i: u64) -> f64 {
        match () {
            () if self.high - self.low < GRID => 1.0 / (self.last + 1) as f64,
            () if i == 0 || i == self.last => 0.5 / self.last as f64,
            () => 1.0 / self.last as f64,
        }
    }
}

impl Mechanism {
    /// With whichever of the two methods `cheaper` takes for a table; others stay what they are. `base` is in descending
    /// order.
    #[must_use]
    pub(super) fn with_chosen_way(self, base: &[u64]) -> Mechanism {
        if self.way != Way::Cheaper {
            return self;
        }
        let level = base[self.l as usize - 1];
        let safe: u64 = base.iter().map(|count| count.saturating_sub(level)).sum();
        let way = if self.expects(base, safe as f64 - 1e-9) { Way::Safe } else { Way::Random };
        Mechanism { way, ..self }
    }

    /// Whether R-suppression withholds at least so many records on average.
    fn expects(self, base: &[u64], bound: f64) -> bool {
        for stride in [256, 64, 16, 4] {
            let (least, most) = self.between(base, stride);
            // Sums of floats are not to decide.
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

    /// What R-suppression withholds on average: every depth counts.
    pub(super) fn expected(self, base: &[u64]) -> f64 {
        let mean = |h: usize| {
            let depths = Depths::new(interval(base, h));
            let at = |i: u64| depths.weight(i) * self.total(base, depths.point(i));
            (0..=depths.last).map(at).sum::<f64>()
        };
        (1..=self.l as usize).map(mean).sum::<f64>() / self.l as f64
    }

    /// Bounds of the same from every so-manieth depth: what lies between two depths withholds no more than the deeper and no
    /// less than the shallower, and completing a level withholds fewer records more than there are values.
    fn between(self, base: &[u64], stride: u64) -> (f64, f64) {
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

    /// How likely exactly this release is if the table is `base` and its dominant value is `dominant`: both by label. For
    /// `cheaper` that is the chance of whichever method it takes for this table.
    pub(super) fn weight(self, base: &[u64], dominant: usize, release: &[u64]) -> f64 {
        if self.way != Way::Cheaper {
            return self.likelihood(base, dominant, release);
        }
        let random = Mechanism { way: Way::Random, ..self }.likelihood(base, dominant, release);
        let mut sorted = base.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let safe = safely(&sorted, self.l, base, dominant, release);
        if random == 0.0 && safe == 0.0 {
            return 0.0;
        }
        if self.with_chosen_way(&sorted).way == Way::Safe { safe } else { random }
    }
}

/// The same for Safe D-suppression, which draws nothing but who is the dominant one of equally frequent values.
fn safely(sorted: &[u64], l: u64, base: &[u64], dominant: usize, release: &[u64]) -> f64 {
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

    /// The question of the paper's counterexample, and tables far and near: bounds hold, and the short way decides as the long
    /// one.
    #[test]
    fn few_depths_tell_what_all_of_them_tell() {
        let (mut safe, mut random) = (0, 0);
        for complete_level in [false, true] {
            for scale in [1, 3, 40, 1_000, 50_000] {
                for shape in
                    [[6, 4, 4, 4, 3], [10, 4, 2, 1, 1], [9, 8, 8, 1, 1], [30, 9, 8, 7, 6], [7, 5, 5, 5, 5]]
                {
                    for l in 2..=5 {
                        let base: Vec<u64> = shape.iter().map(|count| count * scale).collect();
                        if base[0] * l <= base.iter().sum() {
                            continue;
                        }
                        let m = Mechanism { way: Way::Cheaper, l, complete_level };
                        let level = base[l as usize - 1];
                        let cost: u64 = base.iter().map(|count| count.saturating_sub(level)).sum();
                        let expected = m.expected(&base);
                        for stride in [256, 64, 16, 4] {
                            let (least, most) = m.between(&base, stride);
                            assert!(
                                least <= expected + 1e-6 && expected <= most + 1e-6,
                                "{base:?} l={l} {stride}"
                            );
                        }
                        let long = if expected + 1e-9 >= cost as f64 { Way::Safe } else { Way::Random };
                        assert_eq!(m.with_chosen_way(&base).way, long, "{base:?} l={l}");
                        safe += u32::from(long == Way::Safe);
                        random += u32::from(long == Way::Random);
                    }
                }
            }
        }
        assert!(safe > 10 && random > 50, "{safe} {random}");
    }
}
