//! Pitman's sampling formula.
//!
//! Paper: `hoshino2001`. People arrive one after the other. With n people in u groups, the next
//! person starts a new group with probability (θ + u·α) / (θ + n) and joins a group of size j with
//! probability (j − α) / (θ + n), where 0 ≤ α < 1 and θ > −α. Any sample of n people has the same
//! distribution as the first n people, so the parameters can be estimated from the sample and used
//! for the population. With sⱼ groups of size j in the sample, the log-likelihood is, up to a
//! constant,
//!
//! L(θ, α) = Σ_{i=1}^{u−1} ln(θ + iα) − Σ_{i=1}^{n−1} ln(θ + i) + Σⱼ sⱼ Σ_{i=1}^{j−1} ln(i − α).
//!
//! Setting its derivatives to zero gives
//!
//! - for θ:  Σ_{i=1}^{u−1} 1 / (θ + iα) = Σ_{i=1}^{n−1} 1 / (θ + i),
//! - for α:  Σ_{i=1}^{u−1} i / (θ + iα) = Σⱼ sⱼ Σ_{i=1}^{j−1} 1 / (i − α).
//!
//! For a fixed α the first equation has a solution in θ: just above −α the left side is unbounded,
//! and for large θ the right side has more terms. With that θ, the sign of the second derivative
//! shows whether α is too small or too large. Two nested bisections solve both equations and always
//! converge. If α = 0 is already too large, the maximum is at 0 (Ewens' formula).
//!
//! A given person among N is unique with the probability that the last of N people starts a group.
//! Since E(θ + α·u(m)) = Γ(θ+1) Γ(θ+α+m) / (Γ(θ+α) Γ(θ+m)) after m people, the expected number of
//! unique people is
//!
//! S₁ = N · Γ(θ + 1) Γ(θ + α + N − 1) / (Γ(θ + α) Γ(θ + N)).
//!
//! Where we differ: the paper uses the limit of S₁ for large N, Γ(θ+1) / Γ(θ+α) · N^α; we use S₁
//! itself. Newton's method is not used.

use super::special::{ln_gamma, reciprocal_sum, root};
use super::{Estimator, Sample};

pub(super) const ESTIMATOR: Estimator = Estimator {
    name: "pitman",
    paper: "hoshino2001",
    about: "Estimates how many people are unique in the population of which a table is a sample. \
            Model: people join groups in proportion to their size or start new ones (Pitman's \
            sampling formula).",
    limits: "It requires group sizes with a long tail. If all groups of the population are large, \
             the estimate is too high. There is no estimate if every record is unique.",
    estimate,
};

/// Distance of the search range from α = 1.
const EDGE: f64 = 1e-9;

/// Returns the θ that fits the number of groups for a given α. `None` if it exceeds 10¹⁵.
fn theta(alpha: f64, groups: u64, records: u64) -> Option<f64> {
    let derivative = |theta: f64| {
        reciprocal_sum(theta + alpha, alpha, groups - 1)
            - reciprocal_sum(theta + 1.0, 1.0, records - 1)
    };
    let low = -alpha + 1e-12;
    let mut high = 1.0;
    while derivative(high) > 0.0 {
        high *= 4.0;
        if high > 1e15 {
            return None;
        }
    }
    Some(root(low, high, derivative))
}

/// Returns θ and α with the maximum likelihood.
fn parameters(sample: &Sample<'_>) -> Result<(f64, f64), &'static str> {
    let (groups, records) = (sample.sizes.groups(), sample.records);
    if groups == records {
        return Err("every record is unique, so the growth of groups cannot be estimated");
    }
    if groups < 2 {
        return Err("all records have equal values");
    }
    let no_fit = "no parameters fit the group sizes";
    let slope = |alpha: f64| {
        let theta = theta(alpha, groups, records)?;
        let steps = groups - 1;
        let by_groups = if alpha < 1e-7 {
            steps as f64 * groups as f64 / (2.0 * theta)
        } else {
            // i / (θ + iα) = (1 − θ / (θ + iα)) / α
            (steps as f64 - theta * reciprocal_sum(theta + alpha, alpha, steps)) / alpha
        };
        let of_size =
            |&(size, n): &(u64, u64)| n as f64 * reciprocal_sum(1.0 - alpha, 1.0, size - 1);
        Some(by_groups - sample.sizes.sizes.iter().map(of_size).sum::<f64>())
    };
    let at_zero = slope(0.0).ok_or(no_fit)?;
    let alpha = if at_zero <= 0.0 {
        0.0
    } else {
        let at_one = slope(1.0 - EDGE).ok_or(no_fit)?;
        if at_one > 0.0 {
            return Err(no_fit);
        }
        root(0.0, 1.0 - EDGE, |alpha| slope(alpha).unwrap_or(f64::NAN))
    };
    Ok((theta(alpha, groups, records).ok_or(no_fit)?, alpha))
}

/// Returns S₁ for a population of `people`.
fn uniques(theta: f64, alpha: f64, people: f64) -> f64 {
    let logarithm = people.ln() + ln_gamma(theta + 1.0) - ln_gamma(theta + alpha)
        + ln_gamma(theta + alpha + people - 1.0)
        - ln_gamma(theta + people);
    logarithm.exp()
}

fn estimate(sample: &Sample<'_>) -> Result<f64, &'static str> {
    let (theta, alpha) = parameters(sample)?;
    Ok(uniques(theta, alpha, sample.population as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::GroupSizes;
    use crate::risk::population::tests::drawn;
    use crate::risk::population::{Sampling, estimate as estimate_all};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn sample(sizes: &GroupSizes, population: u64) -> Sample<'_> {
        let records = sizes.records();
        Sample { sizes, records, population, fraction: records as f64 / population as f64 }
    }

    /// Simulates people who arrive one after the other.
    fn population(theta: f64, alpha: f64, people: usize, seed: u64) -> Vec<u64> {
        let mut chance = ChaCha20Rng::seed_from_u64(seed);
        let mut sizes: Vec<u64> = Vec::new();
        let mut group_of: Vec<usize> = Vec::new();
        for n in 0..people {
            let founds = (theta + sizes.len() as f64 * alpha) / (theta + n as f64);
            if n == 0 || chance.random_bool(founds.clamp(0.0, 1.0)) {
                group_of.push(sizes.len());
                sizes.push(1);
                continue;
            }
            // Select a group with probability proportional to its size minus α, by rejection
            // sampling of a random person's group.
            let group = loop {
                let group = group_of[chance.random_range(0..n)];
                if !chance.random_bool(alpha / sizes[group] as f64) {
                    break group;
                }
            };
            group_of.push(group);
            sizes[group] += 1;
        }
        sizes
    }

    #[test]
    fn the_expected_number_is_exact_for_few_people() {
        // Two people: both unique with probability (θ + α) / (θ + 1), so S₁ is twice that. One
        // person is always unique.
        for (theta, alpha) in [(1.0, 0.0), (0.7, 0.3), (-0.2, 0.5), (40.0, 0.9)] {
            assert!((uniques(theta, alpha, 1.0) - 1.0).abs() < 1e-12);
            assert!(
                (uniques(theta, alpha, 2.0) - 2.0 * (theta + alpha) / (theta + 1.0)).abs() < 1e-12
            );
        }
        // Ewens: S₁ = N θ / (N + θ − 1).
        assert!((uniques(5.0, 0.0, 1000.0) - 5000.0 / 1004.0).abs() < 1e-9);
    }

    #[test]
    fn the_parameters_are_at_a_maximum() {
        let sizes = GroupSizes::new(population(30.0, 0.4, 4_000, 1));
        let likelihood = |theta: f64, alpha: f64| {
            let logs =
                |n: u64, f: &dyn Fn(f64) -> f64| (1..n).map(|i| f(i as f64).ln()).sum::<f64>();
            let within: f64 =
                sizes.sizes.iter().map(|&(size, n)| n as f64 * logs(size, &|i| i - alpha)).sum();
            logs(sizes.groups(), &|i| theta + i * alpha) - logs(sizes.records(), &|i| theta + i)
                + within
        };
        let (theta, alpha) = parameters(&sample(&sizes, 40_000)).unwrap();
        let best = likelihood(theta, alpha);
        for (dt, da) in
            [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.001), (0.0, -0.001), (0.5, 0.005), (-0.5, 0.005)]
        {
            assert!(likelihood(theta + dt, alpha + da) < best);
        }
        assert!((theta / 30.0 - 1.0).abs() < 0.4 && (alpha - 0.4).abs() < 0.08, "{theta} {alpha}");
    }

    /// Populations of 100,000 people that follow the model, with samples of one in twenty.
    #[test]
    fn a_population_that_follows_the_model_is_estimated_within_a_quarter() {
        for (seed, theta, alpha) in [(1, 100.0, 0.5), (2, 1000.0, 0.3), (3, 20.0, 0.8)] {
            let people = population(theta, alpha, 100_000, seed);
            let truth = people.iter().filter(|&&size| size == 1).count() as f64;
            let sizes = drawn(&people, 0.05, seed + 100);
            let all = estimate_all(&sizes, Sampling::PopulationSize(100_000)).unwrap();
            let pitman = all.estimates[0].uniques.unwrap();
            assert!((pitman / truth - 1.0).abs() < 0.25, "{pitman} of {truth}");
        }
    }

    #[test]
    fn there_is_no_estimate_for_degenerate_samples() {
        assert!(estimate(&sample(&GroupSizes::new(vec![1; 20]), 100)).is_err());
        assert!(estimate(&sample(&GroupSizes::new(vec![20]), 100)).is_err());
    }
}
