//! Suppression of skewed sensitive values: inference of the dominant value by an adversary, and
//! checks of a release with its original table.
//!
//! Paper: `xu2010`. An adversary who has the release, the size of the table and the algorithm
//! infers which value was the dominant one. The paper's bound of 1/l is wrong, so the probability
//! is computed: by [`exact()`] for small tables, by [`sampled`] for larger ones, and by
//! [`shape_known`] for an adversary who knows the true counts without their labels.

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
pub use mechanism::{Mechanism, Method};
pub use posterior::Posterior;
pub use prior::Prior;
pub use sampling::sampled;

/// Maximum number of tables for the exact computation. For more tables the adversary samples.
pub const MOST_TABLES: f64 = 30_000.0;
/// Maximum number of values. With more values the sample would be too small for a result.
pub const MOST_VALUES: usize = 2_000;
/// Maximum number of tables in the sample.
pub const SAMPLED: u32 = 20_000;

/// Returns the posterior for a release and whether it is exact (`true`) or sampled. Returns `None`
/// if no table leads to the release, or if the release has too many values.
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
    // Use more tables if there are few values, so that the running time is about constant.
    // `cheaper` takes longer per table.
    let most = if mechanism.method == Method::Cheaper { SAMPLED / 4 } else { SAMPLED };
    let tables = (8_000_000 / release.len().max(1) as u32).clamp(4_000, most);
    sampled(mechanism, prior, release, records, tables, seed).map(|posterior| (posterior, false))
}

/// Returns the probability that an adversary who knows the true counts without their labels guesses
/// the dominant value, over the random draws for this table. The table is not l-eligible.
pub fn mean_success_shape_known(mechanism: Mechanism, base: &[u64]) -> f64 {
    let mut sorted = base.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let success = |(release, mass): (Vec<u64>, std::collections::BTreeMap<u64, f64>)| {
        let all: f64 = mass.values().sum();
        Posterior::of_mass(&release, &mass).map_or(0.0, |posterior| all * posterior.max())
    };
    mechanism.releases(&sorted).into_iter().map(success).sum()
}

/// Returns the probability that an adversary with a prior guesses the dominant value, over the
/// random draws for this table. Returns `None` if an exact computation would take too long.
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
        let guesses = mass.iter().map(|(&count, chance)| chance * posterior.guesses(count));
        success += guesses.sum::<f64>();
    }
    Some(success)
}
