//! Every algorithm with each of its options × every model, on a generated table. New entries of the
//! lists are tested automatically. Outside of the complete tests, each algorithm meets each model
//! once.

use std::collections::BTreeSet;
use std::path::Path;

use incrowd::front_end::core::HierarchySpec;
use incrowd::front_end::recode::{ALGORITHMS, Card, Method};
use incrowd::hierarchy::mask::{From, Mask};
use incrowd::job::{Categories, Job, PopulationJob, RoleName, Suppressed, SuppressionJob};
use incrowd::model::{Card as ModelCard, MODELS, Need};
use incrowd::{Error, Fault, Param, ParamKind, Value};
use incrowd_synth::{Synth, Table};
use incrowd_testing::{is_full, step};

/// Returns a moderate value for a required parameter.
fn modest(param: &Param) -> Value {
    match param.kind {
        ParamKind::Count(least) => Value::Integer(least.max(2) as i64),
        ParamKind::Number(lo, hi) => Value::Real((lo + 1.0).min(lo + 0.95 * (hi - lo))),
        ParamKind::Choice(words) => Value::Word(words[0].to_owned()),
        ParamKind::Column => Value::Word("disease".to_owned()),
        ParamKind::Words => Value::Words(vec!["disease".to_owned()]),
        ParamKind::Flag => Value::Flag(true),
    }
}

/// Returns all combinations of an algorithm's choices, with its required parameters. For many
/// choices, one varies at a time.
fn variants(params: &[Param]) -> Vec<Vec<(String, Value)>> {
    let required = params.iter().filter(|param| param.default.is_none());
    let mut all = vec![required.map(|param| (param.name.to_owned(), modest(param))).collect()];
    let mut alone = Vec::new();
    for param in params {
        let ParamKind::Choice(words) = param.kind else { continue };
        if words.len() > 4 {
            let rest = words.iter().filter(|word| Some(**word) != param.default);
            alone.extend(
                rest.map(|word| vec![(param.name.to_owned(), Value::Word((*word).to_owned()))]),
            );
            continue;
        }
        all = all
            .into_iter()
            .flat_map(|chosen: Vec<(String, Value)>| {
                words.iter().map(move |word| {
                    let mut more = chosen.clone();
                    more.push((param.name.to_owned(), Value::Word((*word).to_owned())));
                    if *word == "priority" {
                        more.push((
                            "priority".to_owned(),
                            Value::Words(vec!["sex".to_owned(), "age".to_owned()]),
                        ));
                    }
                    more
                })
            })
            .collect();
    }
    all.extend(alone);
    all
}

/// Returns a suppression step with a fixed seed in place of the user's key. It suppresses nothing
/// in a table without a dominant value.
pub(crate) fn stated_seed() -> SuppressionJob {
    let params = vec![("l".to_owned(), Value::Integer(2))];
    SuppressionJob {
        name: "r-suppression".to_owned(),
        params,
        seed: Some(7),
        ..SuppressionJob::default()
    }
}

/// Returns the algorithms that make one table of generalized cells.
pub(crate) fn generalizing() -> impl Iterator<Item = &'static Card> {
    let linked = |card: &Card| {
        Method::new(card.name, variants(card.params).remove(0))
            .unwrap()
            .algorithm
            .linked()
            .is_some()
    };
    ALGORITHMS.iter().copied().filter(move |card| !linked(card))
}

/// Returns every other disease, in two categories.
fn categories(dir: &Path) -> Categories {
    let mut input = Job::default().input;
    input.paths = vec![dir.join("people.csv").into()];
    let diseases = input.column_values("disease").unwrap();
    let half = |odd: usize| diseases.iter().skip(odd).step_by(2).cloned().collect();
    Categories::new(vec![("severe".into(), half(0)), ("mild".into(), half(1))]).unwrap()
}

/// Returns a job with one model and one variant of an algorithm.
fn job(
    dir: &Path,
    model: &ModelCard,
    on: &str,
    algorithm: &Card,
    chosen: &[(String, Value)],
) -> Job {
    let mut job = Job::default();
    job.input.paths = vec![dir.join("people.csv").into()];
    for column in ["age", "sex", "zip", "country"] {
        job.set_role(column, RoleName::Quasi);
    }
    job.column_mut("zip").spec.hierarchy =
        Some(HierarchySpec::Mask(Mask { char: '*', from: From::Right }));
    job.set_role("disease", RoleName::Sensitive);
    job.column_mut("disease").categories = Some(categories(dir));
    job.set_role("income", RoleName::Sensitive);
    job.population =
        Some(PopulationJob { paths: vec![dir.join("population.csv").into()], memory: None });
    let required = model.params.iter().filter(|param| param.default.is_none());
    let mut params: Vec<(&str, Value)> =
        required.map(|param| (param.name, modest(param))).collect();
    if model.params.iter().any(|param| param.kind == ParamKind::Column) {
        params.push(("on", Value::Word(on.to_owned())));
    }
    if model.needs.contains(&Need::Region) {
        params.push(("distance_attributes", Value::Words(vec!["age".to_owned()])));
    }
    job.add_model(model.name, params);
    job.algorithm.name = algorithm.name.to_owned();
    job.algorithm.params = chosen.to_vec();
    job.write_to(dir.join("people.release.csv"));
    job
}

/// The models that every group of two or three different values satisfies, with moderate
/// parameters. Anatomy makes such groups.
const TRUE_OF_PAIRS: [&str; 4] = ["k-anonymity", "l-diversity", "alpha-k-anonymity", "p-sensitive"];

#[test]
fn every_algorithm_satisfies_every_model() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = Vec::new();
    Synth::new(Table::Census, 600, 11).write_csv(&mut csv).unwrap();
    std::fs::write(dir.path().join("people.csv"), &csv).unwrap();
    // The population is the table and further people.
    let mut others = Vec::new();
    Synth::new(Table::Census, 1800, 12).write_csv(&mut others).unwrap();
    let header = others.iter().position(|b| *b == b'\n').unwrap() + 1;
    csv.extend(&others[header..]);
    std::fs::write(dir.path().join("population.csv"), csv).unwrap();
    let mut releases = 0;
    // Pairs of an algorithm and a model: those with a release, those that the algorithm announces
    // to refuse, and those that linked tables do not satisfy.
    let (mut released, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let mut unsatisfied = BTreeSet::new();
    for algorithm in ALGORITHMS {
        let variants = variants(algorithm.params);
        for (number, chosen) in variants.iter().enumerate() {
            let method = Method::new(algorithm.name, chosen.clone()).unwrap();
            for (at, model) in MODELS.iter().enumerate() {
                if !is_full() && at % variants.len() != number {
                    continue;
                }
                let pair = (algorithm.name, model.name);
                if method.algorithm.needs_merging() && !model.survives.merging
                    || !model.needs.iter().all(|need| method.algorithm.supplies(*need))
                {
                    let job = job(dir.path(), model, "disease", algorithm, chosen);
                    let error = incrowd::Anonymizer::new(&job).run().unwrap_err();
                    assert_eq!(error.fault(), Fault::Job, "{pair:?}: {error}");
                    assert!(error.message().contains("cannot be used with"), "{pair:?}: {error}");
                    refused.insert(pair);
                    continue;
                }
                if method.algorithm.linked().is_some() {
                    // Its groups are as small as possible, so it satisfies at most models about
                    // their values.
                    let mut job = job(dir.path(), model, "disease", algorithm, chosen);
                    job.set_role("income", RoleName::Drop);
                    job.suppression = Some(stated_seed());
                    match incrowd::Anonymizer::new(&job).run() {
                        Ok(report) => {
                            assert!(report.verification.holds());
                            releases += 1;
                            released.insert(pair);
                        }
                        Err(e) => {
                            assert!(!TRUE_OF_PAIRS.contains(&model.name), "{pair:?}: {e}");
                            let expected = match e.fault() {
                                // No population is compared with linked tables.
                                Fault::Job if model.needs.contains(&Need::Population) => true,
                                Fault::Job => e.message().contains("not numeric"),
                                Fault::Unsatisfiable => e.message().contains("does not keep"),
                                _ => false,
                            };
                            assert!(expected, "{pair:?}: {e}");
                            unsatisfied.insert(pair);
                        }
                    }
                    continue;
                }
                // Outliers that cannot be hidden are suppressed.
                let about_outliers = model.needs.contains(&Need::Region);
                let free = (1.0, Suppressed::Absent);
                // A model about numbers refuses a disease.
                let refused =
                    |e: &Error| e.fault() == Fault::Job && e.message().contains("not numeric");
                let limits = [
                    (0.0, Suppressed::Absent),
                    (0.02, Suppressed::Absent),
                    (0.02, Suppressed::Star),
                ];
                let limits = limits.map(|usual| if about_outliers { free } else { usual });
                for (limit, way) in limits.into_iter().skip(at % step(3)).step_by(step(3)) {
                    let make = |on: &str| {
                        let mut job = job(dir.path(), model, on, algorithm, chosen);
                        (job.algorithm.suppression_limit, job.algorithm.suppressed) = (limit, way);
                        incrowd::Anonymizer::new(&job).run()
                    };
                    let made = match make("disease") {
                        Err(e) if refused(&e) => make("income"),
                        made => made,
                    };
                    let report = made.unwrap_or_else(|e| {
                        panic!("{} with {} and {chosen:?}: {e}", algorithm.name, model.name)
                    });
                    assert!(report.verification.holds());
                    let records = report.records;
                    assert_eq!(
                        records.read,
                        records.published + records.suppressed + records.dropped_missing
                    );
                    let kept = records.published + records.suppressed;
                    assert!(records.suppressed as f64 <= limit * kept as f64);
                    assert!(records.published > 0);
                    releases += 1;
                    released.insert(pair);
                }
            }
        }
    }
    for algorithm in ALGORITHMS {
        assert!(released.iter().any(|pair| pair.0 == algorithm.name), "{}", algorithm.name);
        for model in MODELS {
            let pair = (algorithm.name, model.name);
            let known = [&released, &refused, &unsatisfied].map(|pairs| pairs.contains(&pair));
            assert!(known.contains(&true), "{pair:?} was not tried");
        }
    }
    for model in MODELS {
        assert!(released.iter().any(|pair| pair.1 == model.name), "{}", model.name);
    }
    assert!(releases * step(3) >= 10 * 3 * MODELS.len(), "the lists are empty: {releases}");
}
