//! Worked cases: the results of Mondrian on small random tables, computed by independent
//! prototypes.

use super::common::{k_anonymity, rows_of, table, tree};
use incrowd_core::{ColumnSpec, Dataset, Kind, Partition, Plan, Silent};
use incrowd_recode::Algorithm;
use incrowd_recode::mondrian::{Dimension, Mondrian, Undersized};
use serde_json::Value;

fn vectors(text: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(text).unwrap();
    all["cases"].as_array().unwrap().clone()
}

fn texts(rows: &Value) -> Vec<Vec<String>> {
    let cell = |c: &Value| c.as_str().map_or_else(|| c.to_string(), str::to_owned);
    rows.as_array()
        .unwrap()
        .iter()
        .map(|r| r.as_array().unwrap().iter().map(cell).collect())
        .collect()
}

fn ncp(data: &Dataset, plan: &Plan<'_>, partition: &Partition, rows: &[usize]) -> f64 {
    let mut sum = 0.0;
    for &row in rows {
        let group = partition.group(row).unwrap();
        for (q, quasi) in data.quasi().iter().enumerate() {
            sum += quasi.domain.cell_ncp(&quasi.domain.read(plan.text(group, q)).unwrap());
        }
    }
    sum
}

#[test]
fn median_and_hierarchy_cuts_with_blocking_and_pooling() {
    let names = ["Age", "Country", "Sex"];
    let specs = [
        ColumnSpec { domain: Some((0.0, 100.0)), ..ColumnSpec::default() },
        tree(
            "\"N. AMERICA\" = [\"USA\", \"Canada\", \"Mexico\"]\n\
             ASIA = [\"China\", \"Japan\", \"India\", \"Taiwan\"]",
        ),
        tree("\"*\" = [\"F\", \"M\"]"),
    ];
    let mut cases = 0;
    for case in vectors(incrowd_testing::fixture("mdr_mondrian_random.json")) {
        let records = texts(&case["rows"]);
        let data = table(&names, &records, &specs);
        let rows = rows_of(&data, &names, &records);
        for (undersized, name) in [(Undersized::Block, "block"), (Undersized::Pool, "pool")] {
            let expected = &case[name]["basic"];
            let models = k_anonymity(case["k"].as_u64().unwrap(), &data);
            let mondrian = Mondrian { undersized, ..Mondrian::default() };
            let partition = mondrian.recode(&data, &models, 0, &Silent).unwrap();
            let plan = Plan::new(&data, &partition);
            let cells: Vec<Vec<String>> = rows
                .iter()
                .map(|&row| {
                    (0..3).map(|q| plan.text(partition.group(row).unwrap(), q).to_owned()).collect()
                })
                .collect();
            assert_eq!(cells, texts(&expected["cells"]), "case {} {name}", case["case"]);
            assert_eq!(partition.groups() as u64, expected["groups"].as_u64().unwrap());
            let ncp = ncp(&data, &plan, &partition, &rows);
            assert!(
                (ncp - expected["ncp"].as_f64().unwrap()).abs() < 1e-8,
                "case {} {name}",
                case["case"]
            );
            cases += 1;
        }
    }
    assert_eq!(cases, 60);
}

#[test]
fn round_robin_median_cuts() {
    let mut cases = 0;
    for case in vectors(incrowd_testing::fixture("kja_mondrian_random.json")) {
        let microdata = case["mt_rows"].as_u64().unwrap() as usize;
        let points = &texts(&case["points"])[..microdata];
        let names = &["q0", "q1", "q2", "q3", "q4", "q5"][..case["d"].as_u64().unwrap() as usize];
        let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
        let data = table(names, points, &vec![spec; names.len()]);
        let models = k_anonymity(case["k"].as_u64().unwrap(), &data);
        let mondrian = Mondrian { dimension: Dimension::RoundRobin, ..Mondrian::default() };
        let partition = mondrian.recode(&data, &models, 0, &Silent).unwrap();
        let mut groups = vec![Vec::new(); partition.groups()];
        for (record, row) in rows_of(&data, names, points).into_iter().enumerate() {
            groups[partition.group(row).unwrap().index()].push(record as u64);
        }
        groups.sort();
        let expected: Vec<Vec<u64>> =
            serde_json::from_value(case["conventional"]["groups"].clone()).unwrap();
        assert_eq!(groups, expected, "case {}", case["case"]);
        cases += 1;
    }
    assert_eq!(cases, 30);
}
