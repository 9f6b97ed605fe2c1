//! Comparison of all searches with the definitions, computed record by record.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::mondrian::common::{table, tree};
use crate::possible::possible;
use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{
    Code, ColumnSpec, Dataset, GroupSummary, HierarchySpec, Kind, Plan, Silent, Value,
};
use incrowd_recode::Algorithm;
use incrowd_recode::full_domain::{FullDomain, Metric, Search, SearchReport};
use proptest::prelude::*;

const NAMES: [&str; 4] = ["age", "country", "city", "disease"];

fn specs() -> [ColumnSpec; 3] {
    let text = "1;1-2;1-4;*\n2;1-2;1-4;*\n3;3-4;1-4;*\n4;3-4;1-4;*\n5;5-6;5-6;*\n6;5-6;5-6;*\n";
    let age = HierarchySpec::Arx { name: "age".into(), text: text.into() };
    [
        ColumnSpec { hierarchy: Some(age), ..ColumnSpec::default() },
        tree("A = [\"a\", \"b\", \"c\"]\nB = { \"B1\" = [\"d\", \"e\"] }"),
        ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
    ]
}

fn records() -> impl Strategy<Value = Vec<Vec<String>>> {
    let record =
        (1u32..7, 0usize..5, 0usize..3, 0usize..4).prop_map(|(age, country, city, disease)| {
            vec![
                age.to_string(),
                ["a", "b", "c", "d", "e"][country].to_owned(),
                ["p", "q", "r"][city].to_owned(),
                ["flu", "cold", "none", "gout"][disease].to_owned(),
            ]
        });
    prop::collection::vec(record, 6..40)
}

/// A valid node, computed by brute force.
#[derive(Clone, Debug, PartialEq)]
struct ExpectedNode {
    levels: Vec<u32>,
    value: f64,
    groups: u64,
    suppressed: u64,
}

/// Returns the cost of one node by the definition of the metric, record by record.
fn cost(
    data: &Dataset,
    levels: &[usize],
    published: &[bool],
    sizes: &[u64],
    metric: Metric,
) -> f64 {
    let (all, columns) = (data.records() as f64, levels.len() as f64);
    let suppressed: u64 = (0..data.rows()).filter(|&r| !published[r]).map(|r| data.weight(r)).sum();
    let label = |row: usize, q: usize, level: usize| {
        data.quasi()[q].domain.level_label(Code(data.quasi_codes(row)[q]), level)
    };
    let count = |q: usize, level: usize, text: &str| -> f64 {
        (0..data.rows())
            .filter(|&r| label(r, q, level) == text)
            .map(|r| data.weight(r) as f64)
            .sum()
    };
    let over_cells = |cell: &dyn Fn(usize, usize) -> f64| -> f64 {
        let cells = (0..data.rows()).flat_map(|r| (0..levels.len()).map(move |q| (r, q)));
        cells.map(|(r, q)| data.weight(r) as f64 * cell(r, q)).sum()
    };
    let read =
        |row: usize, q: usize| data.quasi()[q].domain.read(&label(row, q, levels[q])).unwrap();
    let height = |row: usize, q: usize| {
        data.quasi()[q].domain.level_depth(Code(data.quasi_codes(row)[q]), 0) as f64
    };
    let steps = |row: usize, q: usize| {
        height(row, q)
            - data.quasi()[q].domain.level_depth(Code(data.quasi_codes(row)[q]), levels[q]) as f64
    };
    let bits = |row: usize, q: usize, level: usize| {
        -(count(q, 0, &label(row, q, 0)) / count(q, level, &label(row, q, level))).log2()
    };
    match metric {
        Metric::Distortion => {
            over_cells(&|r, q| if published[r] { steps(r, q) } else { height(r, q) })
                / over_cells(&height)
        }
        Metric::Ncp => {
            let ncp = |r: usize, q: usize| data.quasi()[q].domain.cell_ncp(&read(r, q));
            over_cells(&|r, q| if published[r] { ncp(r, q) } else { 1.0 }) / all / columns
        }
        Metric::InformationLoss => {
            let loss = |r: usize, q: usize| data.quasi()[q].domain.cell_loss(&read(r, q));
            over_cells(&|r, q| if published[r] { loss(r, q) } else { 1.0 }) / all / columns
        }
        Metric::Discernibility => {
            sizes.iter().map(|&n| (n * n) as f64).sum::<f64>() + suppressed as f64 * all
        }
        Metric::AverageClassSize => (all - suppressed as f64) / sizes.len() as f64,
        Metric::NonUniformEntropy => over_cells(&|r, q| bits(r, q, levels[q])),
        Metric::NonUniformEntropySuppressed => over_cells(&|r, q| {
            let top = data.quasi()[q].domain.levels() - 1;
            bits(r, q, if published[r] { levels[q] } else { top })
        }),
    }
}

/// Returns all nodes that satisfy the models.
fn brute(
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    limit: u64,
    metric: Metric,
) -> Vec<ExpectedNode> {
    let tops: Vec<usize> = data.quasi().iter().map(|q| q.domain.levels()).collect();
    let mut found = Vec::new();
    for number in 0..tops.iter().product::<usize>() {
        let mut rest = number;
        let mut levels = vec![0; tops.len()];
        for (level, &top) in levels.iter_mut().zip(&tops).rev() {
            (*level, rest) = (rest % top, rest / top);
        }
        let mut groups: BTreeMap<Vec<String>, (GroupSummary, Vec<usize>)> = BTreeMap::new();
        for row in 0..data.rows() {
            let code = |q: usize| Code(data.quasi_codes(row)[q]);
            let cells = (0..tops.len())
                .map(|q| data.quasi()[q].domain.level_label(code(q), levels[q]))
                .collect();
            let group = groups.entry(cells).or_insert_with(|| (GroupSummary::empty(1), Vec::new()));
            group.0.add(data.weight(row), data.sensitive_codes(row));
            group.1.push(row);
        }
        let mut published = vec![false; data.rows()];
        let mut sizes = Vec::new();
        for (summary, rows) in groups.values() {
            if models.iter().all(|model| model.admits(summary).holds) {
                rows.iter().for_each(|&row| published[row] = true);
                sizes.push(summary.records);
            }
        }
        let suppressed = data.records() - sizes.iter().sum::<u64>();
        if suppressed <= limit && !sizes.is_empty() {
            let value = cost(data, &levels, &published, &sizes, metric);
            let levels = levels.iter().map(|&level| level as u32).collect();
            found.push(ExpectedNode { levels, value, groups: sizes.len() as u64, suppressed });
        }
    }
    found
}

fn bind(data: &Dataset, which: usize, k: u64) -> Vec<Box<dyn BoundModel>> {
    let word = |w: &str| Value::Word(w.to_owned());
    let privacy_model = |name: &str, params: Vec<(&str, Value)>| {
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value));
        PrivacyModel::new(name, params).unwrap().model.bind(data).unwrap()
    };
    let k = Value::Integer(k as i64);
    match which {
        0 | 1 => vec![privacy_model("k-anonymity", vec![("k", k)])],
        2 => vec![privacy_model("p-sensitive", vec![("k", k), ("p", Value::Integer(2))])],
        3 => vec![
            privacy_model("k-anonymity", vec![("k", k)]),
            privacy_model("l-diversity", vec![("l", Value::Integer(2)), ("kind", word("entropy"))]),
        ],
        4 => vec![privacy_model("t-closeness", vec![("t", Value::Real(0.4))])],
        _ => vec![privacy_model("alpha-k-anonymity", vec![("alpha", Value::Real(0.6)), ("k", k)])],
    }
}

fn is_below(a: &[u32], b: &[u32]) -> bool {
    a != b && a.iter().zip(b).all(|(a, b)| a <= b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_search_agrees_with_brute_force(
        records in records(),
        which in 0usize..6,
        k in 1u64..6,
        share in prop_oneof![Just(0.0), 0.0..0.4],
        metric in 0..Metric::ALL.len(),
    ) {
        let data = table(&NAMES, &records, &specs());
        let (_, metric) = Metric::ALL[metric];
        let models = bind(&data, which, k);
        let limit = (share * data.records() as f64) as u64;
        let twin = brute(&data, &models, limit, metric);
        let is_minimal =
            |a: &&ExpectedNode| !twin.iter().any(|b| is_below(&b.levels, &a.levels));
        let minimal: Vec<&ExpectedNode> = twin.iter().filter(is_minimal).collect();
        for (name, search) in Search::ALL {
            let algorithm = FullDomain { search, metric };
            let made = algorithm.recode_and_report(&data, &models, limit, &Silent);
            if twin.is_empty() {
                prop_assert!(possible(made, name)?.is_none(), "{}", name);
                continue;
            }
            let recoding = made.unwrap();
            let report = recoding.report_as::<SearchReport>().cloned().unwrap();
            prop_assert_eq!(report.satisfying, twin.len() as u64, "{}", name);
            prop_assert_eq!(report.minimal.len(), minimal.len(), "{}", name);
            for (ours, theirs) in report.minimal.iter().zip(&minimal) {
                prop_assert_eq!(&ours.levels, &theirs.levels, "{}", name);
                let (sizes, expected) =
                    ((ours.groups, ours.suppressed), (theirs.groups, theirs.suppressed));
                prop_assert_eq!(sizes, expected, "{}", name);
                let (own, expected) = (ours.value, theirs.value);
                prop_assert!((own - expected).abs() <= 1e-9, "{} {} {}", name, own, expected);
            }
            // The best by the definition: the least cost except for rounding, then most groups,
            // then the first vector.
            let least = twin.iter().map(|node| node.value).fold(f64::INFINITY, f64::min);
            let best = &report.best;
            prop_assert!((best.value - least).abs() <= 1e-9, "{} {} {}", name, best.value, least);
            let is_tied = |node: &&ExpectedNode| (node.value - least).abs() <= 1e-9;
            let tied: Vec<&ExpectedNode> = twin.iter().filter(is_tied).collect();
            let most = tied.iter().map(|node| node.groups).max().unwrap();
            prop_assert_eq!(best.groups, most, "{}", name);
            let first =
                tied.iter().filter(|node| node.groups == most).map(|node| &node.levels).min();
            prop_assert_eq!(Some(&best.levels), first, "{}", name);
            check_partition(&data, &recoding.partition, &models, best.suppressed)?;
        }
    }
}

/// The three searches compute exactly equal costs, so they break ties equally.
#[test]
fn all_searches_publish_the_same() {
    let published = Cell::new(0);
    proptest!(ProptestConfig::with_cases(600), |(
        records in records(),
        which in 0usize..6,
        k in 1u64..6,
        share in prop_oneof![Just(0.0), 0.0..0.4],
        metric in 0..Metric::ALL.len(),
    )| {
        let data = table(&NAMES, &records, &specs());
        let (_, metric) = Metric::ALL[metric];
        let models = bind(&data, which, k);
        let limit = (share * data.records() as f64) as u64;
        let mut found = Vec::new();
        for (name, search) in Search::ALL {
            let algorithm = FullDomain { search, metric };
            let made = algorithm.recode_and_report(&data, &models, limit, &Silent);
            found.push(possible(made, name)?.map(|recoding| {
                let report = recoding.report_as::<SearchReport>().cloned().unwrap();
                (report.best, report.minimal, report.satisfying)
            }));
        }
        prop_assert_eq!(found.len(), 3);
        prop_assert_eq!(&found[0], &found[1]);
        prop_assert_eq!(&found[0], &found[2]);
        published.set(published.get() + u32::from(found[0].is_some()));
    });
    // Nearly all tables have a node that satisfies the models.
    assert!(published.get() >= 300, "{} tables were published", published.get());
}

/// Every published group is admitted, every cell covers its value, and no two groups have equal
/// cells.
fn check_partition(
    data: &Dataset,
    partition: &incrowd_core::Partition,
    models: &[Box<dyn BoundModel>],
    suppressed: u64,
) -> Result<(), TestCaseError> {
    let plan = Plan::new(data, partition);
    let mut groups = vec![GroupSummary::empty(1); partition.groups()];
    let mut left_out = 0;
    for row in 0..data.rows() {
        let Some(group) = partition.group(row) else {
            left_out += data.weight(row);
            continue;
        };
        groups[group.index()].add(data.weight(row), data.sensitive_codes(row));
        for (q, quasi) in data.quasi().iter().enumerate() {
            let code = Code(data.quasi_codes(row)[q]);
            let span = partition.spans(group)[q];
            prop_assert!(span.lo <= code && code <= span.hi);
            let text = plan.text(group, q);
            prop_assert_eq!(
                text,
                quasi.domain.level_label(code, partition.levels().unwrap()[q] as usize)
            );
            prop_assert!(quasi.domain.covers(&quasi.domain.read(text).unwrap(), code));
        }
    }
    prop_assert_eq!(left_out, suppressed);
    for group in &groups {
        prop_assert!(models.iter().all(|model| model.admits(group).holds));
    }
    let mut cells: Vec<Vec<u32>> = (0..partition.groups())
        .map(|g| plan.cells(incrowd_core::GroupId(g as u32)).to_vec())
        .collect();
    cells.sort();
    cells.dedup();
    prop_assert_eq!(cells.len(), partition.groups());
    Ok(())
}
