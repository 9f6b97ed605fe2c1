//! Every algorithm with each of its choices × every model, on a generated table: whatever is on the lists is tested here
//! without being named.

use incrowd::job::{Job, RoleName};
use incrowd::model::MODELS;
use incrowd::recode::ALGORITHMS;
use incrowd::{Param, ParamKind, Silent, Value};
use incrowd_synth::{Synth, Table};

/// A modest value for a required parameter.
fn modest(param: &Param) -> Value {
    match param.kind {
        ParamKind::Count(least) => Value::Integer(least.max(2) as i64),
        ParamKind::Number(lo, hi) => Value::Real((lo + hi) / 2.0),
        ParamKind::Choice(words) => Value::Word(words[0].to_owned()),
        ParamKind::Words => Value::Words(vec!["disease".to_owned()]),
        ParamKind::Flag => Value::Flag(true),
    }
}

/// All combinations of an algorithm's choices that need nothing else.
fn variants(params: &[Param]) -> Vec<Vec<(String, Value)>> {
    let mut all = vec![Vec::new()];
    for param in params {
        let ParamKind::Choice(words) = param.kind else { continue };
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
    all
}

#[test]
fn every_algorithm_keeps_every_promise() {
    let dir = tempfile::tempdir().unwrap();
    let people = dir.path().join("people.csv");
    let mut csv = Vec::new();
    Synth::new(Table::Census, 1500, 11).write_csv(&mut csv).unwrap();
    std::fs::write(&people, csv).unwrap();
    let mut releases = 0;
    for algorithm in ALGORITHMS {
        for chosen in variants(algorithm.params) {
            for model in MODELS {
                if algorithm.needs_merging && !model.survives.merging {
                    continue;
                }
                let mut job = Job::default();
                job.input.paths = vec![people.clone()];
                for column in ["age", "sex", "zip", "country"] {
                    job.set_role(column, RoleName::Quasi);
                }
                job.set_role("disease", RoleName::Sensitive);
                let required = model.params.iter().filter(|param| param.default.is_none());
                job.promise(
                    model.name,
                    required.map(|param| (param.name, modest(param))).collect::<Vec<_>>(),
                );
                job.algorithm.name = algorithm.name.to_owned();
                job.algorithm.params.clone_from(&chosen);
                job.write_to(dir.path().join("people.release.csv"));
                let report = incrowd::anonymize(&job, &Silent)
                    .unwrap_or_else(|e| panic!("{} with {} and {chosen:?}: {e}", algorithm.name, model.name));
                assert!(report.verification.holds());
                let records = report.records;
                assert_eq!(records.read, records.published + records.suppressed + records.dropped_missing);
                releases += 1;
            }
        }
    }
    assert!(releases >= 12, "the lists of algorithms and models are empty");
}
