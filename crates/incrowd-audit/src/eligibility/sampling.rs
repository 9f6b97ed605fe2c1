//! The adversary for larger tables: the tables that could have led to the release, sampled in strata.
//!
//! Paper: `xu2010`, Section 4; the sampling is ours. Only values at the level of the release, or one below it where a level was
//! left half cut, can have lost records, and the dominant one. So a table is a label for the dominant value and the withheld
//! records distributed over those. How likely the release is depends above all on how many values lost something: that is the
//! stratum. The tables of a stratum are counted, not met by chance, so labels of different counts are weighed against each
//! other exactly; within a stratum tables are drawn independently, evenly for the flat prior, cell by cell from truncated
//! binomials for the multinomial one.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::mechanism::{Mechanism, Way};
use super::posterior::Posterior;
use super::prior::{Prior, ln_factorial};

/// The error is found from so many independent parts of the sample.
const BATCHES: usize = 20;
/// Beyond so many values that can have lost records the multinomial prior is not computed.
const MOST_CELLS: usize = 64;
/// A draw from a truncated binomial looks at some standard deviations of counts; all draws together at about so many.
const LOOKED_AT: f64 = 4e6;

/// The posterior for a release whose counts are `release`, of a table of `records`, from about so many tables, with its
/// standard error. The same seed draws the same tables. `None` if no table is found that leads there.
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
    let withheld = records.checked_sub(release.iter().sum())?;
    if matches!(mechanism.way, Way::Safe | Way::Unsafe) {
        // The dominant value is at the top, and which of them is a matter of labels.
        return Posterior::of_mass(&release, &BTreeMap::from([(level, 1.0)]));
    }
    let lowest = if mechanism.complete_level { level } else { level.saturating_sub(1) };
    let movable = release.iter().filter(|&&count| count >= lowest).count();
    if prior == Prior::Multinomial && movable > MOST_CELLS {
        return None;
    }
    let mut strata: Vec<Stratum<'_>> = Vec::new();
    let mut at = 0;
    for alike in release.chunk_by(|a, b| a == b) {
        // One label stands for all that are alike.
        let dominant = at;
        at += alike.len();
        let least = (records / mechanism.l + 1).saturating_sub(alike[0]);
        let Some(spare) = withheld.checked_sub(least) else { continue };
        let others: Arc<[usize]> = (0..movable).filter(|&i| i != dominant).collect();
        for losing in 0..=others.len().min(usize::try_from(spare).unwrap_or(usize::MAX)) {
            let count = (alike.len() as f64).ln() + ln_choose(others.len() as u64, losing as u64);
            let stratum =
                Stratum { release: &release, dominant, least, spare, others: others.clone(), losing, count };
            strata.push(stratum);
        }
    }
    let affordable = match prior {
        Prior::Flat => tables as usize,
        Prior::Multinomial => (tables as usize).min((LOOKED_AT / (records as f64).sqrt()) as usize),
    };
    let each = (affordable / strata.len().max(1)).clamp(BATCHES, 4_000).div_ceil(BATCHES);
    let weigh = |base: &[u64], dominant: usize| mechanism.weight(base, dominant, &release);
    // For each batch and count of the dominant value the weights of the tables, as logarithms.
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
                let weight = weigh(&base, stratum.dominant);
                if weight > 0.0 {
                    own.push(weight.ln() + scale);
                }
            }
        }
        drawn
    };
    let drawn: Vec<BTreeMap<u64, Vec<f64>>> = (0..BATCHES).into_par_iter().map(batch).collect();
    let all = || drawn.iter().flat_map(BTreeMap::values).flatten();
    let greatest = all().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass = |batches: &[BTreeMap<u64, Vec<f64>>]| {
        let mut mass: BTreeMap<u64, f64> = BTreeMap::new();
        for (count, weights) in batches.iter().flatten() {
            *mass.entry(*count).or_insert(0.0) += weights.iter().map(|w| (w - greatest).exp()).sum::<f64>();
        }
        Posterior::of_mass(&release, &mass)
    };
    let posterior = mass(&drawn)?;
    let parts: Vec<Posterior> = drawn.chunks(1).filter_map(mass).collect();
    let spread = |entry: usize| {
        let mean = posterior.by_count[entry].2;
        let squares: f64 = parts.iter().map(|part| (part.by_count[entry].2 - mean).powi(2)).sum();
        (squares / (parts.len().max(2) - 1) as f64 / parts.len() as f64).sqrt()
    };
    let error = (0..posterior.by_count.len()).map(spread).fold(0.0, f64::max);
    Some(Posterior { error, ..posterior })
}

/// Tables with the same dominant value and as many others that lost records.
struct Stratum<'a> {
    release: &'a [u64],
    dominant: usize,
    /// The dominant value lost so many records at least, or it would not have been too frequent.
    least: u64,
    /// How many records were withheld beyond those.
    spare: u64,
    /// The values that can have lost records beside the dominant one.
    others: Arc<[usize]>,
    /// How many of them did.
    losing: usize,
    /// The logarithm of how many labels and sets of losing values the stratum stands for.
    count: f64,
}

impl Stratum<'_> {
    fn losers(&self, rng: &mut ChaCha8Rng) -> Vec<usize> {
        index::sample(rng, self.others.len(), self.losing).iter().map(|i| self.others[i]).collect()
    }

    /// A table, each equally likely, and the logarithm of how many it stands for.
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

    /// A table drawn nearly as likely as it is if all records are alike, and the logarithm of how likely it is over how likely
    /// it was drawn.
    fn by_records(&self, rng: &mut ChaCha8Rng) -> (Vec<u64>, f64) {
        let mut base = self.release.to_vec();
        let losers = self.losers(rng);
        let least = |i: usize| self.release[i] + if i == self.dominant { self.least } else { 1 };
        let cells: Vec<usize> = std::iter::once(self.dominant).chain(losers).collect();
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

/// How many of `trials` fall into one of `cells` that are alike, if it is known to be in a range; and the logarithm of how
/// likely that was.
fn truncated_binomial(trials: u64, cells: u64, range: (u64, u64), rng: &mut ChaCha8Rng) -> (u64, f64) {
    let (low, high) = range;
    let (hit, miss) = (1.0 / cells as f64, 1.0 - 1.0 / cells as f64);
    let mode = ((trials + 1) / cells).clamp(low, high);
    // Relative to the greatest one; what is left out is too unlikely to be met.
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
