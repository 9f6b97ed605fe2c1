//! Random draws for randomized suppression, derived from a secret key.
//!
//! Two independent releases of one table would differ in the count of the dominant value, which
//! reveals it. Therefore a repeated run must repeat its draws: the seed is a keyed hash of the
//! table's identity and the method. With the key, the draws can be reproduced. Without the key,
//! they cannot be distinguished from random numbers.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// A secret key from which draws are derived.
#[derive(Clone)]
pub struct Secret([u8; 32]);

// Secrets must not reach logs.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Creates a secret from its bytes.
    pub fn new(bytes: [u8; 32]) -> Secret {
        Secret(bytes)
    }

    /// Creates a secret for tests and experiments. It protects nothing, because the seed determines
    /// it.
    pub fn of_seed(seed: u64) -> Secret {
        Secret(blake3::derive_key("incrowd 2026 a seed that was stated", &seed.to_le_bytes()))
    }

    /// Returns a keyed hash of a list of byte strings. Each is preceded by its length, so that
    /// different lists are hashed as different inputs.
    pub fn digest<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// Derives a secret for a specific purpose.
    #[must_use]
    pub fn derive<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> Secret {
        Secret(self.digest(parts))
    }

    /// Appends `count` pseudorandom numbers that are determined by `bytes`.
    pub(crate) fn numbers(&self, bytes: &[u8], out: &mut Vec<u64>, count: u64) {
        let mut reader = blake3::Hasher::new_keyed(&self.0).update(bytes).finalize_xof();
        for _ in 0..count {
            let mut number = [0; 8];
            reader.fill(&mut number);
            out.push(u64::from_le_bytes(number));
        }
    }

    /// Returns a random number generator that is seeded with this secret.
    pub fn dice(&self) -> Dice {
        Dice(ChaCha20Rng::from_seed(self.0))
    }
}

/// A cryptographically secure generator of uniform integers.
pub struct Dice(ChaCha20Rng);

// The state of a generator is as secret as its seed.
impl std::fmt::Debug for Dice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dice")
    }
}

impl Dice {
    /// Returns a uniform number below `end`. Numbers above the last multiple of `end` are rejected
    /// to avoid a bias.
    pub fn below(&mut self, end: u64) -> u64 {
        let surplus = (u64::MAX % end + 1) % end;
        loop {
            let number = self.0.next_u64();
            if number <= u64::MAX - surplus {
                return number % end;
            }
        }
    }

    /// Returns a uniformly random permutation of the numbers below `end`.
    pub fn order(&mut self, end: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..end).collect();
        self.shuffle(&mut order);
        order
    }

    /// Shuffles a slice uniformly at random (Fisher–Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
