//! How likely each value of a release is to have been the dominant one.

use std::collections::BTreeMap;

/// For each count of the release how likely each value that has it is the dominant one.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// A count, how many values have it, and the posterior of each of them; in descending order of the counts.
    pub by_count: Vec<(u64, u64, f64)>,
    /// The greatest standard error of a posterior, if it was sampled; else 0.
    pub error: f64,
}

impl Posterior {
    /// From how likely the release is together with each count of the dominant value.
    pub(super) fn of_mass(release: &[u64], mass: &BTreeMap<u64, f64>) -> Option<Posterior> {
        let total: f64 = mass.values().sum();
        if total.is_nan() || total <= 0.0 {
            return None;
        }
        let alike = release.chunk_by(|a, b| a == b);
        let by_count = alike.map(|alike| {
            let (count, values) = (alike[0], alike.len() as u64);
            (count, values, mass.get(&count).copied().unwrap_or(0.0) / total / values as f64)
        });
        Some(Posterior { by_count: by_count.collect(), error: 0.0 })
    }

    /// The greatest posterior of a value: the chance that the best guess is right.
    pub fn max(&self) -> f64 {
        self.by_count.iter().map(|entry| entry.2).fold(0.0, f64::max)
    }

    /// The posterior of a value that has this count in the release.
    pub fn of(&self, count: u64) -> f64 {
        self.by_count.iter().find(|entry| entry.0 == count).map_or(0.0, |entry| entry.2)
    }

    /// The chance that the best guess names a value that ended with this count.
    pub fn names(&self, count: u64) -> f64 {
        let best = self.max();
        let guessed: u64 = self.by_count.iter().filter(|e| e.2 >= best - 1e-12).map(|entry| entry.1).sum();
        if self.of(count) >= best - 1e-12 { 1.0 / guessed as f64 } else { 0.0 }
    }
}
