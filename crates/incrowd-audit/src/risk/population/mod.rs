//! How many people are unique in the population that a table is a sample of?
//!
//! A record that is unique in the table need not be unique among all people. The estimators here know the sizes of the
//! groups in the sample (the frequencies of the frequencies) and the sampling fraction, and answer with the expected
//! number of groups of one person in the population. Each rests on a model of how group sizes come about, so they differ;
//! `dankar2012` compared them by simulation and gives a rule which of them to believe.
//!
//! An estimator that has no answer says why instead of giving a number.

mod pitman;
mod snb;
mod special;
mod zayatz;

use incrowd_core::{Error, Result};

use super::GroupSizes;

/// How the table was drawn from the population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// The share of the population that is in the table, above 0 and at most 1.
    Fraction(f64),
    /// How many people the population has.
    PopulationSize(u64),
}

/// A sample as the estimators see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// The groups of the sample.
    sizes: &'a GroupSizes,
    /// Records in the sample.
    records: u64,
    /// People in the population.
    population: u64,
    /// Records over people.
    fraction: f64,
}

/// An entry of the list of estimators.
#[derive(Debug)]
pub struct Estimator {
    /// The name.
    pub name: &'static str,
    /// The key of its paper in `docs/papers.md`.
    pub paper: &'static str,
    /// What it estimates, and by what model.
    pub about: &'static str,
    /// When not to believe it.
    pub limits: &'static str,
    estimate: fn(&Sample<'_>) -> Result<f64, &'static str>,
}

/// All estimators; a new one is a file and a line.
pub const ESTIMATORS: &[&Estimator] = &[&pitman::ESTIMATOR, &zayatz::ESTIMATOR, &snb::ESTIMATOR];

/// The answer of one estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The estimator's name.
    pub name: &'static str,
    /// The expected number of unique people in the population, or why there is none.
    pub uniques: Result<f64, &'static str>,
}

/// What the estimators say of a population.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// How many people it has.
    pub size: u64,
    /// Which share of it the table is.
    pub fraction: f64,
    /// One answer per estimator, in the order of the list.
    pub estimates: Vec<Estimate>,
    /// The estimate that the decision rule picks, if one is left to pick.
    pub chosen: Option<(&'static str, f64)>,
}

/// Asks all estimators and picks one.
pub fn estimate(sizes: &GroupSizes, sampling: Sampling) -> Result<Population> {
    let records = sizes.records();
    let (population, fraction) = match sampling {
        Sampling::Fraction(fraction) if fraction > 0.0 && fraction <= 1.0 => {
            (((records as f64 / fraction).round() as u64).max(records), fraction)
        }
        Sampling::Fraction(_) => {
            return Err(Error::job("the sampling fraction must lie above 0 and at most at 1")
                .help("0.1 means that the table holds every tenth person of the population"));
        }
        Sampling::PopulationSize(size) if size >= records && size > 0 => (size, records as f64 / size as f64),
        Sampling::PopulationSize(size) => {
            return Err(Error::job(format!(
                "a population of {size} is smaller than its sample of {records} records"
            ))
            .help("the population is everybody who could have been in the table"));
        }
    };
    let sample = Sample { sizes, records, population, fraction };
    let answer = |estimator: &&Estimator| Estimate { name: estimator.name, uniques: ask(estimator, &sample) };
    let estimates: Vec<Estimate> = ESTIMATORS.iter().map(answer).collect();
    let chosen = decide(&estimates, fraction);
    Ok(Population { size: population, fraction, estimates, chosen })
}

/// What needs no model is answered without one. What cannot be is no answer: a population has no more unique people than
/// people.
fn ask(estimator: &Estimator, sample: &Sample<'_>) -> Result<f64, &'static str> {
    let unique = sample.sizes.of_size(1);
    if sample.population == sample.records {
        return Ok(unique as f64);
    }
    // Somebody who is unique in the population is unique in any sample that has them.
    if unique == 0 {
        return Ok(0.0);
    }
    let uniques = (estimator.estimate)(sample)?;
    if uniques.is_finite() && (0.0..=sample.population as f64).contains(&uniques) {
        Ok(uniques)
    } else {
        Err("its answer lies outside of what a population of this size can have")
    }
}

/// The decision rule of `dankar2012`: up to a sampling fraction of one tenth Pitman's estimate; above it the slide negative
/// binomial estimate, or Zayatz's if that is lower. Where the rule's choice has no answer, Zayatz's stands in, as it
/// always has one.
fn decide(estimates: &[Estimate], fraction: f64) -> Option<(&'static str, f64)> {
    let of = |name: &str| {
        let found = estimates.iter().find(|e| e.name == name)?;
        found.uniques.ok().map(|uniques| (found.name, uniques))
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

    /// The sizes of the groups that a sample has, each person of a population drawn with probability `fraction`.
    pub(crate) fn drawn(population: &[u64], fraction: f64, seed: u64) -> GroupSizes {
        let mut chance = ChaCha20Rng::seed_from_u64(seed);
        let thinned =
            population.iter().map(|&size| (0..size).filter(|_| chance.random_bool(fraction)).count() as u64);
        GroupSizes::new(thinned.filter(|&size| size > 0).collect())
    }

    #[test]
    fn a_census_needs_no_estimate_and_no_unique_record_means_none() {
        let sizes = GroupSizes::new(vec![1, 1, 1, 2, 5]);
        let population = estimate(&sizes, Sampling::Fraction(1.0)).unwrap();
        assert!(population.estimates.iter().all(|e| e.uniques == Ok(3.0)));
        let sizes = GroupSizes::new(vec![2, 2, 5]);
        let population = estimate(&sizes, Sampling::PopulationSize(90)).unwrap();
        assert!(population.estimates.iter().all(|e| e.uniques == Ok(0.0)));
        assert_eq!(population.chosen.map(|(_, n)| n), Some(0.0));
    }

    #[test]
    fn refuses_what_is_no_sampling() {
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
    fn the_rule_of_dankar_picks_by_sampling_fraction() {
        let answers = |pitman, zayatz, snb| {
            [("pitman", pitman), ("zayatz", zayatz), ("snb", snb)]
                .map(|(name, uniques)| Estimate { name, uniques })
        };
        let all = answers(Ok(1.0), Ok(2.0), Ok(3.0));
        assert_eq!(decide(&all, 0.1), Some(("pitman", 1.0)));
        assert_eq!(decide(&all, 0.11), Some(("zayatz", 2.0)));
        assert_eq!(decide(&answers(Ok(1.0), Ok(4.0), Ok(3.0)), 0.5), Some(("snb", 3.0)));
        assert_eq!(decide(&answers(Err(""), Ok(4.0), Err("")), 0.5), Some(("zayatz", 4.0)));
        assert_eq!(decide(&answers(Err(""), Ok(4.0), Err("")), 0.05), Some(("zayatz", 4.0)));
        assert_eq!(decide(&answers(Err(""), Err(""), Err("")), 0.05), None);
    }
}
