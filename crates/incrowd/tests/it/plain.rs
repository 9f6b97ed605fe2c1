//! Plain k-anonymity from a job to a verified release: all of Adult, and several models about
//! outliers at once.

use std::path::Path;

use incrowd::job::{Job, RoleName, parse};
use incrowd::{Anonymizer, AttackRequest, Fault, Judging, OutlierRequest, Value};
use incrowd_synth::{Synth, Table};
use incrowd_testing::{data, or_skip};

const FIVE: [&str; 5] = ["sex", "education", "marital-status", "race", "workclass"];

fn adult_job(data: &Path, dir: &Path, k: i64) -> Job {
    let mut columns = "age = { role = 'sensitive', kind = 'numeric' }\n".to_owned();
    for column in FIVE {
        let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
        columns += &format!("{column} = {{ role = 'quasi', hierarchy = '{}' }}\n", file.display());
    }
    let table = data.join("adult_arx.csv.gz");
    let job = format!("[input]\npath = '{}'\n[columns]\n{columns}", table.display());
    let mut job = parse("job.toml", &job, dir).unwrap_or_else(|e| panic!("{e}")).job;
    job.add_model("plain-k-anonymity", [("k", Value::Integer(k))]);
    job.algorithm.name = "expc-plus".to_owned();
    job.algorithm.params = vec![("seeds".to_owned(), Value::Word("sorted".to_owned()))];
    job.algorithm.suppression_limit = 0.6;
    job
}

/// The counts of an independent prototype.
#[test]
fn adult_has_the_known_outliers_and_its_releases_hold() {
    let data = or_skip!(data("adult_arx.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let found = OutlierRequest::new(adult_job(&data, dir.path(), 5), Vec::new()).run().unwrap();
    assert_eq!(found.records, 30_162);
    assert_eq!(found.points, 1_483);
    assert_eq!((found.forced.outliers.global, found.forced.outliers.local), (0, 5_328));
    assert_eq!((found.forced.may_fit, found.forced.all_decided), (744, true));
    for k in [5, 10, 15] {
        let mut job = adult_job(&data, dir.path(), k);
        let path = dir.path().join(format!("k{k}.csv"));
        job.write_to(path.clone());
        let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("k = {k}: {e}"));
        let expansion = report
            .algorithm_report
            .as_deref()
            .and_then(|r| r.downcast::<incrowd::front_end::recode::expansion::ExpansionReport>())
            .unwrap();
        let removed =
            expansion.removed_global + expansion.removed_local + expansion.removed_residues;
        assert_eq!(removed, report.records.suppressed);
        assert!(removed >= 5_328 - 744, "fewer records left than have to");
        let again = Judging::of(&job);
        assert!(again.verify().unwrap().holds(), "k = {k}");
        eprintln!("k = {k}: {} groups, {removed} records left out", report.verification.groups);
        if k == 15 {
            // The limit for the paper's adversary, and for one with more knowledge.
            let request = AttackRequest {
                only: vec!["distinguishability".to_owned(), "outlier-values".to_owned()],
                ..AttackRequest::default()
            };
            let report = again.attack(&request).unwrap();
            let worst: Vec<f64> = report.attacked.iter().map(|a| a.finding.worst).collect();
            assert_eq!((worst.len(), worst[0]), (2, 0.0));
            assert!(worst[1] > 0.0);
            assert!(
                report.to_json()["attacks"].as_array().unwrap().is_empty(),
                "it is all the data owner's"
            );
        }
    }
}

fn salaries(dir: &Path) -> Job {
    let mut csv = Vec::new();
    Synth::new(Table::Salaries, 1500, 3).write_csv(&mut csv).unwrap();
    std::fs::write(dir.join("people.csv"), csv).unwrap();
    let mut job = Job::default();
    job.input.paths = vec![dir.join("people.csv").into()];
    for column in ["age", "education", "sex"] {
        job.set_role(column, RoleName::Quasi);
    }
    job.set_role("salary_class", RoleName::Sensitive);
    job.algorithm.name = "expc-plus".to_owned();
    job.write_to(dir.join("release.csv"));
    job
}

#[test]
fn two_sensitive_columns_can_hide_their_outliers_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = salaries(dir.path());
    job.set_role("occupation", RoleName::Sensitive);
    let text = incrowd_synth::hierarchy(Table::Salaries, "occupation").unwrap();
    job.column_mut("occupation").spec.hierarchy =
        Some(incrowd::hierarchy::HierarchySpec::Arx { name: "occupation".to_owned(), text });
    for on in ["salary_class", "occupation"] {
        let given = [
            ("k", Value::Integer(3)),
            ("p", Value::Real(0.9)),
            ("distance_attributes", Value::Words(vec!["age".to_owned()])),
            ("on", Value::Word(on.to_owned())),
        ];
        job.add_model("plain-k-anonymity", given);
    }
    job.algorithm.suppression_limit = 0.5;
    let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report.verification.judgements.len(), 2);
    assert!(report.verification.holds() && report.verification.groups > 10);
}

#[test]
fn unsatisfiable_limits_and_k_are_reported_with_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = salaries(dir.path());
    job.add_model(
        "plain-k-anonymity",
        [("k", Value::Integer(3)), ("p", Value::Real(0.7)), ("d", Value::Real(0.3))],
    );
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert_eq!(error.fault(), Fault::Unsatisfiable);
    assert!(
        error.message().contains("at least") && error.message().contains("of 1500 records"),
        "{error}"
    );
    job.models.clear();
    job.add_model("plain-k-anonymity", [("k", Value::Integer(51))]);
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert_eq!(error.fault(), Fault::Unsatisfiable);
    assert!(error.message().contains("sensitive values that are not global outliers"), "{error}");
    assert!(!dir.path().join("release.csv").exists());
    job.algorithm.name = "mondrian".to_owned();
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert!(
        error.message().contains("`mondrian` cannot be used with `plain-k-anonymity`"),
        "{error}"
    );
}

/// The order of seeds is random, so two releases differ; sorted seeds make equal releases.
#[test]
fn sorted_seeds_make_equal_releases() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = salaries(dir.path());
    let attributes = Value::Words(vec!["age".to_owned()]);
    job.add_model(
        "plain-k-anonymity",
        [("k", Value::Integer(4)), ("distance_attributes", attributes)],
    );
    job.algorithm.suppression_limit = 1.0;
    let release = |job: &Job| {
        Anonymizer::new(job).run().unwrap_or_else(|e| panic!("{e}"));
        let text = std::fs::read_to_string(dir.path().join("release.csv")).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_ne!(release(&job), release(&job));
    job.algorithm.params = vec![("seeds".to_owned(), Value::Word("sorted".to_owned()))];
    assert_eq!(release(&job), release(&job));
}

/// Bill is an outlier by his income and Zoe by her weight: each column alone forces one of them
/// out, both together both.
#[test]
fn forced_suppressions_are_counted_over_all_sensitive_columns() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "age,income,weight\n".to_owned();
    for i in 0..20 {
        let (income, weight) = match i {
            3 => (1_000_000, 70),
            12 => (30, 700_000),
            _ => (20 + i, 60 + i),
        };
        text += &format!("{},{income},{weight}\n", 20 + i);
    }
    std::fs::write(dir.path().join("people.csv"), text).unwrap();
    let mut job = Job::default();
    job.input.paths = vec![dir.path().join("people.csv").into()];
    job.set_role("age", RoleName::Quasi);
    for on in ["income", "weight"] {
        job.set_role(on, RoleName::Sensitive);
        let given =
            [("k", Value::Integer(2)), ("p", Value::Real(0.9)), ("on", Value::Word(on.to_owned()))];
        job.add_model("plain-k-anonymity", given);
    }
    job.algorithm.name = "expc-plus".to_owned();
    job.write_to(dir.path().join("release.csv"));
    job.algorithm.suppression_limit = 0.05;
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert!(error.message().contains("at least 2 of 20 records must be suppressed"), "{error}");
    job.algorithm.suppression_limit = 0.5;
    let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{e}"));
    assert!(report.verification.holds());
    let forced = report
        .algorithm_report
        .as_deref()
        .and_then(|r| r.downcast::<incrowd::front_end::recode::expansion::ExpansionReport>())
        .cloned()
        .unwrap()
        .forced
        .unwrap();
    assert_eq!((forced.outliers.global, forced.removals() >= 2), (2, true));
}

/// Density-based outliers from a job to a verified release and an attack.
#[test]
fn outliers_by_density_are_hidden_verified_and_attacked() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = salaries(dir.path());
    let given = [
        ("k", Value::Integer(3)),
        ("outliers", Value::Word("lof".to_owned())),
        ("neighbours", Value::Integer(10)),
        ("threshold", Value::Real(2.0)),
        ("distance_attributes", Value::Words(vec!["age".to_owned()])),
    ];
    job.add_model("plain-k-anonymity", given.clone());
    job.algorithm.suppression_limit = 0.5;
    let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{e}"));
    assert!(report.verification.holds() && report.verification.groups > 10);
    let forced = report
        .algorithm_report
        .as_deref()
        .and_then(|r| r.downcast::<incrowd::front_end::recode::expansion::ExpansionReport>())
        .cloned()
        .unwrap()
        .forced
        .unwrap();
    assert!(forced.outliers.global == 0 && forced.outliers.local > 0, "{forced:?}");
    let found = OutlierRequest::new(
        job.clone(),
        given[1..].iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect::<Vec<_>>(),
    )
    .run();
    assert_eq!(found.unwrap().forced.outliers, forced.outliers);
    let again = Judging::of(&job);
    assert!(again.verify().unwrap().holds());
    let only = vec!["distinguishability".to_owned(), "outlier-values".to_owned()];
    let report = again.attack(&AttackRequest { only, ..AttackRequest::default() }).unwrap();
    let worst: Vec<f64> = report.attacked.iter().map(|a| a.finding.worst).collect();
    assert_eq!((worst.len(), worst[0]), (2, 0.0));
}
