//! The draws of randomized suppression: from a secret key, so that a repeat draws the same.
//!
//! Two independent releases of one table differ in the count of the dominant value, which gives it away. So nothing is drawn
//! afresh: the seed is a keyed hash of what identifies the table and the method. Whoever has the key can tell what was
//! withheld; whoever has it not cannot tell the draws from chance.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// A secret from which draws are derived.
#[derive(Clone)]
pub struct Secret([u8; 32]);

// Secrets must not reach logs.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The secret of these bytes.
    pub fn new(bytes: [u8; 32]) -> Secret {
        Secret(bytes)
    }

    /// A secret for tests and experiments: anybody who has the number has it.
    pub fn of_seed(seed: u64) -> Secret {
        Secret(blake3::derive_key("incrowd 2026 a seed that was stated", &seed.to_le_bytes()))
    }

    /// A keyed hash of some parts in order. Each is preceded by its length, so that no two lists read the same.
    pub fn digest<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// A secret derived from this one for some purpose.
    #[must_use]
    pub fn derive<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> Secret {
        Secret(self.digest(parts))
    }

    /// As many numbers as asked for that follow from some bytes.
    pub(crate) fn numbers(&self, bytes: &[u8], out: &mut Vec<u64>, count: u64) {
        let mut reader = blake3::Hasher::new_keyed(&self.0).update(bytes).finalize_xof();
        for _ in 0..count {
            let mut number = [0; 8];
            reader.fill(&mut number);
            out.push(u64::from_le_bytes(number));
        }
    }

    /// The generator of this secret.
    pub fn dice(&self) -> Dice {
        Dice(ChaCha20Rng::from_seed(self.0))
    }
}

/// A cryptographic generator of unbiased whole numbers.
pub struct Dice(ChaCha20Rng);

// The state of a generator is as good as its seed.
impl std::fmt::Debug for Dice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dice")
    }
}

impl Dice {
    /// A number below `end`, each equally likely: what lies beyond the last whole multiple of `end` is drawn again.
    pub fn below(&mut self, end: u64) -> u64 {
        let surplus = (u64::MAX % end + 1) % end;
        loop {
            let number = self.0.next_u64();
            if number <= u64::MAX - surplus {
                return number % end;
            }
        }
    }

    /// The numbers below `end` in an order that is as likely as any other.
    pub fn order(&mut self, end: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..end).collect();
        self.shuffle(&mut order);
        order
    }

    /// Brings things into an order that is as likely as any other.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
