//! The posterior for larger tables: samples the tables that could have led to the release, in
//! strata.
//!
//! Paper: `xu2010`, Section 4; the sampling is ours. Only the dominant value and values at the
//! level of the release can have lost records; also values one below it, if a level was not
//! completed. A table is thus given by the label of the dominant value and a distribution of the
//! suppressed records over these values. The probability of the release mainly depends on the
//! number of values that lost records, which defines the strata. The number of tables in a stratum
//! is computed exactly, so the weights of labels with different counts are exact. Within a stratum,
//! tables are drawn independently: uniformly for the flat prior, and value by value from truncated
//! binomials for the multinomial prior.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::mechanism::{Mechanism, Method};
use super::posterior::Posterior;
use super::prior::{Prior, ln_factorial};

/// Number of independent batches of the sample, from which the standard error is estimated.
const BATCHES: usize = 20;
/// Maximum number of values that can have lost records for the multinomial prior.
const MOST_CELLS: usize = 64;
/// Approximate number of evaluated counts over all draws from truncated binomials. A draw evaluates
/// a range of some standard deviations.
const EVALUATED: f64 = 4e6;

/// Returns the posterior for a release with the counts `release`, of a table with `records`
/// records, with its standard error. Draws about `tables` tables. Equal seeds draw equal tables.
/// Returns `None` if no drawn table leads to the release.
pub fn sampled(
    mechanism: Mechanism,
    prior: Prior,
    release: &[u64],
    records: u64,
    tables: u32,
    seed: u64,
) -> Option<Posterior> {
    let mut release = release.to_vec();
    release.sort_unstable_by(|a, b| b.cmp(a));
    let level = *release.first()?;
    let suppressed = records.checked_sub(release.iter().sum())?;
    if matches!(mechanism.method, Method::Safe | Method::Unsafe) {
        // The dominant value is at the level. Which of the values at the level depends on labels.
        return Posterior::of_mass(&release, &BTreeMap::from([(level, 1.0)]));
    }
    let lowest = if mechanism.complete_level { level } else { level.saturating_sub(1) };
    let movable = release.iter().filter(|&&count| count >= lowest).count();
    if prior == Prior::Multinomial && movable > MOST_CELLS {
        return None;
    }
    let strata = strata(mechanism, &release, records, suppressed, movable);
    let affordable = match prior {
        Prior::Flat => tables as usize,
        Prior::Multinomial => (tables as usize).min((EVALUATED / (records as f64).sqrt()) as usize),
    };
    let each = (affordable / strata.len().max(1)).clamp(BATCHES, 4_000).div_ceil(BATCHES);
    // For each batch and count of the dominant value, the logarithms of the weights of the tables.
    let batch = |batch: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(batch as u64);
        let mut drawn: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for stratum in &strata {
            let own = drawn.entry(release[stratum.dominant]).or_default();
            for _ in 0..each {
                let (base, scale) = match prior {
                    Prior::Flat => stratum.evenly(&mut rng),
                    Prior::Multinomial => stratum.by_records(&mut rng),
                };
                let chance = mechanism.chance(&base, stratum.dominant, &release);
                if chance > 0.0 {
                    own.push(chance.ln() + scale);
                }
            }
        }
        drawn
    };
    let drawn: Vec<BTreeMap<u64, Vec<f64>>> = (0..BATCHES).into_par_iter().map(batch).collect();
    with_error(&release, &drawn)
}

/// Returns the strata of the tables that could have led to the release. The first `movable` values
/// can have lost records.
fn strata(
    mechanism: Mechanism,
    release: &[u64],
    records: u64,
    suppressed: u64,
    movable: usize,
) -> Vec<Stratum<'_>> {
    let mut strata = Vec::new();
    let mut at = 0;
    for equal in release.chunk_by(|a, b| a == b) {
        // One label represents all labels with equal counts.
        let dominant = at;
        at += equal.len();
        let least = (records / mechanism.l + 1).saturating_sub(equal[0]);
        let Some(spare) = suppressed.checked_sub(least) else { continue };
        let others: Arc<[usize]> = (0..movable).filter(|&i| i != dominant).collect();
        for losing in 0..=others.len().min(usize::try_from(spare).unwrap_or(usize::MAX)) {
            let count = (equal.len() as f64).ln() + ln_choose(others.len() as u64, losing as u64);
            let others = others.clone();
            strata.push(Stratum { release, dominant, least, spare, others, losing, count });
        }
    }
    strata
}

/// Computes the posterior from the logarithms of weights per batch, and its standard error from the
/// differences between the batches.
fn with_error(release: &[u64], drawn: &[BTreeMap<u64, Vec<f64>>]) -> Option<Posterior> {
    let all = || drawn.iter().flat_map(BTreeMap::values).flatten();
    // Weights are relative to the greatest one, so that their exponentials do not underflow.
    let greatest = all().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass = |batches: &[BTreeMap<u64, Vec<f64>>]| {
        let mut mass: BTreeMap<u64, f64> = BTreeMap::new();
        for (count, weights) in batches.iter().flatten() {
            *mass.entry(*count).or_insert(0.0) +=
                weights.iter().map(|w| (w - greatest).exp()).sum::<f64>();
        }
        Posterior::of_mass(release, &mass)
    };
    let posterior = mass(drawn)?;
    let parts: Vec<Posterior> = drawn.chunks(1).filter_map(mass).collect();
    let spread = |entry: usize| {
        let mean = posterior.by_count[entry].2;
        let squares: f64 = parts.iter().map(|part| (part.by_count[entry].2 - mean).powi(2)).sum();
        (squares / (parts.len().max(2) - 1) as f64 / parts.len() as f64).sqrt()
    };
    let error = (0..posterior.by_count.len()).map(spread).fold(0.0, f64::max);
    Some(Posterior { error, ..posterior })
}

/// Tables with the same dominant value and the same number of other values that lost records.
struct Stratum<'a> {
    release: &'a [u64],
    dominant: usize,
    /// Minimum number of records that the dominant value lost. With fewer it would be eligible.
    least: u64,
    /// Number of suppressed records in excess of `least`.
    spare: u64,
    /// The values other than the dominant one that can have lost records.
    others: Arc<[usize]>,
    /// Number of `others` that lost records.
    losing: usize,
    /// Logarithm of the number of labels and sets of losing values in the stratum.
    count: f64,
}

impl Stratum<'_> {
    fn losers(&self, rng: &mut ChaCha8Rng) -> Vec<usize> {
        index::sample(rng, self.others.len(), self.losing).iter().map(|i| self.others[i]).collect()
    }

    /// Draws a table uniformly. Returns it with the logarithm of its weight. Sorted random marks
    /// divide the spare records into positive numbers for the losing values.
    fn evenly(&self, rng: &mut ChaCha8Rng) -> (Vec<u64>, f64) {
        let mut base = self.release.to_vec();
        let mut marks = index::sample(rng, self.spare as usize, self.losing).into_vec();
        marks.sort_unstable();
        let mut last = 0;
        for (value, mark) in self.losers(rng).into_iter().zip(marks) {
            base[value] += mark as u64 + 1 - last;
            last = mark as u64 + 1;
        }
        base[self.dominant] += self.least + self.spare - last;
        (base, self.count + ln_choose(self.spare, self.losing as u64))
    }

    /// Draws a table with approximately the probability that it has under the multinomial prior.
    /// Returns it with the logarithm of its importance weight.
    fn by_records(&self, rng: &mut ChaCha8Rng) -> (Vec<u64>, f64) {
        let mut base = self.release.to_vec();
        let losers = self.losers(rng);
        let least = |i: usize| self.release[i] + if i == self.dominant { self.least } else { 1 };
        let cells: Vec<usize> = std::iter::once(self.dominant).chain(losers).collect();
        // The minimum number of records of the cells that are not drawn yet.
        let mut owed: u64 = cells.iter().map(|&i| least(i)).sum();
        let mut left = owed + self.spare - self.losing as u64;
        let mut drawn_with = 0.0;
        for (at, &cell) in cells.iter().enumerate() {
            owed -= least(cell);
            let rest = (cells.len() - at) as u64;
            let (records, chance) = match rest {
                1 => (left, 0.0),
                _ => truncated_binomial(left, rest, (least(cell), left - owed), rng),
            };
            base[cell] = records;
            left -= records;
            drawn_with += chance;
        }
        let scale = self.count + Prior::Multinomial.of(&base) - drawn_with;
        (base, scale)
    }
}

/// Draws how many of `trials` fall into one of `cells` equally likely cells, given that the number
/// is in a range. Returns the number and the logarithm of its probability.
fn truncated_binomial(
    trials: u64,
    cells: u64,
    range: (u64, u64),
    rng: &mut ChaCha8Rng,
) -> (u64, f64) {
    let (low, high) = range;
    let (hit, miss) = (1.0 / cells as f64, 1.0 - 1.0 / cells as f64);
    let mode = ((trials + 1) / cells).clamp(low, high);
    // Probabilities relative to the mode. Relative probabilities below 1e-14 are cut off.
    let step = |n: u64| (trials - n) as f64 / (n + 1) as f64 * hit / miss;
    let mut up = vec![1.0];
    for n in mode..high {
        let next = up[up.len() - 1] * step(n);
        if next < 1e-14 {
            break;
        }
        up.push(next);
    }
    let mut down = Vec::new();
    let mut last = 1.0;
    for n in (low..mode).rev() {
        last /= step(n);
        if last < 1e-14 {
            break;
        }
        down.push(last);
    }
    let total: f64 = up.iter().chain(&down).sum();
    let mut drawn = rng.random::<f64>() * total;
    for (i, &weight) in up.iter().enumerate() {
        drawn -= weight;
        if drawn < 0.0 {
            return (mode + i as u64, (weight / total).ln());
        }
    }
    for (i, &weight) in down.iter().enumerate() {
        drawn -= weight;
        if drawn < 0.0 {
            return (mode - 1 - i as u64, (weight / total).ln());
        }
    }
    (mode, (1.0 / total).ln())
}

fn ln_choose(of: u64, some: u64) -> f64 {
    ln_factorial(of) - ln_factorial(some) - ln_factorial(of - some)
}
