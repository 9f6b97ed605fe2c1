//! Comparisons of the steps with those of an independent prototype.

use incrowd_core::{ColumnSpec, Dataset, Folded, GroupSummary, Kind, Silent};
use serde_json::Value as Json;

use super::column_costs::ColumnCosts;
use super::merge::{Merging, OpenGroup};
use super::points::Points;
use super::split::Splitting;
use super::tree::PartTree;
use super::{MergeSearch, TopDown};
use crate::Algorithm;
use crate::join::{JoinAlgorithm, JoinRules};

fn numbers(json: &Json) -> Vec<u32> {
    json.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect()
}

/// A table in which every number from 0 to the width of the domain is a leaf, so that a code equals
/// its number.
fn table(domain: &[u32]) -> Dataset {
    let names: Vec<String> = (0..domain.len()).map(|i| format!("q{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let most = domain.iter().max().copied().unwrap_or(0);
    let texts: Vec<Vec<String>> = (0..=most)
        .map(|n| domain.iter().map(|&width| n.min(width).to_string()).collect())
        .collect();
    let records = texts.iter().map(|row| row.iter().map(|text| Some(text.as_str())).collect());
    let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    Dataset::encode(
        Folded::from_records(&names, records, true),
        &vec![&spec; domain.len()],
        &[],
        "?",
    )
    .unwrap()
}

#[test]
fn far_pairs_sides_and_merges_are_those_of_the_vectors() {
    let all: Json =
        serde_json::from_str(incrowd_testing::fixture("kja_topdown_steps.json")).unwrap();
    let (mut cases, mut merged) = (0, 0);
    for case in all["cases"].as_array().unwrap() {
        let data = table(&numbers(&case["domain"]));
        let costs = ColumnCosts::new(&data);
        let rows: Vec<Vec<u32>> = case["points"].as_array().unwrap().iter().map(numbers).collect();
        let microdata = case["merge"]["mt_rows"].as_u64().unwrap();
        let points = Points::of_codes(&rows, microdata as usize);
        let own: Vec<u32> = (0..rows.len() as u32).collect();
        let splitting = Splitting {
            costs: &costs,
            points: &points,
            min_records: 1,
            seed: 1,
            progress: &Silent,
        };
        let (u, v) = splitting.far_pair(&own);
        assert_eq!(vec![u, v], numbers(&case["seeds"]), "case {cases}");
        let first = splitting.assign(&own, u, v, &numbers(&case["order"]));
        let side: Vec<u32> = own.iter().copied().filter(|&i| first[i as usize]).collect();
        assert_eq!(side, numbers(&case["side_u"]), "case {cases}");

        let merge = &case["merge"];
        let groups: Vec<Vec<u32>> =
            merge["groups"].as_array().unwrap().iter().map(numbers).collect();
        let none = |_: u32| GroupSummary::default();
        let open =
            groups.iter().map(|group| OpenGroup::new(&points, &costs, group, &none)).collect();
        let mut ends = 0;
        let mut ranges = vec![(0, rows.len() as u32)];
        for group in &groups {
            ranges.push((ends, ends + group.len() as u32));
            ends += group.len() as u32;
        }
        let tree = PartTree::new(&ranges);
        let mut merging = Merging::new(open, &costs, &tree, MergeSearch::All);
        let k = merge["k"].as_u64().unwrap();
        let steps = merging.run(&|group| group.records >= k || group.own == 0);
        let expected: Vec<Vec<u32>> =
            merge["steps"].as_array().unwrap().iter().map(numbers).collect();
        assert_eq!(
            steps.iter().map(|&(a, b)| vec![a, b]).collect::<Vec<_>>(),
            expected,
            "case {cases}"
        );
        merged += steps.len();
        let mut result: Vec<Vec<u32>> = merging
            .into_groups()
            .iter()
            .filter(|group| group.own > 0)
            .map(|group| {
                let mut rows = group.points.clone();
                rows.sort_unstable();
                rows
            })
            .collect();
        result.sort();
        let mut expected: Vec<Vec<u32>> =
            merge["result"].as_array().unwrap().iter().map(numbers).collect();
        expected.sort();
        assert_eq!(result, expected, "case {cases}");
        cases += 1;
    }
    assert!(cases == 30 && merged > 20, "{cases} cases, {merged} merges");
}

fn scattered(rows: u32) -> Dataset {
    let texts: Vec<[String; 2]> = (0..rows)
        .map(|i| {
            [
                (i.wrapping_mul(2_654_435_761) % 97).to_string(),
                (i.wrapping_mul(40_503) % 61).to_string(),
            ]
        })
        .collect();
    let records = texts.iter().map(|row| row.iter().map(|text| Some(text.as_str())).collect());
    let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    Dataset::encode(Folded::from_records(&["a", "b"], records, true), &[&spec, &spec], &[], "?")
        .unwrap()
}

#[test]
fn without_external_rows_joining_gives_the_same_groups() {
    let data = scattered(900);
    let privacy_model = incrowd_core::model::PrivacyModel::new(
        "k-anonymity",
        [("k".to_owned(), incrowd_core::Value::Integer(7))],
    )
    .unwrap();
    let models = [privacy_model.model.bind(&data).unwrap()];
    for merge_search in [MergeSearch::Near, MergeSearch::All] {
        let algorithm = TopDown { merge_search, seed: 3 };
        let partition = algorithm.recode(&data, &models, 0, &Silent).unwrap();
        let rows: Vec<u32> = (0..data.rows() as u32).collect();
        let rules = JoinRules::new(data.rows(), 7, &models);
        let grouping = algorithm.group(&data, &rows, &rules, &Silent).unwrap();
        assert_eq!(grouping.ends.len(), partition.groups());
        for (rows, starts) in grouping.iter() {
            let group = partition.group(rows[0] as usize);
            assert!(starts && rows.iter().all(|&row| partition.group(row as usize) == group));
            assert!(rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>() >= 7);
        }
    }
}
