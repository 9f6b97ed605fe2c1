//! Chance that draws test queries and samples. It protects nobody, so its seed is printed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 0 up to but excluding 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `n`, all alike.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// `count` different whole numbers below `n`, ascending.
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

/// A number that looks drawn at random and follows from `seed` and `words` alone, the same everywhere.
pub(crate) fn mix(seed: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(scatter(seed), |state, word| scatter(state ^ word))
}

/// The finalizer of splitmix64: a permutation in which every bit of the input moves every bit of the output.
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
    fn choices_are_different_and_all_come() {
        let mut dice = Dice::new(1);
        let mut seen = [0; 6];
        for _ in 0..600 {
            let chosen = dice.choose(3, 6);
            assert!(chosen.windows(2).all(|w| w[0] < w[1]) && chosen.len() == 3);
            chosen.iter().for_each(|&i| seen[i] += 1);
        }
        // Each comes 300 times on average with a standard deviation of 12.2; five of them are allowed.
        assert!(seen.iter().all(|n| (239..=361).contains(n)), "{seen:?}");
    }
}
