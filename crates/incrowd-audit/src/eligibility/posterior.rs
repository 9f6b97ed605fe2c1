//! Probabilities that the values of a release were the dominant one.

use std::collections::BTreeMap;

/// For each count of the release, the probability that a value with this count is the dominant one.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// A count, the number of values with it, and the posterior of each of them. In descending
    /// order of counts.
    pub by_count: Vec<(u64, u64, f64)>,
    /// Greatest standard error of a posterior if it was sampled, else 0.
    pub error: f64,
}

impl Posterior {
    /// Creates it from the joint probabilities of the release and each count of the dominant value.
    pub(super) fn of_mass(release: &[u64], mass: &BTreeMap<u64, f64>) -> Option<Posterior> {
        let total: f64 = mass.values().sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let by_count = release.chunk_by(|a, b| a == b).map(|equal| {
            let (count, values) = (equal[0], equal.len() as u64);
            (count, values, mass.get(&count).copied().unwrap_or(0.0) / total / values as f64)
        });
        Some(Posterior { by_count: by_count.collect(), error: 0.0 })
    }

    /// Returns the greatest posterior of a value: the probability that the best guess is right.
    pub fn max(&self) -> f64 {
        self.by_count.iter().map(|entry| entry.2).fold(0.0, f64::max)
    }

    /// Returns the posterior of a value with this count in the release.
    pub fn of(&self, count: u64) -> f64 {
        self.by_count.iter().find(|entry| entry.0 == count).map_or(0.0, |entry| entry.2)
    }

    /// Returns the probability that the best guess is a value with this count.
    pub fn guesses(&self, count: u64) -> f64 {
        let best = self.max();
        let guessed: u64 =
            self.by_count.iter().filter(|e| e.2 >= best - 1e-12).map(|entry| entry.1).sum();
        if self.of(count) >= best - 1e-12 { 1.0 / guessed as f64 } else { 0.0 }
    }
}
