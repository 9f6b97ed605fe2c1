//! Estimators of the number of unique people in the population from which a table was sampled.
//!
//! A record that is unique in the table need not be unique in the population. The estimators use
//! the sizes of the groups in the sample (the frequencies of the frequencies) and the sampling
//! fraction. They return the expected number of groups of one person in the population. Each is
//! based on a model of group sizes, so their results differ. `dankar2012` compared them by
//! simulation and gives a rule for choosing among them.
//!
//! An estimator that does not apply returns the reason.

mod pitman;
mod snb;
mod special;
mod zayatz;

use incrowd_core::{Error, Result};

use super::GroupSizes;

/// Relation between the table and the population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// Share of the population that is in the table, above 0 and at most 1.
    Fraction(f64),
    /// Number of people in the population.
    PopulationSize(u64),
}

/// Input of the estimators.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// Groups of the sample.
    sizes: &'a GroupSizes,
    /// Number of records in the sample.
    records: u64,
    /// Number of people in the population.
    population: u64,
    /// `records / population`.
    fraction: f64,
}

/// Description of an estimator.
#[derive(Debug)]
pub struct Estimator {
    /// Name of the estimator.
    pub name: &'static str,
    /// Key of its paper in `docs/papers.md`.
    pub paper: &'static str,
    /// Estimated quantity and model.
    pub about: &'static str,
    /// When its result is not reliable.
    pub limits: &'static str,
    estimate: fn(&Sample<'_>) -> Result<f64, &'static str>,
}

/// All estimators. To add one, add a file and one line here.
pub const ESTIMATORS: &[&Estimator] = &[&pitman::ESTIMATOR, &zayatz::ESTIMATOR, &snb::ESTIMATOR];

/// Result of one estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Name of the estimator.
    pub name: &'static str,
    /// Expected number of unique people in the population, or the reason why there is no estimate.
    pub uniques: Result<f64, &'static str>,
}

/// Results of all estimators.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// Number of people in the population.
    pub size: u64,
    /// Share of the population that is in the table.
    pub fraction: f64,
    /// One result per estimator, in the order of the list.
    pub estimates: Vec<Estimate>,
    /// The estimate that the decision rule selects, if there is one.
    pub chosen: Option<(&'static str, f64)>,
}

/// Runs all estimators and selects one estimate.
pub fn estimate(sizes: &GroupSizes, sampling: Sampling) -> Result<Population> {
    let records = sizes.records();
    let (population, fraction) = match sampling {
        Sampling::Fraction(fraction) if fraction > 0.0 && fraction <= 1.0 => {
            (((records as f64 / fraction).round() as u64).max(records), fraction)
        }
        Sampling::Fraction(_) => {
            return Err(Error::job("the sampling fraction must be above 0 and at most 1")
                .help("0.1 means that the table contains every tenth person of the population"));
        }
        Sampling::PopulationSize(size) if size >= records && size > 0 => {
            (size, records as f64 / size as f64)
        }
        Sampling::PopulationSize(size) => {
            return Err(Error::job(format!(
                "a population of {size} is smaller than its sample of {records} records"
            ))
            .help("the population consists of all people who could have been in the table"));
        }
    };
    let sample = Sample { sizes, records, population, fraction };
    let result = |estimator: &&Estimator| Estimate {
        name: estimator.name,
        uniques: run(estimator, &sample),
    };
    let estimates: Vec<Estimate> = ESTIMATORS.iter().map(result).collect();
    let chosen = decide(&estimates, fraction);
    Ok(Population { size: population, fraction, estimates, chosen })
}

/// Runs an estimator. Trivial cases are answered without a model. A result that exceeds the
/// population is rejected.
fn run(estimator: &Estimator, sample: &Sample<'_>) -> Result<f64, &'static str> {
    let unique = sample.sizes.of_size(1);
    if sample.population == sample.records {
        return Ok(unique as f64);
    }
    // A person who is unique in the population is unique in every sample that contains her.
    if unique == 0 {
        return Ok(0.0);
    }
    let uniques = (estimator.estimate)(sample)?;
    if uniques.is_finite() && (0.0..=sample.population as f64).contains(&uniques) {
        Ok(uniques)
    } else {
        Err("the estimate is outside the possible range for a population of this size")
    }
}

/// The decision rule of `dankar2012`. Up to a sampling fraction of one tenth it selects Pitman's
/// estimate. Above, it selects the slide negative binomial estimate, or Zayatz's if that is lower.
/// If the selected estimator has no result, Zayatz's is used.
fn decide(estimates: &[Estimate], fraction: f64) -> Option<(&'static str, f64)> {
    let of = |name: &str| {
        let estimate = estimates.iter().find(|e| e.name == name)?;
        estimate.uniques.ok().map(|uniques| (estimate.name, uniques))
    };
    let zayatz = of("zayatz");
    if fraction <= 0.1 {
        return of("pitman").or(zayatz);
    }
    match (of("snb"), zayatz) {
        (Some(snb), Some(zayatz)) if zayatz.1 < snb.1 => Some(zayatz),
        (snb, zayatz) => snb.or(zayatz),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Returns the group sizes of a sample that contains each person of a population with
    /// probability `fraction`.
    pub(crate) fn drawn(population: &[u64], fraction: f64, seed: u64) -> GroupSizes {
        let mut chance = ChaCha20Rng::seed_from_u64(seed);
        let thinned = population
            .iter()
            .map(|&size| (0..size).filter(|_| chance.random_bool(fraction)).count() as u64);
        GroupSizes::new(thinned.filter(|&size| size > 0).collect())
    }

    #[test]
    fn a_census_is_exact_and_without_unique_records_the_estimate_is_zero() {
        let sizes = GroupSizes::new(vec![1, 1, 1, 2, 5]);
        let population = estimate(&sizes, Sampling::Fraction(1.0)).unwrap();
        assert!(population.estimates.iter().all(|e| e.uniques == Ok(3.0)));
        let sizes = GroupSizes::new(vec![2, 2, 5]);
        let population = estimate(&sizes, Sampling::PopulationSize(90)).unwrap();
        assert!(population.estimates.iter().all(|e| e.uniques == Ok(0.0)));
        assert_eq!(population.chosen.map(|(_, n)| n), Some(0.0));
    }

    #[test]
    fn refuses_impossible_sampling() {
        let sizes = GroupSizes::new(vec![1, 2]);
        for sampling in [
            Sampling::Fraction(0.0),
            Sampling::Fraction(1.5),
            Sampling::Fraction(f64::NAN),
            Sampling::PopulationSize(2),
        ] {
            assert!(estimate(&sizes, sampling).is_err(), "{sampling:?}");
        }
    }

    #[test]
    fn the_rule_of_dankar_selects_by_sampling_fraction() {
        let estimates = |pitman, zayatz, snb| {
            [("pitman", pitman), ("zayatz", zayatz), ("snb", snb)]
                .map(|(name, uniques)| Estimate { name, uniques })
        };
        let all = estimates(Ok(1.0), Ok(2.0), Ok(3.0));
        assert_eq!(decide(&all, 0.1), Some(("pitman", 1.0)));
        assert_eq!(decide(&all, 0.11), Some(("zayatz", 2.0)));
        assert_eq!(decide(&estimates(Ok(1.0), Ok(4.0), Ok(3.0)), 0.5), Some(("snb", 3.0)));
        assert_eq!(decide(&estimates(Err(""), Ok(4.0), Err("")), 0.5), Some(("zayatz", 4.0)));
        assert_eq!(decide(&estimates(Err(""), Ok(4.0), Err("")), 0.05), Some(("zayatz", 4.0)));
        assert_eq!(decide(&estimates(Err(""), Err(""), Err("")), 0.05), None);
    }
}
