//! The slide negative binomial estimator.
//!
//! Paper: `chen1998`. The K groups of the population have sizes 1 + X, where X is negative
//! binomial: the probability of X = j is Γ(α + j) / (Γ(α) j!) · β^α (1 − β)^j. The distribution is
//! shifted by one, because an empty group is no group. The expected number of unique people is K ·
//! β^α.
//!
//! Every person is drawn with probability π. With q = 1 − π and G(z) = (β / (1 − (1 − β) z))^α, the
//! generating function of the size of a group in the sample is h(q + πz) with h(s) = s · G(s). Its
//! coefficients give the expected numbers of groups of one and of two records, with x = 1 − β and D
//! = 1 − qx:
//!
//! - E(s₁) = K π h′(q) = K π (β/D)^α (1 + α q x / D),
//! - E(s₂) = K π² h″(q) / 2 = K π² (β/D)^α · α x / (2 D²) · (2 − (1 − α) q x).
//!
//! The parameters are chosen so that both equal the numbers of the sample. K is first estimated by
//! Shlosser's estimator as modified by `haas1998` (their D_Sh3), with u groups in the sample:
//!
//! K = u + s₁ · [Σ i π² (1 − π²)^{i−1} sᵢ / Σ (1 − π)^i ((1 + π)^i − 1) sᵢ] · [Σ (1 − π)^i sᵢ / Σ i
//! π (1 − π)^{i−1} sᵢ]².
//!
//! Where we differ: the two equations are solved by a scan over β and bisection, not by Newton's
//! method from one starting point. If they have no solution, there is no estimate. For given β,
//! E(s₁) as a function of α may increase before it decreases, so there are up to two solutions for
//! α. The decreasing branch is tried first.

use super::special::root;
use super::{Estimator, Sample};

pub(super) const ESTIMATOR: Estimator = Estimator {
    name: "snb",
    paper: "chen1998",
    about: "Estimates how many people are unique in the population of which a table is a sample. \
            Model: group sizes of the population minus one are negative binomial (slide negative \
            binomial).",
    limits: "It requires groups of two records, and an estimated number of groups. Below a \
             sampling fraction of a tenth the estimate is far too high. Its equations may have no \
             solution.",
    estimate,
};

/// Number of values of β in the scan.
const STEPS: u32 = 400;

/// The two equations for α and β.
struct Equations {
    /// K, the number of groups in the population.
    groups: f64,
    /// π, the sampling fraction.
    fraction: f64,
    /// s₁ and s₂, the numbers of groups of one and of two records in the sample.
    ones: f64,
    twos: f64,
}

impl Equations {
    /// Returns E(s₁) and E(s₂).
    fn expected(&self, alpha: f64, beta: f64) -> (f64, f64) {
        let (pi, q, x) = (self.fraction, 1.0 - self.fraction, 1.0 - beta);
        let d = 1.0 - q * x;
        let none = (alpha * (beta / d).ln()).exp();
        let ones = self.groups * pi * none * (1.0 + alpha * q * x / d);
        let twos = self.groups * pi * pi * none * alpha * x / (2.0 * d * d)
            * (2.0 - (1.0 - alpha) * q * x);
        (ones, twos)
    }

    /// Returns the solution α of E(s₁) = s₁ on one branch for this β.
    fn alpha(&self, beta: f64, falling: bool) -> Option<f64> {
        let (q, x) = (1.0 - self.fraction, 1.0 - beta);
        let d = 1.0 - q * x;
        let rate = -(beta / d).ln();
        // The derivative in α vanishes where rate · (1 + α q x / D) = q x / D.
        let peak = (1.0 / rate - d / (q * x)).max(0.0);
        let excess = |alpha: f64| self.expected(alpha, beta).0 - self.ones;
        if excess(peak) < 0.0 {
            return None;
        }
        if !falling {
            return (peak > 0.0 && excess(0.0) <= 0.0).then(|| root(0.0, peak, excess));
        }
        let mut high = peak.max(1e-6) * 2.0;
        while excess(high) > 0.0 {
            high *= 2.0;
            if high > 1e12 {
                return None;
            }
        }
        Some(root(peak, high, excess))
    }

    /// Returns (α, β) at the first change of sign along one branch.
    fn solve(&self, falling: bool) -> Option<(f64, f64)> {
        let error = |beta: f64| {
            let alpha = self.alpha(beta, falling)?;
            Some(self.expected(alpha, beta).1 - self.twos)
        };
        // Equidistant in the logarithm of β / (1 − β), from 1e-6 on both ends.
        let at = |step: u32| {
            let odds = (-13.8 + 27.6 * f64::from(step) / f64::from(STEPS)).exp();
            odds / (1.0 + odds)
        };
        let mut last: Option<(f64, f64)> = None;
        for beta in (0..=STEPS).map(at) {
            let here = error(beta).map(|value| (beta, value));
            if let (Some((low, before)), Some((high, after))) = (last, here)
                && (before > 0.0) != (after > 0.0)
            {
                let beta = root(low, high, |beta| error(beta).unwrap_or(f64::NAN));
                return Some((self.alpha(beta, falling)?, beta));
            }
            last = here;
        }
        None
    }
}

/// Shlosser's estimator of the number of groups in the population, as modified by Haas and Stokes.
fn shlosser(sample: &Sample<'_>) -> f64 {
    let (pi, q) = (sample.fraction, 1.0 - sample.fraction);
    let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
        sample.sizes.sizes.iter().map(|&(size, groups)| groups as f64 * term(size as f64)).sum()
    };
    let first = sum(&|i| i * pi * pi * (1.0 - pi * pi).powf(i - 1.0))
        / sum(&|i| (1.0 - pi * pi).powf(i) - q.powf(i));
    let second = sum(&|i| q.powf(i)) / sum(&|i| i * pi * q.powf(i - 1.0));
    let groups = sample.sizes.groups() as f64;
    groups + sample.sizes.of_size(1) as f64 * first * second * second
}

fn estimate(sample: &Sample<'_>) -> Result<f64, &'static str> {
    let (ones, twos) = (sample.sizes.of_size(1) as f64, sample.sizes.of_size(2) as f64);
    if twos == 0.0 {
        return Err("the sample has no group of two records, which the model requires");
    }
    let groups = shlosser(sample);
    if !groups.is_finite() {
        return Err("the number of groups in the population cannot be estimated");
    }
    let equations = Equations { groups, fraction: sample.fraction, ones, twos };
    let solution = equations.solve(true).or_else(|| equations.solve(false));
    let (alpha, beta) = solution.ok_or("the equations have no solution for these group sizes")?;
    Ok(groups * (alpha * beta.ln()).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::population::tests::drawn;
    use crate::risk::population::{Sampling, estimate as estimate_all};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Group sizes 1 + X with X geometric, the negative binomial of α = 1.
    fn population(groups: usize, beta: f64, seed: u64) -> Vec<u64> {
        let mut chance = ChaCha20Rng::seed_from_u64(seed);
        (0..groups)
            .map(|_| {
                1 + std::iter::repeat_with(|| chance.random_bool(beta))
                    .take_while(|end| !end)
                    .count() as u64
            })
            .collect()
    }

    /// Sums P(f = i) over all sizes of the group in the population.
    #[test]
    fn expected_numbers_equal_explicit_sums() {
        for (alpha, beta, pi) in [(1.0, 0.3, 0.2), (0.5, 0.6, 0.7), (4.0, 0.5, 0.1)] {
            let equations = Equations { groups: 1.0, fraction: pi, ones: 0.0, twos: 0.0 };
            let (mut ones, mut twos, mut p) = (0.0, 0.0, f64::powf(beta, alpha));
            for j in 0..2000 {
                let size = f64::from(j + 1);
                ones += p * size * pi * (1.0 - pi).powf(size - 1.0);
                twos += p * size * (size - 1.0) / 2.0 * pi * pi * (1.0 - pi).powf(size - 2.0);
                p *= (alpha + f64::from(j)) / f64::from(j + 1) * (1.0 - beta);
            }
            let (e1, e2) = equations.expected(alpha, beta);
            assert!(
                (e1 - ones).abs() < 1e-12 && (e2 - twos).abs() < 1e-12,
                "{e1} {ones} {e2} {twos}"
            );
        }
    }

    /// Solves the equations for expected counts of known parameters.
    #[test]
    fn the_parameters_are_recovered() {
        for (alpha, beta, fraction) in
            [(1.0, 0.3, 0.2), (0.5, 0.6, 0.7), (4.0, 0.5, 0.1), (2.0, 0.9, 0.5)]
        {
            let mut equations = Equations { groups: 1e5, fraction, ones: 0.0, twos: 0.0 };
            (equations.ones, equations.twos) = equations.expected(alpha, beta);
            let found = [true, false].into_iter().filter_map(|falling| equations.solve(falling));
            let uniques: Vec<f64> = found.map(|(a, b)| b.powf(a)).collect();
            let truth = f64::powf(beta, alpha);
            assert!(
                uniques.iter().any(|u| (u / truth - 1.0).abs() < 1e-6),
                "{alpha} {beta} {uniques:?} {truth}"
            );
        }
    }

    /// Populations of 20,000 groups that follow the model, with samples of 30 to 60 in 100 people.
    /// Most of the error is the error of Shlosser's estimator.
    #[test]
    fn a_population_that_follows_the_model_is_estimated_within_four_tenths() {
        for (seed, beta, fraction) in [(1, 0.5, 0.3), (2, 0.3, 0.4), (3, 0.7, 0.6)] {
            let people = population(20_000, beta, seed);
            let truth = people.iter().filter(|&&size| size == 1).count() as f64;
            let sizes = drawn(&people, fraction, seed + 100);
            let all = estimate_all(&sizes, Sampling::PopulationSize(people.iter().sum())).unwrap();
            let snb = all.estimates[2].uniques;
            assert!(snb.is_ok_and(|snb| (snb / truth - 1.0).abs() < 0.4), "{all:?} of {truth}");
        }
    }
}
