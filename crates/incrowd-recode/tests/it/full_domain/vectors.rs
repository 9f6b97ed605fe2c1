//! Worked cases: all valid nodes, the minimal ones and the best, computed by an independent
//! prototype.

use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{
    Categories, ColumnSpec, Dataset, Folded, HierarchySpec, Kind, SensitiveSpec, Silent, Value,
};
use incrowd_recode::Algorithm;
use incrowd_recode::full_domain::{FullDomain, Metric, Search, SearchReport};
use serde_json::Value as Json;

const NAMES: [&str; 4] = ["Age", "Zip", "Sex", "Disease"];

pub(crate) fn arx(paths: &Json) -> ColumnSpec {
    let line = |path: &Json| {
        path.as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect::<Vec<_>>().join(";")
    };
    let text = paths.as_array().unwrap().iter().map(line).collect::<Vec<_>>().join("\n");
    let hierarchy = Some(HierarchySpec::Arx { name: "paths".into(), text });
    ColumnSpec { hierarchy, kind: Some(Kind::Text), ..ColumnSpec::default() }
}

/// Encodes the records with the vectors' categories of diseases, the most sensitive first.
fn table(vectors: &Json, records: &[Vec<String>], specs: &[ColumnSpec]) -> Dataset {
    let lists: Vec<Vec<String>> = serde_json::from_value(vectors["categories"].clone()).unwrap();
    let named = lists.into_iter().enumerate().map(|(i, values)| (format!("S{i}"), values));
    let categories = Some(Categories::new(named.collect()).unwrap());
    let sensitive = SensitiveSpec { categories, ..SensitiveSpec::default() };
    let cells =
        records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(&NAMES, cells, true);
    let specs: Vec<&ColumnSpec> = specs.iter().collect();
    Dataset::encode(folded, &specs, &[&sensitive], "?").map_err(|e| e.misfit.error).unwrap()
}

/// Returns a model of the vectors.
fn privacy_model(model: &str, params: &Json, data: &Dataset) -> Vec<Box<dyn BoundModel>> {
    let (name, stated): (&str, &[&str]) = match model {
        "k" => ("k-anonymity", &["k"]),
        "p" => ("p-sensitive", &["p", "k"]),
        "pa" => ("p-alpha-sensitive", &["p", "alpha", "k"]),
        _ => ("p-plus-alpha-sensitive", &["p", "alpha", "k"]),
    };
    let given = stated.iter().map(|&p| (p.to_owned(), Value::Integer(params[p].as_i64().unwrap())));
    vec![PrivacyModel::new(name, given.collect::<Vec<_>>()).unwrap().model.bind(data).unwrap()]
}

fn check(report: &SearchReport, expected: &Json, what: &str) {
    assert_eq!(report.satisfying, expected["satisfying"].as_u64().unwrap(), "{what}");
    let minimal: Vec<Vec<u32>> = serde_json::from_value(expected["minimal"].clone()).unwrap();
    assert_eq!(
        report.minimal.iter().map(|n| n.levels.clone()).collect::<Vec<_>>(),
        minimal,
        "{what}"
    );
    let best: Vec<u32> = serde_json::from_value(expected["best"].clone()).unwrap();
    assert_eq!(report.best.levels, best, "{what}");
    assert_eq!(report.best.groups, expected["best_groups"].as_u64().unwrap(), "{what}");
    let ratio = expected["best_distortion_ratio"].as_str().unwrap();
    let (part, whole) = ratio.split_once('/').unwrap_or((ratio, "1"));
    let ratio = part.parse::<f64>().unwrap() / whole.parse::<f64>().unwrap();
    assert!((report.best.value - ratio).abs() < 1e-12, "{what}");
}

#[test]
fn every_search_finds_the_minimal_nodes_and_the_best_of_the_prototype() {
    let vectors = incrowd_testing::fixture("psens_fulldomain_random.json");
    let vectors: Json = serde_json::from_str(vectors).unwrap();
    let specs = NAMES[..3].iter().map(|name| arx(&vectors["paths"][name])).collect::<Vec<_>>();
    let mut cases = [0; 4];
    for case in vectors["cases"].as_array().unwrap() {
        let records: Vec<Vec<String>> = serde_json::from_value(case["rows"].clone()).unwrap();
        let data = table(&vectors, &records, &specs);
        // Each model implies the one before, so fewer nodes satisfy it, and the best of them costs
        // more.
        let mut implied: Option<(u64, f64)> = None;
        for (m, model) in ["k", "p", "pa", "p+a"].into_iter().enumerate() {
            let expected = &case["models"][model];
            let models = privacy_model(model, &case["params"], &data);
            for (name, search) in Search::ALL {
                let what = format!("case {} {model} {name}", case["case"]);
                let algorithm = FullDomain { search, metric: Metric::Distortion };
                // In every case of the vectors, some node satisfies every model.
                let recoding = algorithm
                    .recode_and_report(&data, &models, 0, &Silent)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                let report = recoding.report_as::<SearchReport>().cloned().unwrap();
                check(&report, expected, &what);
                let (satisfying, value) = implied.unwrap_or((u64::MAX, 0.0));
                assert!(report.satisfying <= satisfying && report.best.value >= value, "{what}");
                implied = Some((report.satisfying, report.best.value));
                cases[m] += 1;
            }
        }
    }
    assert_eq!(cases, [90; 4]);
}

/// The best node of more quasi-identifiers takes at least as many steps.
#[test]
fn additional_quasi_identifiers_do_not_reduce_the_steps() {
    let vectors = incrowd_testing::fixture("psens_fulldomain_random.json");
    let vectors: Json = serde_json::from_str(vectors).unwrap();
    let specs = NAMES[..3].iter().map(|name| arx(&vectors["paths"][name])).collect::<Vec<_>>();
    let mut increases = 0;
    for case in vectors["cases"].as_array().unwrap() {
        let records: Vec<Vec<String>> = serde_json::from_value(case["rows"].clone()).unwrap();
        let mut fewer = 0.0;
        for columns in 1..=3 {
            // The columns that are left out have one value for all records.
            let blank = |record: &Vec<String>| -> Vec<String> {
                let cell =
                    |q: usize| if q < columns { record[q].clone() } else { records[0][q].clone() };
                (0..3).map(cell).chain([record[3].clone()]).collect()
            };
            let data = table(&vectors, &records.iter().map(blank).collect::<Vec<_>>(), &specs);
            let models = privacy_model("p+a", &case["params"], &data);
            let search = FullDomain { search: Search::Fast, metric: Metric::Distortion };
            let recoding = search.recode_and_report(&data, &models, 0, &Silent).unwrap();
            let depth: u64 = data.quasi().iter().map(|quasi| quasi.leaf_depth).sum();
            let report = recoding.report_as::<SearchReport>().unwrap();
            let steps = report.best.value * depth as f64;
            assert!(
                steps > fewer - 1e-6,
                "case {}: {steps} steps, {fewer} with a column less",
                case["case"]
            );
            increases += u32::from(steps > fewer + 1e-6);
            fewer = steps;
        }
    }
    assert!(increases > 30, "{increases}");
}
