//! Tables whose sensitive values were skewed: what an adversary learns of the dominant value, and whether a release came
//! from its table as it should.
//!
//! Paper: `xu2010`. An adversary who has the release, the size of the table and the algorithm asks which value was the
//! dominant one. The paper's bound of 1/l does not hold, so it is measured: [`exact()`] for small tables, [`sampled`] beyond,
//! [`shape_known`] for somebody who knows the true counts without their labels.

mod cheaper;
mod check;
mod exact;
mod mechanism;
mod path;
mod posterior;
mod prior;
mod sampling;

pub use check::{Checks, check};
pub use exact::{Survey, exact, shape_known, survey, tables};
pub use mechanism::{Mechanism, Way};
pub use posterior::Posterior;
pub use prior::Prior;
pub use sampling::sampled;

/// Beyond so many tables the adversary samples.
pub const MOST_TABLES: f64 = 30_000.0;
/// Beyond so many values nothing is computed: too few tables could be looked at to say anything.
pub const MOST_VALUES: usize = 2_000;
/// How many tables are sampled for a report.
pub const SAMPLED: u32 = 20_000;

/// The posterior for a release, exact or sampled, and whether it is exact. `None` if no table leads to the release, or if it
/// has too many values.
pub fn posterior(
    mechanism: Mechanism,
    prior: Prior,
    release: &[u64],
    records: u64,
    seed: u64,
) -> Option<(Posterior, bool)> {
    if release.len() > MOST_VALUES || (release.len() as u64) < mechanism.l {
        return None;
    }
    if records <= 80 && tables(records, release.len()) <= MOST_TABLES {
        return exact(mechanism, prior, release, records).map(|posterior| (posterior, true));
    }
    // As many tables as there are few values, so that the time is about the same; what `cheaper` does to one takes longer.
    let most = if mechanism.way == Way::Cheaper { SAMPLED / 4 } else { SAMPLED };
    let tables = (8_000_000 / release.len().max(1) as u32).clamp(4_000, most);
    sampled(mechanism, prior, release, records, tables, seed).map(|posterior| (posterior, false))
}

/// How often an adversary who knows the true counts, but not which is whose, names the dominant value: over the draws for
/// this table, which is not l-eligible.
pub fn mean_success_shape_known(mechanism: Mechanism, base: &[u64]) -> f64 {
    let mut sorted = base.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let success = |(release, mass): (Vec<u64>, std::collections::BTreeMap<u64, f64>)| {
        let all: f64 = mass.values().sum();
        Posterior::of_mass(&release, &mass).map_or(0.0, |posterior| all * posterior.max())
    };
    mechanism.releases(&sorted).into_iter().map(success).sum()
}

/// How often an adversary with a prior names the dominant value, over the draws for this table; `None` where that is not
/// computed exactly.
pub fn mean_success(mechanism: Mechanism, prior: Prior, base: &[u64]) -> Option<f64> {
    let records = base.iter().sum();
    if records > 80 || tables(records, base.len()) > MOST_TABLES / 10.0 {
        return None;
    }
    let mut sorted = base.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut success = 0.0;
    for (release, mass) in mechanism.releases(&sorted) {
        let posterior = exact(mechanism, prior, &release, records)?;
        success += mass.iter().map(|(&count, chance)| chance * posterior.names(count)).sum::<f64>();
    }
    Some(success)
}
