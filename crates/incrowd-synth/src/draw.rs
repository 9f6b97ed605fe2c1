//! Random draws that give the same values on every platform.
//!
//! Only additions, multiplications, divisions and comparisons of floats are used: those are
//! exactly defined, whereas the results of `exp` or `ln` may differ between platforms.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The source of randomness for one block of rows.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// Creates the generator of one block. Every table, seed and block has a separate stream.
    pub(crate) fn new(table: &str, seed: u64, block: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (slot, byte) in key[8..].iter_mut().zip(table.bytes()) {
            *slot = byte;
        }
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(block);
        Self(rng)
    }

    /// Returns a number from zero up to but excluding one.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// Returns true with probability `share`.
    #[inline]
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Returns a uniform whole number between `low` and `high`, both included.
    #[inline]
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high - low) + 1;
        low + ((u64::from(self.0.next_u32()) * span) >> 32) as u32
    }

    /// Returns an approximately normal number with mean zero and deviation one.
    ///
    /// The sum of four uniform draws is always within ±3.5; use [`Dice::tail`] for extreme values.
    #[inline]
    pub(crate) fn bell(&mut self) -> f64 {
        const MEAN: f64 = 131_070.0;
        const DEVIATION: f64 = 37_837.2;
        let word = self.0.next_u64();
        let sum = (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
        (sum as f64 - MEAN) / DEVIATION
    }

    /// Returns an approximately log-normal number with the given median.
    #[inline]
    pub(crate) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * grow(sigma * self.bell())
    }

    /// Returns a number between `low` and `high` whose density falls with its square: a Pareto tail
    /// of shape one, cut at `high`.
    #[inline]
    pub(crate) fn tail(&mut self, low: f64, high: f64) -> f64 {
        low / (1.0 - self.unit() * (1.0 - low / high))
    }

    /// Draws an index from a table of weights.
    #[inline]
    pub(crate) fn pick(&mut self, weighted: &Weighted) -> usize {
        let word = self.0.next_u64();
        let slot = ((word >> 32) * weighted.slots.len() as u64) >> 32;
        let slot = &weighted.slots[slot as usize];
        usize::from(if (word as u32) < slot.keep { slot.own } else { slot.other })
    }

    /// Rounds a value as people report it: each `(share, step)` is the share of people who round to
    /// a multiple of the step; the others are exact.
    #[inline]
    pub(crate) fn heaped(&mut self, value: u32, habits: &[(f64, u32)]) -> u32 {
        let mut person = self.unit();
        for &(share, step) in habits {
            if person < share {
                return (value + step / 2) / step * step;
            }
            person -= share;
        }
        value
    }
}

/// Approximates the exponential function to within one percent for the arguments used here, with
/// multiplications only.
#[inline]
fn grow(x: f64) -> f64 {
    let mut power = 1.0 + x / 1024.0;
    for _ in 0..10 {
        power *= power;
    }
    power
}

/// A discrete distribution with draws that cost one random word and one look-up.
///
/// This is the alias method: every slot has an equal share of the probability, split between its
/// own index and one other.
#[derive(Debug)]
pub(crate) struct Weighted {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    /// The part of the slot, out of 2³², that belongs to `own`.
    keep: u32,
    own: u16,
    other: u16,
}

impl Weighted {
    /// Prepares a draw of the indices of `weights`, which need not sum to one.
    pub(crate) fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut weights: Vec<f64> = weights.into_iter().collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut slots: Vec<Slot> =
            (0..weights.len() as u16).map(|own| Slot { keep: u32::MAX, own, other: own }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&index| weights[index] < mean);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            slots[poor].keep = (weights[poor] / mean * 4_294_967_296.0) as u32;
            slots[poor].other = rich as u16;
            weights[rich] -= mean - weights[poor];
            if weights[rich] < mean {
                large.pop();
                small.push(rich);
            }
        }
        Self { slots }
    }

    /// Prepares Zipf's law over `count` ranks; a larger `flatness` makes the first ranks less
    /// dominant.
    pub(crate) fn zipf(count: u16, flatness: f64) -> Self {
        Self::new((1..=count).map(|rank| 1.0 / (f64::from(rank) + flatness)))
    }

    /// Prepares a draw of `0..count` from a curve through the `(index, weight)` points `knots`.
    pub(crate) fn curve(count: u16, knots: &[(f64, f64)]) -> Self {
        Self::new((0..count).map(|index| {
            let at = f64::from(index);
            knots.windows(2).find(|pair| at <= pair[1].0).map_or(0.0, |pair| {
                pair[0].1 + (pair[1].1 - pair[0].1) * (at - pair[0].0) / (pair[1].0 - pair[0].0)
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Dice, Weighted, grow};

    #[test]
    fn picks_follow_the_weights() {
        let weights = [0.0, 1.0, 6.0, 3.0, 0.5];
        let weighted = Weighted::new(weights);
        let mut dice = Dice::new("test", 1, 0);
        let mut counts = [0u32; 5];
        for _ in 0..105_000 {
            counts[dice.pick(&weighted)] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            assert!((f64::from(count) - weight * 10_000.0).abs() < 700.0, "{counts:?}");
        }
        assert_eq!(counts[0], 0);
    }

    #[test]
    fn bell_has_mean_zero_and_deviation_one() {
        let mut dice = Dice::new("test", 2, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| dice.bell()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn grow_is_close_to_the_exponential() {
        for x in [-3.0, -1.0, 0.0, 0.5, 2.0, 3.0f64] {
            assert!((grow(x) / x.exp() - 1.0).abs() < 0.01, "{x}");
        }
    }

    #[test]
    fn tails_and_ranges_stay_inside_their_bounds() {
        let mut dice = Dice::new("test", 3, 0);
        for _ in 0..10_000 {
            assert!((2.0..=50.0).contains(&dice.tail(2.0, 50.0)));
            assert!((3..=5).contains(&dice.between(3, 5)));
        }
    }

    #[test]
    fn every_block_table_and_seed_has_its_own_stream() {
        let mut units: Vec<u64> = [("a", 1, 0), ("a", 1, 1), ("a", 2, 0), ("b", 1, 0)]
            .map(|(table, seed, block)| (Dice::new(table, seed, block).unit() * 1e9) as u64)
            .to_vec();
        units.sort_unstable();
        units.dedup();
        assert_eq!(units.len(), 4);
    }
}
