//! Hierarchies with chains, short branches and labels that cannot be distinguished.

use super::vectors::arx;
use crate::mondrian::common::{k_anonymity, table, tree};
use incrowd_core::{Plan, Silent};
use incrowd_recode::Algorithm;
use incrowd_recode::full_domain::{FullDomain, Metric, Search};
use serde_json::json;

fn records(values: &[&str]) -> Vec<Vec<String>> {
    values.iter().map(|v| vec![(*v).to_owned()]).collect()
}

#[test]
fn the_label_is_that_of_the_level_even_if_it_covers_only_one_value() {
    let spec = arx(&json!([["a", "A", "*"], ["b", "B", "*"], ["c", "B", "*"]]));
    let data = table(&["x"], &records(&["a", "a", "b", "c"]), &[spec]);
    let algorithm = FullDomain { search: Search::Fast, metric: Metric::Ncp };
    let partition = algorithm.recode(&data, &k_anonymity(2, &data), 0, &Silent).unwrap();
    let plan = Plan::new(&data, &partition);
    let mut texts: Vec<&str> =
        (0..3).map(|row| plan.text(partition.group(row).unwrap(), 0)).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["A", "B", "B"]);
    assert_eq!(partition.levels(), Some([1].as_slice()));
}

#[test]
fn a_short_branch_keeps_its_value_until_its_first_ancestor() {
    let spec = arx(&json!([["a", "A1", "A", "*"], ["b", "A1", "A", "*"], ["z", "*"]]));
    let data = table(&["x"], &records(&["a", "b", "z", "z"]), &[spec]);
    let algorithm = FullDomain { search: Search::Incognito, metric: Metric::Distortion };
    let recoding = algorithm.recode_and_report(&data, &k_anonymity(2, &data), 0, &Silent).unwrap();
    let best =
        recoding.report_as::<incrowd_recode::full_domain::SearchReport>().cloned().unwrap().best;
    assert_eq!((best.levels, best.groups), (vec![1], 2));
    // Two of eight steps: the branch of z has one step, which was not taken.
    assert_eq!(best.value, 2.0 / 8.0);
}

#[test]
fn labels_that_cannot_be_distinguished_are_refused() {
    let spec = tree("A = { \"other\" = [\"a\"] }\nB = { \"other\" = [\"b\"] }");
    let data = table(&["x"], &records(&["a", "b"]), &[spec]);
    for (_, search) in Search::ALL {
        let algorithm = FullDomain { search, metric: Metric::Distortion };
        let error = algorithm.recode(&data, &k_anonymity(1, &data), 0, &Silent).unwrap_err();
        assert!(
            error.message().contains("level 1") && !error.message().contains("other"),
            "{error}"
        );
    }
}

#[test]
fn a_lattice_that_is_too_large_is_refused_with_its_size() {
    let path = |i: usize| {
        (0..9).map(move |level| if level == 8 { "*".to_owned() } else { format!("{i}-{level}") })
    };
    let spec = arx(&json!([path(0).collect::<Vec<_>>(), path(1).collect::<Vec<_>>()]));
    let row = vec![vec!["0-0".to_owned(); 8], vec!["1-0".to_owned(); 8]];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let data = table(&names, &row, &vec![spec; 8]);
    let algorithm = FullDomain { search: Search::Fast, metric: Metric::Distortion };
    let error = algorithm.recode(&data, &k_anonymity(1, &data), 0, &Silent).unwrap_err();
    assert!(error.message().contains(&9u64.pow(8).to_string()), "{error}");
}
