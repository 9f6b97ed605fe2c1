//! Random numbers for test queries and samples. They protect nobody, so the seed is printed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) struct SeededRng(ChaCha8Rng);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> SeededRng {
        SeededRng(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns a number from 0 (included) to 1 (excluded).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniformly distributed integer below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Returns `count` different integers below `n`, ascending.
    pub(crate) fn choose(&mut self, count: usize, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for i in 0..count.min(n) {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(count);
        all.sort_unstable();
        all
    }
}

/// Returns a pseudorandom number that depends only on `seed` and `words`. It is the same on all
/// platforms.
pub(crate) fn mix(seed: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(scatter(seed), |state, word| scatter(state ^ word))
}

/// The finalizer of splitmix64: a permutation in which every input bit affects every output bit.
fn scatter(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_distinct_and_uniform() {
        let mut rng = SeededRng::new(1);
        let mut counts = [0; 6];
        for _ in 0..600 {
            let chosen = rng.choose(3, 6);
            assert!(chosen.windows(2).all(|w| w[0] < w[1]) && chosen.len() == 3);
            chosen.iter().for_each(|&i| counts[i] += 1);
        }
        // The expected count is 300 with a standard deviation of 12.2. Five deviations are allowed.
        assert!(counts.iter().all(|n| (239..=361).contains(n)), "{counts:?}");
    }
}
