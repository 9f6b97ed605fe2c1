//! Full-domain releases: known optima on Adult, the published levels, and private data of the
//! search.

use std::path::Path;

use incrowd::front_end::recode::full_domain::SearchReport;
use incrowd::job::{Job, RoleName, hierarchy_from_path};
use incrowd::{Anonymizer, Report, Value};
use incrowd_testing::{data, or_skip};

use crate::release::{read, small};

/// The order in which the levels of the known optima are given.
const NINE: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];

fn adult(data: &Path, out: &Path, k: i64, limit: f64, search: &str, metric: &str) -> Report {
    let mut job = Job::default();
    job.input.paths = vec![data.join("adult_arx.csv.gz").into()];
    for column in NINE {
        job.set_role(column, RoleName::Quasi);
        let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
        job.column_mut(column).spec.hierarchy = Some(hierarchy_from_path(&file).unwrap());
    }
    job.add_model("k-anonymity", [("k", Value::Integer(k))]);
    job.algorithm.name = "full-domain".into();
    job.algorithm.params = vec![
        ("search".into(), Value::Word(search.into())),
        ("metric".into(), Value::Word(metric.into())),
    ];
    job.algorithm.suppression_limit = limit;
    job.write_to(out.join("adult.csv"));
    Anonymizer::new(&job).run().unwrap()
}

#[test]
fn known_optima_on_adult() {
    let data = or_skip!(data("adult_arx.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    for (k, limit, metric, levels, value) in [
        (5, 0.04, "non-uniform-entropy", [1, 0, 1, 1, 3, 2, 2, 0, 1], 255559.85455731067),
        (100, 0.04, "non-uniform-entropy", [1, 1, 1, 1, 3, 2, 2, 1, 1], 379417.3460570988),
        (5, 0.0, "non-uniform-entropy", [1, 2, 1, 1, 3, 2, 2, 1, 1], 407289.5388925293),
        (100, 0.0, "non-uniform-entropy", [0, 4, 1, 1, 3, 2, 2, 1, 1], 453196.8932458743),
        (5, 0.05, "information-loss", [0, 3, 0, 0, 2, 1, 1, 2, 0], 0.26963466278940496),
    ] {
        let report = adult(&data, dir.path(), k, limit, "fast", metric);
        let best = &report
            .algorithm_report
            .as_deref()
            .and_then(|r| r.downcast::<incrowd::front_end::recode::full_domain::SearchReport>())
            .unwrap()
            .best;
        assert_eq!(best.levels, levels, "k = {k}, limit {limit}, {metric}");
        assert!((best.value / value - 1.0).abs() < 1e-9, "{} is not {value}", best.value);
        for (column, level) in NINE.iter().zip(levels) {
            assert_eq!(report.manifest.to_json()["algorithm"]["levels"][*column], level);
        }
        assert_eq!(report.records.suppressed, best.suppressed);
        assert!(report.records.suppressed as f64 <= limit * report.records.read as f64);
        assert_eq!(report.verification.groups, best.groups);
        if metric == "information-loss" {
            let reported = report.manifest.to_json()["metrics"]["information_loss_per_column"]
                .as_f64()
                .unwrap();
            assert!((reported / value - 1.0).abs() < 1e-9, "manifest: {reported}");
        }
    }
}

/// The seven quasi-identifiers of `sun2008` with k = 4. An independent prototype finds 53
/// k-anonymous tables among 2,160, 17 of them minimal, and a least distortion ratio of 0.733.
#[test]
fn the_seven_columns_of_sun_and_others() {
    let data = or_skip!(data("adult_arx.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let mut job = Job::default();
    job.input.paths = vec![data.join("adult.csv.gz").into()];
    job.set_role("occupation", RoleName::Sensitive);
    for column in
        ["age", "workclass", "education", "native-country", "marital-status", "race", "sex"]
    {
        job.set_role(column, RoleName::Quasi);
        let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
        job.column_mut(column).spec.hierarchy = Some(hierarchy_from_path(&file).unwrap());
    }
    job.add_model("k-anonymity", [("k", Value::Integer(4))]);
    job.algorithm.name = "full-domain".into();
    job.write_to(dir.path().join("adult.csv"));
    let report = Anonymizer::new(&job).run().unwrap();
    let search = report
        .algorithm_report
        .as_deref()
        .and_then(|r| r.downcast::<incrowd::front_end::recode::full_domain::SearchReport>())
        .cloned()
        .unwrap();
    assert_eq!(report.records.published, 45_222);
    assert_eq!((search.nodes, search.satisfying, search.minimal.len()), (2_160, 53, 17));
    assert_eq!((search.best.value * 1000.0).round(), 733.0);
    assert_eq!(report.manifest.to_json()["metrics"]["distortion"], search.best.value);
}

#[test]
fn all_searches_agree_on_adult() {
    let data = or_skip!(data("adult_arx.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let mut found: Vec<SearchReport> = Vec::new();
    for search in ["fast", "incognito", "exhaustive"] {
        found.push(search_of(&adult(&data, dir.path(), 20, 0.0, search, "ncp")));
    }
    for report in &found {
        assert_eq!((&report.best, &report.minimal), (&found[0].best, &found[0].minimal));
        assert_eq!((report.satisfying, report.nodes), (found[0].satisfying, 12_960));
    }
    assert!(found[0].checked < found[1].checked && found[1].checked < found[2].checked);
    assert_eq!(found[2].checked, 12_960);
}

#[test]
fn one_level_for_every_record_and_the_search_stays_private() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv");
    job.algorithm.name = "full-domain".into();
    let report = Anonymizer::new(&job).run().unwrap();
    let levels = &report.manifest.to_json()["algorithm"]["levels"];
    let table = read(&dir.path().join("out.csv"));
    for column in ["age", "city"] {
        let stars = table.rows.iter().filter(|row| row[table.column(column)] == "*").count();
        assert_eq!(stars, if levels[column] == 1 { table.rows.len() } else { 0 }, "{column}");
    }
    let text = std::fs::read_to_string(dir.path().join("out.release.json")).unwrap();
    assert!(!text.contains("minimal") && !text.contains("private"));
    let reported = report.to_json();
    assert_eq!(reported["private"]["search"]["nodes"], 4);
    assert!(!reported["private"]["search"]["minimal"].as_array().unwrap().is_empty());
    assert_eq!(&reported["private"]["search"]["best"]["levels"], levels);
}

/// Returns the result of the search.
fn search_of(report: &incrowd::Report) -> incrowd::front_end::recode::full_domain::SearchReport {
    report.algorithm_report.as_deref().and_then(|report| report.downcast()).cloned().unwrap()
}
