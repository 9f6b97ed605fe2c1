//! Zayatz's estimator.
//!
//! Paper: `zayatz1991`. Let p(j) be the share of groups of size j in the population of N people,
//! and h(j) the probability that a sample of n people contains exactly one person of a group of j,
//! which is hypergeometric: h(j) = j · C(N − j, n − 1) / C(N, n). By Bayes' theorem, a group of one
//! in the sample comes from a group of one in the population with probability
//!
//! P = p(1) h(1) / Σⱼ p(j) h(j).
//!
//! The shares p(j) are unknown and are replaced by those of the sample. Every unique person is in
//! the sample with probability n / N, so the population has s₁ · P · N / n unique people, where s₁
//! is the number of unique records of the sample.
//!
//! The groups of the sample are smaller than those of the population, so the estimate is usually
//! too high. The error grows as the sample gets smaller.

use super::{Estimator, Sample};

pub(super) const ESTIMATOR: Estimator = Estimator {
    name: "zayatz",
    paper: "zayatz1991",
    about: "Estimates how many people are unique in the population of which a table is a sample. \
            Model: groups of the population have the sizes of the groups of the sample.",
    limits: "The groups of a sample are smaller than those of the population, so the estimate is \
             too high, and far too high if the sample is small.",
    estimate,
};

/// Returns h(j) without large factorials: j · n/N · Π (N − n − t) / (N − 1 − t) for t from 0 to
/// j − 2.
fn exactly_one(size: u64, records: u64, population: u64) -> f64 {
    let mut probability = size as f64 * records as f64 / population as f64;
    for t in 0..size - 1 {
        if probability < 1e-300 || population - records <= t {
            return 0.0;
        }
        probability *= (population - records - t) as f64 / (population - 1 - t) as f64;
    }
    probability
}

fn estimate(sample: &Sample<'_>) -> Result<f64, &'static str> {
    let one = |&(size, groups): &(u64, u64)| {
        groups as f64 * exactly_one(size, sample.records, sample.population)
    };
    let all: f64 = sample.sizes.sizes.iter().map(one).sum();
    let unique = sample.sizes.of_size(1);
    let from_unique = one(&(1, unique)) / all;
    Ok(unique as f64 * from_unique * sample.population as f64 / sample.records as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::GroupSizes;
    use crate::risk::population::tests::drawn;
    use crate::risk::population::{Sampling, estimate};

    #[test]
    fn exactly_one_is_hypergeometric() {
        // C(3, 1) · C(7, 4) / C(10, 5) and its neighbours, counted by hand.
        assert!((exactly_one(3, 5, 10) - 105.0 / 252.0).abs() < 1e-15);
        assert!((exactly_one(1, 5, 10) - 0.5).abs() < 1e-15);
        assert!((exactly_one(2, 9, 10) - 0.2).abs() < 1e-15);
        assert_eq!(exactly_one(3, 9, 10), 0.0);
    }

    #[test]
    fn if_all_records_are_unique_all_people_are() {
        let sizes = GroupSizes::new(vec![1; 50]);
        let population = estimate(&sizes, Sampling::Fraction(0.5)).unwrap();
        let zayatz = population.estimates.iter().find(|e| e.name == "zayatz").unwrap();
        assert!((zayatz.uniques.unwrap() - 100.0).abs() < 1e-9);
    }

    /// 8,000 unique people, 4,000 pairs and 2,000 groups of five, with a sample of four in five.
    #[test]
    fn a_large_sample_is_estimated_within_a_tenth() {
        let mut people = vec![1; 8_000];
        people.extend([vec![2; 4_000], vec![5; 2_000]].concat());
        for seed in 0..5 {
            let sizes = drawn(&people, 0.8, seed);
            let zayatz = estimate(&sizes, Sampling::PopulationSize(26_000)).unwrap().estimates[1]
                .uniques
                .unwrap();
            assert!((zayatz / 8_000.0 - 1.0).abs() < 0.1, "{zayatz}");
        }
    }
}
