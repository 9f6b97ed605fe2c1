//! Verdicts of p-sensitive k-anonymity computed by an independent prototype, including the tables
//! of a paper.

use super::{Millionths, Row, Table, close, count, word};
use serde_json::Value as Json;

fn table(case: &Json) -> Table {
    let mut names: Vec<&str> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    for row in case["rows"].as_array().unwrap() {
        let (group, value) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
        if !names.contains(&group) {
            names.push(group);
        }
        rows.push((names.iter().position(|n| *n == group).unwrap(), vec![value.to_owned()], 1));
    }
    Table::new(&rows, &[])
}

#[test]
fn p_sensitive_verdicts_agree_with_the_prototype() {
    let vectors: Json =
        serde_json::from_str(incrowd_testing::fixture("psens_checker.json")).unwrap();
    let (mut kept, mut broken) = (0, 0);
    for case in vectors["cases"].as_array().unwrap() {
        let table = table(case);
        let (k, p) = (case["k"].as_u64().unwrap(), case["p"].as_u64().unwrap());
        let all = |name: &str, params: &[(&str, incrowd_core::Value)]| {
            let model = table.bind(name, params);
            table.groups.iter().map(|group| model.admits(group)).collect::<Vec<_>>()
        };
        let sensitive = all("p-sensitive", &[("p", count(p)), ("k", count(k)), ("on", word("a"))]);
        let holds = sensitive.iter().all(|v| v.holds);
        let k_holds = all("k-anonymity", &[("k", count(k))]).iter().all(|v| v.holds);
        assert_eq!(k_holds, case["k_holds"].as_bool().unwrap(), "{}", case["name"]);
        // The vectors judge the values only.
        assert_eq!(holds, k_holds && case["p_holds"].as_bool().unwrap(), "{}", case["name"]);
        let least = |verdicts: &[incrowd_core::model::Verdict]| {
            verdicts.iter().map(|v| v.have).fold(f64::INFINITY, f64::min)
        };
        close(least(&all("k-anonymity", &[("k", count(k))])), case["min_size"].as_f64().unwrap());
        let values = all("l-diversity", &[("l", count(p)), ("on", word("a"))]);
        close(least(&values), case["min_distinct"].as_f64().unwrap());
        let alpha = [("alpha", Millionths(1_000_000).value()), ("k", count(1)), ("on", word("a"))];
        let shares = all("alpha-k-anonymity", &alpha);
        let shares =
            shares.iter().filter(|v| v.what == "greatest share of a value").map(|v| v.have);
        close(shares.fold(0.0, f64::max), case["max_share"].as_f64().unwrap());
        if holds { kept += 1 } else { broken += 1 }
    }
    assert!(kept >= 5 && broken >= 5, "{kept} {broken}");
}
