//! The exact adversary: every table that could have led to the release, weighed by how likely it is and how likely it makes
//! the release. For small tables.
//!
//! Paper: `xu2010`, Section 4; the enumeration is ours. The paper takes possible releases for equally likely ones, and so
//! finds 1/l where this does not.

use std::collections::BTreeMap;

use incrowd_core::eligibility::eligible;

use super::mechanism::Mechanism;
use super::posterior::Posterior;
use super::prior::{Prior, ln_factorial};

/// The posterior for a release whose counts are `release`, of a table of `records`; `None` if no table leads there.
pub fn exact(mechanism: Mechanism, prior: Prior, release: &[u64], records: u64) -> Option<Posterior> {
    let mut sorted = release.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut mass: BTreeMap<u64, f64> = BTreeMap::new();
    bases(records, sorted.len(), mechanism.l, &mut |base| {
        // Nothing is ever added to a value.
        if base.iter().zip(&sorted).any(|(before, after)| before < after) {
            return;
        }
        let likely = labelled(prior, base);
        for (count, chance) in mechanism.outcomes(base, &sorted) {
            *mass.entry(count).or_insert(0.0) += likely * chance;
        }
    });
    Posterior::of_mass(&sorted, &mass)
}

/// The posterior of somebody who knows the counts of the table, but not which is whose.
pub fn shape_known(mechanism: Mechanism, base: &[u64], release: &[u64]) -> Option<Posterior> {
    let sort = |counts: &[u64]| {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        sorted
    };
    let release = sort(release);
    Posterior::of_mass(&release, &mechanism.outcomes(&sort(base), &release))
}

/// How an adversary fares over all tables of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The chance that the best guess of the dominant value is right.
    pub success: f64,
    /// The greatest posterior of any release.
    pub worst: f64,
    /// How likely a release is whose greatest posterior exceeds 1/l.
    pub over: f64,
    /// How many different releases there are, labels aside.
    pub releases: usize,
}

/// All tables of `records` with `values` values that are not l-eligible.
pub fn survey(mechanism: Mechanism, prior: Prior, records: u64, values: usize) -> Survey {
    let mut mass: BTreeMap<Vec<u64>, BTreeMap<u64, f64>> = BTreeMap::new();
    bases(records, values, mechanism.l, &mut |base| {
        let likely = labelled(prior, base);
        for (release, dominant) in mechanism.releases(base) {
            let own = mass.entry(release).or_default();
            for (count, chance) in dominant {
                *own.entry(count).or_insert(0.0) += likely * chance;
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

/// How likely a table is, its relabellings included.
fn labelled(prior: Prior, base: &[u64]) -> f64 {
    let alike: f64 = base.chunk_by(|a, b| a == b).map(|alike| ln_factorial(alike.len() as u64)).sum();
    let records = base.iter().sum();
    let scale = if prior == Prior::Multinomial { ln_factorial(records) } else { 0.0 };
    (ln_factorial(base.len() as u64) - alike + prior.of(base) + scale).exp()
}

/// How many ways there are to divide records among values that are alike: what the exact adversary goes through.
pub fn tables(records: u64, values: usize) -> f64 {
    let n = records as usize;
    if values > n {
        return 0.0;
    }
    // Ways with at most so many parts, of what is left when each has one.
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

/// Visits every table, in descending order of its counts, that is not l-eligible.
fn bases(records: u64, values: usize, l: u64, visit: &mut dyn FnMut(&[u64])) {
    fn go(left: u64, values: usize, most: u64, taken: &mut Vec<u64>, visit: &mut dyn FnMut(&[u64])) {
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
