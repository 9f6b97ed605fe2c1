//! The exact posterior: enumerates every table that could have led to the release, weighted by its
//! prior and by the probability of the release. For small tables.
//!
//! Paper: `xu2010`, Section 4; the enumeration is ours. The paper assumes that all possible
//! releases are equally likely and therefore obtains 1/l.

use std::collections::BTreeMap;

use incrowd_core::eligibility::eligible;

use super::mechanism::Mechanism;
use super::posterior::Posterior;
use super::prior::{Prior, ln_factorial};

/// Returns the posterior for a release with the counts `release`, of a table with `records`
/// records. Returns `None` if no table leads to the release.
pub fn exact(
    mechanism: Mechanism,
    prior: Prior,
    release: &[u64],
    records: u64,
) -> Option<Posterior> {
    let mut sorted = release.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut mass: BTreeMap<u64, f64> = BTreeMap::new();
    bases(records, sorted.len(), mechanism.l, &mut |base| {
        // Suppression never adds records to a value.
        if base.iter().zip(&sorted).any(|(before, after)| before < after) {
            return;
        }
        let prior = labelled(prior, base);
        for (count, chance) in mechanism.outcomes(base, &sorted) {
            *mass.entry(count).or_insert(0.0) += prior * chance;
        }
    });
    Posterior::of_mass(&sorted, &mass)
}

/// Returns the posterior of an adversary who knows the counts of the table without their labels.
pub fn shape_known(mechanism: Mechanism, base: &[u64], release: &[u64]) -> Option<Posterior> {
    let sort = |counts: &[u64]| {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        sorted
    };
    let release = sort(release);
    Posterior::of_mass(&release, &mechanism.outcomes(&sort(base), &release))
}

/// Success of an adversary over all tables of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Probability that the best guess of the dominant value is right.
    pub success: f64,
    /// Greatest posterior over all releases.
    pub worst: f64,
    /// Probability of a release whose greatest posterior exceeds 1/l.
    pub over: f64,
    /// Number of distinct releases, up to relabelling.
    pub releases: usize,
}

/// Evaluates all tables of `records` records and `values` values that are not l-eligible.
pub fn survey(mechanism: Mechanism, prior: Prior, records: u64, values: usize) -> Survey {
    let mut mass: BTreeMap<Vec<u64>, BTreeMap<u64, f64>> = BTreeMap::new();
    bases(records, values, mechanism.l, &mut |base| {
        let prior = labelled(prior, base);
        for (release, dominant) in mechanism.releases(base) {
            let own = mass.entry(release).or_default();
            for (count, chance) in dominant {
                *own.entry(count).or_insert(0.0) += prior * chance;
            }
        }
    });
    let total: f64 = mass.values().flat_map(BTreeMap::values).sum();
    let (mut success, mut worst, mut over) = (0.0, 0.0_f64, 0.0);
    for (release, own) in &mass {
        let all: f64 = own.values().sum();
        if let Some(posterior) = Posterior::of_mass(release, own) {
            success += all * posterior.max();
            worst = worst.max(posterior.max());
            over += if posterior.max() > 1.0 / mechanism.l as f64 + 1e-9 { all } else { 0.0 };
        }
    }
    Survey { success: success / total, worst, over: over / total, releases: mass.len() }
}

/// Returns the prior probability of a table, including its relabellings.
fn labelled(prior: Prior, base: &[u64]) -> f64 {
    let equal: f64 =
        base.chunk_by(|a, b| a == b).map(|equal| ln_factorial(equal.len() as u64)).sum();
    let records = base.iter().sum();
    let scale = if prior == Prior::Multinomial { ln_factorial(records) } else { 0.0 };
    (ln_factorial(base.len() as u64) - equal + prior.of(base) + scale).exp()
}

/// Returns the number of tables that the exact adversary enumerates: the partitions of the number
/// of records into `values` positive parts.
pub fn tables(records: u64, values: usize) -> f64 {
    let n = records as usize;
    if values > n {
        return 0.0;
    }
    // Each value has at least one record. Count the partitions of the rest into at most `values`
    // parts: the same as partitions into parts of size at most `values`.
    let rest = n - values;
    let mut ways = vec![0.0; rest + 1];
    ways[0] = 1.0;
    for part in 1..=values {
        for sum in part..=rest {
            ways[sum] += ways[sum - part];
        }
    }
    ways[rest]
}

/// Visits every table that is not l-eligible, with its counts in descending order.
fn bases(records: u64, values: usize, l: u64, visit: &mut dyn FnMut(&[u64])) {
    fn go(
        left: u64,
        values: usize,
        most: u64,
        taken: &mut Vec<u64>,
        visit: &mut dyn FnMut(&[u64]),
    ) {
        if values == 0 {
            if left == 0 {
                visit(taken);
            }
            return;
        }
        let least = left.div_ceil(values as u64);
        for part in (least..=most.min((left + 1).saturating_sub(values as u64))).rev() {
            taken.push(part);
            go(left - part, values - 1, part, taken, visit);
            taken.pop();
        }
    }
    go(records, values, records, &mut Vec::new(), &mut |base| {
        if !eligible(base[0], records, l) {
            visit(base);
        }
    });
}
