//! Verdicts and metrics of small releases, compared with an independent prototype.

use std::sync::Arc;

use crate::common::{folded, judge};
use incrowd_audit::tally;
use incrowd_core::dataset::Quasi;
use incrowd_core::hierarchy::nested::Tree;
use incrowd_core::metric::{METRICS, Tally};
use incrowd_core::{ColumnSpec, Domain, FoldedColumn, HierarchySpec};
use serde_json::Value;

const NAMES: [&str; 3] = ["Age", "Country", "Sex"];

/// Converts a hierarchy of the reference data. Lists of texts have the same syntax in JSON and
/// TOML.
fn tree(hierarchy: &Value) -> ColumnSpec {
    let toml = match &hierarchy["*"] {
        Value::Object(children) => {
            children.iter().map(|(label, leaves)| format!("{label:?} = {leaves}\n")).collect()
        }
        leaves => format!("\"*\" = {leaves}\n"),
    };
    let tree = Tree::parse("vectors", &toml).unwrap();
    ColumnSpec { hierarchy: Some(HierarchySpec::Nested(tree)), ..ColumnSpec::default() }
}

fn domains(vectors: &Value) -> Vec<Quasi> {
    let age = ColumnSpec { domain: Some((0.0, 100.0)), ..ColumnSpec::default() };
    let specs =
        [age, tree(&vectors["hierarchies"]["Country"]), tree(&vectors["hierarchies"]["Sex"])];
    let values = [vec!["", "22", "30", "40"], vec!["", "USA"], vec!["", "F"]];
    NAMES
        .iter()
        .zip(specs)
        .zip(values)
        .map(|((name, spec), texts)| {
            let texts = texts.into_iter().map(str::to_owned).collect();
            let column = FoldedColumn { name: (*name).to_owned(), texts };
            Quasi {
                name: (*name).to_owned(),
                domain: Domain::build(&column, &spec, None).unwrap().0,
                leaf_depth: 0,
                counts: Arc::default(),
                weight: 1.0,
                original: None,
            }
        })
        .collect()
}

fn row(cells: &Value) -> Vec<Option<String>> {
    cells.as_array().unwrap().iter().map(|cell| Some(cell.as_str().unwrap().to_owned())).collect()
}

fn close(have: f64, want: &Value) -> bool {
    (have - want.as_f64().unwrap()).abs() < 1e-8
}

fn metric(name: &str, tally: &Tally) -> f64 {
    (METRICS.iter().find(|card| card.name == name).unwrap().measure)(tally)
}

#[test]
fn verdicts_penalties_and_discernibility_equal_the_reference() {
    let vectors: Value =
        serde_json::from_str(incrowd_testing::fixture("mdr_checker.json")).unwrap();
    let domains = domains(&vectors);
    let (mut holding, mut violated) = (0, 0);
    for (i, case) in vectors["cases"].as_array().unwrap().iter().enumerate() {
        let records: Vec<_> = case["rows"].as_array().unwrap().iter().map(row).collect();
        let verification = judge(&NAMES, &records, 0, case["k"].as_u64().unwrap());
        let holds = case["k_anonymous"].as_bool().unwrap();
        assert_eq!(verification.holds(), holds, "case {i}");
        assert!(close(verification.judgements[0].have, &case["min_group"]), "case {i}");
        assert_eq!(verification.groups, case["groups"].as_u64().unwrap(), "case {i}");
        let tally = tally(&folded(&NAMES, &records), &domains, 0).unwrap();
        let ncp: f64 = tally.columns.iter().map(|column| column.ncp).sum();
        assert!(close(ncp, &case["ncp"]), "case {i}: {ncp}");
        assert!(close(metric("ncp", &tally), &case["ncp_rate"]), "case {i}");
        assert!(close(metric("discernibility", &tally), &case["dm"]), "case {i}");
        assert!(close(metric("groups", &tally), &case["groups"]), "case {i}");
        *(if holds { &mut holding } else { &mut violated }) += 1;
    }
    assert!(holding > 0 && violated > 0, "{holding} hold, {violated} do not");
}

#[test]
fn the_penalty_of_every_cell_equals_the_reference() {
    let vectors: Value = serde_json::from_str(incrowd_testing::fixture("mdr_ncp.json")).unwrap();
    let domains = domains(&vectors);
    let mut weighted = 0.0;
    let cases = vectors["cases"].as_array().unwrap();
    for case in cases {
        let record = row(&case["row"]);
        let tally = tally(&folded(&NAMES, &[record]), &domains, 0).unwrap();
        for (q, column) in tally.columns.iter().enumerate() {
            assert!(
                close(column.ncp, &case["per_attribute"][q]),
                "{} of {}",
                column.name,
                case["row"]
            );
            weighted += column.ncp * vectors["weights"][&column.name].as_f64().unwrap();
        }
    }
    assert_eq!(cases.len(), 5);
    let mut weighted_domains = domains;
    weighted_domains
        .iter_mut()
        .for_each(|quasi| quasi.weight = vectors["weights"][&quasi.name].as_f64().unwrap());
    let records: Vec<_> = cases.iter().map(|case| row(&case["row"])).collect();
    let tally = tally(&folded(&NAMES, &records), &weighted_domains, 0).unwrap();
    assert!(close(metric("weighted_ncp", &tally), &vectors["weighted_rate"]));
    assert!((weighted - vectors["weighted_total"].as_f64().unwrap()).abs() < 1e-8, "{weighted}");
}

#[test]
fn a_cell_outside_the_domain_is_refused_without_showing_it() {
    let vectors: Value = serde_json::from_str(incrowd_testing::fixture("mdr_ncp.json")).unwrap();
    let domains = domains(&vectors);
    for cells in [["30", "Atlantis", "F"], ["[40, 20]", "USA", "F"], ["30", "USA", "{F, M}"]] {
        let record: Vec<_> = cells.iter().map(|c| Some((*c).to_owned())).collect();
        let error = tally(&folded(&NAMES, &[record]), &domains, 0).unwrap_err();
        assert!(
            !error.message().contains("Atlantis") && !error.message().contains("{F"),
            "{error}"
        );
    }
}
